//! How the learning rate falls.

use std::f32::consts::PI;

/// A cosine from the first rate down to a small part of it.
#[derive(Clone, Copy, Debug)]
pub struct Cosine {
    /// Learning rate at the start.
    pub first: f32,
    /// Share of it that is left at the end.
    pub floor: f32,
}

impl Cosine {
    /// The rate when `done`, 0 to 1, of the run has passed.
    pub fn rate(&self, done: f32) -> f32 {
        let wave = 0.5 * (1.0 + (PI * done.clamp(0.0, 1.0)).cos());
        self.first * (self.floor + (1.0 - self.floor) * wave)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_falls_from_first_to_floor() {
        let schedule = Cosine {
            first: 0.004,
            floor: 0.01,
        };
        assert!((schedule.rate(0.0) - 0.004).abs() < 1e-8);
        assert!((schedule.rate(1.0) - 0.000_04).abs() < 1e-8);
        assert!(schedule.rate(0.3) > schedule.rate(0.6));
    }
}
