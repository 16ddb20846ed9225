//! Games won, drawn and lost.

use serde::{Deserialize, Serialize};

/// Results of one player.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Games won.
    pub won: u32,
    /// Games drawn.
    pub drawn: u32,
    /// Games lost.
    pub lost: u32,
}

impl Tally {
    /// Counts a result of the player: -1, 0, 1.
    pub fn count(&mut self, result: i8) {
        *match result {
            1 => &mut self.won,
            0 => &mut self.drawn,
            _ => &mut self.lost,
        } += 1;
    }

    /// Adds another tally.
    pub fn add(&mut self, other: Self) {
        self.won += other.won;
        self.drawn += other.drawn;
        self.lost += other.lost;
    }

    /// All games.
    pub fn games(&self) -> u32 {
        self.won + self.drawn + self.lost
    }
}
