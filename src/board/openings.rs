//! Openings of games: positions of a book or random Chess960 arrays, followed by a few random moves.

use std::path::Path;

use anyhow::{Result, bail};

use super::opening_book::Book;
use super::{CastlingMode, Position};
use crate::util::rng::SplitMix64;

/// Number of random plies from an initial position. Half of the time one more is played, so that either side may be
/// to move.
const PLIES_FROM_START: usize = 8;
/// Number of random plies from a book position, or one more.
const PLIES_FROM_BOOK: usize = 4;
/// Consecutive rejected openings after which the search fails; chance alone cannot explain so long a series.
const MAX_FAILURES: usize = 2000;

/// A source of openings: a book position or an initial position, followed by random plies.
pub struct Openings {
    book: Option<Book>,
    mode: CastlingMode,
    plies: usize,
}

impl Openings {
    /// Reads the book, if there is one. Without a book, games begin at the initial position or, in Chess960, at a
    /// random array. `plies` (or one more) random plies follow; the default is 8, or 4 with a book.
    ///
    /// # Errors
    /// Fails if the book cannot be read or contains no valid position. The error names the file and describes its
    /// first invalid line.
    pub fn new(book: Option<&Path>, mode: CastlingMode, plies: Option<usize>) -> Result<Self> {
        let book = book.map(|path| Book::read(path, mode)).transpose()?;
        let default = if book.is_some() { PLIES_FROM_BOOK } else { PLIES_FROM_START };
        let plies = plies.unwrap_or(default);
        Ok(Self { book, mode, plies })
    }

    /// The next opening for which `accept` returns true. The side to move is not in check, and the game is not over.
    ///
    /// # Errors
    /// Fails if no opening is found, which only an unusual book or `accept` can cause.
    pub fn next(&self, rng: &mut SplitMix64, mut accept: impl FnMut(&Position) -> bool) -> Result<Position> {
        for _ in 0..MAX_FAILURES {
            let start = self.start(rng);
            let plies = self.plies + rng.below(2);
            if let Some(opening) = random_walk(&start, plies, rng).filter(&mut accept) {
                return Ok(opening);
            }
        }
        bail!("no playable opening found in {MAX_FAILURES} attempts; check the book")
    }

    fn start(&self, rng: &mut SplitMix64) -> Position {
        match (&self.book, self.mode) {
            (Some(book), _) => book.opening(rng.below(book.len())).position(),
            (None, CastlingMode::Chess960) => chess960_start(rng),
            (None, CastlingMode::Standard) => Position::startpos(),
        }
    }
}

/// The position after `plies` random legal moves; `None` if the game ended or the last move gives check.
pub fn random_walk(start: &Position, plies: usize, rng: &mut SplitMix64) -> Option<Position> {
    let mut position = start.clone();
    for _ in 0..plies {
        let moves = position.legal_moves();
        if moves.is_empty() {
            return None;
        }
        position.do_move(moves[rng.below(moves.len())]);
    }
    let over = position.legal_moves().is_empty() || position.is_draw(0);
    (!over && !position.in_check()).then_some(position)
}

/// A random initial position of Chess960, the same for both sides.
pub(crate) fn chess960_start(rng: &mut SplitMix64) -> Position {
    let mut rank = [' '; 8];
    rank[2 * rng.below(4)] = 'b';
    rank[2 * rng.below(4) + 1] = 'b';
    for (piece, free) in [('q', 6), ('n', 5), ('n', 4)] {
        place(&mut rank, piece, rng.below(free));
    }
    // The king stands between the rooks.
    for piece in ['r', 'k', 'r'] {
        place(&mut rank, piece, 0);
    }
    let black: String = rank.iter().collect();
    let white = black.to_uppercase();
    let fen = format!("{black}/pppppppp/8/8/8/8/PPPPPPPP/{white} w KQkq - 0 1");
    Position::from_fen(&fen, CastlingMode::Chess960).unwrap_or_else(|_| Position::startpos())
}

/// Puts a piece on the free square with this number.
fn place(rank: &mut [char; 8], piece: char, number: usize) {
    if let Some(square) = rank.iter_mut().filter(|c| **c == ' ').nth(number) {
        *square = piece;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn random_walk_is_reproducible_and_ends_in_playable_position() {
        let walk = |seed| random_walk(&Position::startpos(), 8, &mut SplitMix64::new(seed));
        for seed in 0..50 {
            assert_eq!(walk(seed).map(|p| p.fen()), walk(seed).map(|p| p.fen()));
            assert!(walk(seed).is_none_or(|position| !position.in_check()));
        }
    }

    #[test]
    fn next_returns_accepted_opening_or_error() {
        let openings = Openings::new(None, CastlingMode::Standard, Some(3)).expect("no book");
        let mut rng = SplitMix64::new(1);
        let black_to_move = |position: &Position| position.turn().is_black();
        for _ in 0..20 {
            let opening = openings.next(&mut rng, black_to_move).expect("an opening");
            assert!(opening.turn().is_black() && opening.fullmoves() == 2);
        }
        assert!(openings.next(&mut rng, |_| false).is_err());
        let absent = Path::new("no such book.epd");
        assert!(Openings::new(Some(absent), CastlingMode::Standard, None).is_err());
    }

    #[test]
    fn chess960_start_yields_all_960_arrays() {
        let mut rng = SplitMix64::new(1);
        let arrays: HashSet<String> = (0..20_000).map(|_| chess960_start(&mut rng).fen()).collect();
        assert_eq!(arrays.len(), 960);
    }
}
