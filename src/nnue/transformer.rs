//! The first layer: rows of weights that are added up while the pieces move.

use super::architecture::Shape;
use super::error::NetError;
use super::leb128;
use super::memory::Aligned;
use super::reader::Reader;
use super::rows::{Accumulator, Rows};

/// The first layer: one row of `l1` i16 weights per feature, piece-square values, and the biases.
pub struct Transformer {
    biases: Aligned,
    weights: Aligned,
    psqt: Aligned,
    l1: usize,
    features: usize,
    buckets: usize,
    compressed: bool,
}

/// The names of the blocks of parameters, in the order of the file.
const BLOCKS: [&str; 3] = ["biases", "weights", "piece-square values"];

/// The bytes of the blocks of parameters.
enum Blocks<'a> {
    Plain([&'a [u8]; 3]),
    Compressed([&'a [u8]; 3]),
}

/// Fills `out` with little-endian numbers of `N` bytes.
fn plain<T, const N: usize>(bytes: &[u8], out: &mut [T], number: fn([u8; N]) -> T) {
    let (chunks, _) = bytes.as_chunks();
    out.iter_mut()
        .zip(chunks)
        .for_each(|(to, &from)| *to = number(from));
}

impl Transformer {
    /// The parameters of a network of this shape, all zero.
    pub(super) fn zeroed(shape: &Shape) -> Self {
        let (l1, features, buckets) = (shape.l1, shape.features.set().count(), shape.psqt);
        Self {
            biases: Aligned::zeroed(2 * l1),
            weights: Aligned::zeroed(2 * l1 * features),
            psqt: Aligned::zeroed(4 * buckets * features),
            l1,
            features,
            buckets,
            compressed: false,
        }
    }

    /// Reads the parameters; compressed ones are recognised.
    pub(super) fn read(reader: &mut Reader<'_>, shape: &Shape) -> Result<Self, NetError> {
        let (l1, features, buckets) = (shape.l1, shape.features.set().count(), shape.psqt);
        let source = if leb128::is_next(reader.rest()) {
            let mut block = |name, count| leb128::block(reader, name, count);
            Blocks::Compressed([
                block(BLOCKS[0], l1)?,
                block(BLOCKS[1], l1 * features)?,
                if buckets == 0 {
                    &[]
                } else {
                    block(BLOCKS[2], buckets * features)?
                },
            ])
        } else {
            Blocks::Plain([
                reader.take(2 * l1)?,
                reader.take(2 * l1 * features)?,
                reader.take(4 * buckets * features)?,
            ])
        };
        // Not before the file has turned out to be as long as it must be: this is where the memory is taken.
        let mut this = Self::zeroed(shape);
        this.compressed = matches!(source, Blocks::Compressed(_));
        this.fill(&source)?;
        Ok(this)
    }

    fn fill(&mut self, source: &Blocks<'_>) -> Result<(), NetError> {
        let [biases, weights] = [&mut self.biases, &mut self.weights].map(Aligned::as_mut_slice);
        let biases: &mut [i16] = &mut biases[..self.l1];
        let weights: &mut [i16] = &mut weights[..self.l1 * self.features];
        let psqt: &mut [i32] = &mut self.psqt.as_mut_slice()[..self.buckets * self.features];
        match source {
            Blocks::Plain([from_biases, from_weights, from_psqt]) => {
                plain(from_biases, biases, i16::from_le_bytes);
                plain(from_weights, weights, i16::from_le_bytes);
                plain(from_psqt, psqt, i32::from_le_bytes);
            }
            Blocks::Compressed([from_biases, from_weights, from_psqt]) => {
                let named = |block| move |fault| NetError::BadCompression { block, fault };
                leb128::decode(from_biases, biases).map_err(named(BLOCKS[0]))?;
                leb128::decode(from_weights, weights).map_err(named(BLOCKS[1]))?;
                leb128::decode(from_psqt, psqt).map_err(named(BLOCKS[2]))?;
            }
        }
        Ok(())
    }

    /// Appends the parameters, compressed or not.
    pub(super) fn write(&self, compressed: bool, out: &mut Vec<u8>) {
        if compressed {
            leb128::encode(self.biases().iter().map(|&number| number.into()), out);
            leb128::encode(self.weights().iter().map(|&number| number.into()), out);
            if self.buckets > 0 {
                leb128::encode(self.psqt().iter().copied(), out);
            }
        } else {
            let numbers = self.biases().iter().chain(self.weights());
            out.extend(numbers.flat_map(|number| number.to_le_bytes()));
            out.extend(self.psqt().iter().flat_map(|number| number.to_le_bytes()));
        }
    }

    /// Whether the parameters were compressed in their file.
    pub fn is_compressed(&self) -> bool {
        self.compressed
    }

    /// What an accumulator holds on an empty board.
    pub fn biases(&self) -> &[i16] {
        &self.biases.as_slice()[..self.l1]
    }

    /// All the weights, row after row.
    pub fn weights(&self) -> &[i16] {
        &self.weights.as_slice()[..self.l1 * self.features]
    }

    /// The piece-square values, one per bucket for every feature.
    pub fn psqt(&self) -> &[i32] {
        &self.psqt.as_slice()[..self.buckets * self.features]
    }

    /// The same, to be filled.
    pub(crate) fn biases_mut(&mut self) -> &mut [i16] {
        &mut self.biases.as_mut_slice()[..self.l1]
    }

    /// The same, to be filled.
    pub(crate) fn weights_mut(&mut self) -> &mut [i16] {
        &mut self.weights.as_mut_slice()[..self.l1 * self.features]
    }

    /// The same, to be filled.
    pub(super) fn psqt_mut(&mut self) -> &mut [i32] {
        &mut self.psqt.as_mut_slice()[..self.buckets * self.features]
    }

    /// The sums of an empty board; `L1` and `P` must be the sizes of this layer.
    pub fn empty<const L1: usize, const P: usize>(&self) -> Accumulator<L1, P> {
        let mut sums = Accumulator::zeroed();
        sums.neurons.copy_from_slice(self.biases());
        sums
    }

    /// The rows; `L1` and `P` must be the sizes of this layer.
    #[inline]
    pub fn rows<const L1: usize, const P: usize>(&self) -> Rows<'_, L1, P> {
        debug_assert_eq!((L1, P), (self.l1, self.buckets));
        Rows {
            neurons: self.weights().as_chunks().0,
            psqt: self.psqt(),
        }
    }
}
