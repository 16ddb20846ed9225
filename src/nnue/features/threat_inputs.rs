//! Threat inputs: features of two pieces, namely threats and pawn pairs, with consecutive indices. Newer nets have them
//! in addition to single pieces on squares.

use std::fmt;
use std::ops::Range;

use arrayvec::ArrayVec;
use shakmaty::{Bitboard, ByColor, Color, Role, Square};

use super::InputChanges;
use super::threats::{self, HASH_V10, HASH_V16, Orientation, THREATS_V10, THREATS_V16, Threats};
use crate::board::{AttackChange, AttackKinds, DirtyPieces};
use crate::nnue::Board;

/// Maximum number of threat inputs of a board: no piece attacks more than 8 others, and pawns on all 48 squares form
/// 372 pairs.
pub(crate) const MAX_THREAT_INPUTS: usize = 1024;

/// The threat or attack inputs of a board.
pub(crate) type ThreatInputList = ArrayVec<u32, MAX_THREAT_INPUTS>;

/// The threat inputs that a net has, by name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ThreatInputs {
    /// None: nets up to SFNNv9, and nets of our own format.
    None,
    /// Threats of SFNNv10.
    Threats,
    /// Threats and pawn pairs of SFNNv16.
    ThreatsAndPawnPairs,
}

/// A perspective and its king's square.
#[derive(Clone, Copy)]
pub(crate) struct View {
    pub perspective: Color,
    pub king: Square,
}

/// Definition of a set of threat inputs.
#[derive(Clone, Copy)]
pub struct ThreatInputSet {
    /// The threats, if there are any.
    threats: Option<&'static Threats>,
    /// Whether the set also has pawn pairs; their indices follow those of the threats.
    pub pawn_pairs: bool,
    /// Whether the piece-square values of each group follow its weights in a file. Otherwise those of all groups are in
    /// one block at the end.
    pub psqt_by_group: bool,
}

/// Threat inputs with consecutive indices that have blocks of their own in a file.
pub(crate) struct InputGroup {
    /// Name of the block of weights.
    pub weights: &'static str,
    /// Name of the block of piece-square values.
    pub psqt: &'static str,
    /// The indices.
    pub rows: Range<usize>,
}

impl ThreatInputs {
    /// The definition of the set.
    #[inline(always)]
    pub const fn set(self) -> ThreatInputSet {
        match self {
            Self::None => ThreatInputSet { threats: None, pawn_pairs: false, psqt_by_group: false },
            Self::Threats => ThreatInputSet { threats: Some(&THREATS_V10), pawn_pairs: false, psqt_by_group: false },
            Self::ThreatsAndPawnPairs => {
                ThreatInputSet { threats: Some(&THREATS_V16), pawn_pairs: true, psqt_by_group: true }
            }
        }
    }

    /// The transformer hash of a net with these threat inputs and a feature set with the hash `features`, before the
    /// width is mixed in.
    pub const fn hash(self, features: u32) -> u32 {
        match self {
            Self::None => features,
            Self::Threats => HASH_V10,
            Self::ThreatsAndPawnPairs => {
                let threats = HASH_V16.rotate_left(1) ^ PAIRS_HASH;
                threats.rotate_left(1) ^ features
            }
        }
    }
}

impl fmt::Display for ThreatInputs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::None => "none",
            Self::Threats => "FullThreats",
            Self::ThreatsAndPawnPairs => "FullThreats + PP_3Wide",
        })
    }
}

impl ThreatInputSet {
    /// Number of features of one perspective.
    pub const fn count(&self) -> usize {
        let pairs = if self.pawn_pairs { PAIRS } else { 0 };
        self.threat_count() + pairs
    }

    /// Number of threats, whose indices come first.
    #[inline(always)]
    pub const fn threat_count(&self) -> usize {
        match self.threats {
            Some(threats) => threats.count(),
            None => 0,
        }
    }

    /// The groups of the set in the order of their indices.
    pub(crate) fn groups(&self) -> impl Iterator<Item = InputGroup> {
        let threats = 0..self.threat_count();
        let pairs = threats.end..self.count();
        let groups = [
            InputGroup { weights: "threat weights", psqt: "threat piece-square values", rows: threats },
            InputGroup { weights: "pawn pair weights", psqt: "pawn pair piece-square values", rows: pairs },
        ];
        groups.into_iter().filter(|group| !group.rows.is_empty())
    }

