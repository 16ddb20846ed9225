//! Cursor over the bytes of a network file. All numbers are little-endian.

use super::error::NetError;

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
