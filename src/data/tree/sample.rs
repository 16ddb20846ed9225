//! Bit encoding of samples and moves, in both directions, the streams of bits, and the position that they change.

use anyhow::{Context, Result, ensure};
use shakmaty::{Bitboard, Color, Square};

use crate::board::attacks;
use crate::data::entry::Entry;
use crate::data::entry::{MAX_PIECES, PackedBoard};

/// Number of low bits of the number of moves to undo that are written unencoded.
const POP_BITS: u32 = 1;
/// Number of low bits of the number of moves to make that are written unencoded.
const PUSH_BITS: u32 = 1;
/// Number of low bits of the score difference that are written unencoded; half of the differences fit into them.
const SCORE_BITS: u32 = 9;
/// Largest exponent of a number.
const MAX_EXPONENT: u32 = 14;

/// A sample without its moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleHead {
    /// Number of moves to undo.
    pub pops: u32,
    /// Number of moves to make.
    pub pushes: u32,
    /// Difference from the previous sample's score, from White's view.
    pub score: i32,
}

impl SampleHead {
    /// Writes the head.
    pub fn write(&self, bits: &mut BitWriter) {
        put_number(bits, self.pops, POP_BITS);
        put_number(bits, self.pushes, PUSH_BITS);
        put_number(bits, (self.score << 1 ^ self.score >> 31) as u32, SCORE_BITS);
    }

    /// Reads a head.
    ///
    /// # Errors
    /// Fails if a number is too large.
    #[inline]
    pub fn read(bits: &mut BitReader) -> Result<Self> {
        let pops = take_number(bits, POP_BITS)?;
        let pushes = take_number(bits, PUSH_BITS)?;
        let score = take_number(bits, SCORE_BITS)?;
        Ok(Self { pops, pushes, score: (score >> 1) as i32 ^ -((score & 1) as i32) })
    }
}

/// Writes a number in an exponential Golomb code, in which small numbers are short: with `high = (number >> low) + 1`,
/// as many zeros as `high` has bits after its leading one, a one, these bits, and the `low` low bits of the number.
fn put_number(bits: &mut BitWriter, number: u32, low: u32) {
    let high = (number >> low) + 1;
    let exponent = high.ilog2();
    bits.put(1 << exponent, exponent + 1);
    bits.put(u64::from(high ^ 1 << exponent), exponent);
    bits.put(u64::from(number & ((1 << low) - 1)), low);
}

/// Reads a number that [`put_number`] wrote.
#[inline]
fn take_number(bits: &mut BitReader, low: u32) -> Result<u32> {
    let next = bits.peek();
    let exponent = next.trailing_zeros();
    ensure!(exponent <= MAX_EXPONENT, "a number is too large");
    let next = next >> (exponent + 1);
    let high = next as u32 & ((1 << exponent) - 1) | 1 << exponent;
    let number = (high - 1) << low | (next >> exponent) as u32 & ((1 << low) - 1);
    bits.skip(2 * exponent + 1 + low);
    Ok(number)
}

/// Number of bits needed to distinguish `count` values.
#[inline]
fn width(count: u32) -> u32 {
    u32::BITS - count.saturating_sub(1).leading_zeros()
}

/// Writes a move as the index of the piece and the index of its target. A null move is an extra target of the king.
///
/// # Errors
/// Fails if the move is impossible in the position.
pub fn put_move(bits: &mut BitWriter, position: &TreePosition, rooks: &CastlingRooks, m: PackedMove) -> Result<()> {
    let own = position.own();
    let from = if m == 0 { position.king() } else { m as u8 & 63 };
    let to = (m >> 6) as u8 & 63;
    ensure!(own >> from & 1 == 1, "a move from a square without a piece of the side to move");
    let code = position.piece(from);
    let targets = position.targets(code, from, rooks);
    ensure!(m == 0 || targets >> to & 1 == 1, "a move to a square that the piece cannot reach");
    let promotes = position.promotes(code, from);
    let choices = choices(targets, code, promotes);
    let choice = match (m, promotes) {
        (0, _) => targets.count_ones(),
        (_, false) => below(targets, to),
        (_, true) => 4 * below(targets, to) + u32::from((m >> 12).clamp(1, 4) - 1),
    };
    bits.put(below(own, from).into(), width(own.count_ones()));
    bits.put(choice.into(), width(choices));
    Ok(())
}

