//! The layers after the accumulators, in the layout that the kernels read.
// CITE: shapes, integer scales (127 and 64 for 1.0) and shifts of the dense layers: Stockfish and nnue-pytorch. Weights
// of 16 bits for the squares of units: bullet's examples; the scale of their sums is ours.

use super::architecture::{Activation, LayerShape, Shape};
use super::container::ByteReader;
use super::error::NetError;
use super::rows::Aligned;

/// Minimum number of outputs that the kernels compute: one register of 512 bits.
const MIN_OUTPUTS: usize = 16;

/// Number of outputs of a second layer in the kernels.
const SECOND_OUTPUTS: usize = 32;

/// A dense layer: u8 inputs, i8 weights, i32 sums.
pub struct Dense {
    shape: LayerShape,
    biases: Vec<i32>,
    weights: Aligned,
    packed: Packed,
}

impl Dense {
    /// A layer with these parameters: one bias per output, and one row of [`LayerShape::row`] weights per output.
    ///
    /// # Panics
    /// If the number of biases or weights does not match `shape`.
    pub(crate) fn new(shape: LayerShape, biases: Vec<i32>, weights: &[i8]) -> Self {
        assert!(biases.len() == shape.outputs && weights.len() == shape.weights());
        let mut aligned = Aligned::zeroed(weights.len());
        aligned.as_mut_slice()[..weights.len()].copy_from_slice(weights);
        Self { shape, packed: Packed::new(&biases, weights, shape, MIN_OUTPUTS), biases, weights: aligned }
    }

    pub(super) fn zeroed(shape: LayerShape) -> Self {
        Self::new(shape, vec![0; shape.outputs], &vec![0; shape.weights()])
    }

    pub(super) fn read(reader: &mut ByteReader<'_>, shape: LayerShape) -> Result<Self, NetError> {
        let biases = reader.i32s(shape.outputs)?;
        let weights = reader.take(shape.weights())?;
        Ok(Self::new(shape, biases, bytemuck::cast_slice(weights)))
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend(self.biases.iter().flat_map(|number| number.to_le_bytes()));
        out.extend_from_slice(bytemuck::cast_slice(self.weights()));
    }

    /// The numbers of inputs and outputs.
    pub fn shape(&self) -> LayerShape {
        self.shape
    }

    /// One bias per output.
    pub fn biases(&self) -> &[i32] {
        &self.biases
    }

    /// One row of [`LayerShape::row`] weights per output, in file order.
    #[inline]
    pub fn weights(&self) -> &[i8] {
        &self.weights.as_slice()[..self.shape.weights()]
    }

    /// The layer as the kernels read a second one: padded to [`SECOND_OUTPUTS`] outputs. Those that it does not have
    /// are 0, and so are their weights in the next layer.
    pub(crate) fn into_second(mut self) -> Self {
        self.packed = Packed::new(&self.biases, self.weights(), self.shape, SECOND_OUTPUTS);
        self
    }

    /// The parameters in the layout of the kernels.
    #[inline]
    pub fn packed(&self) -> &Packed {
        &self.packed
    }
}

/// A layer's parameters in the layout of the vector kernels, padded with zeros to a minimum number of outputs.
pub struct Packed {
    rows: usize,
    outputs: usize,
    biases: Vec<i32>,
    weights: Aligned,
}

impl Packed {
    fn new(biases: &[i32], weights: &[i8], shape: LayerShape, min_outputs: usize) -> Self {
        let (rows, outputs) = (shape.row(), shape.outputs.max(min_outputs));
        let mut padded = biases.to_vec();
        padded.resize(outputs, 0);
        let mut packed = Aligned::zeroed((rows + 4) * outputs);
        let to: &mut [i8] = packed.as_mut_slice();
        // A layer that the net does not have has rows of no weights.
        for (output, row) in weights.chunks_exact(rows.max(1)).enumerate() {
            for (input, &weight) in row.iter().enumerate() {
                let group = input / 4 * outputs + output;
                to[4 * group + input % 4] = weight;
            }
        }
        Self { rows, outputs, biases: padded, weights: packed }
    }

    /// One bias per output.
    #[inline]
    pub fn biases(&self) -> &[i32] {
        &self.biases
    }

    /// The weights by groups of four inputs: `[input / 4][output][input % 4]`. One extra group of zeros
    /// at the end allows a list of groups to be padded.
    ///
    /// A 32-bit lane of a byte dot product takes four inputs: a kernel broadcasts a group, and each lane
    /// of the result belongs to one output.
    #[inline]
    pub fn weights(&self) -> &[i8] {
        &self.weights.as_slice()[..(self.rows + 4) * self.outputs]
    }
}

