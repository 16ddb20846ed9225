//! Conversion of internal units to centipawns and to win, draw and loss probabilities.
//!
//! The model is the usual logistic one: a side whose value is `v` wins with probability
//! `1 / (1 + exp((a - v) / b))`, loses with that of `-v`, and draws otherwise; `a`, where winning becomes an even
//! bet, is by definition one pawn, so that +1.00 means "wins half of such games". Both constants depend on the
//! material left.
//!
//! The constants are those of highest likelihood for 69,390 values of the default net (x2 of `nets/PROVENANCE.md`):
//! from move 8 on, in 609 games of the engine with itself, 509 at 3+0.03 from unbalanced openings (UHO_4060_v3.epd) and
//! 100 at 10+0.1 from popular ones (popularpos_lichess_v3.epd), of which 95 were drawn. Log loss on every fifth game,
//! which the fit had not seen: 0.382, 0.392 with the constants of the net before; of the games at 10+0.1 alone 0.271
//! and 0.301. Alternatives that were tried are in `docs/experiments.md`. Predicted and counted results, in percent:
//!
//! | value | positions | wins, draws, losses predicted | counted |
//! |---|---|---|---|
//! | -200 and less | 15,783 | 0, 16, 84 | 1, 14, 85 |
//! | -200 to -100 | 7,074 | 1, 65, 34 | 2, 61, 37 |
//! | -100 to -50 | 2,998 | 2, 88, 11 | 1, 89, 10 |
//! | -50 to -20 | 2,482 | 2, 93, 5 | 1, 96, 3 |
//! | -20 to 20 | 12,112 | 2, 95, 2 | 0, 99, 1 |
//! | 20 to 50 | 2,408 | 5, 93, 2 | 2, 97, 1 |
//! | 50 to 100 | 2,900 | 11, 87, 2 | 7, 92, 1 |
//! | 100 to 200 | 6,647 | 34, 65, 1 | 33, 65, 2 |
//! | 200 and more | 16,986 | 83, 16, 0 | 83, 16, 1 |
//!
//! At 10+0.1 alone, 50 to 100: 13, 84, 3 predicted and 4, 95, 1 counted (642 positions): between equals a small lead
//! from a popular opening is worth less than the model says.
// CITE: form, material count and its range (17 to 78, anchored at 58): the win-rate model of Stockfish and its
// WDL_model repository; the constants are ours, fitted to our games.

use super::score::{Value, is_loss, is_win};
use crate::board::{Position, Role};

/// `a` and `b` in internal units at `material` (pawn 1, minor 3, rook 5, queen 9; 78 at the start).
fn model(material: i32) -> (f64, f64) {
    let m = f64::from(material.clamp(17, 78)) / 58.0;
    (A[0] * m + A[1], B[0] * m + B[1])
}

/// Slope and offset of `a` in material / 58.
const A: [f64; 2] = [12.0, 192.0];
/// Slope and offset of `b` in material / 58.
const B: [f64; 2] = [63.4, 17.9];

/// Material of both sides: pawn 1, minor 3, rook 5, queen 9.
pub fn material(position: &Position) -> i32 {
    let count = |role| position.by_role(role).count() as i32;
    count(Role::Pawn)
        + 3 * (count(Role::Knight) + count(Role::Bishop))
        + 5 * count(Role::Rook)
        + 9 * count(Role::Queen)
}

/// A value in hundredths of a pawn.
pub fn centipawns(value: Value, material: i32) -> i32 {
    let (a, _) = model(material);
    (f64::from(value) * 100.0 / a).round() as i32
}

/// Permill of wins, draws and losses; they add up to 1000.
pub fn wdl(value: Value, material: i32) -> [u16; 3] {
    if is_win(value) {
        return [1000, 0, 0];
    }
    if is_loss(value) {
        return [0, 0, 1000];
    }
    let (a, b) = model(material);
    let chance = |v: Value| (1000.0 / (1.0 + ((a - f64::from(v)) / b).exp())).round() as u16;
    let (win, loss) = (chance(value), chance(-value));
    [win, 1000 - win - loss, loss]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_add_up_and_grow() {
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
    fn a_pawn_wins_half_of_the_games() {
        let (a, _) = model(58);
        assert_eq!(centipawns(a.round() as Value, 58), 100);
        // Half of them, but for the rounding of the value.
        assert!(wdl(a.round() as Value, 58)[0].abs_diff(500) <= 2);
    }
}
