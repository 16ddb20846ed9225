//! Simultaneous perturbation stochastic approximation: all parameters are perturbed at once, and the result of one
//! match between the two perturbed versions moves all of them.
// CITE: J. C. Spall, "Multivariate stochastic approximation using a simultaneous perturbation gradient approximation"
// (1992); the exponents, and steps given by their last size (`C_end`, `R_end`), as fishtest and OpenBench have them.

use serde::{Deserialize, Serialize};

use crate::search::params::{LAST_RATE, Parameter};
use crate::util::rng::SplitMix64;

/// Decay of the learning rate.
const ALPHA: f64 = 0.602;
/// Decay of the perturbation.
const GAMMA: f64 = 0.101;
/// The learning rate is damped for this share of the iterations.
const STABILITY: f64 = 0.1;

fn last_rate() -> f64 {
    LAST_RATE
}

/// A parameter with its present value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tuned {
    /// Name in the table of parameters.
    pub name: String,
    /// Present value.
    pub value: f64,
    min: f64,
    max: f64,
    /// Perturbation of the last iteration.
    step: f64,
}

impl Tuned {
    /// The parameter at its default, perturbed by its step times `shake` in the last iteration.
    pub fn new(parameter: &Parameter, shake: f64) -> Self {
        Self {
            name: parameter.name.into(),
            value: parameter.default.into(),
            min: parameter.min.into(),
            max: parameter.max.into(),
            step: shake * f64::from(parameter.step),
        }
    }

    fn clamped(&self, value: f64) -> f64 {
        value.clamp(self.min, self.max)
    }
}

/// The state of a run: all that its continuation depends on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spsa {
    /// The parameters.
    pub parameters: Vec<Tuned>,
    /// Iterations of the whole run.
    pub iterations: u64,
    /// Iterations done.
    pub done: u64,
    /// The seed of everything random.
    pub seed: u64,
    /// Learning rate of the last iteration; older files have the usual one.
    #[serde(default = "last_rate")]
    rate: f64,
}

/// Two versions of the parameters that are to play each other, as whole numbers in the order of the parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contest {
    /// With the perturbation added.
    pub plus: Vec<i32>,
    /// With the perturbation subtracted.
    pub minus: Vec<i32>,
}

impl Spsa {
    /// A run that has not begun. `rate` is the learning rate of its last iteration: [`LAST_RATE`] suits a farm's
    /// hundred thousand games, a shorter run needs more to get anywhere.
    pub fn new(parameters: Vec<Tuned>, iterations: u64, rate: f64, seed: u64) -> Self {
        Self {
            parameters,
            iterations,
            done: 0,
            seed,
            rate,
        }
    }

    /// The versions that the next iteration compares: the same at every call until [`Spsa::learn`].
    pub fn contest(&self) -> Contest {
        let mut rng = self.rng();
        let perturbed = |t: &Tuned, sign: f64, dither: f64| {
            // Rounded at random, so that a perturbation smaller than one still counts on average.
            (t.clamped(t.value + sign * self.perturbation(t)) + dither).floor() as i32
        };
        let mut contest = Contest {
            plus: Vec::new(),
            minus: Vec::new(),
        };
        for t in &self.parameters {
            let sign = sign(&mut rng);
            let dither = rng.next_u64() as f64 / 2f64.powi(64);
            contest.plus.push(perturbed(t, sign, dither));
            contest.minus.push(perturbed(t, -sign, dither));
        }
        contest
    }

    /// Moves the parameters after the contest: `result` is the games won less those lost by the plus version.
    pub fn learn(&mut self, result: f64) {
        let mut rng = self.rng();
        let rate = self.rate();
        for i in 0..self.parameters.len() {
            let sign = sign(&mut rng);
            rng.next_u64();
            let t = &self.parameters[i];
            let moved = t.value + rate * self.perturbation(t) * result * sign;
            self.parameters[i].value = t.clamped(moved);
        }
        self.done += 1;
    }

    /// The random numbers of the present iteration.
    fn rng(&self) -> SplitMix64 {
        SplitMix64::new(SplitMix64::new(self.seed ^ (self.done << 20)).next_u64())
    }

    fn perturbation(&self, t: &Tuned) -> f64 {
        let left = self.iterations.max(1) as f64 / (self.done + 1) as f64;
        t.step * left.powf(GAMMA)
    }

    /// Learning rate in units of the perturbation: what a won game moves a parameter by.
    fn rate(&self) -> f64 {
        let all = self.iterations.max(1) as f64;
        let (stable, now) = (STABILITY * all, (self.done + 1) as f64);
        let last = (stable + all).powf(ALPHA);
        let rate = self.rate * last / (stable + now).powf(ALPHA);
        // In squares of the last perturbation; the present one is larger.
        rate / (all / now).powf(2.0 * GAMMA)
    }
}

/// Plus or minus one.
pub(super) fn sign(rng: &mut SplitMix64) -> f64 {
    if rng.next_u64() >> 63 == 0 { 1.0 } else { -1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameter(name: &'static str, default: i32) -> Tuned {
        let parameter = Parameter {
            name,
            default,
            min: 0,
            max: 200,
            step: 10,
        };
        Tuned::new(&parameter, 1.0)
    }

    #[test]
    fn finds_the_best_values_of_noisy_games() {
        // The closer to (150, 40), the more games are won.
        let parameters = vec![parameter("a", 100), parameter("b", 100)];
        let mut spsa = Spsa::new(parameters, 4000, LAST_RATE, 1);
        let loss = |v: &[i32]| f64::from((v[0] - 150).pow(2) + (v[1] - 40).pow(2)) / 1000.0;
        let mut luck = SplitMix64::new(5);
        while spsa.done < spsa.iterations {
            let contest = spsa.contest();
            let expected = loss(&contest.minus) - loss(&contest.plus);
            let noise = luck.below(9) as f64 - 4.0;
            spsa.learn((expected * 8.0 + noise).clamp(-16.0, 16.0));
        }
        let values: Vec<f64> = spsa.parameters.iter().map(|t| t.value).collect();
        assert!((values[0] - 150.0).abs() < 8.0, "{values:?}");
        assert!((values[1] - 40.0).abs() < 8.0, "{values:?}");
    }

    #[test]
    fn the_rate_scales_what_is_learnt_and_older_files_have_the_usual_one() {
        let moved = |mut spsa: Spsa| {
            spsa.learn(4.0);
            spsa.parameters[0].value - 100.0
        };
        let run = |rate| Spsa::new(vec![parameter("a", 100)], 10, rate, 3);
        let (usual, triple) = (moved(run(LAST_RATE)), moved(run(3.0 * LAST_RATE)));
        assert!(usual != 0.0 && (triple - 3.0 * usual).abs() < 1e-9);
        let mut old = serde_json::to_value(run(1.0)).expect("plain data");
        old.as_object_mut().expect("an object").remove("rate");
        let old: Spsa = serde_json::from_value(old).expect("a state");
        assert_eq!(old, run(LAST_RATE));
    }

    #[test]
    fn values_stay_in_range_and_contests_repeat() {
        let mut spsa = Spsa::new(vec![parameter("a", 195)], 10, LAST_RATE, 3);
        for _ in 0..10 {
            let contest = spsa.contest();
            assert_eq!(contest, spsa.contest());
            assert!((0..=200).contains(&contest.plus[0]) && (0..=200).contains(&contest.minus[0]));
            spsa.learn(64.0);
        }
        assert!((0.0..=200.0).contains(&spsa.parameters[0].value));
    }
}
