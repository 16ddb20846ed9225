//! Choice of positions at random: by the agreement of result and score, and by target shares of piece counts.

use std::str::FromStr;

use anyhow::{Context, Error, Result, ensure};

use crate::data::entry::Entry;
use crate::data::units::UNITS_PER_CENTIPAWN;

/// Probability that a game with this score has the result of the entry: wins by a logistic function that is one half at
/// one pawn, losses by its mirror image.
// CITE: skipping with this probability: nnue-pytorch ("wld filtered").
pub fn result_chance(entry: &Entry) -> f64 {
    /// The value with which half of the games are won, in engine units.
    const PAWN: f64 = 100.0 * UNITS_PER_CENTIPAWN;
    /// Spread of the function in engine units.
    // MEASURED: that of the engine's own games at medium material (docs/experiments.md).
    const SPREAD: f64 = 81.0;
    let chance = |score: f64| 1.0 / (1.0 + ((PAWN - score) / SPREAD).exp());
    let (win, loss) = (chance(entry.score.into()), chance(-f64::from(entry.score)));
    match entry.result.signum() {
        1 => win,
        -1 => loss,
        _ => 1.0 - win - loss,
    }
}

/// Target shares of classes of piece counts, such as `8:1,16:2,32:1`: of four positions, one has up to 8 pieces, two
/// have 9 to 16, and one has 17 to 32.
#[derive(Clone, Debug, PartialEq)]
pub struct PieceShares(Vec<(u32, f64)>);

impl FromStr for PieceShares {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let class = |part: &str| {
            let (pieces, share) = part.split_once(':')?;
            let share = share.trim().parse().ok().filter(|share: &f64| share.is_finite() && *share >= 0.0)?;
            Some((pieces.trim().parse().ok().filter(|pieces| (2..=32).contains(pieces))?, share))
        };
        let classes: Option<Vec<(u32, f64)>> = text.split(',').map(class).collect();
        let expected = || format!("'{text}' is not a list of piece counts with shares, such as 8:1,16:2,32:1");
        let classes = classes.with_context(expected)?;
        let ascending = classes.windows(2).all(|pair| pair[0].0 < pair[1].0);
        ensure!(ascending && classes.last().is_some_and(|class| class.0 == 32), "{}: ascending, up to 32", expected());
        ensure!(classes.iter().any(|class| class.1 > 0.0), "{}: with a share above 0", expected());
        Ok(Self(classes))
    }
}

impl PieceShares {
    /// Number of classes.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The class of a piece count.
    pub fn class(&self, pieces: u32) -> usize {
        self.0.iter().position(|class| pieces <= class.0).unwrap_or(self.0.len() - 1)
    }

    /// Probabilities of keeping a position of each class, as large as possible, for `counts` positions in the classes.
    ///
    /// # Errors
    /// Fails if a class with a share has no position.
    pub fn chances(&self, counts: &[u64]) -> Result<Vec<f64>> {
        let mut lowest = 2;
        let mut ratios = Vec::new();
        for (&(pieces, share), &count) in self.0.iter().zip(counts) {
            ensure!(
                share == 0.0 || count > 0,
                "no position with {lowest} to {pieces} pieces passes the other filters, but their share is {share}"
            );
            ratios.push(if share > 0.0 { share / count as f64 } else { 0.0 });
            lowest = pieces + 1;
        }
        let largest = ratios.iter().copied().fold(0.0, f64::max);
        Ok(ratios.into_iter().map(|ratio| ratio / largest).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Position;

    #[test]
    fn chances_of_the_three_results_add_up_and_follow_the_score() {
        let chance = |score, result| result_chance(&Entry { score, result, ..Entry::of(&Position::startpos()) });
        for score in [-3000, -150, 0, 200, 1000] {
            let sum: f64 = [-1, 0, 1].iter().map(|&result| chance(score, result)).sum();
            assert!((sum - 1.0).abs() < 1e-9, "{score}");
        }
        assert!((chance(200, 1) - 0.5).abs() < 1e-9 && (chance(-200, -1) - 0.5).abs() < 1e-9);
        assert!(chance(3000, 1) > 0.999 && chance(3000, -1) < 1e-6);
    }

    #[test]
    fn shares_give_the_largest_possible_chances() {
        let shares: PieceShares = "8:1,16:2,32:1".parse().expect("three classes");
        assert_eq!([2, 8, 9, 16, 17, 32].map(|pieces| shares.class(pieces)), [0, 0, 1, 1, 2, 2]);
        // Of 100, 400 and 1000 positions, 100, 200 and 100 remain.
        assert_eq!(shares.chances(&[100, 400, 1000]).expect("positions in each class"), [1.0, 0.5, 0.1]);
        let error = shares.chances(&[100, 0, 1000]).expect_err("an empty class").to_string();
        assert!(error.contains("9 to 16 pieces"), "{error}");
        for text in ["", "8", "8:1", "16:1,8:1,32:1", "8:-1,32:1", "8:0,32:0", "1:1,32:1", "8:1,32:x"] {
            assert!(text.parse::<PieceShares>().is_err(), "{text}");
        }
    }
}
