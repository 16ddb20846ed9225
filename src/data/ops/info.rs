//! `zoothera data info FILE...`: statistics of training data.

use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::Serialize;

use super::{InputArgs, for_each};
use crate::data::entry::{Entry, NO_SCORE};
use crate::util::text::Shown as _;

/// Arguments of `data info`.
#[derive(clap::Args, Clone, Debug)]
pub struct InfoArgs {
    /// Files to read, of any format (see `data convert`)
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Print JSON Lines, one line per file
    #[arg(long)]
    pub json: bool,
}

/// Counts the entries of each file and writes the tables to `out`.
///
/// # Errors
/// Fails if a file cannot be read or is damaged. The error names the file.
pub fn run(args: &InfoArgs, out: &mut impl Write) -> Result<()> {
    // Counts what is there; nothing is written that could lack positions.
    let read = InputArgs { lenient: true, ..InputArgs::default() };
    for path in &args.files {
        let mut summary = FileSummary::default();
        for_each(std::slice::from_ref(path), read, "info", |entry, _| {
            summary.add(entry);
            Ok(())
        })?;
        if args.json {
            writeln!(out, "{}", serde_json::to_string(&JsonSummary::new(path, &summary))?)?;
        } else {
            writeln!(out, "{}\n{summary}", path.shown())?;
        }
    }
    Ok(())
}

/// The JSON of a file. `info.schema.json` describes it.
#[derive(Serialize)]
struct JsonSummary {
    file: String,
    positions: u64,
    runs: u64,
    quiet: u64,
    unscored: u64,
    black_to_move: u64,
    losses: u64,
    draws: u64,
    wins: u64,
    scores: Vec<JsonClass>,
    plies: Vec<JsonClass>,
    pieces: Vec<JsonClass>,
}

impl JsonSummary {
    fn new(path: &Path, summary: &FileSummary) -> Self {
        let [losses, draws, wins] = summary.results;
        Self {
            file: path.shown(),
            positions: summary.positions,
            runs: summary.runs,
            quiet: summary.quiet,
            unscored: summary.unscored,
            black_to_move: summary.black_to_move,
            losses,
            draws,
            wins,
            scores: summary.scores.json(),
            plies: summary.plies.json(),
            pieces: summary.pieces.json(),
        }
    }
}

/// A class of a histogram: the entries up to `max` and above the `max` of the previous class. The last class has no
/// `max`.
#[derive(Serialize)]
struct JsonClass {
    max: Option<i32>,
    count: u64,
}

/// Histogram with contiguous classes.
#[derive(Clone, Debug)]
pub struct Histogram {
    name: &'static str,
    /// Largest number of each class; one more class has all larger numbers.
    ends: &'static [i32],
    counts: Vec<u64>,
}

impl Histogram {
    fn new(name: &'static str, ends: &'static [i32]) -> Self {
        Self { name, ends, counts: vec![0; ends.len() + 1] }
    }

    fn add(&mut self, number: i32) {
        self.counts[self.ends.partition_point(|&end| end < number)] += 1;
    }

    fn json(&self) -> Vec<JsonClass> {
        let ends = self.ends.iter().copied().map(Some).chain([None]);
        ends.zip(&self.counts).map(|(max, &count)| JsonClass { max, count }).collect()
    }

    /// Counts of the classes; the last one is for numbers above all ends.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }
}

impl fmt::Display for Histogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// Length of a bar for 100 %, in characters.
        const BAR: f64 = 60.0;
        let total = self.counts.iter().sum::<u64>().max(1) as f64;
        let max = self.ends.last().copied().unwrap_or(0);
        for (i, &count) in self.counts.iter().enumerate() {
            let label = self.ends.get(i).map_or_else(|| format!("> {max}"), |end| format!("<= {end}"));
            let share = count as f64 / total;
            let bar = "#".repeat((BAR * share).round() as usize);
            let (name, percent) = (self.name, 100.0 * share);
            let line = format!("  {name:<7} {label:>8} {count:>12}  {percent:5.1} %  {bar}");
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// Statistics of a file.
#[derive(Clone, Debug)]
pub struct FileSummary {
    /// Number of entries.
    pub positions: u64,
    /// Runs of entries with consecutive plies: games or single positions.
    pub runs: u64,
    /// Entries without a score.
    pub unscored: u64,
    /// Quiet entries (`Filter::quiet`).
    pub quiet: u64,
    /// Entries with black to move.
    pub black_to_move: u64,
    /// Losses, draws, wins from the side to move's view.
    pub results: [u64; 3],
    /// Entries by score.
    pub scores: Histogram,
    /// Entries by ply.
    pub plies: Histogram,
    /// Entries by number of pieces.
    pub pieces: Histogram,
    /// Ply that would continue the current run.
    next_ply: Option<u16>,
}

impl Default for FileSummary {
    fn default() -> Self {
        Self {
            positions: 0,
            runs: 0,
            unscored: 0,
            quiet: 0,
            black_to_move: 0,
            results: [0; 3],
            scores: Histogram::new(
                "score",
                &[-3000, -2000, -1000, -500, -250, -100, -50, 50, 100, 250, 500, 1000, 2000, 3000],
            ),
            plies: Histogram::new("ply", &[9, 19, 29, 39, 59, 79, 99, 149, 199]),
            pieces: Histogram::new("pieces", &[4, 8, 12, 16, 20, 24, 28, 32]),
            next_ply: None,
        }
    }
}

impl FileSummary {
    /// Counts one entry.
    pub fn add(&mut self, entry: &Entry) {
        self.positions += 1;
        self.runs += u64::from(self.next_ply != Some(entry.ply));
        self.next_ply = entry.ply.checked_add(1);
        self.quiet += u64::from(entry.is_quiet());
        self.black_to_move += u64::from(entry.black_to_move);
        self.results[(entry.result.signum() + 1) as usize] += 1;
        self.plies.add(entry.ply.into());
        self.pieces.add(entry.board.count() as i32);
        if entry.score == NO_SCORE {
            self.unscored += 1;
        } else {
            self.scores.add(entry.score.into());
        }
    }
}

impl fmt::Display for FileSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |part: u64| 100.0 * part as f64 / self.positions.max(1) as f64;
        writeln!(f, "  positions        {:>12}", self.positions)?;
        writeln!(f, "  runs of plies    {:>12}", self.runs)?;
        let shares = [
            ("quiet", self.quiet),
            ("unscored", self.unscored),
            ("black to move", self.black_to_move),
            ("lost", self.results[0]),
            ("drawn", self.results[1]),
            ("won", self.results[2]),
        ];
        for (name, count) in shares {
            writeln!(f, "  {name:<16} {count:>12}  {:5.1} %", percent(count))?;
        }
        write!(f, "{}{}{}", self.scores, self.plies, self.pieces)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn histogram_counts_each_end_in_its_own_class() {
        let mut histogram = Histogram::new("x", &[-5, 0, 5]);
        for number in [-100, -5, -4, 0, 1, 5, 6, i32::MAX] {
            histogram.add(number);
        }
        assert_eq!(histogram.counts(), [2, 2, 2, 2]);
        let text = histogram.to_string();
        assert!(text.contains("<= -5") && text.contains("> 5"), "{text}");
        assert!(text.contains("25.0 %"), "{text}");
    }
}
