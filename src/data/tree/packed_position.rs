//! A position as the format follows it: the packed pieces themselves, changed in place.
//!
//! Reading costs a few moves for every position, so a move must be cheap and a position must be ready for the trainer
//! after it. Both hold when the board is what a record holds: removing a piece closes a gap among the nibbles, putting
//! one opens a gap. Nothing is generated or checked here but what numbering the moves of one piece needs.

use shakmaty::{Bitboard, Color, Square};

use crate::board::attacks;
use crate::data::entry::Entry;
use crate::data::packed::{MAX_PIECES, PackedBoard};

/// Codes of pieces, to which the colour is added: 2 * role.
const PAWN: u8 = 0;
const ROOK: u8 = 6;
const KING: u8 = 10;
/// No en passant square.
pub const NO_EP: u8 = 64;

/// A move as the format's readers and writers hand it on: [`crate::board::Move`]'s bits, and 0 for a null move.
pub type PackedMove = u16;

/// Square a move comes from, square it goes to, and code of the promotion (knight 1 to queen 4, none 0).
#[inline]
fn parts(m: PackedMove) -> (u8, u8, u8) {
    (m as u8 & 63, (m >> 6) as u8 & 63, (m >> 12) as u8)
}

/// What moves of a whole tree share: where the rooks of castling rights stand.
#[derive(Clone, Copy, Debug)]
pub struct CastlingRooks {
    /// Squares of the rooks, K Q k q.
    pub squares: [u8; 4],
    /// For each right, the squares of king and rook: a move from or to one of them ends the right.
    guards: [u64; 4],
}

impl CastlingRooks {
    /// The rooks of a tree that begins with this board; `squares` has those that may castle, K Q k q.
    pub fn new(board: &PackedBoard, squares: [u8; 4]) -> Self {
        let kings = [board.king(false), board.king(true)];
        Self {
            squares,
            guards: std::array::from_fn(|i| {
                let king = kings[i / 2].map_or(0, |square| 1 << square as u32);
                king | 1 << squares[i]
            }),
        }
    }

    /// The rights that a move with these squares leaves.
    #[inline]
    fn kept(&self, touched: u64) -> u8 {
        let ended = |i: usize| u8::from(self.guards[i] & touched != 0) << i;
        !(ended(0) | ended(1) | ended(2) | ended(3))
    }
}

/// A position.
#[derive(Clone, Copy, Debug)]
pub struct PackedPosition {
    /// Squares with a piece.
    occupied: u64,
    /// Squares with a black piece.
    black: u64,
    /// Codes of the pieces, in the order of their squares.
    nibbles: u128,
    black_to_move: bool,
    /// Rights as bits 0 to 3: K, Q, k, q.
    castling: u8,
    /// [`NO_EP`] for none.
    ep: u8,
    rule50: u8,
}

/// What a position has beside its pieces.
#[derive(Clone, Copy, Debug)]
pub struct Rest {
    /// Whether black is to move.
    pub black_to_move: bool,
    /// Castling rights as bits 0 to 3: K, Q, k, q.
    pub castling: u8,
    /// En passant square, [`NO_EP`] for none.
    pub ep: u8,
    /// Plies since the last capture or pawn move.
    pub rule50: u8,
}

impl PackedPosition {
    /// A position of these pieces.
    pub fn new(board: &PackedBoard, rest: Rest) -> Self {
        let black = board.pieces().filter(|piece| piece.colour == 1);
        let [low, high] = board.words();
        Self {
            occupied: board.occupied(),
            black: black.map(|piece| 1 << piece.square).sum(),
            nibbles: u128::from(low) | u128::from(high) << 64,
            black_to_move: rest.black_to_move,
            castling: rest.castling,
            ep: rest.ep,
            rule50: rest.rule50,
        }
    }

    /// The entry of the position, labelled.
    #[inline]
    pub fn entry(&self, ply: u16, score: i16, white_result: i8) -> Entry {
        let mut entry = Entry {
            board: PackedBoard::from_nibbles(self.occupied, self.nibbles),
            black_to_move: self.black_to_move,
            castling: self.castling,
            ep: (self.ep != NO_EP).then(|| Square::new(u32::from(self.ep & 63))),
            rule50: self.rule50,
            m: None,
            score,
            ply,
            result: 0,
        };
        entry.set_result(white_result);
        entry
    }