    /// The kinds of attacks whose changes must be listed.
    pub(crate) const fn kinds(&self) -> AttackKinds {
        match self.threats {
            Some(threats) => threats.kinds(),
            None => AttackKinds::NONE,
        }
    }

    /// Calls `each` with the index of every active threat input of a board, for `perspective`.
    pub fn active(&self, board: &Board, perspective: Color, mut each: impl FnMut(u32)) {
        let view = OrientedView::new(perspective, board.king(perspective));
        if let Some(threats) = self.threats {
            threats::attacks_of(board, threats.kinds(), |attack| {
                let index = threats.index(attack, view.orientation);
                if index < threats::NONE {
                    each(index);
                }
            });
        }
        if self.pawn_pairs {
            let first = self.threat_count() as u32;
            pairs_of(board.pawns(), view, |index| {
                each(first + index);
            });
        }
    }

    /// Writes the threat inputs changed by one move to `changes`, for each of the `views`. The king must be on the same
    /// half of the board before and after the move. `attacks` are the attacks that the move added and removed.
    ///
    /// Updates `pawns` from the pawns before the move to those after it.
    #[inline]
    pub(crate) fn changes<const N: usize>(
        &self,
        dirty: &DirtyPieces,
        attacks: &[AttackChange],
        pawns: &mut ByColor<Bitboard>,
        views: [View; N],
        changes: &mut [InputChanges; 2],
    ) {
        changes.iter_mut().for_each(InputChanges::clear);
        let views = views.map(|view| OrientedView::new(view.perspective, view.king));
        if let Some(threats) = self.threats {
            for &attack in attacks {
                for (changes, view) in changes.iter_mut().zip(views) {
                    let index = threats.index(attack, view.orientation);
                    changes.list(attack.added()).push_if(index < threats::NONE, index);
                }
            }
        }
        if self.pawn_pairs {
            let first = self.threat_count() as u32;
            let moved = || dirty.iter().filter(|change| change.piece.role == Role::Pawn);
            // Removes a pawn from the set before listing its pairs, so that a pair of two removed pawns is listed once.
            for change in moved() {
                if let Some(from) = change.from {
                    let color = change.piece.color;
                    pawns.get_mut(color).discard(from);
                    pairs_with(color, from, pawns, views, |n, index| {
                        changes[n].removed.push(first + index);
                    });
                }
            }
            for change in moved() {
                if let Some(to) = change.to {
                    let color = change.piece.color;
                    pairs_with(color, to, pawns, views, |n, index| {
                        changes[n].added.push(first + index);
                    });
                    pawns.get_mut(color).add(to);
                }
            }
        }
    }
}

// PP_3Wide: each pair of pawns on the same file or on adjacent files is a feature, on any ranks.
//
// The pawns can have any colours. They are oriented like threats. Each oriented pawn has a number:
// own pawns from 0 to 47, the other side's from 48 to 95. A pair's index is the index of the unordered pair of
// numbers. (Pairs on more distant files also have indices, which never occur.)

// CITE: the feature set is Stockfish 19's; from its description, checked against the outputs of the published net.

/// Number of features of one perspective: pairs of 96 pawns.
const PAIRS: usize = 96 * 95 / 2;
/// The feature set's part of the transformer hash.
const PAIRS_HASH: u32 = 0x86F2_B1DD;

/// For every square, the other squares on the same or adjacent files where pawns can stand.
static NEAR: [Bitboard; 64] = {
    let mut near = [Bitboard::EMPTY; 64];
    let mut square = 0;
    while square < 64 {
        let file = 0x0101_0101_0101_0101_u64 << (square % 8);
        let left = file >> 1 & 0x7F7F_7F7F_7F7F_7F7F;
        let right = file << 1 & 0xFEFE_FEFE_FEFE_FEFE;
        near[square] = Bitboard((left | file | right) & 0x00FF_FFFF_FFFF_FF00 & !(1 << square));
        square += 1;
    }
    near
};

/// A perspective and the orientation of the board in it.
#[derive(Clone, Copy)]
struct OrientedView {
    perspective: Color,
    /// The orientation for the perspective's king.
    orientation: Orientation,
}

