//! Material net: an untrained net of material, with or without piece-square values, encoded in the clipped layers.
//!
//! This net is used before training data exist, and as the weakest opponent that a trained net must beat. Without
//! squares it has no positional knowledge. A clipped unit passes only 0..=127, so a larger number is encoded as a
//! *thermometer*: a column of units, each of which represents the next slice of 127. The sum of the column is the
//! number. Both layer boundaries use this code:
//!
//! ```text
//! transformer: 64 units per perspective, unit j = clamp(score + 4064 - 127 j, 0, 127)   sum = score + 4064
//! first layer: 32 units, unit k = clamp((own sum - other sum) / 4 + 2032 - 127 k, 0, 127)
//! second layer passes through; the output multiplies the sum by 32 and subtracts the offset: raw = 16 * score
//! ```
//!
//! The perspectives have opposite scores, so their difference divided by four is half the score. The resolution is two
//! engine units, the range ±4064.

use crate::nnue::layers::{Dense, Head};
use crate::nnue::{Architecture, Network};
use crate::train::model::parameters::piece_value;
use crate::train::model::shapes::HIDDEN;

/// The shape of the net, as in Stockfish 12.
const ARCHITECTURE: Architecture = Architecture::HALF_KP;

/// Units in the thermometer of one perspective.
const COLUMN: usize = 64;
/// Half of the range of a column, in engine units.
const HALF_SPAN: i32 = 64 * 127 / 2;

/// The value in engine units of a side's own piece (0 pawn to 4 queen) on a square, from that side's view.
type Values = fn(role: usize, square: usize) -> i16;

/// Returns the material net as a `.nnue` file, with piece-square values if `squares`.
pub fn material_net(squares: bool) -> Vec<u8> {
    let values: Values = if squares { piece_square } else { piece_anywhere };
    build(values).to_bytes()
}

/// Builds the net from its piece values.
fn build(values: Values) -> Network {
    let (l1, set) = (ARCHITECTURE.l1, ARCHITECTURE.features.set());
    let mut net = Network::zeroed(ARCHITECTURE);
    let (transformer, heads) = net.parameters_mut();
    for (unit, bias) in transformer.biases_mut()[..COLUMN].iter_mut().enumerate() {
        *bias = (HALF_SPAN - 127 * unit as i32) as i16;
    }
    for piece_row in 0..set.piece_rows() {
        for king in 0..set.kings {
            let row = usize::from(set.row(king as u16, piece_row as u16));
            transformer.weights_mut()[row * l1..][..COLUMN].fill(row_value(values, piece_row));
        }
    }
    heads[0] = layers(l1);
    net
}

/// Builds the dense layers: a thermometer of the difference of both thermometers, and its sum.
fn layers(l1: usize) -> Head {
    let [first, second, output] = ARCHITECTURE.layers();
    let (mut first_bias, mut first_weight) = (vec![0; HIDDEN], vec![0; first.weights()]);
    let mut second_weight = vec![0; second.weights()];
    for (unit, weights) in first_weight.chunks_exact_mut(2 * l1).enumerate() {
        weights[..COLUMN].fill(16);
        weights[l1..l1 + COLUMN].fill(-16);
        first_bias[unit] = 64 * (HALF_SPAN / 2 - 127 * unit as i32);
        second_weight[unit * HIDDEN + unit] = 64;
    }
    Head::from_layers([
        Dense::new(first, first_bias, &first_weight),
        Dense::new(second, vec![0; HIDDEN], &second_weight),
        Dense::new(output, vec![-16 * HALF_SPAN], &[32; HIDDEN]),
    ])
}

/// Value of a piece on a square, by its row without the king, for one perspective: positive for own pieces, negative
/// for the opponent's.
fn row_value(values: Values, piece_row: usize) -> i16 {
    let (kind, square) = (piece_row / 64, piece_row % 64);
    if kind % 2 == 0 { values(kind / 2, square) } else { -values(kind / 2, square ^ 63) }
}

