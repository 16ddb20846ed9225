//! Conversion of internal units to centipawns and to win, draw and loss probabilities.
//!
//! The model is the usual logistic one. A side whose value is `v` wins with probability `1 / (1 + exp((a - v) / b))`,
//! loses with the same probability at `-v`, and draws otherwise. At `v = a` the probability of a win is one half. By
//! definition `a` is one pawn, so +1.00 means "wins half of such games". Both constants depend on the remaining
//! material.
//!
//! The constants have the highest likelihood for values of the default net (x2 of `nets/PROVENANCE.md`) in games of
//! the engine against itself. Their fit, and predicted and counted results, are in `docs/experiments.md`. Between
//! equal players, a small lead from a balanced opening is worth less than the model predicts.
// CITE: form, material count and its range (17 to 78, anchored at 58): the win-rate model of Stockfish and its
// WDL_model repository; the constants are ours, fitted to our games.

use super::score::{Value, is_loss, is_win};
use crate::board::{Position, Role};

/// The model's constants in internal units, for one amount of material.
struct Model {
    a: f64,
    b: f64,
}

/// The constants at `material` (pawn 1, minor 3, rook 5, queen 9; 78 at the start).
fn model(material: i32) -> Model {
    let m = f64::from(material.clamp(17, 78)) / 58.0;
    Model { a: A[0] * m + A[1], b: B[0] * m + B[1] }
}

/// Slope and offset of `a` in material / 58.
const A: [f64; 2] = [12.0, 192.0];
/// Slope and offset of `b` in material / 58.
const B: [f64; 2] = [63.4, 17.9];

/// Material of both sides: pawn 1, minor 3, rook 5, queen 9.
pub fn material(position: &Position) -> i32 {
    let count = |role| position.by_role(role).count() as i32;
    count(Role::Pawn) + 3 * (count(Role::Knight) + count(Role::Bishop)) + 5 * count(Role::Rook) + 9 * count(Role::Queen)
}

/// A value in hundredths of a pawn.
pub fn centipawns(value: Value, material: i32) -> i32 {
    (f64::from(value) * 100.0 / model(material).a).round() as i32
}

/// Permill of wins, draws and losses, which add up to 1000.
pub fn wdl(value: Value, material: i32) -> [u16; 3] {
    if is_win(value) {
        return [1000, 0, 0];
    }
    if is_loss(value) {
        return [0, 0, 1000];
    }
    let Model { a, b } = model(material);
    let chance = |v: Value| (1000.0 / (1.0 + ((a - f64::from(v)) / b).exp())).round() as u16;
    let (win, loss) = (chance(value), chance(-value));
    [win, 1000 - win - loss, loss]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wdl_sums_to_1000_and_win_chance_grows() {
        let mut last = 0;
        for value in (-3000..=3000).step_by(50) {
            for material in [0, 17, 40, 78] {
                let [w, d, l] = wdl(value, material);
                assert_eq!(w + d + l, 1000);
                assert_eq!(wdl(-value, material), [l, d, w]);
            }
            let [w, ..] = wdl(value, 58);
            assert!(w >= last);
            last = w;
        }
    }

    #[test]
    fn one_pawn_wins_half_of_the_games() {
        let a = model(58).a;
        assert_eq!(centipawns(a.round() as Value, 58), 100);
        // One half, within the rounding of the value.
        assert!(wdl(a.round() as Value, 58)[0].abs_diff(500) <= 2);
    }
}
