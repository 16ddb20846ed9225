//! Declares the command line with clap: the derive macros build the parser, and `///` comments are the help texts.
//!
//! [`run`] runs the commands.

mod dispatch;
#[cfg(feature = "full")]
mod manual;
#[cfg(target_os = "wasi")]
mod module;
mod review;
#[cfg(feature = "full")]
mod training;
mod version;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};

#[cfg(feature = "full")]
use crate::data::ops;
use crate::level::{ELO_MAX, ELO_MIN};
use crate::nnue::Kernel;
use crate::search::limits::Limits;

pub use dispatch::run;

/// Zoothera, a UCI chess engine with an efficiently updatable neural network.
///
/// Without a command, it runs the UCI protocol on standard input and output, as chess GUIs expect. UCI commands can
/// be given as arguments; the engine runs them in order and exits.
#[derive(Parser, Debug)]
#[command(name = "zoothera", version, long_version = version::long(), max_term_width = 100)]
pub struct Cli {
    /// Command to run; UCI if absent.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// The commands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Search a fixed list of positions and print the node count (the engine's signature) and the speed
    Bench(BenchArgs),
    /// Count the legal move paths of a position (perft), or verify a suite of counts
    Perft(PerftArgs),
    /// Explain the static evaluation of a position, or print the network's raw outputs
    Eval(EvalArgs),
    /// Analyse positions and print the best lines found
    #[command(visible_alias = "analyze")]
    Analyse(AnalyseArgs),
    /// Review games: move marks, better lines and reasons, as annotated PGN, HTML or JSON
    Review(Box<ReviewArgs>),
    /// Explain one move: what is wrong with it and what was better
    Explain(ExplainArgs),
    /// Play a game at the terminal
    Play(PlayArgs),
    /// Build and inspect Polyglot opening books
    Book {
        /// Subcommand.
        #[command(subcommand)]
        command: BookCommand,
    },
    /// Play two nets or two settings against each other: Elo, pairs, a sequential test, PGN
    #[cfg(feature = "full")]
    Match(Box<crate::matches::args::MatchArgs>),
    /// Run EPD test suites (bm, am, and scored moves as in STS)
    Epd(EpdArgs),
    /// Inspect, verify and export network files
    Net(NetArgs),
    /// Verify the files of Syzygy tablebases
    Tables {
        /// Subcommand.
        #[command(subcommand)]
        command: TablesCommand,
    },
    /// Write an untrained network of material and piece-square values
    #[cfg(feature = "full")]
    NetMaterial {
        /// File to write
        file: PathBuf,
        /// Use material only: a piece has the same value on every square
        #[arg(long)]
        no_squares: bool,
    },
    /// List the graphics cards that can train networks, and test one (requires a build with `--features gpu`)
    #[cfg(feature = "full")]
    Gpu(crate::train::gpu::GpuArgs),
    /// Train a network on files of search-labelled positions
    #[cfg(feature = "full")]
    Train(Box<crate::train::run::TrainArgs>),
    /// Inspect and process files of training data
    #[cfg(feature = "full")]
    Data {
        /// Subcommand.
        #[command(subcommand)]
        command: DataCommand,
    },
    /// Generate training data on all cores
    #[cfg(feature = "full")]
    Datagen {
        /// Subcommand.
        #[command(subcommand)]
        command: DatagenCommand,
    },
    /// Show the processor's features and the kernel in use
    Cpu,
    /// Print the search parameters as OpenBench's SPSA input, or tune them (requires the feature `tune`)
    #[cfg(feature = "tune")]
    Tune {
        /// Subcommand; prints the parameters if absent.
        #[command(subcommand)]
        command: Option<TuneCommand>,
    },
    /// Tune search parameters (requires a build with `--features tune`)
    #[cfg(all(feature = "full", not(feature = "tune")))]
    Tune {
        /// Arguments of `tune` in builds with the feature
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
        words: Vec<String>,
    },
    /// Generate random openings in the format of OpenBench's `genfens`
    Genfens(GenfensArgs),
    /// Print a shell completion script
    #[cfg(feature = "full")]
    Completions {
        /// Shell to print the script for
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    #[cfg(feature = "full")]
    Man {
        /// Write the pages of all commands to this folder instead
        #[arg(long, value_name = "DIR")]
        to: Option<PathBuf>,
    },
}

/// The subcommands of `tune`.
#[cfg(feature = "tune")]
#[derive(Subcommand, Debug)]
pub enum TuneCommand {
    /// Tune by games of the engine against itself
    Spsa(crate::tune::run::SpsaArgs),
    /// Measure many parameters at once, by games of the engine against itself
    Screen(crate::tune::screening::ScreenArgs),
}

/// The subcommands of `data`.
#[cfg(feature = "full")]
#[derive(Subcommand, Debug)]
pub enum DataCommand {
    /// Count positions, scores, plies, pieces and results
    Info(ops::info::InfoArgs),
    /// Convert positions to another format, or merge several files
    Convert(ops::convert::ConvertArgs),
    /// Keep only positions that are useful for training
    Filter(ops::filter::ChooseArgs),
    /// Replace the labels of positions with the values of other networks
    Relabel(ops::relabel::RelabelArgs),
    /// Shuffle positions; files may be larger than memory
    Shuffle(ops::shuffle::ShuffleArgs),
    /// Remove duplicate positions, keeping the first of each; files may be larger than memory
    Dedupe(ops::dedupe::DedupeArgs),
    /// Distribute games at random over several files
    Split(ops::split::SplitArgs),
}

/// The subcommands of `datagen`.
#[cfg(feature = "full")]
#[derive(Subcommand, Debug)]
pub enum DatagenCommand {
    /// Sample positions from the search trees of a strong network, labelled with its static evaluation
    Sample(crate::datagen::sample::SampleArgs),
    /// Play the engine against itself and write every position with its score and the game's result
    Selfplay(crate::datagen::selfplay::SelfplayArgs),
}

/// Arguments of `bench`.
#[derive(Args, Debug)]
pub struct BenchArgs {
    /// `[depth] [threads] [hash in MiB]`, or fishtest's form: `hash threads limit default|file depth|nodes|movetime`
    #[arg(num_args = 0..=5, value_name = "WORD")]
    pub words: Vec<String>,
    /// Network to use instead of the embedded one
    #[arg(long, value_name = "FILE")]
    pub net: Option<PathBuf>,
}

/// Arguments of `perft`.
#[derive(Args, Debug)]
pub struct PerftArgs {
    /// Depth in plies
    #[arg(required_unless_present = "suite")]
    pub depth: Option<u32>,
    /// Position to count from; the initial position if absent
    #[arg(long, value_name = "FEN", conflicts_with = "suite")]
    pub fen: Option<String>,
    /// Read K, Q, k and q as Chess960 castling rights (file letters are always accepted)
    #[arg(long)]
    pub chess960: bool,
    /// Show the count of each move
    #[arg(long, conflicts_with = "suite")]
    pub divide: bool,
    /// Verify every count of an EPD suite with entries like `;D1 20 ;D2 400`
    #[arg(long, value_name = "FILE", conflicts_with = "depth")]
    pub suite: Option<PathBuf>,
    /// Skip counts of the suite deeper than this
    #[arg(long, value_name = "DEPTH", requires = "suite")]
    pub max_depth: Option<u32>,
}

/// Arguments of `eval`.
#[derive(Args, Debug)]
pub struct EvalArgs {
    /// Position, with or without quotation marks; the initial position if absent
    #[arg(value_name = "FEN", conflicts_with = "raw")]
    pub fen: Vec<String>,
    /// Print `FEN<TAB>raw output` for each line of a file, or `FEN<TAB>psqt<TAB>positional<TAB>bucket` for networks
    /// with buckets
    #[arg(long, requires = "file")]
    pub raw: bool,
    /// File with one FEN per line (further columns after a tab are ignored)
    #[arg(long, value_name = "FENS", requires = "raw")]
    pub file: Option<PathBuf>,
    /// Network to use instead of the embedded one
    #[arg(long, value_name = "FILE")]
    pub net: Option<PathBuf>,
    /// Kernel for the raw outputs (`zoothera cpu` lists the available ones)
    #[arg(long, value_name = "NAME", requires = "raw")]
    pub kernel: Option<Kernel>,
}

/// Arguments of `analyse`.
#[derive(Args, Debug)]
pub struct AnalyseArgs {
    /// FENs with or without quotation marks, `startpos moves e2e4 ...`, EPD files, PGN files (final position of each
    /// game); the initial position if absent
    #[arg(value_name = "POSITION|FILE")]
    pub positions: Vec<String>,
    /// Limits of the search; five seconds if absent. Ctrl-C also stops it.
    #[command(flatten)]
    pub limits: LimitArgs,
    /// Number of principal variations
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub multipv: u16,
    /// File for saving the hash table: read at the start if it exists, written at the end and on Ctrl-C
    #[arg(long, value_name = "FILE")]
    pub hash_file: Option<PathBuf>,
    /// Threads, memory, tablebases and network.
    #[command(flatten)]
    pub engine: EngineArgs,
    /// Print JSON Lines: `line` messages, then one `best`; with several positions, each starts with a `position`
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `review`.
#[derive(Args, Debug)]
pub struct ReviewArgs {
    /// PGN file, or - for standard input
    #[arg(value_name = "GAMES", required_unless_present = "svg")]
    pub file: Option<PathBuf>,
    /// Limits of the search of each position; 0.4 seconds if absent.
    #[command(flatten)]
    pub limits: LimitArgs,
    /// Number of better lines to show
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=10))]
    pub lines: u16,
    /// Review the moves of one side only
    #[arg(long, value_name = "SIDE", value_parser = ["white", "black"])]
    pub side: Option<String>,
    /// How detailed the comments are
    #[arg(long, value_enum, value_name = "LEVEL", default_value = "normal")]
    pub detail: crate::review::run::Detail,
    /// Write annotated PGN to a file; without any output option it goes to standard output
    #[arg(long, value_name = "FILE")]
    pub pgn: Option<PathBuf>,
    /// Write an HTML page with board, graph and reasons
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Print JSON Lines, one line per game
    #[arg(long)]
    pub json: bool,
    /// Print an SVG picture of a position and exit
    #[arg(long, value_name = "FEN", conflicts_with_all = ["file", "pgn", "html", "json"])]
    pub svg: Option<String>,
    /// Threads, memory, tablebases and network.
    #[command(flatten)]
    pub engine: EngineArgs,
}

