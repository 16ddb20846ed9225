//! The `.nnue` container: a header, free text, and little-endian parameters behind hashes.

use super::architecture::{Architecture, Shape, VERSION_1, VERSION_2, VERSION_OWN};
use super::error::NetError;
use super::leb128;
use super::own::{self, Own};

/// Bytes before the description: version, file hash, and the description's length.
pub const HEADER_SIZE: usize = 12;
/// The longest description that we read, in bytes.
pub const MAX_DESCRIPTION: usize = 1 << 20;
/// The largest file that we read, in bytes: a few times the largest published network.
pub const MAX_FILE_SIZE: u64 = 512 << 20;

/// The versions of the published networks (SF12 and 13, then everything newer), and our own.
const KNOWN_VERSIONS: [u32; 3] = [VERSION_1, VERSION_2, VERSION_OWN];

/// Whether a file begins with a version that we know.
pub(super) const fn has_known_version(file: &[u8]) -> bool {
    let Some(word) = file.first_chunk() else {
        return false;
    };
    let version = u32::from_le_bytes(*word);
    let mut known = 0;
    while known < KNOWN_VERSIONS.len() {
        if KNOWN_VERSIONS[known] == version {
            return true;
        }
        known += 1;
    }
    false
}

/// The beginning of a network file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Header {
    /// Version of the format.
    pub version: u32,
    /// Hash of the whole architecture.
    pub file_hash: u32,
    /// Free text, any bytes.
    pub description: Vec<u8>,
}

impl Header {
    /// Reads a header, and says which architecture it announces.
    pub fn read(reader: &mut Reader<'_>) -> Result<(Self, Architecture), NetError> {
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
            return Err(NetError::DescriptionTooLong {
                length,
                limit: MAX_DESCRIPTION,
            });
        }
        let (description, behind) = reader.rest().split_at(length.min(reader.remaining()));
        let architecture = if version == VERSION_OWN {
            let Some(words) = behind.first_chunk() else {
                return Err(NetError::Truncated {
                    expected: HEADER_SIZE + length + 4 * own::WORDS,
                    actual: total,
                });
            };
            described(file_hash, words)?
        } else {
            recognise(version, file_hash, description)?
        };
        // Without compression everything has a fixed size; one check serves all the reads that follow.
        let shape = architecture.shape();
        let expected = shape.file_size(length);
        let transformer = behind.get(shape.words_size() + 4..);
        let compressed = transformer.is_some_and(leb128::is_next);
        if !compressed && total < expected {
            return Err(NetError::Truncated {
                expected,
                actual: total,
            });
        }
        let description = reader.take(length)?.to_vec();
        reader.take(shape.words_size())?;
        Ok((
            Self {
                version,
                file_hash,
                description,
            },
            architecture,
        ))
    }

    /// Appends the header to `out`. The words of a net of our own come behind it.
    pub fn write(&self, out: &mut Vec<u8>) {
        for word in [self.version, self.file_hash, self.description.len() as u32] {
            out.extend(word.to_le_bytes());
        }
        out.extend(&self.description);
    }
}

/// The architecture that the words behind a description describe; the hash must agree with them.
fn described(found: u32, words: &[u8; 4 * own::WORDS]) -> Result<Architecture, NetError> {
    let mut numbers = [0; own::WORDS];
    for (number, bytes) in numbers.iter_mut().zip(words.as_chunks().0) {
        *number = u32::from_le_bytes(*bytes);
    }
    let architecture = Architecture::Own(Own::from_words(numbers)?);
    match architecture.shape().file_hash() {
        expected if expected == found => Ok(architecture),
        expected => Err(NetError::WrongFileHash { found, expected }),
    }
}

/// The architecture with this version and hash.
fn recognise(version: u32, file_hash: u32, description: &[u8]) -> Result<Architecture, NetError> {
    let announced = |shape: Shape| shape.version == version && shape.file_hash() == file_hash;
    if let Some(found) = Architecture::all().find(|a| announced(a.shape())) {
        return Ok(found);
    }
    // The first version has one architecture only: the hash can be named as the thing that is wrong.
    if version == VERSION_1 {
        return Err(NetError::WrongFileHash {
            found: file_hash,
            expected: Architecture::HalfKp.shape().file_hash(),
        });
    }
    let shown = &description[..description.len().min(200)];
    let description = String::from_utf8_lossy(shown).into_owned();
    Err(NetError::UnknownArchitecture {
        version,
        file_hash,
        description,
    })
}

/// A cursor over the bytes of a file.
pub struct Reader<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl<'a> Reader<'a> {
    /// A cursor at the beginning.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, position: 0 }
    }

    /// What has not been read yet.
    pub fn rest(&self) -> &'a [u8] {
        &self.bytes[self.position..]
    }

    /// Bytes that have not been read yet.
    pub fn remaining(&self) -> usize {
        self.bytes.len() - self.position
    }

    /// The next `length` bytes.
    pub fn take(&mut self, length: usize) -> Result<&'a [u8], NetError> {
        let Some(taken) = self.rest().get(..length) else {
            let expected = self.position.saturating_add(length);
            return Err(NetError::Truncated {
                expected,
                actual: self.bytes.len(),
            });
        };
        self.position += length;
        Ok(taken)
    }

    /// The next four bytes.
    pub fn u32(&mut self) -> Result<u32, NetError> {
        let mut word = [0; 4];
        word.copy_from_slice(self.take(4)?);
        Ok(u32::from_le_bytes(word))
    }

    /// The next `count` 32-bit numbers.
    pub fn i32s(&mut self, count: usize) -> Result<Vec<i32>, NetError> {
        let (chunks, _) = self.take(4 * count)?.as_chunks();
        Ok(chunks
            .iter()
            .map(|&chunk| i32::from_le_bytes(chunk))
            .collect())
    }

    /// The next `count` 8-bit numbers.
    pub fn i8s(&mut self, count: usize) -> Result<Vec<i8>, NetError> {
        Ok(self.take(count)?.iter().map(|&byte| byte as i8).collect())
    }

    /// Refuses bytes after the end.
    pub fn finish(self) -> Result<(), NetError> {
        match self.remaining() {
            0 => Ok(()),
            _ => Err(NetError::TrailingBytes {
                expected: self.position,
                actual: self.bytes.len(),
            }),
        }
    }
}
