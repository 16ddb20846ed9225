//! Units of scores, and their conversion to engine units.

use std::str::FromStr;

use anyhow::{Error, Result, bail};

use super::entry::{Entry, NO_SCORE};

/// Engine units in a centipawn.
// MEASURED: the win-rate model of the search has 1.96 to 2.04 for the value at which half of the games are won.
pub const UNITS_PER_CENTIPAWN: f64 = 2.0;
/// Largest |score| after a conversion; larger numbers such as [`NO_SCORE`] have special meanings.
const MAX_SCORE: f64 = 30_000.0;

/// Unit of the scores in a file. An engine unit is the unit of a net's output: 200 of them are a pawn, the advantage
/// with which half of the games are won.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum ScoreUnit {
    /// That of the format: centipawns in PGN and EPD, engine units otherwise.
    #[default]
    OfFormat,
    /// Engine units.
    Engine,
    /// Centipawns.
    Centipawns,
    /// This many engine units.
    Factor(f64),
}

impl FromStr for ScoreUnit {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "engine" => return Ok(Self::Engine),
            "cp" => return Ok(Self::Centipawns),
            _ => {}
        }
        match text.parse() {
            Ok(factor) if (1e-3..=1e3).contains(&factor) => Ok(Self::Factor(factor)),
            _ => bail!(
                "'{text}' is not a unit; expected engine, cp, or the number of engine units in a unit, such as 2.5"
            ),
        }
    }
}

impl ScoreUnit {
    /// Engine units in this unit. `own` is the unit of the format.
    pub fn factor(self, own: f64) -> f64 {
        match self {
            Self::OfFormat => own,
            Self::Engine => 1.0,
            Self::Centipawns => UNITS_PER_CENTIPAWN,
            Self::Factor(factor) => factor,
        }
    }
}

/// The entry with its score multiplied by a factor. An entry without a score has none afterwards.
pub fn scaled(entry: &Entry, factor: f64) -> Entry {
    if entry.score == NO_SCORE {
        return *entry;
    }
    let score = (f64::from(entry.score) * factor).round().clamp(-MAX_SCORE, MAX_SCORE);
    Entry { score: score as i16, ..*entry }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Position;

    #[test]
    fn units_parse_and_scale_scores() {
        for (text, factor) in [("engine", 1.0), ("cp", 2.0), ("2.5", 2.5)] {
            let unit: ScoreUnit = text.parse().expect(text);
            assert_eq!(unit.factor(3.0), factor, "{text}");
        }
        assert_eq!(ScoreUnit::default().factor(3.0), 3.0);
        assert!("pawns".parse::<ScoreUnit>().is_err() && "0".parse::<ScoreUnit>().is_err());
        let entry = |score| Entry { score, ..Entry::of(&Position::startpos()) };
        let scores = [100, -7, 20_000, i16::MIN, NO_SCORE].map(|score| scaled(&entry(score), 2.5).score);
        assert_eq!(scores, [250, -18, 30_000, -30_000, NO_SCORE]);
    }
}
