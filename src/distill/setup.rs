//! The command line of `zoothera distill`, and the inputs of a run, checked before the first round.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};

use super::folder::{Folder, State};
use crate::board::openings::BUILTIN;
use crate::data::label::{Judge, LabelNet, Labelling};
use crate::gpu::Device;
use crate::nnue::{Network, hex_sha256};
use crate::tools::{load_network, net};
use crate::train::run::config::Overrides;
use crate::train::run::shape::Preset;
use crate::util::cores;
use crate::util::files::{Lock, OWN, check_distinct, free_bytes};
use crate::util::quantity::short_number;
use crate::util::text::Shown as _;

/// Millions of new positions in a round, without a limit of time, and at least with one.
const MAX_BLOCK: f64 = 15.0;
const MIN_BLOCK: f64 = 0.02;
/// Rounds of a run whose blocks depend on the time.
const ROUNDS: f64 = 6.0;
/// Held-out positions without a limit of time, and at least with one.
const MAX_HELD_OUT: u64 = 100_000;
const MIN_HELD_OUT: u64 = 1000;
/// Share of a limited time in which held-out positions are sampled.
const HELD_OUT_SHARE: f64 = 0.05;

/// Arguments of `distill`.
#[derive(clap::Args, Clone, Debug)]
pub struct DistillArgs {
    /// Network that labels, and a factor for its values; repeat it for the mean of several networks
    #[arg(long, value_name = "FILE[@FACTOR]", required = true)]
    pub teacher: Vec<LabelNet>,
    /// Net to improve: a file, `default` for the embedded one, or `new` for an untrained one
    #[arg(long, value_name = "FILE")]
    pub student: PathBuf,
    /// Book of openings: FENs, EPD or lines of UCI moves; the rounds take several books in turn
    #[arg(long, value_name = "FILE", required = true)]
    pub book: Vec<PathBuf>,
    /// Folder of the run; the same command continues a run in it
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// End after this many hours: no round begins that would end later, and without --block the blocks are small enough
    /// for about six rounds
    #[arg(long, value_name = "H")]
    pub hours: Option<f64>,
    /// Start no new round after this many millions of new positions
    #[arg(long, value_name = "N")]
    pub millions: Option<f64>,
    /// Threads; all cores if absent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Options of sampling.
    #[command(flatten)]
    pub sampling: SamplingArgs,
    /// Options of training.
    #[command(flatten)]
    pub training: TrainingArgs,
    /// Options of measurement.
    #[command(flatten)]
    pub measuring: MeasuringArgs,
}

/// Settings of sampling.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "New positions")]
pub struct SamplingArgs {
    /// Millions of new positions in a round [default: 15, or less for a short run with --hours]
    #[arg(long, value_name = "MILLIONS")]
    pub block: Option<f64>,
    /// Gigabytes of blocks to keep; the oldest are removed
    #[arg(long, value_name = "GB", default_value_t = 8.0)]
    pub disk: f64,
    /// Nodes of a search after which no iteration begins
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..))]
    pub soft_nodes: u64,
    /// Keep one in N evaluated positions, at random
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u32).range(1..))]
    pub one_in: u32,
    /// Random plies after the book
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u16).range(..=200))]
    pub random_plies: u16,
    /// For each sample, N positions on average that follow from it by random moves
    #[arg(long, value_name = "N", default_value_t = 0.0)]
    pub made: f64,
    /// After each game, N more games on average that start from an endgame of its samples [default: 0.5, for a new net
    /// 0]
    #[arg(long, value_name = "N")]
    pub endgames: Option<f64>,
}

/// Settings of training.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "Training")]
pub struct TrainingArgs {
    /// Presentations in a round for each new position [default: 1, for a new net 4]
    #[arg(long, value_name = "N")]
    pub presentations: Option<f64>,
    /// Newest blocks to train on [default: 1, for a new net 4]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub window: Option<u32>,
    /// Older blocks to train on, chosen at random [default: 0, for a new net 4]
    #[arg(long, value_name = "N")]
    pub older: Option<u32>,
    /// Learning rate of the first round [default: 0.0002, for a new net 0.004]
    #[arg(long, value_name = "RATE")]
    pub rate: Option<f64>,
    /// Factor of the learning rate from round to round [default: 1, for a new net 0.85]
    #[arg(long, value_name = "FACTOR")]
    pub rate_factor: Option<f64>,
    /// Minimum learning rate
    #[arg(long, value_name = "RATE", default_value_t = 0.0002)]
    pub min_rate: f64,
    /// Shape of a new net [default: the embedded net's]
    #[arg(long, value_enum)]
    pub shape: Option<Preset>,
    /// Device that labels and trains, as for `train --device`
    #[arg(long, value_name = "cpu|gpu|auto[:NAME]", default_value = "cpu")]
    pub device: Device,
    /// TOML file with other settings of `train`, as for `train --config`
    #[arg(long, value_name = "FILE")]
    pub train_config: Option<PathBuf>,
}

