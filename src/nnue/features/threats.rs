//! FullThreats: each attack of one piece on another is a feature of a perspective.
//!
//! Attacks of both sides count, on pieces of either side, and for both perspectives. A table of roles selects the
//! attacks that are features ([`THREATS_V10`], [`THREATS_V16`]). Squares and colours are relative to the perspective:
//! the board is flipped for Black, and mirrored if the own king stands on files e to h (the other half than in
//! HalfKAv2_hm). The features do not depend on the own king in any other way.
//!
//! An index is the sum of three numbers: the first index for the two kinds of pieces, the offset of the attacker's
//! square, and the rank of the attacked square among the squares attackable from there.
// CITE: the feature set is that of Stockfish 18, reduced in Stockfish 19; from their description, checked against
// the outputs of the published nets.

use shakmaty::{Bitboard, Color, Role, Square};

use crate::board::attacks;
use crate::board::{AttackChange, AttackKinds};
use crate::nnue::Board;

/// The attacks that are features: by the attacker's and the attacked role, a consecutive number for each attacker, or
/// [`NO`].
type Slots = [[u8; 6]; 6];

/// The attack is not a feature.
const NO: u8 = u8::MAX;

/// The attacks of Stockfish 18's nets.
#[rustfmt::skip]
const SLOTS_V10: Slots = [
    // P   N   B   R   Q   K
    [ 0,  1, NO,  2, NO, NO],
    [ 0,  1,  2,  3,  4,  5],
    [ 0,  1,  2,  3, NO,  4],
    [ 0,  1,  2,  3, NO,  4],
    [ 0,  1,  2,  3,  4,  5],
    [ 0,  1,  2,  3, NO, NO],
];

/// The attacks of Stockfish 19's nets.
#[rustfmt::skip]
const SLOTS_V16: Slots = [
    // P   N   B   R   Q   K
    [NO,  0, NO,  1, NO, NO],
    [ 0,  1,  2,  3,  4, NO],
    [ 0,  1,  2,  3, NO, NO],
    [ 0,  1,  2,  3, NO, NO],
    [ 0,  1,  2,  3,  4, NO],
    [NO, NO, NO, NO, NO, NO],
];

/// The threats of SFNNv10: 79,856 features.
pub static THREATS_V10: Threats = Threats::new(&SLOTS_V10);
/// The threats of SFNNv16: 59,808 features.
pub static THREATS_V16: Threats = Threats::new(&SLOTS_V16);

/// The feature set's part of the transformer hash of SFNNv10.
pub const HASH_V10: u32 = 0x8F23_4CB8;
/// The feature set's part of the transformer hash of SFNNv16.
pub const HASH_V16: u32 = 0x2E6B_9D04;

/// Indices from this value up mean that the attack is not a feature.
pub const NONE: u32 = 1 << 20;

/// The tables of one set of attacks.
pub struct Threats {
    kinds: AttackKinds,
    count: usize,
    /// The first index of the features of two kinds of pieces, or [`NONE`]. Indexed by the order of the squares
    /// (whether `from` is below `to`) and by both pieces' codes, with the attacker's in the lower four bits.
    starts: [[u32; 256]; 2],
}

impl Threats {
    const fn new(slots: &Slots) -> Self {
        let mut starts = [[NONE; 256]; 2];
        let mut attacked = [0; 6];
        let mut next = 0;
        let mut attacker = 0;
        // Own pieces (even codes) from pawn to king, then the other side's.
        while attacker < 12 {
            let (role, other) = (attacker % 6, attacker / 6);
            let mut kinds = 0;
            let mut on = 0;
            while on < 6 {
                if slots[role][on] != NO {
                    kinds += 1;
                    attacked[role] |= 1 << on;
                }
                on += 1;
            }
            let pairs = PAIRS[role];
            let mut target = 0;
            while target < 12 {
                let (on, on_other) = (target % 6, target / 6);
                if slots[role][on] != NO {
                    let start = next + (on_other as u32 * kinds + slots[role][on] as u32) * pairs;
                    let codes = (2 * role + other) | (2 * on + on_other) << 4;
                    starts[0][codes] = start;
                    // Pieces of the same role attack each other. Only the attack from the higher square is a feature.
                    // Pawns of the same side are an exception, because they protect each other in one direction only.
                    let mutual = role == on && !(role == 0 && other == on_other);
                    starts[1][codes] = if mutual { NONE } else { start };
                }
                target += 1;
            }
            next += 2 * kinds * pairs;
            attacker += 1;
        }
        Self { kinds: AttackKinds::new(attacked), count: next as usize, starts }
    }

    /// Number of features of one perspective.
    pub const fn count(&self) -> usize {
        self.count
    }

