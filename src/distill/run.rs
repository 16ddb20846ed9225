//! The rounds of a run, and the commands that a round runs: `datagen sample`, `train`, and `match`.

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, Result};

use super::folder::{Block, Played, Round, State};
use super::report::{self, Pace};
use super::setup::{DistillArgs, Setup};
use crate::data::label::LabelNet;
use crate::datagen::sample::{self, SampleArgs};
use crate::game::play::rng_of;
use crate::matches::plan::MatchArgs;
use crate::matches::score::Score;
use crate::nnue::Network;
use crate::tools::{load_network, net};
use crate::train::run as train;
use crate::train::run::config::Overrides;
use crate::train::run::{TrainArgs, outputs};
use crate::util::console::{Interrupt, Interrupted};
use crate::util::quantity::{parsed, short_number, short_time};
use crate::util::text::Shown as _;

/// Runs rounds until a limit is reached. Prints a line per round to `err` and the summary to `out`.
///
/// # Errors
/// Fails if an input is unusable, on an I/O error, or with [`Interrupted`] after Ctrl-C. The same command resumes the
/// run.
pub fn run(args: &DistillArgs, out: &mut impl Write, err: &mut impl Write) -> Result<()> {
    let interrupt = Interrupt::shared();
    let mut setup = Setup::new(args)?;
    setup.check_phases()?;
    let mut state = setup.state()?;
    publish(&setup, &state)?;
    if let Some(last) = state.rounds.last() {
        writeln!(err, "continuing after round {}, {} positions", last.number, state.positions())?;
    }
    let started = Instant::now();
    let before = (state.seconds, state.rounds.len());
    let folder = setup.folder.path().shown();
    let resumable = |error: anyhow::Error, state: &State| {
        if error.is::<Interrupted>() {
            return Interrupted::error(format!(
                "interrupted in round {}; the same command continues the run in {folder}",
                state.next()
            ));
        }
        error.context(format!("round {}", state.next()))
    };
    let speed = setup.prepare_held_out(&mut state, err).map_err(|error| resumable(error, &state))?;
    setup.scale_block(&mut state, started.elapsed().as_secs_f64(), speed)?;
    let args = &setup.args.clone();
    loop {
        state.seconds = before.0 + started.elapsed().as_secs_f64();
        if is_over(args, &state) {
            break;
        }
        if interrupt.is_set() {
            return Err(resumable(Interrupted::error(""), &state));
        }
        let round = play_round(&setup, &state, err).map_err(|error| resumable(error, &state))?;
        state.seconds = before.0 + started.elapsed().as_secs_f64();
        record(&setup, &mut state, round)?;
        let here = state.rounds.len() - before.1;
        let pace = Pace { rounds: here, seconds: started.elapsed().as_secs_f64() };
        writeln!(err, "{}", report::line(args, &state, pace))?;
    }
    writeln!(out, "{}", report::summary(&setup.folder, &state))?;
    Ok(())
}

/// Whether a limit is reached.
fn is_over(args: &DistillArgs, state: &State) -> bool {
    // The next round takes about as long as the last one.
    let next = state.rounds.last().map_or(0.0, |last| last.seconds.iter().sum());
    // A run makes a net, however short its time is.
    let is_late = |hours: f64| !state.rounds.is_empty() && state.seconds + next >= 3600.0 * hours;
    args.hours.is_some_and(is_late) || args.millions.is_some_and(|millions| state.positions() as f64 >= 1e6 * millions)
}

/// Runs the phases of the next round; completed phases return at once.
fn play_round(setup: &Setup, state: &State, err: &mut impl Write) -> Result<Round> {
    let number = state.next();
    let started = Instant::now();
    let phase = |what: &str, positions: f64, seconds: f64| {
        let left = setup.args.hours.map_or_else(String::new, |hours| {
            format!(", {} left", short_time((3600.0 * hours - state.seconds - seconds).max(0.0)))
        });
        format!("  round {number}, {what} {} positions{left}", short_number(positions))
    };
    let block = setup.args.block_positions() as f64;
    writeln!(err, "{}", phase("sampling", block, 0.0))?;
    let positions = setup.sample(number).context("sampling")?;
    let sampled = started.elapsed().as_secs_f64();
    setup.folder.prune_blocks(number, setup.disk_bytes(), setup.learning.window)?;
    let blocks = setup.choose_blocks(number)?;
    writeln!(err, "{}", phase("training on", block * setup.learning.presentations, sampled))?;
    setup.train(number, &blocks).context("training")?;
    let trained = started.elapsed().as_secs_f64() - sampled;
    let results = outputs::results(&setup.folder.checkpoint(number), &setup.folder.net(number))?;
    let held_out = setup.held_out_loss(number)?;
    Ok(Round {
        number,
        positions,
        rate: setup.learning.rate_of(number),
        training: results.training,
        held_out,
        quantisation: results.quantisation,
        dead: results.dead,
        played: play_match(setup, state, number).context("match")?,
        seconds: [sampled, trained],
    })
}