/// Settings of measurement.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "Measuring")]
pub struct MeasuringArgs {
    /// Positions, of games that are not trained on, for the held-out loss [default: 100,000, or with --hours as many as
    /// are sampled in a twentieth of the time]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub held_out: Option<u64>,
    /// Rounds between matches against the best net so far; 0 for no matches [default: 8, or 0 with --hours below 1]
    #[arg(long, value_name = "ROUNDS")]
    pub match_every: Option<u32>,
    /// Games of a match, an even number
    #[arg(long, value_name = "N", default_value_t = 400, value_parser = clap::value_parser!(u64).range(2..))]
    pub match_games: u64,
    /// Nodes of each move in a match
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub match_nodes: u64,
}

impl DistillArgs {
    /// Whether the run starts from an untrained net.
    pub fn is_new(&self) -> bool {
        self.student.as_os_str() == "new"
    }

    /// Whether the run starts from the embedded net.
    pub fn is_default(&self) -> bool {
        self.student.as_os_str() == "default"
    }

    /// New positions in a round.
    pub fn block_positions(&self) -> u64 {
        (1e6 * self.block()) as u64
    }

    /// Millions of new positions in a round.
    pub fn block(&self) -> f64 {
        self.sampling.block.unwrap_or(MAX_BLOCK)
    }

    /// Whether the blocks depend on the time.
    pub fn scales_block(&self) -> bool {
        self.sampling.block.is_none() && self.hours.is_some()
    }

    /// Whether the number of held-out positions depends on the time.
    pub fn scales_held_out(&self) -> bool {
        self.measuring.held_out.is_none() && self.hours.is_some()
    }

    /// Held-out positions; those that measure the speed of sampling, if the number depends on the time.
    pub fn held_out(&self) -> u64 {
        let default = if self.hours.is_some() { MIN_HELD_OUT } else { MAX_HELD_OUT };
        self.measuring.held_out.unwrap_or(default)
    }

    /// Held-out positions in a run of `hours` at `speed` sampled positions a second.
    pub fn held_out_for(&self, hours: f64, speed: f64) -> u64 {
        let positions = (3600.0 * hours * HELD_OUT_SHARE * speed) as u64;
        // A round number, which a user can give as --held-out to repeat the run.
        (positions / 1000 * 1000).clamp(MIN_HELD_OUT, MAX_HELD_OUT)
    }

    /// Rounds between matches; 0 for no matches.
    pub fn match_every(&self) -> u32 {
        let is_short = self.hours.is_some_and(|hours| hours < 1.0);
        self.measuring.match_every.unwrap_or(if is_short { 0 } else { 8 })
    }

    /// Millions of new positions in a round such that `seconds` are enough for about [`ROUNDS`] rounds, at `speed`
    /// sampled positions a second.
    pub fn block_for(&self, seconds: f64, speed: f64) -> f64 {
        // MEASURED: a presentation takes an eighth of the time of a sample (docs/training.md); a tenth more for files,
        // exports and the held-out loss.
        let cost = 1.1 * (1.0 + self.learning().presentations / 8.0);
        let millions = seconds / ROUNDS / cost * speed / 1e6;
        // A round number, which a user can give as --block to repeat the run.
        (1000.0 * millions).floor().clamp(1000.0 * MIN_BLOCK, 1000.0 * MAX_BLOCK) / 1000.0
    }

    /// Endgames after each game.
    pub fn endgames(&self) -> f64 {
        // MEASURED: a trained net lacks endgames (docs/experiments.md). The share is an estimate. Not measured for a
        // new net.
        self.sampling.endgames.unwrap_or(if self.is_new() { 0.0 } else { 0.5 })
    }

