//! Aspiration window: the narrow window around the expected value of a root move.
// CITE: Baudet (1978). Form: Stockfish: initial width by the mean squared value (October 2024), a term by thread
// (August 2025). Figures: see the parameters.

use super::root_move::RootMove;
use crate::search::params;
use crate::search::rules;
use crate::search::score::{self, INFINITE, NONE, Value};

/// The window of a search of the root.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    pub alpha: Value,
    pub beta: Value,
    /// Distance between a value outside the window and the next bound on its side.
    delta: Value,
}

impl Window {
    /// The window around the average value of `root`, wider if its values varied. It is open at low depth and for a
    /// move without a value. Threads have slightly different windows.
    pub fn around(root: &RootMove, depth: i32, thread: usize) -> Self {
        let variance = root.mean_squared.min(i64::from(params::asp_variance_max()));
        let by_variance = (variance / i64::from(params::asp_variance_div())) as Value;
        let delta = params::asp_delta() + by_variance + (thread % 8) as Value;
        if depth < params::asp_depth() || root.average == NONE || !rules::aspiration() {
            return Self { alpha: -INFINITE, beta: INFINITE, delta };
        }
        Self { alpha: (root.average - delta).max(-INFINITE), beta: (root.average + delta).min(INFINITE), delta }
    }

    /// Whether `value` lies inside the window, and is therefore exact.
    pub fn contains(&self, value: Value) -> bool {
        value > self.alpha && value < self.beta
    }

    /// The next window after a search that failed low or high with `value`.
    pub fn widen(&mut self, value: Value) {
        if value <= self.alpha {
            self.beta = self.alpha;
            self.alpha = (value - self.delta).max(-INFINITE);
        } else {
            self.alpha = (self.beta - self.delta).max(self.alpha);
            self.beta = (value + self.delta).min(INFINITE);
        }
        self.delta += self.delta / params::asp_grow_div();
        if score::is_decisive(value) {
            self.delta = self.delta.max(params::asp_decisive());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::{Move, Square};
    use crate::util::rng::SplitMix64;

    fn root(average: Value, mean_squared: i64) -> RootMove {
        let m = Move::new(Square::E2, Square::E4).expect("not a1a1");
        RootMove { average, mean_squared, ..RootMove::new(m) }
    }

    #[test]
    fn first_window_contains_the_average_and_widens_with_the_variance() {
        for average in [-score::MATE, -3000, -1, 0, 250, score::MATE] {
            let narrow = Window::around(&root(average, 0), 20, 0);
            assert!(narrow.contains(average), "{narrow:?}");
            let wide = Window::around(&root(average, 1 << 40), 20, 0);
            assert!(wide.alpha <= narrow.alpha && wide.beta >= narrow.beta);
            assert!(wide.beta - wide.alpha > narrow.beta - narrow.alpha, "{wide:?} {narrow:?}");
        }
    }

    #[test]
    fn window_is_open_at_low_depth_and_without_a_value() {
        for window in [Window::around(&root(30, 0), 1, 0), Window::around(&root(NONE, 0), 20, 0)] {
            assert_eq!((window.alpha, window.beta), (-INFINITE, INFINITE));
        }
    }

    /// A search that returns the true value as a bound, at most `excess` beyond the window.
    fn search(window: &Window, value: Value, excess: Value) -> Value {
        value.clamp((window.alpha - excess).max(-score::MATE), (window.beta + excess).min(score::MATE))
    }

    #[test]
    fn window_finds_every_value_in_few_searches() {
        let mut rng = SplitMix64::new(3);
        let mut any = |limit: Value| rng.below(2 * limit as usize + 1) as Value - limit;
        for _ in 0..5000 {
            let (average, value, excess) = (any(2000), any(score::MATE), any(100).abs());
            let mut window = Window::around(&root(average, 0), 20, 3);
            let mut searches = 0;
            loop {
                assert!(-INFINITE <= window.alpha && window.alpha < window.beta && window.beta <= INFINITE);
                let found = search(&window, value, excess);
                if window.contains(found) {
                    assert_eq!(found, value);
                    break;
                }
                let before = window;
                window.widen(found);
                // The window moves to the side of the value, and its next bound lies beyond it.
                if found <= before.alpha {
                    assert!(window.alpha < before.alpha && window.beta == before.alpha, "{before:?} {window:?}");
                } else {
                    assert!(window.beta > before.beta && window.alpha >= before.alpha, "{before:?} {window:?}");
                }
                assert!(window.delta > before.delta);
                searches += 1;
                assert!(searches < 60, "{value} from {average}: {window:?}");
            }
        }
    }

    #[test]
    fn alpha_does_not_fall_after_a_fail_high() {
        let mut window = Window::around(&root(0, 0), 20, 0);
        for _ in 0..10 {
            // An unstable search: a fail low, followed immediately by a fail high.
            window.widen(window.alpha);
            let low = window;
            window.widen(low.beta);
            assert!(window.alpha >= low.alpha && window.beta > low.beta, "{low:?} {window:?}");
        }
    }
}
