//! From a board to the active HalfKP features of both perspectives.
//!
//! The trainer stores the transformer's rows by *piece row* first and king second (`row = 64 * piece_row + king`), so
//! that the 64 real rows which share a virtual one lie together; the file's order is king first.

use crate::data::Record;

/// Piece kinds of a perspective: five roles (the kings are no features), own or enemy.
pub const KINDS: usize = 10;
/// Piece rows: what stands where, whatever the king does. These are the virtual "P" features.
pub const PIECE_ROWS: usize = KINDS * 64;
/// King squares.
pub const KINGS: usize = 64;
/// Rows that belong to one king square in the file; the first of them is never active.
pub const FILE_ROWS_PER_KING: usize = PIECE_ROWS + 1;
/// At most thirty pieces stand beside the two kings.
pub const MAX_ACTIVE: usize = 30;

/// The active features of a position, for the side to move and for the other side.
#[derive(Clone, Copy, Debug)]
pub struct Active {
    /// How many rows of each perspective are valid.
    pub count: u8,
    /// `[0]` the side to move's, `[1]` the other side's: `64 * piece_row + king`.
    pub rows: [[u16; MAX_ACTIVE]; 2],
}

impl Default for Active {
    fn default() -> Self {
        Self {
            count: 0,
            rows: [[0; MAX_ACTIVE]; 2],
        }
    }
}

impl Active {
    /// The features of a record, or of its left-to-right mirror image.
    #[inline]
    pub fn of(record: &Record, mirrored: bool) -> Self {
        const KING: u8 = 5;
        let mirror = if mirrored { 7 } else { 0 };
        let mut kings = [0_u16; 2];
        for piece in record.pieces().filter(|piece| piece.role == KING) {
            let turn = if piece.colour == 0 { 0 } else { 63 };
            kings[usize::from(piece.colour)] = u16::from(piece.square ^ mirror ^ turn);
        }
        let (us, them) = if record.black_to_move() {
            (1, 0)
        } else {
            (0, 1)
        };
        let mut active = Self::default();
        for piece in record.pieces().filter(|piece| piece.role < KING) {
            let slot = usize::from(active.count);
            if slot == MAX_ACTIVE {
                break;
            }
            for (side, colour) in [us, them].into_iter().enumerate() {
                let turn = if colour == 0 { 0 } else { 63 };
                let kind = 2 * u16::from(piece.role) + u16::from(piece.colour != colour);
                let piece_row = 64 * kind + u16::from(piece.square ^ mirror ^ turn);
                active.rows[side][slot] = 64 * piece_row + kings[usize::from(colour)];
            }
            active.count += 1;
        }
        active
    }

    /// The valid rows of a perspective (0 the side to move, 1 the other).
    #[inline]
    pub fn side(&self, side: usize) -> &[u16] {
        &self.rows[side][..usize::from(self.count)]
    }

    /// The rows of a perspective in the order of the file.
    pub fn file_rows(&self, side: usize) -> Vec<u32> {
        let to_file = |&row: &u16| file_row(usize::from(row >> 6), usize::from(row & 63)) as u32;
        self.side(side).iter().map(to_file).collect()
    }
}

/// Where the file keeps the row of a piece row and a king.
pub fn file_row(piece_row: usize, king: usize) -> usize {
    FILE_ROWS_PER_KING * king + 1 + piece_row
}

/// A record of a board, without label, and with a castling right so that training does not mirror it.
#[cfg(test)]
pub fn record_of(board: &shakmaty::Board, black_to_move: bool) -> Record {
    let pieces = board
        .iter()
        .map(|(square, piece)| crate::data::record::PackedPiece {
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

    #[test]
    fn the_start_position_has_thirty_rows_a_side() {
        let active = Active::of(&record_of(&Board::new(), false), false);
        assert_eq!(active.count, 30);
        let rows = active.file_rows(0);
        assert!(rows.iter().all(|&row| row < 41_024 && row % 641 != 0));
        // White's a1 rook with the king on e1, and black's h8 rook, which black sees on a1 with its king on d1.
        assert!(rows.contains(&(641 * 4 + 1 + 64 * 6)));
        assert!(active.file_rows(1).contains(&(641 * 3 + 1 + 64 * 6)));
    }

    #[test]
    fn a_mirrored_record_is_the_mirrored_board() {
        let board = Board::from_ascii_board_fen(b"2k5/pp6/8/4n3/8/5Q2/6PP/R5K1").unwrap();
        let mut mirrored = board.clone();
        mirrored.flip_horizontal();
        for black in [false, true] {
            let direct = Active::of(&record_of(&mirrored, black), false);
            let turned = Active::of(&record_of(&board, black), true);
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
