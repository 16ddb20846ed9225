//! Arguments that several commands share: limits of a search, and resources of the engine.

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};

use super::load_network;
use crate::notation::pgn::Place;
use crate::search::{Limits, ThreadPool};
use crate::util::quantity::{parse_count, parse_time};

/// Limits of a search.
#[derive(clap::Args, Debug, Default)]
pub struct LimitArgs {
    /// Search to this depth in plies
    #[arg(long, value_name = "PLIES", value_parser = clap::value_parser!(i32).range(1..=245))]
    pub depth: Option<i32>,
    /// Search this many nodes: digits, or a number with k, M or G
    #[arg(long, value_name = "N", value_parser = parse_count)]
    pub nodes: Option<u64>,
    /// Search for this time: milliseconds, or a number with a unit (30s, 10m, 1h30m)
    #[arg(long, visible_alias = "time", value_name = "TIME", value_parser = parse_time)]
    pub movetime: Option<Duration>,
}

impl LimitArgs {
    /// Returns the limits, or a search time of `default` if no limit is given.
    pub fn limits(&self, default: Duration) -> Limits {
        let unlimited = self.depth.is_none() && self.nodes.is_none() && self.movetime.is_none();
        Limits {
            depth: self.depth,
            nodes: self.nodes,
            move_time: self.movetime.or(unlimited.then_some(default)),
            ..Limits::default()
        }
    }
}

/// Help on the positions of the command line.
macro_rules! positions_help {
    () => {
        "A POSITION is a FEN with or without quotation marks, `startpos`, either of them followed by \
         `moves e2e4 e5 ...`, or the moves of a game (`1. e4 e5 2. Nf3`). A FILE is a PGN, or a list of FEN or EPD \
         lines; - is standard input."
    };
}
pub(crate) use positions_help;

/// The position of a game in a PGN file.
#[derive(clap::Args, Clone, Copy, Debug, Default)]
pub struct SelectionArgs {
    /// In PGN files, use this game only, counted from 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub game: Option<u32>,
    /// In PGN files, use the position before this move: 15 or 15w for White's, 15b for Black's; the final position if
    /// absent
    #[arg(long, value_name = "MOVE")]
    pub at: Option<Place>,
}

/// Resources of the engine.
#[derive(clap::Args, Clone, Debug)]
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

impl EngineArgs {
    /// Returns search threads with the network and the tablebases. Reports problems with single directories on `err`.
    ///
    /// # Errors
    /// Fails if the network cannot be loaded, no directory contains tablebases, or `err` fails.
    pub fn pool(&self, err: &mut dyn Write) -> Result<ThreadPool> {
        let network = load_network(self.net.as_deref())?;
        let mut pool = ThreadPool::new(network, self.threads.into(), self.hash as usize);
        if let Some(path) = &self.syzygy {
            for problem in pool.set_syzygy_path(path).context("--syzygy")?.problems {
                writeln!(err, "--syzygy: {problem}")?;
            }
        }
        Ok(pool)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_time_applies_only_without_limits() {
        let second = Duration::from_secs(1);
        let none = LimitArgs { depth: None, nodes: None, movetime: None };
        assert_eq!(none.limits(second).move_time, Some(second));
        let depth = LimitArgs { depth: Some(5), ..none };
        assert_eq!(depth.limits(second).move_time, None);
    }
}
