//! Bit encoding of samples and moves, in both directions, and the streams of bits.

use anyhow::{Context, Result, ensure};

use super::packed_position::{CastlingRooks, PackedMove, PackedPosition};

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
pub fn put_move(bits: &mut BitWriter, position: &PackedPosition, rooks: &CastlingRooks, m: PackedMove) -> Result<()> {
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
pub fn take_move(bits: &mut BitReader, position: &PackedPosition, rooks: &CastlingRooks) -> Result<PackedMove> {
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
    if promotes { 4 * count } else { count + u32::from(PackedPosition::is_king(code)) }
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
