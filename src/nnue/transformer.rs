//! The first layer: rows of weights that are added up while the pieces move.

use bytemuck::{Pod, Zeroable};

use super::architecture::Shape;
use super::error::NetError;
use super::file::Reader;
use super::leb128;
use crate::util::memory::{Zeroed, zeroed_slice_or_abort};

/// One cache line: the unit in which parameters are stored, so that every row starts on its own.
#[derive(Clone, Copy, Pod, Zeroable, Debug)]
#[repr(C, align(64))]
pub struct CacheLine([u8; 64]);

/// A table of numbers whose first byte lies at a multiple of 64.
pub(super) struct Aligned(Zeroed<CacheLine>);

impl Aligned {
    /// Zeroed room for `bytes` bytes, rounded up to whole cache lines.
    pub fn zeroed(bytes: usize) -> Self {
        let lines = bytes.div_ceil(size_of::<CacheLine>());
        // Large pages where there are any: the transformer is 20 MB or more, read at random.
        Self(zeroed_slice_or_abort(lines))
    }

    pub fn as_slice<T: Pod>(&self) -> &[T] {
        bytemuck::cast_slice(&self.0)
    }

    pub fn as_mut_slice<T: Pod>(&mut self) -> &mut [T] {
        bytemuck::cast_slice_mut(&mut self.0)
    }
}

/// One perspective's accumulator: `L1` neurons, and `P` piece-square values (none or 8).
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Sums<const L1: usize, const P: usize> {
    /// Sums of the rows of weights, wrapping.
    pub neurons: [i16; L1],
    /// Sums of the piece-square values, wrapping.
    pub psqt: [i32; P],
}

impl<const L1: usize, const P: usize> Sums<L1, P> {
    /// All zero.
    pub fn zeroed() -> Self {
        Self {
            neurons: [0; L1],
            psqt: [0; P],
        }
    }
}

/// The parameters that a feature adds to [`Sums`].
#[derive(Clone, Copy)]
pub struct Rows<'a, const L1: usize, const P: usize> {
    /// One row per feature.
    pub neurons: &'a [[i16; L1]],
    /// `P` values per feature.
    pub psqt: &'a [i32],
}

impl<const L1: usize, const P: usize> Rows<'_, L1, P> {
    /// The piece-square values of a feature.
    #[inline(always)]
    pub fn psqt(&self, feature: u16) -> &[i32] {
        &self.psqt[usize::from(feature) * P..][..P]
    }
}

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
enum Source<'a> {
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
    /// Reads the parameters; compressed ones are recognised.
    pub(super) fn read(reader: &mut Reader<'_>, shape: &Shape) -> Result<Self, NetError> {
        let (l1, features, buckets) = (shape.l1, shape.features.count(), shape.psqt);
        let source = if leb128::is_next(reader.rest()) {
            let mut block = |name, count| leb128::block(reader, name, count);
            Source::Compressed([
                block(BLOCKS[0], l1)?,
                block(BLOCKS[1], l1 * features)?,
                if buckets == 0 {
                    &[]
                } else {
                    block(BLOCKS[2], buckets * features)?
                },
            ])
        } else {
            Source::Plain([
                reader.take(2 * l1)?,
                reader.take(2 * l1 * features)?,
                reader.take(4 * buckets * features)?,
            ])
        };
        let mut this = Self {
            biases: Aligned::zeroed(2 * l1),
            weights: Aligned::zeroed(2 * l1 * features),
            psqt: Aligned::zeroed(4 * buckets * features),
            l1,
            features,
            buckets,
            compressed: matches!(source, Source::Compressed(_)),
        };
        this.fill(&source)?;
        Ok(this)
    }

    fn fill(&mut self, source: &Source<'_>) -> Result<(), NetError> {
        let biases: &mut [i16] = &mut self.biases.as_mut_slice()[..self.l1];
        let weights: &mut [i16] = &mut self.weights.as_mut_slice()[..self.l1 * self.features];
        let psqt: &mut [i32] = &mut self.psqt.as_mut_slice()[..self.buckets * self.features];
        match source {
            Source::Plain([from_biases, from_weights, from_psqt]) => {
                plain(from_biases, biases, i16::from_le_bytes);
                plain(from_weights, weights, i16::from_le_bytes);
                plain(from_psqt, psqt, i32::from_le_bytes);
            }
            Source::Compressed([from_biases, from_weights, from_psqt]) => {
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

    /// The sums of an empty board; `L1` and `P` must be the sizes of this layer.
    pub fn empty<const L1: usize, const P: usize>(&self) -> Sums<L1, P> {
        let mut sums = Sums::zeroed();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_start_on_a_cache_line() {
        for bytes in [1, 64, 100, 5 << 20] {
            let table = Aligned::zeroed(bytes);
            assert_eq!(table.as_slice::<u8>().as_ptr() as usize % 64, 0);
        }
    }
}
