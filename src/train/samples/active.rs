//! Active features of both perspectives of a board.
//!
//! As in a file, rows are ordered by the king's bucket first and *piece row* second (`row = piece_rows * king +
//! piece_row`), but rows that are never active are left out.

use shakmaty::{Color, Square};

use crate::data::Record;
use crate::nnue::Features;
use crate::nnue::features::{MAX_ACTIVE, View};

/// The role of a king in a record.
const KING: u8 = 5;

/// The active features of a position, for the side to move and for the other side.
#[derive(Clone, Copy, Debug)]
pub struct Active {
    /// Number of valid rows of each perspective.
    pub count: u8,
    /// Row indices `piece_rows * king + piece_row`: `[0]` of the side to move, `[1]` of the other side.
    pub rows: [[u16; MAX_ACTIVE]; 2],
}

impl Default for Active {
    fn default() -> Self {
        Self { count: 0, rows: [[0; MAX_ACTIVE]; 2] }
    }
}

impl Active {
    /// Returns the features of a record, or of its left-to-right mirror image.
    #[inline]
    pub fn of(features: Features, record: &Record, mirrored: bool) -> Self {
        let set = features.set();
        let mirror = if mirrored { 7 } else { 0 };
        let sides = sides(features, record, mirrored);
        let first_rows = sides.map(|(_, view)| set.piece_rows() as u16 * view.king);
        let mut active = Self::default();
        for piece in record.pieces() {
            let slot = usize::from(active.count);
            if slot == MAX_ACTIVE {
                break;
            }
            if piece.role == KING && !set.has_kings() {
                continue;
            }
            for (side, (colour, view)) in sides.into_iter().enumerate() {
                let is_other = piece.colour != colour;
                let square = piece.square ^ mirror;
                let piece_row = set.piece_row(view, piece.role, is_other, square);
                active.rows[side][slot] = first_rows[side] + piece_row;
            }
            active.count += 1;
        }
        active
    }

    /// Returns the valid rows of a perspective (0 the side to move, 1 the other).
    #[inline]
    pub fn side(&self, side: usize) -> &[u16] {
        &self.rows[side][..usize::from(self.count)]
    }
}

/// Returns the king buckets of a record, or of its left-to-right mirror image: of the side to move, and of the other.
pub fn king_buckets(features: Features, record: &Record, mirrored: bool) -> [u16; 2] {
    sides(features, record, mirrored).map(|(_, view)| view.king)
}

/// Returns the colours and views of the side to move and of the other side.
#[inline]
fn sides(features: Features, record: &Record, mirrored: bool) -> [(u8, View); 2] {
    let mirror = if mirrored { 7 } else { 0 };
    let mut views = [View::default(); 2];
    for piece in record.pieces().filter(|piece| piece.role == KING) {
        let king = Square::new(u32::from(piece.square ^ mirror));
        let perspective = Color::from_black(piece.colour == 1);
        views[usize::from(piece.colour)] = features.set().view(perspective, king);
    }
    let us = u8::from(record.black_to_move());
    [us, 1 - us].map(|colour| (colour, views[usize::from(colour)]))
}

/// Packs a board into a record without a label, and with a castling right so that training does not mirror it.
#[cfg(any(test, feature = "gpu"))]
pub fn record_of(board: &shakmaty::Board, black_to_move: bool) -> Record {
    let pieces = board.iter().map(|(square, piece)| crate::data::record::PackedPiece {
        square: u8::from(square),
        role: piece.role as u8 - 1,
        colour: u8::from(piece.color.is_black()),
    });
    Record::pack(pieces, black_to_move, true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::Board;

    /// Returns the rows of a perspective as indices into the file.
    fn file_rows(active: &Active, features: Features, side: usize) -> Vec<u16> {
        let set = features.set();
        let to_file = |&row: &u16| {
            let (king, piece_row) = set.king_and_piece_row(row.into());
            set.row(king as u16, piece_row as u16)
        };
        active.side(side).iter().map(to_file).collect()
    }

    #[test]
    fn start_position_has_thirty_rows_per_side() {
        let features = Features::HalfKp;
        let active = Active::of(features, &record_of(&Board::new(), false), false);
        assert_eq!(active.count, 30);
        let rows = file_rows(&active, features, 0);
        assert!(rows.iter().all(|&row| row < 41_024 && row % 641 != 0));
        // White's a1 rook with the king on e1. Black's h8 rook, which is on a1 from Black's view, with the king on d1.
        assert!(rows.contains(&(641 * 4 + 1 + 64 * 6)));
        let rows = file_rows(&active, features, 1);
        assert!(rows.contains(&(641 * 3 + 1 + 64 * 6)));
    }

    #[test]
    fn mirrored_record_has_features_of_mirrored_board() {
        let board = Board::from_ascii_board_fen(b"2k5/pp6/8/4n3/8/5Q2/6PP/R5K1").unwrap();
        let mut mirrored = board.clone();
        mirrored.flip_horizontal();
        for (features, black) in [(Features::HalfKp, false), (Features::HalfKp, true), (Features::HalfKav2Hm, true)] {
            let direct = Active::of(features, &record_of(&mirrored, black), false);
            let turned = Active::of(features, &record_of(&board, black), true);
            for side in 0..2 {
                let sorted = |active: &Active| {
                    let mut rows = active.side(side).to_vec();
                    rows.sort_unstable();
                    rows
                };
                assert_eq!(sorted(&direct), sorted(&turned));
            }
        }
    }
}
