//! The changes that a move makes in the attacks of one piece on another, as a value that the network reads.

use std::fmt;

use shakmaty::{Bitboard, ByColor, Color, Piece, Role, Square};

/// Maximum number of changes of one move. Castling is the worst case: two pieces on two squares each. Each of these
/// squares has at most 8 attacks made, 16 received, and 8 of sliders through it.
const MAX_CHANGES: usize = 128;

/// Set of attacks to record, by the roles of both pieces, and by whether protection of the own side counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AttackKinds {
    /// By the attacker's role: one bit for each attacked role, pawns lowest.
    attacked: [u8; 6],
    /// By the attacked role: one bit for each attacker's role.
    attackers: [u8; 6],
    /// Whether only attacks on the other side's pieces are recorded.
    on_enemies: bool,
}

impl AttackKinds {
    /// The empty set.
    pub const NONE: Self = Self::new([0; 6]);

    /// All attacks on the other side's pieces.
    pub const ON_ENEMIES: Self = Self { on_enemies: true, ..Self::new([0b11_1111; 6]) };

    /// A set by the attacker's role, from pawn to king: one bit for each attacked role, pawns lowest. Pieces of both
    /// sides are attacked.
    pub const fn new(attacked: [u8; 6]) -> Self {
        let mut attackers = [0; 6];
        let mut pair = 0;
        while pair < 36 {
            let (by, on) = (pair / 6, pair % 6);
            attackers[on] |= (attacked[by] >> on & 1) << by;
            pair += 1;
        }
        Self { attacked, attackers, on_enemies: false }
    }

    /// Whether the set contains attacks of `by` on `on`.
    #[inline]
    pub fn contains(&self, by: Piece, on: Piece) -> bool {
        let is_kind = self.attacked[by.role as usize - 1] >> (on.role as u8 - 1) & 1 != 0;
        is_kind && (!self.on_enemies || by.color != on.color)
    }

    /// The pieces that a piece of `color` can attack, given those of each colour.
    #[inline]
    pub fn targets(&self, color: Color, by_color: &ByColor<Bitboard>) -> Bitboard {
        let enemies = *by_color.get(!color);
        if self.on_enemies { enemies } else { enemies | *by_color.get(color) }
    }

    /// Whether the set contains any attack by a piece of this role.
    #[inline]
    pub fn contains_attacker(&self, by: Role) -> bool {
        self.attacked[by as usize - 1] != 0
    }

    /// Whether the set contains any attack on a piece of this role.
    #[inline]
    pub fn contains_attacked(&self, on: Role) -> bool {
        self.attackers[on as usize - 1] != 0
    }
}

/// One attack of a piece on another that was added or removed.
///
/// | bits | what |
/// |---|---|
/// | 0..6 | the attacker's square |
/// | 6..12 | the attacked square |
/// | 12..16 | the attacker: twice its role from 0 (pawn) to 5 (king), plus 1 for Black |
/// | 16..20 | the attacked piece, likewise |
/// | 20 | whether the attack was added |
///
/// Exclusive or with [`AttackChange::mask`] turns the board and swaps the colours.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AttackChange(u32);

impl AttackChange {
    /// The attack of `attacker` on `from` on `attacked` on `to`.
    #[inline]
    pub fn new(attacker: Piece, from: Square, attacked: Piece, to: Square, added: bool) -> Self {
        Self(from as u32 | (to as u32) << 6 | code(attacker) << 12 | code(attacked) << 16 | u32::from(added) << 20)
    }

    /// Mask for exclusive or: turns the squares by `turn` and swaps the colours if `colors` is true.
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

    /// Whether the attack was added; otherwise it was removed.
    #[inline]
    pub fn added(self) -> bool {
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
        let sign = if self.added() { '+' } else { '-' };
        let (from, to) = (square(0), square(6));
        write!(f, "{sign}{}{from}x{}{to}", piece(12), piece(16))
    }
}

/// A piece on a square.
#[derive(Clone, Copy)]
pub(super) struct PieceOn {
    pub piece: Piece,
    pub square: Square,
}

/// The attacks that one move added and removed, of the recorded kinds.
#[derive(Clone, Debug)]
pub struct DirtyThreats {
    kinds: AttackKinds,
    changes: [AttackChange; MAX_CHANGES],
    len: usize,
}

impl DirtyThreats {
    /// An empty list; only attacks of these kinds are recorded.
    pub fn new(kinds: AttackKinds) -> Self {
        Self { kinds, changes: [AttackChange(0); MAX_CHANGES], len: 0 }
    }

    /// The kinds that are recorded.
    #[inline]
    pub fn kinds(&self) -> AttackKinds {
        self.kinds
    }

    /// Removes all changes.
    #[inline]
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Adds a change if its kind is recorded.
    #[inline]
    pub(super) fn push(&mut self, attacker: PieceOn, attacked: PieceOn, added: bool) {
        // Written unconditionally, which avoids an unpredictable branch.
        self.changes[self.len] =
            AttackChange::new(attacker.piece, attacker.square, attacked.piece, attacked.square, added);
        self.len += usize::from(self.kinds.contains(attacker.piece, attacked.piece));
    }
}

impl std::ops::Deref for DirtyThreats {
    type Target = [AttackChange];
    #[inline]
    fn deref(&self) -> &[AttackChange] {
        &self.changes[..self.len]
    }
}
