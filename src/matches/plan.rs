//! Settings that determine the games of a match.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, ensure};
use sha2::{Digest, Sha256};

use super::args::MatchArgs;
use super::score::Sprt;
use super::side::{Side, TimeControl, name_apart};
use crate::board::openings::{Book, Opening};
use crate::board::{CastlingMode, Color};
use crate::game::referee::RuleArgs;
use crate::game::workers::rng_of;
use crate::search::Limits;
use crate::util::identity::check_distinct;
use crate::util::text::Shown as _;

/// Default number of nodes for each move.
const NODES: u64 = 10_000;
/// Default number of games, and the maximum with a sequential test.
const GAMES: [u64; 2] = [1000, 100_000];

/// A match.
pub struct Plan {
    /// Player A and player B.
    pub sides: [Side; 2],
    /// Number of games to play.
    pub games: u64,
    /// The test that can end the match earlier.
    pub sprt: Option<Sprt>,
    /// Limits of a move, without the clock.
    pub limits: Limits,
    /// The clock.
    pub control: Option<TimeControl>,
    /// Tolerance by which a move may exceed its time.
    pub margin: Duration,
    /// Adjudication, in centipawns.
    pub rules: RuleArgs,
    /// The openings.
    pub book: Book,
    /// Numbers of the openings in the order of the pairs.
    order: Vec<usize>,
    /// Seed of all random numbers.
    pub seed: u64,
}

impl Plan {
    /// Reads nets, options and book.
    ///
    /// # Errors
    /// Fails if one of them cannot be used, or arguments contradict each other.
    pub fn new(args: &MatchArgs) -> Result<Self> {
        ensure!(args.net.len() <= 2, "--net was given {} times, but a match has two players", args.net.len());
        let games = args.games.unwrap_or(GAMES[usize::from(args.sprt.is_some())]);
        ensure!(
            games.is_multiple_of(2),
            "--games {games}: give an even number, because both players get each opening with White"
        );
        let side = |index: usize, own: &[String]| {
            let options = [&args.option, own].concat();
            let net = args.net.get(index).map(|path| path.as_path());
            Side::new(net, args.hash, args.threads, &options)
        };
        let mut sides = [side(0, &args.option_a)?, side(1, &args.option_b)?];
        name_apart(&mut sides);
        let book = Book::read(&args.book, CastlingMode::Standard)?;
        let order = shuffled(book.len(), args.seed);
        let unlimited = args.tc.is_none() && args.movetime.is_none();
        let limits = if args.moves.is_empty() && !unlimited { Limits::default() } else { args.moves.limits(NODES) };
        let plan = Self {
            sides,
            games,
            sprt: args.sprt.map(|bounds| Sprt { bounds, model: args.sprt_model }),
            limits: Limits { move_time: args.movetime.map(Duration::from_millis), ..limits },
            control: args.tc,
            margin: Duration::from_millis(args.time_margin),
            rules: args.adjudication.rules(),
            book,
            order,
            seed: args.seed,
        };
        plan.check_files(args)?;
        Ok(plan)
    }

    /// Checks that the files to write differ from each other and from the files to read.
    fn check_files(&self, args: &MatchArgs) -> Result<()> {
        let nets: Vec<PathBuf> = self.sides.iter().filter_map(Side::file).collect();
        let mut read: Vec<&Path> = nets.iter().map(PathBuf::as_path).collect();
        read.push(&args.book);
        let written = [&args.pgn, &args.state];
        let written: Vec<&Path> = written.into_iter().filter_map(Option::as_deref).collect();
        check_distinct(&written, &read)?;
        // Files that do not exist yet have no identity.
        if let [pgn, state] = written[..] {
            ensure!(
                std::path::absolute(pgn)? != std::path::absolute(state)?,
                "--pgn and --state are both {}: give two names",
                pgn.shown()
            );
        }
        Ok(())
    }

    /// The opening of a game.
    pub fn opening(&self, number: u64) -> Opening {
        let pair = (number / 2) as usize;
        self.book.opening(self.order[pair % self.order.len()])
    }

    /// The colour of player A in a game.
    pub fn colour_of_a(number: u64) -> Color {
        Color::from_white(number.is_multiple_of(2))
    }

    /// Whether the games depend on the clock.
    pub fn is_timed(&self) -> bool {
        self.control.is_some() || self.limits.move_time.is_some()
    }

    /// Number of games after which openings repeat.
    pub fn fresh_games(&self) -> u64 {
        2 * self.book.len() as u64
    }

    /// Whether both players are the same.
    pub fn is_mirror(&self) -> bool {
        self.sides[0].description() == self.sides[1].description()
    }

    /// The limits of a move as text.
    pub fn limit(&self) -> String {
        let limits = &self.limits;
        let parts = [
            self.control.map(|control| format!("clock {control}")),
            limits.move_time.map(|time| format!("{} ms a move", time.as_millis())),
            limits.nodes.map(|nodes| format!("{nodes} nodes a move")),
            limits.soft_nodes.map(|nodes| format!("{nodes} soft nodes")),
            limits.depth.map(|depth| format!("depth {depth}")),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// Settings that must be unchanged when a match is resumed, by name. The number of games and the number of
    /// simultaneous games may change.
    pub fn settings(&self, pgn: Option<&Path>) -> BTreeMap<String, String> {
        let book = Sha256::digest(self.book.lines().join("\n"));
        let book: String = book.iter().map(|byte| format!("{byte:02x}")).collect();
        let pgn = pgn.map_or_else(|| "none".into(), |path| path.shown());
        let [a, b] = &self.sides;
        let settings = [
            ("version", env!("CARGO_PKG_VERSION").to_owned()),
            ("player A", a.description()),
            ("player B", b.description()),
            ("limit of a move", self.limit()),
            ("time margin", format!("{} ms", self.margin.as_millis())),
            ("adjudication", format!("{:?}", self.rules)),
            ("book", format!("{} openings, sha256 {book}", self.book.len())),
            ("seed", self.seed.to_string()),
            ("sequential test", self.sprt.map_or("none".into(), |test| format!("{test:?}"))),
            ("PGN file", pgn),
        ];
        settings.map(|(name, value)| (name.to_owned(), value)).into()
    }
}

/// The numbers below `count` in random order.
// CITE: R. Durstenfeld, "Algorithm 235: Random permutation" (1964).
fn shuffled(count: usize, seed: u64) -> Vec<usize> {
    /// Not the number of any game; selects the random numbers of the order.
    const ORDER: u64 = u64::MAX;
    let mut rng = rng_of(seed, ORDER);
    let mut order: Vec<usize> = (0..count).collect();
    for last in (1..count).rev() {
        order.swap(last, rng.below(last + 1));
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_has_every_opening_once_and_depends_on_the_seed() {
        let order = shuffled(100, 1);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..100).collect::<Vec<_>>());
        assert_ne!(order, sorted);
        assert_eq!(order, shuffled(100, 1));
        assert_ne!(order, shuffled(100, 2));
    }
}