    /// Whether black is to move.
    #[inline]
    pub fn black_to_move(&self) -> bool {
        self.black_to_move
    }

    /// The squares of the side to move's pieces.
    #[inline]
    pub fn own(&self) -> u64 {
        if self.black_to_move {
            self.black
        } else {
            self.occupied & !self.black
        }
    }

    /// The side to move's king.
    pub fn king(&self) -> u8 {
        let mut squares = Bitboard(self.own()).into_iter().map(u8::from);
        squares
            .find(|&square| Self::is_king(self.piece(square)))
            .unwrap_or(0)
    }

    /// Where the nibble of a square's piece is, or would be, in bits.
    #[inline]
    fn shift(&self, square: u8) -> u32 {
        let below = self.occupied & ((1 << square) - 1);
        (4 * below.count_ones()) & 127
    }

    /// The code of the piece on an occupied square.
    #[inline]
    pub fn piece(&self, square: u8) -> u8 {
        (self.nibbles >> self.shift(square)) as u8 & 15
    }

    /// Whether the piece of that code is a king.
    #[inline]
    pub fn is_king(code: u8) -> bool {
        code >> 1 == KING >> 1
    }

    /// Whether the piece on the square is a pawn that can only promote.
    #[inline]
    pub fn promotes(&self, code: u8, from: u8) -> bool {
        code >> 1 == PAWN && from >> 3 == if self.black_to_move { 1 } else { 6 }
    }

    /// Squares that the own piece on `from` might go to: all legal moves and some others. Castling is to the rook.
    #[inline]
    pub fn targets(&self, code: u8, from: u8, rooks: &CastlingRooks) -> u64 {
        let (square, occupied) = (Square::new(from.into()), Bitboard(self.occupied));
        let free = !self.own();
        match code >> 1 {
            0 => self.pawn_targets(from),
            1 => attacks::knight_attacks(square).0 & free,
            2 => attacks::bishop_attacks(square, occupied).0 & free,
            3 => attacks::rook_attacks(square, occupied).0 & free,
            4 => attacks::queen_attacks(square, occupied).0 & free,
            _ => attacks::king_attacks(square).0 & free | self.castling_targets(rooks),
        }
    }

    #[inline]
    fn pawn_targets(&self, from: u8) -> u64 {
        let empty = !self.occupied;
        let pawn = 1_u64 << from;
        let color = Color::from_white(!self.black_to_move);
        let (one, two) = if self.black_to_move {
            let one = pawn >> 8 & empty;
            (one, one >> 8 & empty & 0xFF << 32)
        } else {
            let one = pawn << 8 & empty;
            (one, one << 8 & empty & 0xFF << 24)
        };
        let prey = self.occupied & !self.own() | 1_u64.checked_shl(self.ep.into()).unwrap_or(0);
        one | two | attacks::pawn_attacks(color, Square::new(from.into())).0 & prey
    }

    #[inline]
    fn castling_targets(&self, rooks: &CastlingRooks) -> u64 {
        let first = 2 * usize::from(self.black_to_move);
        let rights = self.castling >> first;
        u64::from(rights & 1) << rooks.squares[first]
            | u64::from(rights >> 1 & 1) << rooks.squares[first + 1]
    }

    #[inline]
    fn remove(&mut self, square: u8) {
        let below = (1 << self.shift(square)) - 1;
        self.nibbles = self.nibbles & below | self.nibbles >> 4 & !below;
        self.occupied &= !(1 << square);
        self.black &= !(1 << square);
    }

    #[inline]
    fn put(&mut self, square: u8, code: u8) {
        let shift = self.shift(square);
        let below = (1 << shift) - 1;
        self.nibbles =
            self.nibbles & below | u128::from(code) << shift | (self.nibbles & !below) << 4;
        self.occupied |= 1 << square;
        self.black |= u64::from(code & 1) << square;
    }

