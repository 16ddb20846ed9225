//! From internal units to what people read: centipawns, and chances to win, draw and lose.
//!
//! The model is the usual logistic one: a side whose value is `v` wins with probability
//! `1 / (1 + exp((a - v) / b))`, loses with that of `-v`, and draws otherwise; `a`, where winning becomes an even
//! bet, is by definition one pawn, so that +1.00 means "wins half of such games". Both constants depend on the
//! material left.
//!
//! The constants are those of highest likelihood for 47,812 values of the default net before today's (p1 of
//! `nets/PROVENANCE.md`; x1 and x2 speak in the same units: on 60,189 positions p1 and x1 are 0.81 of their teachers'
//! values, and x2 is 1.00 of x1 where the value is below 1000):
//! from move 8 on, in 440 games of the engine with itself at 1+0.01, half of them from unbalanced openings
//! (UHO_4060_v3.epd), half from popular ones (popularpos_lichess_v3.epd). Log loss on every fifth game, which the fit
//! had not seen: 0.440, 0.450 with the constants of the net before; powers of the material beyond the first add
//! nothing. At a slower clock fewer leads are lost. What it says against what was counted, in percent:
//!
//! | value | positions | wins, draws, losses predicted | counted |
//! |---|---|---|---|
//! | -200 and less | 6,807 | 1, 20, 80 | 0, 18, 81 |
//! | -200 to -100 | 3,909 | 2, 68, 30 | 3, 60, 37 |
//! | -100 to -50 | 3,076 | 3, 84, 13 | 4, 81, 16 |
//! | -50 to -20 | 2,540 | 4, 88, 8 | 4, 87, 9 |
//! | -20 to 20 | 10,739 | 3, 93, 3 | 2, 95, 3 |
//! | 20 to 50 | 2,439 | 9, 87, 4 | 9, 87, 4 |
//! | 50 to 100 | 3,087 | 13, 83, 3 | 14, 82, 4 |
//! | 100 to 200 | 4,251 | 30, 68, 2 | 32, 64, 4 |
//! | 200 and more | 7,371 | 79, 20, 1 | 78, 21, 1 |
// CITE: the win-rate model that Stockfish documents in its WDL_model repository (idea; our constants).

use super::score::{Value, is_loss, is_win};
use crate::board::{Position, Role};

/// `a` and `b` in internal units at `material` (pawn 1, minor 3, rook 5, queen 9; 78 at the start).
fn model(material: i32) -> (f64, f64) {
    let m = f64::from(material.clamp(17, 78)) / 58.0;
    (A[0] * m + A[1], B[0] * m + B[1])
}

/// Slope and offset of `a` in material / 58.
const A: [f64; 2] = [-15.3, 229.9];
/// Slope and offset of `b` in material / 58.
const B: [f64; 2] = [75.3, 25.2];

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
