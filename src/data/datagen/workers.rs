//! The threads that play, and the one that writes their games in the order of their numbers.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use anyhow::{Context, Result, anyhow, bail};
use crossbeam::channel::{Sender, bounded};

use super::store::{Store, state_path};
use crate::data::entry::{Entry, NO_SCORE};
use crate::data::reader::Format;
use crate::data::writer::EntryWriter;
use crate::search::solo::STACK_BYTES;
use crate::util::cores;
use crate::util::identity::check_distinct;
use crate::util::interrupt::Interrupt;
use crate::util::progress::ProgressLine;
use crate::util::quantity::{short_number, short_time};
use crate::util::rng::SplitMix64;
use crate::util::threads;

/// Arguments of the output.
#[derive(clap::Args, Clone, Debug)]
pub struct OutputArgs {
    /// File to write: .bin, .binpack, .plain, or .tree for samples
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Positions to write; the game that reaches the number is the last
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub positions: u64,
    /// Continue the file, or begin it
    #[arg(long)]
    pub resume: bool,
    /// Seed of everything random
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Threads; all cores if absent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Transposition table of each thread in MiB
    #[arg(long, value_name = "MIB", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=65536))]
    pub hash: u32,
}

impl OutputArgs {
    /// Refuses an output that is one of these inputs.
    ///
    /// # Errors
    /// Names both.
    pub fn check_inputs<'a>(&self, inputs: impl IntoIterator<Item = &'a Path>) -> Result<()> {
        let inputs: Vec<&Path> = inputs.into_iter().collect();
        check_distinct(&[&self.out, &state_path(&self.out)], &inputs)
    }
}

/// Plays games, each by its number alone.
pub trait Player {
    /// A game; `None` when `stop` was raised before its end.
    ///
    /// # Errors
    /// When no game can be begun, or the format cannot hold it.
    fn play(&mut self, number: u64, stop: &AtomicBool) -> Result<Option<PlayedGame>>;
}

/// A game that was played, in the file's format.
pub struct PlayedGame {
    /// What is appended to the file.
    pub bytes: Vec<u8>,
    /// Labelled positions.
    pub positions: u64,
}

impl PlayedGame {
    /// A game of these positions, all labelled but those with `NO_SCORE`.
    ///
    /// # Errors
    /// When the format cannot hold one of them.
    pub fn encode(entries: &[Entry], format: Format) -> Result<Self> {
        let mut writer = EntryWriter::new(format, Vec::with_capacity(40 * entries.len()))?;
        for entry in entries {
            writer.write(entry)?;
        }
        Ok(Self {
            bytes: writer.finish()?,
            positions: entries.iter().filter(|e| e.score != NO_SCORE).count() as u64,
        })
    }
}

/// The random numbers of a game.
pub fn rng_of(seed: u64, number: u64) -> SplitMix64 {
    // Both are mixed, so that neither neighbouring seeds nor neighbouring games share a sequence.
    let base = SplitMix64::new(seed).next_u64();
    SplitMix64::new(SplitMix64::new(base ^ number).next_u64())
}

/// A game and its number among all.
struct NumberedGame {
    number: u64,
    played: PlayedGame,
}

/// Plays until the file has the positions that are asked for. `settings` is what the data depend on apart from the
/// seed and the table.
///
/// # Errors
/// When the file or a game cannot be begun, the disk refuses, or a thread fails.
pub fn run<P: Player>(
    args: &OutputArgs,
    settings: &str,
    new_player: impl Fn() -> P + Sync,
) -> Result<()> {
    let settings = format!("{settings}, hash {}, seed {}", args.hash, args.seed);
    let mut store = Store::open(&args.out, settings, args.resume)?;
    let written = if threads::EXIST {
        play_beside(args, &mut store, new_player)
    } else {
        play_here(args, &mut store, new_player)
    };
    written.and_then(|()| store.finish())
}

/// Plays on threads, and writes on the caller's.
fn play_beside<P: Player>(
    args: &OutputArgs,
    store: &mut Store,
    new_player: impl Fn() -> P + Sync,
) -> Result<()> {
    let threads = args.threads.map_or_else(cores, usize::from);
    let next = AtomicU64::new(store.state().games);
    let stop = AtomicBool::new(false);
    let (sender, games) = bounded(2 * threads);
    std::thread::scope(|scope| {
        for id in 0..threads {
            let (sender, next, stop, new_player) = (sender.clone(), &next, &stop, &new_player);
            let work = move || play_games(new_player, next, stop, &sender);
            let thread = std::thread::Builder::new()
                .name(format!("games {id}"))
                .stack_size(STACK_BYTES);
            if let Err(error) = thread.spawn_scoped(scope, work) {
                stop.store(true, Relaxed);
                return Err(error).context("the system refuses a thread");
            }
        }
        drop(sender);
        let receive = || games.recv().context("all threads have ended")?;
        let written = write_games(receive, store, args.positions);
        stop.store(true, Relaxed);
        // Nobody may wait for room in the channel.
        drop(games);
        written
    })
}

