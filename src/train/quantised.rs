//! The integer network as it stands in a HalfKP `.nnue` file with two hidden layers of 32 (a published one, or with
//! squares or of another width one of our own), and its writer.
//!
//! Everything that makes a net, whether by training or by construction, ends here. The forward pass in this
//! file is the plain statement of the arithmetic, for tests and for the float-versus-integer report; the engine has
//! its own, fast one.

use super::activation::Activation;
use crate::nnue::features::halfkp;
use crate::nnue::file::{Header, Reader};
use crate::nnue::{Architecture, NetError, Network};

/// Inputs of one perspective: 64 king squares times 641 (one row of each king is never active).
pub const FEATURES: usize = halfkp::COUNT;
/// Width of both hidden layers.
pub const HIDDEN: usize = 32;

/// Fixed-point scale of activations and feature-transformer weights: 127 stands for 1.0.
pub const ACTIVATION_ONE: f32 = 127.0;
/// Fixed-point scale of the hidden layers' weights: 64 stands for 1.0.
pub const WEIGHT_ONE: f32 = 64.0;
/// Raw output that stands for a float output of 1.0: 600 engine units times 16.
pub const OUTPUT_ONE: f32 = 9600.0;

/// The text that Stockfish's own nets carry; a net with squares tells the rest in words of its own.
fn description(l1: usize) -> String {
    let inputs = 2 * l1;
    format!(
        "Features=HalfKP(Friend)[{FEATURES}->{l1}x2],Network=AffineTransform[1<-32](ClippedReLU[32]\
        (AffineTransform[32<-32](ClippedReLU[32](AffineTransform[32<-{inputs}](InputSlice[{inputs}(0:{inputs})])))))"
    )
}

/// Quantised parameters, each in the order of the file. `L1` stands for the width of an accumulator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuantisedNet {
    /// What becomes of the accumulators.
    pub activation: Activation,
    /// `[L1]`.
    pub transformer_bias: Vec<i16>,
    /// `[FEATURES][L1]`, row by feature.
    pub transformer_weight: Vec<i16>,
    /// `[HIDDEN]`.
    pub l1_bias: Vec<i32>,
    /// `[HIDDEN][2 * L1]`, row by output; the side to move's half first.
    pub l1_weight: Vec<i8>,
    /// `[HIDDEN]`.
    pub l2_bias: Vec<i32>,
    /// `[HIDDEN][HIDDEN]`, row by output.
    pub l2_weight: Vec<i8>,
    /// The output's bias.
    pub output_bias: i32,
    /// `[HIDDEN]`.
    pub output_weight: Vec<i8>,
}

impl QuantisedNet {
    /// All zero, for accumulators of width `l1`.
    pub fn zeros(activation: Activation, l1: usize) -> Self {
        Self {
            activation,
            transformer_bias: vec![0; l1],
            transformer_weight: vec![0; FEATURES * l1],
            l1_bias: vec![0; HIDDEN],
            l1_weight: vec![0; HIDDEN * 2 * l1],
            l2_bias: vec![0; HIDDEN],
            l2_weight: vec![0; HIDDEN * HIDDEN],
            output_bias: 0,
            output_weight: vec![0; HIDDEN],
        }
    }

    /// Width of one perspective's accumulator.
    pub fn l1(&self) -> usize {
        self.transformer_bias.len()
    }

    /// The file, ready to be written: header, transformer block, network block, nothing after.
    pub fn to_bytes(&self) -> Vec<u8> {
        let architecture = self.activation.architecture(self.l1());
        let shape = architecture.shape();
        let description = description(self.l1());
        let mut out = Vec::with_capacity(shape.file_size(description.len()));
        let header = Header {
            version: shape.version,
            file_hash: shape.file_hash(),
            description: description.into(),
        };
        header.write(&mut out);
        if let Architecture::Own(own) = architecture {
            out.extend(own.words().into_iter().flat_map(u32::to_le_bytes));
        }
        out.extend(shape.transformer_hash().to_le_bytes());
        put_i16s(&mut out, &self.transformer_bias);
        put_i16s(&mut out, &self.transformer_weight);
        out.extend(shape.network_hash().to_le_bytes());
        put_affine(&mut out, &self.l1_bias, &self.l1_weight);
        put_affine(&mut out, &self.l2_bias, &self.l2_weight);
        put_affine(&mut out, &[self.output_bias], &self.output_weight);
        out
    }

