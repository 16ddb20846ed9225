//! A net without training: material, with or without piece-square values, carried through the clipped layers.
//!
//! It exists so that the engine has a net before the trainer has data, and as the weakest opponent that a trained net
//! must beat; without the squares it knows nothing that a trainer has to be praised for. A clipped unit passes only
//! 0..=127, so a number that spans thousands is written as a *thermometer*: a column of units, each showing the next
//! slice of 127, whose sum is the number again. Both layer boundaries use it:
//!
//! ```text
//! transformer: 64 units per perspective, unit j = clamp(score + 4064 - 127 j, 0, 127)   sum = score + 4064
//! first layer: 32 units, unit k = clamp((own sum - other sum) / 4 + 2032 - 127 k, 0, 127)
//! second layer passes through; the output sums with 32 and takes the offset off: raw = 16 * score
//! ```
//!
//! The perspectives see opposite scores, so their difference over four is half the score: the step is two engine
//! units, the span +-4064.

use crate::nnue::layers::{Dense, Head};
use crate::nnue::{Architecture, Network};
use crate::train::model::psqt::piece_value;
use crate::train::model::scales::HIDDEN;

/// The shape of the net: Stockfish 12's.
const ARCHITECTURE: Architecture = Architecture::HALF_KP;

/// Units in a perspective's thermometer.
const COLUMN: usize = 64;
/// Half of what a column spans, in engine units.
const HALF_SPAN: i32 = 64 * 127 / 2;

/// The value in engine units of an own piece (0 pawn .. 4 queen) on a square seen from its own side.
type Values = fn(role: usize, square: usize) -> i16;

/// The material net as a `.nnue` file, with piece-square values if `squares` matter.
pub fn material_net(squares: bool) -> Vec<u8> {
    let values: Values = if squares {
        piece_square
    } else {
        piece_anywhere
    };
    build(values).to_bytes()
}

/// The net's parameters.
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

/// The dense layers: the difference of both thermometers, as a thermometer, and its sum.
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

/// What a piece in this row is worth to the perspective, whatever its king does: own pieces count for it, enemies
/// against.
fn row_value(values: Values, piece_row: usize) -> i16 {
    let (kind, square) = (piece_row / 64, piece_row % 64);
    if kind % 2 == 0 {
        values(kind / 2, square)
    } else {
        -values(kind / 2, square ^ 63)
    }
}

/// Material alone.
fn piece_anywhere(role: usize, _square: usize) -> i16 {
    piece_value(role)
}

/// Material and where it stands.
///
/// The numbers are hand-made: common exchange values, centralisation for the minor pieces, and pawns that grow as
/// they advance. They mirror left to right, as the rotated view of black requires.
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

/// Central pawns are worth more once they have moved, and the shield of the castled king less when it has.
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
    use crate::train::samples::active::record_of;
    use crate::util::rng::SplitMix64;
    use shakmaty::{Board, Chess, Color, Position, Role};

    /// The same score straight from the tables, without a net.
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

    /// What the net says, in engine units.
    fn evaluate(net: &Network, board: &Board, us: Color) -> i32 {
        net.trace(&record_of(board, us.is_black())).output / 16
    }

    #[test]
    fn the_net_says_what_the_tables_say() {
        says_what_the_tables_say(piece_square);
        says_what_the_tables_say(piece_anywhere);
    }

    fn says_what_the_tables_say(values: Values) {
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
                let wanted = direct(values, board, us).clamp(-HALF_SPAN, HALF_SPAN);
                assert!((value - wanted).abs() <= 2, "{value} for {wanted}: {board}");
            }
        }
    }

    #[test]
    fn the_span_covers_a_queen_and_more() {
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
    fn values_mirror_left_to_right() {
        for role in 0..5 {
            for square in 0..64 {
                assert_eq!(piece_square(role, square), piece_square(role, square ^ 7));
            }
        }
    }
}
