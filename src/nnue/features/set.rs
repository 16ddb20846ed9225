//! Feature sets as data: map the own king's square and a piece on a square to the index of a row.

use shakmaty::{Color, Piece, Square};

/// The number of the king if pieces are numbered from 0 (pawn).
const KING: u8 = 5;

/// A feature set of the type "own king's bucket times one piece on a square", for one perspective.
///
/// The board is oriented to the perspective's side, and the king's square selects a bucket. Each bucket has a plane of
/// 64 rows for every kind of piece: own and enemy pawns, own and enemy knights, and so on.
///
/// Sets with a bucket for each king square require a refresh whenever the own king moves; those with fewer buckets only
/// when the [`View`] changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FeatureSet {
    /// The name in the descriptions of published nets.
    pub name: &'static str,
    /// The number of the set in our own file format.
    pub code: u32,
    /// The set's part of the transformer hash, before the width is mixed in.
    pub hash: u32,
    /// Mask by which Black's squares are oriented (exclusive or): 63 rotates the board, 56 flips it.
    pub turn: u8,
    /// Whether the board is also mirrored if the own king stands on the files a to d.
    pub mirrored: bool,
    /// The bucket by square of the own king, after the orientation by `turn`.
    pub king_buckets: [u8; 64],
    /// The number of king buckets.
    pub kings: usize,
    /// Number of planes in a bucket: 10 without kings, 11 with kings that share a plane, 12 with one for each.
    pub planes: usize,
    /// Number of rows at the start of a bucket that are never active.
    pub unused: usize,
}

/// The orientation of the board and the king bucket of a perspective. Depends only on its king's square.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct View {
    /// Mask that orients squares (exclusive or).
    turn: u8,
    /// The bucket of the own king.
    pub king: u16,
}

impl View {
    /// The mask that orients a square for the perspective (exclusive or).
    #[inline(always)]
    pub fn turn(self) -> u8 {
        self.turn
    }
}

impl FeatureSet {
    /// Number of features of one perspective.
    pub const fn count(&self) -> usize {
        self.per_king() * self.kings
    }

    /// Number of rows in a king bucket.
    const fn per_king(&self) -> usize {
        self.unused + self.piece_rows()
    }

    /// Number of rows in a king bucket that can be active.
    pub const fn piece_rows(&self) -> usize {
        64 * self.planes
    }

    /// Number of rows that can be active, over all king buckets.
    pub const fn active_rows(&self) -> usize {
        self.kings * self.piece_rows()
    }

    /// The king bucket and the piece row of one of the [`Self::active_rows`], which are ordered by king buckets.
    pub const fn king_and_piece_row(&self, active_row: usize) -> (usize, usize) {
        (active_row / self.piece_rows(), active_row % self.piece_rows())
    }

    /// Whether the set uses one of our tables, in which squares of the own king share a bucket (apart from mirroring).
    pub const fn is_by_table(&self) -> bool {
        self.mirrored && self.kings < 32
    }

    /// Whether kings are features too.
    #[inline(always)]
    pub const fn has_kings(&self) -> bool {
        self.planes > 10
    }

    /// Whether both kings share a plane; otherwise each has its own, if kings are features at all.
    #[inline(always)]
    const fn kings_share(&self) -> bool {
        self.planes < 12
    }

    /// For each of this set's king buckets, the bucket of `coarser` that contains its squares. `None` if a bucket has
    /// squares of two such buckets, or the sets are of different kinds.
    pub fn buckets_in(&self, coarser: &Self) -> Option<Vec<usize>> {
        if self.code != coarser.code {
            return None;
        }
        let mut found: Vec<Option<u8>> = vec![None; self.kings];
        for (&bucket, &containing) in self.king_buckets.iter().zip(&coarser.king_buckets) {
            let known = found[usize::from(bucket)].get_or_insert(containing);
            if *known != containing {
                return None;
            }
        }
        found.into_iter().map(|bucket| bucket.map(usize::from)).collect()
    }

    /// The view of a perspective whose king stands on `king`.
    #[inline(always)]
    pub fn view(&self, perspective: Color, king: Square) -> View {
        let turn = if perspective.is_black() { self.turn } else { 0 };
        let king = king as u8;
        let mirror = if self.mirrored && king % 8 < 4 { 7 } else { 0 };
        View { turn: turn ^ mirror, king: u16::from(self.king_buckets[usize::from((king ^ turn) & 63)]) }
    }

    /// Number of views of a perspective.
    pub const fn views(&self) -> usize {
        self.kings * if self.mirrored { 2 } else { 1 }
    }

    /// The number of a perspective's view, below [`Self::views`].
    #[inline(always)]
    pub fn view_number(&self, view: View) -> usize {
        let half = if self.mirrored { usize::from(view.turn & 7 != 0) } else { 0 };
        half * self.kings + usize::from(view.king)
    }

    /// The row of a piece (0 pawn to 5 king) on a square within a king bucket; below [`Self::piece_rows`]. Kings are
    /// allowed only if [`Self::has_kings`] is true.
    #[inline(always)]
    pub fn piece_row(&self, view: View, piece: u8, is_other: bool, square: u8) -> u16 {
        debug_assert!(piece != KING || self.has_kings(), "{} has no features for kings", self.name);
        // The two kings cannot stand on the same square, so they can share a plane.
        let plane = 2 * piece + u8::from(is_other && (piece != KING || !self.kings_share()));
        64 * u16::from(plane) + u16::from(square ^ view.turn)
    }

    /// The index of a row of a king bucket; below [`Self::count`].
    #[inline(always)]
    pub const fn row(&self, king: u16, piece_row: u16) -> u16 {
        self.per_king() as u16 * king + self.unused as u16 + piece_row
    }

    /// The index of `piece` on `square` for a perspective and its view.
    #[inline(always)]
    pub fn index(&self, view: View, perspective: Color, piece: Piece, square: Square) -> u16 {
        let role = piece.role as u8 - 1;
        let is_other = piece.color != perspective;
        self.row(view.king, self.piece_row(view, role, is_other, square as u8))
    }
}
