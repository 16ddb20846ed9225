//! The methods of the tuner, independent of chess: the optimiser SPSA, and the screening experiment that measures which
//! parameters matter.

use std::f64::consts::LN_10;

use serde::{Deserialize, Serialize};

use crate::search::params::{LAST_RATE, Parameter};
use crate::util::rng::SplitMix64;

// SPSA.
//
// Simultaneous perturbation stochastic approximation (SPSA): all parameters are perturbed at once. The result of one
// match between the two perturbed versions updates all of them.
// CITE: J. C. Spall, "Multivariate stochastic approximation using a simultaneous perturbation gradient approximation"
// (1992); the exponents, and steps given by their last size (`C_end`, `R_end`), as in fishtest and OpenBench.

/// Decay exponent of the learning rate.
const ALPHA: f64 = 0.602;
/// Decay exponent of the perturbation.
const GAMMA: f64 = 0.101;
/// Stability constant A as a fraction of the iterations; it damps the first learning rates.
const STABILITY: f64 = 0.1;

fn last_rate() -> f64 {
    LAST_RATE
}

/// A parameter with its current value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tuned {
    /// Name in the table of parameters.
    pub name: String,
    /// Current value.
    pub value: f64,
    min: f64,
    max: f64,
    /// Perturbation of the last iteration.
    step: f64,
}

impl Tuned {
    /// Creates a parameter at its default. `shake` times its step is the perturbation of the last iteration.
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

/// State of a run, complete enough to resume it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spsa {
    /// The parameters.
    pub parameters: Vec<Tuned>,
    /// Total number of iterations.
    pub iterations: u64,
    /// Number of finished iterations.
    pub done: u64,
    /// Random seed.
    pub seed: u64,
    /// Learning rate of the last iteration; old state files do not contain it and use [`LAST_RATE`].
    #[serde(default = "last_rate")]
    rate: f64,
}

/// Two versions of the parameters that play each other, as integers in the order of the parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contest {
    /// Values with the perturbation added.
    pub plus: Vec<i32>,
    /// Values with the perturbation subtracted.
    pub minus: Vec<i32>,
}

impl Spsa {
    /// Creates a run at iteration 0. `rate` is the learning rate of the last iteration. [`LAST_RATE`] suits the 100,000
    /// games of a test farm; a shorter run needs a larger rate.
    pub fn new(parameters: Vec<Tuned>, iterations: u64, rate: f64, seed: u64) -> Self {
        Self { parameters, iterations, done: 0, seed, rate }
    }

    /// The versions that the next iteration compares. Repeated calls return the same versions until [`Spsa::learn`].
    pub fn contest(&self) -> Contest {
        let mut rng = self.rng();
        let perturbed = |t: &Tuned, sign: f64, dither: f64| {
            // Stochastic rounding, so that a perturbation smaller than one has an effect on average.
            (t.clamped(t.value + sign * self.perturbation(t)) + dither).floor() as i32
        };
        let mut contest = Contest { plus: Vec::new(), minus: Vec::new() };
        for t in &self.parameters {
            let sign = sign(&mut rng);
            let dither = rng.unit();
            contest.plus.push(perturbed(t, sign, dither));
            contest.minus.push(perturbed(t, -sign, dither));
        }
        contest
    }

    /// Updates the parameters after the contest. `result` is the number of games won minus lost by the plus version.
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

    /// Random number generator of the current iteration.
    fn rng(&self) -> SplitMix64 {
        SplitMix64::new(SplitMix64::new(self.seed ^ (self.done << 20)).next_u64())
    }

    /// Size of a parameter's perturbation in the current iteration.
    fn perturbation(&self, t: &Tuned) -> f64 {
        let left = self.iterations.max(1) as f64 / (self.done + 1) as f64;
        t.step * left.powf(GAMMA)
    }

    /// Learning rate: change of a parameter per won game, in units of its perturbation.
    fn rate(&self) -> f64 {
        let all = self.iterations.max(1) as f64;
        let (stable, now) = (STABILITY * all, (self.done + 1) as f64);
        let last = (stable + all).powf(ALPHA);
        let rate = self.rate * last / (stable + now).powf(ALPHA);
        // The rate is relative to the square of the last perturbation; the current perturbation is larger.
        rate / (all / now).powf(2.0 * GAMMA)
    }
}

