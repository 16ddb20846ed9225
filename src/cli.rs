//! The command line as data: clap derives the parser, and `///` is the help text.
//!
//! What the commands do is in [`run`].

mod dispatch;
mod manual;
mod review;
mod version;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};

use crate::data::ops;
use crate::level::{ELO_MAX, ELO_MIN};
use crate::nnue::Kernel;
use crate::search::limits::Limits;

pub use dispatch::run;

/// Zoothera, a UCI chess engine with an efficiently updatable neural network.
///
/// Without a command it speaks UCI on standard input and output, which is what a chess GUI wants. UCI commands
/// may also be given as arguments: they are run in order, and the engine leaves.
#[derive(Parser, Debug)]
#[command(name = "zoothera", version, long_version = version::long(), max_term_width = 100)]
pub struct Cli {
    /// What to do; UCI if absent.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// The commands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Search a fixed list of positions: the engine's signature and speed
    Bench(BenchArgs),
    /// Count the move paths of a position, or check a suite of counts
    Perft(PerftArgs),
    /// Explain the static evaluation of a position, or print raw outputs of the network
    Eval(EvalArgs),
    /// Analyse positions and print what the search finds
    #[command(visible_alias = "analyze")]
    Analyse(AnalyseArgs),
    /// Review games: marks, better lines and reasons, as annotated PGN, HTML or JSON
    Review(Box<ReviewArgs>),
    /// Explain one move: what is wrong with it, and what was better
    Explain(ExplainArgs),
    /// Play a game at the terminal
    Play(PlayArgs),
    /// Make opening books of games, and look into them (Polyglot format)
    Book {
        /// What to do.
        #[command(subcommand)]
        command: BookCommand,
    },
    /// Play two nets or two settings against each other: Elo, pairs, a sequential test, PGN
    Match(Box<crate::matches::args::MatchArgs>),
    /// Run test suites in EPD (bm, am, and scored ones as STS)
    Epd(EpdArgs),
    /// Look into network files, and write them
    Net(NetArgs),
    /// Write the untrained network of material and piece-square values
    NetMaterial {
        /// File to write
        file: PathBuf,
        /// Material alone: a piece is worth the same on every square
        #[arg(long)]
        no_squares: bool,
    },
    /// Train a network on files of search-labelled positions
    Train(Box<crate::train::run::TrainArgs>),
    /// Work on files of training data
    Data {
        /// What to do with them.
        #[command(subcommand)]
        command: DataCommand,
    },
    /// Make training data on all cores
    Datagen {
        /// How.
        #[command(subcommand)]
        command: DatagenCommand,
    },
    /// Show what the processor has and which kernel is used
    Cpu,
    /// Print the search parameters as OpenBench's SPSA input, or tune them (builds with the feature `tune` only)
    #[cfg(feature = "tune")]
    Tune {
        /// What else.
        #[command(subcommand)]
        command: Option<TuneCommand>,
    },
    /// Tune the search parameters: only in builds with the feature `tune`, which this is not
    #[cfg(not(feature = "tune"))]
    Tune {
        /// What builds with the feature understand
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
        words: Vec<String>,
    },
    /// Generate random openings in OpenBench's form
    Genfens(GenfensArgs),
    /// Print the completion script of a shell: its Tab key then knows commands and options
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    Man {
        /// Write the pages of all commands to this folder instead
        #[arg(long, value_name = "DIR")]
        to: Option<PathBuf>,
    },
}

/// What `tune` can do.
#[cfg(feature = "tune")]
#[derive(Subcommand, Debug)]
pub enum TuneCommand {
    /// Tune by games of the engine against itself
    Spsa(crate::tune::run::SpsaArgs),
    /// Measure many parameters at once, by games of the engine against itself
    Screen(crate::tune::screening::ScreenArgs),
}

