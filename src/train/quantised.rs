//! The integer network as it stands in a `.nnue` file of a form that can be trained (Stockfish 12's, or one of our
//! own), and its writer.
//!
//! Everything that makes a net, whether by training or by construction, ends here. The forward pass in this
//! file is the plain statement of the arithmetic, for tests and for the float-versus-integer report; the engine has
//! its own, fast one.

use super::features::Active;
use super::form::Form;
use crate::data::Record;
use crate::nnue::file::{Header, Reader};
use crate::nnue::{Architecture, NetError, Network};

/// Width of both hidden layers.
pub const HIDDEN: usize = 32;

/// Fixed-point scale of activations and feature-transformer weights: 127 stands for 1.0.
pub const ACTIVATION_ONE: f32 = 127.0;
/// Fixed-point scale of the hidden layers' weights: 64 stands for 1.0.
pub const WEIGHT_ONE: f32 = 64.0;
/// Raw output that stands for a float output of 1.0: 600 engine units times 16.
pub const OUTPUT_ONE: f32 = 9600.0;

/// The text of the file, in the form of Stockfish's own nets; a net of our own tells the rest in words of its own.
fn description(form: Form) -> String {
    let (name, l1) = (form.features.engine(), form.l1);
    let (features, inputs) = (name.count(), 2 * l1);
    format!(
        "Features={name}(Friend)[{features}->{l1}x2],Network=AffineTransform[1<-32](ClippedReLU[32]\
        (AffineTransform[32<-32](ClippedReLU[32](AffineTransform[32<-{inputs}](InputSlice[{inputs}(0:{inputs})])))))"
    )
}

/// Quantised parameters, each in the order of the file but for the stacks, which lie tensor by tensor. `L1` stands for the
/// width of an accumulator, `B` for the number of stacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuantisedNet {
    /// Its shape.
    pub form: Form,
    /// `[L1]`.
    pub transformer_bias: Vec<i16>,
    /// `[features][L1]`, row by feature.
    pub transformer_weight: Vec<i16>,
    /// `[B][HIDDEN]`.
    pub l1_bias: Vec<i32>,
    /// `[B][HIDDEN][2 * L1]`, row by output; the side to move's half first.
    pub l1_weight: Vec<i8>,
    /// `[B][HIDDEN]`.
    pub l2_bias: Vec<i32>,
    /// `[B][HIDDEN][HIDDEN]`, row by output.
    pub l2_weight: Vec<i8>,
    /// `[B]`.
    pub output_bias: Vec<i32>,
    /// `[B][HIDDEN]`.
    pub output_weight: Vec<i8>,
}

impl QuantisedNet {
    /// All zero.
    pub fn zeros(form: Form) -> Self {
        let Form { l1, buckets, .. } = form;
        Self {
            form,
            transformer_bias: vec![0; l1],
            transformer_weight: vec![0; form.features.engine().count() * l1],
            l1_bias: vec![0; buckets * HIDDEN],
            l1_weight: vec![0; buckets * HIDDEN * 2 * l1],
            l2_bias: vec![0; buckets * HIDDEN],
            l2_weight: vec![0; buckets * HIDDEN * HIDDEN],
            output_bias: vec![0; buckets],
            output_weight: vec![0; buckets * HIDDEN],
        }
    }

    /// The file, ready to be written: header, transformer block, network block, nothing after.
    pub fn to_bytes(&self) -> Vec<u8> {
        let architecture = self.form.architecture();
        let shape = architecture.shape();
        let description = description(self.form);
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
        for stack in 0..self.form.buckets {
            out.extend(shape.network_hash().to_le_bytes());
            put_affine(&mut out, &self.l1_bias, &self.l1_weight, (stack, HIDDEN));
            put_affine(&mut out, &self.l2_bias, &self.l2_weight, (stack, HIDDEN));
            put_affine(&mut out, &self.output_bias, &self.output_weight, (stack, 1));
        }
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
        let Some(form) = Form::of_architecture(architecture) else {
            return Ok(None);
        };
        let mut net = Self::zeros(form);
        reader.u32()?;
        take_i16s(&mut reader, &mut net.transformer_bias)?;
        take_i16s(&mut reader, &mut net.transformer_weight)?;
        for stack in 0..form.buckets {
            reader.u32()?;
            let (first, second) = ((stack, HIDDEN), (stack, HIDDEN));
            take_affine(&mut reader, &mut net.l1_bias, &mut net.l1_weight, first)?;
            take_affine(&mut reader, &mut net.l2_bias, &mut net.l2_weight, second)?;
            take_affine(
                &mut reader,
                &mut net.output_bias,
                &mut net.output_weight,
                (stack, 1),
            )?;
        }
        Ok(Some(net))
    }

    /// The raw output for a position, side to move's view; divide by 16 for engine units.
    pub fn forward(&self, record: &Record) -> i32 {
        self.trace(record).output
    }

