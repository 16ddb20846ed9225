//! Generation of games on all cores, which are written in the order of their numbers.

use std::io::{IsTerminal, stderr};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::store::{Store, state_path};
use crate::data::entry::{Entry, NO_SCORE};
use crate::data::reader::Format;
use crate::data::writer::EntryWriter;
use crate::game::workers::{self, Event, Player};
use crate::util::cores;
use crate::util::identity::check_distinct;
use crate::util::interrupt::{Interrupt, Interrupted};
use crate::util::progress::ProgressLine;
use crate::util::quantity::{short_number, short_time};

/// Arguments of the output.
#[derive(clap::Args, Clone, Debug)]
pub struct OutputArgs {
    /// File to write: .bin, .binpack, .plain, or .tree for samples
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Positions to write; generation stops after the game that reaches this number
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub positions: u64,
    /// Continue the file if it exists
    #[arg(long)]
    pub resume: bool,
    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Threads; all cores if absent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Transposition table of each thread in MiB
    #[arg(long, value_name = "MIB", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=65536))]
    pub hash: u32,
    /// Whether the progress is shown on a terminal only.
    #[arg(skip)]
    pub quiet: bool,
}

impl OutputArgs {
    /// Rejects an output that would overwrite an input.
    ///
    /// # Errors
    /// Fails if the output or its state file is one of `inputs`. The error names both.
    pub fn check_inputs<'a>(&self, inputs: impl IntoIterator<Item = &'a Path>) -> Result<()> {
        let inputs: Vec<&Path> = inputs.into_iter().collect();
        check_distinct(&[&self.out, &state_path(&self.out)], &inputs)
    }
}

/// A finished game, encoded in the format of the file.
pub struct PlayedGame {
    /// Bytes to append to the file.
    pub bytes: Vec<u8>,
    /// Number of labelled positions.
    pub positions: u64,
}

impl PlayedGame {
    /// Encodes the positions of a game. Those with `NO_SCORE` are not counted as labelled.
    ///
    /// # Errors
    /// Fails if the format cannot store a position.
    pub fn encode(entries: &[Entry], format: Format) -> Result<Self> {
        let mut writer = EntryWriter::new(format, Vec::with_capacity(40 * entries.len()))?;
        for entry in entries {
            writer.write(entry)?;
        }
        Ok(Self { bytes: writer.finish()?, positions: entries.iter().filter(|e| e.score != NO_SCORE).count() as u64 })
    }

    /// Appends another game, which is stored after this one.
    pub fn append(&mut self, game: Self) {
        self.bytes.extend(game.bytes);
        self.positions += game.positions;
    }
}

/// Plays games until the file has the requested number of positions. `settings` are the settings that determine the
/// data, except for the seed and the hash size. Returns the number of positions in the file.
///
/// # Errors
/// Fails if the file cannot be opened, if a game cannot be started or stored, if a thread fails, on a write error, and
/// after an interrupt.
pub fn run<P: Player<Game = PlayedGame>>(
    args: &OutputArgs,
    settings: &str,
    new_player: impl Fn() -> P + Sync,
) -> Result<u64> {
    let settings = format!("{settings}, hash {}, seed {}", args.hash, args.seed);
    let mut store = Store::open(&args.out, settings, args.resume)?;
    let goal = Goal { before: store.state().positions, wanted: args.positions };
    let mut progress = (!args.quiet || stderr().is_terminal()).then(ProgressLine::new);
    let interrupt = Interrupt::shared();
    let is_over = |store: &Store| store.state().positions >= goal.wanted;
    if !is_over(&store) {
        let threads = args.threads.map_or_else(cores, usize::from);
        let numbers = store.state().games..u64::MAX;
        let receive = |event: Event<PlayedGame>| {
            if let Event::Game(played) = event {
                store.append(&played.bytes, played.positions)?;
                if let Some(progress) = &mut progress {
                    progress.tick(|seconds| line(&store, goal, seconds));
                }
            }
            Ok(if is_over(&store) || interrupt.is_set() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        };
        workers::play(threads, numbers, || Ok(new_player()), receive, || ())?;
    }
    store.finish()?;
    if !is_over(&store) {
        return Err(Interrupted::error(format!(
            "interrupted after {} of {} positions; repeat the command with --resume to continue",
            store.state().positions,
            goal.wanted
        )));
    }
    if let Some(progress) = &mut progress {
        progress.finish(&line(&store, goal, progress.seconds()));
    }
    Ok(store.state().positions)
}

/// Numbers of positions in the file between which this process works.
#[derive(Clone, Copy)]
struct Goal {
    /// Number at its start.
    before: u64,
    /// Number requested.
    wanted: u64,
}

/// The progress line.
fn line(store: &Store, goal: Goal, seconds: f64) -> String {
    let state = store.state();
    let rate = (state.positions - goal.before) as f64 / seconds.max(1e-9);
    let left = goal.wanted.saturating_sub(state.positions) as f64 / rate;
    format!(
        "{} of {} positions, {} games, {}/s, {} left",
        short_number(state.positions as f64),
        short_number(goal.wanted as f64),
        state.games,
        short_number(rate),
        short_time(left),
    )
}
