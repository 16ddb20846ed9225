//! The command line of `zoothera match`, and the settings that determine the games of a match.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, ensure};
use sha2::{Digest, Sha256};

use super::score::{Bounds, EloModel, Sprt};
use super::side::{Side, name_apart};
use crate::board::openings::{Book, Opening};
use crate::board::{CastlingMode, Color};
use crate::game::clock::TimeControl;
use crate::game::play::{MoveArgs, RuleArgs, rng_of};
use crate::search::Limits;
use crate::util::files::check_distinct;
use crate::util::text::Shown as _;

/// Maximum number of plies without adjudication. The rules of chess end every game long before.
const LONGEST: u32 = 3000;
/// A score that no search returns.
const NEVER: i32 = i32::MAX;

/// Arguments of `match`.
#[derive(clap::Args, Clone, Debug)]
pub struct MatchArgs {
    /// Net of player A, then of player B; `default` or none means the embedded net
    #[arg(long, value_name = "FILE")]
    pub net: Vec<PathBuf>,
    /// UCI option for both players, such as "Skill Level=5"
    #[arg(long, value_name = "NAME=VALUE")]
    pub option: Vec<String>,
    /// UCI option for player A
    #[arg(long, value_name = "NAME=VALUE")]
    pub option_a: Vec<String>,
    /// UCI option for player B
    #[arg(long, value_name = "NAME=VALUE")]
    pub option_b: Vec<String>,
    /// Limits of a move: 10000 nodes if no limit is given.
    #[command(flatten)]
    pub moves: MoveArgs,
    /// Milliseconds for each move
    #[arg(
        long,
        value_name = "MS",
        conflicts_with = "tc",
        value_parser = clap::value_parser!(u64).range(1..=86_400_000),
    )]
    pub movetime: Option<u64>,
    /// Clock of each player: [MOVES/]SECONDS[+INCREMENT]
    #[arg(long, value_name = "CONTROL")]
    pub tc: Option<TimeControl>,
    /// Milliseconds by which a move may exceed its time before the game is lost
    #[arg(long, value_name = "MS", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=60_000))]
    pub time_margin: u64,
    /// Number of games, even; default 1000, with --sprt at most 100000
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=100_000_000))]
    pub games: Option<u64>,
    /// Stop the match when a sequential test (SPRT) has decided between these Elo, with error probabilities of 5 %
    #[arg(long, value_name = "ELO0,ELO1", allow_hyphen_values = true)]
    pub sprt: Option<Bounds>,
    /// Unit of the bounds of --sprt
    #[arg(long, value_enum, value_name = "UNIT", default_value_t, requires = "sprt")]
    pub sprt_model: EloModel,
    /// Book of openings: FENs, EPD, or lines of UCI moves; `builtin` is the built-in one
    #[arg(long, value_name = "FILE", default_value = crate::board::openings::BUILTIN)]
    pub book: PathBuf,
    /// Seed for the order of the openings
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Size of each player's transposition table in MiB
    #[arg(long, value_name = "MIB", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=1 << 25))]
    pub hash: u32,
    /// Search threads of each player
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: u16,
    /// Number of games played at the same time; as many as there are cores if absent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub concurrency: Option<u16>,
    /// PGN file for the games, which must not exist yet
    #[arg(long, value_name = "FILE")]
    pub pgn: Option<PathBuf>,
    /// State file; the same command resumes the match from it
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// Adjudication.
    #[command(flatten)]
    pub adjudication: AdjudicationArgs,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of adjudication.
// CITE: the defaults are fishtest's, where both sides must agree.
#[derive(clap::Args, Clone, Debug)]
pub struct AdjudicationArgs {
    /// Adjudicate a win when both players' scores are at least this for one side for --win-moves
    #[arg(
        long,
        value_name = "CENTIPAWNS",
        default_value_t = 600,
        value_parser = clap::value_parser!(i32).range(1..=30_000),
    )]
    pub win_score: i32,
    /// Number of consecutive moves of both players with a winning score
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub win_moves: u32,
    /// Adjudicate a draw when both players' scores are at most this for --draw-moves
    #[arg(
        long,
        value_name = "CENTIPAWNS",
        default_value_t = 20,
        value_parser = clap::value_parser!(i32).range(0..=30_000),
    )]
    pub draw_score: i32,
    /// Number of consecutive moves of both players with a drawn score
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub draw_moves: u32,
    /// Number of moves after the opening before which no draw is adjudicated
    #[arg(long, value_name = "N", default_value_t = 34, value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub draw_from: u32,
    /// Adjudicate a draw after this many moves from the opening
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=1500))]
    pub max_moves: u32,
    /// Adjudicate no games
    #[arg(long, conflicts_with_all = ["win_score", "win_moves", "draw_score", "draw_moves", "draw_from", "max_moves"])]
    pub no_adjudication: bool,
}

impl AdjudicationArgs {
    /// The rules for scores in centipawns.
    pub fn rules(&self) -> RuleArgs {
        if self.no_adjudication {
            return RuleArgs {
                win_score: NEVER,
                win_plies: 1,
                draw_score: -1,
                draw_plies: 1,
                draw_from: 0,
                max_plies: LONGEST,
            };
        }
        RuleArgs {
            win_score: self.win_score,
            win_plies: 2 * self.win_moves,
            draw_score: self.draw_score,
            draw_plies: 2 * self.draw_moves,
            draw_from: 2 * self.draw_from,
            max_plies: 2 * self.max_moves,
        }
    }
}

// Settings that determine the games.

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

    /// Whether the players have clocks.
    pub fn is_timed(&self) -> bool {
        self.control.is_some() || self.limits.move_time.is_some()
    }

    /// Whether the games depend on the speed of the machine.
    pub fn depends_on_speed(&self) -> bool {
        self.is_timed() && self.sides.iter().any(Side::has_real_clock)
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
