//! The `.nnue` container: a header, free text, and little-endian parameters, each section preceded by a hash.
// CITE: Stockfish 12 and nnue-pytorch; written from the description of the format.

use super::architecture::{Architecture, Shape, own};
use super::error::NetError;
use super::reader::{self, ByteReader};
use super::version::{HEADER_SIZE, KNOWN_VERSIONS, VERSION_1, VERSION_OWN};
use crate::util::identity::Kind;

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
    let compressed = transformer.is_some_and(reader::is_compressed);
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
