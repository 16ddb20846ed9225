//! Results of a match: games, pairs, Elo estimates, and the sequential test.

use std::f64::consts::{LN_10, SQRT_2};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::game::play::Tally;

// CITE: the estimates are those of fastchess and fishtest. A pair is both games of one opening; its five results
// (pentanomial) have a smaller variance than independent games, because the opening favours the same side twice.
// Normalised Elo: M. Van den Bergh, "Comments on normalized Elo" (2020).

/// Half-width of a 95 % interval in standard errors.
const CONFIDENCE: f64 = 1.959_963_984_540_054;
/// Normalised Elo of a score that is one standard deviation of a game above a half.
pub const NORMALISED: f64 = 800.0 / LN_10;

/// An estimate with the half-width of its 95 % interval. Not finite if the results do not determine it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The value.
    pub value: f64,
    /// Half-width of the interval.
    pub error: f64,
}

/// Elo of a sample of results.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Elo {
    /// Logistic Elo.
    pub elo: Estimate,
    /// Normalised Elo: the score above a half in standard deviations of a game.
    pub normalised: Estimate,
    /// Probability that the player is the stronger one.
    pub superiority: f64,
}

/// Games and complete pairs of the first player.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Score {
    /// Games.
    pub games: Tally,
    /// Pairs by their result in half points: 0 (both games lost) to 4 (both won).
    pub pairs: [u32; 5],
    /// Half points of a pair whose second game has not ended.
    open: Option<u8>,
}

impl Score {
    /// Counts the first player's result of the next game: -1, 0, 1. Returns whether it completes a pair.
    pub fn count(&mut self, result: i8) -> bool {
        self.games.count(result);
        let points = (result + 1) as u8;
        match self.open.take() {
            None => {
                self.open = Some(points);
                false
            }
            Some(first) => {
                self.pairs[usize::from(first + points)] += 1;
                true
            }
        }
    }

    /// Share of the points, 0 to 1; a half before the first game.
    pub fn share(&self) -> f64 {
        let games = f64::from(self.games.games());
        if games == 0.0 {
            return 0.5;
        }
        (f64::from(self.games.won) + 0.5 * f64::from(self.games.drawn)) / games
    }

    /// Elo from the games, as if they were independent.
    pub fn by_games(&self) -> Elo {
        let games = self.games;
        elo(&[games.lost, games.drawn, games.won].map(f64::from), 1.0)
    }

    /// Elo from the pairs.
    pub fn by_pairs(&self) -> Elo {
        elo(&self.pairs.map(f64::from), SQRT_2)
    }
}

/// Mean and variance of a distribution.
pub struct Moments {
    /// Mean.
    pub mean: f64,
    /// Variance.
    pub variance: f64,
}

/// The moments of a distribution of results at equal distances from 0 to 1.
pub fn moments(shares: &[f64]) -> Moments {
    let value = |index: usize| index as f64 / (shares.len() - 1) as f64;
    let sum = |of: &dyn Fn(f64) -> f64| -> f64 {
        let terms = shares.iter().enumerate();
        terms.map(|(index, share)| share * of(value(index))).sum()
    };
    let mean = sum(&|value| value);
    Moments { mean, variance: sum(&|value| (value - mean).powi(2)) }
}

/// Elo of counted results. The standard deviation of a result times `root` is the standard deviation of a game.
fn elo(counts: &[f64], root: f64) -> Elo {
    let total: f64 = counts.iter().sum();
    let shares: Vec<f64> = counts.iter().map(|count| count / total).collect();
    let Moments { mean, variance } = moments(&shares);
    let (deviation, error) = (variance.sqrt(), (variance / total).sqrt());
    let (low, high) = (mean - CONFIDENCE * error, mean + CONFIDENCE * error);
    Elo {
        elo: Estimate { value: logistic(mean), error: (logistic(high) - logistic(low)) / 2.0 },
        normalised: Estimate {
            value: (mean - 0.5) / (deviation * root) * NORMALISED,
            error: CONFIDENCE * NORMALISED / (root * total.sqrt()),
        },
        superiority: normal((mean - 0.5) / error),
    }
}

/// Elo difference for which this score is expected; not finite for scores of at most 0 or at least 1.
fn logistic(score: f64) -> f64 {
    400.0 * (score / (1.0 - score)).log10()
}

