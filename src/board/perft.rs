//! Perft: counts of leaf nodes, which verify the move generator.

use anyhow::{Context, Result, bail};

use super::{MoveList, Position};

/// Leaf nodes at `depth` (bulk counting at the last ply).
pub fn perft(position: &mut Position, depth: u32) -> u64 {
    match depth {
        0 => 1,
        1 => {
            let mut moves = MoveList::new();
            position.generate_legal(&mut moves);
            moves.len() as u64
        }
        _ => count_below(position, depth),
    }
}

/// Leaf nodes at `depth`, or `None` once `is_stopped` returns true. `is_stopped` is called every few milliseconds.
pub fn perft_until(position: &mut Position, depth: u32, is_stopped: &dyn Fn() -> bool) -> Option<u64> {
    /// Maximum depth that is counted without a call of `is_stopped`; takes only milliseconds.
    const MAX_UNDIVIDED: u32 = 4;
    if is_stopped() {
        return None;
    }
    if depth <= MAX_UNDIVIDED {
        return Some(perft(position, depth));
    }
    position.legal_moves().iter().try_fold(0, |sum, &m| {
        position.do_move(m);
        let count = perft_until(position, depth - 1, is_stopped);
        position.undo_move();
        Some(sum + count?)
    })
}

fn count_below(position: &mut Position, depth: u32) -> u64 {
    let mut moves = MoveList::new();
    position.generate_legal(&mut moves);
    let mut nodes = 0;
    for &m in moves.iter() {
        position.do_move(m);
        nodes += perft(position, depth - 1);
        position.undo_move();
    }
    nodes
}

/// The known number of leaf nodes at one depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownCount {
    /// Depth in plies.
    pub depth: u32,
    /// Number of leaf nodes.
    pub nodes: u64,
}

/// One position of a suite with its known counts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SuiteLine {
    /// The position.
    pub fen: String,
    /// Pairs of depth and leaf nodes.
    pub counts: Vec<KnownCount>,
}

/// Reads a suite: lines `FEN ;D1 20 ;D2 400`, or blocks of `epd FEN` followed by `perft DEPTH COUNT` lines. Empty
/// lines, comments (`#`) and `id` lines are skipped. Errors give the line number.
pub fn parse_suite(text: &str) -> Result<Vec<SuiteLine>> {
    let mut suite = Vec::new();
    for (i, line) in text.lines().enumerate() {
        parse_suite_line(line.trim(), &mut suite).with_context(|| format!("line {}", i + 1))?;
    }
    Ok(suite)
}

fn parse_suite_line(line: &str, suite: &mut Vec<SuiteLine>) -> Result<()> {
    if line.is_empty() || line.starts_with('#') || line.starts_with("id ") {
        return Ok(());
    }
    if let Some(fen) = line.strip_prefix("epd ") {
        suite.push(SuiteLine { fen: fen.trim().to_owned(), counts: Vec::new() });
    } else if let Some(count) = line.strip_prefix("perft ") {
        let last = suite.last_mut().context("found a 'perft' line before the first 'epd' line")?;
        last.counts.push(parse_count(count)?);
    } else {
        suite.push(parse_epd_line(line)?);
    }
    Ok(())
}

/// Parses a line `FEN ;D1 20 ;D2 400`.
fn parse_epd_line(line: &str) -> Result<SuiteLine> {
    let mut parts = line.split(';');
    let fen = parts.next().unwrap_or_default().trim().to_owned();
    let mut counts = Vec::new();
    for part in parts.map(str::trim).filter(|part| !part.is_empty()) {
        let count = part.strip_prefix(['D', 'd']);
        counts.push(parse_count(count.with_context(|| format!("expected ';D<depth> <count>', found '{part}'"))?)?);
    }
    if counts.is_empty() {
        bail!("missing ';D<depth> <count>' after the position");
    }
    Ok(SuiteLine { fen, counts })
}

/// A depth and a count, separated by white space.
fn parse_count(text: &str) -> Result<KnownCount> {
    let parse = || {
        let (depth, count) = text.trim().split_once(char::is_whitespace)?;
        Some(KnownCount { depth: depth.parse().ok()?, nodes: count.trim().parse().ok()? })
    };
    parse().with_context(|| format!("expected a depth and a count, found '{text}'"))
}