/// Reads a move.
///
/// # Errors
/// Fails if the index of the piece or of the target is out of range.
#[inline]
pub fn take_move(bits: &mut BitReader, position: &TreePosition, rooks: &CastlingRooks) -> Result<PackedMove> {
    let own = position.own();
    let piece = bits.take(width(own.count_ones())) as u32;
    let from = nth(own, piece).context("a move from a square without a piece of the side to move")?;
    let code = position.piece(from);
    let targets = position.targets(code, from, rooks);
    let promotes = position.promotes(code, from);
    let choices = choices(targets, code, promotes);
    let choice = bits.take(width(choices)) as u32;
    ensure!(choice < choices, "a move to a square that the piece cannot reach");
    let (target, promotion) = if promotes { (choice / 4, choice as u16 % 4 + 1) } else { (choice, 0) };
    let Some(to) = nth(targets, target) else {
        return Ok(0); // The extra target of the king: a null move.
    };
    Ok(u16::from(from) | u16::from(to) << 6 | promotion << 12)
}

/// Number of moves of a piece: one per target, four if it promotes, and an extra one for a king.
#[inline]
fn choices(targets: u64, code: u8, promotes: bool) -> u32 {
    let count = targets.count_ones();
    if promotes { 4 * count } else { count + u32::from(TreePosition::is_king(code)) }
}

/// Number of squares in a set below `square`.
#[inline]
fn below(set: u64, square: u8) -> u32 {
    (set & ((1 << square) - 1)).count_ones()
}

/// The square of a set with `number` squares of the set below it.
#[inline]
fn nth(mut set: u64, number: u32) -> Option<u8> {
    for _ in 0..number {
        set &= set.wrapping_sub(1);
    }
    (set != 0).then_some(set.trailing_zeros() as u8)
}

// Bit streams, least significant bit first.

/// Largest number of bits per `put` or `take`.
pub const MAX_BITS: u32 = 32;
/// Number of zero bytes that must follow a stream, so that reading ahead stays in bounds.
pub const PADDING: usize = 16;

/// Writer of a bit stream.
#[derive(Default)]
pub struct BitWriter {
    bytes: Vec<u8>,
    /// Bits not yet in `bytes`, fewer than eight, and their number.
    open: u64,
    count: u32,
}

impl BitWriter {
    /// Appends the low `count` bits of `bits`, at most [`MAX_BITS`]; the higher bits must be zero.
    #[inline]
    pub fn put(&mut self, bits: u64, count: u32) {
        debug_assert!(count <= MAX_BITS && bits >> count == 0);
        self.open |= bits << self.count;
        self.count += count;
        while self.count >= 8 {
            self.bytes.push(self.open as u8);
            self.open >>= 8;
            self.count -= 8;
        }
    }

    /// Number of whole bytes so far.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns the stream, padded with zeros to a whole byte.
    pub fn finish(mut self) -> Vec<u8> {
        if self.count > 0 {
            self.bytes.push(self.open as u8);
        }
        self.bytes
    }
}

/// Reader of a bit stream; yields zeros after the end.
pub struct BitReader<'a> {
    bytes: &'a [u8],
    /// Number of bits taken.
    at: usize,
    /// Number of bits in the stream.
    end: usize,
}

impl<'a> BitReader<'a> {
    /// Creates a reader of `bytes` without the last [`PADDING`] bytes, which must be zeros.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, end: 8 * bytes.len().saturating_sub(PADDING) }
    }

    /// Returns at least the next 56 bits without consuming them.
    #[inline]
    pub fn peek(&self) -> u64 {
        let bytes = self.bytes.get(self.at / 8..).and_then(|b| b.first_chunk());
        bytes.map_or(0, |b| u64::from_le_bytes(*b)) >> (self.at % 8)
    }

    /// Consumes `count` bits.
    #[inline]
    pub fn skip(&mut self, count: u32) {
        self.at += count as usize;
    }

    /// Consumes and returns `count` bits, at most [`MAX_BITS`].
    #[inline]
    pub fn take(&mut self, count: u32) -> u64 {
        let bits = self.peek() & ((1 << count) - 1);
        self.skip(count);
        bits
    }

    /// Whether more bits were consumed than the stream has.
    #[inline]
    pub fn is_beyond_end(&self) -> bool {
        self.at > self.end
    }

    /// Whether all bits were consumed, except for the padding of the last byte.
    pub fn is_at_end(&self) -> bool {
        self.at <= self.end && self.end - self.at < 8
    }
}

// Position for encoding and decoding trees: a packed board that is updated in place.
//
// Decoding makes a few moves per sample. A move must be cheap, and the position must be usable as a record without
// conversion. The board therefore has the layout of a record: removing a piece closes a gap among the nibbles, adding
// one opens a gap. Only the pseudo-legal moves of a single piece are generated, for numbering them.

/// Piece codes without the colour: 2 * role.
const PAWN: u8 = 0;
const ROOK: u8 = 6;
const KING: u8 = 10;
/// Code of a missing en passant square.
pub const NO_EP: u8 = 64;

