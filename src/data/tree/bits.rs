//! Streams of bits, least significant first.

/// Most bits that are put or taken at once.
pub const MOST: u32 = 32;
/// Bytes that must follow a stream, so that reading ahead stays inside.
pub const PADDING: usize = 16;

/// Puts bits one after the other.
#[derive(Default)]
pub struct BitWriter {
    bytes: Vec<u8>,
    /// Bits that are not in `bytes` yet: fewer than eight.
    open: u64,
    count: u32,
}

impl BitWriter {
    /// Puts the low `count` bits of `bits`, at most [`MOST`]; those above must be zero.
    #[inline]
    pub fn put(&mut self, bits: u64, count: u32) {
        debug_assert!(count <= MOST && bits >> count == 0);
        self.open |= bits << self.count;
        self.count += count;
        while self.count >= 8 {
            self.bytes.push(self.open as u8);
            self.open >>= 8;
            self.count -= 8;
        }
    }

    /// Whole bytes so far.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// The stream, filled up with zeros to a whole byte.
    pub fn finish(mut self) -> Vec<u8> {
        if self.count > 0 {
            self.bytes.push(self.open as u8);
        }
        self.bytes
    }
}

/// Takes bits one after the other, and zeros after the end.
pub struct BitReader<'a> {
    bytes: &'a [u8],
    /// Bits taken.
    at: usize,
    /// Bits there are.
    end: usize,
}

impl<'a> BitReader<'a> {
    /// Reads `bytes` but the last [`PADDING`], which must be zeros.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            at: 0,
            end: 8 * bytes.len().saturating_sub(PADDING),
        }
    }

    /// At least 56 of the bits that come next.
    #[inline]
    pub fn peek(&self) -> u64 {
        let bytes = self.bytes.get(self.at / 8..).and_then(|b| b.first_chunk());
        bytes.map_or(0, |b| u64::from_le_bytes(*b)) >> (self.at % 8)
    }

    /// Goes past bits that were looked at.
    #[inline]
    pub fn skip(&mut self, count: u32) {
        self.at += count as usize;
    }

    /// Takes at most [`MOST`] bits.
    #[inline]
    pub fn take(&mut self, count: u32) -> u64 {
        let bits = self.peek() & ((1 << count) - 1);
        self.skip(count);
        bits
    }

    /// Whether more was taken than there is.
    #[inline]
    pub fn is_beyond_end(&self) -> bool {
        self.at > self.end
    }

    /// Whether all was taken, but for bits that fill up the last byte.
    pub fn is_at_end(&self) -> bool {
        self.at <= self.end && self.end - self.at < 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::util::rng::SplitMix64;

    #[test]
    fn bits_come_back() {
        let mut rng = SplitMix64::new(1);
        let pieces: Vec<_> = (0..10_000)
            .map(|_| {
                let count = rng.below(MOST as usize + 1) as u32;
                (rng.next_u64() & ((1 << count) - 1), count)
            })
            .collect();
        let mut writer = BitWriter::default();
        pieces
            .iter()
            .for_each(|&(bits, count)| writer.put(bits, count));
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
