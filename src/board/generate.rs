//! Pseudo-legal move generation in two stages, noisy and quiet. In check only evasions are generated, so `legal`
//! rejects few moves.

use shakmaty::{Bitboard, Color, File, Rank, Role, Square};

use super::attacks;
use super::{Move, MoveList, Position};

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