    /// The kinds of attacks that are features, ignoring the rule that only one of two mutual attacks is one.
    pub const fn kinds(&self) -> AttackKinds {
        self.kinds
    }

    /// The index of an attack for a perspective's orientation; [`NONE`] or more if the attack is not a feature.
    #[inline]
    pub fn index(&self, attack: AttackChange, orientation: Orientation) -> u32 {
        let bits = (attack.bits() ^ orientation.0) as usize;
        let (from, to, pieces) = (bits & 63, bits >> 6 & 63, bits >> 12 & 0xFF);
        let attacker = pieces & 15;
        let first = SQUARES.first[attacker][from];
        let rank = SQUARES.rank[usize::from(SQUARES.reach[attacker])][from][to];
        self.starts[usize::from(from < to)][pieces] + u32::from(first) + u32::from(rank)
    }
}

/// The orientation of squares and colours for a perspective, as a mask for the bits of an attack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Orientation(u32);

impl Orientation {
    /// The orientation for `perspective` with its king on `king`.
    #[inline]
    pub fn new(perspective: Color, king: Square) -> Self {
        Self(AttackChange::mask(turn(perspective, king), perspective.is_black()))
    }

    /// The mask for a square (exclusive or).
    #[inline]
    pub fn turn(self) -> u32 {
        self.0 & 63
    }
}

/// The mask that orients a square for a perspective (exclusive or).
#[inline]
fn turn(perspective: Color, king: Square) -> u32 {
    let mirror = if king as u32 & 4 == 0 { 0 } else { 7 };
    perspective.fold_wb(0, 56) ^ mirror
}

/// Number of kinds of pieces that differ in their moves: white pawns, black pawns, knights, and so on to kings.
const REACHES: usize = 7;

/// For each role, the number of pairs of squares such that a piece on the first attacks the second on an empty board.
const PAIRS: [u32; 6] = {
    let mut pairs = [0; 6];
    let mut role = 0;
    while role < 6 {
        let mut square = 0;
        while square < 64 {
            pairs[role] += reached(role + 1, square).count_ones();
            square += 1;
        }
        role += 1;
    }
    pairs
};

/// The squares that a kind of piece attacks on an empty board. Pawns attack nothing from the first and last rank.
const fn reached(kind: usize, square: u32) -> u64 {
    let (on, empty) = (Square::new(square), Bitboard::EMPTY);
    let inside = square >= 8 && square < 56;
    match kind {
        0 | 1 if !inside => 0,
        0 => attacks::pawn_attacks(Color::White, on).0,
        1 => attacks::pawn_attacks(Color::Black, on).0,
        2 => attacks::knight_attacks(on).0,
        3 => attacks::bishop_attacks(on, empty).0,
        4 => attacks::rook_attacks(on, empty).0,
        5 => attacks::queen_attacks(on, empty).0,
        _ => attacks::king_attacks(on).0,
    }
}

/// Numbering of the (from, to) pairs of squares for each kind of piece.
struct Squares {
    /// The kind by the code of an oriented piece, see [`REACHES`].
    reach: [u8; 16],
    /// The number of pairs from all lower squares, by the code of an oriented piece and its square.
    first: [[u16; 64]; 16],
    /// The number of attacked squares below `to`, by kind, `from` and `to`.
    rank: [[[u8; 64]; 64]; REACHES],
}

static SQUARES: Squares = {
    let mut squares = Squares { reach: [0; 16], first: [[0; 64]; 16], rank: [[[0; 64]; 64]; REACHES] };
    let mut kind = 0;
    while kind < REACHES {
        let mut from = 0;
        while from < 64 {
            let mut to = 1;
            while to < 64 {
                let below = reached(kind, from as u32) & ((1 << to) - 1);
                squares.rank[kind][from][to] = below.count_ones() as u8;
                to += 1;
            }
            from += 1;
        }
        kind += 1;
    }
    let mut code = 0;
    while code < 12 {
        let kind = if code < 2 { code } else { code / 2 + 1 };
        squares.reach[code] = kind as u8;
        let (mut square, mut sum) = (0, 0);
        while square < 64 {
            squares.first[code][square] = sum;
            sum += reached(kind, square as u32).count_ones() as u16;
            square += 1;
        }
        code += 1;
    }
    squares
};

