//! Perft: counts of move paths, for one position or a suite.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::board::perft::{KnownCount, parse_suite, perft, perft_until};
use crate::board::{CastlingMode, Position};
use crate::notation::position_in_mode;
use crate::util::quantity::nodes_per_second;
use crate::util::text::{Shown as _, read_text};

/// Arguments of `perft`.
#[derive(clap::Args, Debug)]
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

/// Runs the command `perft`.
///
/// # Errors
/// Fails if the position or the suite cannot be read, a count of the suite differs, or a write fails.
pub fn run(args: &PerftArgs, out: &mut dyn Write) -> Result<()> {
    let mode = CastlingMode::from_chess960(args.chess960);
    if let Some(path) = &args.suite {
        return suite(path, args.max_depth, mode, out);
    }
    let mut position = position_in_mode(args.fen.as_deref().unwrap_or(""), mode)?;
    let depth = args.depth.context("a depth is missing")?;
    count(&mut position, depth, args.divide, out).map(drop)
}

/// Counts one position and prints the total as the last line, `Nodes: N`. With `divide`, also prints the count of each
/// move.
///
/// # Errors
/// Fails if a write fails.
fn count(position: &mut Position, depth: u32, divide: bool, out: &mut dyn Write) -> Result<u64> {
    let nodes = if divide && depth > 0 {
        let chess960 = position.castling_mode().is_chess960();
        let sum = self::divide(position, depth, chess960, &|| false, out)?;
        writeln!(out)?;
        sum.unwrap_or_default()
    } else {
        perft(position, depth)
    };
    writeln!(out, "Nodes: {nodes}")?;
    Ok(nodes)
}

/// Counts each legal move and prints the count when it is complete. Returns the sum, or `None` if `is_stopped`.
///
/// # Errors
/// Fails if a write fails.
pub fn divide(
    position: &mut Position,
    depth: u32,
    chess960: bool,
    is_stopped: &dyn Fn() -> bool,
    out: &mut dyn Write,
) -> Result<Option<u64>> {
    let mut sum = 0;
    for &m in position.legal_moves().iter() {
        position.do_move(m);
        let counted = perft_until(position, depth.saturating_sub(1), is_stopped);
        position.undo_move();
        let Some(count) = counted else { return Ok(None) };
        writeln!(out, "{}: {count}", position.uci(m, chess960))?;
        sum += count;
    }
    Ok(Some(sum))
}

/// Verifies the counts of a suite up to a depth. `mode` determines how K, Q, k and q are read.
///
/// # Errors
/// Fails if the suite cannot be read, a count differs, or a write fails.
fn suite(path: &Path, max_depth: Option<u32>, mode: CastlingMode, out: &mut dyn Write) -> Result<()> {
    let text = read_text(path).with_context(|| format!("cannot read {}", path.shown()))?;
    let lines = parse_suite(&text).with_context(|| path.shown())?;
    if lines.is_empty() {
        bail!("{} contains no positions", path.shown());
    }
    let start = Instant::now();
    let (mut nodes, mut counts, mut wrong) = (0, 0, 0);
    for (i, line) in lines.iter().enumerate() {
        let within_depth = |count: &&KnownCount| max_depth.is_none_or(|max| count.depth <= max);
        let selected: Vec<_> = line.counts.iter().filter(within_depth).collect();
        let mut position =
            position_in_mode(&line.fen, mode).with_context(|| format!("{}, position {}", path.shown(), i + 1))?;
        for &&KnownCount { depth, nodes: expected } in &selected {
            let found = perft(&mut position, depth);
            nodes += found;
            counts += 1;
            if found != expected {
                wrong += 1;
                writeln!(out, "MISMATCH depth {depth}: {found} found, {expected} expected  {}", line.fen)?;
            }
        }
    }
    let time = start.elapsed();
    writeln!(
        out,
        "{} positions, {counts} counts, {wrong} wrong, {:.1} s, {} nodes per second",
        lines.len(),
        time.as_secs_f64(),
        nodes_per_second(nodes, time)
    )?;
    writeln!(out, "Nodes: {nodes}")?;
    if wrong > 0 {
        bail!("{wrong} of {counts} counts differ");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_ends_with_node_count() {
        for divide in [false, true] {
            let mut out = Vec::new();
            let nodes = count(&mut Position::startpos(), 3, divide, &mut out).expect("writing to a vector succeeds");
            let text = String::from_utf8_lossy(&out);
            assert_eq!((nodes, text.lines().last()), (8902, Some("Nodes: 8902")));
            assert_eq!(text.contains("e2e4: 600"), divide);
        }
    }
}
