//! A parsed network.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use sha2::{Digest, Sha256};

use super::architecture::{Architecture, Shape};
use super::error::NetError;
use super::file::{Header, MAX_FILE_SIZE, Reader, has_known_version};
use super::layers::{Dense, Head};
use super::transformer::Transformer;

/// The bytes of the net that the build chose.
static EMBEDDED: &[u8] = include_bytes!(env!("ZOOTHERA_NET"));

// What is no network at all stops the build here; `make EVALFILE=` then lets the loader look at the whole.
const _: () = assert!(
    has_known_version(EMBEDDED),
    "the file that EVALFILE names is no network: `zoothera net verify` says why"
);

/// A network ready for evaluation.
pub struct Network {
    header: Header,
    architecture: Architecture,
    transformer: Transformer,
    heads: Vec<Head>,
}

/// What people want to know about a network.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NetInfo {
    /// The architecture.
    pub architecture: Architecture,
    /// The description in the file; bytes that are no UTF-8 are replaced.
    pub description: String,
    /// Version of the format.
    pub version: u32,
    /// Hash of the whole architecture, of the feature transformer, and of the dense layers.
    pub hashes: [u32; 3],
    /// Features, sizes and activations.
    pub shape: Shape,
    /// Whether the transformer is compressed in the file.
    pub compressed: bool,
    /// Size of the file in bytes.
    pub size: usize,
    /// SHA-256 of the file, in hexadecimal.
    pub sha256: String,
    /// Smallest and largest number of each block of parameters, in file order.
    pub ranges: Vec<(&'static str, i32, i32)>,
}

impl Network {
    /// The net in the binary (`nets/default.nnue`, or `EVALFILE` at build time); parsed once per process.
    ///
    /// # Panics
    /// When the build embedded a file that is no network.
    pub fn embedded() -> Arc<Self> {
        static PARSED: OnceLock<Arc<Network>> = OnceLock::new();
        let parse = || match Self::from_bytes(EMBEDDED) {
            Ok(network) => Arc::new(network),
            Err(error) => panic!("the network embedded by the build is unusable: {error}"),
        };
        PARSED.get_or_init(parse).clone()
    }

    /// Parses and checks everything; the error says what is wrong.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, NetError> {
        let mut reader = Reader::new(bytes);
        let (header, architecture) = Header::read(&mut reader)?;
        let shape = architecture.shape();

