//! Bit streams, least significant bit first.

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
