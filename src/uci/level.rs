//! The options of levels: which of them holds, and the seed of the game.

use crate::level::strength::{SKILL_MAX, elo_of_skill};
use crate::level::{ELO_MIN, Level};
use crate::util::rng;

/// `UCI_LimitStrength`, `UCI_Elo`, `Skill Level` and `Level Seed`.
#[derive(Clone, Debug)]
pub struct LevelChoice {
    /// `UCI_LimitStrength`
    pub limit_strength: bool,
    /// `UCI_Elo`
    pub elo: i32,
    /// `Skill Level`
    pub skill: i32,
    /// `Level Seed`; 0 for one of the game's own.
    fixed_seed: u64,
    /// The seed of this game.
    seed: u64,
    /// What was last said of the level.
    said: Option<Level>,
}

impl Default for LevelChoice {
    fn default() -> Self {
        Self {
            limit_strength: false,
            elo: ELO_MIN,
            skill: SKILL_MAX,
            fixed_seed: 0,
            seed: fresh_seed(),
            said: None,
        }
    }
}

impl LevelChoice {
    /// `UCI_LimitStrength` comes before `Skill Level`.
    fn elo_in_force(&self) -> Option<i32> {
        if self.limit_strength {
            Some(self.elo)
        } else {
            elo_of_skill(self.skill)
        }
    }

    /// The level to play at; `None` for full strength.
    pub fn level(&self) -> Option<Level> {
        self.elo_in_force().map(|elo| Level::of(elo, self.seed))
    }

    /// `Level Seed`: holds from now on, for this game too.
    pub fn set_seed(&mut self, seed: u64) {
        self.fixed_seed = seed;
        self.new_game();
    }

    /// Another game has another seed, unless it was fixed.
    pub fn new_game(&mut self) {
        self.seed = match self.fixed_seed {
            0 => fresh_seed(),
            fixed => fixed,
        };
        self.said = None;
    }

    /// What has not been said yet of the level: with its seed, the game can be played again.
    pub fn news(&mut self) -> Option<String> {
        let (elo, level) = (self.elo_in_force()?, self.level()?);
        let said = self.said.replace(level);
        (said != Some(level)).then(|| format!("Level: Elo {elo}, Level Seed {}", self.seed))
    }
}

/// A seed that nobody chose, in the range of the option and not 0.
fn fresh_seed() -> u64 {
    rng::arbitrary() % 2_147_483_647 + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limit_strength_comes_before_skill() {
        let mut choice = LevelChoice::default();
        assert_eq!(choice.level(), None);
        choice.skill = 0;
        assert_eq!(choice.level(), Some(Level::of(ELO_MIN, choice.seed)));
        (choice.limit_strength, choice.elo) = (true, 1234);
        assert_eq!(choice.level(), Some(Level::of(1234, choice.seed)));
    }

    #[test]
    fn a_fixed_seed_stays_and_others_change() {
        let mut choice = LevelChoice {
            skill: 3,
            ..LevelChoice::default()
        };
        let seeds: Vec<u64> = (0..8)
            .map(|_| {
                choice.new_game();
                choice.level().map_or(0, |level| level.seed)
            })
            .collect();
        assert!(seeds.iter().any(|&seed| seed != seeds[0]), "{seeds:?}");
        choice.set_seed(7);
        choice.new_game();
        assert_eq!(choice.level().map(|level| level.seed), Some(7));
        assert!(choice.news().is_some_and(|text| text.ends_with("Seed 7")));
        assert_eq!(choice.news(), None);
    }
}
