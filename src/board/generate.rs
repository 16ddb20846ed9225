//! Pseudo-legal move generation in two stages, noisy and quiet. In check only evasions are generated, so `legal`
//! rejects few moves. And predicates of one move: pseudo-legality of any 16-bit code, legality, and whether it checks.

use shakmaty::{Bitboard, Color, File, Piece, Rank, Role, Square};

use super::make::behind;
use super::position::Sliders;
use super::{Move, MoveList, Position, attacks};

/// Roles whose moves are their attacks: see [`targets_of`].
const PIECES: [Role; 4] = [Role::Knight, Role::Bishop, Role::Rook, Role::Queen];

/// The roles of an underpromotion.
const UNDERPROMOTIONS: [Role; 3] = [Role::Knight, Role::Rook, Role::Bishop];

impl Position {
    /// Generates captures, en passant and queen promotions; in check, only those that may end it.
    pub fn generate_noisy(&self, list: &mut MoveList) {
        let them = self.by_color(!self.turn);
        if let Some(target) = self.evasion_targets() {
            self.pawn_captures(target, list);
            self.pawn_promotions::<true>(target, list);
            self.piece_moves(target & them, list);
        }
        self.king_moves(them, list);
    }

    /// Generates the other moves: quiet moves, castling (fully checked), and underpromotions with and without capture.
    pub fn generate_quiet(&self, list: &mut MoveList) {
        let empty = !self.occupied();
        if let Some(target) = self.evasion_targets() {
            self.pawn_promotions::<false>(target, list);
            self.pawn_pushes(target, list);
            self.piece_moves(target & empty, list);
        }
        self.king_moves(empty, list);
        self.castling_moves(list);
    }

    /// All legal moves, in no particular order.
    pub fn legal_moves(&self) -> MoveList {
        let mut list = MoveList::new();
        self.generate_legal(&mut list);
        list
    }

    /// Appends all legal moves to an empty list.
    pub fn generate_legal(&self, list: &mut MoveList) {
        let free = !self.by_color(self.turn);
        if let Some(target) = self.evasion_targets() {
            self.pawn_captures(target, list);
            self.pawn_promotions::<true>(target, list);
            self.pawn_promotions::<false>(target, list);
            self.pawn_pushes(target, list);
            self.piece_moves(target & free, list);
        }
        self.king_moves(free, list);
        self.castling_moves(list);
        let suspects = self.suspects();
        list.retain(|m| !suspects.contains(m.from()) || self.legal(*m));
    }

    /// Pieces whose pseudo-legal moves may be illegal: the king, pinned pieces, and en passant capturers.
    #[inline]
    fn suspects(&self) -> Bitboard {
        let us = self.turn;
        let capturers = self.state.ep.map_or(Bitboard::EMPTY, |ep| attacks::pawn_attacks(!us, ep));
        self.pieces(us, Role::King) | self.pinned() | capturers
    }

    /// Destinations for pieces other than the king: all squares, or the line of the only checker; `None` in double
    /// check.
    #[inline]
    pub(super) fn evasion_targets(&self) -> Option<Bitboard> {
        let checkers = self.checkers();
        match checkers.first() {
            None => Some(Bitboard::FULL),
            Some(_) if checkers.more_than_one() => None,
            Some(checker) => Some(attacks::between(self.king(self.turn), checker) | checkers),
        }
    }

    #[inline]
    fn piece_moves(&self, target: Bitboard, list: &mut MoveList) {
        for role in PIECES {
            for from in self.pieces(self.turn, role) {
                for to in targets_of(role, from, self.occupied()) & target {
                    push(list, from, to);
                }
            }
        }
    }

    #[inline]
    fn king_moves(&self, target: Bitboard, list: &mut MoveList) {
        let from = self.king(self.turn);
        for to in attacks::king_attacks(from) & target {
            push(list, from, to);
        }
    }

    fn castling_moves(&self, list: &mut MoveList) {
        if self.in_check() || !self.can_castle(self.turn) {
            return;
        }
        let first = self.turn.fold_wb(0, 2);
        for right in first..first + 2 {
            if self.may_castle(right) {
                push(list, self.king(self.turn), self.lanes[right].rook);
            }
        }
    }