/// Returns 1 or -1 at random.
pub(super) fn sign(rng: &mut SplitMix64) -> f64 {
    if rng.next_u64() >> 63 == 0 { 1.0 } else { -1.0 }
}

// Screening.
//
// A screening measures which parameters matter, and in which direction. In each match, the two levels of each
// parameter are assigned at random to the two players. The same games therefore measure all parameters, each as
// precisely as if it were the only one.
// CITE: R. A. Fisher, "The Design of Experiments" (1935): factorial designs.

/// Elo per point per game between equal players: the slope of the logistic curve.
const ELO_PER_POINT: f64 = 1600.0 / LN_10;
/// Half-width of a 95 % interval in standard errors.
const CONFIDENCE: f64 = 1.96;

/// A parameter and the two levels to compare.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Factor {
    /// Name in the table of parameters.
    pub name: String,
    /// The first level.
    pub low: i32,
    /// The second level.
    pub high: i32,
    /// Games won minus games lost by the high level against the low one.
    balance: f64,
}

impl Factor {
    /// Creates a factor without results.
    pub fn new(name: &str, low: i32, high: i32) -> Self {
        Self { name: name.into(), low, high, balance: 0.0 }
    }
}

/// State of an experiment, complete enough to resume it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Screen {
    /// The parameters and their levels.
    pub factors: Vec<Factor>,
    /// Random seed.
    pub seed: u64,
    /// Number of matches counted.
    pub matches: u64,
    /// Number of games in these matches.
    pub games: u64,
    /// Sum of the squared results of the matches.
    squares: f64,
}

/// Measured effect of the high level of a parameter against the low one.
#[derive(Clone, Copy, Debug)]
pub struct Effect<'a> {
    /// The parameter.
    pub factor: &'a Factor,
    /// Effect in Elo.
    pub elo: f64,
    /// Half-width of the 95 % interval in Elo.
    pub error: f64,
}

/// The plan of a match.
#[derive(Debug, PartialEq)]
pub struct MatchPlan {
    /// Levels of the players.
    pub players: Contest,
    /// Seed of the openings.
    pub seed: u64,
}

impl Screen {
    /// Creates an experiment without results.
    pub fn new(factors: Vec<Factor>, seed: u64) -> Self {
        Self { factors, seed, matches: 0, games: 0, squares: 0.0 }
    }

    /// Random number generator of a match: yields its levels, then the seed of its openings.
    fn rng(&self, number: u64) -> SplitMix64 {
        SplitMix64::new(SplitMix64::new(self.seed ^ (number << 20)).next_u64())
    }

    /// Plans match `number`: the levels of its players and the seed of its openings. Repeated calls return the same
    /// values.
    pub fn assign(&self, number: u64) -> MatchPlan {
        let mut rng = self.rng(number);
        let (plus, minus) = self
            .factors
            .iter()
            .map(|f| match sign(&mut rng) > 0.0 {
                true => (f.high, f.low),
                false => (f.low, f.high),
            })
            .unzip();
        MatchPlan { players: Contest { plus, minus }, seed: rng.next_u64() }
    }

    /// Counts the `games` games of match `number`. `result` is the number of games won minus lost by the plus player.
    pub fn count(&mut self, number: u64, games: u64, result: f64) {
        let mut rng = self.rng(number);
        for factor in &mut self.factors {
            factor.balance += sign(&mut rng) * result;
        }
        self.matches += 1;
        self.games += games;
        self.squares += result * result;
    }

    /// The effects of all parameters, the largest first.
    pub fn effects(&self) -> Vec<Effect<'_>> {
        // `balance` counts a win as 1 and a loss as -1, which is two units per point.
        let elo_per_win = ELO_PER_POINT / 2.0 / self.games.max(1) as f64;
        let error = CONFIDENCE * self.squares.sqrt() * elo_per_win;
        let mut effects: Vec<Effect<'_>> =
            self.factors.iter().map(|factor| Effect { factor, elo: factor.balance * elo_per_win, error }).collect();
        effects.sort_by(|a, b| b.elo.abs().total_cmp(&a.elo.abs()));
        effects
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameter(name: &'static str, default: i32) -> Tuned {
        let parameter = Parameter { name, default, min: 0, max: 200, step: 10 };
        Tuned::new(&parameter, 1.0)
    }

