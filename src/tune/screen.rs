//! Screening: which parameters matter, and in which direction. For each match, each parameter's two levels are dealt at
//! random to the two players, so that the same games measure every parameter as well as if it were alone in them.
// CITE: R. A. Fisher, "The Design of Experiments" (1935): factorial designs.

use std::f64::consts::LN_10;

use serde::{Deserialize, Serialize};

use super::spsa::{Contest, sign};
use crate::util::rng::SplitMix64;

/// Elo by which one more point in a game is won, where the players are equal: the slope of the logistic curve.
const ELO_OF_A_POINT: f64 = 1600.0 / LN_10;
/// Standard errors of a 95 % interval.
const CONFIDENCE: f64 = 1.96;

/// A parameter and the two levels that are compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Factor {
    /// Name in the table of parameters.
    pub name: String,
    /// One level.
    pub low: i32,
    /// The other.
    pub high: i32,
    /// Games won with the high level against the low one, less those lost.
    balance: f64,
}

impl Factor {
    /// A parameter of which nothing is known yet.
    pub fn new(name: &str, low: i32, high: i32) -> Self {
        Self {
            name: name.into(),
            low,
            high,
            balance: 0.0,
        }
    }
}

/// The state of an experiment: all that its continuation depends on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Screen {
    /// What is compared.
    pub factors: Vec<Factor>,
    /// The seed of everything random.
    pub seed: u64,
    /// Matches counted.
    pub matches: u64,
    /// Games of them.
    pub games: u64,
    /// Squares of the matches' results, added up.
    squares: f64,
}

/// What the high level of a parameter is worth against the low one.
#[derive(Clone, Copy, Debug)]
pub struct Effect<'a> {
    /// The parameter.
    pub factor: &'a Factor,
    /// Elo.
    pub elo: f64,
    /// Half of its 95 % interval.
    pub error: f64,
}

impl Screen {
    /// An experiment that has not begun.
    pub fn new(factors: Vec<Factor>, seed: u64) -> Self {
        Self {
            factors,
            seed,
            matches: 0,
            games: 0,
            squares: 0.0,
        }
    }

    /// The random numbers of a match: its levels first, then the seed of its openings.
    fn rng(&self, number: u64) -> SplitMix64 {
        SplitMix64::new(SplitMix64::new(self.seed ^ (number << 20)).next_u64())
    }

    /// The two players of match `number`, and a seed for its openings: the same at every call.
    pub fn deal(&self, number: u64) -> (Contest, u64) {
        let mut rng = self.rng(number);
        let (plus, minus) = self
            .factors
            .iter()
            .map(|f| match sign(&mut rng) > 0.0 {
                true => (f.high, f.low),
                false => (f.low, f.high),
            })
            .unzip();
        (Contest { plus, minus }, rng.next_u64())
    }

    /// Counts match `number` of so many games: `result` is those won less those lost by the plus player.
    pub fn count(&mut self, number: u64, games: u64, result: f64) {
        let mut rng = self.rng(number);
        for factor in &mut self.factors {
            factor.balance += sign(&mut rng) * result;
        }
        self.matches += 1;
        self.games += games;
        self.squares += result * result;
    }

    /// What is known of every parameter, the surest first.
    pub fn effects(&self) -> Vec<Effect<'_>> {
        // A won game more is a point more: half a point won, and half a point not lost.
        let elo_of_a_win = ELO_OF_A_POINT / 2.0 / self.games.max(1) as f64;
        let error = CONFIDENCE * self.squares.sqrt() * elo_of_a_win;
        let mut effects: Vec<Effect<'_>> = self
            .factors
            .iter()
            .map(|factor| Effect {
                factor,
                elo: factor.balance * elo_of_a_win,
                error,
            })
            .collect();
        effects.sort_by(|a, b| b.elo.abs().total_cmp(&a.elo.abs()));
        effects
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 3,000 matches of two games between players whose levels are worth these Elo, seen through luck.
    fn experiment(worth: &[f64]) -> Screen {
        let factors = (0..worth.len()).map(|i| Factor::new(&i.to_string(), 1, 2));
        let mut screen = Screen::new(factors.collect(), 7);
        let mut luck = SplitMix64::new(11);
        for number in 0..3000 {
            let (players, _) = screen.deal(number);
            let of = |levels: &[i32]| -> f64 {
                levels
                    .iter()
                    .zip(worth)
                    .map(|(l, w)| f64::from(*l) * w)
                    .sum()
            };
            let ahead = of(&players.plus) - of(&players.minus);
            let expected = 1.0 / (1.0 + 10f64.powf(-ahead / 400.0));
            let game = |luck: &mut SplitMix64| {
                if (luck.next_u64() as f64 / 2f64.powi(64)) < expected {
                    1.0
                } else {
                    -1.0
                }
            };
            let result = game(&mut luck) + game(&mut luck);
            screen.count(number, 2, result);
        }
        screen
    }

    #[test]
    fn each_effect_is_found_among_the_others() {
        let worth = [40.0, 0.0, -25.0, 0.0, 8.0];
        let screen = experiment(&worth);
        let effects = screen.effects();
        // Games without draws: 347 Elo a win, 6,000 games.
        assert!(
            (effects[0].error - 1.96 * 347.4 / 6000f64.sqrt()).abs() < 1.0,
            "{effects:?}"
        );
        for effect in &effects {
            let i: usize = effect.factor.name.parse().expect("a number");
            assert!(
                (effect.elo - worth[i]).abs() < 1.5 * effect.error,
                "{effect:?}"
            );
        }
        assert_eq!(
            (&*effects[0].factor.name, &*effects[1].factor.name),
            ("0", "2")
        );
    }

    #[test]
    fn a_deal_repeats_and_gives_both_levels_to_both_players() {
        let factors = (0..8).map(|i| Factor::new("x", i, i + 100)).collect();
        let screen = Screen::new(factors, 3);
        let (mut high, mut low) = (0, 0);
        for number in 0..64 {
            let (players, seed) = screen.deal(number);
            assert_eq!(
                (&players, seed),
                (&screen.deal(number).0, screen.deal(number).1)
            );
            for (i, (plus, minus)) in (0..).zip(players.plus.iter().zip(&players.minus)) {
                assert_eq!(plus + minus, 2 * i + 100);
                *(if *plus == i { &mut low } else { &mut high }) += 1;
            }
        }
        assert!(high > 200 && low > 200, "{high} {low}");
    }
}
