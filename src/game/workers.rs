//! The threads that play numbered games, and the order in which the games are handed over.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use crossbeam::channel::{Receiver, RecvTimeoutError, Sender, bounded};

use crate::search::solo::STACK_BYTES;
use crate::util::rng::SplitMix64;
use crate::util::threads;

/// How often the caller is asked whether to go on while no game ends.
const PATIENCE: Duration = Duration::from_millis(100);
/// How often threads that still search are told to stop.
const STOP_PERIOD: Duration = Duration::from_millis(5);

/// Plays games, each by its number alone.
pub trait Player {
    /// What is handed over of a game.
    type Game: Send;

    /// A game; `None` when `stop` was raised before its end.
    ///
    /// # Errors
    /// When no game can be begun, or it cannot be recorded.
    fn play(&mut self, number: u64, stop: &AtomicBool) -> Result<Option<Self::Game>>;
}

/// What the caller of [`play`] receives.
pub enum Event<G> {
    /// The next game in the order of their numbers.
    Game(G),
    /// No game has ended for a moment.
    Idle,
}

/// The random numbers of a game.
pub fn rng_of(seed: u64, number: u64) -> SplitMix64 {
    // Both are mixed, so that neither neighbouring seeds nor neighbouring games share a sequence.
    let base = SplitMix64::new(seed).next_u64();
    SplitMix64::new(SplitMix64::new(base ^ number).next_u64())
}

/// Plays the games of these numbers on so many threads, until all have been received or `receive` breaks. `receive`
/// runs on the caller's thread. At the end `halt` is called again and again until no thread plays: it may cut searches
/// short.
/// Where the system has no threads, the caller's thread plays the same games.
///
/// # Errors
/// When a player or a game cannot be begun, `receive` fails, or the system refuses a thread.
pub fn play<P: Player>(
    threads: usize,
    numbers: Range<u64>,
    new_player: impl Fn() -> Result<P> + Sync,
    receive: impl FnMut(Event<P::Game>) -> Result<ControlFlow<()>>,
    halt: impl Fn(),
) -> Result<()> {
    if threads::EXIST {
        play_beside(threads, numbers, new_player, receive, halt)
    } else {
        play_here(numbers, new_player, receive)
    }
}

/// A game and its number among all.
struct NumberedGame<G> {
    number: u64,
    game: G,
}

/// Plays on threads, and receives on the caller's.
fn play_beside<P: Player>(
    threads: usize,
    numbers: Range<u64>,
    new_player: impl Fn() -> Result<P> + Sync,
    receive: impl FnMut(Event<P::Game>) -> Result<ControlFlow<()>>,
    halt: impl Fn(),
) -> Result<()> {
    let next = AtomicU64::new(numbers.start);
    let stop = AtomicBool::new(false);
    let (sender, games) = bounded(2 * threads);
    std::thread::scope(|scope| {
        let mut playing = Vec::new();
        for id in 0..threads {
            let (sender, next, stop, new_player) = (sender.clone(), &next, &stop, &new_player);
            let end = numbers.end;
            let work = move || play_games(new_player, (next, end), stop, &sender);
            let thread = std::thread::Builder::new().name(format!("games {id}")).stack_size(STACK_BYTES);
            match thread.spawn_scoped(scope, work) {
                Ok(handle) => playing.push(handle),
                Err(error) => {
                    stop.store(true, Relaxed);
                    return Err(error).context("the system refuses a thread");
                }
            }
        }
        drop(sender);
        let received = receive_in_order(&games, numbers, receive);
        stop.store(true, Relaxed);
        // No thread may wait for room in the channel.
        drop(games);
        while !playing.iter().all(|thread| thread.is_finished()) {
            halt();
            std::thread::sleep(STOP_PERIOD);
        }
        received
    })
}

/// Plays and receives in turn.
fn play_here<P: Player>(
    numbers: Range<u64>,
    new_player: impl Fn() -> Result<P>,
    mut receive: impl FnMut(Event<P::Game>) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let mut player = new_player()?;
    let stop = AtomicBool::new(false);
    for number in numbers {
        let game = player.play(number, &stop)?;
        let game = game.context("a game was stopped although nothing stops it")?;
        if receive(Event::Game(game))?.is_break() {
            break;
        }
    }
    Ok(())
}

/// One thread's work: the next game that no other thread plays, until told to stop.
fn play_games<P: Player>(
    new_player: &impl Fn() -> Result<P>,
    (next, end): (&AtomicU64, u64),
    stop: &AtomicBool,
    sender: &Sender<Result<NumberedGame<P::Game>>>,
) {
    let mut player = match new_player() {
        Ok(player) => player,
        Err(error) => {
            let _ = sender.send(Err(error));
            return;
        }
    };
    while !stop.load(Relaxed) {
        let number = next.fetch_add(1, Relaxed);
        if number >= end {
            return;
        }
        let played = catch_unwind(AssertUnwindSafe(|| player.play(number, stop)));
        let game = match played {
            Ok(Ok(None)) => return,
            Ok(Ok(Some(game))) => Ok(NumberedGame { number, game }),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(anyhow!("game {number} failed; this is a bug, please report it")),
        };
        if sender.send(game).is_err() {
            return;
        }
    }
}

/// Receives games in any order and hands them on in the order of their numbers.
fn receive_in_order<G>(
    games: &Receiver<Result<NumberedGame<G>>>,
    numbers: Range<u64>,
    mut receive: impl FnMut(Event<G>) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let mut early = BTreeMap::new();
    let mut next = numbers.start;
    while next < numbers.end {
        match games.recv_timeout(PATIENCE) {
            Ok(game) => {
                let NumberedGame { number, game } = game?;
                early.insert(number, game);
            }
            Err(RecvTimeoutError::Timeout) => {
                if receive(Event::Idle)?.is_break() {
                    return Ok(());
                }
            }
            Err(RecvTimeoutError::Disconnected) => bail!("all threads have ended"),
        }
        while let Some(game) = early.remove(&next) {
            next += 1;
            if receive(Event::Game(game))?.is_break() {
                return Ok(());
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A game is its number; odd ones take longer.
    struct Numbers;

    impl Player for Numbers {
        type Game = u64;

        fn play(&mut self, number: u64, _: &AtomicBool) -> Result<Option<u64>> {
            std::thread::sleep(Duration::from_millis(number % 2));
            if number == 50 {
                bail!("no game 50");
            }
            Ok(Some(number))
        }
    }

    fn played(threads: Option<usize>, numbers: Range<u64>) -> Result<Vec<u64>> {
        let mut seen = Vec::new();
        let receive = |event| {
            if let Event::Game(number) = event {
                seen.push(number);
            }
            Ok(ControlFlow::Continue(()))
        };
        match threads {
            Some(threads) => play_beside(threads, numbers, || Ok(Numbers), receive, || ())?,
            None => play_here(numbers, || Ok(Numbers), receive)?,
        }
        Ok(seen)
    }

    #[test]
    fn games_arrive_in_order_with_and_without_threads() {
        let all: Vec<u64> = (3..40).collect();
        for threads in [None, Some(1), Some(3)] {
            assert_eq!(played(threads, 3..40).expect("games"), all, "{threads:?}");
            assert!(played(threads, 45..60).is_err(), "{threads:?}");
        }
        assert!(played(Some(2), 5..5).expect("no games").is_empty());
    }
}
