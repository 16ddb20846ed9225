//! The first layer (feature transformer): one row of weights for each feature, summed incrementally as pieces move.
// CITE: Yu Nasu (2018), Stockfish 12 (2020).

use std::sync::OnceLock;

use super::architecture::{PAIRED_COLUMNS, Shape};
use super::container::{self, ByteReader};
use super::error::NetError;
use super::features::threat_inputs::InputGroup;
use super::rows::{self, Accumulator, Aligned, AllRows, PSQT, Paired, Rows};

/// The first layer: one row of `l1` weights per feature, piece-square values, and the biases.
pub struct Transformer {
    biases: Aligned,
    /// Weights of pieces on squares, then of attack inputs, as i16.
    weights: Aligned,
    /// See [`Self::paired_attacks`]; made at the first use.
    paired_attacks: OnceLock<Option<Aligned>>,
    /// Weights of threat inputs, as [`Paired`].
    threat_inputs: Aligned,
    /// Piece-square values: threat inputs first, as in the files.
    psqt: Aligned,
    sizes: Sizes,
    blocks: Vec<Block>,
    compressed: bool,
}

/// Widths and numbers of rows.
#[derive(Clone, Copy)]
struct Sizes {
    /// Width of a row of weights.
    l1: usize,
    /// Piece-square values per feature.
    buckets: usize,
    /// Number of features of pieces on squares and of attack inputs.
    pieces: usize,
    /// Number of attack inputs.
    attacks: usize,
    /// Number of threat inputs.
    threat_inputs: usize,
}

impl Sizes {
    fn of(shape: &Shape) -> Self {
        Self {
            l1: shape.l1,
            buckets: shape.psqt,
            pieces: shape.rows(),
            attacks: shape.attacks.rows(),
            threat_inputs: shape.threat_inputs.set().count(),
        }
    }

    /// Length of a row of a table, in numbers.
    fn width(&self, kind: BlockKind) -> usize {
        match kind {
            BlockKind::Psqt => self.buckets,
            BlockKind::Biases | BlockKind::Weights | BlockKind::ThreatInputs => self.l1,
        }
    }
}

/// Fills `out` with little-endian numbers of `N` bytes.
fn plain<T, const N: usize>(bytes: &[u8], out: &mut [T], number: fn([u8; N]) -> T) {
    let (chunks, _) = bytes.as_chunks();
    out.iter_mut().zip(chunks).for_each(|(to, &from)| *to = number(from));
}

impl Transformer {
    /// The parameters of a network of this shape, all zero.
    pub(super) fn zeroed(shape: &Shape) -> Self {
        let sizes = Sizes::of(shape);
        let Sizes { l1, buckets, pieces, threat_inputs, .. } = sizes;
        Self {
            biases: Aligned::zeroed(2 * l1),
            weights: Aligned::zeroed(2 * l1 * pieces),
            paired_attacks: OnceLock::new(),
            threat_inputs: Aligned::zeroed(l1 * threat_inputs),
            psqt: Aligned::zeroed(4 * buckets * (threat_inputs + pieces)),
            sizes,
            blocks: blocks(shape),
            compressed: false,
        }
    }

    /// Reads the parameters and detects whether they are compressed.
    pub(super) fn read(reader: &mut ByteReader<'_>, shape: &Shape) -> Result<Self, NetError> {
        let compressed = container::is_compressed(reader.rest());
        let sizes = Sizes::of(shape);
        let mut source = |block: &Block| {
            let count = block.range(sizes.width(block.kind)).len();
            match block.kind {
                BlockKind::ThreatInputs => reader.take(count),
                _ if compressed => container::compressed_block(reader, block.name, count),
                BlockKind::Biases | BlockKind::Weights => reader.take(2 * count),
                BlockKind::Psqt => reader.take(4 * count),
            }
        };
        let sources: Vec<_> = blocks(shape).iter().map(&mut source).collect::<Result<_, _>>()?;
        // Allocates memory only after the length of the file has been checked.
        let mut this = Self::zeroed(shape);
        this.compressed = compressed;
        for (block, bytes) in blocks(shape).iter().zip(sources) {
            this.fill(block, bytes)?;
        }
        Ok(this)
    }

