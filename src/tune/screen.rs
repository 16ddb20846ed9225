//! Screening experiment: measures which parameters matter, and in which direction.
//!
//! In each match, the two levels of each parameter are assigned at random to the two players. The same games therefore
//! measure all parameters, each as precisely as if it were the only one.
// CITE: R. A. Fisher, "The Design of Experiments" (1935): factorial designs.

use std::f64::consts::LN_10;

use serde::{Deserialize, Serialize};

use super::spsa::{Contest, sign};
use crate::util::rng::SplitMix64;

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