    /// Pawn captures without promotion, including en passant.
    #[inline]
    fn pawn_captures(&self, target: Bitboard, list: &mut MoveList) {
        let us = self.turn;
        let pawns = self.pieces(us, Role::Pawn) & !before_last(us);
        let victims = self.by_color(!us) & target;
        for delta in capture_deltas(us) {
            for to in shifted(pawns, delta) & victims {
                push(list, origin(to, delta), to);
            }
        }
        if let Some(ep) = self.state.ep.filter(|&ep| self.ep_addresses_check(ep, target)) {
            for from in attacks::pawn_attacks(!us, ep) & pawns {
                push(list, from, ep);
            }
        }
    }

    /// Whether capturing en passant on `ep` captures the checker or blocks its line.
    #[inline]
    pub(super) fn ep_addresses_check(&self, ep: Square, target: Bitboard) -> bool {
        target.contains(ep) || target.contains(super::make::behind(ep, self.turn))
    }

    /// Promotions by push and capture, to a queen or to the other roles.
    #[inline]
    fn pawn_promotions<const QUEEN: bool>(&self, target: Bitboard, list: &mut MoveList) {
        let us = self.turn;
        let pawns = self.pieces(us, Role::Pawn) & before_last(us);
        if pawns.is_empty() {
            return;
        }
        let victims = self.by_color(!us) & target;
        let [left, right] = capture_deltas(us);
        let ways = [(left, victims), (right, victims), (forward(us), target & !self.occupied())];
        for (delta, allowed) in ways {
            for to in shifted(pawns, delta) & allowed {
                promote::<QUEEN>(list, origin(to, delta), to);
            }
        }
    }

    /// Single and double pushes without promotion.
    #[inline]
    fn pawn_pushes(&self, target: Bitboard, list: &mut MoveList) {
        let us = self.turn;
        let up = forward(us);
        let empty = !self.occupied();
        let pawns = self.pieces(us, Role::Pawn) & !before_last(us);
        let single = shifted(pawns, up) & empty;
        let third = Bitboard::from_rank(us.relative_rank(Rank::Third));
        let double = shifted(single & third, up) & empty;
        for to in single & target {
            push(list, origin(to, up), to);
        }
        for to in double & target {
            push(list, origin(to, 2 * up), to);
        }
    }
}

/// Attacks of a piece other than a pawn.
#[inline]
pub(super) fn targets_of(role: Role, from: Square, occupied: Bitboard) -> Bitboard {
    match role {
        Role::Knight => attacks::knight_attacks(from),
        Role::Bishop => attacks::bishop_attacks(from, occupied),
        Role::Rook => attacks::rook_attacks(from, occupied),
        Role::Queen => attacks::queen_attacks(from, occupied),
        Role::King => attacks::king_attacks(from),
        Role::Pawn => Bitboard::EMPTY,
    }
}

#[inline]
fn push(list: &mut MoveList, from: Square, to: Square) {
    append(list, Move::new(from, to));
}

#[inline]
fn promote<const QUEEN: bool>(list: &mut MoveList, from: Square, to: Square) {
    let roles: &[Role] = if QUEEN { &[Role::Queen] } else { &UNDERPROMOTIONS };
    for &role in roles {
        append(list, Move::promoting(from, to, role));
    }
}

/// Appends a move. A full list drops the move, but positions that [`Position::from_fen`] accepts never fill the list.
#[inline]
fn append(list: &mut MoveList, m: Option<Move>) {
    if let Some(m) = m {
        let _ = list.try_push(m);
    }
}

/// The seventh rank, as seen by `color`.
#[inline]
pub(super) fn before_last(color: Color) -> Bitboard {
    Bitboard::from_rank(color.relative_rank(Rank::Seventh))
}

/// The square offset of a pawn push.
#[inline]
fn forward(color: Color) -> i32 {
    color.fold_wb(8, -8)
}

/// The square offsets of pawn captures.
#[inline]
fn capture_deltas(color: Color) -> [i32; 2] {
    color.fold_wb([7, 9], [-9, -7])
}

/// The squares shifted by a pawn's offset. Squares that would wrap around the edge of the board are dropped.
#[inline]
fn shifted(squares: Bitboard, delta: i32) -> Bitboard {
    let lost = match delta {
        7 | -9 => Bitboard::from_file(File::A),
        9 | -7 => Bitboard::from_file(File::H),
        _ => Bitboard::EMPTY,
    };
    (squares & !lost).shift(delta)
}

/// The origin square of a pawn that moved by `delta`.
#[inline]
fn origin(to: Square, delta: i32) -> Square {
    Square::new((to as i32 - delta) as u32 & 63)
}

// Predicates of one move: pseudo-legality of any 16-bit code, legality, and whether it gives check.

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
