//! The blocks of parameters of the first layer, in the order of the file.

use super::Shape;
use crate::nnue::features::threat_inputs::ThreatInputs;

/// Table and number type of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BlockKind {
    /// i16, one row.
    Biases,
    /// i16, one row for each piece on a square.
    Weights,
    /// i8, one row for each threat input; never compressed.
    ThreatInputs,
    /// i32, one row for each threat input, then one row for each piece on a square.
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
    let (threats, all) = (threat_inputs.threat_count(), threat_inputs.count());
    let pieces = shape.features.set().count();
    let block = |name, kind, from, to| Block { name, kind, rows: (from, to) };
    let biases = block("biases", BlockKind::Biases, 0, 1);
    let weights = block("weights", BlockKind::Weights, 0, pieces);
    let psqt = |name, from, to| block(name, BlockKind::Psqt, from, to);
    let mut blocks = match shape.threat_inputs {
        ThreatInputs::None => vec![biases, weights, psqt("piece-square values", 0, pieces)],
        ThreatInputs::Threats => vec![
            biases,
            block("threat weights", BlockKind::ThreatInputs, 0, threats),
            weights,
            psqt("piece-square values", 0, all + pieces),
        ],
        ThreatInputs::ThreatsAndPawnPairs => vec![
            biases,
            block("threat weights", BlockKind::ThreatInputs, 0, threats),
            psqt("threat piece-square values", 0, threats),
            block("pawn pair weights", BlockKind::ThreatInputs, threats, all),
            psqt("pawn pair piece-square values", threats, all),
            weights,
            psqt("piece-square values", all, all + pieces),
        ],
    };
    blocks.retain(|block| shape.psqt > 0 || block.kind != BlockKind::Psqt);
    blocks
}

impl Block {
    /// The index range of the block's numbers within its table, whose rows have `width` numbers.
    pub fn range(&self, width: usize) -> std::ops::Range<usize> {
        self.rows.0 * width..self.rows.1 * width
    }
}