/// Arguments of `explain`.
#[derive(Args, Debug)]
pub struct ExplainArgs {
    /// Position, with or without quotation marks, followed by the move in SAN or coordinates
    #[arg(required = true, num_args = 2.., value_names = ["FEN", "MOVE"])]
    pub words: Vec<String>,
    /// Limits of each search; one second if absent.
    #[command(flatten)]
    pub limits: LimitArgs,
    /// Threads, memory, tablebases and network.
    #[command(flatten)]
    pub engine: EngineArgs,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `play`.
#[derive(Args, Debug)]
pub struct PlayArgs {
    /// Playing strength of the engine in Elo (engine scale); full strength if absent
    #[arg(
        long,
        value_name = "ELO",
        value_parser = clap::value_parser!(i32).range(i64::from(ELO_MIN)..=i64::from(ELO_MAX)),
    )]
    pub elo: Option<i32>,
    /// Your colour
    #[arg(long, visible_alias = "color", value_name = "COLOUR", default_value = "white")]
    pub colour: ColourChoice,
    /// Starting position; the initial position if absent
    #[arg(long, value_name = "FEN")]
    pub fen: Option<String>,
    /// Seed for the level's mistakes and for a random colour; differs from run to run if absent
    #[arg(long, value_name = "SEED")]
    pub seed: Option<u64>,
    /// File to append the game to when it ends
    #[arg(long, value_name = "FILE")]
    pub pgn: Option<PathBuf>,
    /// Network to use instead of the embedded one
    #[arg(long, value_name = "FILE")]
    pub net: Option<PathBuf>,
}

