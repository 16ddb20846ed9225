//! Conversion of the network's output to the search's value.

use crate::board::{Position, Role};
use crate::search::params;
use crate::search::score::{Value, clamp_eval, piece_value};

/// The network's output scaled by material and clamped below every proven result.
///
/// More material means a larger factor, because a given advantage is easier to win with pieces on the board.
// CITE: form and figures (720, material / 32): Stockfish of September to November 2020, whose net format was the first
// that this engine read.
#[inline]
pub(crate) fn scaled(position: &Position, raw: Value) -> Value {
    let material: Value =
        Role::ALL.map(|role| piece_value(role) * position.by_role(role).count() as Value).iter().sum();
    let scale = params::eval_base() + material / params::eval_material_div();
    let value = i64::from(raw) * i64::from(scale) / 1024;
    clamp_eval(value.clamp(-30_000, 30_000) as Value)
}