    fn fill(&mut self, block: &Block, bytes: &[u8]) -> Result<(), NetError> {
        let compressed = self.compressed;
        let named = |fault| NetError::BadCompression { block: block.name, fault };
        match self.block_mut(block) {
            Numbers::Paired(numbers) => rows::pair(bytemuck::cast_slice(bytes), numbers),
            Numbers::I16(numbers) if compressed => {
                container::decompress(bytes, numbers).map_err(named)?;
            }
            Numbers::I32(numbers) if compressed => {
                container::decompress(bytes, numbers).map_err(named)?;
            }
            Numbers::I16(numbers) => plain(bytes, numbers, i16::from_le_bytes),
            Numbers::I32(numbers) => plain(bytes, numbers, i32::from_le_bytes),
        }
        Ok(())
    }

    /// Appends the parameters, compressed or not.
    pub(super) fn write(&self, compressed: bool, out: &mut Vec<u8>) {
        for block in &self.blocks {
            let range = block.range(self.sizes.width(block.kind));
            let words = |table: &Aligned| table.as_slice::<i16>()[range.clone()].to_vec();
            match block.kind {
                BlockKind::ThreatInputs => {
                    let weights = rows::unpair(&self.paired()[range]);
                    out.extend_from_slice(bytemuck::cast_slice(&weights));
                }
                BlockKind::Psqt => {
                    let numbers = self.psqt.as_slice::<i32>()[range].iter().copied();
                    if compressed {
                        container::compress(numbers, out);
                    } else {
                        out.extend(numbers.flat_map(i32::to_le_bytes));
                    }
                }
                BlockKind::Biases => write_words(&words(&self.biases), compressed, out),
                BlockKind::Weights => write_words(&words(&self.weights), compressed, out),
            }
        }
    }

    /// Whether the parameters were compressed in their file.
    pub fn is_compressed(&self) -> bool {
        self.compressed
    }

    /// The blocks of parameters, in the order of the file.
    pub(super) fn blocks(&self) -> Vec<Block> {
        self.blocks.clone()
    }

    /// The biases: the accumulator of an empty board.
    pub fn biases(&self) -> &[i16] {
        &self.biases.as_slice()[..self.sizes.l1]
    }

    /// All weights of pieces on squares, row by row.
    pub fn weights(&self) -> &[i16] {
        &self.weights.as_slice()[..self.sizes.l1 * self.sizes.pieces]
    }

    /// A copy of the weights of attack inputs in the layout of threat inputs, which takes half the memory and cache;
    /// `None` if a weight does not fit into a byte, or the width is not a whole number of blocks of columns.
    fn paired_attacks(&self) -> Option<&[Paired]> {
        let Sizes { l1, pieces, attacks, .. } = self.sizes;
        let copy = || {
            if !l1.is_multiple_of(PAIRED_COLUMNS) {
                return None;
            }
            let weights = &self.weights()[l1 * (pieces - attacks)..];
            let bytes: Vec<i8> = weights.iter().map(|&weight| weight.try_into().ok()).collect::<Option<_>>()?;
            let mut paired = Aligned::zeroed(bytes.len());
            rows::pair(&bytes, paired.as_mut_slice());
            Some(paired)
        };
        let paired = self.paired_attacks.get_or_init(copy).as_ref()?;
        Some(&paired.as_slice()[..l1 * attacks])
    }

    /// A copy of all weights of threat inputs, row by row, in the layout of the file.
    pub fn threat_inputs(&self) -> Vec<i8> {
        rows::unpair(self.paired())
    }

    /// The weights of one threat input.
    pub fn threat_input(&self, index: u32) -> Vec<i8> {
        rows::unpair(&self.paired()[index as usize * self.sizes.l1..][..self.sizes.l1])
    }

    fn paired(&self) -> &[Paired] {
        &self.threat_inputs.as_slice()[..self.sizes.l1 * self.sizes.threat_inputs]
    }

    /// The piece-square values, one per bucket for every feature; threat inputs come first.
    pub fn psqt(&self) -> &[i32] {
        let rows = self.sizes.threat_inputs + self.sizes.pieces;
        &self.psqt.as_slice()[..self.sizes.buckets * rows]
    }

    /// Mutable counterpart of [`Self::biases`].
    pub(crate) fn biases_mut(&mut self) -> &mut [i16] {
        &mut self.biases.as_mut_slice()[..self.sizes.l1]
    }

    /// Mutable counterpart of [`Self::weights`].
    pub(crate) fn weights_mut(&mut self) -> &mut [i16] {
        self.paired_attacks.take();
        &mut self.weights.as_mut_slice()[..self.sizes.l1 * self.sizes.pieces]
    }

    /// Mutable counterpart of [`Self::psqt`].
    pub(crate) fn psqt_mut(&mut self) -> &mut [i32] {
        let rows = self.sizes.threat_inputs + self.sizes.pieces;
        &mut self.psqt.as_mut_slice()[..self.sizes.buckets * rows]
    }

