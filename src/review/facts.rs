//! What was searched about a move, before anything is said of it.

use super::analyst::{Analyst, Look, is_over};
use crate::board::{Color, Move, Position, Role};
use crate::tools::eval::contributions;

/// The share of a position's cost that each further question about it takes.
const PART: u32 = 2;

/// A move, and what the searches around it say.
pub(crate) struct Facts {
    /// Before the move.
    pub position: Position,
    /// The move.
    pub m: Move,
    /// What the search says before it, from the mover's view.
    pub before: Look,
    /// And after it, from the opponent's.
    pub after: Look,
    /// What is left without the best move, where that was asked.
    pub second: Option<Look>,
    /// What the opponent would do if the mover passed, with the position after the pass.
    pub threat: Option<(Position, Look)>,
    /// What the mover would do after the best move if the opponent passed, likewise.
    pub idea: Option<(Position, Look)>,
    /// What the pieces of the mover contribute after the move, and after the best move.
    pub pieces: Vec<PieceChange>,
}

/// What the network makes of a piece after the move played and after the best move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PieceChange {
    /// Where it stands after the move played.
    pub square: crate::board::Square,
    /// Centipawns of its side after the move played.
    pub played: i32,
    /// And after the best move.
    pub best: i32,
}

impl Facts {
    /// Searches what there is to know; `None` once Ctrl-C was heard.
    pub(crate) fn gather(
        position: &Position,
        m: Move,
        before: &Look,
        after: &Look,
        second: Option<Look>,
        analyst: &mut Analyst,
    ) -> Option<Self> {
        let best = before.best().unwrap_or(m);
        let second = match second {
            None if position.legal_moves().len() > 1 => {
                Some(analyst.look_without(position, best, PART)?)
            }
            known => known,
        };
        let threat = pass(position, analyst)?;
        let mut reached = position.clone();
        reached.do_move(best);
        let idea = pass(&reached, analyst)?;
        Some(Self {
            pieces: piece_changes(position, m, best, analyst),
            position: position.clone(),
            m,
            before: before.clone(),
            after: after.clone(),
            second,
            threat,
            idea,
        })
    }

    /// The side that made the move.
    pub(crate) fn mover(&self) -> Color {
        self.position.turn()
    }

    /// The best move; the move itself where there is no other.
    pub(crate) fn best(&self) -> Move {
        self.before.best().unwrap_or(self.m)
    }

    /// Whether the search would have played the move.
    pub(crate) fn is_best(&self) -> bool {
        self.best() == self.m
    }

    /// The position after the move.
    pub(crate) fn reached(&self) -> Position {
        let mut position = self.position.clone();
        position.do_move(self.m);
        position
    }
}

/// A search after a pass, where passing is possible; the outer `None` means Ctrl-C.
fn pass(position: &Position, analyst: &mut Analyst) -> Option<Option<(Position, Look)>> {
    if position.in_check() || is_over(position) {
        return Some(None);
    }
    analyst.look_after_pass(position, PART).map(Some)
}

/// What became of the mover's pieces that are there after either move. Pawns are left out: what the network would lose
/// without one says little about where it stands.
fn piece_changes(position: &Position, m: Move, best: Move, analyst: &Analyst) -> Vec<PieceChange> {
    let mover = position.turn();
    if m == best || position.is_castling(m) || position.is_castling(best) {
        return Vec::new();
    }
    let network = analyst.network();
    let values = [m, best].map(|m| {
        let mut reached = position.clone();
        reached.do_move(m);
        contributions(&reached, &network)
    });
    let after = |m: Move, square| if square == m.from() { m.to() } else { square };
    let officers = position.by_color(mover) & !position.by_role(Role::Pawn);
    let pieces = officers.into_iter();
    let change = |square| {
        let (at, at_best) = (after(m, square), after(best, square));
        let sign = mover.fold_wb(1, -1);
        Some(PieceChange {
            square: at,
            played: sign * values[0][at as usize]?,
            best: sign * values[1][at_best as usize]?,
        })
    };
    pieces.filter_map(change).collect()
}
