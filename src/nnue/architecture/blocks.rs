//! The blocks of parameters of the first layer, in the order of the file.

use super::Shape;
use crate::nnue::features::threat_inputs::InputGroup;

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