    /// Mutable access to the numbers of a block.
    pub(super) fn block_mut(&mut self, block: &Block) -> Numbers<'_> {
        let range = block.range(self.sizes.width(block.kind));
        self.paired_attacks.take();
        match block.kind {
            BlockKind::Biases => Numbers::I16(&mut self.biases.as_mut_slice()[range]),
            BlockKind::Weights => Numbers::I16(&mut self.weights.as_mut_slice()[range]),
            BlockKind::ThreatInputs => Numbers::Paired(&mut self.threat_inputs.as_mut_slice()[range]),
            BlockKind::Psqt => Numbers::I32(&mut self.psqt.as_mut_slice()[range]),
        }
    }

    /// Sets an accumulator to that of an empty board.
    pub fn set_to_empty(&self, sums: &mut Accumulator) {
        let (neurons, psqt) = sums.parts_mut();
        neurons.copy_from_slice(self.biases());
        *psqt = [0; PSQT];
    }

    /// The rows of pieces on squares, then of attack inputs.
    #[inline]
    pub fn rows(&self) -> Rows<'_, i16> {
        Rows::new(self.weights(), self.sizes.l1, self.psqt_rows().1)
    }

    /// The rows of pieces on squares, and those of threat or attack inputs in the paired layout. `None` if there are
    /// attack inputs without this layout.
    #[inline]
    pub fn all_rows(&self) -> Option<AllRows<'_>> {
        let Sizes { l1, pieces, attacks, .. } = self.sizes;
        let (threat_psqt, psqt) = self.psqt_rows();
        let paired = if attacks == 0 {
            Rows::new(self.paired(), l1, threat_psqt)
        } else {
            Rows::new(self.paired_attacks()?, l1, psqt.get(pieces - attacks..).unwrap_or_default())
        };
        Some(AllRows { pieces: self.rows(), paired })
    }

    /// The piece-square values of threat inputs, and those of [`Self::rows`]; empty if there are none.
    #[inline]
    fn psqt_rows(&self) -> (&[[i32; PSQT]], &[[i32; PSQT]]) {
        let rows = self.psqt().as_chunks().0;
        rows.split_at_checked(self.sizes.threat_inputs).unwrap_or_default()
    }
}

/// The numbers of a block.
pub(super) enum Numbers<'a> {
    /// In the layout of [`rows::pair`].
    Paired(&'a mut [Paired]),
    I16(&'a mut [i16]),
    I32(&'a mut [i32]),
}

fn write_words(numbers: &[i16], compressed: bool, out: &mut Vec<u8>) {
    if compressed {
        container::compress(numbers.iter().map(|&number| number.into()), out);
    } else {
        out.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    }
}

/// Table and number type of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BlockKind {
    /// i16, one row.
    Biases,
    /// i16, one row for each piece on a square, then one for each attack input.
    Weights,
    /// i8, one row for each threat input; never compressed.
    ThreatInputs,
    /// i32, one row for each threat input, then one row for each piece on a square and each attack input.
    Psqt,
}

/// A range of rows of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    /// Name in error messages.
    pub name: &'static str,
    /// Table and number type.
    pub kind: BlockKind,
    /// First row (inclusive) and last row (exclusive).
    pub rows: (usize, usize),
}

/// The blocks of a shape, in file order.
pub(crate) fn blocks(shape: &Shape) -> Vec<Block> {
    let threat_inputs = shape.threat_inputs.set();
    let pieces = shape.rows();
    let block = |name, kind, from, to| Block { name, kind, rows: (from, to) };
    let mut blocks = vec![block("biases", BlockKind::Biases, 0, 1)];
    let mut psqt_from = 0;
    for InputGroup { weights, psqt, rows } in threat_inputs.groups() {
        blocks.push(block(weights, BlockKind::ThreatInputs, rows.start, rows.end));
        if threat_inputs.psqt_by_group {
            blocks.push(block(psqt, BlockKind::Psqt, rows.start, rows.end));
            psqt_from = rows.end;
        }
    }
    blocks.push(block("weights", BlockKind::Weights, 0, pieces));
    blocks.push(block("piece-square values", BlockKind::Psqt, psqt_from, threat_inputs.count() + pieces));
    blocks.retain(|block| shape.psqt > 0 || block.kind != BlockKind::Psqt);
    blocks
}

impl Block {
    /// The index range of the block's numbers within its table, whose rows have `width` numbers.
    pub fn range(&self, width: usize) -> std::ops::Range<usize> {
        self.rows.0 * width..self.rows.1 * width
    }
}