    /// Settings of training, with their defaults.
    pub fn learning(&self) -> Learning {
        let (is_new, given) = (self.is_new(), &self.training);
        // MEASURED: for a trained net, from 15 million positions of 270,000 games: +29 +- 18 Elo; the net was weaker
        // with two presentations or a higher rate (nets/PROVENANCE.md). The values for a new net follow the first
        // stages of the default net and were not compared with others.
        let or = |value: Option<f64>, trained: f64, new: f64| value.unwrap_or(if is_new { new } else { trained });
        Learning {
            presentations: or(given.presentations, 1.0, 4.0),
            window: given.window.unwrap_or(if is_new { 4 } else { 1 }).into(),
            older: given.older.unwrap_or(if is_new { 4 } else { 0 }),
            rate: or(given.rate, 0.0002, 0.004),
            rate_factor: or(given.rate_factor, 1.0, 0.85),
            min_rate: given.min_rate,
        }
    }

    /// Checks that every number is within its range.
    ///
    /// # Errors
    /// Names the first option that is out of range.
    pub fn check(&self) -> Result<()> {
        let learning = self.learning();
        let positive = [
            ("hours", self.hours.unwrap_or(1.0)),
            ("millions", self.millions.unwrap_or(1.0)),
            ("disk", self.sampling.disk),
            ("presentations", learning.presentations),
            ("rate", learning.rate),
            ("rate-factor", learning.rate_factor),
            ("min-rate", learning.min_rate),
        ];
        for (name, value) in positive {
            if !(value > 0.0 && value.is_finite()) {
                bail!("--{name} {value}: give a number above 0");
            }
        }
        if !(0.001..=10_000.0).contains(&self.block()) {
            bail!("--block {}: give a number from 0.001 to 10000", self.block());
        }
        if self.training.shape.is_some() && !self.is_new() {
            bail!("--shape is for `--student new`: a trained net keeps its shape");
        }
        let games = self.measuring.match_games;
        if games % 2 == 1 {
            bail!("--match-games {games}: give an even number, because both nets get each opening with White");
        }
        Ok(())
    }
}

/// Settings of training.
#[derive(Clone, Copy, Debug)]
pub struct Learning {
    /// Presentations in a round for each new position.
    pub presentations: f64,
    /// Newest blocks to train on.
    pub window: u64,
    /// Older blocks to train on.
    pub older: u32,
    /// Learning rate of the first round.
    pub rate: f64,
    /// Factor of the learning rate from round to round.
    pub rate_factor: f64,
    /// Minimum learning rate.
    pub min_rate: f64,
}

impl Learning {
    /// Learning rate at the start of a round; rounds are counted from 1.
    pub fn rate_of(&self, round: u64) -> f64 {
        let fallen = self.rate * self.rate_factor.powf((round - 1) as f64);
        // The first rate can be below the minimum.
        fallen.max(self.min_rate.min(self.rate))
    }
}

// Inputs, checked before the first round.

/// Upper bound on the bytes of a sample in a block.
// MEASURED: 5.8 with 55 samples a game.
const BYTES_A_SAMPLE: f64 = 7.0;

/// The inputs of a run.
pub struct Setup {
    /// The arguments.
    pub args: DistillArgs,
    /// Settings of training.
    pub learning: Learning,
    /// The folder of the run.
    pub folder: Folder,
    /// Threads of each phase.
    pub threads: u16,
    /// The networks that label the positions.
    pub teachers: Labelling,
    /// The network of the first teacher. It plays until there is a student.
    pub first_teacher: Arc<Network>,
    /// The student before the first round; `None` for a new net.
    pub start: Option<Arc<Network>>,
    /// The settings of the file of `--train-config`.
    pub train_file: Overrides,
    /// Settings that determine positions and nets.
    settings: BTreeMap<String, String>,
    /// Lock of the folder until the end of the run.
    _lock: Lock,
}

impl Setup {
    /// Reads all inputs and creates the folder of the run.
    ///
    /// # Errors
    /// Fails if an input is missing or unusable, or the folder has other contents or is used by a running process.
    pub fn new(args: &DistillArgs) -> Result<Self> {
        args.check()?;
        let networks: Result<Vec<_>> = args.teacher.iter().map(|net| load_network(Some(net.file()))).collect();
        let networks = networks.context("--teacher")?;
        let teachers: Vec<Judge> =
            args.teacher.iter().zip(&networks).map(|(net, network)| net.judge(network.clone())).collect();
        let start = student(args)?;
        let train_file = args.training.train_config.as_deref().map(train_settings).transpose()?;
        let settings = settings(args, &teachers, start.as_deref())?;
        let folder = Folder::new(&args.out);
        check_folder(&folder)?;
        check_inputs(args, &folder)?;
        fs::create_dir_all(folder.path()).with_context(|| format!("cannot create {}", folder.path().shown()))?;
        let lock = Lock::of(&folder.state())?;
        let Some(lock) = lock else {
            bail!("another run of distill works in {}", folder.path().shown());
        };
        Ok(Self {
            args: args.clone(),
            learning: args.learning(),
            folder,
            threads: args.threads.unwrap_or_else(|| cores().min(1024) as u16),
            teachers: Labelling::new(teachers, &args.training.device)?,
            first_teacher: networks[0].clone(),
            start,
            train_file: train_file.unwrap_or_default(),
            settings,
            _lock: lock,
        })
    }

