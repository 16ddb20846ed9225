//! Results of the searches about a move. Reasons are derived from these results and from the board along their lines.

use super::analyst::{Analyst, Look};
use super::chance::opposite;
use super::material::Swing;
use super::proof::{GainLine, Stopped};
use super::rules::{cut_at_end, is_over};
use crate::board::{Color, Move, Position};
use crate::search::report::Score;

/// Divisor of the search limits for additional searches of a position.
const PART: u32 = 2;
/// Maximum number of searches to complete a mating line.
const COMPLETIONS: usize = 4;

/// Extent of the searches about a move, in addition to the positions before and after the move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    /// No additional search.
    Brief,
    /// Additional searches for threats and the second-best move.
    Full,
}

/// A move and the results of the searches about it.
pub(crate) struct Facts {
    /// The position before the move.
    pub position: Position,
    /// The move.
    pub m: Move,
    /// Search of the position before the move, from the mover's view.
    pub before: Look,
    /// Search of the position after the move, from the opponent's view.
    pub after: Look,
    /// Search of the position before the move, without the best move.
    pub second: Option<Look>,
    /// The opponent's threat before the move: a search after a pass by the mover.
    pub threat: Option<Passed>,
    /// The mover's threat after the best move: a search after a pass by the opponent.
    pub idea: Option<Passed>,
    /// Material that the move and its refutation lose by force, as the opponent's gain.
    pub lost: Option<Swing>,
    /// Material that the best line wins by force.
    pub won: Option<Swing>,
    /// The mover's threat after the move played.
    pub own_idea: Option<Passed>,
}

/// A search after a pass.
#[derive(Clone)]
pub(crate) struct Passed {
    /// The position after the pass.
    pub position: Position,
    /// The result of the search.
    pub look: Look,
    /// Material that the search's line wins by force.
    pub gain: Option<Swing>,
}

impl Facts {
    /// Runs the searches. Returns `None` after Ctrl-C.
    pub(crate) fn gather(
        position: &Position,
        m: Move,
        before: &Look,
        after: &Look,
        second: Option<Look>,
        depth: Depth,
        analyst: &mut Analyst,
    ) -> Option<Self> {
        let best = before.best().unwrap_or(m);
        let [played, better] = [m, best].map(|m| {
            let mut reached = position.clone();
            reached.do_move(m);
            reached
        });
        let mut facts = Self {
            before: completed(position, before, analyst)?,
            after: completed(&played, after, analyst)?,
            position: position.clone(),
            m,
            second,
            lost: None,
            won: None,
            threat: None,
            idea: None,
            own_idea: None,
        };
        facts.prove(analyst).ok()?;
        if depth == Depth::Full {
            if facts.second.is_none() && position.legal_moves().len() > 1 {
                facts.second = Some(analyst.look_without(position, best, PART)?);
            }
            let passes = [
                (position, &mut facts.threat, true),
                (&played, &mut facts.own_idea, true),
                (&better, &mut facts.idea, m != best),
            ];
            for (position, passed, is_new) in passes {
                if is_new && can_pass(position) {
                    *passed = Some(analyst.look_after_pass(position, PART)?);
                }
            }
            if m == best {
                facts.idea = facts.own_idea.clone();
            }
        }
        Some(facts)
    }

    /// Searches whether the material that the lines win is won by force.
    fn prove(&mut self, analyst: &mut Analyst) -> Result<(), Stopped> {
        let (side, played) = (self.mover(), self.played_line());
        let start = &self.position;
        self.lost = GainLine { start, moves: &played, side: !side, given: 1 }.proven(analyst)?;
        self.won = GainLine { start, moves: self.before.pv(), side, given: 0 }.proven(analyst)?;
        Ok(())
    }

    /// The side that made the move.
    pub(crate) fn mover(&self) -> Color {
        self.position.turn()
    }

    /// The best move, or the move played if the search has no best move.
    pub(crate) fn best(&self) -> Move {
        self.before.best().unwrap_or(self.m)
    }

    /// Whether the move played is the best move.
    pub(crate) fn is_best(&self) -> bool {
        self.best() == self.m
    }

    /// The position after the move.
    pub(crate) fn reached(&self) -> Position {
        let mut position = self.position.recent();
        position.do_move(self.m);
        position
    }

    /// The score after the move from the mover's view.
    pub(crate) fn score_after(&self) -> Score {
        match self.after.score {
            Score::Mate(0) => Score::Mate(1),
            score => opposite(score),
        }
    }

    /// The move played and the best line after it.
    pub(crate) fn played_line(&self) -> Vec<Move> {
        let mut line = vec![self.m];
        line.extend_from_slice(self.after.pv());
        line
    }
}

/// Whether a null move is possible.
fn can_pass(position: &Position) -> bool {
    !position.in_check() && !is_over(position)
}

/// `look` with its first line completed to the mate, if its score is a mate. Each step searches the end of the line.
fn completed(position: &Position, look: &Look, analyst: &mut Analyst) -> Option<Look> {
    let mut look = look.clone();
    if !matches!(look.score, Score::Mate(_)) {
        return Some(look);
    }
    let Some(first) = look.lines.first_mut() else {
        return Some(look);
    };
    for _ in 0..COMPLETIONS {
        let mut end = position.clone();
        for &m in &first.pv {
            end.do_move(m);
        }
        if is_over(&end) {
            break;
        }
        let next = analyst.look(&end)?;
        if !matches!(next.score, Score::Mate(_)) || next.pv().is_empty() {
            break;
        }
        first.pv.extend_from_slice(next.pv());
        cut_at_end(position, &mut first.pv);
    }
    Some(look)
}
