//! A feature set as data: how the own king's square and a piece on a square become the index of a row.

use shakmaty::{Color, Piece, Square};

/// The code of a king where pieces are numbered from 0 (pawn).
const KING: u8 = 5;

/// A feature set of the kind "where the own king stands, times one piece on a square", for one perspective.
///
/// The perspective turns the board to its own side, the king's square falls into a bucket, and each bucket has a plane
/// of 64 rows for every kind of piece: own and enemy pawns, own and enemy knights, and so on.
///
/// Sets with a bucket for each king square refresh a perspective whenever its own king moves; those with fewer buckets
/// only where the [`View`] changes.
#[derive(Clone, Copy, Debug)]
pub struct FeatureSet {
    /// The name, as the descriptions of published nets have it.
    pub name: &'static str,
    /// The number by which files of our own shapes name it.
    pub code: u32,
    /// Its part of the transformer hash, before the width is mixed in.
    pub hash: u32,
    /// How Black turns squares, by exclusive or: 63 rotates the board, 56 flips it.
    pub turn: u8,
    /// Whether the board is mirrored, too, where the own king stands on the files a to d.
    pub mirrored: bool,
    /// The bucket of the own king's square, after the turn.
    pub king_buckets: [u8; 64],
    /// The number of those buckets.
    pub kings: usize,
    /// Planes in a bucket: 10 without kings, 11 with those of both sides, which share one.
    pub planes: usize,
    /// Rows at the beginning of a bucket that are never active.
    pub unused: usize,
}

/// How a perspective sees the board: what depends on its king alone.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct View {
    /// What turns squares, by exclusive or.
    turn: u8,
    /// The bucket of the own king.
    pub king: u16,
}

impl FeatureSet {
    /// Number of features of one perspective.
    pub const fn count(&self) -> usize {
        self.per_king() * self.kings
    }

    /// Rows of a king bucket.
    const fn per_king(&self) -> usize {
        self.unused + self.piece_rows()
    }

    /// Rows of a king bucket that can be active.
    pub const fn piece_rows(&self) -> usize {
        64 * self.planes
    }

    /// Rows that can be active: a row of every king bucket for each of its piece rows.
    pub const fn active_rows(&self) -> usize {
        self.kings * self.piece_rows()
    }

    /// Whether several squares of the own king, beside mirrored ones, share a bucket by a table of ours.
    pub const fn is_by_table(&self) -> bool {
        self.mirrored && self.kings < 32
    }

    /// Whether kings are features too.
    #[inline(always)]
    pub const fn has_kings(&self) -> bool {
        self.planes > 10
    }

    /// The view of a perspective whose king stands on `king`.
    #[inline(always)]
    pub fn view(&self, perspective: Color, king: Square) -> View {
        let turn = if perspective.is_black() { self.turn } else { 0 };
        let king = king as u8;
        let mirror = if self.mirrored && king % 8 < 4 { 7 } else { 0 };
        View {
            turn: turn ^ mirror,
            king: u16::from(self.king_buckets[usize::from((king ^ turn) & 63)]),
        }
    }

    /// The row, within a king bucket, of a piece (0 pawn to 5 king, of the other side or not) on a square; below
    /// [`Self::piece_rows`]. A king is allowed only where [`Self::has_kings`] says so.
    #[inline(always)]
    pub fn piece_row(&self, view: View, piece: u8, is_other: bool, square: u8) -> u16 {
        debug_assert!(
            piece != KING || self.has_kings(),
            "kings are no {} features",
            self.name
        );
        // A square cannot hold both kings, so that one plane is enough for them.
        let plane = 2 * piece + u8::from(is_other && piece != KING);
        64 * u16::from(plane) + u16::from(square ^ view.turn)
    }

    /// The index of a row of a king bucket; below [`Self::count`].
    #[inline(always)]
    pub const fn row(&self, king: u16, piece_row: u16) -> u16 {
        self.per_king() as u16 * king + self.unused as u16 + piece_row
    }

    /// The index of `piece` on `square`, seen by `perspective` with this view.
    #[inline(always)]
    pub fn index(&self, view: View, perspective: Color, piece: Piece, square: Square) -> u16 {
        let role = piece.role as u8 - 1;
        let is_other = piece.color != perspective;
        self.row(
            view.king,
            self.piece_row(view, role, is_other, square as u8),
        )
    }
}