    /// The record of the run, new or continued.
    ///
    /// # Errors
    /// Fails if the folder's record is damaged or belongs to other settings, or if the disk has too little space.
    pub fn state(&self) -> Result<State> {
        let mut settings = self.settings.clone();
        settings.insert("threads".into(), self.threads.to_string());
        let mut state = State::load(&self.folder.state(), settings)?;
        self.check_room(&state)?;
        if self.start.is_some() && state.best.is_none() {
            state.best = Some(0);
        }
        // Saves the record first: if the process is killed afterwards, the next start writes the nets.
        state.save(&self.folder.state())?;
        if let Some(start) = &self.start {
            for path in [self.folder.start(), self.folder.best()].iter().filter(|path| !path.exists()) {
                net::write(path, &start.to_bytes())?;
            }
        }
        Ok(state)
    }

    /// Samples the held-out positions, if they are missing, and returns the speed in positions a second, if it was
    /// measured. With a limit of time, the first positions measure the speed, which determines how many follow.
    ///
    /// # Errors
    /// Fails as `datagen sample` does, or if the state cannot be saved.
    pub fn prepare_held_out(&self, state: &mut State, err: &mut impl Write) -> Result<Option<f64>> {
        let started = Instant::now();
        let is_new = !self.folder.held_out().exists();
        let mut positions = state.held_out.unwrap_or(self.args.held_out());
        if is_new {
            writeln!(err, "sampling {} positions for the held-out loss", short_number(positions as f64))?;
        }
        self.sample_held_out(positions)?;
        let speed = |positions: u64| is_new.then(|| positions as f64 / started.elapsed().as_secs_f64().max(1e-3));
        if let (Some(hours), true, None) = (self.args.hours, self.args.scales_held_out(), state.held_out) {
            let first = positions;
            positions = self.args.held_out_for(hours, speed(positions).unwrap_or(self.slow_sampling()));
            state.held_out = Some(positions);
            state.save(&self.folder.state())?;
            if positions > first {
                writeln!(err, "sampling {} more", short_number((positions - first) as f64))?;
            }
            self.sample_held_out(positions)?;
        }
        Ok(speed(positions))
    }

    /// Positions sampled in a second by a busy machine: an estimate for a run that could not measure it.
    fn slow_sampling(&self) -> f64 {
        2000.0 * f64::from(self.threads)
    }

    /// Sets the size of a block, if it depends on the time: that of the state, or the size for the time that is left
    /// after `elapsed` seconds of this process, by the `speed` in sampled positions a second.
    ///
    /// # Errors
    /// Fails if the state cannot be saved.
    pub fn scale_block(&mut self, state: &mut State, elapsed: f64, speed: Option<f64>) -> Result<()> {
        let Some(hours) = self.args.hours.filter(|_| self.args.scales_block()) else {
            return Ok(());
        };
        let block = state.block.unwrap_or_else(|| {
            let left = 3600.0 * hours - state.seconds - elapsed;
            self.args.block_for(left, speed.unwrap_or(self.slow_sampling()))
        });
        self.args.sampling.block = Some(block);
        state.block = Some(block);
        state.save(&self.folder.state())
    }

    /// Maximum total size of the blocks in bytes.
    pub fn disk_bytes(&self) -> u64 {
        (1e9 * self.args.sampling.disk) as u64
    }

    /// The most positions that the run can still sample: `--millions` and `--hours` limit them.
    fn most_positions(&self, state: &State) -> f64 {
        // MEASURED: a core samples 5,000 to 22,000 positions a second.
        const FASTEST: f64 = 50_000.0;
        let by_number = self.args.millions.map(|millions| 1e6 * millions - state.positions() as f64);
        let by_time = self.args.hours.map(|hours| (3600.0 * hours - state.seconds) * FASTEST * f64::from(self.threads));
        by_number.into_iter().chain(by_time).fold(f64::INFINITY, f64::min).max(0.0)
    }