/// What `data` can do.
#[derive(Subcommand, Debug)]
pub enum DataCommand {
    /// Count positions, scores, plies, pieces and results
    Info(ops::info::InfoArgs),
    /// Write the same positions in another format, or several files as one
    Convert(ops::convert::ConvertArgs),
    /// Keep only what is worth learning from
    Filter(ops::filter::ChooseArgs),
    /// Write the same positions with the values that other networks give them
    Relabel(ops::relabel::RelabelArgs),
    /// Put positions into a random order; files may be larger than the memory
    Shuffle(ops::shuffle::ShuffleArgs),
    /// Keep only the first of equal positions; files may be larger than the memory
    Dedupe(ops::dedupe::DedupeArgs),
    /// Share games out to several files by chance
    Split(ops::split::SplitArgs),
}

/// What `datagen` can do.
#[derive(Subcommand, Debug)]
pub enum DatagenCommand {
    /// Sample positions inside the search of a strong network, labelled with its static evaluation
    Sample(crate::data::datagen::sample::SampleArgs),
    /// Play games of the engine against itself: every position with its score and the game's result
    Selfplay(crate::data::datagen::selfplay::SelfplayArgs),
}

/// Arguments of `bench`.
#[derive(Args, Debug)]
pub struct BenchArgs {
    /// `[depth] [threads] [hash in MiB]`, or fishtest's form: `hash threads limit default|file depth|nodes|movetime`
    #[arg(num_args = 0..=5, value_name = "WORD")]
    pub words: Vec<String>,
    /// Network to use in place of the embedded one
    #[arg(long, value_name = "FILE")]
    pub net: Option<PathBuf>,
}

/// Arguments of `perft`.
#[derive(Args, Debug)]
pub struct PerftArgs {
    /// Depth in plies
    #[arg(required_unless_present = "suite")]
    pub depth: Option<u32>,
    /// Position to count; the initial one if absent
    #[arg(long, value_name = "FEN", conflicts_with = "suite")]
    pub fen: Option<String>,
    /// Read K, Q, k and q as castling of Chess960 (file letters always may be)
    #[arg(long)]
    pub chess960: bool,
    /// Show the count under each move
    #[arg(long, conflicts_with = "suite")]
    pub divide: bool,
    /// Check every count of an EPD suite with `;D1 20 ;D2 400`
    #[arg(long, value_name = "FILE", conflicts_with = "depth")]
    pub suite: Option<PathBuf>,
    /// Leave out deeper counts of the suite
    #[arg(long, value_name = "DEPTH", requires = "suite")]
    pub max_depth: Option<u32>,
}

/// Arguments of `eval`.
#[derive(Args, Debug)]
pub struct EvalArgs {
    /// Position, with or without quotation marks; the initial one if absent
    #[arg(value_name = "FEN", conflicts_with = "raw")]
    pub fen: Vec<String>,
    /// Print `FEN<TAB>raw output` for each line of a file; `FEN<TAB>psqt<TAB>positional<TAB>bucket` for networks
    /// with buckets
    #[arg(long, requires = "file")]
    pub raw: bool,
    /// File with a FEN a line (further columns after a tab are ignored)
    #[arg(long, value_name = "FENS", requires = "raw")]
    pub file: Option<PathBuf>,
    /// Network to use in place of the embedded one
    #[arg(long, value_name = "FILE")]
    pub net: Option<PathBuf>,
    /// Kernel for the raw outputs (`zoothera cpu` lists them)
    #[arg(long, value_name = "NAME", requires = "raw")]
    pub kernel: Option<Kernel>,
}