/// Calls `each` with every attack of the given kinds on a board, including mutual attacks that are not features.
#[inline]
pub fn attacks_of(board: &Board, kinds: AttackKinds, mut each: impl FnMut(AttackChange)) {
    let occupied = board.sides().white | board.sides().black;
    for color in Color::ALL {
        let targets = kinds.targets(color, board.sides());
        for role in Role::ALL.into_iter().filter(|&role| kinds.contains_attacker(role)) {
            let attacker = role.of(color);
            for from in board.pieces(color, role) {
                for to in attacks::attacks(from, attacker, occupied) & targets {
                    if let Some(attacked) = board.piece_at(to).filter(|&attacked| kinds.contains(attacker, attacked)) {
                        each(AttackChange::new(attacker, from, attacked, to, true));
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::Piece;

    use super::*;
    use crate::board::{CastlingMode, Position};

    /// All pieces: every role of both colours.
    fn pieces() -> impl Iterator<Item = Piece> {
        let of = |color: Color| Role::ALL.map(|role| role.of(color));
        Color::ALL.into_iter().flat_map(of)
    }

    fn active(threats: &Threats, fen: &str, perspective: Color) -> Vec<u32> {
        let board = Board::from(&Position::from_fen(fen, CastlingMode::Standard).expect(fen));
        let orientation = Orientation::new(perspective, board.king(perspective));
        let mut indices = Vec::new();
        attacks_of(&board, threats.kinds(), |attack| {
            indices.push(threats.index(attack, orientation));
        });
        indices.retain(|&index| index < NONE);
        indices.sort_unstable();
        indices
    }

    const A: &str = "6k1/5ppp/8/4p3/8/5N2/5PPP/3Q2K1 w - - 0 1";
    const B: &str = "4k3/2q5/8/4p1n1/3P1P2/2Q5/8/1K1R4 w - - 0 1";

    #[test]
    fn counts_match_published_files() {
        assert_eq!(PAIRS, [84, 336, 560, 896, 1456, 420]);
        assert_eq!((THREATS_V10.count(), THREATS_V16.count()), (79_856, 59_808));
    }

    #[test]
    fn active_threats_match_reference_values() {
        let (white, black) = (Color::White, Color::Black);
        for (fen, perspective, v10, v16) in [
            (
                A,
                white,
                &[86, 580, 2258, 2601, 20646, 26461, 36573, 36574, 36575, 78563, 78564, 78565][..],
                &[2, 412, 2097, 16894][..],
            ),
            (
                A,
                black,
                &[36573, 36574, 36575, 40336, 40663, 42682, 44364, 70596, 76427, 78563, 78564, 78565],
                &[30144, 30471, 32154, 55364],
            ),
            (B, white, &[374, 10187, 13763, 19503, 39977, 39978, 66003, 68921], &[206, 8227, 15751, 52227, 53689]),
            (B, black, &[19390, 39974, 39977, 40057, 55388, 58980, 65890, 68808], &[15638, 29949, 42508, 52114, 53576]),
        ] {
            assert_eq!(active(&THREATS_V10, fen, perspective), v10, "{fen} {perspective}");
            assert_eq!(active(&THREATS_V16, fen, perspective), v16, "{fen} {perspective}");
        }
    }

    #[test]
    fn square_starts_match_reference_values() {
        let squares = [Square::A2, Square::B2, Square::D4, Square::H7];
        for (code, first) in [
            (0, [0, 1, 33, 83]),
            (2, [26, 29, 134, 307]),
            (4, [56, 63, 227, 497]),
            (6, [112, 126, 378, 770]),
            (8, [168, 189, 605, 1267]),
            (10, [36, 41, 173, 379]),
        ] {
            assert_eq!(squares.map(|s| SQUARES.first[code][s as usize]), first);
        }
    }

    #[test]
    fn crowded_board_has_146_threats_for_each_perspective() {
        let crowded = "2B1Q1B1/3rnK2/QnqNqnr1/1QnRnQb1/RNqnQ1q1/1kNQ1N2/b1Rn4/8 w - - 0 1";
        for perspective in Color::ALL {
            assert_eq!(active(&THREATS_V10, crowded, perspective).len(), 146);
        }
    }

    #[test]
    fn every_attack_has_a_unique_index() {
        for threats in [&THREATS_V10, &THREATS_V16] {
            let orientation = Orientation::new(Color::White, Square::A1);
            let mut seen = vec![false; threats.count()];
            for (by, on) in pieces().flat_map(|by| pieces().map(move |on| (by, on))) {
                for from in Square::ALL.into_iter().filter(|s| by.role != Role::Pawn || !is_edge(*s)) {
                    for to in attacks::attacks(from, by, Bitboard::EMPTY) {
                        let index = threats.index(AttackChange::new(by, from, on, to, true), orientation);
                        if index < NONE {
                            assert!(threats.kinds().contains(by, on));
                            assert!(!std::mem::replace(&mut seen[index as usize], true), "{index}");
                        }
                    }
                }
            }
        }
    }

    fn is_edge(square: Square) -> bool {
        matches!(square as u32 / 8, 0 | 7)
    }
}
