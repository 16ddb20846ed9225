//! UCI options of the opening book: use of the book, its depth, and the seed of the game.

use std::sync::Arc;

use crate::board::Position;
use crate::book::{Book, BookMove};
use crate::search::limits::Limits;
use crate::util::rng::{self, SplitMix64};

/// `OwnBook`, `Book File`, `Book Depth` and `Book Seed`.
#[derive(Clone, Debug)]
pub struct BookChoice {
    /// `OwnBook`
    pub own: bool,
    /// `Book Depth`: the last move number at which the book is probed.
    pub depth: u32,
    /// The book that `Book File` names.
    pub book: Option<Arc<Book>>,
    /// `Book Seed`; 0 means a new random seed for each game.
    fixed_seed: u64,
    /// The seed of this game.
    seed: u64,
}

impl Default for BookChoice {
    fn default() -> Self {
        Self { own: false, depth: 0, book: None, fixed_seed: 0, seed: rng::arbitrary() }
    }
}

impl BookChoice {
    /// Sets `Book Seed`; it applies at once, also to the current game.
    pub fn set_seed(&mut self, seed: u64) {
        self.fixed_seed = seed;
        self.new_game();
    }

    /// Chooses a new seed for the next game, unless the seed is fixed.
    pub fn new_game(&mut self) {
        self.seed = match self.fixed_seed {
            0 => rng::arbitrary(),
            fixed => fixed,
        };
    }

    /// The book's move. Returns `None` for analysis, pondering, mate searches and searches restricted to root moves.
    /// The same seed and position give the same move.
    pub fn probe(&self, position: &Position, limits: &Limits) -> Option<BookMove> {
        let is_plain_search = !limits.infinite
            && !limits.ponder
            && limits.mate.is_none()
            && limits.search_moves.is_none()
            && limits.exclude_moves.is_empty();
        if !self.own || !is_plain_search || position.fullmoves() > self.depth {
            return None;
        }
        let mut rng = SplitMix64::new(self.seed ^ position.key());
        self.book.as_ref()?.choose(position, &mut rng)
    }
}
