//! Piece-square values: outputs of features that bypass the layers, one value per layer stack, in units of the output.
//!
//! Half the difference of both sides' sums is added to the output, so the layers need not represent material. As in
//! the transformer, a factor row contains the part common to all king buckets, and the export adds both. Attack inputs
//! have such values too.

use super::rows::RowLayout;
use super::shapes::UNITS;
use crate::nnue::Architecture;

// CITE: piece-square outputs of Stockfish 14's nets (Tomasz Sobczyk and others), with the idea of initialising them
// with piece values.

/// Value of a piece (0 pawn to 5 king) in engine units.
pub fn piece_value(role: usize) -> i16 {
    [208, 780, 830, 1270, 2520, 0][role]
}

/// Returns the layout of the values.
pub fn layout(architecture: Architecture) -> RowLayout {
    RowLayout::new(architecture, architecture.psqt)
}

/// Number of values per piece row: those of each king bucket, then the factor row.
pub fn block(architecture: Architecture) -> usize {
    layout(architecture).block()
}

/// Returns values of zero; empty for an architecture without piece-square values.
pub fn zeros(architecture: Architecture) -> Vec<f32> {
    vec![0.0; layout(architecture).len()]
}

/// Returns initial values: piece values in the factor rows, negative for the opponent's pieces, zero for kings and
/// attack inputs.
pub fn initial(architecture: Architecture) -> Vec<f32> {
    let mut values = zeros(architecture);
    if values.is_empty() {
        return values;
    }
    let blocks = &mut values[..layout(architecture).blocks()];
    for (piece_row, block) in blocks.chunks_exact_mut(block(architecture)).enumerate() {
        let (piece, is_other) = (piece_row / 64 / 2, piece_row / 64 % 2 == 1);
        let value = f32::from(piece_value(piece)) / UNITS;
        let factor = block.len() - architecture.psqt;
        block[factor..].fill(if is_other { -value } else { value });
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::model::Model;
    use crate::train::model::shapes;
    use crate::train::samples::active::record_of;
    use crate::util::rng::SplitMix64;

    #[test]
    fn initial_psqt_counts_a_queen_for_either_side() {
        let architecture = shapes::for_tests().find(|shape| shape.psqt > 0);
        let architecture = architecture.expect("a trainable shape has piece-square values");
        let model = Model::initial(&mut SplitMix64::new(1), architecture, 0.0);
        let board = |fen: &str| shakmaty::Board::from_ascii_board_fen(fen.as_bytes()).unwrap();
        let ahead = board("4k3/pppp4/8/8/8/8/PPPP4/3QK3");
        let queen = f32::from(piece_value(4)) / UNITS;
        for (black_to_move, sign) in [(false, 1.0), (true, -1.0)] {
            let found = model.psqt(&record_of(&ahead, black_to_move));
            assert!((found - sign * queen).abs() < 1e-5, "{found}");
        }
    }
}
