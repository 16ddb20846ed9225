//! Errors of reading a network file: one variant and one message per cause.

use std::io;

use thiserror::Error;

use super::features::BadTable;
use super::version;

/// The reason why a network was rejected.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum NetError {
    /// The file could not be read.
    #[error("cannot read the network: {0}")]
    Io(#[from] io::Error),
    /// The file is larger than any network and was not parsed. Sizes in bytes.
    #[error("a file of {size} bytes is too large for a network (limit {limit})")]
    TooLarge {
        /// Size of the file.
        size: u64,
        /// Maximum accepted size.
        limit: u64,
    },
    /// The file is shorter than the fixed part of the header.
    #[error("{}", version::too_short(*actual))]
    TooShort {
        /// Length of the file in bytes.
        actual: usize,
    },
    /// The first word is not a known version.
    #[error("{}", version::unknown(*found))]
    WrongVersion {
        /// The version found.
        found: u32,
    },
    /// A known version with an architecture that is not supported.
    #[error(
        "unknown architecture: version {version:08X}, hash {file_hash:08X}, description {description:?}; \
         this engine supports {known}"
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
    /// A file in Zoothera's own format has a shape that is not supported.
    #[error("unsupported shape of network: {0}")]
    UnsupportedShape(UnsupportedShape),
    /// A file in Zoothera's own format has an impossible table of king buckets.
    #[error("wrong table of king buckets: {0}")]
    KingTable(BadTable),
    /// The version is correct, but the hash of the whole architecture is wrong.
    #[error("wrong file hash {found:08X}, expected {expected:08X}")]
    WrongFileHash {
        /// The hash found.
        found: u32,
        /// The hash of the architecture.
        expected: u32,
    },
    /// The hash before the feature transformer is wrong.
    #[error("wrong feature transformer hash {found:08X}, expected {expected:08X}")]
    WrongTransformerHash {
        /// The hash found.
        found: u32,
        /// The hash of the architecture.
        expected: u32,
    },
    /// The hash before a stack of dense layers is wrong.
    #[error("wrong network hash {found:08X}, expected {expected:08X}")]
    WrongNetworkHash {
        /// The hash found.
        found: u32,
        /// The hash of the architecture.
        expected: u32,
    },
    /// The header gives an excessive length for the description. Lengths in bytes.
    #[error("a description of {length} bytes is too long (limit {limit})")]
    DescriptionTooLong {
        /// The length in the header.
        length: usize,
        /// Maximum accepted length.
        limit: usize,
    },
    /// A compressed block of the feature transformer is damaged.
    #[error("the compressed block of the {block} {fault}")]
    BadCompression {
        /// The block: biases, weights, or piece-square values.
        block: &'static str,
        /// The fault in the block.
        fault: Fault,
    },
    /// The file ends too early.
    #[error("truncated: {actual} bytes, expected {expected}")]
    Truncated {
        /// The length implied by the header, in bytes.
        expected: usize,
        /// The length of the file, in bytes.
        actual: usize,
    },
    /// The file has bytes after the last parameter.
    #[error("{} trailing bytes: {actual} bytes, expected {expected}", .actual - .expected)]
    TrailingBytes {
        /// The length implied by the header, in bytes.
        expected: usize,
        /// The length of the file, in bytes.
        actual: usize,
    },
}

/// A number in a net's shape that this binary has no code for.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{what} {found}; this engine supports {}", listed(supported))]
pub struct UnsupportedShape {
    /// The name of the number.
    pub what: &'static str,
    /// The value found.
    pub found: u32,
    /// The values that are supported together with the numbers before this one.
    pub supported: Vec<u32>,
}

/// Not derived by `#[from]`: the text of [`NetError`] already contains the reason, and an error chain would repeat it.
impl From<UnsupportedShape> for NetError {
    fn from(reason: UnsupportedShape) -> Self {
        Self::UnsupportedShape(reason)
    }
}

/// A fault in a compressed block.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum Fault {
    /// The magic text is missing, although an earlier block was compressed.
    #[error("lacks the magic text COMPRESSED_LEB128")]
    NoMagic,
    /// The block has fewer bytes than numbers.
    #[error("has fewer bytes than numbers")]
    TooShort,
    /// The block ends before its last number does.
    #[error("ends before its last number")]
    EndsEarly,
    /// A number does not fit its type.
    #[error("contains a number that is out of range")]
    OutOfRange,
    /// Bytes remain after the last number.
    #[error("has bytes after its last number")]
    LeftOver,
}

/// Joins the numbers as `1, 2 or 3`, as `1 to 16`, or as `multiples of 32 up to 3072`.
fn listed(numbers: &[u32]) -> String {
    let is_multiple = |(&number, factor): (&u32, u32)| number == numbers[0] * factor;
    if numbers.len() > 8 && numbers.iter().zip(1..).all(is_multiple) {
        if numbers[0] == 1 {
            return format!("1 to {}", numbers.len());
        }
        return format!("multiples of {} up to {}", numbers[0], numbers[numbers.len() - 1]);
    }
    let words: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    match words.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}
