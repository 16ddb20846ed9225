//! Predicates of one move: pseudo-legality of any 16-bit code, legality, and whether it gives check.

use shakmaty::{Bitboard, Color, Piece, Rank, Role, Square};

use super::attacks;
use super::generate::{before_last, targets_of};
use super::make::behind;
use super::position::Sliders;
use super::{Move, Position};

/// Inputs of [`Position::gives_check`], computed once per node.
#[derive(Clone, Copy, Debug)]
pub struct CheckInfo {
    /// By role index (pawn 0 .. king 5): squares from which that piece of the side to move attacks the enemy king.
    pub squares: [Bitboard; 6],
    /// Own pieces that give a discovered check when they move off their line.
    pub discoverers: Bitboard,
}

impl Position {
    /// Whether any 16-bit code is a pseudo-legal move in this position. A move is legal if and only if
    /// `pseudo_legal(m) && legal(m)`.
    pub fn pseudo_legal(&self, m: Move) -> bool {
        let (us, from, to) = (self.turn, m.from(), m.to());
        let Some(role) = self.role_at(from) else {
            return false;
        };
        if !self.by_color(us).contains(from) || m.bits() >> 12 > 4 {
            return false;
        }
        if role == Role::Pawn {
            return self.pawn_pseudo_legal(m);
        }
        if m.promotion().is_some() {
            return false;
        }
        if self.by_color(us).contains(to) {
            return role == Role::King && self.castling_pseudo_legal(to);
        }
        if !targets_of(role, from, self.occupied()).contains(to) {
            return false;
        }
        role == Role::King || self.evasion_targets().is_some_and(|target| target.contains(to))
    }

    /// Whether a pawn's code is pseudo-legal: the right promotion, a possible push or capture, and an answer to any
    /// check.
    fn pawn_pseudo_legal(&self, m: Move) -> bool {
        let (us, from, to) = (self.turn, m.from(), m.to());
        if m.promotion().is_some() != before_last(us).contains(from) {
            return false;
        }
        let Some(target) = self.evasion_targets() else {
            return false;
        };
        if self.state.ep == Some(to) && attacks::pawn_attacks(us, from).contains(to) {
            return self.ep_addresses_check(to, target);
        }
        target.contains(to) && self.pawn_reaches(from, to)
    }

    /// Whether a pawn of the side to move can move from one square to the other, without en passant.
    fn pawn_reaches(&self, from: Square, to: Square) -> bool {
        let us = self.turn;
        let step = behind(from, !us);
        if attacks::pawn_attacks(us, from).contains(to) {
            return self.by_color(!us).contains(to);
        }
        if self.role_at(to).is_some() {
            return false;
        }
        let second = us.relative_rank(Rank::Second);
        let jumps = from.rank() == second && self.role_at(step).is_none();
        step == to || jumps && behind(step, !us) == to
    }

    /// Whether the king may castle with the rook on this square.
    fn castling_pseudo_legal(&self, rook: Square) -> bool {
        let first = self.turn.fold_wb(0, 2);
        (first..first + 2).any(|right| self.lanes[right].rook == rook && self.may_castle(right))
    }

    /// Whether castling right `right` of the side to move can be used now. The test is complete, including Chess960.
    pub(super) fn may_castle(&self, right: usize) -> bool {
        if self.state.castling >> right & 1 == 0 || self.in_check() {
            return false;
        }
        let (lane, king) = (&self.lanes[right], self.king(self.turn));
        if (lane.path & self.occupied()).any() {
            return false;
        }
        let lifted = self.occupied().without(king);
        let walked = attacks::between(king, lane.king_to);
        if walked.into_iter().any(|square| self.attacked(square, lifted)) {
            return false;
        }
        // In Chess960 the rook may have shielded the king's destination, and may shield it again.
        let landed = lifted.without(lane.rook).with(lane.rook_to);
        !self.attacked(lane.king_to, landed)
    }

    /// Whether a pseudo-legal move is legal: its own king is not in check afterwards.
    #[inline]
    pub fn legal(&self, m: Move) -> bool {
        let (us, from, to) = (self.turn, m.from(), m.to());
        let king = self.king(us);
        if from == king {
            return self.by_color(us).contains(to) || !self.attacked(to, self.occupied().without(king));
        }
        if self.state.ep == Some(to) && self.role_at(from) == Some(Role::Pawn) {
            return self.ep_legal(from, to);
        }
        !self.state.pinned.contains(from) || attacks::aligned(from, to, king)
    }

    /// Legality of en passant. It clears two squares at once, so every slider's line to the king is checked.
    fn ep_legal(&self, from: Square, to: Square) -> bool {
        let (us, king) = (self.turn, self.king(self.turn));
        let occupied = self.occupied().without(from).without(behind(to, us)).with(to);
        self.slider_attackers(king, !us, occupied).is_empty()
    }

