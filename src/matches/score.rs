//! Results of a match: games, pairs, and Elo estimates.
// CITE: the estimates are those of fastchess and fishtest. A pair is both games of one opening; its five results
// (pentanomial) have a smaller variance than independent games, because the opening favours the same side twice.
// Normalised Elo: M. Van den Bergh, "Comments on normalized Elo" (2020).

use std::f64::consts::{LN_10, SQRT_2};

use serde::{Deserialize, Serialize};

use crate::game::tally::Tally;

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
