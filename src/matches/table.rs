//! Plays one numbered game of a match between two engines, and writes it as PGN.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::Result;

use super::plan::Plan;
use super::side::{Engine, FoundMove};
use crate::board::openings::Opening;
use crate::board::{CastlingMode, Color, Move, Position};
use crate::game::clock::Clock;
use crate::game::ending::{Cause, Ending};
use crate::game::play::{self, Answer, Player, rng_of};
use crate::search::score::{MATE, Value};
use crate::search::{Controller, Score};
use crate::tools::game_record::{pgn, result_of};
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
    /// Time on the player's clock.
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
        let ending = play::play_game(opening.position(), &plan.rules, stop, |position| {
            let turn = position.turn();
            let engine = &mut self.engines[player(turn)];
            let Some(found) = think(engine, position, plan, clock.as_ref()) else {
                return Answer::Stopped;
            };
            let time = found.time;
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

/// Searches the engine's move.
fn think(engine: &mut Engine, position: &Position, plan: &Plan, clock: Option<&Clock>) -> Option<FoundMove> {
    let limits = match clock {
        Some(clock) => clock.limits(position.turn(), &plan.limits),
        None => plan.limits.clone(),
    };
    engine.search(position, limits)
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

// The games of a match in PGN.

/// A game to write.
pub struct GameText<'a> {
    /// The match.
    pub plan: &'a Plan,
    /// Number of the game, from 0.
    pub number: u64,
    /// Date of the match, as PGN writes it.
    pub date: &'a str,
    /// The opening.
    pub opening: &'a Opening,
    /// The moves after the opening.
    pub moves: &'a [PlayedMove],
    /// Result and cause of the end.
    pub ending: Ending,
}

impl GameText<'_> {
    /// The game as PGN with tags, the score of each searched move as a comment, and a blank line at the end.
    pub fn pgn(&self) -> String {
        let [white, black] = [Color::White, Color::Black].map(|color| {
            let side = usize::from(color != Plan::colour_of_a(self.number));
            self.plan.sides[side].name.as_str()
        });
        let result = result_of(self.ending.white);
        let round = format!("{}.{}", self.number / 2 + 1, self.number % 2 + 1);
        let plies = (self.opening.moves.len() + self.moves.len()).to_string();
        let control = self.plan.control.map(|control| control.to_string());
        let mut tags = vec![
            ("Event", "zoothera match"),
            ("Site", "?"),
            ("Date", self.date),
            ("Round", round.as_str()),
            ("White", white),
            ("Black", black),
            ("Result", result),
            ("PlyCount", plies.as_str()),
            ("Termination", termination(self.ending.cause)),
            ("TimeControl", control.as_deref().unwrap_or("-")),
        ];
        if self.opening.start.castling_mode() == CastlingMode::Chess960 {
            tags.push(("Variant", "Chess960"));
        }
        let played = self.moves.iter().map(|played| played.m);
        let moves: Vec<_> = self.opening.moves.iter().copied().chain(played).collect();
        let last = moves.len();
        let note = |ply: usize| {
            let searched = ply.checked_sub(self.opening.moves.len());
            let note = searched.and_then(|index| self.moves.get(index));
            let end = (ply + 1 == last).then(|| words(self.ending));
            match (note.map(|played| self.note(played)), end) {
                (Some(note), Some(end)) => Some(format!("{note}, {end}")),
                (note, end) => note.or(end),
            }
        };
        format!("{}\n", pgn(&tags, &self.opening.start, &moves, note, result))
    }

    /// Score and depth of a move, and its time in timed matches: `+0.31/9 0.050s`.
    fn note(&self, played: &PlayedMove) -> String {
        let score = match played.score {
            Score::Centipawns(value) => format!("{:+.2}", f64::from(value) / 100.0),
            Score::Mate(moves) if moves > 0 => format!("+M{moves}"),
            Score::Mate(moves) => format!("-M{}", -moves),
        };
        let note = format!("{score}/{}", played.depth);
        if self.plan.is_timed() { format!("{note} {:.3}s", played.time.as_secs_f64()) } else { note }
    }
}

/// The value of the tag `Termination`.
fn termination(cause: Cause) -> &'static str {
    match cause {
        Cause::Time => "time forfeit",
        Cause::WinningScore | Cause::DrawnScore | Cause::Length => "adjudication",
        _ => "normal",
    }
}

/// The cause of a game's end as a sentence.
fn words(ending: Ending) -> String {
    let (winner, loser) = if ending.white > 0 { ("White", "Black") } else { ("Black", "White") };
    match ending.cause {
        Cause::Mate => format!("{winner} mates"),
        Cause::Stalemate => "stalemate".into(),
        Cause::Repetition => "draw by repetition".into(),
        Cause::FiftyMoves => "draw by the fifty-move rule".into(),
        Cause::Material => "draw by insufficient material".into(),
        Cause::Time if ending.white == 0 => "time ran out against a bare king".into(),
        Cause::Time => format!("{loser} loses on time"),
        Cause::WinningScore => format!("{winner} wins by adjudication"),
        Cause::DrawnScore => "draw by adjudication".into(),
        Cause::Length => "draw by adjudication: too many moves".into(),
    }
}
