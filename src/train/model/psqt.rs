//! Piece-square values beside the transformer's rows: what a piece on a square is worth before the layers say a word,
//! one value for each stack of layers, in outputs.
//!
//! Half the difference of both sides' sums goes to the output, so that the layers learn what material does not tell. As
//! in the transformer, what all king buckets have in common is in a factor row, and the export adds both.
// CITE: piece-square outputs of Stockfish 14's nets (Tomasz Sobczyk and others), with the idea that they begin as
// piece values.

use super::scales::UNITS;
use crate::nnue::Architecture;

/// What a piece (0 pawn to 5 king) is worth, in engine units.
pub fn piece_value(role: usize) -> i16 {
    [208, 780, 830, 1270, 2520, 0][role]
}

/// Values of a piece row: for each king, and then for all of them.
pub fn block(architecture: Architecture) -> usize {
    (architecture.features.set().kings + 1) * architecture.psqt
}

/// Values of zero; none for an architecture without them.
pub fn zeros(architecture: Architecture) -> Vec<f32> {
    vec![0.0; architecture.features.set().piece_rows() * block(architecture)]
}

/// What training begins with: piece values in the factor rows, those of the other side less than nothing, kings zero.
pub fn initial(architecture: Architecture) -> Vec<f32> {
    let mut values = zeros(architecture);
    if values.is_empty() {
        return values;
    }
    for (piece_row, block) in values.chunks_exact_mut(block(architecture)).enumerate() {
        let (piece, is_other) = (piece_row / 64 / 2, piece_row / 64 % 2 == 1);
        let value = f32::from(piece_value(piece)) / UNITS;
        let factor = block.len() - architecture.psqt;
        block[factor..].fill(if is_other { -value } else { value });
    }
    values
}

/// The values of a piece row as the engine will see them with a king in that bucket: real plus factor.
pub fn folded(
    values: &[f32],
    architecture: Architecture,
    piece_row: usize,
    king: usize,
) -> impl Iterator<Item = f32> + '_ {
    let (size, width) = (block(architecture), architecture.psqt);
    let block = &values[piece_row * size..][..size];
    let (real, factor) = (&block[king * width..][..width], &block[size - width..]);
    real.iter().zip(factor).map(|(real, factor)| real + factor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::model::Model;
    use crate::train::model::shapes;
    use crate::train::samples::active::record_of;
    use crate::util::rng::SplitMix64;

    #[test]
    fn a_queen_more_is_a_queen_more_for_either_side() {
        let architecture = shapes::all().find(|shape| shape.psqt > 0);
        let architecture = architecture.expect("one is trained");
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