/// Weights of 16 bits from the units of both accumulators to the output, in nets without hidden layers.
///
/// A unit is an integer up to 127 after clipping, and up to 127 squared if it is the square of a clipped sum or the
/// product of two. The output is the bias plus all products of units and weights, wrapping at 32 bits, and then shifted
/// to the right by [`Self::shift`].
pub struct Direct {
    bias: i32,
    weights: Aligned,
    inputs: usize,
}

impl Direct {
    /// The weights of all units, the side to move's first.
    pub(crate) fn new(bias: i32, weights: &[i16]) -> Self {
        let mut aligned = Aligned::zeroed(2 * weights.len());
        aligned.as_mut_slice()[..weights.len()].copy_from_slice(weights);
        Self { bias, weights: aligned, inputs: weights.len() }
    }

    fn read(reader: &mut ByteReader<'_>, inputs: usize) -> Result<Self, NetError> {
        let bias = reader.i32s(1)?[0];
        let (numbers, _) = reader.take(2 * inputs)?.as_chunks();
        let weights: Vec<i16> = numbers.iter().map(|&bytes| i16::from_le_bytes(bytes)).collect();
        Ok(Self::new(bias, &weights))
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend(self.bias.to_le_bytes());
        out.extend(self.weights().iter().flat_map(|weight| weight.to_le_bytes()));
    }

    /// The bias of the sum.
    #[inline]
    pub fn bias(&self) -> i32 {
        self.bias
    }

    /// One weight for each unit.
    #[inline]
    pub fn weights(&self) -> &[i16] {
        &self.weights.as_slice()[..self.inputs]
    }

    /// Binary places of the sum after the output's: seven more if a unit is a product.
    #[inline(always)]
    pub const fn shift(activation: Activation) -> u32 {
        if matches!(activation, Activation::Crelu) { 2 } else { 9 }
    }
}

/// One layer stack after the accumulators: two hidden layers and the output layer, or the output alone.
pub struct Head {
    /// From both accumulators to the first hidden layer.
    pub first: Dense,
    /// From the first to the second hidden layer.
    pub second: Dense,
    /// From the second hidden layer to the one output.
    pub output: Dense,
    /// From both accumulators to the output, in nets without hidden layers, which have no dense layers. Others have no
    /// weights here.
    pub direct: Direct,
}

impl Head {
    pub(crate) fn from_layers([first, second, output]: [Dense; 3]) -> Self {
        Self { first, second: second.into_second(), output, direct: Direct::new(0, &[]) }
    }

    pub(crate) fn from_direct(direct: Direct) -> Self {
        let none = || Dense::zeroed(LayerShape::NONE);
        Self { first: none(), second: none(), output: none(), direct }
    }

    pub(super) fn zeroed(shape: &Shape) -> Self {
        if shape.is_direct() {
            return Self::from_direct(Direct::new(0, &vec![0; shape.inputs()]));
        }
        Self::from_layers(shape.layers().map(Dense::zeroed))
    }

    pub(super) fn read(reader: &mut ByteReader<'_>, shape: &Shape) -> Result<Self, NetError> {
        if shape.is_direct() {
            return Ok(Self::from_direct(Direct::read(reader, shape.inputs())?));
        }
        let [first, second, output] = shape.layers();
        Ok(Self::from_layers([Dense::read(reader, first)?, Dense::read(reader, second)?, Dense::read(reader, output)?]))
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        if !self.direct.weights().is_empty() {
            return self.direct.write(out);
        }
        self.layers().into_iter().for_each(|layer| layer.write(out));
    }

    /// The dense layers in order; without numbers in nets without hidden layers.
    pub fn layers(&self) -> [&Dense; 3] {
        [&self.first, &self.second, &self.output]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packing_keeps_every_weight_and_pads_with_zeros() {
        let shape = LayerShape { inputs: 30, outputs: 3 };
        let weights: Vec<i8> = (0..96).collect();
        let packed = Packed::new(&[7, 8, 9], &weights, shape, MIN_OUTPUTS);
        assert_eq!(packed.biases()[..4], [7, 8, 9, 0]);
        let weights = packed.weights();
        assert_eq!(weights.len(), 36 * 16);
        assert_eq!(weights[..12], [0, 1, 2, 3, 32, 33, 34, 35, 64, 65, 66, 67]);
        assert_eq!(weights[12..64], [0; 52]);
        assert_eq!(weights[64..68], [4, 5, 6, 7]);
        assert_eq!(weights[32 * 16..], [0; 64]);
    }
}
