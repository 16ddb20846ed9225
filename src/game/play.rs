//! Games of the engine against itself: threads that play numbered games, whose results the caller receives in the order
//! of their numbers; the openings; and a game until it ends, with the limits of its searches and the count of results.

use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use crossbeam::channel::{Receiver, RecvTimeoutError, Sender, bounded};
use serde::{Deserialize, Serialize};

use super::ending::{Cause, Ending};
use crate::board::openings::Openings;
use crate::board::{CastlingMode, Color, Move, Position};
use crate::search::score::Value;
use crate::search::{Found, Limits, STACK_BYTES, Solo};
use crate::util::rng::SplitMix64;
use crate::util::sync;

/// Interval of [`Event::Idle`] while no game ends.
const IDLE_PERIOD: Duration = Duration::from_millis(100);
/// Interval at which `halt` is called until all threads have stopped.
const STOP_PERIOD: Duration = Duration::from_millis(5);

/// Plays games. A game depends only on its number.
pub trait Player {
    /// The record of a game.
    type Game: Send;

    /// Plays a game. Returns `None` if `stop` was set before its end.
    ///
    /// # Errors
    /// Fails if the game cannot be started or recorded.
    fn play(&mut self, number: u64, stop: &AtomicBool) -> Result<Option<Self::Game>>;
}

/// What the caller of [`play_numbered`] receives.
pub enum Event<G> {
    /// The next game in the order of their numbers.
    Game(G),
    /// No game has ended for 100 ms.
    Idle,
}

/// The random number generator of a game.
pub fn rng_of(seed: u64, number: u64) -> SplitMix64 {
    // Mixes seed and number, so that neither neighbouring seeds nor neighbouring games share a sequence.
    let base = SplitMix64::new(seed).next_u64();
    SplitMix64::new(SplitMix64::new(base ^ number).next_u64())
}

/// Plays the games `numbers` on `threads` threads, until all have been received or `receive` breaks. `receive` runs on
/// the caller's thread. At the end, `halt` is called repeatedly until all threads have stopped; it can stop their
/// searches. On systems without threads, the caller's thread plays the same games.
///
/// # Errors
/// Fails if a player or a game cannot be started, `receive` fails, or a thread cannot be started.
pub fn play_numbered<P: Player>(
    threads: usize,
    numbers: Range<u64>,
    new_player: impl Fn() -> Result<P> + Sync,
    receive: impl FnMut(Event<P::Game>) -> Result<ControlFlow<()>>,
    halt: impl Fn(),
) -> Result<()> {
    if sync::THREADS_EXIST {
        play_beside(threads, numbers, new_player, receive, halt)
    } else {
        play_here(numbers, new_player, receive)
    }
}

/// A game and its number.
struct NumberedGame<G> {
    number: u64,
    game: G,
}

/// The numbers of the games that no thread has started.
struct Numbers<'a> {
    next: &'a AtomicU64,
    end: u64,
}

/// Plays on threads and receives on the caller's thread.
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
            let games = Numbers { next, end };
            let work = move || play_games(new_player, games, stop, &sender);
            let thread = std::thread::Builder::new().name(format!("games {id}")).stack_size(STACK_BYTES);
            match thread.spawn_scoped(scope, work) {
                Ok(handle) => playing.push(handle),
                Err(error) => {
                    stop.store(true, Relaxed);
                    return Err(error).context("cannot start a thread");
                }
            }
        }
        drop(sender);
        let received = receive_in_order(&games, numbers, receive);
        stop.store(true, Relaxed);
        // Closes the channel, so that no thread waits for space in it.
        drop(games);
        while !playing.iter().all(|thread| thread.is_finished()) {
            halt();
            std::thread::sleep(STOP_PERIOD);
        }
        received
    })
}

/// Plays and receives alternately on the caller's thread.
fn play_here<P: Player>(
    numbers: Range<u64>,
    new_player: impl Fn() -> Result<P>,
    mut receive: impl FnMut(Event<P::Game>) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let mut player = new_player()?;
    let stop = AtomicBool::new(false);
    for number in numbers {
        let game = player.play(number, &stop)?;
        let game = game.context("a game was stopped unexpectedly; this is a bug, please report it")?;
        if receive(Event::Game(game))?.is_break() {
            break;
        }
    }
    Ok(())
}

