//! Schedules of the learning rate, the weight of the score, averaging and rounding during a run.
// CITE: half a cosine: Loshchilov and Hutter (2017); steps, and a changing weight of the score: nnue-pytorch.

use std::f32::consts::PI;

use super::display::millions;
use crate::train::model::shapes::Rounding;
use crate::train::run::config::{Config, ScheduleKind};

/// Progress of a run.
#[derive(Clone, Copy, Debug)]
pub struct Elapsed {
    /// Completed share of the run, 0 to 1.
    pub done: f32,
    /// Positions shown, in millions.
    pub millions: f64,
}

impl Elapsed {
    /// Returns the progress after `shown` positions and `seconds` of training: by positions or by the clock, whichever
    /// is greater.
    pub fn after(config: &Config, shown: u64, seconds: f64) -> Self {
        let by_clock = if config.minutes > 0.0 { seconds / (60.0 * config.minutes) } else { 0.0 };
        let millions = millions(shown);
        Self { done: (millions / config.millions).max(by_clock) as f32, millions }
    }
}

/// Returns the learning rate.
pub fn rate(config: &Config, at: Elapsed) -> f32 {
    let risen = if at.millions < config.warm_up { (at.millions / config.warm_up) as f32 } else { 1.0 };
    config.rate * risen * fallen(config, at)
}

/// Returns the factor of the learning rate from the schedule.
fn fallen(config: &Config, at: Elapsed) -> f32 {
    match config.schedule {
        ScheduleKind::Constant => 1.0,
        ScheduleKind::Step => {
            let steps = (at.millions / config.step_every).floor();
            config.step_factor.powi(steps as i32)
        }
        ScheduleKind::Cosine => {
            let wave = 0.5 * (1.0 + (PI * at.done.clamp(0.0, 1.0)).cos());
            config.final_rate + (1.0 - config.final_rate) * wave
        }
        ScheduleKind::Linear => 1.0 + (config.final_rate - 1.0) * at.done.clamp(0.0, 1.0),
        ScheduleKind::Exponential => config.final_rate.powf(at.done.clamp(0.0, 1.0)),
    }
}

/// Returns the number of models due for averaging up to now.
pub fn averaged(config: &Config, at: Elapsed) -> u32 {
    /// Averaged models after the first.
    const MODELS: f64 = 100.0;
    let last_part = (f64::from(at.done) - 1.0).min(0.0) + config.average;
    if config.average <= 0.0 || last_part < 0.0 {
        return 0;
    }
    1 + (MODELS * last_part / config.average) as u32
}

/// Returns the rounding of the parameters: as in the net file in the last part of the run, and `None` before.
pub fn rounding(config: &Config, at: Elapsed) -> Option<Rounding> {
    let begins = 1.0 - config.rounded;
    let is_rounded = config.rounded > 0.0 && f64::from(at.done) >= begins;
    is_rounded.then_some(Rounding { output_scale: config.output_scale })
}

/// Returns the weight of the score.
pub fn lambda(config: &Config, at: Elapsed) -> f32 {
    let done = at.done.clamp(0.0, 1.0);
    let steps = config.lambda_steps as f32;
    // The first of n steps has the first weight, and the last step the last one.
    let changed = match config.lambda_steps {
        0 => done,
        1 => 1.0,
        _ => ((done * steps).floor() / (steps - 1.0)).min(1.0),
    };
    config.lambda + (config.last_lambda() - config.lambda) * changed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(done: f32) -> Elapsed {
        let millions = 100.0 * f64::from(done);
        Elapsed { done, millions }
    }

    #[test]
    fn cosine_falls_from_rate_to_final_rate() {
        let config = Config::default();
        assert!((rate(&config, place(0.0)) - 0.004).abs() < 1e-8);
        assert!((rate(&config, place(1.0)) - 0.000_04).abs() < 1e-8);
        assert!(rate(&config, place(0.3)) > rate(&config, place(0.6)));
    }

    #[test]
    fn linear_and_exponential_schedules_end_at_final_rate() {
        let mut config = Config { schedule: ScheduleKind::Linear, final_rate: 0.01, ..Config::default() };
        let factors = |config: &Config| [0.0, 0.5, 1.0].map(|done| rate(config, place(done)) / config.rate);
        let close = |found: [f32; 3], expected: [f32; 3]| {
            assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{found:?} {expected:?}");
        };
        close(factors(&config), [1.0, 0.505, 0.01]);
        config.schedule = ScheduleKind::Exponential;
        close(factors(&config), [1.0, 0.1, 0.01]);
    }

    #[test]
    fn lambda_changes_linearly_or_by_equal_steps() {
        let mut config = Config { lambda: 0.9, lambda_end: 0.5, ..Config::default() };
        let weights = |config: &Config| [0.0, 0.3, 0.5, 0.7, 1.0].map(|done| lambda(config, place(done)));
        let close = |found: [f32; 5], expected: [f32; 5]| {
            assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{found:?} {expected:?}");
        };
        close(weights(&config), [0.9, 0.78, 0.7, 0.62, 0.5]);
        config.lambda_steps = 3;
        close(weights(&config), [0.9, 0.9, 0.7, 0.5, 0.5]);
    }

    #[test]
    fn step_and_warm_up_follow_positions() {
        let mut config = Config { schedule: ScheduleKind::Step, ..Config::default() };
        (config.step_every, config.step_factor, config.warm_up) = (40.0, 0.5, 20.0);
        let rates = [0.0, 0.1, 0.3, 0.5, 0.9].map(|done| rate(&config, place(done)) / config.rate);
        for (rate, expected) in rates.into_iter().zip([0.0, 0.5, 1.0, 0.5, 0.25]) {
            assert!((rate - expected).abs() < 1e-6, "{rates:?}");
        }
    }

    #[test]
    fn averaging_covers_last_part_of_run() {
        let mut config = Config::default();
        assert_eq!(averaged(&config, place(1.0)), 0);
        config.average = 0.25;
        let counts = [0.0, 0.74, 0.763, 0.876, 1.0, 1.1].map(|done| averaged(&config, place(done)));
        assert_eq!(counts, [0, 0, 6, 51, 101, 101]);
    }

    #[test]
    fn rounding_starts_in_last_part_of_run() {
        let mut config = Config::default();
        assert_eq!(rounding(&config, place(1.0)), None);
        (config.rounded, config.output_scale) = (0.25, 0.8);
        let rounded = [0.0, 0.74, 0.76, 1.0].map(|done| rounding(&config, place(done)));
        let as_written = Some(Rounding { output_scale: 0.8 });
        assert_eq!(rounded, [None, None, as_written, as_written]);
        config.rounded = 1.0;
        assert_eq!(rounding(&config, place(0.0)), as_written);
    }

    #[test]
    fn lambda_changes_linearly() {
        let mut config = Config::default();
        assert_eq!(lambda(&config, place(0.7)), 0.8);
        (config.lambda, config.lambda_end) = (1.0, 0.5);
        assert_eq!(lambda(&config, place(0.5)), 0.75);
    }
}