    /// Whether the enemy attacks a square with the given occupancy.
    #[inline]
    pub(super) fn attacked(&self, square: Square, occupied: Bitboard) -> bool {
        let (us, them) = (self.turn, self.by_color(!self.turn));
        let leapers = attacks::knight_attacks(square) & self.by_role.knight
            | attacks::king_attacks(square) & self.by_role.king
            | attacks::pawn_attacks(us, square) & self.by_role.pawn;
        (leapers & them).any() || self.slider_attackers(square, !us, occupied).any()
    }

    /// Sliders of a colour that attack a square with the given occupancy.
    #[inline]
    pub(super) fn slider_attackers(&self, square: Square, by: Color, occupied: Bitboard) -> Bitboard {
        let Sliders { straight, diagonal } = self.sliders();
        let rays =
            attacks::rook_attacks(square, occupied) & straight | attacks::bishop_attacks(square, occupied) & diagonal;
        rays & self.by_color(by)
    }

    /// All pieces of both colours that attack a square with the given occupancy.
    #[inline]
    pub fn attackers_to(&self, square: Square, occupied: Bitboard) -> Bitboard {
        let Sliders { straight, diagonal } = self.sliders();
        attacks::knight_attacks(square) & self.by_role.knight
            | attacks::king_attacks(square) & self.by_role.king
            | attacks::pawn_attacks(Color::Black, square) & self.pieces(Color::White, Role::Pawn)
            | attacks::pawn_attacks(Color::White, square) & self.pieces(Color::Black, Role::Pawn)
            | attacks::rook_attacks(square, occupied) & straight
            | attacks::bishop_attacks(square, occupied) & diagonal
    }

    /// Squares attacked by any piece of the colour with the given role, with the current occupancy.
    #[inline]
    pub fn attacks_by(&self, color: Color, role: Role) -> Bitboard {
        let occupied = self.occupied();
        let attacks_of = |from| attacks::attacks(from, Piece { color, role }, occupied);
        self.pieces(color, role).into_iter().map(attacks_of).fold(Bitboard::EMPTY, |a, b| a | b)
    }

    /// The squares and pieces from which the side to move can give check.
    pub fn check_info(&self) -> CheckInfo {
        let (us, king) = (self.turn, self.king(!self.turn));
        let occupied = self.occupied();
        let bishop = attacks::bishop_attacks(king, occupied);
        let rook = attacks::rook_attacks(king, occupied);
        let pawn = attacks::pawn_attacks(!us, king);
        let knight = attacks::knight_attacks(king);
        let mut discoverers = Bitboard::EMPTY;
        for sniper in self.snipers(king, us) {
            let blockers = attacks::between(king, sniper) & occupied;
            if !blockers.more_than_one() {
                discoverers |= blockers & self.by_color(us);
            }
        }
        CheckInfo { squares: [pawn, knight, bishop, rook, bishop | rook, Bitboard::EMPTY], discoverers }
    }

    /// Whether a legal move gives check; `info` is this position's [`Position::check_info`].
    #[inline]
    pub fn gives_check(&self, info: &CheckInfo, m: Move) -> bool {
        let (from, to) = (m.from(), m.to());
        let king = self.king(!self.turn);
        if self.is_castling(m) {
            return self.castling_gives_check(m);
        }
        let role = self.moved_piece(m).role;
        if m.promotion().is_none() && info.squares[role as usize - 1].contains(to) {
            return true;
        }
        if info.discoverers.contains(from) && !attacks::aligned(from, to, king) {
            return true;
        }
        match m.promotion() {
            Some(role) => {
                let occupied = self.occupied().without(from);
                targets_of(role, to, occupied).contains(king)
            }
            None => self.state.ep == Some(to) && role == Role::Pawn && self.ep_gives_check(from, to),
        }
    }

    /// Whether en passant gives check: a slider may attack through both vacated squares.
    fn ep_gives_check(&self, from: Square, to: Square) -> bool {
        let us = self.turn;
        let occupied = self.occupied().without(from).without(behind(to, us)).with(to);
        self.slider_attackers(self.king(!us), us, occupied).any()
    }

    /// Castling gives check with the rook, or in Chess960 by discovering another slider.
    fn castling_gives_check(&self, m: Move) -> bool {
        let us = self.turn;
        let right = us.fold_wb(0, 2) + usize::from(m.to() < m.from());
        let lane = &self.lanes[right];
        let vacated = self.occupied().without(m.from()).without(m.to());
        let occupied = vacated.with(lane.king_to).with(lane.rook_to);
        let king = self.king(!us);
        let others = self.slider_attackers(king, us, occupied).without(m.to());
        others.any() || attacks::rook_attacks(lane.rook_to, occupied).contains(king)
    }
}