    /// The position after a move of an own piece to one of its targets, or after a null move. `None` if a king would be
    /// captured, or castle where pieces stand.
    #[inline]
    pub fn after(&self, m: PackedMove, rooks: &CastlingRooks) -> Option<Self> {
        let mut next = *self;
        next.black_to_move = !self.black_to_move;
        next.ep = NO_EP;
        next.rule50 = (self.rule50 + 1).min(127);
        let (from, to, promotion) = parts(m);
        if from == to {
            return Some(next);
        }
        let code = self.piece(from);
        next.castling &= rooks.kept(1 << from | 1 << to);
        if self.own() >> to & 1 == 1 {
            return next.castle(code & 1, from, to).then_some(next);
        }
        if self.occupied >> to & 1 == 1 {
            if Self::is_king(self.piece(to)) {
                return None;
            }
            next.remove(to);
            next.rule50 = 0;
        }
        next.remove(from);
        let lands = if promotion == 0 {
            code
        } else {
            (2 * promotion) | code & 1
        };
        next.put(to, lands);
        if code >> 1 == PAWN {
            next.rule50 = 0;
            if self.ep == to {
                next.remove(to ^ 8);
            }
            if from ^ to == 16 {
                next.set_en_passant((from + to) / 2, code & 1);
            }
        }
        Some(next)
    }

    /// King and rook leave before either lands: in Chess960 their squares may overlap. Tells whether there is room.
    fn castle(&mut self, colour: u8, king: u8, rook: u8) -> bool {
        let (king_file, rook_file) = if rook > king { (6, 5) } else { (2, 3) };
        let (king_to, rook_to) = (king & 56 | king_file, king & 56 | rook_file);
        self.remove(king);
        self.remove(rook);
        if self.occupied & (1 << king_to | 1 << rook_to) != 0 {
            return false;
        }
        self.put(king_to, KING | colour);
        self.put(rook_to, ROOK | colour);
        true
    }

    /// The square that a pawn of `colour` has passed counts when an enemy pawn stands ready to take there.
    #[inline]
    fn set_en_passant(&mut self, passed: u8, colour: u8) {
        let color = Color::from_white(colour == 0);
        let hunters = attacks::pawn_attacks(color, Square::new(passed.into())).0 & self.own();
        let is_pawn = |square: u32| self.piece(square as u8) >> 1 == PAWN;
        if Bitboard(hunters)
            .into_iter()
            .any(|square| is_pawn(square as u32))
        {
            self.ep = passed;
        }
    }

    /// Whether there is one king of each colour, no code of nothing, and what castling and en passant need.
    pub fn is_sound(&self, rooks: &CastlingRooks) -> bool {
        let board = PackedBoard::from_nibbles(self.occupied, self.nibbles);
        let count = |code| {
            board
                .pieces()
                .filter(|p| 2 * p.role + p.colour == code)
                .count()
        };
        board.count() <= MAX_PIECES as u32
            && board.pieces().all(|piece| piece.role <= KING / 2)
            && count(KING) == 1
            && count(KING + 1) == 1
            && self.ep_is_sound()
            && (0..4)
                .all(|right| self.castling >> right & 1 == 0 || self.right_is_sound(right, rooks))
    }

    /// Whether an enemy pawn has just passed the en passant square, if there is one.
    fn ep_is_sound(&self) -> bool {
        let (rank, pawn) = if self.black_to_move {
            (2, PAWN)
        } else {
            (5, PAWN | 1)
        };
        let passed = |ep: u8| {
            self.occupied >> ep & 1 == 0
                && self.occupied >> (ep ^ 8) & 1 == 1
                && self.piece(ep ^ 8) == pawn
        };
        self.ep == NO_EP || self.ep >> 3 == rank && passed(self.ep)
    }

    /// Whether king and rook of a castling right stand on their rank.
    fn right_is_sound(&self, right: usize, rooks: &CastlingRooks) -> bool {
        let (colour, rook) = (right as u8 / 2, rooks.squares[right]);
        let home = 0xFF << (56 * colour);
        let king = |square: u32| self.piece(square as u8) == KING | colour;
        self.occupied >> rook & 1 == 1
            && self.piece(rook) == ROOK | colour
            && Bitboard(self.occupied & home)
                .into_iter()
                .any(|square| king(square as u32))
    }
}
