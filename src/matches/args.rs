//! The command line of `zoothera match`.

use std::path::PathBuf;

use super::score::{Bounds, EloModel};
use super::side::TimeControl;
use crate::game::referee::{MoveArgs, RuleArgs};

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