/// Plays the match of a round, if one is due.
fn play_match(setup: &Setup, state: &State, round: u64) -> Result<Option<Played>> {
    let every = u64::from(setup.args.match_every());
    let (Some(best), true) = (state.best, every > 0 && round.is_multiple_of(every)) else {
        return Ok(None);
    };
    let score = setup.play(round)?;
    let elo = score.by_pairs().elo;
    let elo = (elo.value.is_finite() && elo.error.is_finite()).then_some((elo.value, elo.error));
    Ok(Some(Played {
        against: best,
        games: score.games.games(),
        elo,
        total: state.total_of(best) + elo.map_or(0.0, |(value, _)| value),
        won: score.share() > 0.5,
    }))
}

/// Records a round and makes its net available.
fn record(setup: &Setup, state: &mut State, round: Round) -> Result<()> {
    let is_first = state.best.is_none();
    let is_best = is_first || setup.args.match_every() == 0 || round.played.is_some_and(|played| played.won);
    if is_best {
        state.best = Some(round.number);
    }
    state.rounds.push(round);
    // Saves the record first: if the process is killed afterwards, the next start writes the files again.
    state.save(&setup.folder.state())?;
    publish(setup, state)
}

/// Writes the newest and the best net, the table and the plot, and removes files of older rounds.
fn publish(setup: &Setup, state: &State) -> Result<()> {
    let folder = &setup.folder;
    let Some(last) = state.rounds.last() else {
        return Ok(());
    };
    let newest = folder.net(last.number);
    let bytes = fs::read(&newest).with_context(|| format!("cannot read {}", newest.shown()))?;
    net::write(&folder.newest(), &bytes)?;
    if state.best == Some(last.number) {
        net::write(&folder.best(), &bytes)?;
    }
    report::write(folder, state)?;
    folder.prune_nets(state.next())
}

// The commands of a round.

/// Training settings that [`Learning`](super::setup::Learning) does not contain.
// MEASURED: see `nets/PROVENANCE.md`, the default net.
const TRAINING: &str = "--scale 340 --lambda 1 --max-score 10000 --output-scale 0.8 --batch 65536 --rounded 1 \
    --real-decay 0.02 --factor-decay 0.02 --schedule cosine --holdout 0.005 --checkpoint-every 5";
/// Sampling settings that are not on the command line.
// MEASURED: as above, but with a hash table of 4 MiB; searches of fifty nodes use little of it.
const SAMPLING: &str = "--hash 1 --max-score 4000 --thin-beyond 1000 --thin 2";
/// Share of a round in which the learning rate rises, and the maximum of that share in millions of presentations.
const WARM_UP: (f64, f64) = (4.0 / 15.0, 4.0);
/// Hash table of a player in a match, in MiB.
const MATCH_HASH: &str = "16";

impl Setup {
    /// Checks the settings that the phases of the first round require.
    ///
    /// # Errors
    /// Fails for the same reasons as these phases.
    pub fn check_phases(&self) -> Result<()> {
        for index in 0..self.args.book.len() {
            self.sample_args(&self.folder.block(1), 1, 1 + index as u64)?.check().context("--book")?;
        }
        let mut training = self.train_args(1, &[self.folder.block(1)])?;
        if !self.folder.start().exists() {
            // The embedded net has the default shape.
            let is_file = self.start.is_some() && !self.args.is_default();
            training.init = is_file.then(|| self.args.student.clone());
        }
        train::check(&training).context("the settings of training")
    }

    /// Random seed for a purpose and a round.
    fn seed(&self, purpose: u64, round: u64) -> u64 {
        // A settings file of `train` can store integers of up to 63 bits.
        rng_of(self.args.seed ^ purpose << 48, round).next_u64() >> 1
    }

    /// The network whose searches a round samples.
    fn player(&self, round: u64) -> Result<Arc<Network>> {
        match (&self.start, round) {
            (Some(start), 1) => Ok(start.clone()),
            (None, 1) => Ok(self.first_teacher.clone()),
            _ => load_network(Some(&self.folder.net(round - 1))),
        }
    }

    /// Writes the block of a round. Returns the number of its positions.
    ///
    /// # Errors
    /// Fails as `datagen sample` does.
    pub fn sample(&self, round: u64) -> Result<u64> {
        let args = self.sample_args(&self.folder.block(round), self.args.block_positions(), round)?;
        sample::run(&args, &self.player(round)?, &self.teachers)
    }

    /// Writes the held-out positions, or continues their file. Their seed differs from the seed of every block.
    ///
    /// # Errors
    /// Fails as `datagen sample` does.
    pub fn sample_held_out(&self, positions: u64) -> Result<()> {
        let mut args = self.sample_args(&self.folder.held_out(), positions, 1)?;
        args.output.seed = self.seed(1, 0);
        args.made = 0.0;
        sample::run(&args, &self.player(1)?, &self.teachers).map(|_| ())
    }

