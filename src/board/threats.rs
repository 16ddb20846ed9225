//! The attacks of one piece on another that a move adds and removes, as a value that the network reads.
//!
//! A move is a series of steps. Each empties a square, fills it, or replaces its piece, and changes the attacks that
//! this piece makes and receives. If the square was or becomes empty, the attacks of sliders through it change too. So
//! each step looks along the eight lines of one square once. An attack that one step adds and another removes is listed
//! twice.

use std::fmt;

use shakmaty::{Bitboard, ByColor, ByRole, Color, Piece, Role, Square};

use super::{DirtyPieces, attacks};

/// The pieces of a board as the bits of their codes, which can follow a line of moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PieceCodes {
    occupied: Bitboard,
    /// For each bit of a [`code`], lowest first, the squares of the pieces that have it.
    bits: [Bitboard; 4],
}

impl PieceCodes {
    /// The pieces by role, and those of Black.
    #[inline]
    pub(crate) fn new(by_role: &ByRole<Bitboard>, by_color: &ByColor<Bitboard>) -> Self {
        let &ByRole { knight, bishop, rook, queen, king, .. } = by_role;
        Self {
            occupied: by_color.white | by_color.black,
            bits: [by_color.black, knight | rook | king, bishop | rook, queen | king],
        }
    }

    /// Takes back the changes of a move.
    #[inline]
    pub(crate) fn undo(&mut self, dirty: &DirtyPieces) {
        // Removes the arrivals before restoring departures: in castling the two sets of squares can overlap.
        for change in dirty.iter() {
            change.to.into_iter().for_each(|to| self.toggle(code(change.piece), to));
        }
        for change in dirty.iter() {
            change.from.into_iter().for_each(|from| self.toggle(code(change.piece), from));
        }
    }

    /// Makes the changes of a move, and lists in `attacks` the attacks that it removes and adds.
    #[inline]
    pub(crate) fn advance(&mut self, dirty: &DirtyPieces, attacks: &mut DirtyThreats) {
        attacks.clear();
        let filled = dirty.iter().filter_map(|change| change.to).fold(Bitboard::EMPTY, |all, to| all | to);
        for change in dirty.iter() {
            if let Some(from) = change.from.filter(|&from| !filled.contains(from)) {
                let piece = code(change.piece);
                let lines = self.lines(from);
                self.list_attacks_of(piece, from, lines, false, attacks);
                self.toggle(piece, from);
                self.list_attacks_through(from, lines, true, attacks);
            }
        }
        for change in dirty.iter() {
            if let Some(to) = change.to {
                let piece = code(change.piece);
                let lines = self.lines(to);
                if self.occupied.contains(to) {
                    let replaced = self.code_at(to);
                    self.list_attacks_of(replaced, to, lines, false, attacks);
                    self.toggle(replaced, to);
                } else {
                    self.list_attacks_through(to, lines, false, attacks);
                }
                self.list_attacks_of(piece, to, lines, true, attacks);
                self.toggle(piece, to);
            }
        }
    }

    /// Puts a piece on an empty square, or removes it from its square.
    #[inline]
    fn toggle(&mut self, code: u32, square: Square) {
        let at = Bitboard::from_square(square);
        self.occupied ^= at;
        let masks = &CODE_MASKS[code as usize];
        self.bits.iter_mut().zip(masks).for_each(|(bits, &mask)| *bits ^= at & mask);
    }

    /// The code of the piece on an occupied square.
    #[inline]
    fn code_at(&self, square: Square) -> u32 {
        debug_assert!(self.occupied.contains(square));
        let bit = |n: usize| (self.bits[n].0 >> square as u32 & 1) as u32;
        bit(0) | bit(1) << 1 | bit(2) << 2 | bit(3) << 3
    }

    /// The squares that a rook and a bishop attack from a square.
    #[inline]
    fn lines(&self, square: Square) -> [Bitboard; 2] {
        [attacks::rook_attacks(square, self.occupied), attacks::bishop_attacks(square, self.occupied)]
    }

