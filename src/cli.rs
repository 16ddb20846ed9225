//! Declares the command line with clap: the derive macros build the parser, and `///` comments are the help texts.
//!
//! Each command's module declares the arguments of the command. [`run`] passes them to the command.

mod dispatch;
#[cfg(feature = "full")]
mod manual;
#[cfg(all(target_os = "wasi", not(feature = "full")))]
mod module;
mod names;
#[cfg(feature = "full")]
mod training;

use std::path::PathBuf;
use std::sync::OnceLock;

use clap::{Parser, Subcommand};

use crate::book::run::BookCommand;
#[cfg(feature = "full")]
use crate::data::ops;
#[cfg(feature = "full")]
use crate::matches::plan::MatchArgs;
use crate::nnue::Kernel;
use crate::review::explain::ExplainArgs;
use crate::review::run::ReviewArgs;
use crate::tools::analyse::AnalyseArgs;
use crate::tools::bench::BenchArgs;
use crate::tools::epd::EpdArgs;
use crate::tools::eval::EvalArgs;
use crate::tools::genfens::GenfensArgs;
use crate::tools::net::NetCommand;
use crate::tools::perft::PerftArgs;
use crate::tools::play::PlayArgs;
#[cfg(feature = "full")]
use crate::tools::tables::TablesCommand;
#[cfg(feature = "full")]
use crate::train::run::TrainArgs;

pub use dispatch::run;

/// Zoothera, a UCI chess engine with an efficiently updatable neural network.
///
/// Without a command, it runs the UCI protocol on standard input and output, as chess GUIs expect. UCI commands can
/// be given as arguments; the engine runs them in order and exits.
#[derive(Parser, Debug)]
#[command(name = "zoothera", version, long_version = long_version(), max_term_width = 100)]
pub(crate) struct Cli {
    /// Command to run; UCI if absent.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// The commands.
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
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
    Match(Box<MatchArgs>),
    /// Run EPD test suites (bm, am, and scored moves as in STS)
    Epd(EpdArgs),
    /// Inspect, verify and export network files
    Net {
        /// Subcommand.
        #[command(subcommand)]
        command: NetCommand,
    },
    /// Verify the files of Syzygy tablebases
    #[cfg(feature = "full")]
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
    Train(Box<TrainArgs>),
    /// Improve a net by rounds of new positions from its own searches, labels of stronger nets, and training
    #[cfg(feature = "full")]
    Distill(Box<crate::distill::setup::DistillArgs>),
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
pub(crate) enum TuneCommand {
    /// Tune by games of the engine against itself
    Spsa(crate::tune::runs::SpsaArgs),
    /// Measure many parameters at once, by games of the engine against itself
    Screen(crate::tune::runs::ScreenArgs),
}

/// The subcommands of `data`.
#[cfg(feature = "full")]
#[derive(Subcommand, Debug)]
pub(crate) enum DataCommand {
    /// Count positions, scores, plies, pieces and results
    Info(ops::info::InfoArgs),
    /// Convert positions to another format, or merge several files
    Convert(ops::filter::ConvertArgs),
    /// Keep only positions that are useful for training
    Filter(ops::filter::ChooseArgs),
    /// Replace the labels of positions with the values of other networks
    Relabel(ops::relabel::RelabelArgs),
    /// Shuffle positions; files may be larger than memory
    Shuffle(ops::filter::ShuffleArgs),
    /// Remove duplicate positions, keeping the first of each; files may be larger than memory
    Dedupe(ops::filter::DedupeArgs),
    /// Distribute games at random over several files
    Split(ops::filter::SplitArgs),
}

/// The subcommands of `datagen`.
#[cfg(feature = "full")]
#[derive(Subcommand, Debug)]
pub(crate) enum DatagenCommand {
    /// Sample positions from the search trees of a strong network, labelled with its static evaluation
    Sample(crate::datagen::sample::SampleArgs),
    /// Play the engine against itself and write every position with its score and the game's result
    Selfplay(crate::datagen::games::SelfplayArgs),
}

/// Version, source revision, target, and the kernels compiled into this binary.
fn long_version() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| {
        let kernels: Vec<_> = Kernel::ALL.into_iter().filter(|kernel| kernel.is_built()).map(Kernel::name).collect();
        format!(
            "{}\nrevision {}\ntarget   {}\nkernels  {}",
            env!("CARGO_PKG_VERSION"),
            env!("ZOOTHERA_REVISION"),
            env!("ZOOTHERA_TARGET"),
            kernels.join(" "),
        )
    })
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
        assert_eq!(args.positions.join(" "), "8/8/4k3/8/8/8/8/4K3 w - - 0 1");
    }

    #[test]
    fn invalid_argument_combinations_are_rejected() {
        for line in [
            "perft",
            "perft 3 --suite x",
            "eval --raw",
            "eval --file x",
            "net",
            "epd",
            "analyse --depth 0",
            "analyse --movetime 5x",
            "analyse --infinite --depth 3",
            "explain",
            "eval --at x",
        ] {
            let words = ["zoothera"].into_iter().chain(line.split(' '));
            assert!(Cli::try_parse_from(words).is_err(), "{line}");
        }
    }
}
