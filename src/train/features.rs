//! From a board to the active HalfKP features of both perspectives.

use shakmaty::{Board, Color, Piece, Role, Square};

/// Piece kinds of a perspective: five roles (the kings are no features), own or enemy.
pub const KINDS: usize = 10;
/// Rows that belong to one king square.
pub const ROWS_PER_KING: usize = 641;
/// At most thirty pieces stand beside the two kings.
pub const MAX_ACTIVE: usize = 30;

/// Turns a square into the one that `perspective` sees: black looks at the board rotated, not flipped.
#[inline]
pub fn orient(perspective: Color, square: Square) -> usize {
    usize::from(square) ^ if perspective.is_white() { 0 } else { 63 }
}

/// The row within a king's block, 1..=640, of a piece that is not a king.
#[inline]
pub fn piece_row(perspective: Color, piece: Piece, square: Square) -> usize {
    let role = piece.role as usize - Role::Pawn as usize;
    let kind = 2 * role + usize::from(piece.color != perspective);
    1 + 64 * kind + orient(perspective, square)
}

/// The active features of `perspective`.
pub fn active(board: &Board, perspective: Color) -> Vec<u32> {
    let Some(king) = board.king_of(perspective) else {
        return Vec::new();
    };
    let block = ROWS_PER_KING * orient(perspective, king);
    board
        .iter()
        .filter(|(_, piece)| piece.role != Role::King)
        .map(|(square, piece)| (block + piece_row(perspective, piece, square)) as u32)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_and_last_rows_are_where_the_format_puts_them() {
        let pawn = Piece {
            color: Color::White,
            role: Role::Pawn,
        };
        assert_eq!(piece_row(Color::White, pawn, Square::A1), 1);
        assert_eq!(piece_row(Color::Black, pawn, Square::A1), 65 + 63);
        let queen = Piece {
            color: Color::Black,
            role: Role::Queen,
        };
        assert_eq!(piece_row(Color::White, queen, Square::H8), 640);
    }

    #[test]
    fn a_start_position_looks_alike_from_both_sides() {
        // Rotation swaps king and queen wings, so only counts and ranges agree.
        let board = Board::new();
        for color in Color::ALL {
            let rows = active(&board, color);
            assert_eq!(rows.len(), 30);
            assert!(rows.iter().all(|&row| row < 41_024 && row % 641 != 0));
        }
    }
}
