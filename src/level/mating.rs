//! Chooses the move in elementary endings with a separate search, whose only pruning is alpha-beta.
//!
//! The main search prunes moves with small differences in value, and the mating technique (see [`technique`]) consists
//! of such moves. This search examines every move. A bare king has few moves, so a search of eight plies with the
//! evaluation of [`technique`] finds every mate.

use super::technique;
use crate::board::{Move, Position};

/// Value of a mate at the root. The number of plies to the mate is subtracted.
const MATE: i32 = 30_000;
/// Depths in plies. They are even, so that a hanging piece is captured before the position is evaluated.
const DEPTHS: [u32; 4] = [2, 4, 6, 8];
/// Number of nodes after which no deeper search starts.
const NODE_LIMIT: u64 = 60_000;

/// The best move against a bare king; `None` if the position is not an elementary ending that the side to move wins.
pub fn best_move(position: &Position) -> Option<Move> {
    let us = position.turn();
    if technique::attacker(position) != Some(us) || technique::value(position).is_none() {
        return None;
    }
    let mut search = MatingSearch { position: position.clone(), nodes: 0 };
    let mut best = None;
    for depth in DEPTHS {
        let found = search.root(depth, best);
        best = found.best;
        if search.nodes > NODE_LIMIT || found.value > MATE - 100 {
            break;
        }
    }
    best
}

/// A search in progress.
struct MatingSearch {
    position: Position,
    nodes: u64,
}

/// The result of a search to one depth.
struct RootResult {
    value: i32,
    best: Option<Move>,
}

impl MatingSearch {
    /// Searches the root to this depth; `first` is searched first.
    fn root(&mut self, depth: u32, first: Option<Move>) -> RootResult {
        let mut moves = self.position.legal_moves();
        moves.sort_by_key(|&m| Some(m) != first);
        let (mut alpha, mut best) = (-MATE, None);
        for m in moves {
            let value = -self.child(m, -MATE, -alpha, depth - 1, 1);
            if value > alpha {
                (alpha, best) = (value, Some(m));
            }
        }
        RootResult { value: alpha, best }
    }

    /// The value for the side to move after `m`.
    fn child(&mut self, m: Move, alpha: i32, beta: i32, depth: u32, ply: usize) -> i32 {
        self.position.do_move(m);
        let value = self.value(alpha, beta, depth, ply);
        self.position.undo_move();
        value
    }

    /// The value for the side to move: mate, draw, or at depth 0 the evaluation of [`technique`].
    fn value(&mut self, mut alpha: i32, beta: i32, depth: u32, ply: usize) -> i32 {
        self.nodes += 1;
        let moves = self.position.legal_moves();
        if moves.is_empty() {
            let is_mate = self.position.in_check();
            return if is_mate { ply as i32 - MATE } else { 0 };
        }
        // A single repetition counts as a draw too, even of a position from the game: it makes no progress.
        if self.position.is_draw(ply) || self.position.is_repetition(usize::MAX) {
            return 0;
        }
        if depth == 0 {
            return technique::value(&self.position).unwrap_or(0);
        }
        for m in moves {
            alpha = alpha.max(-self.child(m, -beta, -alpha, depth - 1, ply + 1));
            if alpha >= beta {
                break;
            }
        }
        alpha
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::CastlingMode;

    fn of(fen: &str) -> Option<String> {
        let position = Position::from_fen(fen, CastlingMode::Standard).expect("a FEN");
        best_move(&position).map(|m| position.san(m))
    }

    #[test]
    fn best_move_mates_and_avoids_stalemate_and_forks() {
        assert_eq!(of("7k/8/6K1/8/8/8/8/R7 w - - 0 1").as_deref(), Some("Ra8#"));
        let careful = of("7k/8/8/6K1/8/8/8/5Q2 w - - 0 1").expect("a move");
        assert_ne!(careful, "Qf7");
        // Bd5 would allow a fork of bishop and knight.
        let safe = of("B7/2N1k3/8/8/8/8/1K6/8 w - - 3 2").expect("a move");
        assert_ne!(safe, "Bd5");
    }

    #[test]
    fn best_move_is_none_outside_won_elementary_endings() {
        for fen in ["8/8/8/3k4/8/8/8/KR6 b - - 0 1", "8/8/8/3k4/8/8/P7/KR6 w - - 0 1", "8/8/8/3k4/8/8/8/KNN5 w - - 0 1"]
        {
            assert_eq!(of(fen), None, "{fen}");
        }
    }
}
