//! A game of the engine against itself, and when it is over.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::board::{Color, Position};
use crate::search::Limits;
use crate::search::score::Value;
use crate::search::solo::Found;

/// How many times the soft limit a search may spend when an iteration does not end.
const HARD_OVER_SOFT: u64 = 8;

/// Arguments of a move's search.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct MoveArgs {
    /// Nodes for each move
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub nodes: Option<u64>,
    /// Nodes after which no iteration is begun; eight times as many end the search
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub soft_nodes: Option<u64>,
    /// Depth for each move in plies
    #[arg(long, value_name = "PLIES", value_parser = clap::value_parser!(i32).range(1..=100))]
    pub depth: Option<i32>,
}

impl MoveArgs {
    /// The limits of a search; `default` nodes where nothing is limited.
    pub fn limits(&self, default: u64) -> Limits {
        let unlimited = self.nodes.is_none() && self.soft_nodes.is_none() && self.depth.is_none();
        let hard = self
            .soft_nodes
            .map(|soft| soft.saturating_mul(HARD_OVER_SOFT));
        Limits {
            nodes: self.nodes.or(hard).or(unlimited.then_some(default)),
            soft_nodes: self.soft_nodes,
            depth: self.depth,
            ..Limits::default()
        }
    }
}

/// Arguments of adjudication: what ends a game before the rules of chess do.
#[derive(clap::Args, Clone, Debug)]
pub struct RuleArgs {
    /// A game is won when |score| has been at least this, for one side, for --win-plies
    #[arg(long, value_name = "UNITS", default_value_t = 2500)]
    pub win_score: Value,
    /// Plies for which the winning score must hold
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub win_plies: u32,
    /// A game is drawn when |score| has been at most this for --draw-plies
    #[arg(long, value_name = "UNITS", default_value_t = 8)]
    pub draw_score: Value,
    /// Plies for which the drawish score must hold
    #[arg(long, value_name = "N", default_value_t = 12)]
    pub draw_plies: u32,
    /// No game is adjudicated drawn before this many plies were played
    #[arg(long, value_name = "N", default_value_t = 60)]
    pub draw_from: u32,
    /// A game that is longer than this is drawn
    #[arg(long, value_name = "N", default_value_t = 400, value_parser = clap::value_parser!(u32).range(1..=3000))]
    pub max_plies: u32,
}

/// Watches the scores of a game.
struct Referee<'a> {
    rules: &'a RuleArgs,
    plies: u32,
    /// Who has been winning (white 1, black -1), and for how many plies.
    winner: i8,
    winning: u32,
    drawish: u32,
}

impl<'a> Referee<'a> {
    fn new(rules: &'a RuleArgs) -> Self {
        Self {
            rules,
            plies: 0,
            winner: 0,
            winning: 0,
            drawish: 0,
        }
    }

    /// White's result, once the scores decide it.
    fn verdict(&mut self, white_to_move: bool, value: Value) -> Option<i8> {
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
        self.drawish = if value.abs() <= rules.draw_score {
            self.drawish + 1
        } else {
            0
        };
        if self.winning > 0 && self.winning >= rules.win_plies {
            return Some(self.winner);
        }
        let drawn =
            self.drawish > 0 && self.drawish >= rules.draw_plies && self.plies >= rules.draw_from
                || self.plies >= rules.max_plies;
        drawn.then_some(0)
    }
}

/// White's result by the rules of chess, if the game is over.
fn result_of(position: &Position) -> Option<i8> {
    if position.legal_moves().is_empty() {
        let loser = if position.turn() == Color::White {
            -1
        } else {
            1
        };
        return Some(if position.in_check() { loser } else { 0 });
    }
    position.is_draw(0).then_some(0)
}

/// Plays a game to its end and returns white's result: -1, 0, 1. `find` searches a position, for either side. `None`
/// when `stop` was raised, or nothing was found.
pub fn play(
    start: Position,
    rules: &RuleArgs,
    stop: &AtomicBool,
    mut find: impl FnMut(&Position) -> Option<Found>,
) -> Option<i8> {
    let mut position = start;
    let mut referee = Referee::new(rules);
    while !stop.load(Relaxed) {
        if let Some(result) = result_of(&position) {
            return Some(result);
        }
        let found = find(&position)?;
        let white_to_move = position.turn() == Color::White;
        if let Some(result) = referee.verdict(white_to_move, found.value) {
            return Some(result);
        }
        position.do_move(found.m);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::CastlingMode;
    use crate::nnue::Network;
    use crate::search::Solo;

    fn rules() -> RuleArgs {
        RuleArgs {
            win_score: 2500,
            win_plies: 4,
            draw_score: 8,
            draw_plies: 3,
            draw_from: 5,
            max_plies: 20,
        }
    }

    fn verdicts(values: &[Value]) -> Vec<Option<i8>> {
        let rules = rules();
        let mut referee = Referee::new(&rules);
        let mut white = true;
        let judge = |&value: &Value| {
            let verdict = referee.verdict(white, value);
            white = !white;
            verdict
        };
        values.iter().map(judge).collect()
    }

    #[test]
    fn wins_must_last_and_belong_to_one_side() {
        let last = |values: &[Value]| verdicts(values).pop().flatten();
        assert_eq!(last(&[2600, -2600, 2600, -2600]), Some(1));
        assert_eq!(last(&[-2600, 2600, -2600, 2600]), Some(-1));
        assert_eq!(last(&[2600, -2600, 2600, 2600]), None);
        assert_eq!(last(&[2600, -2600, 2400, -2600]), None);
    }

    #[test]
    fn draws_must_last_and_come_late() {
        assert_eq!(verdicts(&[0; 5]), [None, None, None, None, Some(0)]);
        assert_eq!(verdicts(&[0, 0, 0, 0, 50]).pop(), Some(None));
        assert_eq!(verdicts(&[100; 20]).pop(), Some(Some(0)));
    }

    #[test]
    fn a_game_ends_with_mate() {
        let fen = "7k/8/5K2/6Q1/8/8/8/8 w - - 0 1";
        let position = Position::from_fen(fen, CastlingMode::Standard).expect(fen);
        let mut solo = Solo::new(Network::embedded(), 1);
        let limits = MoveArgs::default().limits(2000);
        let rules = RuleArgs {
            win_score: 40_000,
            ..rules()
        };
        let mut plies = 0;
        let stop = AtomicBool::new(false);
        let result = play(position, &rules, &stop, |position| {
            plies += 1;
            solo.search(position, &limits)
        });
        assert_eq!(result, Some(1));
        assert!(plies < 10);
    }
}
