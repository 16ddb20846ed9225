//! What a move changed in the attacks of one piece on another, as a value that the network reads.

use std::fmt;

use shakmaty::{Color, Piece, Role, Square};

/// Most changes that one move is told by: castling, the largest, has two pieces on two squares each, and with each of
/// these squares at most 8 attacks made, 16 suffered, and 8 of sliders that see through it.
const MOST: usize = 128;

/// Which attacks somebody wants to hear of, by the roles of both pieces.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AttackKinds {
    /// By the attacker's role: one bit for each attacked role, pawns lowest.
    attacked: [u8; 6],
    /// By the attacked role: one bit for each attacker's role.
    attackers: [u8; 6],
}

impl AttackKinds {
    /// No attack at all.
    pub const NONE: Self = Self::new([0; 6]);

    /// By the attacker's role, from pawn to king: one bit for each attacked role, pawns lowest.
    pub const fn new(attacked: [u8; 6]) -> Self {
        let mut attackers = [0; 6];
        let mut pair = 0;
        while pair < 36 {
            let (by, on) = (pair / 6, pair % 6);
            attackers[on] |= (attacked[by] >> on & 1) << by;
            pair += 1;
        }
        Self {
            attacked,
            attackers,
        }
    }

    /// Whether attacks of `by` on `on` are wanted.
    #[inline]
    pub fn wants(&self, by: Role, on: Role) -> bool {
        self.attacked[by as usize - 1] >> (on as u8 - 1) & 1 != 0
    }

    /// Whether any attack that a piece of this role makes is wanted.
    #[inline]
    pub fn wants_by(&self, by: Role) -> bool {
        self.attacked[by as usize - 1] != 0
    }

    /// Whether any attack on a piece of this role is wanted.
    #[inline]
    pub fn wants_on(&self, on: Role) -> bool {
        self.attackers[on as usize - 1] != 0
    }
}

/// One attack, of a piece on another, that came or went.
///
/// | bits | what |
/// |---|---|
/// | 0..6 | the attacker's square |
/// | 6..12 | the attacked square |
/// | 12..16 | the attacker: twice its role from 0 (pawn) to 5 (king), plus 1 for Black |
/// | 16..20 | the attacked piece, likewise |
/// | 20 | whether the attack came |
///
/// Exclusive or with [`AttackChange::mask`] turns the board and changes the colours.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AttackChange(u32);

impl AttackChange {
    /// The attack of `attacker` on `from` on `attacked` on `to`.
    #[inline]
    pub fn new(attacker: Piece, from: Square, attacked: Piece, to: Square, came: bool) -> Self {
        Self(
            from as u32
                | (to as u32) << 6
                | code(attacker) << 12
                | code(attacked) << 16
                | u32::from(came) << 20,
        )
    }

    /// What turns squares by exclusive or with `turn`, and changes the colours if `colors` says so.
    #[inline]
    pub fn mask(turn: u32, colors: bool) -> u32 {
        turn | turn << 6 | u32::from(colors) << 12 | u32::from(colors) << 16
    }

    /// The change with these bits.
    #[cfg(test)]
    pub(super) fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// The bits.
    #[inline]
    pub fn bits(self) -> u32 {
        self.0
    }

    /// Whether the attack came; otherwise it went.
    #[inline]
    pub fn came(self) -> bool {
        self.0 >> 20 & 1 != 0
    }
}

/// A piece as four bits.
#[inline]
fn code(piece: Piece) -> u32 {
    2 * (piece.role as u32 - 1) + u32::from(piece.color == Color::Black)
}

impl fmt::Debug for AttackChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let square = |shift: u32| Square::new(self.0 >> shift & 63);
        let piece = |shift: u32| {
            let code = self.0 >> shift & 15;
            let role = Role::try_from(code / 2 + 1).unwrap_or(Role::King);
            role.of(Color::from_white(code & 1 == 0)).char()
        };
        let sign = if self.came() { '+' } else { '-' };
        let (from, to) = (square(0), square(6));
        write!(f, "{sign}{}{from}x{}{to}", piece(12), piece(16))
    }
}

/// The attacks that came and went with one move, of the kinds that are wanted.
#[derive(Clone, Debug)]
pub struct DirtyThreats {
    kinds: AttackKinds,
    changes: [AttackChange; MOST],
    len: usize,
}

impl DirtyThreats {
    /// No change yet; only attacks of these kinds will be kept.
    pub fn new(kinds: AttackKinds) -> Self {
        Self {
            kinds,
            changes: [AttackChange(0); MOST],
            len: 0,
        }
    }

    /// The kinds that are wanted.
    #[inline]
    pub fn kinds(&self) -> AttackKinds {
        self.kinds
    }

    /// Forgets the changes.
    #[inline]
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Adds a change, if it is wanted.
    #[inline]
    pub(super) fn push(
        &mut self,
        (attacker, from): (Piece, Square),
        (attacked, to): (Piece, Square),
        came: bool,
    ) {
        // Written before it is known to be wanted, which spares a branch that nobody can predict.
        self.changes[self.len] = AttackChange::new(attacker, from, attacked, to, came);
        self.len += usize::from(self.kinds.wants(attacker.role, attacked.role));
    }
}

impl std::ops::Deref for DirtyThreats {
    type Target = [AttackChange];
    #[inline]
    fn deref(&self) -> &[AttackChange] {
        &self.changes[..self.len]
    }
}