    /// Checks that the disk limit allows the blocks of a round, and that the disk has room for the limit.
    fn check_room(&self, state: &State) -> Result<()> {
        let block = BYTES_A_SAMPLE * self.args.block_positions() as f64;
        let (limit, window) = (self.args.sampling.disk, self.learning.window);
        let needed = window as f64 * block;
        ensure!(
            1e9 * limit >= needed,
            "--disk {limit}: the {window} newest blocks of {} million positions need {:.3} GB; give a larger --disk, \
             or a smaller --block or --window",
            self.args.block(),
            needed / 1e9
        );
        let left = self.most_positions(state);
        let there: u64 = self.folder.blocks(u64::MAX)?.iter().map(|block| block.bytes).sum();
        let wanted = (1e9 * limit - there as f64).min((left * BYTES_A_SAMPLE).max(block));
        let free = free_bytes(self.folder.path()).map_or(f64::INFINITY, |bytes| bytes as f64);
        ensure!(
            free >= wanted,
            "disk full: {} has {:.2} GB left, but the blocks of this run take up to {:.2} GB more: give a smaller \
             --disk",
            self.folder.path().shown(),
            free / 1e9,
            wanted / 1e9
        );
        Ok(())
    }
}

/// Loads the student; `None` for a new net.
fn student(args: &DistillArgs) -> Result<Option<Arc<Network>>> {
    let name = args.student.as_path();
    if args.is_new() {
        return Ok(None);
    }
    let path = (!args.is_default()).then_some(name);
    load_network(path).map(Some).context("--student")
}

/// Reads the file of `--train-config`. Fails if it contains settings that the run determines itself.
fn train_settings(path: &Path) -> Result<Overrides> {
    let file = Overrides::from_file(path)?;
    let given = [
        ("files", !file.files.is_empty()),
        ("sampled", !file.sampled.is_empty()),
        ("out", file.out.is_some()),
        ("millions", file.millions.is_some()),
        ("minutes", file.minutes.is_some()),
        ("rate", file.rate.is_some()),
        ("seed", file.seed.is_some()),
        ("threads", file.threads.is_some()),
    ];
    if let Some((name, _)) = given.iter().find(|(_, given)| *given) {
        bail!("{} sets `{name}`, which `distill` decides by its own options: remove it", path.shown());
    }
    Ok(file)
}

