//! Making and unmaking moves, and the draws that depend on the moves made: repetition, upcoming repetition and the
//! fifty-move rule; and insufficient material.

use std::sync::LazyLock;

use shakmaty::{Bitboard, Color, Role, Square};

use super::position::{KingAttacks, castling_key, en_passant_key, piece_key, turn_key};
use super::{DirtyPiece, DirtyPieces, Move, Position, attacks};

impl Position {
    /// Makes a legal move. Returns the pieces that it changes.
    #[inline]
    pub fn do_move(&mut self, m: Move) -> DirtyPieces {
        let mut dirty = DirtyPieces::none();
        self.do_move_to(m, &mut dirty);
        dirty
    }

    /// Same as [`Self::do_move`], but writes the changes in place.
    // A copy would be read in words of eight bytes. Such a read stalls until the preceding writes of single bytes
    // have been flushed from the processor's store buffer.
    #[inline]
    pub(crate) fn do_move_to(&mut self, m: Move, dirty: &mut DirtyPieces) {
        debug_assert!(self.pseudo_legal(m) && self.legal(m), "illegal {m:?}");
        let castling = self.is_castling(m);
        let en_passant = self.is_en_passant(m);
        self.begin_ply(Some(m));
        dirty.clear();
        if castling {
            self.castle(m, dirty);
        } else {
            self.move_piece(m, en_passant, dirty);
        }
        self.drop_castling_rights(m);
        self.turn = !self.turn;
        KingAttacks { checkers: self.state.checkers, pinned: self.state.pinned } = self.king_attacks();
        self.state.repetition = self.repetition_distance();
    }

    /// Undoes the last move, which must not be a null move.
    #[inline]
    pub fn undo_move(&mut self) {
        let (mv, castled, captured) = (self.state.mv, self.state.castled, self.state.captured);
        let previous = self.history.pop();
        debug_assert!(mv.is_some() && previous.is_some(), "no move to undo");
        let (Some(m), Some(previous)) = (mv, previous) else {
            return;
        };
        self.state = previous;
        self.turn = !self.turn;
        let (us, from, to) = (self.turn, m.from(), m.to());
        if let Some(lane) = castled {
            let lane = self.lanes[usize::from(lane & 3)];
            self.remove(lane.king_to, us, Role::King);
            self.remove(lane.rook_to, us, Role::Rook);
            self.put(from, us, Role::King);
            self.put(to, us, Role::Rook);
            return;
        }
        let Some(role) = self.role_at(to) else { return };
        self.remove(to, us, role);
        let role = if m.promotion().is_some() { Role::Pawn } else { role };
        self.put(from, us, role);
        if let Some(captured) = captured {
            self.put(self.capture_square(m, role), !us, captured);
        }
    }

    /// Passes the turn. The side to move must not be in check.
    #[inline]
    pub fn do_null_move(&mut self) {
        debug_assert!(!self.in_check(), "null move in check");
        self.begin_ply(None);
        self.state.plies_from_null = 0;
        self.turn = !self.turn;
        KingAttacks { checkers: self.state.checkers, pinned: self.state.pinned } = self.king_attacks();
    }

    /// Undoes a null move.
    #[inline]
    pub fn undo_null_move(&mut self) {
        if let Some(previous) = self.history.pop() {
            self.state = previous;
            self.turn = !self.turn;
        }
    }

    /// The key after an ordinary move. For castling, en passant, a loss of castling rights or a new en passant square,
    /// it is inexact and only useful as a hint for a prefetch.
    #[inline]
    pub fn key_after(&self, m: Move) -> u64 {
        let (us, from, to) = (self.turn, m.from(), m.to());
        let Some(role) = self.role_at(from) else {
            return self.state.key;
        };
        let mut key = self.state.key ^ turn_key() ^ piece_key(from, us, role);
        key ^= piece_key(to, us, m.promotion().unwrap_or(role));
        if let Some(captured) = self.role_at(to) {
            key ^= piece_key(to, !us, captured);
        }
        if let Some(ep) = self.state.ep {
            key ^= en_passant_key(ep.file());
        }
        key
    }

    /// Saves the state and starts the next one: counters, turn key, no en passant square.
    #[inline]
    fn begin_ply(&mut self, mv: Option<Move>) {
        self.history.push(self.state);
        let state = &mut self.state;
        state.mv = mv;
        state.captured = None;
        state.castled = None;
        state.repetition = 0;
        state.halfmoves = state.halfmoves.saturating_add(1);
        state.plies_from_null = state.plies_from_null.saturating_add(1);
        state.key ^= turn_key();
        state.ep_adjacent = None;
        if let Some(ep) = state.ep.take() {
            state.key ^= en_passant_key(ep.file());
        }
    }