    fn sample_args(&self, out: &Path, positions: u64, round: u64) -> Result<SampleArgs> {
        let given = &self.args.sampling;
        let book = &self.args.book[(round - 1) as usize % self.args.book.len()];
        let mut words = words(SAMPLING);
        words.extend(pair("--out", out));
        words.extend(pair("--book", book));
        for (name, value) in [
            ("--positions", positions),
            ("--seed", self.seed(0, round)),
            ("--soft-nodes", given.soft_nodes),
            ("--one-in", given.one_in.into()),
            ("--random-plies", given.random_plies.into()),
            ("--threads", self.threads.into()),
        ] {
            words.extend(pair(name, value.to_string()));
        }
        words.extend(pair("--made", given.made.to_string()));
        words.extend(pair("--endgames", self.args.endgames().to_string()));
        let mut args: SampleArgs = parsed(words)?;
        args.label = self.args.teacher.clone();
        (args.output.resume, args.output.quiet) = (true, true);
        Ok(args)
    }

    /// Trains the net of a round on blocks.
    ///
    /// # Errors
    /// Fails as `train` does.
    pub fn train(&self, round: u64, blocks: &[PathBuf]) -> Result<()> {
        train::run(self.train_args(round, blocks)?)
    }

    fn train_args(&self, round: u64, blocks: &[PathBuf]) -> Result<TrainArgs> {
        let millions = self.args.block() * self.learning.presentations;
        let mut own = Vec::new();
        for block in blocks {
            own.extend(pair("--sampled", block));
        }
        own.extend(pair("--out", self.folder.net(round)));
        for (name, value) in [
            ("--millions", millions.to_string()),
            ("--every", millions.to_string()),
            ("--rate", self.learning.rate_of(round).to_string()),
            ("--seed", self.seed(2, round).to_string()),
            ("--threads", self.threads.to_string()),
        ] {
            own.extend(pair(name, value));
        }
        let mut defaults = words(TRAINING);
        defaults.extend(pair("--warm-up", (millions * WARM_UP.0).min(WARM_UP.1).to_string()));
        let mut args: TrainArgs = parsed(own)?;
        let defaults: TrainArgs = parsed(defaults)?;
        args.settings.shape = self.args.training.shape;
        args.device = self.args.training.device.clone();
        args.settings = args.settings.or(self.train_file.clone()).or(defaults.settings);
        args.init = match round {
            1 => self.start.is_some().then(|| self.folder.start()),
            _ => Some(self.folder.checkpoint(round - 1)),
        };
        args.resume = self.folder.checkpoint(round).exists();
        args.quiet = true;
        Ok(args)
    }

    /// Training settings with all defaults, to compute the loss.
    fn loss_settings(&self, round: u64) -> Result<Overrides> {
        Ok(self.train_args(round, &[])?.settings)
    }

    /// Returns the loss of a round's net on the held-out positions.
    ///
    /// # Errors
    /// Fails if a file cannot be read.
    pub fn held_out_loss(&self, round: u64) -> Result<f64> {
        let settings = self.loss_settings(round)?;
        let scale = settings.scale.unwrap_or(1.0);
        // In the units of the labels.
        let factor = 1.0 / f64::from(settings.output_scale.unwrap_or(1.0));
        let net = LabelNet::new(&self.folder.net(round), factor);
        train::measure::mean_loss(&net, &self.folder.held_out(), scale, self.threads)
    }

    /// Plays the match of a round's net against the best net so far.
    ///
    /// # Errors
    /// Fails as `match` does.
    pub fn play(&self, round: u64) -> Result<Score> {
        let measuring = &self.args.measuring;
        let mut words = Vec::new();
        words.extend(pair("--net", self.folder.net(round)));
        words.extend(pair("--net", self.folder.best()));
        words.extend(pair("--book", &self.args.book[0]));
        words.extend(pair("--state", self.folder.match_state(round)));
        words.extend(pair("--hash", MATCH_HASH));
        words.extend(pair("--nodes", measuring.match_nodes.to_string()));
        words.extend(pair("--games", measuring.match_games.to_string()));
        words.extend(pair("--seed", self.seed(3, round).to_string()));
        words.extend(pair("--concurrency", self.threads.to_string()));
        let args: MatchArgs = parsed(words)?;
        crate::matches::run::results(&args)
    }

    /// Blocks for the training of a round: the newest ones, and older ones selected at random by the seed.
    ///
    /// # Errors
    /// Fails if the folder cannot be read.
    pub fn choose_blocks(&self, round: u64) -> Result<Vec<PathBuf>> {
        let (mut older, mut chosen) = (Vec::new(), Vec::new());
        for Block { number, .. } in self.folder.blocks(round)? {
            let is_newest = number + self.learning.window > round;
            if is_newest { &mut chosen } else { &mut older }.push(number);
        }
        let mut rng = rng_of(self.args.seed ^ 4 << 48, round);
        for _ in 0..self.learning.older {
            if older.is_empty() {
                break;
            }
            chosen.push(older.swap_remove(rng.below(older.len())));
        }
        chosen.sort_unstable();
        Ok(chosen.into_iter().map(|number| self.folder.block(number)).collect())
    }
}

fn words(text: &str) -> Vec<OsString> {
    text.split_whitespace().map(OsString::from).collect()
}

fn pair(name: &str, value: impl Into<OsString>) -> [OsString; 2] {
    [name.into(), value.into()]
}