/// Plays the next unplayed game repeatedly, until `stop` is set. Runs on each thread.
fn play_games<P: Player>(
    new_player: &impl Fn() -> Result<P>,
    numbers: Numbers,
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
        let number = numbers.next.fetch_add(1, Relaxed);
        if number >= numbers.end {
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

/// Receives games in any order and passes them on in the order of their numbers.
fn receive_in_order<G>(
    games: &Receiver<Result<NumberedGame<G>>>,
    numbers: Range<u64>,
    mut receive: impl FnMut(Event<G>) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let mut early = BTreeMap::new();
    let mut next = numbers.start;
    while next < numbers.end {
        match games.recv_timeout(IDLE_PERIOD) {
            Ok(game) => {
                let NumberedGame { number, game } = game?;
                early.insert(number, game);
            }
            Err(RecvTimeoutError::Timeout) => {
                if receive(Event::Idle)?.is_break() {
                    return Ok(());
                }
            }
            Err(RecvTimeoutError::Disconnected) => bail!("all threads ended early; this is a bug, please report it"),
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

// Openings of generated games: a book or the initial position, followed by random moves. A small search discards
// openings that are already decided.

/// Nodes of the search that evaluates an opening.
const JUDGE_NODES: u64 = 500;

/// Arguments of the openings.
#[derive(clap::Args, Clone, Debug)]
pub struct OpeningArgs {
    /// Book of openings (FEN, EPD or UCI moves), or `builtin`; the initial position if absent
    #[arg(long, value_name = "FILE")]
    pub book: Option<PathBuf>,
    /// Play Chess960 from random start positions, or from the book's positions
    #[arg(long)]
    pub chess960: bool,
    /// Number of random plies: N or N + 1, chosen at random; default 8, with a book 4
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(..=200))]
    pub random_plies: Option<u16>,
    /// Discard openings with a larger |score| in a search of 500 nodes, in engine units
    #[arg(long, value_name = "UNITS", default_value_t = 600)]
    pub max_opening: i32,
}

/// Generator of openings that a small search evaluates as roughly even.
pub struct EvenOpenings {
    openings: Openings,
    max_score: i32,
}

impl EvenOpenings {
    /// Reads the book, if there is one.
    ///
    /// # Errors
    /// Fails if the book cannot be read or has no usable position.
    pub fn new(args: &OpeningArgs) -> Result<Self> {
        let mode = CastlingMode::from_chess960(args.chess960);
        let plies = args.random_plies.map(usize::from);
        Ok(Self { openings: Openings::new(args.book.as_deref(), mode, plies)?, max_score: args.max_opening })
    }

    /// Returns the next opening: not in check, not over, and with neither side far ahead. Clears `solo`, so the choice
    /// depends on nothing that it searched before.
    ///
    /// # Errors
    /// Fails if no opening is found, because the book is too one-sided or the arguments are too strict.
    pub fn next(&self, rng: &mut SplitMix64, solo: &mut Solo) -> Result<Position> {
        solo.clear();
        let opening = self.openings.next(rng, |position| self.is_even(position, solo));
        opening.with_context(|| format!("the book is too one-sided, or --max-opening {} is too strict", self.max_score))
    }

    /// Whether a search of [`JUDGE_NODES`] scores the position within the limit.
    fn is_even(&self, position: &Position, solo: &mut Solo) -> bool {
        let limits = Limits { nodes: Some(JUDGE_NODES), ..Limits::default() };
        let found = solo.search(position, &limits);
        found.is_some_and(|found| found.value.abs() <= self.max_score)
    }
}

// A game until its end.

/// Arguments for adjudication, which ends games early.
#[derive(clap::Args, Clone, Debug)]
pub struct RuleArgs {
    /// Adjudicate a win when one side's |score| has been at least this for --win-plies
    #[arg(long, value_name = "UNITS", default_value_t = 2500)]
    pub win_score: Value,
    /// Number of consecutive plies with a winning score
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub win_plies: u32,
    /// Adjudicate a draw when |score| has been at most this for --draw-plies
    #[arg(long, value_name = "UNITS", default_value_t = 8)]
    pub draw_score: Value,
    /// Number of consecutive plies with a drawn score
    #[arg(long, value_name = "N", default_value_t = 12)]
    pub draw_plies: u32,
    /// Number of plies before which no draw is adjudicated
    #[arg(long, value_name = "N", default_value_t = 60)]
    pub draw_from: u32,
    /// Adjudicate a draw after this many plies
    #[arg(long, value_name = "N", default_value_t = 400, value_parser = clap::value_parser!(u32).range(1..=3000))]
    pub max_plies: u32,
}

/// Adjudicates a game by its scores.
struct Referee<'a> {
    rules: &'a RuleArgs,
    plies: u32,
    /// The side with a winning score (1 for White, -1 for Black), and for how many plies.
    winner: i8,
    winning: u32,
    drawish: u32,
}

impl<'a> Referee<'a> {
    fn new(rules: &'a RuleArgs) -> Self {
        Self { rules, plies: 0, winner: 0, winning: 0, drawish: 0 }
    }

    /// Counts a score. Returns the end of the game if it is decided.
    fn verdict(&mut self, white_to_move: bool, value: Value) -> Option<Ending> {
        let rules = self.rules;
        self.plies += 1;
        let sign = if white_to_move == (value > 0) { 1 } else { -1 };
        if value.abs() < rules.win_score {
            self.winning = 0;
        } else if self.winner == sign {
            self.winning += 1;
        } else {
            (self.winner, self.winning) = (sign, 1);
        }
        self.drawish = if value.abs() <= rules.draw_score { self.drawish + 1 } else { 0 };
        if self.winning > 0 && self.winning >= rules.win_plies {
            let winner = Color::from_white(self.winner > 0);
            return Some(Ending::win(winner, Cause::WinningScore));
        }
        if self.drawish > 0 && self.drawish >= rules.draw_plies && self.plies >= rules.draw_from {
            return Some(Ending::draw(Cause::DrawnScore));
        }
        (self.plies >= rules.max_plies).then_some(Ending::draw(Cause::Length))
    }
}

/// A player's answer to a position.
#[derive(Clone, Copy, Debug)]
pub enum Answer {
    /// A move, and its value for the player in the units of the arguments.
    Move(Move, Value),
    /// No move: the game ended for another reason, such as time.
    End(Ending),
    /// No move: the game is abandoned without a result.
    Stopped,
}

impl From<Option<Found>> for Answer {
    fn from(found: Option<Found>) -> Self {
        found.map_or(Self::Stopped, |found| Self::Move(found.m, found.value))
    }
}

/// Plays a game to its end. `find` returns the move of either side. Returns `None` if `stop` was set or `find` returned
/// [`Answer::Stopped`].
pub fn play_game(
    start: Position,
    rules: &RuleArgs,
    stop: &AtomicBool,
    mut find: impl FnMut(&Position) -> Answer,
) -> Option<Ending> {
    let mut position = start;
    let mut referee = Referee::new(rules);
    while !stop.load(Relaxed) {
        if let Some(ending) = Ending::by_rules(&position) {
            return Some(ending);
        }
        let (m, value) = match find(&position) {
            Answer::Move(m, value) => (m, value),
            Answer::End(ending) => return Some(ending),
            Answer::Stopped => return None,
        };
        let white_to_move = position.turn() == Color::White;
        if let Some(ending) = referee.verdict(white_to_move, value) {
            return Some(ending);
        }
        position.do_move(m);
    }
    None
}

// Search limits of a move.

/// Hard node limit divided by the soft limit. It stops an iteration that takes too long.
const HARD_OVER_SOFT: u64 = 8;

/// Arguments for the limits of a move.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct MoveArgs {
    /// Nodes for each move
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub nodes: Option<u64>,
    /// Nodes after which no new iteration starts; the search stops at eight times this number
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub soft_nodes: Option<u64>,
    /// Depth for each move in plies
    #[arg(long, value_name = "PLIES", value_parser = clap::value_parser!(i32).range(1..=100))]
    pub depth: Option<i32>,
}

impl MoveArgs {
    /// Whether no limit is given.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_none() && self.soft_nodes.is_none() && self.depth.is_none()
    }

    /// The limits of a search; `default` nodes if no limit is given.
    pub fn limits(&self, default: u64) -> Limits {
        let hard = self.soft_nodes.map(|soft| soft.saturating_mul(HARD_OVER_SOFT));
        Limits {
            nodes: self.nodes.or(hard).or(self.is_empty().then_some(default)),
            soft_nodes: self.soft_nodes,
            depth: self.depth,
            ..Limits::default()
        }
    }
}