    /// The pieces that a piece with this code can attack or be attacked by.
    #[inline]
    fn others(&self, code: u32, kinds: AttackKinds) -> Bitboard {
        let [black, ..] = self.bits;
        let enemies = if code & 1 == 0 { black } else { self.occupied & !black };
        if kinds.on_enemies { enemies } else { self.occupied }
    }

    /// The pieces that attack along files and ranks, and along diagonals.
    #[inline]
    fn sliders(&self) -> [Bitboard; 2] {
        let [_, odd, low, high] = self.bits;
        [odd & low | high & !odd, (low | high) & !odd]
    }

    /// Lists the attacks that a piece makes and receives on a square with these `lines`. The square's own content does
    /// not matter.
    #[inline]
    fn list_attacks_of(
        &self,
        piece: u32,
        square: Square,
        [straight, diagonal]: [Bitboard; 2],
        added: bool,
        attacks: &mut DirtyThreats,
    ) {
        let kinds = attacks.kinds();
        let others = self.others(piece, kinds);
        if kinds.attacked[piece as usize] != 0 {
            let [on_straight, on_diagonal] = SLIDES[(piece >> 1) as usize];
            let reached =
                straight & on_straight | diagonal & on_diagonal | LEAPS[LEAP_KINDS[piece as usize]][square as usize];
            for to in reached & others {
                attacks.push(piece, square, self.code_at(to), to, added);
            }
        }
        if kinds.attackers[piece as usize] != 0 {
            let [black, odd, low, high] = self.bits;
            let [on_straight, on_diagonal] = self.sliders();
            let pawns = self.occupied & !(odd | low | high);
            let pawns = attacks::pawn_attacks(Color::White, square) & pawns & black
                | attacks::pawn_attacks(Color::Black, square) & pawns & !black;
            let attackers = straight & on_straight
                | diagonal & on_diagonal
                | attacks::knight_attacks(square) & odd & !low & !high
                | attacks::king_attacks(square) & odd & high
                | pawns;
            for from in attackers & others {
                attacks.push(self.code_at(from), from, piece, square, added);
            }
        }
    }

    /// Lists the attacks of sliders through an empty square with these `lines`.
    #[inline]
    fn list_attacks_through(
        &self,
        square: Square,
        [straight, diagonal]: [Bitboard; 2],
        added: bool,
        attacks: &mut DirtyThreats,
    ) {
        let [on_straight, on_diagonal] = self.sliders();
        let seen = (straight | diagonal) & self.occupied;
        for from in straight & on_straight | diagonal & on_diagonal {
            let attacker = self.code_at(from);
            let attacked = seen & attacks::ray(from, square) & !Bitboard::from_square(from);
            for to in attacked & self.others(attacker, attacks.kinds()) {
                attacks.push(attacker, from, self.code_at(to), to, added);
            }
        }
    }
}

/// All squares for each bit of a code that is set.
static CODE_MASKS: [[Bitboard; 4]; 12] = {
    let mut masks = [[Bitboard::EMPTY; 4]; 12];
    let mut at = 0;
    while at < 4 * 12 {
        let (code, bit) = (at / 4, at % 4);
        if code >> bit & 1 != 0 {
            masks[code][bit] = Bitboard::FULL;
        }
        at += 1;
    }
    masks
};

/// The lines of each role, from pawn to king: all squares if it attacks along files and ranks, and if along diagonals.
const SLIDES: [[Bitboard; 2]; 6] = {
    let (none, all) = (Bitboard::EMPTY, Bitboard::FULL);
    [[none, none], [none, none], [none, all], [all, none], [all, all], [none, none]]
};

/// The table of [`LEAPS`] for each code of a piece.
const LEAP_KINDS: [usize; 12] = [0, 1, 2, 2, 4, 4, 4, 4, 4, 4, 3, 3];

/// The attacks of white pawns, black pawns, knights, kings and pieces that do not leap, by square. One table, because
/// a branch on the piece would be unpredictable.
static LEAPS: [[Bitboard; 64]; 5] = {
    let mut leaps = [[Bitboard::EMPTY; 64]; 5];
    let mut index = 0;
    while index < 64 {
        let square = Square::new(index as u32);
        leaps[0][index] = attacks::pawn_attacks(Color::White, square);
        leaps[1][index] = attacks::pawn_attacks(Color::Black, square);
        leaps[2][index] = attacks::knight_attacks(square);
        leaps[3][index] = attacks::king_attacks(square);
        index += 1;
    }
    leaps
};

