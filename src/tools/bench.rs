//! Bench: searches fixed positions to a fixed depth.
//!
//! The node count is the engine's signature: any change of search or evaluation changes it. Test farms scale their
//! clocks by the speed. The output has both farms' formats: stdout ends with `N nodes M nps`, and stderr has the
//! three lines that fishtest parses.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use super::load_network;
use crate::board::Position;
use crate::nnue::Network;
use crate::notation::position_from_fen;
use crate::notation::positions::{EpdRecord, is_blank};
use crate::search::score::Silent;
use crate::search::{Limits, SearchOptions, ThreadPool};
use crate::util::quantity::nodes_per_second;
use crate::util::text::{Shown as _, read_text};

/// Default depth in plies. The whole list then takes a few seconds.
const DEFAULT_DEPTH: i32 = 13;
/// Default size of the transposition table in MiB.
const DEFAULT_HASH_MB: usize = 16;
/// The bench positions.
const POSITIONS: &str = include_str!("../../bench.epd");

/// Arguments of `bench`.
#[derive(clap::Args, Debug)]
pub struct BenchArgs {
    /// `[depth] [threads] [hash in MiB]`, or fishtest's form: `hash threads limit default|file depth|nodes|movetime`
    #[arg(num_args = 0..=5, value_name = "WORD")]
    pub words: Vec<String>,
    /// Network to use instead of the embedded one
    #[arg(long, value_name = "FILE")]
    pub net: Option<PathBuf>,
}

/// Options of a bench run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BenchOptions {
    /// Limits of each position.
    pub limits: Limits,
    /// Search threads; the node count is reproducible with one.
    pub threads: usize,
    /// Size of the transposition table in MiB.
    pub hash_mb: usize,
    /// File of positions to use instead of the built-in list.
    pub file: Option<PathBuf>,
}

impl Default for BenchOptions {
    fn default() -> Self {
        let limits = Limits { depth: Some(DEFAULT_DEPTH), ..Limits::default() };
        Self { limits, threads: 1, hash_mb: DEFAULT_HASH_MB, file: None }
    }
}

impl BenchOptions {
    /// Parses `[depth] [threads] [hash]`, or fishtest's `hash threads limit file|default type`, which has at least
    /// four words.
    ///
    /// # Errors
    /// Fails if a word is not a number in its range, or the type of limit is unknown.
    pub fn from_words<S: AsRef<str>>(words: &[S]) -> Result<Self> {
        let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
        let mut options = Self::default();
        if words.len() > 5 {
            bail!("bench takes at most five words");
        }
        if words.len() < 4 {
            if let Some(depth) = words.first() {
                options.limits.depth = Some(number("depth", depth, 1, 245)? as i32);
            }
            if let Some(threads) = words.get(1) {
                options.threads = number("threads", threads, 1, 1024)? as usize;
            }
            if let Some(hash) = words.get(2) {
                options.hash_mb = number("hash", hash, 1, 1 << 25)? as usize;
            }
            return Ok(options);
        }
        options.hash_mb = number("hash", words[0], 1, 1 << 25)? as usize;
        options.threads = number("threads", words[1], 1, 1024)? as usize;
        options.limits = limits_of(words.get(4).copied().unwrap_or("depth"), words[2])?;
        options.file = (words[3] != "default").then(|| PathBuf::from(words[3]));
        Ok(options)
    }

    /// Returns the positions to search.
    ///
    /// # Errors
    /// Fails if the file cannot be read or a line is not a valid position.
    pub fn positions(&self) -> Result<Vec<Position>> {
        let Some(path) = &self.file else {
            return parse_positions(POSITIONS).context("bench.epd");
        };
        let read = || -> Result<Vec<Position>> {
            let positions = parse_positions(&read_text(path)?)?;
            ensure!(!positions.is_empty(), "no position in the file");
            Ok(positions)
        };
        read().with_context(|| format!("bench file {}", path.shown()))
    }
}

/// Parses a whole number within bounds.
fn number(what: &str, word: &str, low: u64, high: u64) -> Result<u64> {
    let value: u64 = word.parse().with_context(|| format!("bench {what} '{word}'"))?;
    ensure!((low..=high).contains(&value), "bench {what} {value} is not within {low} and {high}");
    Ok(value)
}

