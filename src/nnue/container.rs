//! The `.nnue` container: a header, free text, and little-endian parameters, each section preceded by a hash.
// CITE: Stockfish 12 and nnue-pytorch; written from the description of the format.

use super::architecture::{Architecture, Shape, own};
use super::error::{Fault, NetError};
use super::version::{HEADER_SIZE, KNOWN_VERSIONS, VERSION_1, VERSION_OWN};
use crate::util::files::Kind;

/// Maximum accepted length of the description, in bytes.
const MAX_DESCRIPTION: usize = 1 << 20;

/// The file kind "network": an output network may overwrite only files of this kind.
pub const KIND: Kind = Kind {
    name: "a network",
    is: |head| {
        let version = head.first_chunk().map(|bytes| u32::from_le_bytes(*bytes));
        version.is_some_and(|version| KNOWN_VERSIONS.contains(&version))
    },
};

/// Size in bytes of an uncompressed file with a description of `description` bytes.
pub(super) fn file_size(shape: &Shape, description: usize) -> usize {
    let header = HEADER_SIZE + description + words_size(shape);
    header + 4 + shape.transformer_size() + shape.stacks_size()
}

/// Size in bytes of the shape words after the description, which only files of our own version have, and of the table
/// of king buckets after them.
fn words_size(shape: &Shape) -> usize {
    let table = if shape.features.table().is_some() { own::TABLE_SIZE } else { 0 };
    if shape.version == VERSION_OWN { 4 * own::WORDS + table } else { 0 }
}

/// Reads everything before the feature transformer's hash. Returns the architecture and the description (any bytes).
pub(super) fn read_header(reader: &mut ByteReader<'_>) -> Result<(Architecture, Vec<u8>), NetError> {
    let total = reader.remaining();
    if total < HEADER_SIZE {
        return Err(NetError::TooShort { actual: total });
    }
    let (version, file_hash) = (reader.u32()?, reader.u32()?);
    let length = reader.u32()? as usize;
    if !KNOWN_VERSIONS.contains(&version) {
        return Err(NetError::WrongVersion { found: version });
    }
    if length > MAX_DESCRIPTION {
        return Err(NetError::DescriptionTooLong { length, limit: MAX_DESCRIPTION });
    }
    let (description, after) = reader.rest().split_at(length.min(reader.remaining()));
    let architecture = if version == VERSION_OWN {
        let truncated = |size| NetError::Truncated { expected: HEADER_SIZE + length + size, actual: total };
        let (words, rest) = after.split_first_chunk().ok_or(truncated(4 * own::WORDS))?;
        let (words, table) = (words_of(words), rest.first_chunk());
        if own::has_table(&words) && table.is_none() {
            return Err(truncated(4 * own::WORDS + own::TABLE_SIZE));
        }
        architecture_of_words(file_hash, words, table)?
    } else {
        recognise(version, file_hash, description, after)?
    };
    // Without compression every section has a fixed size, so one check covers all reads below.
    let expected = file_size(&architecture, length);
    let transformer = after.get(words_size(&architecture) + 4..);
    let compressed = transformer.is_some_and(is_compressed);
    if !compressed && total < expected {
        return Err(NetError::Truncated { expected, actual: total });
    }
    let description = reader.take(length)?.to_vec();
    reader.take(words_size(&architecture))?;
    Ok((architecture, description))
}

/// Appends the header in the format of [`read_header`].
pub(super) fn write_header(shape: &Shape, description: &[u8], out: &mut Vec<u8>) {
    for word in [shape.version, shape.file_hash(), description.len() as u32] {
        out.extend(word.to_le_bytes());
    }
    out.extend(description);
    if shape.version == VERSION_OWN {
        out.extend(own::words(shape).into_iter().flat_map(u32::to_le_bytes));
        out.extend(shape.features.table().into_iter().flatten());
    }
}

/// The shape words after the description.
fn words_of(bytes: &[u8; 4 * own::WORDS]) -> [u32; own::WORDS] {
    let mut words = [0; own::WORDS];
    words.iter_mut().zip(bytes.as_chunks().0).for_each(|(word, bytes)| *word = u32::from_le_bytes(*bytes));
    words
}

/// The architecture given by the shape words, and by the table after them if they have one. Fails if it is unsupported,
/// or if its hash is not `found`.
fn architecture_of_words(
    found: u32,
    words: [u32; own::WORDS],
    table: Option<&[u8; own::TABLE_SIZE]>,
) -> Result<Architecture, NetError> {
    let architecture = match table {
        Some(table) if own::has_table(&words) => {
            Architecture::from_words(own::without_table(words))?.with_king_table(table).map_err(NetError::KingTable)?
        }
        _ => Architecture::from_words(words)?,
    };
    match architecture.file_hash() {
        expected if expected == found => Ok(architecture),
        expected => Err(NetError::WrongFileHash { found, expected }),
    }
}

/// The published architecture, of any width, with this version and hash. `after` begins with the transformer's hash.
fn recognise(version: u32, file_hash: u32, description: &[u8], after: &[u8]) -> Result<Architecture, NetError> {
    let transformer_hash = after.first_chunk().map(|bytes| u32::from_le_bytes(*bytes));
    if let Some(found) = Architecture::of_header(version, file_hash, transformer_hash) {
        return Ok(found);
    }
    // The first version has only one architecture, so the hash must be wrong.
    if version == VERSION_1 {
        return Err(NetError::WrongFileHash { found: file_hash, expected: Architecture::HALF_KP.file_hash() });
    }
    let shown = &description[..description.len().min(200)];
    let description = String::from_utf8_lossy(shown).into_owned();
    Err(NetError::UnknownArchitecture { version, file_hash, description, known: Architecture::all_names() })
}

// The bytes of a file: a cursor over them, and compressed blocks.

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
