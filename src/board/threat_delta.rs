//! Recording of a move, so that the attacks it adds and removes can be listed later.
//!
//! The attacks before and after the move differ only around the squares whose pieces changed. So the same function
//! runs on the board before and on the board after the move. It lists the attacks that pieces on these squares make
//! and receive, and the attacks of sliders through the empty ones. It runs only before an evaluation: a search undoes
//! many moves without one, and storing two small boards costs less than the list.

use shakmaty::{Bitboard, ByColor, ByRole, Piece, Role, Square};

use super::attacks;
use super::dirty_threats::PieceOn;
use super::position::Sliders;
use super::{DirtyPieces, DirtyThreats, Move, Position};

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