    /// Makes a castling move: the king first in `dirty`, then the rook. Both are removed before either is placed,
    /// because in Chess960 the squares may overlap.
    fn castle(&mut self, m: Move, dirty: &mut DirtyPieces) {
        let (us, king, rook) = (self.turn, m.from(), m.to());
        let index = self.lane_index(m);
        let lane = self.lanes[usize::from(index)];
        self.state.castled = Some(index);
        let changes = [(Role::King, king, lane.king_to), (Role::Rook, rook, lane.rook_to)];
        for (role, from, _) in changes {
            self.remove(from, us, role);
            self.state.toggle(from, us, role);
        }
        for (role, from, to) in changes {
            self.put(to, us, role);
            self.state.toggle(to, us, role);
            dirty.push(DirtyPiece { piece: role.of(us), from: Some(from), to: Some(to) });
        }
    }

    /// The index of the lane along which a move of this position castles.
    #[inline]
    fn lane_index(&self, m: Move) -> u8 {
        self.turn.fold_wb(0, 2) + u8::from(m.to() < m.from())
    }

    /// Makes any move except castling.
    #[inline]
    fn move_piece(&mut self, m: Move, en_passant: bool, dirty: &mut DirtyPieces) {
        let (us, from, to) = (self.turn, m.from(), m.to());
        let Some(role) = self.role_at(from) else {
            return;
        };
        let captured = if en_passant { Some(Role::Pawn) } else { self.role_at(to) };
        let new_role = m.promotion().unwrap_or(role);
        let landing_square = (new_role == role).then_some(to);
        dirty.push(DirtyPiece { piece: role.of(us), from: Some(from), to: landing_square });
        if let Some(captured) = captured {
            let square = if en_passant { behind(to, us) } else { to };
            self.remove(square, !us, captured);
            self.state.toggle(square, !us, captured);
            self.state.captured = Some(captured);
            self.state.halfmoves = 0;
            dirty.push(DirtyPiece { piece: captured.of(!us), from: Some(square), to: None });
        }
        self.remove(from, us, role);
        self.state.toggle(from, us, role);
        self.put(to, us, new_role);
        self.state.toggle(to, us, new_role);
        if role == Role::Pawn {
            self.state.halfmoves = 0;
            if new_role != role {
                dirty.push(DirtyPiece { piece: new_role.of(us), from: None, to: Some(to) });
            }
            self.set_en_passant(from, to);
        }
    }

    /// Sets the en passant square after a double push, if an enemy pawn can legally capture there. A right that no
    /// legal move can use is not part of the position, so it does not prevent a repetition.
    #[inline]
    fn set_en_passant(&mut self, from: Square, to: Square) {
        if from as u8 ^ to as u8 != 16 {
            return;
        }
        let ep = behind(to, self.turn);
        let capturers = attacks::pawn_attacks(self.turn, ep) & self.pieces(!self.turn, Role::Pawn);
        if capturers.is_empty() {
            return;
        }
        self.state.ep_adjacent = Some(ep);
        let is_legal = |from: Square| {
            // Apart from the pushed pawn, which is captured, only a slider can give check here.
            let occupied = self.occupied().without(from).without(to).with(ep);
            let king = self.king(!self.turn);
            self.slider_attackers(king, self.turn, occupied).is_empty()
        };
        if capturers.into_iter().any(is_legal) {
            self.state.ep = Some(ep);
            self.state.key ^= en_passant_key(ep.file());
        }
    }

    /// Removes castling rights when the king or the rook moves, or the rook is captured.
    #[inline]
    fn drop_castling_rights(&mut self, m: Move) {
        let kept = self.rights_kept[m.from() as usize] & self.rights_kept[m.to() as usize];
        let lost = self.state.castling & !kept;
        if lost != 0 {
            self.state.key ^= castling_key(lost);
            self.state.castling &= kept;
        }
    }

    /// The square of the piece that the capture `m` of this position takes.
    #[inline]
    pub fn captured_square(&self, m: Move) -> Square {
        self.role_at(m.from()).map_or(m.to(), |role| self.capture_square(m, role))
    }