/// The player's colour.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColourChoice {
    /// You play White
    White,
    /// You play Black
    Black,
    /// The colour is chosen at random
    Random,
}

/// The subcommands of `book`.
#[derive(Subcommand, Debug)]
pub enum BookCommand {
    /// Build a book from games: a move's weight is 2 for each win and 1 for each draw of the side that played it
    Build {
        /// PGN files, or - for standard input
        #[arg(required = true, value_name = "GAMES")]
        files: Vec<PathBuf>,
        /// Book file to write
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
        /// Number of plies to use from each game
        #[arg(long, value_name = "PLIES", default_value_t = 40, value_parser = clap::value_parser!(u16).range(1..))]
        max_ply: u16,
        /// Skip moves that were played in fewer games
        #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
        min_games: u32,
    },
    /// Show a book's moves for a position
    Show {
        /// Position, with or without quotation marks, or `startpos moves e2e4 ...`; the initial position if absent
        #[arg(value_name = "FEN")]
        position: Vec<String>,
        /// Book file
        #[arg(long, value_name = "FILE")]
        book: PathBuf,
    },
}

/// Arguments of `epd`.
#[derive(Args, Debug)]
pub struct EpdArgs {
    /// EPD files
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Limits of the search of each position; one second if absent.
    #[command(flatten)]
    pub limits: LimitArgs,
    /// Threads, memory, tablebases and network.
    #[command(flatten)]
    pub engine: EngineArgs,
    /// Print JSON Lines: one `position` each, then a `summary`
    #[arg(long)]
    pub json: bool,
}