/// Parses the limit of fishtest's form.
fn limits_of(kind: &str, word: &str) -> Result<Limits> {
    let mut limits = Limits::default();
    match kind {
        "depth" => limits.depth = Some(number(kind, word, 1, 245)? as i32),
        "nodes" => limits.nodes = Some(number(kind, word, 1, u64::MAX)?),
        "movetime" => limits.move_time = Some(Duration::from_millis(number(kind, word, 1, 1 << 40)?)),
        _ => bail!("bench limit type '{kind}' is none of depth, nodes, movetime"),
    }
    Ok(limits)
}

/// Parses EPD or FEN lines; an error names the line.
fn parse_positions(text: &str) -> Result<Vec<Position>> {
    let lines = text.lines().enumerate().filter(|(_, line)| !is_blank(line));
    lines
        .map(|(i, line)| {
            let parse = || position_from_fen(&EpdRecord::parse(line)?.fen);
            parse().with_context(|| format!("line {}", i + 1))
        })
        .collect()
}

/// Result of a bench run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BenchResult {
    /// Nodes of all positions together: the signature.
    pub nodes: u64,
    /// Wall time of the searches.
    pub time: Duration,
}

impl BenchResult {
    /// Returns the speed in nodes per second.
    pub fn nps(&self) -> u64 {
        nodes_per_second(self.nodes, self.time)
    }
}

/// Runs the command `bench`.
///
/// # Errors
/// Fails if the words are invalid, the network cannot be loaded, and as [`bench`].
pub fn run(args: &BenchArgs, out: &mut dyn Write, err: &mut dyn Write) -> Result<()> {
    let options = BenchOptions::from_words(&args.words)?;
    bench(options, load_network(args.net.as_deref())?, out, err).map(drop)
}

/// Searches the positions in order with one transposition table and prints the totals.
///
/// # Errors
/// Fails if the file of positions is invalid or a write fails.
pub fn bench(
    options: BenchOptions,
    network: Arc<Network>,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<BenchResult> {
    let positions = options.positions()?;
    let mut pool = ThreadPool::new(network, options.threads, options.hash_mb);
    let mut result = BenchResult { nodes: 0, time: Duration::ZERO };
    let count = positions.len();
    for (i, position) in positions.into_iter().enumerate() {
        let fen = position.fen();
        let start = Instant::now();
        let outcome = pool.search(position, options.limits.clone(), SearchOptions::default(), Arc::new(Silent));
        result.time += start.elapsed();
        result.nodes += outcome.progress.nodes;
        writeln!(err, "{:>3}/{count} {:>10} nodes  {fen}", i + 1, outcome.progress.nodes)?;
    }
    writeln!(err, "===========================")?;
    writeln!(err, "Total time (ms) : {}", result.time.as_millis())?;
    writeln!(err, "Nodes searched  : {}", result.nodes)?;
    writeln!(err, "Nodes/second    : {}", result.nps())?;
    err.flush()?;
    writeln!(out, "{} nodes {} nps", result.nodes, result.nps())?;
    out.flush()?;
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_parse_in_own_and_fishtest_form() {
        let parse = |text: &str| BenchOptions::from_words(&text.split_whitespace().collect::<Vec<_>>());
        assert_eq!(parse("").ok(), Some(BenchOptions::default()));
        let own = parse("9 2 64").expect("a valid own form");
        assert_eq!((own.limits.depth, own.threads, own.hash_mb), (Some(9), 2, 64));
        let fishtest = parse("16 1 5 default depth").expect("a valid fishtest form");
        assert_eq!((fishtest.hash_mb, fishtest.threads, fishtest.limits.depth), (16, 1, Some(5)));
        assert_eq!(fishtest.file, None);
        let nodes = parse("16 1 5000 my.epd nodes").expect("a valid fishtest form");
        assert_eq!((nodes.limits.nodes, nodes.limits.depth), (Some(5000), None));
        assert_eq!(nodes.file, Some(PathBuf::from("my.epd")));
        for bad in ["abc", "0", "9 0", "9 1 0", "-3", "16 1 5 default hours", "1 2 3 4 5 6"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn every_bench_position_has_a_legal_move() {
        let positions = BenchOptions::default().positions().expect("the list parses");
        assert!((40..=60).contains(&positions.len()), "{} positions", positions.len());
        for position in positions {
            assert!(!position.legal_moves().is_empty(), "{}", position.fen());
        }
    }

    #[test]
    fn nps_is_nodes_per_second() {
        let result = BenchResult { nodes: 3000, time: Duration::from_millis(2000) };
        assert_eq!(result.nps(), 1500);
    }
}