/// A move in 16 bits, as in [`crate::board::Move`]; 0 is a null move.
pub type PackedMove = u16;

/// Origin square, target square and promotion code (knight 1 to queen 4, none 0) of a move.
#[inline]
fn parts(m: PackedMove) -> (u8, u8, u8) {
    (m as u8 & 63, (m >> 6) as u8 & 63, (m >> 12) as u8)
}

/// Castling rooks, which are the same for all moves of a tree.
#[derive(Clone, Copy, Debug)]
pub struct CastlingRooks {
    /// Squares of the rooks, K Q k q.
    pub squares: [u8; 4],
    /// For each right, the set of its king and rook squares. A move from or to one of them removes the right.
    guards: [u64; 4],
}

impl CastlingRooks {
    /// The castling rooks of a tree whose root has this board; `squares` are their squares, K Q k q.
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

    /// Mask of the rights that remain after a move from and to the squares in `touched`.
    #[inline]
    fn kept(&self, touched: u64) -> u8 {
        let ended = |i: usize| u8::from(self.guards[i] & touched != 0) << i;
        !(ended(0) | ended(1) | ended(2) | ended(3))
    }
}

/// A position whose pieces are packed as in a record.
#[derive(Clone, Copy, Debug)]
pub struct TreePosition {
    /// Occupied squares.
    occupied: u64,
    /// Squares occupied by black pieces.
    black: u64,
    /// Codes of the pieces, in the order of their squares.
    nibbles: u128,
    black_to_move: bool,
    /// Castling rights as bits 0 to 3: K, Q, k, q.
    castling: u8,
    /// En passant square, [`NO_EP`] for none.
    ep: u8,
    rule50: u8,
}

/// State of a position other than its pieces.
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

impl TreePosition {
    /// Creates a position from its pieces and the other state.
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