/// Limits of a search.
#[derive(Args, Debug)]
pub struct LimitArgs {
    /// Search to this depth in plies
    #[arg(long, value_name = "PLIES", value_parser = clap::value_parser!(i32).range(1..=245))]
    pub depth: Option<i32>,
    /// Search this many nodes
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub nodes: Option<u64>,
    /// Search this many milliseconds
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..))]
    pub movetime: Option<u64>,
}

impl LimitArgs {
    /// Returns the limits, or a search time of `default` if no limit is given.
    pub fn limits(&self, default: Duration) -> Limits {
        let unlimited = self.depth.is_none() && self.nodes.is_none() && self.movetime.is_none();
        Limits {
            depth: self.depth,
            nodes: self.nodes,
            move_time: self.movetime.map(Duration::from_millis).or(unlimited.then_some(default)),
            ..Limits::default()
        }
    }
}

/// Resources of the engine.
#[derive(Args, Debug)]
pub struct EngineArgs {
    /// Search threads
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: u16,
    /// Size of the transposition table in MiB
    #[arg(long, value_name = "MIB", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=1 << 25))]
    pub hash: u32,
    /// Directories of Syzygy tablebases, separated like the directories in PATH
    #[arg(long, value_name = "DIRECTORIES")]
    pub syzygy: Option<String>,
    /// Network to use instead of the embedded one
    #[arg(long, value_name = "FILE")]
    pub net: Option<PathBuf>,
}

/// Arguments of `net`.
#[derive(Args, Debug)]
pub struct NetArgs {
    /// Subcommand.
    #[command(subcommand)]
    pub command: NetCommand,
}

/// The subcommands of `tables`.
#[derive(Subcommand, Debug)]
pub enum TablesCommand {
    /// Compare the checksum of every table with its content, and name the damaged ones
    Verify {
        /// Directories with tables (*.rtbw, *.rtbz), or tables
        #[arg(required = true, value_name = "DIRECTORY|FILE")]
        paths: Vec<PathBuf>,
    },
}

/// The subcommands of `net`.
#[derive(Subcommand, Debug)]
pub enum NetCommand {
    /// Show architecture, description, hashes, size and parameter ranges
    Info {
        /// Network file
        file: PathBuf,
    },
    /// Verify a network file; exits with code 1 and the reason if a check fails
    Verify {
        /// Network file
        file: PathBuf,
    },
    /// Write a network to a file, compressed or not as its own file was
    Export {
        /// File to write
        file: PathBuf,
        /// Network to export instead of the embedded one
        #[arg(long, value_name = "FILE")]
        net: Option<PathBuf>,
        /// Compress the feature transformer (LEB128)
        #[arg(long)]
        compress: bool,
        /// Write every number uncompressed
        #[arg(long, conflicts_with = "compress")]
        decompress: bool,
    },
}

/// Arguments of `genfens`.
#[derive(Args, Debug)]
pub struct GenfensArgs {
    /// N seed S book FILE|None; one quoted argument with the whole command also works
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "WORD")]
    pub words: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn cli_declaration_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn fen_parses_without_quotation_marks() {
        let parsed = Cli::try_parse_from("zoothera eval 8/8/4k3/8/8/8/8/4K3 w - - 0 1".split(' '));
        let Ok(Cli { command: Some(Command::Eval(args)) }) = parsed else {
            panic!("{parsed:?}");
        };
        assert_eq!(args.fen.join(" "), "8/8/4k3/8/8/8/8/4K3 w - - 0 1");
    }

    #[test]
    fn default_time_applies_only_without_limits() {
        let second = Duration::from_secs(1);
        let none = LimitArgs { depth: None, nodes: None, movetime: None };
        assert_eq!(none.limits(second).move_time, Some(second));
        let depth = LimitArgs { depth: Some(5), ..none };
        assert_eq!(depth.limits(second).move_time, None);
    }

    #[test]
    fn invalid_argument_combinations_are_rejected() {
        for line in ["perft", "perft 3 --suite x", "eval --raw", "eval --file x", "net", "epd", "analyse --depth 0"] {
            let words = ["zoothera"].into_iter().chain(line.split(' '));
            assert!(Cli::try_parse_from(words).is_err(), "{line}");
        }
    }
}
