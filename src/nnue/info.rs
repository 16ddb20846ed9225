//! Summary of a network for display.

use sha2::{Digest, Sha256};

use super::architecture::Architecture;
use super::layers::Dense;
use super::network::Network;

/// Metadata of a network file and ranges of its parameters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NetInfo {
    /// The architecture.
    pub architecture: Architecture,
    /// The description in the file, with invalid UTF-8 replaced.
    pub description: String,
    /// Whether the transformer is compressed in the file.
    pub compressed: bool,
    /// Size of the file in bytes.
    pub size: usize,
    /// SHA-256 of the file, in hexadecimal.
    pub sha256: String,
    /// Range of each block of parameters, in file order.
    pub ranges: Vec<ParameterRange>,
}

/// Smallest and largest number of a block of parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ParameterRange {
    /// Name of the block.
    pub name: &'static str,
    /// Smallest number.
    pub min: i32,
    /// Largest number.
    pub max: i32,
}

impl Network {
    /// Computes the summary. Takes tens of milliseconds because it hashes the whole network.
    pub fn info(&self) -> NetInfo {
        let bytes = self.to_bytes();
        NetInfo {
            architecture: *self.architecture(),
            description: self.description(),
            compressed: self.is_compressed(),
            size: bytes.len(),
            sha256: hex_sha256(&bytes),
            ranges: self.ranges(),
        }
    }

    /// The range of each block of parameters, in file order.
    fn ranges(&self) -> Vec<ParameterRange> {
        const NAMES: [(&str, &str); 3] = [
            ("layer 1 biases", "layer 1 weights"),
            ("layer 2 biases", "layer 2 weights"),
            ("output biases", "output weights"),
        ];
        let mut ranges = vec![
            range("transformer biases", self.transformer().biases()),
            range("transformer weights", self.transformer().weights()),
        ];
        let threat_inputs = self.transformer().threat_inputs();
        if !threat_inputs.is_empty() {
            ranges.push(range("threat input weights", &threat_inputs));
        }
        if !self.transformer().psqt().is_empty() {
            ranges.push(range("piece-square values", self.transformer().psqt()));
        }
        if self.architecture().is_direct() {
            let biases: Vec<i32> = self.heads().iter().map(|head| head.direct.bias()).collect();
            ranges.push(range("output biases", &biases));
            ranges.push(range("output weights", self.heads().iter().flat_map(|head| head.direct.weights())));
            return ranges;
        }
        for (i, (biases, weights)) in NAMES.into_iter().enumerate() {
            let layers = || self.heads().iter().map(move |head| head.layers()[i]);
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

/// The range of `numbers`, which are the block `name`.
fn range<'a, T: Copy + Into<i32> + 'a>(name: &'static str, numbers: impl IntoIterator<Item = &'a T>) -> ParameterRange {
    let empty = ParameterRange { name, min: i32::MAX, max: i32::MIN };
    numbers.into_iter().fold(empty, |range, &number| {
        let number = number.into();
        ParameterRange { name, min: range.min.min(number), max: range.max.max(number) }
    })
}
