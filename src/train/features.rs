//! From a board to the active features of both perspectives.
//!
//! The trainer stores the transformer's rows by *piece row* first and king second (`row = kings * piece_row + king`), so
//! that the real rows which share a virtual one lie together; the file's order is king first.

use serde::{Deserialize, Serialize};

use crate::data::Record;
use crate::nnue::architecture::Features;
pub use crate::nnue::features::MAX_ACTIVE;

/// Piece kinds of a HalfKP perspective: five roles (the kings are no features), own or enemy.
pub const KINDS: usize = 10;
/// Rows that belong to one king square in a HalfKP file; the first of them is never active.
pub const FILE_ROWS_PER_KING: usize = 64 * KINDS + 1;
/// The role of a king in a record.
const KING: u8 = 5;

/// What a net sees of a position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum FeatureSet {
    /// Own king square (64) times every other piece but the kings: Stockfish 12's
    #[default]
    HalfKp,
    /// Own king square, mirrored to the files e to h (32), times every piece: Stockfish 15's
    HalfKav2Hm,
}

impl FeatureSet {
    /// Both of them.
    pub const ALL: [Self; 2] = [Self::HalfKp, Self::HalfKav2Hm];

    /// King squares that are told apart.
    pub const fn kings(self) -> usize {
        match self {
            Self::HalfKp => 64,
            Self::HalfKav2Hm => 32,
        }
    }

    /// Piece rows: what stands where, whatever the king does. These are the virtual "P" features.
    pub const fn piece_rows(self) -> usize {
        match self {
            Self::HalfKp => 64 * KINDS,
            // The kings of both sides share one kind.
            Self::HalfKav2Hm => 64 * (KINDS + 1),
        }
    }

    /// Real rows.
    pub const fn rows(self) -> usize {
        self.kings() * self.piece_rows()
    }

    /// Where the file keeps the row of a piece row and a king.
    pub const fn file_row(self, piece_row: usize, king: usize) -> usize {
        match self {
            Self::HalfKp => FILE_ROWS_PER_KING * king + 1 + piece_row,
            Self::HalfKav2Hm => self.piece_rows() * king + piece_row,
        }
    }

    /// The same, as the engine calls it.
    pub const fn engine(self) -> Features {
        match self {
            Self::HalfKp => Features::HalfKp,
            Self::HalfKav2Hm => Features::HalfKav2Hm,
        }
    }

    /// How the perspective of a colour (0 white, 1 black) turns squares, by exclusive or, and the number of its king.
    fn view(self, colour: u8, king: u8) -> (u8, u16) {
        match self {
            Self::HalfKp => {
                let turn = if colour == 0 { 0 } else { 63 };
                (turn, u16::from(king ^ turn))
            }
            Self::HalfKav2Hm => {
                let flip = if colour == 0 { 0 } else { 56 };
                let (rank, file) = ((king ^ flip) / 8, king % 8);
                let mirror = if file < 4 { 7 } else { 0 };
                (
                    flip ^ mirror,
                    u16::from(4 * (7 - rank) + file.min(7 - file)),
                )
            }
        }
    }
}

/// The active features of a position, for the side to move and for the other side.
#[derive(Clone, Copy, Debug)]
pub struct Active {
    /// How many rows of each perspective are valid.
    pub count: u8,
    /// `[0]` the side to move's, `[1]` the other side's: `kings * piece_row + king`.
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
    pub fn of(features: FeatureSet, record: &Record, mirrored: bool) -> Self {
        let mirror = if mirrored { 7 } else { 0 };
        let mut views = [(0, 0); 2];
        for piece in record.pieces().filter(|piece| piece.role == KING) {
            views[usize::from(piece.colour)] = features.view(piece.colour, piece.square ^ mirror);
        }
        let (us, them) = if record.black_to_move() {
            (1, 0)
        } else {
            (0, 1)
        };
        let kings = features.kings() as u16;
        let mut active = Self::default();
        for piece in record.pieces() {
            let slot = usize::from(active.count);
            if slot == MAX_ACTIVE {
                break;
            }
            if piece.role == KING && features == FeatureSet::HalfKp {
                continue;
            }
            for (side, colour) in [us, them].into_iter().enumerate() {
                let (turn, king) = views[usize::from(colour)];
                let enemy = u16::from(piece.role != KING && piece.colour != colour);
                let kind = 2 * u16::from(piece.role) + enemy;
                let piece_row = 64 * kind + u16::from(piece.square ^ mirror ^ turn);
                active.rows[side][slot] = kings * piece_row + king;
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
    pub fn file_rows(&self, features: FeatureSet, side: usize) -> Vec<u32> {
        let kings = features.kings();
        let to_file = |&row: &u16| {
            let row = usize::from(row);
            features.file_row(row / kings, row % kings) as u32
        };
        self.side(side).iter().map(to_file).collect()
    }
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
        let features = FeatureSet::HalfKp;
        let active = Active::of(features, &record_of(&Board::new(), false), false);
        assert_eq!(active.count, 30);
        let rows = active.file_rows(features, 0);
        assert!(rows.iter().all(|&row| row < 41_024 && row % 641 != 0));
        // White's a1 rook with the king on e1, and black's h8 rook, which black sees on a1 with its king on d1.
        assert!(rows.contains(&(641 * 4 + 1 + 64 * 6)));
        assert!(
            active
                .file_rows(features, 1)
                .contains(&(641 * 3 + 1 + 64 * 6))
        );
    }

    #[test]
    fn a_mirrored_record_is_the_mirrored_board() {
        let board = Board::from_ascii_board_fen(b"2k5/pp6/8/4n3/8/5Q2/6PP/R5K1").unwrap();
        let mut mirrored = board.clone();
        mirrored.flip_horizontal();
        for (features, black) in [
            (FeatureSet::HalfKp, false),
            (FeatureSet::HalfKp, true),
            (FeatureSet::HalfKav2Hm, true),
        ] {
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