/// The settings that determine positions and nets, except the number of threads, under the names of their options. The
/// disk limit can change, because it only removes old blocks.
fn settings(args: &DistillArgs, teachers: &[Judge], start: Option<&Network>) -> Result<BTreeMap<String, String>> {
    let hash = |path: &PathBuf| -> Result<String> {
        if path == Path::new(BUILTIN) {
            return Ok(BUILTIN.to_owned());
        }
        let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.shown()))?;
        Ok(hex_sha256(&bytes))
    };
    let books: Result<Vec<String>> = args.book.iter().map(hash).collect();
    let train_config = args.training.train_config.as_ref().map(hash).transpose()?;
    let (sampling, learning) = (&args.sampling, args.learning());
    let block = if args.scales_block() { "scaled to --hours".to_owned() } else { args.block().to_string() };
    let held_out = if args.scales_held_out() { "scaled to --hours".to_owned() } else { args.held_out().to_string() };
    let settings = [
        ("teachers", format!("{teachers:?}")),
        ("block", block),
        ("soft-nodes", sampling.soft_nodes.to_string()),
        ("one-in", sampling.one_in.to_string()),
        ("random-plies", sampling.random_plies.to_string()),
        ("made", sampling.made.to_string()),
        ("endgames", args.endgames().to_string()),
        ("presentations", learning.presentations.to_string()),
        ("window", learning.window.to_string()),
        ("older", learning.older.to_string()),
        ("rate", learning.rate.to_string()),
        ("rate-factor", learning.rate_factor.to_string()),
        ("min-rate", learning.min_rate.to_string()),
        ("shape", args.training.shape.map_or_else(|| "default".to_owned(), |shape| format!("{shape:?}"))),
        ("student", start.map_or_else(|| "new".to_owned(), |net| net.info().sha256)),
        ("books", books?.join(" ")),
        ("seed", args.seed.to_string()),
        ("held-out", held_out),
        ("train-config", train_config.unwrap_or_default()),
    ];
    Ok(settings.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

/// Checks that the folder is missing, empty, or the folder of a run.
fn check_folder(folder: &Folder) -> Result<()> {
    let path = folder.path();
    if !path.exists() || folder.state().exists() {
        return Ok(());
    }
    ensure!(path.is_dir(), "{} is not a folder: give another --out", path.shown());
    let entries = fs::read_dir(path).with_context(|| format!("cannot read {}", path.shown()))?;
    for entry in entries {
        // A process that was killed at its start can leave its lock or unfinished files.
        let name = entry?.file_name();
        let name = name.to_string_lossy();
        ensure!(
            name.starts_with('.') && name.contains(OWN),
            "{} has other files but no run of distill: give an empty folder as --out",
            path.shown()
        );
    }
    Ok(())
}

/// Checks that no input is a file that the run writes.
fn check_inputs(args: &DistillArgs, folder: &Folder) -> Result<()> {
    let mut inputs: Vec<&Path> = args.teacher.iter().map(LabelNet::file).collect();
    inputs.push(&args.student);
    inputs.extend(args.book.iter().map(PathBuf::as_path));
    let outputs = [folder.newest(), folder.best(), folder.start()];
    let outputs: Vec<&Path> = outputs.iter().map(PathBuf::as_path).filter(|path| path.exists()).collect();
    check_distinct(&outputs, &inputs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::util::quantity::parsed;

    fn args(more: &[&str]) -> DistillArgs {
        let words = ["--teacher", "t.nnue", "--book", "b.epd", "--out", "run"];
        parsed(words.iter().chain(more).copied()).expect("arguments")
    }

    #[test]
    fn defaults_depend_on_the_student() {
        let trained = args(&["--student", "default"]).learning();
        assert_eq!((trained.presentations, trained.window, trained.older), (1.0, 1, 0));
        assert_eq!((trained.rate_of(1), trained.rate_of(50)), (0.0002, 0.0002));
        assert_eq!((args(&["--student", "default"]).endgames(), args(&["--student", "new"]).endgames()), (0.5, 0.0));
        let new = args(&["--student", "new"]).learning();
        assert!((new.rate_of(1) - 0.004).abs() < 1e-12 && (new.rate_of(2) - 0.0034).abs() < 1e-12);
        assert_eq!(new.rate_of(100), 0.0002);
        let slow = args(&["--student", "new", "--rate", "0.0001", "--window", "2"]).learning();
        assert_eq!((slow.rate_of(1), slow.window), (0.0001, 2));
    }

    #[test]
    fn block_is_scaled_to_the_time() {
        let new = args(&["--student", "new", "--hours", "0.2"]);
        assert!(new.scales_block() && new.match_every() == 0);
        // Six rounds of 0.436 million positions, each sampled in 80 s and shown four times in 40 s, take 720 s.
        let block = new.block_for(720.0, 6000.0);
        assert_eq!(block, 0.436);
        assert_eq!((new.block_for(1.0, 6000.0), new.block_for(1e6, 6000.0)), (0.02, 15.0));
        let given = args(&["--student", "new", "--hours", "2", "--block", "3"]);
        assert!(!given.scales_block() && given.block_positions() == 3_000_000 && given.match_every() == 8);
        assert_eq!(args(&["--student", "new"]).block(), 15.0);
    }

    #[test]
    fn held_out_positions_are_scaled_to_the_time() {
        let short = args(&["--student", "new", "--hours", "0.1"]);
        assert!(short.scales_held_out() && short.held_out() == 1000);
        // A twentieth of 360 s.
        assert_eq!(short.held_out_for(0.1, 400.0), 7000);
        assert_eq!((short.held_out_for(0.1, 1.0), short.held_out_for(10.0, 1e6)), (1000, 100_000));
        let given = args(&["--student", "new", "--hours", "0.1", "--held-out", "5"]);
        assert!(!given.scales_held_out() && given.held_out() == 5);
        assert_eq!(args(&["--student", "new"]).held_out(), 100_000);
    }

    #[test]
    fn numbers_out_of_range_are_named() {
        assert!(args(&["--student", "new"]).check().is_ok());
        for (option, value) in [("--hours", "0"), ("--rate", "nan"), ("--block", "1e9"), ("--match-games", "3")] {
            let error = args(&["--student", "new", option, value]).check().expect_err(option).to_string();
            assert!(error.starts_with(option), "{error}");
        }
    }
}