// Games won, drawn and lost.

/// Results of one player.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Games won.
    pub won: u32,
    /// Games drawn.
    pub drawn: u32,
    /// Games lost.
    pub lost: u32,
}

impl Tally {
    /// Counts a result of the player: -1, 0, 1.
    pub fn count(&mut self, result: i8) {
        *match result {
            1 => &mut self.won,
            0 => &mut self.drawn,
            _ => &mut self.lost,
        } += 1;
    }

    /// Adds another tally.
    pub fn add(&mut self, other: Self) {
        self.won += other.won;
        self.drawn += other.drawn;
        self.lost += other.lost;
    }

    /// All games.
    pub fn games(&self) -> u32 {
        self.won + self.drawn + self.lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Its games are their numbers; odd ones take longer.
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

#[cfg(test)]
mod referee_tests {
    use super::*;
    use crate::board::CastlingMode;
    use crate::nnue::Network;
    use crate::search::Solo;

    fn rules() -> RuleArgs {
        RuleArgs { win_score: 2500, win_plies: 4, draw_score: 8, draw_plies: 3, draw_from: 5, max_plies: 20 }
    }

    fn verdicts(values: &[Value]) -> Vec<Option<i8>> {
        let rules = rules();
        let mut referee = Referee::new(&rules);
        let mut white = true;
        let judge = |&value: &Value| {
            let verdict = referee.verdict(white, value);
            white = !white;
            verdict.map(|ending| ending.white)
        };
        values.iter().map(judge).collect()
    }

    #[test]
    fn win_is_adjudicated_after_consecutive_scores_of_one_side() {
        let last = |values: &[Value]| verdicts(values).pop().flatten();
        assert_eq!(last(&[2600, -2600, 2600, -2600]), Some(1));
        assert_eq!(last(&[-2600, 2600, -2600, 2600]), Some(-1));
        assert_eq!(last(&[2600, -2600, 2600, 2600]), None);
        assert_eq!(last(&[2600, -2600, 2400, -2600]), None);
    }

    #[test]
    fn draw_is_adjudicated_after_consecutive_scores_late_in_the_game() {
        assert_eq!(verdicts(&[0; 5]), [None, None, None, None, Some(0)]);
        assert_eq!(verdicts(&[0, 0, 0, 0, 50]).pop(), Some(None));
        assert_eq!(verdicts(&[100; 20]).pop(), Some(Some(0)));
    }

    #[test]
    fn game_ends_with_mate() {
        let fen = "7k/8/5K2/6Q1/8/8/8/8 w - - 0 1";
        let position = Position::from_fen(fen, CastlingMode::Standard).expect(fen);
        let mut solo = Solo::new(Network::embedded(), 1);
        let limits = MoveArgs::default().limits(2000);
        let rules = RuleArgs { win_score: 40_000, ..rules() };
        let mut plies = 0;
        let stop = AtomicBool::new(false);
        let result = play_game(position, &rules, &stop, |position| {
            plies += 1;
            solo.search(position, &limits).into()
        });
        assert_eq!(result, Some(Ending::win(Color::White, Cause::Mate)));
        assert!(plies < 10);
    }
}
