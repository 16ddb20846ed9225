//! A parsed network.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use super::architecture::{Activation, Architecture, Shape};
use super::container::ByteReader;
use super::container::{file_size, read_header, write_header};
use super::error::NetError;
use super::layers::Head;
use super::transformer::Transformer;
use super::version::VERSION_OWN;
#[cfg(not(feature = "embedded-net"))]
use crate::util::reason;

/// The bytes of the net that was selected at build time. The build script rejects files that are not networks;
/// `make EVALFILE=` also runs the loader to check the whole file.
#[cfg(feature = "embedded-net")]
static EMBEDDED: &[u8] = include_bytes!(env!("ZOOTHERA_NET"));

/// The default net of a build without the feature `embedded-net`, which JavaScript stores there (`web/src/engine.js`).
#[cfg(not(feature = "embedded-net"))]
const DEFAULT_FILE: &str = "net.nnue";

/// Maximum accepted file size, in bytes: about four times the largest published network.
const MAX_FILE_SIZE: u64 = 512 << 20;

/// A network ready for evaluation.
pub struct Network {
    architecture: Architecture,
    /// Free text, any bytes.
    description: Vec<u8>,
    transformer: Transformer,
    heads: Vec<Head>,
}

impl Network {
    /// The net embedded in the binary (`nets/default.nnue`, or `EVALFILE` at build time); parsed once per process.
    /// Without the feature `embedded-net` it is the file `net.nnue`.
    ///
    /// # Panics
    /// If the embedded file is not a valid network. If the file `net.nnue` is not one, the process exits with an error.
    pub fn embedded() -> Arc<Self> {
        static PARSED: OnceLock<Arc<Network>> = OnceLock::new();
        PARSED.get_or_init(|| Arc::new(Self::default_net())).clone()
    }

    #[cfg(feature = "embedded-net")]
    fn default_net() -> Self {
        match Self::from_bytes(EMBEDDED) {
            Ok(network) => network,
            Err(error) => panic!("cannot use the embedded network: {error}"),
        }
    }

    #[cfg(not(feature = "embedded-net"))]
    fn default_net() -> Self {
        Self::from_file(DEFAULT_FILE).unwrap_or_else(|error| {
            eprintln!("error: the net cannot be used: {DEFAULT_FILE}: {}", reason::of(&error));
            std::process::exit(1)
        })
    }

    /// A network whose parameters are all zero, for the caller to fill.
    pub(crate) fn zeroed(architecture: Architecture) -> Self {
        Self {
            architecture,
            description: architecture.description().into(),
            transformer: Transformer::zeroed(&architecture),
            heads: (0..architecture.buckets).map(|_| Head::zeroed(&architecture)).collect(),
        }
    }

    /// Parses a network file and checks hashes and sizes.
    ///
    /// # Errors
    /// The first fault found.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, NetError> {
        let mut reader = ByteReader::new(bytes);
        let (architecture, description) = read_header(&mut reader)?;
        let (found, expected) = (reader.u32()?, architecture.transformer_hash());
        if found != expected {
            return Err(NetError::WrongTransformerHash { found, expected });
        }
        let transformer = Transformer::read(&mut reader, &architecture)?;
        let heads: Vec<Head> =
            (0..architecture.buckets).map(|_| read_head(&mut reader, &architecture)).collect::<Result<_, _>>()?;
        reader.finish()?;
        Ok(Self { architecture: resolve_squares(architecture, &heads), description, transformer, heads })
    }

    /// Reads and parses a file. Rejects a file above the size limit without reading it.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, NetError> {
        let file = File::open(path)?;
        let too_large = |size| NetError::TooLarge { size, limit: MAX_FILE_SIZE };
        let size = file.metadata()?.len();
        if size > MAX_FILE_SIZE {
            return Err(too_large(size));
        }
        // The size is a hint: pipes and devices report 0 and may be endless.
        let mut bytes = Vec::with_capacity(size as usize);
        file.take(MAX_FILE_SIZE + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MAX_FILE_SIZE {
            return Err(too_large(bytes.len() as u64));
        }
        Self::from_bytes(&bytes)
    }

    /// The network as a file, byte for byte as it was read. (A compressed file must have used the minimum number
    /// of bytes per number, as all published nets do.)
    pub fn to_bytes(&self) -> Vec<u8> {
        self.to_bytes_as(self.is_compressed())
    }

    /// The network as a file, with its transformer compressed or not.
    pub fn to_bytes_as(&self, compressed: bool) -> Vec<u8> {
        let mut out = Vec::with_capacity(file_size(&self.architecture, self.description.len()));
        write_header(&self.architecture, &self.description, &mut out);
        out.extend(self.architecture.transformer_hash().to_le_bytes());
        self.transformer.write(compressed, &mut out);
        for head in &self.heads {
            out.extend(self.architecture.network_hash().to_le_bytes());
            head.write(&mut out);
        }
        out
    }

    /// Whether the file had a compressed transformer.
    pub fn is_compressed(&self) -> bool {
        self.transformer.is_compressed()
    }

    /// The architecture.
    #[inline]
    pub fn architecture(&self) -> &Architecture {
        &self.architecture
    }

    /// The description, with invalid UTF-8 replaced.
    pub fn description(&self) -> String {
        String::from_utf8_lossy(&self.description).into_owned()
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

    /// Replaces the description, which by default names the shape.
    pub(super) fn describe(&mut self, description: &[u8]) {
        self.description = description.to_vec();
    }

    /// Mutable access to all parameters.
    pub(crate) fn parameters_mut(&mut self) -> (&mut Transformer, &mut [Head]) {
        (&mut self.transformer, &mut self.heads)
    }
}

/// Reads the next layer stack and checks the hash in front of it.
fn read_head(reader: &mut ByteReader<'_>, shape: &Shape) -> Result<Head, NetError> {
    let (found, expected) = (reader.u32()?, shape.network_hash());
    if found != expected {
        return Err(NetError::WrongNetworkHash { found, expected });
    }
    Head::read(reader, shape)
}

/// Determines whether the net uses squares. Published nets with and without squares have the same header, but in nets
/// without squares all weights of the squares are zero.
fn resolve_squares(architecture: Architecture, heads: &[Head]) -> Architecture {
    // Nets with wide products and nets in our own format always have squares.
    if architecture.activation != Activation::Pairwise || architecture.version == VERSION_OWN {
        return architecture;
    }
    let has_squares = heads.iter().any(|head| {
        let without = head.first.shape().outputs - 1;
        let row = head.second.shape().row();
        let mut rows = head.second.weights().chunks_exact(row);
        rows.any(|row| row[without..].iter().any(|&weight| weight != 0))
    });
    if has_squares { architecture } else { architecture.without_squares() }
}

impl std::fmt::Debug for Network {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Network({}, {:?})", self.architecture, self.description())
    }
}
