//! UCI options for levels: the current level and the seed of the game.

use super::options::SEED_MAX;
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
    /// `Level Seed`; 0 means a new random seed for each game.
    fixed_seed: u64,
    /// The seed of this game.
    seed: u64,
    /// The level that was last reported.
    reported: Option<Level>,
}

impl Default for LevelChoice {
    fn default() -> Self {
        Self {
            limit_strength: false,
            elo: ELO_MIN,
            skill: SKILL_MAX,
            fixed_seed: 0,
            seed: fresh_seed(),
            reported: None,
        }
    }
}

impl LevelChoice {
    /// The Elo of the current level; `UCI_LimitStrength` has priority over `Skill Level`.
    fn elo_in_force(&self) -> Option<i32> {
        if self.limit_strength { Some(self.elo) } else { elo_of_skill(self.skill) }
    }

    /// The level to play at; `None` for full strength.
    pub fn level(&self) -> Option<Level> {
        self.elo_in_force().map(|elo| Level::of(elo, self.seed))
    }

    /// Sets `Level Seed`; it applies at once, also to the current game.
    pub fn set_seed(&mut self, seed: u64) {
        self.fixed_seed = seed;
        self.new_game();
    }

    /// Chooses a new seed for the next game, unless the seed is fixed.
    pub fn new_game(&mut self) {
        self.new_game_with(fresh_seed());
    }

    /// Uses `seed` for the next game, unless the seed is fixed.
    pub fn new_game_with(&mut self, seed: u64) {
        self.seed = match self.fixed_seed {
            0 => seed,
            fixed => fixed,
        };
        self.reported = None;
    }

    /// Message about the level, if it changed since the last report. It contains the seed, with which the game can be
    /// repeated.
    pub fn change_message(&mut self) -> Option<String> {
        let (elo, level) = (self.elo_in_force()?, self.level()?);
        let reported = self.reported.replace(level);
        (reported != Some(level)).then(|| format!("Level: Elo {elo}, Level Seed {}", self.seed))
    }
}

/// A random seed in the range of the option, but not 0.
fn fresh_seed() -> u64 {
    rng::arbitrary() % u64::from(SEED_MAX) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limit_strength_overrides_skill() {
        let mut choice = LevelChoice::default();
        assert_eq!(choice.level(), None);
        choice.skill = 0;
        assert_eq!(choice.level(), Some(Level::of(ELO_MIN, choice.seed)));
        (choice.limit_strength, choice.elo) = (true, 1234);
        assert_eq!(choice.level(), Some(Level::of(1234, choice.seed)));
    }

    #[test]
    fn new_game_changes_seed_unless_fixed() {
        let mut choice = LevelChoice { skill: 3, ..LevelChoice::default() };
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
        assert!(choice.change_message().is_some_and(|text| text.ends_with("Seed 7")));
        assert_eq!(choice.change_message(), None);
    }
}