    /// Reads a file of these architectures, compressed or not, with all checks of the engine's own reader.
    ///
    /// # Errors
    /// The reader's, or `None` inside where the file is sound but of another architecture.
    pub fn from_bytes(bytes: &[u8]) -> Result<Option<Self>, NetError> {
        let plain = Network::from_bytes(bytes)?.to_bytes_as(false);
        let mut reader = Reader::new(&plain);
        let (_, architecture) = Header::read(&mut reader)?;
        let Some((activation, l1)) = Activation::of_architecture(architecture) else {
            return Ok(None);
        };
        let mut net = Self::zeros(activation, l1);
        reader.u32()?;
        take_i16s(&mut reader, &mut net.transformer_bias)?;
        take_i16s(&mut reader, &mut net.transformer_weight)?;
        reader.u32()?;
        net.l1_bias = reader.i32s(HIDDEN)?;
        net.l1_weight = reader.i8s(HIDDEN * 2 * l1)?;
        net.l2_bias = reader.i32s(HIDDEN)?;
        net.l2_weight = reader.i8s(HIDDEN * HIDDEN)?;
        net.output_bias = reader.u32()? as i32;
        net.output_weight = reader.i8s(HIDDEN)?;
        Ok(Some(net))
    }

    /// The raw output for the active features of the side to move and of the other side; divide by 16 for engine
    /// units.
    pub fn forward(&self, own: &[u32], other: &[u32]) -> i32 {
        self.trace(own, other).output
    }

    /// The same, with what every unit showed on the way.
    pub fn trace(&self, own: &[u32], other: &[u32]) -> Trace {
        let inputs = self.inputs(own, other);
        let hidden1 = clip_shifted(&self.sums1(&inputs));
        let hidden2 = clip_shifted(&self.sums2(&hidden1));
        let output = affine(&[self.output_bias], &self.output_weight, &hidden2)[0];
        Trace {
            inputs,
            hidden1,
            hidden2,
            output,
        }
    }

    /// Both accumulators, activated, the side to move's first.
    pub fn inputs(&self, own: &[u32], other: &[u32]) -> Vec<i32> {
        let mut inputs = self.transform(own);
        inputs.extend(self.transform(other));
        inputs
    }

    /// The sums of the first hidden layer, before they are cut off and clipped.
    pub fn sums1(&self, inputs: &[i32]) -> Vec<i32> {
        affine(&self.l1_bias, &self.l1_weight, inputs)
    }

    /// The sums of the second hidden layer.
    pub fn sums2(&self, hidden1: &[i32]) -> Vec<i32> {
        affine(&self.l2_bias, &self.l2_weight, hidden1)
    }

    /// One perspective's accumulator, activated.
    fn transform(&self, features: &[u32]) -> Vec<i32> {
        let mut sums = self.transformer_bias.clone();
        for &feature in features {
            let row = &self.transformer_weight[feature as usize * self.l1()..][..self.l1()];
            for (sum, weight) in sums.iter_mut().zip(row) {
                *sum = sum.wrapping_add(*weight);
            }
        }
        sums.iter()
            .map(|&sum| self.activation.of_integer(sum))
            .collect()
    }
}

/// What every unit shows for a position, 0 to 127.
#[derive(Clone, Debug)]
pub struct Trace {
    /// Both accumulators, the side to move's first.
    pub inputs: Vec<i32>,
    /// First hidden layer.
    pub hidden1: Vec<i32>,
    /// Second hidden layer.
    pub hidden2: Vec<i32>,
    /// The raw output.
    pub output: i32,
}

/// `bias + weight * input`, rows by output.
fn affine(bias: &[i32], weight: &[i8], input: &[i32]) -> Vec<i32> {
    let row_sum = |row: &[i8]| {
        row.iter()
            .zip(input)
            .map(|(&w, &x)| i32::from(w) * x)
            .sum::<i32>()
    };
    bias.iter()
        .zip(weight.chunks_exact(input.len()))
        .map(|(b, row)| b + row_sum(row))
        .collect()
}

/// From an affine layer's sums to the next layer's inputs.
pub fn clip_shifted(sums: &[i32]) -> Vec<i32> {
    sums.iter().map(|sum| (sum >> 6).clamp(0, 127)).collect()
}

fn take_i16s(reader: &mut Reader<'_>, out: &mut [i16]) -> Result<(), NetError> {
    let bytes = reader.take(2 * out.len())?.as_chunks().0;
    for (out, bytes) in out.iter_mut().zip(bytes) {
        *out = i16::from_le_bytes(*bytes);
    }
    Ok(())
}

fn put_i16s(out: &mut Vec<u8>, values: &[i16]) {
    out.extend(values.iter().flat_map(|value| value.to_le_bytes()));
}

fn put_affine(out: &mut Vec<u8>, bias: &[i32], weight: &[i8]) {
    out.extend(bias.iter().flat_map(|value| value.to_le_bytes()));
    out.extend(weight.iter().map(|&value| value as u8));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::width;

    #[test]
    fn the_file_has_the_published_size_and_hashes() {
        let bytes = QuantisedNet::zeros(Activation::Crelu, width::PUBLISHED).to_bytes();
        assert_eq!(bytes.len(), 21_022_697);
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        assert_eq!(word(0), 0x7AF3_2F16);
        assert_eq!(word(4), 0x3E5A_A6EE);
        assert_eq!(word(8), 177);
        assert_eq!(word(189), 0x5D69_D7B8);
        assert_eq!(word(21_004_993), 0x6333_7156);
    }
}