/// Arguments of `analyse`.
#[derive(Args, Debug)]
pub struct AnalyseArgs {
    /// FENs with or without quotation marks, `startpos moves e2e4 ...`, EPD files, PGN files (the end of each game);
    /// the initial position if absent
    #[arg(value_name = "POSITION|FILE")]
    pub positions: Vec<String>,
    /// When to stop; five seconds if absent, or Ctrl-C.
    #[command(flatten)]
    pub limits: LimitArgs,
    /// Number of lines
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub multipv: u16,
    /// File for what was learnt: read at the beginning if it exists, written at the end and at Ctrl-C
    #[arg(long, value_name = "FILE")]
    pub hash_file: Option<PathBuf>,
    /// Threads and memory.
    #[command(flatten)]
    pub engine: EngineArgs,
    /// Print JSON Lines: `line` messages, then one `best`; of several positions each begins with a `position`
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `review`.
#[derive(Args, Debug)]
pub struct ReviewArgs {
    /// PGN file; - for standard input
    #[arg(value_name = "GAMES", required_unless_present = "svg")]
    pub file: Option<PathBuf>,
    /// What each position may cost; 0.4 seconds if absent.
    #[command(flatten)]
    pub limits: LimitArgs,
    /// Number of better lines that are shown
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=10))]
    pub lines: u16,
    /// Judge the moves of one side only
    #[arg(long, value_name = "SIDE", value_parser = ["white", "black"])]
    pub side: Option<String>,
    /// How much is said
    #[arg(long, value_enum, value_name = "LEVEL", default_value = "normal")]
    pub detail: crate::review::run::Detail,
    /// Write annotated PGN to a file; to standard output if nothing else is asked for
    #[arg(long, value_name = "FILE")]
    pub pgn: Option<PathBuf>,
    /// Write one page with board, graph and reasons
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Print JSON Lines, a game each
    #[arg(long)]
    pub json: bool,
    /// Print a picture of a position and do nothing else
    #[arg(long, value_name = "FEN", conflicts_with_all = ["file", "pgn", "html", "json"])]
    pub svg: Option<String>,
    /// Threads and memory.
    #[command(flatten)]
    pub engine: EngineArgs,
}

/// Arguments of `explain`.
#[derive(Args, Debug)]
pub struct ExplainArgs {
    /// The position, with or without quotation marks, and the move after it, in SAN or coordinates
    #[arg(required = true, num_args = 2.., value_names = ["FEN", "MOVE"])]
    pub words: Vec<String>,
    /// What each search may cost; a second if absent.
    #[command(flatten)]
    pub limits: LimitArgs,
    /// Threads and memory.
    #[command(flatten)]
    pub engine: EngineArgs,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `play`.
#[derive(Args, Debug)]
pub struct PlayArgs {
    /// The engine's level in Elo of engines; full strength if absent
    #[arg(
        long,
        value_name = "ELO",
        value_parser = clap::value_parser!(i32).range(i64::from(ELO_MIN)..=i64::from(ELO_MAX)),
    )]
    pub elo: Option<i32>,
    /// Your colour
    #[arg(
        long,
        visible_alias = "color",
        value_name = "COLOUR",
        default_value = "white"
    )]
    pub colour: ColourChoice,
    /// Where the game begins; the initial position if absent
    #[arg(long, value_name = "FEN")]
    pub fen: Option<String>,
    /// Decides the level's misjudgements and oversights, and a random colour; another one each time if absent
    #[arg(long, value_name = "SEED")]
    pub seed: Option<u64>,
    /// File that the game is added to when it ends
    #[arg(long, value_name = "FILE")]
    pub pgn: Option<PathBuf>,
    /// Network to use in place of the embedded one
    #[arg(long, value_name = "FILE")]
    pub net: Option<PathBuf>,
}

/// Who plays which colour.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColourChoice {
    /// You are White
    White,
    /// You are Black
    Black,
    /// Chance decides
    Random,
}

/// What `book` can do.
#[derive(Subcommand, Debug)]
pub enum BookCommand {
    /// Make a book of games: a move weighs two for each win and one for each draw of the side that played it
    Build {
        /// PGN files; - for standard input
        #[arg(required = true, value_name = "GAMES")]
        files: Vec<PathBuf>,
        /// Book to write
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
        /// Take this many plies of each game
        #[arg(long, value_name = "PLIES", default_value_t = 40, value_parser = clap::value_parser!(u16).range(1..))]
        max_ply: u16,
        /// Leave out moves that were played in fewer games
        #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
        min_games: u32,
    },
    /// Show the moves that a book has for a position
    Show {
        /// The position, with or without quotation marks, or `startpos moves e2e4 ...`; the initial one if absent
        #[arg(value_name = "FEN")]
        position: Vec<String>,
        /// The book
        #[arg(long, value_name = "FILE")]
        book: PathBuf,
    },
}