    /// [`Self::captured_square`] of a move by a piece of this role, in the position before the move.
    #[inline]
    pub(super) fn capture_square(&self, m: Move, role: Role) -> Square {
        let en_passant = role == Role::Pawn && self.state.ep == Some(m.to());
        if en_passant { behind(m.to(), self.turn) } else { m.to() }
    }

    #[inline]
    fn put(&mut self, square: Square, color: Color, role: Role) {
        let bit = Bitboard::from_square(square);
        *self.by_role.get_mut(role) |= bit;
        *self.by_color.get_mut(color) |= bit;
        self.mailbox[square as usize] = Some(role);
    }

    #[inline]
    fn remove(&mut self, square: Square, color: Color, role: Role) {
        let bit = Bitboard::from_square(square);
        *self.by_role.get_mut(role) ^= bit;
        *self.by_color.get_mut(color) ^= bit;
        self.mailbox[square as usize] = None;
    }
}

/// The square one rank back, as seen by `color`; for ranks 2 to 7 (others wrap around).
#[inline]
pub(super) fn behind(square: Square, color: Color) -> Square {
    let index: u32 = color.fold_wb(square as u32 + 56, square as u32 + 8);
    Square::new(index & 63)
}

// Draws.

/// Minimum number of plies between two equal positions.
const MIN_CYCLE: usize = 4;

impl Position {
    /// Whether the position is a draw: by the 50-move rule (not if mated), by repetition (once within the last `ply`
    /// plies of the search, or twice before), or by insufficient material.
    pub fn is_draw(&self, ply: usize) -> bool {
        self.is_fifty_move_draw() || self.is_repetition(ply) || self.is_insufficient_material()
    }

    /// Whether the 50-move rule ends the game here. A mate on the hundredth ply wins.
    #[inline]
    fn is_fifty_move_draw(&self) -> bool {
        self.state.halfmoves >= 100 && (!self.in_check() || !self.legal_moves().is_empty())
    }

    /// Whether the position occurred before: once after the root of the search (`ply` plies ago), or twice in the
    /// game.
    // CITE: the signed distance: Stockfish (idea).
    #[inline]
    pub fn is_repetition(&self, ply: usize) -> bool {
        let distance = self.state.repetition;
        distance < 0 || distance > 0 && usize::from(distance.unsigned_abs()) < ply
    }

    /// The value of `StateInfo::repetition` for the current position.
    #[inline]
    pub(super) fn repetition_distance(&self) -> i16 {
        let reach = self.reversible_plies();
        let mut back = MIN_CYCLE;
        while back <= reach {
            let earlier = &self.history[self.history.len() - back];
            if earlier.key == self.state.key {
                let distance = back as i16;
                return if earlier.repetition != 0 { -distance } else { distance };
            }
            back += 2;
        }
        0
    }

    /// Maximum number of plies back to a position that could equal this one.
    #[inline]
    fn reversible_plies(&self) -> usize {
        usize::from(self.state.halfmoves.min(self.state.plies_from_null)).min(self.history.len())
    }

    /// Whether the side to move has a move after which [`Position::is_repetition`] holds (at `ply + 1`).
    // CITE: Marcel van Kervinck, "The Cuckoo cycle detection" (2017): one lookup in a table of the key differences of
    // all reversible moves shows whether two positions are one move apart.
    pub fn upcoming_repetition(&self, ply: usize) -> bool {
        let reach = self.reversible_plies();
        let mut back = MIN_CYCLE - 1;
        if back > reach {
            return false;
        }
        let cuckoo = &*CUCKOO;
        while back <= reach {
            let earlier = &self.history[self.history.len() - back];
            let counts = back < ply || earlier.repetition != 0;
            if counts && cuckoo.find(self.state.key ^ earlier.key).is_some_and(|m| self.can_slide(m)) {
                return true;
            }
            back += 2;
        }
        false
    }

    /// Whether the side to move has a piece on one of the squares and a free path to the other. The keys guarantee
    /// that it is the right piece and that the move is legal.
    fn can_slide(&self, [a, b]: [Square; 2]) -> bool {
        let ends = Bitboard::from_square(a).with(b) & self.by_color(self.turn);
        ends.any() && (attacks::between(a, b) & self.occupied()).is_empty()
    }

