//! A line of moves and the positions along it.

use super::Man;
use crate::board::attacks::attacks;
use crate::board::{Bitboard, Color, Move, Position, Role, Square};
use crate::review::material::{HORIZON, Swing, swing};

/// A line from a position, up to the horizon.
pub(crate) struct Walk {
    /// The positions before and after each move: one more than the number of moves.
    positions: Vec<Position>,
    moves: Vec<Move>,
    /// Material swing of the line for the side that begins it.
    pub swing: Option<Swing>,
}

impl Walk {
    /// Plays the line.
    pub(crate) fn new(start: &Position, line: &[Move]) -> Self {
        let moves: Vec<Move> = line.iter().copied().take(HORIZON).collect();
        let mut positions = vec![start.clone()];
        for &m in &moves {
            let mut next = positions[positions.len() - 1].clone();
            next.do_move(m);
            positions.push(next);
        }
        Self { swing: swing(start, line, start.turn()), positions, moves }
    }

    /// The side that begins the line.
    pub(crate) fn side(&self) -> Color {
        self.positions[0].turn()
    }

    /// Number of moves.
    pub(crate) fn len(&self) -> usize {
        self.moves.len()
    }

    /// The move with this index.
    pub(crate) fn mv(&self, ply: usize) -> Option<Move> {
        self.moves.get(ply).copied()
    }

    /// The position before the move with this index.
    pub(super) fn before(&self, ply: usize) -> &Position {
        &self.positions[ply.min(self.positions.len() - 1)]
    }

    /// The position after the move with this index.
    pub(super) fn after(&self, ply: usize) -> &Position {
        self.before(ply + 1)
    }

    /// The last position.
    pub(crate) fn end(&self) -> &Position {
        &self.positions[self.positions.len() - 1]
    }

    /// Indices of the moves of the side that begins the line.
    pub(super) fn own_plies(&self) -> impl Iterator<Item = usize> {
        (0..self.moves.len()).step_by(2)
    }

    /// Whether the line ends in a mate by the side that begins it.
    pub(crate) fn mates(&self) -> bool {
        let end = self.end();
        end.turn() != self.side() && end.in_check() && end.legal_moves().is_empty()
    }

    /// Whether the line mates or wins material.
    pub(super) fn wins(&self) -> bool {
        self.mates() || self.swing.is_some_and(|swing| swing.points > 0)
    }

    /// The piece that the move with this index captures, on its square.
    pub(crate) fn captured(&self, ply: usize) -> Option<Man> {
        let (m, before) = (self.mv(ply)?, self.before(ply));
        let role = before.captured(m)?;
        let square = if before.is_en_passant(m) { Square::from_coords(m.to().file(), m.from().rank()) } else { m.to() };
        Some(Man { role, square })
    }

    /// The piece that makes the move with this index, on its square after the move. `None` for castling.
    pub(super) fn mover(&self, ply: usize) -> Option<Man> {
        let m = self.mv(ply)?;
        if self.before(ply).is_castling(m) {
            return None;
        }
        man(self.after(ply), m.to())
    }
}

/// The piece on a square.
pub(super) fn man(position: &Position, square: Square) -> Option<Man> {
    let role = position.role_at(square)?;
    Some(Man { role, square })
}

/// Squares that the piece on `square` attacks.
pub(super) fn reach(position: &Position, square: Square) -> Bitboard {
    reach_through(position, square, Bitboard::EMPTY)
}

/// Squares that the piece on `square` would attack without the pieces on `without`.
pub(super) fn reach_through(position: &Position, square: Square, without: Bitboard) -> Bitboard {
    let piece = position.piece_at(square);
    piece.map_or(Bitboard::EMPTY, |piece| attacks(square, piece, position.occupied() & !without))
}

/// Pieces of a colour that attack a square.
pub(super) fn attackers(position: &Position, square: Square, color: Color) -> Bitboard {
    position.attackers_to(square, position.occupied()) & position.by_color(color)
}

/// Whether the side to move has a legal capture on a square.
pub(super) fn can_capture(position: &Position, square: Square) -> bool {
    let takes = |m: &Move| m.to() == square && position.is_capture(*m);
    position.legal_moves().iter().any(takes)
}

/// Bishops, rooks and queens.
pub(super) fn is_slider(role: Role) -> bool {
    matches!(role, Role::Bishop | Role::Rook | Role::Queen)
}

/// The piece that a slider on `slider` would attack without the piece on `front` (an X-ray attack).
pub(super) fn xray_target(position: &Position, slider: Square, front: Square) -> Option<Man> {
    let now = reach(position, slider);
    let then = reach_through(position, slider, Bitboard::from(front));
    let square = (then & !now & position.occupied()).first()?;
    man(position, square)
}
