//! Cursor over the bytes of a network file, and its compressed blocks. All numbers are little-endian.

use super::error::{Fault, NetError};

/// A cursor over the bytes of a file.
pub struct ByteReader<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl<'a> ByteReader<'a> {
    /// A cursor at the beginning.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, position: 0 }
    }

    /// The bytes that have not been read yet.
    pub fn rest(&self) -> &'a [u8] {
        &self.bytes[self.position..]
    }

    /// Number of bytes that have not been read yet.
    pub fn remaining(&self) -> usize {
        self.bytes.len() - self.position
    }

    /// Reads `length` bytes. Fails if the file ends before.
    pub fn take(&mut self, length: usize) -> Result<&'a [u8], NetError> {
        let Some(taken) = self.rest().get(..length) else {
            let expected = self.position.saturating_add(length);
            return Err(NetError::Truncated { expected, actual: self.bytes.len() });
        };
        self.position += length;
        Ok(taken)
    }

    /// Reads a 32-bit number.
    pub fn u32(&mut self) -> Result<u32, NetError> {
        let mut word = [0; 4];
        word.copy_from_slice(self.take(4)?);
        Ok(u32::from_le_bytes(word))
    }

    /// Reads `count` 32-bit numbers.
    pub fn i32s(&mut self, count: usize) -> Result<Vec<i32>, NetError> {
        let (chunks, _) = self.take(4 * count)?.as_chunks();
        Ok(chunks.iter().map(|&chunk| i32::from_le_bytes(chunk)).collect())
    }

    /// Fails if bytes remain.
    pub fn finish(self) -> Result<(), NetError> {
        match self.remaining() {
            0 => Ok(()),
            _ => Err(NetError::TrailingBytes { expected: self.position, actual: self.bytes.len() }),
        }
    }
}

// Compressed blocks of parameters: a magic text, the length, and signed LEB128 with seven bits per byte.
//
// Most numbers in a transformer are small, so compression shrinks the file by about a third.

// CITE: Stockfish and nnue-pytorch (2023), with the magic text; LEB128 is DWARF's.

/// The magic text at the start of a compressed block.
const MAGIC: &[u8; 17] = b"COMPRESSED_LEB128";

/// Whether `bytes` start with a compressed block.
pub fn is_compressed(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// The contents of the next block, which must be long enough for `count` numbers.
///
/// Call this before allocating memory for the numbers: the check bounds the allocation by the length of the file.
pub(super) fn compressed_block<'a>(
    reader: &mut ByteReader<'a>,
    name: &'static str,
    count: usize,
) -> Result<&'a [u8], NetError> {
    let fail = |fault| Err(NetError::BadCompression { block: name, fault });
    if !is_compressed(reader.rest()) {
        return fail(Fault::NoMagic);
    }
    reader.take(MAGIC.len())?;
    let length = reader.u32()? as usize;
    let bytes = reader.take(length)?;
    if bytes.len() < count {
        return fail(Fault::TooShort);
    }
    Ok(bytes)
}

/// Fills `out` with the numbers in `bytes`.
pub fn decompress<T: TryFrom<i64>>(bytes: &[u8], out: &mut [T]) -> Result<(), Fault> {
    let mut rest = bytes.iter();
    for to in out {
        let number = next(&mut rest)?;
        *to = T::try_from(number).map_err(|_| Fault::OutOfRange)?;
    }
    match rest.next() {
        None => Ok(()),
        Some(_) => Err(Fault::LeftOver),
    }
}

/// Decodes the next number. Fails with [`Fault::OutOfRange`] if it exceeds 35 bits (five bytes).
#[inline]
fn next(bytes: &mut std::slice::Iter<'_, u8>) -> Result<i64, Fault> {
    let mut number = 0;
    for shift in [0, 7, 14, 21, 28] {
        let byte = *bytes.next().ok_or(Fault::EndsEarly)?;
        number |= i64::from(byte & 0x7F) << shift;
        if byte & 0x80 == 0 {
            // The highest of the seven bits is the sign bit.
            let unused = 64 - 7 - shift;
            return Ok(number << unused >> unused);
        }
    }
    Err(Fault::OutOfRange)
}

/// Appends a block with `numbers`, each in the minimum number of bytes.
pub fn compress(numbers: impl IntoIterator<Item = i32>, out: &mut Vec<u8>) {
    out.extend(MAGIC);
    let length_at = out.len();
    out.extend([0; 4]);
    for mut number in numbers {
        while !(-64..64).contains(&number) {
            out.push(number as u8 & 0x7F | 0x80);
            number >>= 7;
        }
        out.push(number as u8 & 0x7F);
    }
    let length = (out.len() - length_at - 4) as u32;
    out[length_at..length_at + 4].copy_from_slice(&length.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compression_round_trips_in_minimal_length() {
        let one_byte = [0, 1, -1, 63, -64];
        let two_bytes = [64, -65, 127, 8191, -8192];
        let three_bytes = [8192, -8193, 32767, -32768];
        let five_bytes = [i32::MAX, i32::MIN];
        let numbers = [&one_byte[..], &two_bytes, &three_bytes, &five_bytes].concat();
        let mut block = Vec::new();
        compress(numbers.iter().copied(), &mut block);
        let bytes = &block[MAGIC.len() + 4..];
        assert_eq!(bytes.len(), 5 + 2 * 5 + 3 * 4 + 5 * 2);
        let mut decoded = vec![0i32; numbers.len()];
        assert_eq!(decompress(bytes, &mut decoded), Ok(()));
        assert_eq!(decoded, numbers);
    }

    #[test]
    fn decompression_reports_each_fault() {
        let mut one = [0i16];
        assert_eq!(decompress(&[0x7F], &mut one), Ok(()));
        assert_eq!(one, [-1]);
        assert_eq!(decompress(&[0x80], &mut one), Err(Fault::EndsEarly));
        assert_eq!(decompress(&[1, 1], &mut one), Err(Fault::LeftOver));
        assert_eq!(decompress(&[0xFF, 0xFF, 1], &mut one), Ok(()));
        assert_eq!(decompress(&[0x80, 0x80, 2], &mut one), Err(Fault::OutOfRange));
        assert_eq!(decompress(&[0x80; 9], &mut one), Err(Fault::OutOfRange));
    }
}
