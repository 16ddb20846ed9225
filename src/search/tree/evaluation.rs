//! The static evaluation: from the network's output to the value that the search uses, and the values of draws.

use super::lone_king;
use crate::board::{Position, Role};
use crate::search::ordering::correction;
use crate::search::params;
use crate::search::score::{self, DRAW, Value, clamp_eval, piece_value};
use crate::search::threads::worker::Worker;

/// The network's output scaled by material and clamped below every proven result.
///
/// More material means a larger factor, because a given advantage is easier to win with pieces on the board.
// CITE: form and figures (720, material / 32): Stockfish of September to November 2020, whose net format was the first
// that this engine read.
#[inline]
pub(crate) fn scaled(position: &Position, raw: Value) -> Value {
    let value = i64::from(raw) * i64::from(material_scale(position)) / 1024;
    clamp_eval(value.clamp(-30_000, 30_000) as Value)
}

/// The value of a search in units of the network's output: without the factor of [`scaled`]. Proven results are
/// unchanged.
pub(crate) fn unscaled(position: &Position, value: Value) -> Value {
    if score::is_decisive(value) {
        return value;
    }
    let raw = i64::from(value) * 1024 / i64::from(material_scale(position));
    clamp_eval(raw.clamp(-30_000, 30_000) as Value)
}

/// The factor for the network's output, in parts of 1024.
#[inline]
fn material_scale(position: &Position) -> Value {
    let material: Value =
        Role::ALL.map(|role| piece_value(role) * position.by_role(role).count() as Value).iter().sum();
    params::eval_base() + material / params::eval_material_div()
}

impl Worker {
    /// The static evaluation of the position for the side to move, without corrections.
    pub fn evaluate(&mut self) -> Value {
        let raw = self.accumulators.evaluate(&self.position).value();
        if let Some(sampler) = &mut self.sampler {
            sampler.evaluated(&self.position, raw);
        }
        let value = lone_king::value(&self.position).unwrap_or_else(|| scaled(&self.position, raw));
        match &self.job.handicap {
            None => value,
            Some(handicap) => clamp_eval(handicap.evaluate(&self.position, value)),
        }
    }

    /// Value of the position for the side to move, without a search: the result if the game is over, else the
    /// evaluation.
    pub fn static_value(&mut self) -> Value {
        if self.position.legal_moves().is_empty() {
            return if self.position.in_check() { score::mated_in(self.stack.ply()) } else { DRAW };
        }
        if self.position.is_draw(self.stack.ply()) {
            return DRAW;
        }
        self.evaluate()
    }

    /// The static evaluation as used by the search: corrected by the correction histories, and damped as the 50-move
    /// counter rises.
    // CITE: damping by the counter: Stockfish, figure of 17 and 17.1.
    pub fn corrected(&self, eval: Value, correction: Value) -> Value {
        if self.expires() {
            return DRAW;
        }
        let fading = eval - eval * self.position.halfmoves().min(100) as Value / params::eval_fade_div();
        correction::corrected(fading, correction)
    }

    /// Value of a draw, dithered by one unit, so that the search does not always prefer the first of many drawn lines.
    /// In analysis mode, and where all other lines are also draws, a draw is exactly 0.
    // CITE: Stockfish (2018).
    #[inline]
    pub fn draw_value(&self) -> Value {
        if self.job.options.analyse_mode || self.expires() {
            return DRAW;
        }
        DRAW - 1 + (self.nodes & 2) as Value
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::search::options::SearchOptions;
    use crate::search::tests::worker;
    use crate::search::threads::job::Job;

    #[test]
    fn draw_value_is_dithered_in_games_and_exact_in_analysis() {
        let mut worker = worker(&Position::startpos());
        let mut draws = |analyse_mode| {
            let options = SearchOptions { analyse_mode, ..SearchOptions::default() };
            worker.begin(Arc::new(Job { options, ..Job::idle() }));
            [0, 2].map(|nodes| {
                worker.nodes = nodes;
                worker.draw_value()
            })
        };
        assert_eq!(draws(false), [DRAW - 1, DRAW + 1]);
        assert_eq!(draws(true), [DRAW, DRAW]);
    }
}
