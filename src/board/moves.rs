//! A move in 16 bits, and a list of them.

use std::num::NonZeroU16;

use arrayvec::ArrayVec;
use shakmaty::{Role, Square};

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