    #[test]
    fn spsa_finds_the_optimum_from_noisy_games() {
        // Simulated games; the winning chances are best at (150, 40).
        let parameters = vec![parameter("a", 100), parameter("b", 100)];
        let mut spsa = Spsa::new(parameters, 4000, LAST_RATE, 1);
        let loss = |v: &[i32]| f64::from((v[0] - 150).pow(2) + (v[1] - 40).pow(2)) / 1000.0;
        let mut rng = SplitMix64::new(5);
        while spsa.done < spsa.iterations {
            let contest = spsa.contest();
            let expected = loss(&contest.minus) - loss(&contest.plus);
            let noise = rng.below(9) as f64 - 4.0;
            spsa.learn((expected * 8.0 + noise).clamp(-16.0, 16.0));
        }
        let values: Vec<f64> = spsa.parameters.iter().map(|t| t.value).collect();
        assert!((values[0] - 150.0).abs() < 8.0, "{values:?}");
        assert!((values[1] - 40.0).abs() < 8.0, "{values:?}");
    }

    #[test]
    fn rate_scales_the_update_and_old_state_files_get_the_default_rate() {
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
    fn values_stay_in_range_and_contest_is_reproducible() {
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

#[cfg(test)]
mod screen_tests {
    use super::*;

    /// Simulates 3,000 matches of two games. A step of parameter `i` from low to high is worth `worth[i]` Elo.
    fn experiment(worth: &[f64]) -> Screen {
        let factors = (0..worth.len()).map(|i| Factor::new(&i.to_string(), 1, 2));
        let mut screen = Screen::new(factors.collect(), 7);
        let mut rng = SplitMix64::new(11);
        for number in 0..3000 {
            let players = screen.assign(number).players;
            let strength = |levels: &[i32]| -> f64 { levels.iter().zip(worth).map(|(l, w)| f64::from(*l) * w).sum() };
            let difference = strength(&players.plus) - strength(&players.minus);
            let expected = 1.0 / (1.0 + 10f64.powf(-difference / 400.0));
            let game = |rng: &mut SplitMix64| {
                if rng.unit() < expected { 1.0 } else { -1.0 }
            };
            let result = game(&mut rng) + game(&mut rng);
            screen.count(number, 2, result);
        }
        screen
    }

    #[test]
    fn screening_recovers_each_effect_among_the_others() {
        let worth = [40.0, 0.0, -25.0, 0.0, 8.0];
        let screen = experiment(&worth);
        let effects = screen.effects();
        // 6,000 games without draws, at 347 Elo per win.
        assert!((effects[0].error - 1.96 * 347.4 / 6000f64.sqrt()).abs() < 1.0, "{effects:?}");
        for effect in &effects {
            let i: usize = effect.factor.name.parse().expect("a number");
            assert!((effect.elo - worth[i]).abs() < 1.5 * effect.error, "{effect:?}");
        }
        assert_eq!((&*effects[0].factor.name, &*effects[1].factor.name), ("0", "2"));
    }

    #[test]
    fn assignment_is_reproducible_and_gives_both_levels_to_both_players() {
        let factors = (0..8).map(|i| Factor::new("x", i, i + 100)).collect();
        let screen = Screen::new(factors, 3);
        let (mut high, mut low) = (0, 0);
        for number in 0..64 {
            let plan = screen.assign(number);
            assert_eq!(plan, screen.assign(number));
            let players = plan.players;
            for (i, (plus, minus)) in (0..).zip(players.plus.iter().zip(&players.minus)) {
                assert_eq!(plus + minus, 2 * i + 100);
                *(if *plus == i { &mut low } else { &mut high }) += 1;
            }
        }
        assert!(high > 200 && low > 200, "{high} {low}");
    }
}