/// Distribution function of the standard normal distribution, to seven decimals.
// CITE: Abramowitz and Stegun, "Handbook of Mathematical Functions", 26.2.17.
fn normal(z: f64) -> f64 {
    const B: [f64; 5] = [0.319_381_530, -0.356_563_782, 1.781_477_937, -1.821_255_978, 1.330_274_429];
    if z.is_nan() {
        return f64::NAN;
    }
    let t = 1.0 / (1.0 + 0.231_641_9 * z.abs());
    let series = B.iter().rev().fold(0.0, |sum, b| (sum + b) * t);
    let density = (-z * z / 2.0).exp() / std::f64::consts::TAU.sqrt();
    let tail = density * series;
    if z < 0.0 { tail } else { 1.0 - tail }
}

// The sequential probability ratio test, generalised to results of pairs (GSPRT).

// CITE: the form of fishtest and fastchess, after M. Van den Bergh, "The generalized SPRT" and "Normalized Elo: a
// practical guide". The likelihood of a hypothesis is the maximum likelihood over all distributions with its Elo.

/// Probability of each kind of error.
const ERROR: f64 = 0.05;
/// Replacement for a count of 0.
// CITE: fishtest.
const NEVER: f64 = 1e-3;

/// Unit of the Elo bounds.
#[derive(clap::ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EloModel {
    /// Normalised Elo, as on fishtest and as fastchess' default
    #[default]
    Normalised,
    /// Logistic Elo
    Logistic,
}

/// Elo of the two hypotheses.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bounds {
    /// Elo of the null hypothesis.
    pub elo0: f64,
    /// Elo of the alternative.
    pub elo1: f64,
}

impl FromStr for Bounds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.trim().parse().ok().filter(|x: &f64| x.abs() < 1000.0);
        let bounds = text.split_once(',').and_then(|(elo0, elo1)| {
            let (elo0, elo1) = (number(elo0)?, number(elo1)?);
            (elo0 < elo1).then_some(Self { elo0, elo1 })
        });
        bounds.ok_or_else(|| "bounds are two numbers, the smaller one first: 0,5".into())
    }
}

/// A test of two hypotheses.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Sprt {
    /// Elo of the hypotheses.
    #[serde(flatten)]
    pub bounds: Bounds,
    /// Unit of the Elo.
    pub model: EloModel,
}

/// Decision of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// The null hypothesis is accepted.
    H0,
    /// The alternative is accepted.
    H1,
}

impl Sprt {
    /// Log-likelihood ratios at which the null hypothesis and the alternative are accepted.
    pub fn limits() -> [f64; 2] {
        let limit = ((1.0 - ERROR) / ERROR).ln();
        [-limit, limit]
    }

    /// Log-likelihood ratio of the alternative against the null hypothesis; 0 without results. `pairs` are the numbers
    /// of pairs with 0 to 4 half points.
    pub fn llr(&self, pairs: [u32; 5]) -> f64 {
        if pairs.iter().all(|&count| count == 0) {
            return 0.0;
        }
        let counts = pairs.map(|count| f64::from(count).max(NEVER));
        self.llr_of(&counts, SQRT_2)
    }

    /// The decision at this ratio, if there is one.
    pub fn decision(llr: f64) -> Option<Decision> {
        let [low, high] = Self::limits();
        if llr <= low {
            Some(Decision::H0)
        } else if llr >= high {
            Some(Decision::H1)
        } else {
            None
        }
    }

    /// The ratio for counts above 0. A result's standard deviation times `root` is that of a game.
    fn llr_of(&self, counts: &[f64], root: f64) -> f64 {
        let total: f64 = counts.iter().sum();
        let shares: Vec<f64> = counts.iter().map(|count| count / total).collect();
        let fit = |elo: f64| match self.model {
            EloModel::Logistic => fit_mean(&shares, 1.0 / (1.0 + 10f64.powf(-elo / 400.0))),
            EloModel::Normalised => fit_normalised(&shares, root * elo / NORMALISED),
        };
        let (null, alternative) = (fit(self.bounds.elo0), fit(self.bounds.elo1));
        let ratios = alternative.iter().zip(&null).map(|(one, zero)| (one / zero).ln());
        let mean: f64 = ratios.zip(&shares).map(|(ratio, share)| ratio * share).sum();
        total * mean
    }
}

/// Values of the results: equal distances from 0 to 1.
fn values(count: usize) -> impl Iterator<Item = f64> {
    (0..count).map(move |index| index as f64 / (count - 1) as f64)
}

