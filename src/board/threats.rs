//! The attacks of one piece on another that a move adds and removes, as a value that the network reads, and the
//! recording of a move, so that they can be listed later.
//!
//! The attacks before and after the move differ only around the squares whose pieces changed. So the same function
//! runs on the board before and on the board after the move. It lists the attacks that pieces on these squares make
//! and receive, and the attacks of sliders through the empty ones. It runs only before an evaluation: a search undoes
//! many moves without one, and storing two small boards costs less than the list.

use std::fmt;

use shakmaty::{Bitboard, ByColor, ByRole, Color, Piece, Role, Square};

use super::position::Sliders;
use super::{DirtyPieces, Move, Position, attacks};

/// The placement of the pieces, which determines the attacks.
#[derive(Clone, Copy)]
struct Placement {
    by_role: ByRole<Bitboard>,
    by_color: ByColor<Bitboard>,
    mailbox: [Option<Role>; 64],
}

/// The board before and after a move.
#[derive(Clone, Copy)]
pub(crate) struct MoveBoards {
    before: Placement,
    after: Placement,
    /// The squares whose pieces the move changed.
    changed: Bitboard,
}

impl MoveBoards {
    /// A null move on an empty board.
    pub(crate) fn empty() -> Self {
        let empty = Placement { by_role: ByRole::default(), by_color: ByColor::default(), mailbox: [None; 64] };
        Self { before: empty, after: empty, changed: Bitboard::EMPTY }
    }

    /// Lists in `attacks` the attacks that the move removed and added.
    pub(crate) fn list(&self, attacks: &mut DirtyThreats) {
        attacks.clear();
        let Self { before, after, changed } = self;
        before.push_attacks_around(*changed, false, attacks);
        after.push_attacks_around(*changed, true, attacks);
    }
}

impl Position {
    /// Same as [`Position::do_move_to`], but also stores the boards before and after the move in `around`.
    // CITE: threat deltas recorded while a move is made: Stockfish 18 (idea).
    #[inline]
    pub(crate) fn do_move_recording(&mut self, m: Move, dirty: &mut DirtyPieces, around: &mut MoveBoards) {
        around.before = self.placement();
        around.changed = self.squares_changed_by(m);
        self.do_move_to(m, dirty);
        around.after = self.placement();
    }

    #[inline]
    fn placement(&self) -> Placement {
        Placement { by_role: self.by_role, by_color: self.by_color, mailbox: self.mailbox }
    }

    /// The squares whose pieces a move of this position changes.
    #[inline]
    fn squares_changed_by(&self, m: Move) -> Bitboard {
        let (from, to) = (m.from(), m.to());
        let both = Bitboard::from_square(from) | Bitboard::from_square(to);
        if self.is_castling(m) {
            let lane = self.lane_of(m);
            both | Bitboard::from_square(lane.king_to) | Bitboard::from_square(lane.rook_to)
        } else if self.is_en_passant(m) {
            both | Bitboard::from_square(super::make::behind(to, self.turn))
        } else {
            both
        }
    }
}

impl Placement {
    /// The attacks of this board that depend on the `changed` squares, occupied or empty.
    #[inline]
    fn push_attacks_around(&self, changed: Bitboard, added: bool, attacks: &mut DirtyThreats) {
        for square in changed {
            let straight = attacks::rook_attacks(square, self.occupied());
            let diagonal = attacks::bishop_attacks(square, self.occupied());
            let lines = [straight, diagonal];
            match self.piece_at(square) {
                Some(piece) => {
                    self.push_attacks_of_piece(PieceOn { piece, square }, lines, changed, added, attacks);
                }
                None => self.push_attacks_through_gap(square, lines, changed, added, attacks),
            }
        }
    }

    /// The attacks that a piece makes, and those that it receives from unchanged squares.
    #[inline]
    fn push_attacks_of_piece(
        &self,
        on: PieceOn,
        [straight, diagonal]: [Bitboard; 2],
        changed: Bitboard,
        added: bool,
        deltas: &mut DirtyThreats,
    ) {
        let (PieceOn { piece, square }, kinds) = (on, deltas.kinds());
        if kinds.contains_attacker(piece.role) {
            let reached = match piece.role {
                Role::Pawn => attacks::pawn_attacks(piece.color, square),
                Role::Knight => attacks::knight_attacks(square),
                Role::Bishop => diagonal,
                Role::Rook => straight,
                Role::Queen => straight | diagonal,
                Role::King => attacks::king_attacks(square),
            };
            for to in reached & kinds.targets(piece.color, &self.by_color) {
                deltas.push(on, self.piece_on(to), added);
            }
        }
        if kinds.contains_attacked(piece.role) {
            let sliders = self.sliders();
            let pawns = attacks::pawn_attacks(shakmaty::Color::White, square) & self.by_color.black
                | attacks::pawn_attacks(shakmaty::Color::Black, square) & self.by_color.white;
            let attackers = straight & sliders.straight
                | diagonal & sliders.diagonal
                | attacks::knight_attacks(square) & self.by_role.knight
                | attacks::king_attacks(square) & self.by_role.king
                | pawns & self.by_role.pawn;
            // Attacks on the own side are recorded for both sides or for none, so targets are attackers too.
            for from in attackers & kinds.targets(piece.color, &self.by_color) & !changed {
                deltas.push(self.piece_on(from), on, added);
            }
        }
    }