        let (found, expected) = (reader.u32()?, shape.transformer_hash());
        if found != expected {
            return Err(NetError::WrongTransformerHash { found, expected });
        }
        let transformer = Transformer::read(&mut reader, &shape)?;
        let heads: Vec<Head> = (0..shape.buckets)
            .map(|_| read_head(&mut reader, &shape))
            .collect::<Result<_, _>>()?;
        reader.finish()?;
        Ok(Self {
            header,
            architecture: told_apart(architecture, &heads),
            transformer,
            heads,
        })
    }

    /// Reads and parses a file; one that is absurdly large is refused unread.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, NetError> {
        let file = File::open(path)?;
        let too_large = |size| NetError::TooLarge {
            size,
            limit: MAX_FILE_SIZE,
        };
        let size = file.metadata()?.len();
        if size > MAX_FILE_SIZE {
            return Err(too_large(size));
        }
        // The size is only a hint: a pipe or a device says 0 and then never ends.
        let mut bytes = Vec::with_capacity(size as usize);
        file.take(MAX_FILE_SIZE + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MAX_FILE_SIZE {
            return Err(too_large(bytes.len() as u64));
        }
        Self::from_bytes(&bytes)
    }

    /// The file again, byte for byte (a compressed one if its numbers took as few bytes as they can,
    /// as those of all published nets do).
    pub fn to_bytes(&self) -> Vec<u8> {
        self.to_bytes_as(self.is_compressed())
    }

    /// The network as a file whose transformer is compressed or not.
    pub fn to_bytes_as(&self, compressed: bool) -> Vec<u8> {
        let shape = self.architecture.shape();
        let mut out = Vec::with_capacity(shape.file_size(self.header.description.len()));
        self.header.write(&mut out);
        if let Architecture::Own(own) = self.architecture {
            out.extend(own.words().into_iter().flat_map(u32::to_le_bytes));
        }
        out.extend(shape.transformer_hash().to_le_bytes());
        self.transformer.write(compressed, &mut out);
        for head in &self.heads {
            out.extend(shape.network_hash().to_le_bytes());
            head.write(&mut out);
        }
        out
    }

    /// Whether the file had a compressed transformer.
    pub fn is_compressed(&self) -> bool {
        self.transformer.is_compressed()
    }

    /// Everything worth showing. Costs some tens of milliseconds: it hashes the whole network.
    pub fn info(&self) -> NetInfo {
        let shape = self.architecture.shape();
        let bytes = self.to_bytes();
        NetInfo {
            architecture: self.architecture,
            description: self.description(),
            version: self.header.version,
            hashes: [
                self.header.file_hash,
                shape.transformer_hash(),
                shape.network_hash(),
            ],
            shape,
            compressed: self.is_compressed(),
            size: bytes.len(),
            sha256: hex_sha256(&bytes),
            ranges: self.ranges(),
        }
    }

    /// The architecture.
    pub fn architecture(&self) -> Architecture {
        self.architecture
    }

    /// The description; bytes that are no UTF-8 are replaced.
    pub fn description(&self) -> String {
        String::from_utf8_lossy(&self.header.description).into_owned()
    }

    /// The first layer.
    #[inline]
    pub fn transformer(&self) -> &Transformer {
        &self.transformer
    }

    /// The dense layers, one stack per bucket.
    #[inline]
    pub fn heads(&self) -> &[Head] {
        &self.heads
    }

    fn ranges(&self) -> Vec<(&'static str, i32, i32)> {
        const NAMES: [(&str, &str); 3] = [
            ("layer 1 biases", "layer 1 weights"),
            ("layer 2 biases", "layer 2 weights"),
            ("output biases", "output weights"),
        ];
        let mut ranges = vec![
            range("transformer biases", self.transformer.biases()),
            range("transformer weights", self.transformer.weights()),
        ];
        if !self.transformer.psqt().is_empty() {
            ranges.push(range("piece-square values", self.transformer.psqt()));
        }
        for (i, (biases, weights)) in NAMES.into_iter().enumerate() {
            let layers = || self.heads.iter().map(move |head| head.layers()[i]);
            ranges.push(range(biases, layers().flat_map(Dense::biases)));
            ranges.push(range(weights, layers().flat_map(Dense::weights)));
        }
        ranges
    }
}

/// The SHA-256 of a file's bytes, in hexadecimal.
pub fn hex_sha256(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The next stack of dense layers, behind its hash.
fn read_head(reader: &mut Reader<'_>, shape: &Shape) -> Result<Head, NetError> {
    let (found, expected) = (reader.u32()?, shape.network_hash());
    if found != expected {
        return Err(NetError::WrongNetworkHash { found, expected });
    }
    Head::read(reader, shape)
}

/// Nets with and without squares have the same header; the latter have no weights for the squares.
fn told_apart(architecture: Architecture, heads: &[Head]) -> Architecture {
    let Architecture::Sfnn { l1, .. } = architecture else {
        return architecture;
    };
    let squares = heads.iter().any(|head| {
        let without = head.first.shape().outputs - 1;
        let mut rows = head
            .second
            .weights()
            .chunks_exact(head.second.shape().row());
        rows.any(|row| row[without..].iter().any(|&weight| weight != 0))
    });
    Architecture::Sfnn { l1, squares }
}

impl std::fmt::Debug for Network {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Network({}, {:?})",
            self.architecture,
            self.description()
        )
    }
}

/// The smallest and the largest of `numbers`.
fn range<'a, T: Copy + Into<i32> + 'a>(
    name: &'static str,
    numbers: impl IntoIterator<Item = &'a T>,
) -> (&'static str, i32, i32) {
    let start = (i32::MAX, i32::MIN);
    let (low, high) = numbers.into_iter().fold(start, |(low, high), &number| {
        let number = number.into();
        (low.min(number), high.max(number))
    });
    (name, low, high)
}