/// Arguments of `epd`.
#[derive(Args, Debug)]
pub struct EpdArgs {
    /// Suites
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// When to stop at each position; one second if absent.
    #[command(flatten)]
    pub limits: LimitArgs,
    /// Threads and memory.
    #[command(flatten)]
    pub engine: EngineArgs,
    /// Print JSON Lines: a `position` for each, then a `summary`
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
    /// The limits, or `default` of time when none is given.
    pub fn limits(&self, default: Duration) -> Limits {
        let unlimited = self.depth.is_none() && self.nodes.is_none() && self.movetime.is_none();
        Limits {
            depth: self.depth,
            nodes: self.nodes,
            move_time: self
                .movetime
                .map(Duration::from_millis)
                .or(unlimited.then_some(default)),
            ..Limits::default()
        }
    }
}

/// What the engine may use.
#[derive(Args, Debug)]
pub struct EngineArgs {
    /// Search threads
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: u16,
    /// Transposition table in MiB
    #[arg(long, value_name = "MIB", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=1 << 25))]
    pub hash: u32,
    /// Directories of Syzygy tablebases, separated as the platform separates paths
    #[arg(long, value_name = "DIRECTORIES")]
    pub syzygy: Option<String>,
    /// Network to use in place of the embedded one
    #[arg(long, value_name = "FILE")]
    pub net: Option<PathBuf>,
}

/// Arguments of `net`.
#[derive(Args, Debug)]
pub struct NetArgs {
    /// What to do with the file.
    #[command(subcommand)]
    pub command: NetCommand,
}

/// The commands of `net`.
#[derive(Subcommand, Debug)]
pub enum NetCommand {
    /// Show architecture, description, hashes, size and ranges
    Info {
        /// Network file
        file: PathBuf,
    },
    /// Check everything that can be checked; exit code 1 and the reason if it fails
    Verify {
        /// Network file
        file: PathBuf,
    },
    /// Write a network to a file, in the form in which it was read
    Export {
        /// File to write
        file: PathBuf,
        /// Network to write in place of the embedded one
        #[arg(long, value_name = "FILE")]
        net: Option<PathBuf>,
        /// Compress the transformer (LEB128)
        #[arg(long)]
        compress: bool,
        /// Write every number in full
        #[arg(long, conflicts_with = "compress")]
        decompress: bool,
    },
}

/// Arguments of `genfens`.
#[derive(Args, Debug)]
pub struct GenfensArgs {
    /// N seed S book FILE|None; the whole command may also be one quoted argument
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "WORD"
    )]
    pub words: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_declaration_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_fen_needs_no_quotation_marks() {
        let parsed = Cli::try_parse_from("zoothera eval 8/8/4k3/8/8/8/8/4K3 w - - 0 1".split(' '));
        let Ok(Cli {
            command: Some(Command::Eval(args)),
        }) = parsed
        else {
            panic!("{parsed:?}");
        };
        assert_eq!(args.fen.join(" "), "8/8/4k3/8/8/8/8/4K3 w - - 0 1");
    }

    #[test]
    fn limits_have_a_default_only_when_none_is_given() {
        let second = Duration::from_secs(1);
        let none = LimitArgs {
            depth: None,
            nodes: None,
            movetime: None,
        };
        assert_eq!(none.limits(second).move_time, Some(second));
        let depth = LimitArgs {
            depth: Some(5),
            ..none
        };
        assert_eq!(depth.limits(second).move_time, None);
    }

    #[test]
    fn arguments_that_contradict_are_refused() {
        for line in [
            "perft",
            "perft 3 --suite x",
            "eval --raw",
            "eval --file x",
            "net",
            "epd",
            "analyse --depth 0",
        ] {
            let words = ["zoothera"].into_iter().chain(line.split(' '));
            assert!(Cli::try_parse_from(words).is_err(), "{line}");
        }
    }
}