impl OrientedView {
    /// The view of a perspective whose king is on `king`.
    #[inline]
    fn new(perspective: Color, king: Square) -> Self {
        Self { perspective, orientation: Orientation::new(perspective, king) }
    }

    /// The number of an oriented pawn: 0 to 95.
    #[inline]
    fn number(self, color: Color, square: Square) -> u32 {
        let other = if color == self.perspective { 0 } else { 48 };
        other + (square as u32 ^ self.orientation.turn()) - 8
    }
}

/// Calls `each` with the view's number and the index of every pair of the given pawn with one of `others`, for all
/// `views`.
#[inline]
fn pairs_with<const N: usize>(
    color: Color,
    square: Square,
    others: &ByColor<Bitboard>,
    views: [OrientedView; N],
    mut each: impl FnMut(usize, u32),
) {
    let numbers = |color, square| views.map(|view| view.number(color, square));
    let ones = numbers(color, square);
    let near = NEAR[square as usize];
    for color in Color::ALL {
        for square in *others.get(color) & near {
            let pairs = ones.into_iter().zip(numbers(color, square));
            for (n, (one, other)) in pairs.enumerate() {
                let (high, low) = (one.max(other), one.min(other));
                each(n, high * (high - 1) / 2 + low);
            }
        }
    }
}

/// Calls `each` with the index of every pair of pawns in a view.
fn pairs_of(pawns: ByColor<Bitboard>, view: OrientedView, mut each: impl FnMut(u32)) {
    let mut rest = pawns;
    for color in Color::ALL {
        while let Some(square) = rest.get_mut(color).pop_front() {
            pairs_with(color, square, &rest, [view], |_, index| each(index));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::{CastlingMode, Position, Role};

    #[test]
    fn hashes_match_published_nets() {
        let half_kav2_hm = 0x7F23_4CB8;
        let wide = 2 * 1024;
        assert_eq!(ThreatInputs::None.hash(half_kav2_hm) ^ wide, 0x7F23_44B8);
        assert_eq!(ThreatInputs::Threats.hash(half_kav2_hm) ^ wide, 0x8F23_44B8);
        assert_eq!(ThreatInputs::ThreatsAndPawnPairs.hash(half_kav2_hm) ^ wide, 0xCB68_5313);
    }

    #[test]
    fn counts_match_published_files() {
        assert_eq!(ThreatInputs::None.set().count(), 0);
        assert_eq!(ThreatInputs::Threats.set().count(), 79_856);
        assert_eq!(ThreatInputs::ThreatsAndPawnPairs.set().count(), 59_808 + 4_560);
    }

    fn active(fen: &str, perspective: Color) -> Vec<u32> {
        let board = Position::from_fen(fen, CastlingMode::Standard).expect(fen);
        let view = OrientedView::new(perspective, board.king(perspective));
        let mut indices = Vec::new();
        let pawns = ByColor::new_with(|color| board.pieces(color, Role::Pawn));
        pairs_of(pawns, view, |index| indices.push(index));
        indices.sort_unstable();
        indices
    }

    const A: &str = "6k1/5ppp/8/4p3/8/5N2/5PPP/3Q2K1 w - - 0 1";
    const B: &str = "4k3/2q5/8/4p1n1/3P1P2/2Q5/8/1K1R4 w - - 0 1";

    #[test]
    fn active_pairs_match_reference_values() {
        let (white, black) = (Color::White, Color::Black);
        let white_a = [0, 2, 2777, 3828, 3829, 3916, 3917, 3918, 4004, 4006, 4007, 4080, 4094];
        let black_a = [0, 2, 173, 3828, 3829, 3916, 3917, 3918, 4004, 4006, 4007, 4024, 4094];
        assert_eq!(active(A, white), white_a);
        assert_eq!(active(A, black), black_a);
        assert_eq!(active(B, white), [2869, 2871]);
        assert_eq!(active(B, black), [2720, 2869]);
    }

    #[test]
    fn eight_pawns_a_side_on_three_files_have_96_pairs() {
        let fen = "6k1/ppp5/ppp5/pp6/PP6/PPP5/PPP5/6K1 w - - 0 1";
        assert_eq!(active(fen, Color::White).len(), 96);
    }
}
