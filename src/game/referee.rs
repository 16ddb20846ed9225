//! Plays a game of the engine against itself until it ends: the limits of its searches, and the count of results.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use serde::{Deserialize, Serialize};

use super::ending::{Cause, Ending};
use crate::board::{Color, Move, Position};
use crate::search::Found;
use crate::search::Limits;
use crate::search::score::Value;

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
pub fn play(
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
        let result = play(position, &rules, &stop, |position| {
            plies += 1;
            solo.search(position, &limits).into()
        });
        assert_eq!(result, Some(Ending::win(Color::White, Cause::Mate)));
        assert!(plies < 10);
    }
}