    /// Creates a labelled entry of the position.
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
            score_alone: true,
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
        if self.black_to_move { self.black } else { self.occupied & !self.black }
    }

    /// The square of the side to move's king.
    pub fn king(&self) -> u8 {
        let mut squares = Bitboard(self.own()).into_iter().map(u8::from);
        squares.find(|&square| Self::is_king(self.piece(square))).unwrap_or(0)
    }

    /// Bit offset of the nibble of the piece on `square`, or of one that is added there.
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

    /// Whether `code` is a king's.
    #[inline]
    pub fn is_king(code: u8) -> bool {
        code >> 1 == KING >> 1
    }

    /// Whether a piece with this code on `from` is a pawn of the side to move, one rank before promotion.
    #[inline]
    pub fn promotes(&self, code: u8, from: u8) -> bool {
        code >> 1 == PAWN && from >> 3 == if self.black_to_move { 1 } else { 6 }
    }

    /// Target squares of the side to move's piece on `from`: a superset of the targets of its legal moves. Castling is
    /// king to rook.
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

    /// Target squares of a pawn of the side to move: pushes and captures.
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
        let capturable = self.occupied & !self.own() | 1_u64.checked_shl(self.ep.into()).unwrap_or(0);
        one | two | attacks::pawn_attacks(color, Square::new(from.into())).0 & capturable
    }

    /// Squares of the rooks with which the side to move has castling rights.
    #[inline]
    fn castling_targets(&self, rooks: &CastlingRooks) -> u64 {
        let first = 2 * usize::from(self.black_to_move);
        let rights = self.castling >> first;
        u64::from(rights & 1) << rooks.squares[first] | u64::from(rights >> 1 & 1) << rooks.squares[first + 1]
    }

    /// Removes the piece on an occupied square.
    #[inline]
    fn remove(&mut self, square: u8) {
        let below = (1 << self.shift(square)) - 1;
        self.nibbles = self.nibbles & below | self.nibbles >> 4 & !below;
        self.occupied &= !(1 << square);
        self.black &= !(1 << square);
    }

    /// Adds a piece on an empty square.
    #[inline]
    fn put(&mut self, square: u8, code: u8) {
        let shift = self.shift(square);
        let below = (1 << shift) - 1;
        self.nibbles = self.nibbles & below | u128::from(code) << shift | (self.nibbles & !below) << 4;
        self.occupied |= 1 << square;
        self.black |= u64::from(code & 1) << square;
    }

    /// Returns the position after a move to a target of the moved piece, or after a null move. Returns `None` if the
    /// move captures a king or castles onto an occupied square.
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
        let lands = if promotion == 0 { code } else { (2 * promotion) | code & 1 };
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

    /// Castles: removes king and rook before placing them, because in Chess960 their squares may overlap. Returns
    /// `false` if a target square is occupied.
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

    /// Sets the en passant square `passed` after a double push by `colour` if an enemy pawn attacks it.
    #[inline]
    fn set_en_passant(&mut self, passed: u8, colour: u8) {
        let color = Color::from_white(colour == 0);
        let attackers = attacks::pawn_attacks(color, Square::new(passed.into())).0 & self.own();
        let is_pawn = |square: u32| self.piece(square as u8) >> 1 == PAWN;
        if Bitboard(attackers).into_iter().any(|square| is_pawn(square as u32)) {
            self.ep = passed;
        }
    }

    /// Whether the position is valid: one king of each colour, only valid piece codes, and the pieces that the castling
    /// rights and the en passant square require.
    pub fn is_valid(&self, rooks: &CastlingRooks) -> bool {
        let board = PackedBoard::from_nibbles(self.occupied, self.nibbles);
        let count = |code| board.pieces().filter(|p| 2 * p.role + p.colour == code).count();
        board.count() <= MAX_PIECES as u32
            && board.pieces().all(|piece| piece.role <= KING / 2)
            && count(KING) == 1
            && count(KING + 1) == 1
            && self.ep_is_valid()
            && (0..4).all(|right| self.castling >> right & 1 == 0 || self.right_is_valid(right, rooks))
    }

    /// Whether the en passant square, if set, is empty with an enemy pawn just past it.
    fn ep_is_valid(&self) -> bool {
        let (rank, pawn) = if self.black_to_move { (2, PAWN) } else { (5, PAWN | 1) };
        let passed =
            |ep: u8| self.occupied >> ep & 1 == 0 && self.occupied >> (ep ^ 8) & 1 == 1 && self.piece(ep ^ 8) == pawn;
        self.ep == NO_EP || self.ep >> 3 == rank && passed(self.ep)
    }

    /// Whether king and rook of a castling right are on their back rank.
    fn right_is_valid(&self, right: usize, rooks: &CastlingRooks) -> bool {
        let (colour, rook) = (right as u8 / 2, rooks.squares[right]);
        let home = 0xFF << (56 * colour);
        let king = |square: u32| self.piece(square as u8) == KING | colour;
        self.occupied >> rook & 1 == 1
            && self.piece(rook) == ROOK | colour
            && Bitboard(self.occupied & home).into_iter().any(|square| king(square as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_round_trip() {
        let heads = [0, 1, 2, 3, 7, 100, 3000].map(|n: u32| SampleHead {
            pops: n,
            pushes: 3 * n,
            score: n.pow(2).min(65_535) as i32 * if n < 7 { 1 } else { -1 },
        });
        let mut writer = BitWriter::default();
        heads.iter().for_each(|head| head.write(&mut writer));
        let mut bytes = writer.finish();
        bytes.extend([0; PADDING]);
        let mut reader = BitReader::new(&bytes);
        for head in heads {
            assert_eq!(SampleHead::read(&mut reader).ok(), Some(head));
        }
        assert!(reader.is_at_end());
        assert!(SampleHead::read(&mut reader).is_err());
    }

    #[test]
    fn width_and_square_index_match_hand_computed_values() {
        assert_eq!([0, 1, 2, 3, 4, 5, 16, 17].map(width), [0, 0, 1, 2, 2, 3, 4, 5]);
        let set = 0b1011_0000;
        for (number, square) in [4, 5, 7].into_iter().enumerate() {
            assert_eq!(nth(set, number as u32), Some(square));
            assert_eq!(below(set, square), number as u32);
        }
        assert_eq!(nth(set, 3), None);
        assert_eq!(nth(0, 9), None);
    }
}

#[cfg(test)]
mod bits_tests {
    use super::*;
    use crate::util::rng::SplitMix64;

    #[test]
    fn bits_round_trip() {
        let mut rng = SplitMix64::new(1);
        let pieces: Vec<_> = (0..10_000)
            .map(|_| {
                let count = rng.below(MAX_BITS as usize + 1) as u32;
                (rng.next_u64() & ((1 << count) - 1), count)
            })
            .collect();
        let mut writer = BitWriter::default();
        pieces.iter().for_each(|&(bits, count)| writer.put(bits, count));
        let mut bytes = writer.finish();
        bytes.extend([0; PADDING]);
        let mut reader = BitReader::new(&bytes);
        for (bits, count) in pieces {
            assert!(!reader.is_at_end() || count < 8);
            assert_eq!(reader.take(count), bits);
        }
        assert!(reader.is_at_end() && !reader.is_beyond_end());
        assert_eq!(reader.take(32), 0);
        assert!(reader.is_beyond_end());
        reader.skip(1_000_000);
        assert_eq!(reader.take(32), 0);
    }
}
