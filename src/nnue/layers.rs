//! The parameters of a network, in the form in which the kernels want them.

use bytemuck::{Pod, Zeroable};

use super::architecture::{LayerShape, Shape};
use super::error::NetError;
use super::file::Reader;
use crate::util::memory::{Zeroed, zeroed_slice_or_abort};

/// One cache line: the unit in which parameters are stored, so that every row starts on its own.
#[derive(Clone, Copy, Pod, Zeroable, Debug)]
#[repr(C, align(64))]
pub struct CacheLine([u8; 64]);

/// A table of numbers whose first byte lies at a multiple of 64.
struct Aligned(Zeroed<CacheLine>);

impl Aligned {
    /// Zeroed room for `bytes` bytes, rounded up to whole cache lines.
    fn zeroed(bytes: usize) -> Self {
        let lines = bytes.div_ceil(size_of::<CacheLine>());
        // Large pages where there are any: the transformer is 20 MB, read at random.
        Self(zeroed_slice_or_abort(lines))
    }

    fn as_slice<T: Pod>(&self) -> &[T] {
        bytemuck::cast_slice(&self.0)
    }

    fn as_mut_slice<T: Pod>(&mut self) -> &mut [T] {
        bytemuck::cast_slice_mut(&mut self.0)
    }
}

/// The first layer: one row of `l1` i16 weights per feature, and the biases.
pub struct Transformer {
    biases: Aligned,
    weights: Aligned,
    l1: usize,
    features: usize,
}

impl Transformer {
    pub(super) fn read(reader: &mut Reader<'_>, shape: &Shape) -> Result<Self, NetError> {
        let (l1, features) = (shape.l1, shape.features);
        let mut biases = Aligned::zeroed(2 * l1);
        reader.i16s(&mut biases.as_mut_slice()[..l1])?;
        let mut weights = Aligned::zeroed(2 * l1 * features);
        reader.i16s(&mut weights.as_mut_slice()[..l1 * features])?;
        Ok(Self {
            biases,
            weights,
            l1,
            features,
        })
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let numbers = self.biases().iter().chain(self.weights());
        out.extend(numbers.flat_map(|number| number.to_le_bytes()));
    }

    /// What an accumulator holds on an empty board.
    pub fn biases(&self) -> &[i16] {
        &self.biases.as_slice()[..self.l1]
    }

    /// All the weights, row after row.
    pub fn weights(&self) -> &[i16] {
        &self.weights.as_slice()[..self.l1 * self.features]
    }

    /// The weights as one row per feature; `L1` must be the width of this layer.
    #[inline]
    pub fn rows<const L1: usize>(&self) -> &[[i16; L1]] {
        debug_assert_eq!(L1, self.l1);
        self.weights().as_chunks().0
    }
}

/// A dense layer: u8 inputs, i8 weights, i32 sums.
pub struct Dense {
    shape: LayerShape,
    biases: Vec<i32>,
    weights: Vec<i8>,
    packed: Aligned,
}

impl Dense {
    pub(super) fn read(reader: &mut Reader<'_>, shape: LayerShape) -> Result<Self, NetError> {
        let biases = reader.i32s(shape.outputs)?;
        let weights = reader.i8s(shape.outputs * shape.inputs)?;
        let packed = pack(&weights, shape);
        Ok(Self {
            shape,
            biases,
            weights,
            packed,
        })
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend(self.biases.iter().flat_map(|number| number.to_le_bytes()));
        out.extend(self.weights.iter().map(|&number| number as u8));
    }

    /// Inputs and outputs.
    pub fn shape(&self) -> LayerShape {
        self.shape
    }

    /// One bias per output.
    pub fn biases(&self) -> &[i32] {
        &self.biases
    }

    /// One row of weights per output, in file order.
    pub fn weights(&self) -> &[i8] {
        &self.weights
    }

    /// The same weights by groups of four inputs: `[input / 4][output][input % 4]`, and one more
    /// group of zeros, so that a list of groups can be padded.
    ///
    /// Four inputs are what one 32-bit lane of a byte dot product takes: a group is broadcast, and
    /// each lane of the result belongs to one output.
    #[inline]
    pub fn packed(&self) -> &[i8] {
        &self.packed.as_slice()[..(self.shape.inputs + 4) * self.shape.outputs]
    }
}

/// Reorders a layer's weights as [`Dense::packed`] says; inputs must be a multiple of four.
fn pack(weights: &[i8], shape: LayerShape) -> Aligned {
    let LayerShape { inputs, outputs } = shape;
    let mut packed = Aligned::zeroed((inputs + 4) * outputs);
    let to: &mut [i8] = packed.as_mut_slice();
    for output in 0..outputs {
        for input in 0..inputs {
            let group = input / 4 * outputs + output;
            to[4 * group + input % 4] = weights[output * inputs + input];
        }
    }
    packed
}

/// The dense layers behind the accumulators: two hidden layers and the output.
pub struct Head {
    /// From both accumulators to the first hidden layer.
    pub first: Dense,
    /// From the first to the second hidden layer.
    pub second: Dense,
    /// From the second hidden layer to the one output.
    pub output: Dense,
}

impl Head {
    pub(super) fn read(reader: &mut Reader<'_>, shape: &Shape) -> Result<Self, NetError> {
        let mut layers = shape.layers.iter().map(|&layer| Dense::read(reader, layer));
        let mut next = || {
            layers
                .next()
                .expect("an architecture has three dense layers")
        };
        Ok(Self {
            first: next()?,
            second: next()?,
            output: next()?,
        })
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        self.layers().into_iter().for_each(|layer| layer.write(out));
    }

    /// The layers in order.
    pub fn layers(&self) -> [&Dense; 3] {
        [&self.first, &self.second, &self.output]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packing_keeps_every_weight() {
        let shape = LayerShape {
            inputs: 8,
            outputs: 3,
        };
        let weights: Vec<i8> = (0..24).collect();
        let packed = pack(&weights, shape);
        let packed: &[i8] = &packed.as_slice()[..36];
        assert_eq!(packed[..12], [0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19]);
        assert_eq!(packed[12..24], [4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23]);
        assert_eq!(packed[24..], [0; 12]);
    }

    #[test]
    fn tables_start_on_a_cache_line() {
        for bytes in [1, 64, 100, 5 << 20] {
            let table = Aligned::zeroed(bytes);
            assert_eq!(table.as_slice::<u8>().as_ptr() as usize % 64, 0);
        }
    }
}