/// Plays and writes in turn, where there are no threads: the same games.
fn play_here<P: Player>(
    args: &OutputArgs,
    store: &mut Store,
    new_player: impl Fn() -> P,
) -> Result<()> {
    let mut player = new_player();
    let mut number = store.state().games;
    let stop = AtomicBool::new(false);
    let play = || {
        let played = player.play(number, &stop)?;
        let played = played.context("nobody stops a game here")?;
        number += 1;
        Ok(NumberedGame {
            number: number - 1,
            played,
        })
    };
    write_games(play, store, args.positions)
}

/// One thread's work: the next game that nobody plays yet, until told to stop.
fn play_games<P: Player>(
    new_player: &impl Fn() -> P,
    next: &AtomicU64,
    stop: &AtomicBool,
    sender: &Sender<Result<NumberedGame>>,
) {
    let mut player = new_player();
    while !stop.load(Relaxed) {
        let number = next.fetch_add(1, Relaxed);
        let played = catch_unwind(AssertUnwindSafe(|| player.play(number, stop)));
        let game = match played {
            Ok(Ok(None)) => return,
            Ok(Ok(Some(played))) => Ok(NumberedGame { number, played }),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(anyhow!(
                "game {number} failed; this is a bug, please report it"
            )),
        };
        if sender.send(game).is_err() {
            return;
        }
    }
}

/// Writes games as their turn comes, until there are `wanted` positions. `receive` gives another game, in any order.
fn write_games(
    mut receive: impl FnMut() -> Result<NumberedGame>,
    store: &mut Store,
    wanted: u64,
) -> Result<()> {
    let mut progress = ProgressLine::new();
    let before = store.state().positions;
    let mut early = BTreeMap::new();
    let line = |store: &Store, seconds: f64| {
        let state = store.state();
        let rate = (state.positions - before) as f64 / seconds.max(1e-9);
        let left = wanted.saturating_sub(state.positions) as f64 / rate;
        format!(
            "{} of {} positions, {} games, {}/s, {} left",
            short_number(state.positions as f64),
            short_number(wanted as f64),
            state.games,
            short_number(rate),
            short_time(left),
        )
    };
    let interrupt = Interrupt::noticed();
    while store.state().positions < wanted {
        if interrupt.is_heard() {
            store.finish()?;
            bail!(
                "interrupted after {} of {wanted} positions; the same command with --resume continues the file",
                store.state().positions
            );
        }
        let game = receive()?;
        early.insert(game.number, game);
        while let Some(game) = early.remove(&store.state().games) {
            store.append(&game.played.bytes, game.played.positions)?;
            progress.tick(|seconds| line(store, seconds));
            if store.state().positions >= wanted {
                break;
            }
        }
    }
    progress.finish(&line(store, progress.seconds()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A game is its number, in one to three bytes.
    struct Numbers;

    impl Player for Numbers {
        fn play(&mut self, number: u64, _: &AtomicBool) -> Result<Option<PlayedGame>> {
            Ok(Some(PlayedGame {
                bytes: vec![number as u8; 1 + number as usize % 3],
                positions: 1 + number % 3,
            }))
        }
    }

    #[test]
    fn without_threads_the_same_games_are_written_and_continued() {
        let folder = tempfile::tempdir().expect("a folder");
        let written = |name: &str, positions, resume, threads: bool| {
            let args = OutputArgs {
                out: folder.path().join(name),
                positions,
                resume,
                seed: 1,
                threads: Some(3),
                hash: 1,
            };
            let mut store = Store::open(&args.out, "numbers".to_owned(), resume).expect("a file");
            let played = if threads {
                play_beside(&args, &mut store, || Numbers)
            } else {
                play_here(&args, &mut store, || Numbers)
            };
            played.expect("room");
            drop(store);
            std::fs::read(&args.out).expect("the file")
        };
        let beside = written("beside", 90, false, true);
        assert!(beside.len() >= 90, "{}", beside.len());
        written("here", 40, false, false);
        assert_eq!(written("here", 90, true, false), beside);
    }
}