// The changes that a move makes in the attacks of one piece on another, as a value that the network reads.

/// Maximum number of changes of one move. A square has at most 8 attacks made, 16 received, and 8 of sliders through
/// it. Castling is the worst case: it empties two squares and fills two.
const MAX_CHANGES: usize = 128;

/// Set of attacks to list, by the roles of both pieces, and by whether protection of the own side counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AttackKinds {
    /// By the attacker's [`code`]: one bit for each code of an attacked piece.
    attacked: [u16; 12],
    /// By the attacked piece's code: one bit for each code of an attacker.
    attackers: [u16; 12],
    /// Whether only attacks on the other side's pieces are listed.
    on_enemies: bool,
}

impl AttackKinds {
    /// The empty set.
    pub const NONE: Self = Self::new([0; 6]);

    /// All attacks on the other side's pieces.
    pub const ON_ENEMIES: Self = Self::with([0b11_1111; 6], true);

    /// A set by the attacker's role, from pawn to king: one bit for each attacked role, pawns lowest. Pieces of both
    /// sides are attacked.
    pub const fn new(roles: [u8; 6]) -> Self {
        Self::with(roles, false)
    }

    const fn with(roles: [u8; 6], on_enemies: bool) -> Self {
        let (mut attacked, mut attackers) = ([0; 12], [0; 12]);
        let mut pair = 0;
        while pair < 12 * 12 {
            let (by, on) = (pair / 12, pair % 12);
            if roles[by / 2] >> (on / 2) & 1 != 0 && (!on_enemies || by % 2 != on % 2) {
                attacked[by] |= 1 << on;
                attackers[on] |= 1 << by;
            }
            pair += 1;
        }
        Self { attacked, attackers, on_enemies }
    }

    /// Whether the set contains attacks of `by` on `on`.
    #[inline]
    pub fn contains(&self, by: Piece, on: Piece) -> bool {
        self.contains_codes(code(by), code(on))
    }

    /// [`Self::contains`] for the [`code`]s of the pieces.
    #[inline]
    fn contains_codes(&self, by: u32, on: u32) -> bool {
        self.attacked[by as usize] >> on & 1 != 0
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
        self.attacked[code(by.of(Color::White)) as usize] != 0
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
        Self::of_codes(code(attacker), from, code(attacked), to, added)
    }

