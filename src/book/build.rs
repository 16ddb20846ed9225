//! Builds a book from games: the moves played in each position, and their results.

use std::collections::{HashMap, HashSet};

use super::entry::{Entry, code_of};
use crate::board::Color;
use crate::notation::pgn::Game;

/// Selection of the moves of the games.
#[derive(Clone, Copy, Debug)]
pub struct BuildOptions {
    /// Maximum number of plies of each game.
    pub max_ply: usize,
    /// Minimum number of games in which a move was played.
    pub min_games: u32,
}

/// Statistics of a move.
#[derive(Clone, Copy, Default)]
struct Record {
    games: u32,
    /// Two points for each win of the side that moved, one for each draw or unknown result.
    points: u64,
}

/// Collects the moves of games.
#[derive(Default)]
pub struct BookBuilder {
    records: HashMap<(u64, u16), Record>,
}

impl BookBuilder {
    /// Adds the moves of a game. A move of a position counts once, even if the game repeats the position.
    pub fn add(&mut self, game: &Game, max_ply: usize) {
        let mut position = game.start.clone();
        let mut seen = HashSet::new();
        for &m in game.moves.iter().take(max_ply) {
            let place = (position.polyglot_key(), code_of(m));
            if seen.insert(place) {
                let record = self.records.entry(place).or_default();
                record.games += 1;
                record.points += points(game.result, position.turn());
            }
            position.do_move(m);
        }
    }

    /// The entries of the book, in the order of a file. The weight of a move is its success: two points for each win
    /// of its side, one for each draw or unknown result. Moves without points are omitted, as are moves of fewer
    /// than `min_games` games. If a position's points exceed the range of the format, the points of all its moves are
    /// divided by the same factor.
    // CITE: the weights are those of Polyglot's `make-book` (Fabien Letouzey).
    pub fn entries(mut self, min_games: u32) -> Vec<Entry> {
        self.records.retain(|_, record| record.games >= min_games && record.points > 0);
        let mut max_points: HashMap<u64, u64> = HashMap::new();
        for (&(key, _), record) in &self.records {
            let max_points = max_points.entry(key).or_default();
            *max_points = record.points.max(*max_points);
        }
        let mut entries: Vec<Entry> = self
            .records
            .into_iter()
            .map(|((key, code), record)| Entry { key, code, weight: scaled(record.points, max_points[&key]) })
            .collect();
        entries.sort_by_key(|entry| (entry.key, std::cmp::Reverse(entry.weight), entry.code));
        entries
    }
}

/// Points of a game's result for a side.
fn points(result: &str, side: Color) -> u64 {
    match (result, side) {
        ("1-0", Color::White) | ("0-1", Color::Black) => 2,
        ("1-0", Color::Black) | ("0-1", Color::White) => 0,
        _ => 1,
    }
}

/// The weight for `points` if the best move of the position has `max_points`; at least 1.
fn scaled(points: u64, max_points: u64) -> u16 {
    let divisor = max_points.div_ceil(u64::from(u16::MAX)).max(1);
    (points / divisor).max(1) as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Position;
    use crate::book::{Book, BookMove};
    use crate::notation::pgn;

    const GAMES: &str = "[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 Nc6 1-0\n\n\
        [Result \"0-1\"]\n\n1. e4 c5 0-1\n\n\
        [Result \"1/2-1/2\"]\n\n1. d4 Nf6 2. Nf3 Ng8 3. Ng1 Nf6 4. Nf3 Ng8 5. Ng1 1/2-1/2\n\n\
        [Result \"0-1\"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n\n";

    fn book(options: BuildOptions) -> Book {
        let games = pgn::read(GAMES.as_bytes()).expect("text");
        assert_eq!(games.len(), 4);
        let mut builder = BookBuilder::default();
        for game in games {
            builder.add(&game.expect("legal"), options.max_ply);
        }
        let entries = builder.entries(options.min_games);
        let bytes = entries.iter().flat_map(|entry| entry.to_bytes()).collect();
        Book::from_bytes(bytes).expect("a book")
    }

    /// The book's moves after these moves, with their weights.
    fn after(book: &Book, moves: &[&str]) -> Vec<(String, u16)> {
        let mut position = Position::startpos();
        for text in moves {
            position.do_move(position.parse_san(text).expect("legal"));
        }
        let written = |found: &BookMove| (position.san(found.m), found.weight);
        book.moves(&position).iter().map(written).collect()
    }

    #[test]
    fn weight_is_success_and_losing_moves_are_omitted() {
        let book = book(BuildOptions { max_ply: 100, min_games: 1 });
        let named = |moves: &[(&str, u16)]| -> Vec<(String, u16)> {
            moves.iter().map(|(san, w)| ((*san).to_owned(), *w)).collect()
        };
        // e4 won once and lost once, d4 drew, f3 lost.
        assert_eq!(after(&book, &[]), named(&[("e4", 2), ("d4", 1)]));
        assert_eq!(after(&book, &["e4"]), named(&[("c5", 2)]));
        // Counts as one game, although it reached the position twice.
        assert_eq!(after(&book, &["d4"]), named(&[("Nf6", 1)]));
        assert_eq!(after(&book, &["f3", "e5", "g4"]), named(&[("Qh4#", 2)]));
    }

    #[test]
    fn entries_respect_limits_of_plies_and_games() {
        let short = book(BuildOptions { max_ply: 1, min_games: 1 });
        assert_eq!(short.len(), 2);
        let often = book(BuildOptions { max_ply: 100, min_games: 2 });
        assert_eq!(after(&often, &[]), [("e4".to_owned(), 2)]);
        assert_eq!(often.len(), 1);
    }

    #[test]
    fn points_beyond_the_format_are_scaled_down() {
        assert_eq!(scaled(65_535, 65_535), 65_535);
        assert_eq!(scaled(131_072, 131_072), 43_690);
        assert_eq!(scaled(1, 1 << 40), 1);
    }
}