    /// Material that cannot mate: bare kings, a single minor piece, or bishops on squares of one colour.
    pub fn is_insufficient_material(&self) -> bool {
        let heavy = self.by_role.pawn | self.by_role.rook | self.by_role.queen;
        if heavy.any() {
            return false;
        }
        let (knights, bishops) = (self.by_role.knight, self.by_role.bishop);
        if knights.any() {
            return bishops.is_empty() && !knights.more_than_one();
        }
        bishops.is_subset(Bitboard::LIGHT_SQUARES) || bishops.is_subset(Bitboard::DARK_SQUARES)
    }
}

/// Slots of the cuckoo table: more than twice the 3668 reversible moves.
const SLOTS: usize = 8192;

/// Key differences of all reversible moves (turn included) and their squares, in a cuckoo hash.
struct Cuckoo {
    keys: Box<[u64; SLOTS]>,
    moves: Box<[[Square; 2]; SLOTS]>,
}

static CUCKOO: LazyLock<Cuckoo> = LazyLock::new(Cuckoo::new);

impl Cuckoo {
    fn new() -> Self {
        let mut cuckoo = Self { keys: Box::new([0; SLOTS]), moves: Box::new([[Square::A1; 2]; SLOTS]) };
        for (key, squares) in reversible_moves() {
            cuckoo.insert(key, squares);
        }
        cuckoo
    }

    /// Inserts an entry; each displaced entry moves to its other slot. The keys are fixed, and the tests verify that
    /// this terminates.
    fn insert(&mut self, mut key: u64, mut squares: [Square; 2]) {
        let mut slot = first_slot(key);
        while key != 0 {
            std::mem::swap(&mut self.keys[slot], &mut key);
            std::mem::swap(&mut self.moves[slot], &mut squares);
            slot = if slot == first_slot(key) { second_slot(key) } else { first_slot(key) };
        }
    }

    /// The two squares of the reversible move with this key difference.
    #[inline]
    fn find(&self, key: u64) -> Option<[Square; 2]> {
        let slot = [first_slot(key), second_slot(key)].into_iter().find(|&i| self.keys[i] == key)?;
        (key != 0).then(|| self.moves[slot])
    }
}

#[inline]
fn first_slot(key: u64) -> usize {
    key as usize % SLOTS
}

#[inline]
fn second_slot(key: u64) -> usize {
    (key >> 16) as usize % SLOTS
}

/// Every move of a piece other than a pawn on the empty board, once per pair of squares, with its key difference.
fn reversible_moves() -> impl Iterator<Item = (u64, [Square; 2])> {
    let pieces = [Role::Knight, Role::Bishop, Role::Rook, Role::Queen, Role::King];
    let pieces = pieces.into_iter().flat_map(|role| Color::ALL.map(|color| role.of(color)));
    pieces.flat_map(|piece| {
        Square::ALL.into_iter().flat_map(move |a| {
            let targets = attacks::attacks(a, piece, Bitboard::EMPTY);
            targets.into_iter().filter(move |&b| a < b).map(move |b| {
                let [at_a, at_b] = [a, b].map(|s| piece_key(s, piece.color, piece.role));
                (at_a ^ at_b ^ turn_key(), [a, b])
            })
        })
    })
}

#[cfg(test)]
mod tests {
    use shakmaty::CastlingMode;

    use super::*;

    #[test]
    fn cuckoo_contains_every_reversible_move() {
        assert_eq!(reversible_moves().count(), 3668);
        for (key, squares) in reversible_moves() {
            assert_eq!(CUCKOO.find(key), Some(squares));
        }
        assert_eq!(CUCKOO.find(0), None);
    }

    #[test]
    fn insufficient_material_is_a_draw() {
        for (fen, drawn) in [
            ("4k3/8/8/8/8/8/8/4K3 w - - 0 1", true),
            ("4k3/8/8/8/8/8/8/3NK3 w - - 0 1", true),
            ("4k3/8/8/8/8/8/8/3BK3 b - - 0 1", true),
            ("2b1k3/8/8/8/8/8/8/3BK3 b - - 0 1", true),
            ("3bk3/8/8/8/8/8/8/3BK3 b - - 0 1", false),
            ("3nk3/8/8/8/8/8/8/3BK3 b - - 0 1", false),
            ("4k3/8/8/8/8/8/8/2NNK3 w - - 0 1", false),
            ("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", false),
        ] {
            let position = Position::from_fen(fen, CastlingMode::Standard).expect(fen);
            assert_eq!(position.is_insufficient_material(), drawn, "{fen}");
            assert_eq!(position.is_draw(0), drawn, "{fen}");
        }
    }
}
