//! Why a file is not a network that we can run: one variant and one message per reason.

use std::io;

use thiserror::Error;

use super::version;

/// The reason why a network was refused.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum NetError {
    /// The file could not be read.
    #[error("cannot read the network: {0}")]
    Io(#[from] io::Error),
    /// The file is larger than any network; it was not read. Sizes in bytes.
    #[error("{size} bytes are more than any network has (limit {limit})")]
    TooLarge {
        /// Size of the file.
        size: u64,
        /// The largest size that is accepted.
        limit: u64,
    },
    /// Fewer bytes than the fixed part of the header.
    #[error("{}", version::too_short(*actual))]
    TooShort {
        /// Length of the file in bytes.
        actual: usize,
    },
    /// The first word is no known version.
    #[error("{}", version::unknown(*found))]
    WrongVersion {
        /// The version found.
        found: u32,
    },
    /// A known version, but of an architecture that is not (or not yet) supported.
    #[error(
        "unknown architecture: version {version:08X}, hash {file_hash:08X}, description {description:?}; \
         this engine runs {known}"
    )]
    UnknownArchitecture {
        /// The version found.
        version: u32,
        /// The hash of the whole architecture found.
        file_hash: u32,
        /// The beginning of the description.
        description: String,
        /// The architectures that are supported, by name.
        known: String,
    },
    /// A net of our own has a shape that is not supported.
    #[error("a net of Zoothera's own asks for {0}")]
    UnsupportedShape(UnsupportedShape),
    /// The version is right, but the hash of the whole architecture is not.
    #[error("wrong file hash {found:08X}, expected {expected:08X}")]
    WrongFileHash {
        /// The hash found.
        found: u32,
        /// The hash that the architecture has.
        expected: u32,
    },
    /// The hash before the feature transformer is wrong.
    #[error("wrong feature transformer hash {found:08X}, expected {expected:08X}")]
    WrongTransformerHash {
        /// The hash found.
        found: u32,
        /// The hash that the architecture has.
        expected: u32,
    },
    /// The hash before a stack of dense layers is wrong.
    #[error("wrong network hash {found:08X}, expected {expected:08X}")]
    WrongNetworkHash {
        /// The hash found.
        found: u32,
        /// The hash that the architecture has.
        expected: u32,
    },
    /// The description claims an absurd length.
    #[error("a description of {length} bytes is too long (limit {limit})")]
    DescriptionTooLong {
        /// The length claimed, in bytes.
        length: usize,
        /// The longest that is accepted.
        limit: usize,
    },
    /// A compressed block of the feature transformer is damaged.
    #[error("the compressed block of the {block} {fault}")]
    BadCompression {
        /// The block: biases, weights, or piece-square values.
        block: &'static str,
        /// What is wrong with it.
        fault: Fault,
    },
    /// The file ends too early.
    #[error("truncated: {actual} bytes, expected {expected}")]
    Truncated {
        /// The length that the header promises, in bytes.
        expected: usize,
        /// The length of the file.
        actual: usize,
    },
    /// The file goes on after the last parameter.
    #[error("{} trailing bytes: {actual} bytes, expected {expected}", .actual - .expected)]
    TrailingBytes {
        /// The length that the header promises, in bytes.
        expected: usize,
        /// The length of the file.
        actual: usize,
    },
}

/// A number of a net's shape for which there is no code in this binary.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{what} {found}; this engine runs {}", listed(supported))]
pub struct UnsupportedShape {
    /// Which number it is.
    pub what: &'static str,
    /// Its value.
    pub found: u32,
    /// The values that are supported beside the numbers before it.
    pub supported: Vec<u32>,
}

/// The text of [`NetError`] holds the reason. As its source too (by `#[from]`) the reason would be told twice.
impl From<UnsupportedShape> for NetError {
    fn from(reason: UnsupportedShape) -> Self {
        Self::UnsupportedShape(reason)
    }
}

/// What is wrong with a compressed block.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum Fault {
    /// The magic text is missing, although an earlier block was compressed.
    #[error("lacks the mark COMPRESSED_LEB128")]
    NoMagic,
    /// The block has fewer bytes than numbers.
    #[error("has fewer bytes than numbers")]
    TooShort,
    /// The block ends before its last number does.
    #[error("ends inside of its numbers")]
    EndsEarly,
    /// A number does not fit its type.
    #[error("holds a number that is too large")]
    OutOfRange,
    /// Bytes are left behind the last number.
    #[error("goes on behind its last number")]
    LeftOver,
}

/// The words as `1, 2 or 3`.
fn listed(words: &[impl ToString]) -> String {
    let words: Vec<String> = words.iter().map(ToString::to_string).collect();
    match words.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}
