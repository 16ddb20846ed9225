//! What the search makes of the network's value.

use super::params;
use super::score::{Value, clamp_eval, piece_value};
use crate::board::{Position, Role};

/// The network's value as the search takes it: scaled by the material left, below every proven result.
///
/// It counts for more the more material is left, because a given advantage is easier to win with pieces on the board.
// CITE: the scaling by material is Stockfish 12's, for whose nets this format was made.
#[inline]
pub(crate) fn scaled(position: &Position, raw: Value) -> Value {
    let material: Value = Role::ALL
        .map(|role| piece_value(role) * position.by_role(role).count() as Value)
        .iter()
        .sum();
    let scale = params::eval_base() + material / params::eval_material_div();
    let value = i64::from(raw) * i64::from(scale) / 1024;
    clamp_eval(value.clamp(-30_000, 30_000) as Value)
}
