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

    /// The first row of the plane of each piece within a king bucket, by twice the role from 0 (pawn) to 5 (king), plus
    /// 1 for a piece of the other side. The entries of kings mean nothing if they are no features.
    pub fn planes(&self) -> [u16; 12] {
        std::array::from_fn(|code| {
            let is_other = code % 2 != 0 && (code / 2 != usize::from(KING) || !self.kings_share());
            64 * (code - code % 2 + usize::from(is_other)) as u16
        })
    }

    /// The index of `piece` on `square` for a perspective and its view.
    #[inline(always)]
    pub fn index(&self, view: View, perspective: Color, piece: Piece, square: Square) -> u16 {
        let role = piece.role as u8 - 1;
        let is_other = piece.color != perspective;
        self.row(view.king, self.piece_row(view, role, is_other, square as u8))
    }
}

/// The rows of a perspective's view: [`FeatureSet::index`] for many pieces.
#[derive(Clone, Copy)]
pub struct ViewRows<'a> {
    planes: &'a [u16; 12],
    /// The first row of the king bucket that can be active.
    first: u16,
    /// Mask that orients squares (exclusive or).
    turn: u8,
    perspective: Color,
}

impl<'a> ViewRows<'a> {
    /// The rows of a view of `set`, whose [`FeatureSet::planes`] are given.
    #[inline(always)]
    pub fn new(set: &FeatureSet, planes: &'a [u16; 12], perspective: Color, king: Square) -> Self {
        let view = set.view(perspective, king);
        Self { planes, first: set.row(view.king, 0), turn: view.turn, perspective }
    }

    /// The index of `piece` on `square`.
    #[inline(always)]
    pub fn index(&self, piece: Piece, square: Square) -> u16 {
        // The planes of pawns to kings fill the table.
        let code = 2 * (piece.role as usize - 1) + usize::from(piece.color != self.perspective);
        self.first + self.planes[code] + u16::from(square as u8 ^ self.turn)
    }
}

// HalfKP: own king square times every piece except the kings.

// CITE: the feature set of Nasu's NNUE for shogi (2018), as adapted to chess in Stockfish 12.

/// HalfKP.
pub(super) const HALF_KP: FeatureSet = FeatureSet {
    name: "HalfKP",
    code: 0,
    hash: 0x5D69_D5B8,
    // Rotates the board by 180 degrees for Black instead of flipping it.
    turn: 63,
    mirrored: false,
    king_buckets: every_square(),
    kings: 64,
    planes: 10,
    unused: 1,
};

/// One bucket for each square.
const fn every_square() -> [u8; 64] {
    let mut buckets = [0; 64];
    let mut square = 0;
    while square < 64 {
        buckets[square] = square as u8;
        square += 1;
    }
    buckets
}

// HalfKAv2: own king square times every piece, kings included; and its mirrored form, HalfKAv2_hm.

// CITE: both feature sets are Tomasz Sobczyk's, for Stockfish 14 and 14.1; from their description,
// checked against the outputs of the published nets.

/// HalfKAv2.
pub(super) const HALF_KAV2: FeatureSet = FeatureSet {
    name: "HalfKAv2",
    code: 1,
    hash: 0x5F23_4CB8,
    turn: 56,
    mirrored: false,
    king_buckets: every_square(),
    kings: 64,
    planes: 11,
    unused: 0,
};

/// HalfKAv2_hm: the board is mirrored if the own king is on files a to d, which reduces the king squares to 32.
pub(super) const HALF_KAV2_HM: FeatureSet = FeatureSet {
    name: "HalfKAv2_hm",
    code: 2,
    hash: 0x7F23_4CB8,
    mirrored: true,
    king_buckets: mirrored_squares(),
    kings: 32,
    ..HALF_KAV2
};

/// One bucket for each pair of mirrored squares, from the eighth rank down, and from the edge to the centre.
const fn mirrored_squares() -> [u8; 64] {
    let mut buckets = [0; 64];
    let mut square = 0;
    while square < 64 {
        let (rank, file) = (square / 8, square % 8);
        let from_edge = if file < 4 { file } else { 7 - file };
        buckets[square] = (4 * (7 - rank) + from_edge) as u8;
        square += 1;
    }
    buckets
}

// Chess768: every piece of either side on every square, without regard to the own king.

// CITE: the plainest input set of bullet's examples (Jamie Whiting) and of many engines' first nets.

/// Chess768.
pub(super) const CHESS768: FeatureSet = FeatureSet {
    name: "Chess768",
    code: 3,
    // Ours: other programs have no hash for it.
    hash: 0x3C76_8A15,
    turn: 56,
    mirrored: false,
    king_buckets: [0; 64],
    kings: 1,
    planes: 12,
    unused: 0,
};

