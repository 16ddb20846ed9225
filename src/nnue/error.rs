//! Why a file is not a network that we can run: one variant and one message per reason.

use std::{fmt, io};

use super::leb128::Fault;
use super::own;

/// The reason why a network was refused.
#[derive(Debug)]
#[non_exhaustive]
pub enum NetError {
    /// The file could not be read.
    Io(io::Error),
    /// The file is larger than any network; it was not read. Sizes in bytes.
    TooLarge {
        /// Size of the file.
        size: u64,
        /// The largest size that is accepted.
        limit: u64,
    },
    /// Fewer bytes than the fixed part of the header.
    TooShort {
        /// Length of the file in bytes.
        actual: usize,
    },
    /// The first word is no known version.
    WrongVersion {
        /// The version found.
        found: u32,
    },
    /// A known version, but of an architecture that is not (or not yet) supported.
    UnknownArchitecture {
        /// The version found.
        version: u32,
        /// The hash of the whole architecture found.
        file_hash: u32,
        /// The beginning of the description.
        description: String,
    },
    /// A net of our own asks for something that is not supported.
    UnsupportedShape {
        /// The word of the file that asks for it.
        what: &'static str,
        /// Its value.
        found: u32,
        /// The values that are supported.
        supported: &'static [u32],
    },
    /// The version is right, but the hash of the whole architecture is not.
    WrongFileHash {
        /// The hash found.
        found: u32,
        /// The hash that the architecture has.
        expected: u32,
    },
    /// The hash before the feature transformer is wrong.
    WrongTransformerHash {
        /// The hash found.
        found: u32,
        /// The hash that the architecture has.
        expected: u32,
    },
    /// The hash before a stack of dense layers is wrong.
    WrongNetworkHash {
        /// The hash found.
        found: u32,
        /// The hash that the architecture has.
        expected: u32,
    },
    /// The description claims an absurd length.
    DescriptionTooLong {
        /// The length claimed, in bytes.
        length: usize,
        /// The longest that is accepted.
        limit: usize,
    },
    /// A compressed block of the feature transformer is damaged.
    BadCompression {
        /// The block: biases, weights, or piece-square values.
        block: &'static str,
        /// What is wrong with it.
        fault: Fault,
    },
    /// The file ends too early.
    Truncated {
        /// The length that the header promises, in bytes.
        expected: usize,
        /// The length of the file.
        actual: usize,
    },
    /// The file goes on after the last parameter.
    TrailingBytes {
        /// The length that the header promises, in bytes.
        expected: usize,
        /// The length of the file.
        actual: usize,
    },
}

impl fmt::Display for NetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "cannot read the network: {error}"),
            Self::TooLarge { size, limit } => {
                write!(
                    f,
                    "{size} bytes are more than any network has (limit {limit})"
                )
            }
            Self::TooShort { actual } => {
                write!(f, "{actual} bytes are too short for a network's header")
            }
            Self::WrongVersion { found } => {
                write!(
                    f,
                    "not a known network: version {found:08X}, expected 7AF32F16, 7AF32F20 or {:08X}",
                    own::VERSION
                )
            }
            Self::UnknownArchitecture {
                version,
                file_hash,
                description,
            } => write!(
                f,
                "unknown architecture: version {version:08X}, hash {file_hash:08X}, description {description:?}"
            ),
            Self::UnsupportedShape {
                what,
                found,
                supported,
            } => write!(
                f,
                "a net of Zoothera's own asks for {what} {found}; this engine runs {supported:?}"
            ),
            Self::WrongFileHash { found, expected } => {
                write!(f, "wrong file hash {found:08X}, expected {expected:08X}")
            }
            Self::WrongTransformerHash { found, expected } => {
                write!(
                    f,
                    "wrong feature transformer hash {found:08X}, expected {expected:08X}"
                )
            }
            Self::WrongNetworkHash { found, expected } => {
                write!(f, "wrong network hash {found:08X}, expected {expected:08X}")
            }
            Self::DescriptionTooLong { length, limit } => {
                write!(
                    f,
                    "a description of {length} bytes is too long (limit {limit})"
                )
            }
            Self::BadCompression { block, fault } => {
                write!(f, "the compressed block of the {block} {fault}")
            }
            Self::Truncated { expected, actual } => {
                write!(f, "truncated: {actual} bytes, expected {expected}")
            }
            Self::TrailingBytes { expected, actual } => {
                let extra = actual - expected;
                write!(
                    f,
                    "{extra} trailing bytes: {actual} bytes, expected {expected}"
                )
            }
        }
    }
}

impl std::error::Error for NetError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for NetError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