    /// The same, with what every unit showed on the way.
    pub fn trace(&self, record: &Record) -> Trace {
        let stack = self.form.bucket(record.piece_count());
        let inputs = self.inputs(record);
        let hidden1 = clip_shifted(&self.sums1(stack, &inputs));
        let hidden2 = clip_shifted(&self.sums2(stack, &hidden1));
        let [output] = affine(stack, &self.output_bias, &self.output_weight, &hidden2);
        Trace {
            inputs,
            hidden1,
            hidden2,
            output,
        }
    }

    /// Both accumulators, activated, the side to move's first.
    pub fn inputs(&self, record: &Record) -> Vec<i32> {
        let features = self.form.features;
        let active = Active::of(features, record, false);
        let mut inputs = self.transform(&active.file_rows(features, 0));
        inputs.extend(self.transform(&active.file_rows(features, 1)));
        inputs
    }

    /// The sums of the first hidden layer of a stack, before they are cut off and clipped.
    pub fn sums1(&self, stack: usize, inputs: &[i32]) -> [i32; HIDDEN] {
        affine(stack, &self.l1_bias, &self.l1_weight, inputs)
    }

    /// The sums of the second hidden layer of a stack.
    pub fn sums2(&self, stack: usize, hidden1: &[i32; HIDDEN]) -> [i32; HIDDEN] {
        affine(stack, &self.l2_bias, &self.l2_weight, hidden1)
    }

    /// One perspective's accumulator, activated.
    fn transform(&self, features: &[u32]) -> Vec<i32> {
        let mut sums = self.transformer_bias.clone();
        for &feature in features {
            let row = &self.transformer_weight[feature as usize * self.form.l1..][..self.form.l1];
            for (sum, weight) in sums.iter_mut().zip(row) {
                *sum = sum.wrapping_add(*weight);
            }
        }
        sums.iter()
            .map(|&sum| self.form.activation.of_integer(sum))
            .collect()
    }
}

/// What every unit shows for a position, 0 to 127.
#[derive(Clone, Debug)]
pub struct Trace {
    /// Both accumulators, the side to move's first.
    pub inputs: Vec<i32>,
    /// First hidden layer.
    pub hidden1: [i32; HIDDEN],
    /// Second hidden layer.
    pub hidden2: [i32; HIDDEN],
    /// The raw output.
    pub output: i32,
}

/// `bias + weight * input`, rows by output, for a stack of layers.
fn affine<const OUTPUTS: usize>(
    stack: usize,
    bias: &[i32],
    weight: &[i8],
    input: &[i32],
) -> [i32; OUTPUTS] {
    let dot = |row: &[i8]| -> i32 { row.iter().zip(input).map(|(&w, &x)| i32::from(w) * x).sum() };
    let first = stack * OUTPUTS;
    let mut rows = weight.chunks_exact(input.len()).skip(first);
    std::array::from_fn(|output| bias[first + output] + rows.next().map_or(0, dot))
}

/// From an affine layer's sums to the next layer's inputs.
pub fn clip_shifted(sums: &[i32; HIDDEN]) -> [i32; HIDDEN] {
    sums.map(|sum| (sum >> 6).clamp(0, 127))
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

/// Writes a layer of a stack, which has so many outputs.
fn put_affine(out: &mut Vec<u8>, bias: &[i32], weight: &[i8], (stack, outputs): (usize, usize)) {
    let row = weight.len() / bias.len();
    let units = stack * outputs..(stack + 1) * outputs;
    out.extend(
        bias[units.clone()]
            .iter()
            .flat_map(|bias| bias.to_le_bytes()),
    );
    let weights = &weight[row * units.start..row * units.end];
    out.extend(weights.iter().map(|&weight| weight as u8));
}

/// Reads it.
fn take_affine(
    reader: &mut Reader<'_>,
    bias: &mut [i32],
    weight: &mut [i8],
    (stack, outputs): (usize, usize),
) -> Result<(), NetError> {
    let row = weight.len() / bias.len();
    let units = stack * outputs..(stack + 1) * outputs;
    bias[units.clone()].copy_from_slice(&reader.i32s(outputs)?);
    weight[row * units.start..row * units.end].copy_from_slice(&reader.i8s(row * outputs)?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_has_the_published_size_and_hashes() {
        let bytes = QuantisedNet::zeros(Form::PUBLISHED).to_bytes();
        assert_eq!(bytes.len(), 21_022_697);
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        assert_eq!(word(0), 0x7AF3_2F16);
        assert_eq!(word(4), 0x3E5A_A6EE);
        assert_eq!(word(8), 177);
        assert_eq!(word(189), 0x5D69_D7B8);
        assert_eq!(word(21_004_993), 0x6333_7156);
    }
}