/// The row of one of our rows in bullet's order: the six kinds of own pieces, then those of the enemy's.
pub(crate) const fn row_in_bullet(row: usize) -> usize {
    let (plane, square) = (row / 64, row % 64);
    let (piece, is_other) = (plane / 2, plane % 2);
    384 * is_other + 64 * piece + square
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::Square::{self, *};
    use shakmaty::{Color, Piece, Role};

    const PAWN: Piece = Piece { color: Color::White, role: Role::Pawn };
    const QUEEN: Piece = Piece { color: Color::Black, role: Role::Queen };

    #[test]
    fn rows_of_a_view_equal_indices() {
        for set in crate::nnue::features::Features::ALL.iter().map(|features| features.set()) {
            let planes = set.planes();
            for (color, king) in Color::ALL.into_iter().flat_map(|color| Square::ALL.map(|king| (color, king))) {
                let rows = ViewRows::new(set, &planes, color, king);
                let view = set.view(color, king);
                for piece in Color::ALL.into_iter().flat_map(|color| Role::ALL.map(|role| role.of(color))) {
                    if piece.role != Role::King || set.has_kings() {
                        let indices = |square| (rows.index(piece, square), set.index(view, color, piece, square));
                        assert!(Square::ALL.map(indices).iter().all(|(a, b)| a == b), "{}, {piece:?}", set.name);
                    }
                }
            }
        }
    }

    fn half_kp(perspective: Color, king: Square, piece: Piece, square: Square) -> u16 {
        let view = HALF_KP.view(perspective, king);
        HALF_KP.index(view, perspective, piece, square)
    }

    #[test]
    fn half_kp_has_reference_indices() {
        assert_eq!(half_kp(Color::White, A1, PAWN, A1), 1);
        assert_eq!(half_kp(Color::White, E1, PAWN, E2), 641 * 4 + 12 + 1);
        assert_eq!(half_kp(Color::White, H8, QUEEN, H8), 641 * 63 + 64 * 9 + 64);
        assert_eq!(half_kp(Color::Black, H8, QUEEN, H8), 64 * 8 + 1);
        assert_eq!(half_kp(Color::Black, E8, PAWN, E2), 641 * 3 + 64 + 51 + 1);
    }

    #[test]
    fn half_kp_of_a_rotated_board_has_same_indices_for_other_perspective() {
        for role in Role::ALL.into_iter().filter(|&role| role != Role::King) {
            for square in Square::ALL {
                for king in Square::ALL {
                    let white = half_kp(Color::White, king, role.of(Color::White), square);
                    let (king, square) = (king.rotate_180(), square.rotate_180());
                    let black = half_kp(Color::Black, king, role.of(Color::Black), square);
                    assert_eq!(white, black);
                    assert!(usize::from(white) < HALF_KP.count());
                }
            }
        }
    }

    const ROOK: Piece = Piece { color: Color::White, role: Role::Rook };
    const KING: Piece = Piece { color: Color::Black, role: Role::King };

    fn index(set: &FeatureSet, color: Color, king: Square, piece: Piece, square: Square) -> u16 {
        set.index(set.view(color, king), color, piece, square)
    }

    #[test]
    fn half_ka_has_reference_indices() {
        use Color::{Black, White};
        let plain = |color, king| index(&HALF_KAV2, color, king, ROOK, A1);
        assert_eq!(plain(White, E1), 704 * 4 + 6 * 64);
        assert_eq!(plain(Black, E8), 704 * 4 + 7 * 64 + 56);
        let mirrored = |color, king, piece, square| index(&HALF_KAV2_HM, color, king, piece, square);
        assert_eq!(mirrored(White, E1, ROOK, A1), 704 * 31 + 6 * 64);
        assert_eq!(mirrored(White, D1, ROOK, A1), 704 * 31 + 6 * 64 + 7);
        assert_eq!(mirrored(White, H8, KING, E8), 640 + 60);
        assert_eq!(mirrored(Black, H1, KING, E8), 640 + 4);
    }

    #[test]
    fn half_ka_indices_are_in_range_and_unique_except_for_kings() {
        let pieces = || Color::ALL.map(|color| Role::ALL.map(|role| role.of(color))).into_iter().flatten();
        for king in Square::ALL {
            let mut seen = std::collections::HashSet::new();
            for piece in pieces() {
                for square in Square::ALL {
                    let found = index(&HALF_KAV2_HM, Color::Black, king, piece, square);
                    assert!(usize::from(found) < HALF_KAV2_HM.count());
                    assert!(seen.insert(found) || piece.role == Role::King);
                    let found = index(&HALF_KAV2, Color::White, king, piece, square);
                    assert!(usize::from(found) < HALF_KAV2.count());
                }
            }
            assert_eq!(seen.len(), 704);
        }
    }

    #[test]
    fn mirrored_set_gives_mirrored_boards_the_same_index() {
        for (king, square) in [(A1, B5), (D4, H8), (C7, C2)] {
            let here = index(&HALF_KAV2_HM, Color::White, king, ROOK, square);
            let (king, square) = (king.flip_horizontal(), square.flip_horizontal());
            let there = index(&HALF_KAV2_HM, Color::White, king, ROOK, square);
            assert_eq!(here, there);
        }
    }

    fn chess768(perspective: Color, king: Square, piece: Piece, square: Square) -> usize {
        let view = CHESS768.view(perspective, king);
        CHESS768.index(view, perspective, piece, square).into()
    }

    #[test]
    fn chess768_rows_depend_on_piece_and_square_alone() {
        let mut seen = [false; 768];
        for piece in Color::ALL.into_iter().flat_map(|color| Role::ALL.map(|role| role.of(color))) {
            for square in Square::ALL {
                let row = chess768(Color::White, E1, piece, square);
                assert!(Square::ALL.into_iter().all(|king| chess768(Color::White, king, piece, square) == row));
                assert!(!std::mem::replace(&mut seen[row], true), "{piece:?} {square}");
                let turned = Piece { color: !piece.color, role: piece.role };
                assert_eq!(chess768(Color::Black, E8, turned, square.flip_vertical()), row);
            }
        }
        assert!(seen.into_iter().all(|seen| seen));
        assert_eq!((CHESS768.count(), CHESS768.views()), (768, 1));
    }

    #[test]
    fn chess768_rows_have_the_places_of_bullets_order() {
        let of = |color: Color, role: Role, square| row_in_bullet(chess768(Color::White, E1, role.of(color), square));
        assert_eq!(of(Color::White, Role::Pawn, E2), 12);
        assert_eq!(of(Color::White, Role::King, E1), 5 * 64 + 4);
        assert_eq!(of(Color::Black, Role::Pawn, E7), 384 + 52);
        assert_eq!(of(Color::Black, Role::King, H8), 767);
    }
}
