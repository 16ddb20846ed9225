//! Plays one numbered game of a match between two engines.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use anyhow::Result;

use super::clock::Clock;
use super::pgn::GameText;
use super::plan::Plan;
use super::side::{Engine, FoundMove};
use crate::board::{Color, Move, Position};
use crate::game::ending::{Cause, Ending};
use crate::game::referee::{self, Answer};
use crate::game::workers::{Player, rng_of};
use crate::search::Controller;
use crate::search::Score;
use crate::search::score::{MATE, Value};
use crate::util::sync::Mutex;

/// Controllers of the running searches, to stop them from another thread.
pub type Searches = Mutex<Vec<Controller>>;

/// A finished game.
pub struct PlayedGame {
    /// Result and cause of the end.
    pub ending: Ending,
    /// Player A's result: -1, 0, 1.
    pub result: i8,
    /// The player whose clock ran out: 0 for A, 1 for B.
    pub late: Option<usize>,
    /// The game in PGN, if it is to be written.
    pub pgn: Option<String>,
}

/// A move with the result of its search.
#[derive(Clone, Copy)]
pub struct PlayedMove {
    /// The move.
    pub m: Move,
    /// Its score for the side that moved.
    pub score: Score,
    /// Depth of the search in plies.
    pub depth: i32,
    /// Search time.
    pub time: Duration,
}

/// Two engines, for one game at a time.
pub struct Table<'a> {
    plan: &'a Plan,
    /// Date of the match for the PGN; `None` if no PGN is written.
    date: Option<&'a str>,
    /// The engines of A and B.
    engines: [Engine; 2],
}

impl<'a> Table<'a> {
    /// Starts both engines.
    ///
    /// # Errors
    /// Fails if there is not enough memory, or tablebases cannot be opened.
    pub fn new(plan: &'a Plan, date: Option<&'a str>, searches: &Searches) -> Result<Self> {
        let [a, b] = &plan.sides;
        let engines = [Engine::new(a)?, Engine::new(b)?];
        searches.lock().extend(engines.iter().map(Engine::controller));
        Ok(Self { plan, date, engines })
    }
}

impl Player for Table<'_> {
    type Game = PlayedGame;

    fn play(&mut self, number: u64, stop: &AtomicBool) -> Result<Option<PlayedGame>> {
        let plan = self.plan;
        let mut rng = rng_of(plan.seed, number);
        for engine in &mut self.engines {
            engine.begin(rng.next_u64());
        }
        let opening = plan.opening(number);
        let a_is = Plan::colour_of_a(number);
        let player = |color: Color| usize::from(color != a_is);
        let mut clock = plan.control.map(Clock::new);
        let mut moves = Vec::new();
        let ending = referee::play(opening.position(), &plan.rules, stop, |position| {
            let turn = position.turn();
            let engine = &mut self.engines[player(turn)];
            let Some((found, time)) = think(engine, position, plan, clock.as_ref()) else {
                return Answer::Stopped;
            };
            if !in_time(plan, clock.as_mut(), turn, time) {
                return Answer::End(Ending::out_of_time(position, turn));
            }
            moves.push(PlayedMove { m: found.m, score: found.score, depth: found.depth, time });
            Answer::Move(found.m, centipawns(found.score))
        });
        let Some(ending) = ending else {
            return Ok(None);
        };
        // A move whose score ended the game by adjudication was not made.
        let adjudicated = [Cause::WinningScore, Cause::DrawnScore, Cause::Length];
        if adjudicated.contains(&ending.cause) {
            moves.pop();
        }
        let loser = Color::from_white(ending.white < 0);
        let late = (ending.cause == Cause::Time && ending.white != 0).then(|| player(loser));
        let pgn = self.date.map(|date| {
            let text = GameText { plan, number, date, opening: &opening, moves: &moves, ending };
            text.pgn()
        });
        Ok(Some(PlayedGame { ending, result: if a_is.is_white() { ending.white } else { -ending.white }, late, pgn }))
    }
}

/// Searches the engine's move and measures the time.
fn think(
    engine: &mut Engine,
    position: &Position,
    plan: &Plan,
    clock: Option<&Clock>,
) -> Option<(FoundMove, Duration)> {
    let limits = match clock {
        Some(clock) => clock.limits(position.turn(), &plan.limits),
        None => plan.limits.clone(),
    };
    let started = Instant::now();
    let found = engine.search(position, limits)?;
    Some((found, started.elapsed()))
}

/// Subtracts the time spent from the clock. Returns whether the move was made within its time limits.
fn in_time(plan: &Plan, clock: Option<&mut Clock>, turn: Color, spent: Duration) -> bool {
    let within_move = plan.limits.move_time.is_none_or(|time| spent <= time + plan.margin);
    within_move && clock.is_none_or(|clock| clock.charge(turn, spent, plan.margin))
}

/// Converts a score for adjudication: a mate exceeds every other score.
fn centipawns(score: Score) -> Value {
    match score {
        Score::Centipawns(value) => value,
        Score::Mate(moves) if moves > 0 => MATE - moves,
        Score::Mate(moves) => -MATE - moves,
    }
}
