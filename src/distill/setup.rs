//! Inputs of a run, checked before the first round.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};

use super::args::{DistillArgs, Learning};
use super::folder::{Folder, State};
use crate::board::openings::BUILTIN;
use crate::data::label::{Judge, LabelNet, Labelling};
use crate::nnue::{Network, hex_sha256};
use crate::tools::{load_network, net};
use crate::train::run::config::Overrides;
use crate::util::claim::free_bytes;
use crate::util::claim::{Lock, OWN};
use crate::util::cores;
use crate::util::identity::check_distinct;
use crate::util::quantity::short_number;
use crate::util::text::Shown as _;

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