    /// [`Self::new`] for the [`code`]s of the pieces.
    #[inline]
    fn of_codes(attacker: u32, from: Square, attacked: u32, to: Square, added: bool) -> Self {
        Self(from as u32 | (to as u32) << 6 | attacker << 12 | attacked << 16 | u32::from(added) << 20)
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

/// The attacks that one move added and removed, of the listed kinds.
#[derive(Clone, Debug)]
pub struct DirtyThreats {
    kinds: AttackKinds,
    changes: [AttackChange; MAX_CHANGES],
    len: usize,
}

impl DirtyThreats {
    /// An empty list; only attacks of these kinds are added.
    pub fn new(kinds: AttackKinds) -> Self {
        Self { kinds, changes: [AttackChange(0); MAX_CHANGES], len: 0 }
    }

    /// The kinds that are added.
    #[inline]
    pub fn kinds(&self) -> AttackKinds {
        self.kinds
    }

    /// Removes all changes.
    #[inline]
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Adds a change if it is of these kinds. The pieces are [`code`]s.
    #[inline]
    fn push(&mut self, attacker: u32, from: Square, attacked: u32, to: Square, added: bool) {
        // Written unconditionally, which avoids an unpredictable branch.
        self.changes[self.len] = AttackChange::of_codes(attacker, from, attacked, to, added);
        self.len += usize::from(self.kinds.contains_codes(attacker, attacked));
    }
}

impl std::ops::Deref for DirtyThreats {
    type Target = [AttackChange];
    #[inline]
    fn deref(&self) -> &[AttackChange] {
        &self.changes[..self.len]
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::board::tests::random_games;
    use crate::board::{AttackChange, AttackKinds, CastlingMode, Move, Position};

    /// Every kind of attack.
    const ALL: AttackKinds = AttackKinds::new([0b11_1111; 6]);
    /// Some kinds of attack for each attacker but the king.
    const SOME: AttackKinds = AttackKinds::new([0b1010, 0b1_1111, 0b1111, 0b1111, 0b1_1111, 0]);

    /// The sets that the tests use.
    const SETS: [AttackKinds; 3] = [ALL, SOME, AttackKinds::ON_ENEMIES];

    /// All attacks of these kinds on a board, from shakmaty alone. They are counted, so that duplicates are found.
    fn all_attacks(position: &Position, kinds: AttackKinds) -> BTreeMap<AttackChange, i32> {
        let board = position.to_setup().board;
        let mut attacks = BTreeMap::new();
        for (from, attacker) in board.iter() {
            for to in board.attacks_from(from) & board.occupied() {
                let attacked = board.piece_at(to).expect("an occupied square");
                if kinds.contains(attacker, attacked) {
                    *attacks.entry(AttackChange::new(attacker, from, attacked, to, true)).or_default() += 1;
                }
            }
        }
        attacks
    }

    fn codes(position: &Position) -> PieceCodes {
        let board = position.to_setup().board;
        let (by_role, by_color) =
            (ByRole::new_with(|role| board.by_role(role)), ByColor::new_with(|color| board.by_color(color)));
        PieceCodes::new(&by_role, &by_color)
    }

    /// Checks that the changes of `m` turn the attacks before it into the attacks after it.
    fn check(position: &mut Position, m: Move, kinds: AttackKinds) -> usize {
        let mut attacks = all_attacks(position, kinds);
        let mut deltas = DirtyThreats::new(kinds);
        let fen = position.fen();
        let before = codes(position);
        let dirty = position.do_move(m);
        let mut pieces = before;
        pieces.advance(&dirty, &mut deltas);
        assert_eq!(pieces, codes(position), "{m:?} in {fen}");
        pieces.undo(&dirty);
        assert_eq!(pieces, before, "{m:?} in {fen}");
        for change in deltas.iter() {
            // The key is the attack with the mark of an added one.
            let added = AttackChange::from_bits(change.bits() | 1 << 20);
            *attacks.entry(added).or_default() += if change.added() { 1 } else { -1 };
        }
        attacks.retain(|_, count| *count != 0);
        assert_eq!(attacks, all_attacks(position, kinds), "{m:?} in {fen}");
        position.undo_move();
        deltas.len()
    }

    #[test]
    fn listed_changes_equal_the_difference() {
        random_games(31, 6, |position, _| {
            for &m in position.legal_moves().iter() {
                for kinds in SETS {
                    check(position, m, kinds);
                }
            }
        });
    }

    #[test]
    fn crowded_boards_and_unusual_moves_are_listed_exactly() {
        for fen in [
            // The most threats that hill climbing found; a king that castles among queens; en passant that opens a
            // rank.
            "2B1Q1B1/3rnK2/QnqNqnr1/1QnRnQb1/RNqnQ1q1/1kNQ1N2/b1Rn4/8 w - - 0 1",
            "1q4q1/8/8/8/8/8/5k2/QRK3RQ w GB - 0 1",
            "7k/8/8/Q2pP2q/8/8/8/K7 w - d6 0 1",
            "q6k/1P6/8/8/8/8/8/K5R1 w - - 0 1",
        ] {
            let mut position = Position::from_fen(fen, CastlingMode::Chess960).expect(fen);
            for &m in position.legal_moves().iter() {
                for kinds in SETS {
                    check(&mut position, m, kinds);
                }
            }
        }
    }

    #[test]
    fn only_attacks_of_the_given_kinds_are_listed() {
        let mut position = Position::startpos();
        let m = position.parse_uci("e2e4").expect("a legal move");
        assert_eq!(check(&mut position, m, AttackKinds::NONE), 0);
        assert!(check(&mut position, m, ALL) > 0);
    }
}