/// Material value, the same on every square.
fn piece_anywhere(role: usize, _square: usize) -> i16 {
    piece_value(role)
}

/// Material and piece-square value.
///
/// The numbers are hand-made: common exchange values, centralisation for the minor pieces, and pawns that gain value
/// as they advance. They are symmetric left to right, as the rotated view of Black requires.
fn piece_square(role: usize, square: usize) -> i16 {
    let (file, rank) = (square % 8, square / 8);
    let centre_file = [0, 1, 2, 3, 3, 2, 1, 0][file];
    let centre_rank = [0, 1, 2, 3, 3, 2, 1, 0][rank];
    let centrality = centre_file + centre_rank;
    match role {
        0 => [0, 172, 176, 190, 214, 256, 340, 0][rank] + pawn_centre(centre_file, rank),
        1 => 700 + 22 * centrality + [-20, 0, 8, 12, 20, 24, 8, -8][rank],
        2 => 790 + 10 * centrality + [-16, 6, 6, 6, 8, 6, 0, -6][rank],
        3 => 1260 + 8 * centre_file + [4, 0, 0, 0, 6, 10, 44, 24][rank],
        _ => 2460 + 8 * centrality + [-6, 4, 6, 6, 8, 10, 8, 4][rank],
    }
}

/// Bonus for central pawns that have advanced, and for the unmoved pawns of a castled king's shield.
fn pawn_centre(centre_file: i16, rank: usize) -> i16 {
    match (centre_file, rank) {
        (3, 1) => -12,
        (3, 3 | 4) => 26,
        (2, 3 | 4) => 12,
        (0 | 1, 1) => 14,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::samples::record_of;
    use crate::util::rng::SplitMix64;
    use shakmaty::{Board, Chess, Color, Position, Role};

    /// The score computed from the tables, without a net.
    fn direct(values: Values, board: &Board, us: Color) -> i32 {
        board
            .iter()
            .filter(|(_, piece)| piece.role != Role::King)
            .map(|(square, piece)| {
                let role = piece.role as usize - Role::Pawn as usize;
                let turn = if piece.color.is_white() { 0 } else { 63 };
                let value = i32::from(values(role, usize::from(square) ^ turn));
                if piece.color == us { value } else { -value }
            })
            .sum()
    }

    /// The net's output in engine units.
    fn evaluate(net: &Network, board: &Board, us: Color) -> i32 {
        net.trace(&record_of(board, us.is_black())).output / 16
    }

    #[test]
    fn material_net_reproduces_tables() {
        check_against_tables(piece_square);
        check_against_tables(piece_anywhere);
    }

    fn check_against_tables(values: Values) {
        let net = build(values);
        let mut rng = SplitMix64::new(7);
        for _ in 0..40 {
            let mut game = Chess::default();
            for _ in 0..80 {
                let moves = game.legal_moves();
                if moves.is_empty() {
                    break;
                }
                game.play_unchecked(moves[rng.below(moves.len())]);
                let (board, us) = (game.board(), game.turn());
                let value = evaluate(&net, board, us);
                let expected = direct(values, board, us).clamp(-HALF_SPAN, HALF_SPAN);
                assert!((value - expected).abs() <= 2, "{value} for {expected}: {board}");
            }
        }
    }

    #[test]
    fn material_net_clamps_at_half_span() {
        let net = build(piece_square);
        let lone_queen = "4k3/8/8/8/8/8/8/QQ2K3";
        let board = Board::from_ascii_board_fen(lone_queen.as_bytes()).unwrap();
        let us = Color::White;
        let value = evaluate(&net, &board, us);
        assert_eq!(value, HALF_SPAN);
        let them = evaluate(&net, &board, !us);
        assert_eq!(them, -HALF_SPAN);
    }

    #[test]
    fn piece_square_values_are_symmetric() {
        for role in 0..5 {
            for square in 0..64 {
                assert_eq!(piece_square(role, square), piece_square(role, square ^ 7));
            }
        }
    }
}
