//! A move in 16 bits, a list of moves, and the pieces that a move changes, as a value that the network reads.

use std::num::NonZeroU16;

use arrayvec::ArrayVec;
use shakmaty::{Color, Piece, Role, Square};

/// Role of each promotion code. A table, because every node uses it.
const PROMOTIONS: [Option<Role>; 16] = {
    let mut roles = [None; 16];
    roles[1] = Some(Role::Knight);
    roles[2] = Some(Role::Bishop);
    roles[3] = Some(Role::Rook);
    roles[4] = Some(Role::Queen);
    roles
};

/// A move in 16 bits: `from | to << 6 | promotion << 12`.
///
/// `promotion` is 0 for none, then knight 1, bishop 2, rook 3, queen 4. Castling is written as king takes own
/// rook. All zero (a1a1) is not a move, so `Option<Move>` has 16 bits too.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Move(NonZeroU16);

impl Move {
    /// A move without promotion; `None` when both squares are a1.
    #[inline]
    pub fn new(from: Square, to: Square) -> Option<Self> {
        Self::from_bits(from as u16 | (to as u16) << 6)
    }

    /// A promotion to `role` (knight, bishop, rook or queen); `None` for another role.
    #[inline]
    pub fn promoting(from: Square, to: Square, role: Role) -> Option<Self> {
        let code = match role {
            Role::Knight => 1,
            Role::Bishop => 2,
            Role::Rook => 3,
            Role::Queen => 4,
            Role::Pawn | Role::King => return None,
        };
        Self::from_bits(from as u16 | (to as u16) << 6 | code << 12)
    }

    /// The move with this code, legal or not; `None` for zero.
    #[inline]
    pub fn from_bits(bits: u16) -> Option<Self> {
        NonZeroU16::new(bits).map(Self)
    }

    /// The code of the move.
    #[inline]
    pub fn bits(self) -> u16 {
        self.0.get()
    }

    /// The code of an optional move; 0 for none.
    #[inline]
    pub fn bits_of(m: Option<Self>) -> u16 {
        m.map_or(0, Self::bits)
    }

    /// The origin square.
    #[inline]
    pub fn from(self) -> Square {
        Square::new(u32::from(self.bits() & 63))
    }

    /// The destination square; for castling, the square of the own rook.
    #[inline]
    pub fn to(self) -> Square {
        Square::new(u32::from(self.bits() >> 6 & 63))
    }

    /// `from | to << 6`, an index below 4096.
    #[inline]
    pub fn from_to(self) -> usize {
        usize::from(self.bits() & 4095)
    }

    /// The role that a pawn becomes; `None` also for the unused codes 5 to 15.
    #[inline]
    pub fn promotion(self) -> Option<Role> {
        PROMOTIONS[usize::from(self.bits() >> 12)]
    }

    /// Whether the code is a promotion to a queen.
    #[inline]
    pub fn is_queen_promotion(self) -> bool {
        self.bits() >> 12 == 4
    }
}

/// Upper bound on the pseudo-legal moves of any position that a FEN can describe (the known maximum of legal moves is
/// 270).
pub const MAX_MOVES: usize = 320;

/// A list of moves on the stack.
pub type MoveList = ArrayVec<Move, MAX_MOVES>;

// The pieces that a move changes on the board, as a value that the network reads.

/// One piece that was added, removed or moved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DirtyPiece {
    /// The piece. A promotion has two entries: the removed pawn, then the new piece.
    pub piece: Piece,
    /// Its square before the move; `None` if it was added.
    pub from: Option<Square>,
    /// Its square after the move; `None` if it was removed.
    pub to: Option<Square>,
}

/// The one to three pieces that a move changes, the moving piece first. Empty for a null move.
#[derive(Clone, Copy, Debug)]
pub struct DirtyPieces {
    pieces: [DirtyPiece; 3],
    len: u8,
}

impl DirtyPieces {
    /// No change.
    #[inline]
    pub fn none() -> Self {
        let piece = Piece { color: Color::White, role: Role::Pawn };
        Self { pieces: [DirtyPiece { piece, from: None, to: None }; 3], len: 0 }
    }

    /// Removes all changes.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }

    /// Adds a change. A move has at most three changes; a fourth panics.
    #[inline]
    pub fn push(&mut self, dirty: DirtyPiece) {
        self.pieces[usize::from(self.len)] = dirty;
        self.len += 1;
    }

    /// The colour whose king moved, if one did.
    #[inline]
    pub fn king_moved(&self) -> Option<Color> {
        let first = &self.pieces[0];
        (self.len > 0 && first.piece.role == Role::King).then_some(first.piece.color)
    }
}

impl PartialEq for DirtyPieces {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for DirtyPieces {}

impl std::ops::Deref for DirtyPieces {
    type Target = [DirtyPiece];
    #[inline]
    fn deref(&self) -> &[DirtyPiece] {
        &self.pieces[..usize::from(self.len)]
    }
}