    /// The attacks of sliders through an empty square, between two unchanged squares.
    #[inline]
    fn push_attacks_through_gap(
        &self,
        square: Square,
        [straight, diagonal]: [Bitboard; 2],
        changed: Bitboard,
        added: bool,
        deltas: &mut DirtyThreats,
    ) {
        let sliders = self.sliders();
        let first = (straight | diagonal) & self.occupied();
        for from in (straight & sliders.straight | diagonal & sliders.diagonal) & !changed {
            let line = attacks::ray(from, square);
            let attacked = line & first & !Bitboard::from_square(from) & !changed;
            // A slider that attacks through two gaps is listed at the first one only.
            let earlier_gaps = attacks::between(from, square) & changed;
            if let (Some(to), true) = (attacked.first(), earlier_gaps.is_empty()) {
                deltas.push(self.piece_on(from), self.piece_on(to), added);
            }
        }
    }

    /// The piece on an occupied square.
    #[inline]
    fn piece_on(&self, square: Square) -> PieceOn {
        debug_assert!(self.occupied().contains(square));
        let color = shakmaty::Color::from_white(self.by_color.white.contains(square));
        PieceOn { piece: self.mailbox[square as usize].unwrap_or(Role::Pawn).of(color), square }
    }

    /// All occupied squares.
    #[inline]
    fn occupied(&self) -> Bitboard {
        self.by_color.white | self.by_color.black
    }

    /// The pieces that attack along lines.
    #[inline]
    fn sliders(&self) -> Sliders {
        let queens = self.by_role.queen;
        Sliders { straight: self.by_role.rook | queens, diagonal: self.by_role.bishop | queens }
    }

    /// The piece on a square.
    #[inline]
    fn piece_at(&self, square: Square) -> Option<Piece> {
        let color = shakmaty::Color::from_white(self.by_color.white.contains(square));
        self.mailbox[square as usize].map(|role| role.of(color))
    }
}

// The changes that a move makes in the attacks of one piece on another, as a value that the network reads.

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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::board::tests::random_games;
    use crate::board::{AttackChange, AttackKinds, CastlingMode};

    /// Every kind of attack.
    const ALL: AttackKinds = AttackKinds::new([0b11_1111; 6]);
    /// Some kinds of attack for each attacker but the king.
    const SOME: AttackKinds = AttackKinds::new([0b1010, 0b1_1111, 0b1111, 0b1111, 0b1_1111, 0]);

    /// The sets that the tests use.
    const SETS: [AttackKinds; 3] = [ALL, SOME, AttackKinds::ON_ENEMIES];

    /// All recorded attacks of a board, from shakmaty's board alone. They are counted, so that duplicates are found.
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

    /// Checks that the changes of `m` turn the attacks before it into the attacks after it.
    fn check(position: &mut Position, m: Move, kinds: AttackKinds) -> usize {
        let mut attacks = all_attacks(position, kinds);
        let mut deltas = DirtyThreats::new(kinds);
        let fen = position.fen();
        let mut around = MoveBoards::empty();
        let mut dirty = DirtyPieces::none();
        position.do_move_recording(m, &mut dirty, &mut around);
        around.list(&mut deltas);
        for change in deltas.iter() {
            // The key is the attack with the mark of an added one.
            let added = AttackChange::from_bits(change.bits() | 1 << 20);
            *attacks.entry(added).or_default() += if change.added() { 1 } else { -1 };
        }
        attacks.retain(|_, count| *count != 0);
        assert_eq!(attacks, all_attacks(position, kinds), "{m:?} in {fen}");
        position.undo_move();
        assert_eq!(position.do_move(m), dirty);
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
    fn only_recorded_kinds_are_listed() {
        let mut position = Position::startpos();
        let m = position.parse_uci("e2e4").expect("a legal move");
        assert_eq!(check(&mut position, m, AttackKinds::NONE), 0);
        assert!(check(&mut position, m, ALL) > 0);
    }
}
