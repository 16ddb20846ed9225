//! Perft for people and suites: counts of move paths.

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, bail};

use super::position_from_fen;
use super::variation::nodes_per_second;
use crate::board::perft::{SuiteLine, parse_suite, perft, perft_divide};
use crate::board::{CastlingMode, Position};

/// Counts one position; with `divide`, under each of its moves. The last line is `Nodes: N`.
///
/// # Errors
/// When the sink fails.
pub fn run(position: &mut Position, depth: u32, divide: bool, out: &mut dyn Write) -> Result<u64> {
    let nodes = if divide && depth > 0 {
        let chess960 = position.castling_mode() == CastlingMode::Chess960;
        let counts = perft_divide(position, depth);
        for (m, nodes) in &counts {
            writeln!(out, "{}: {nodes}", position.uci(*m, chess960))?;
        }
        writeln!(out)?;
        counts.iter().map(|(_, nodes)| nodes).sum()
    } else {
        perft(position, depth)
    };
    writeln!(out, "Nodes: {nodes}")?;
    Ok(nodes)
}

/// Compares the counts of a suite, up to a depth.
///
/// # Errors
/// When the suite cannot be read, a count differs, or the sink fails.
pub fn suite(path: &Path, max_depth: Option<u32>, out: &mut dyn Write) -> Result<()> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let lines = parse_suite(&text).with_context(|| path.display().to_string())?;
    if lines.is_empty() {
        bail!("{} holds no position", path.display());
    }
    let start = Instant::now();
    let (mut nodes, mut counts, mut wrong) = (0, 0, 0);
    for (i, line) in lines.iter().enumerate() {
        let deep_enough = |depth: &u32| max_depth.is_none_or(|max| *depth <= max);
        let wanted: Vec<_> = line
            .counts
            .iter()
            .filter(|(depth, _)| deep_enough(depth))
            .collect();
        let mut position =
            position_of(line).with_context(|| format!("{}, position {}", path.display(), i + 1))?;
        for &&(depth, expected) in &wanted {
            let found = perft(&mut position, depth);
            nodes += found;
            counts += 1;
            if found != expected {
                wrong += 1;
                writeln!(
                    out,
                    "MISMATCH depth {depth}: {found} found, {expected} expected  {}",
                    line.fen
                )?;
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

fn position_of(line: &SuiteLine) -> Result<Position> {
    position_from_fen(&line.fen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_with_the_number_of_nodes() {
        for divide in [false, true] {
            let mut out = Vec::new();
            let nodes =
                run(&mut Position::startpos(), 3, divide, &mut out).expect("a vector never fails");
            let text = String::from_utf8_lossy(&out);
            assert_eq!((nodes, text.lines().last()), (8902, Some("Nodes: 8902")));
            assert_eq!(text.contains("e2e4: 600"), divide);
        }
    }
}