/// The most likely distribution with this mean.
fn fit_mean(shares: &[f64], mean: f64) -> Vec<f64> {
    let above: Vec<f64> = values(shares.len()).map(|value| value - mean).collect();
    fit_zero(shares, &above)
}

/// The most likely distribution whose mean is `t` standard deviations above a half. The condition is not linear, so
/// each step linearises it at the previous distribution, until the distribution converges.
fn fit_normalised(shares: &[f64], t: f64) -> Vec<f64> {
    const STEPS: usize = 10;
    const CLOSE: f64 = 1e-9;
    let mut fitted = vec![1.0 / shares.len() as f64; shares.len()];
    for _ in 0..STEPS {
        let Moments { mean, variance } = moments(&fitted);
        let deviation = variance.sqrt();
        let condition: Vec<f64> = values(shares.len())
            .map(|value| {
                let z = (mean - value) / deviation;
                value - 0.5 - t * deviation * (1.0 + z * z) / 2.0
            })
            .collect();
        let next = fit_zero(shares, &condition);
        let change = next.iter().zip(&fitted).map(|(a, b)| (a - b).abs());
        let change = change.fold(0.0, f64::max);
        fitted = next;
        if change < CLOSE {
            break;
        }
    }
    fitted
}

/// The most likely distribution in which the mean of `condition` is 0: each share divided by `1 + x * condition`, with
/// the Lagrange multiplier `x`.
fn fit_zero(shares: &[f64], condition: &[f64]) -> Vec<f64> {
    let least = condition.iter().copied().fold(f64::INFINITY, f64::min);
    let most = condition.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if least >= 0.0 || most <= 0.0 {
        // No distribution satisfies the condition.
        return shares.to_vec();
    }
    let mean = |x: f64| -> f64 {
        let terms = shares.iter().zip(condition);
        terms.map(|(share, c)| share * c / (1.0 + x * c)).sum()
    };
    // The mean falls from infinity to minus infinity between the poles. Bisection finds the root.
    let (mut low, mut high) = (-1.0 / most, -1.0 / least);
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if mean(middle) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    let x = f64::midpoint(low, high);
    let terms = shares.iter().zip(condition);
    terms.map(|(share, c)| share / (1.0 + x * c)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64) {
        let scale = expected.abs().max(1.0);
        assert!((found - expected).abs() < 0.01 * scale, "{found} {expected}");
    }

    fn games(won: u32, lost: u32, drawn: u32) -> Score {
        Score { games: Tally { won, drawn, lost }, ..Score::default() }
    }

    #[test]
    fn elo_of_games_is_that_of_fastchess() {
        // CITE: results and values of fastchess' tests (app/tests/elo_test.cpp), to one per cent as there.
        let elo = games(136, 96, 111).by_games();
        close(elo.elo.value, 40.70);
        close(elo.elo.error, 30.43);
        close(elo.normalised.value, 49.77);
        close(elo.normalised.error, 36.77);
        close(100.0 * elo.superiority, 99.60);
        let elo = games(76, 89, 123).by_games();
        close(elo.normalised.value, -20.76);
        close(100.0 * elo.superiority, 15.53);
    }

    #[test]
    fn elo_of_pairs_is_that_of_fastchess() {
        // CITE: as above. fastchess counts a win and a loss apart from two draws; both are one point.
        for (pairs, [elo, error, normalised, normalised_error]) in [
            ([34, 54, 31 + 32, 64, 75], [55.58, 27.65, 57.94, 28.28]),
            ([332, 433, 457 + 41, 333, 334], [-8.64, 10.33, -9.17, 10.96]),
            ([7895, 8757, 5485 + 200, 568, 9999], [-21.04, 2.95, -19.01, 2.65]),
        ] {
            let score = Score { pairs, ..Score::default() };
            let found = score.by_pairs();
            close(found.elo.value, elo);
            close(found.elo.error, error);
            close(found.normalised.value, normalised);
            close(found.normalised.error, normalised_error);
        }
    }

    #[test]
    fn pairs_are_counted_in_order() {
        let mut score = Score::default();
        let results = [1, 1, -1, 1, 0, 0, 1, 0, 0, -1, -1, -1, 1];
        let complete: Vec<bool> = results.iter().map(|&r| score.count(r)).collect();
        assert_eq!(score.pairs, [1, 1, 2, 1, 1]);
        assert_eq!((score.games.won, score.games.drawn, score.games.lost), (5, 4, 4));
        assert_eq!(complete.iter().filter(|&&c| c).count(), 6);
        close(score.share(), 7.0 / 13.0);
    }

    #[test]
    fn estimates_without_games_or_losses_are_not_finite() {
        for score in [games(0, 0, 0), games(5, 0, 0), games(0, 5, 0)] {
            assert!(!score.by_games().elo.value.is_finite());
        }
        let drawn = games(0, 0, 5).by_games();
        assert_eq!((drawn.elo.value, drawn.elo.error), (0.0, 0.0));
    }

    #[test]
    fn normal_distribution_has_its_known_values() {
        for (z, p) in [(0.0, 0.5), (1.959_964, 0.975), (-1.0, 0.158_655_3)] {
            assert!((normal(z) - p).abs() < 1e-6, "{z}");
        }
    }
}

#[cfg(test)]
mod sprt_tests {
    use super::*;

    fn sprt(bounds: &str, model: EloModel) -> Sprt {
        Sprt { bounds: bounds.parse().expect(bounds), model }
    }

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 0.01 * (1.0 + expected.abs()), "{found} {expected}");
    }

    // CITE: results and values of fastchess' tests (app/tests/sprt_test.cpp), to one per cent as there. fastchess
    // counts a win and a loss apart from two draws; both are one point.
    #[test]
    fn llr_of_pairs_is_that_of_fastchess() {
        use EloModel::{Logistic, Normalised};
        for (bounds, model, pairs, expected) in [
            ("0,2", Normalised, [365, 16618, 36029 + 200, 16974, 390], 2.25),
            ("-1.75,0.25", Normalised, [127, 4883, 10311 + 401, 5150, 104], 3.01),
            ("0.5,2.5", Logistic, [223, 9863, 20279 + 1000, 10037, 246], -3.07),
            ("0,2", Logistic, [871, 26175, 55003 + 980, 26678, 821], -4.98),
        ] {
            close(sprt(bounds, model).llr(pairs), expected);
        }
    }

    #[test]
    fn llr_of_won_pairs_has_its_closed_form() {
        // The null hypothesis wins half of these pairs. The alternative wins (1 + u) / 2, because then the mean is t
        // standard deviations above a half.
        let t = SQRT_2 * 5.0 / NORMALISED;
        let u = t / (1.0 + t * t).sqrt();
        let test = sprt("0,5", EloModel::Normalised);
        close(test.llr([0, 0, 0, 0, 104]), 104.0 * (1.0 + u).ln());
    }

    #[test]
    fn llr_of_games_is_that_of_fastchess() {
        use EloModel::{Logistic, Normalised};
        for (bounds, model, [won, lost, drawn], expected) in [
            ("0,2", Normalised, [36433.0, 36027.0, 68692.0], 0.92),
            ("-1.75,0.25", Normalised, [10871.0, 10650.0, 20431.0], 2.30),
            ("0.5,2.5", Logistic, [21404.0, 21184.0, 40708.0], -1.57),
            ("0,2", Logistic, [57433.0, 57030.0, 106593.0], -2.59),
        ] {
            close(sprt(bounds, model).llr_of(&[lost, drawn, won], 1.0), expected);
        }
    }

    #[test]
    fn decision_needs_a_ratio_beyond_the_limit() {
        // CITE: A. Wald (1945): ln(0.95 / 0.05) for errors of 5 %.
        let [low, high] = Sprt::limits();
        assert!((high - 2.944_439).abs() < 1e-6 && low == -high);
        assert_eq!(Sprt::decision(2.9), None);
        assert_eq!(Sprt::decision(2.95), Some(Decision::H1));
        assert_eq!(Sprt::decision(-2.95), Some(Decision::H0));
        let test = sprt("0,5", EloModel::Normalised);
        assert_eq!(test.llr([0; 5]), 0.0);
        assert!(test.llr([0, 10, 80, 10, 0]) < 0.0);
    }

    #[test]
    fn bounds_are_two_numbers_in_order() {
        assert_eq!(Bounds::from_str("-3, 1"), Ok(Bounds { elo0: -3.0, elo1: 1.0 }));
        for text in ["", "5", "5,0", "0,0", "a,b", "0,5,9", "0,inf", "NaN,1"] {
            assert!(Bounds::from_str(text).is_err(), "{text}");
        }
    }
}
