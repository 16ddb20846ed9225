//! `zoothera data info FILE`: what is in a file of training data.

use std::fmt;
use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;

use super::entry::{Entry, NO_SCORE};
use super::reader;

/// Show what files of training data hold.
#[derive(clap::Args, Clone, Debug)]
pub struct InfoArgs {
    /// The files: `.bin`, `.binpack`, `.plain` or `.txt`.
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
}

/// Counts every entry of each file and writes the tables to `out`.
pub fn run(args: &InfoArgs, out: &mut impl Write) -> Result<()> {
    for path in &args.files {
        let mut summary = Summary::default();
        reader::for_each(path, |entry| {
            summary.add(entry);
            Ok(())
        })?;
        writeln!(out, "{}\n{summary}", path.display())?;
    }
    Ok(())
}

/// Upper ends of the |score| classes of the histogram, in engine units.
const SCORE_CLASSES: [u16; 8] = [50, 100, 250, 500, 1000, 2000, 3000, u16::MAX];

/// Counts over a file.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// All entries.
    pub positions: u64,
    /// Entries that start a game: where the ply is not one more than the one before.
    pub games: u64,
    /// Entries without a score.
    pub unscored: u64,
    /// Entries in which nothing hangs (`Filter::quiet`).
    pub quiet: u64,
    /// Losses, draws, wins from the side to move's view.
    pub results: [u64; 3],
    /// Entries by |score| class.
    pub scores: [u64; SCORE_CLASSES.len()],
    last_ply: Option<u16>,
}

impl Summary {
    /// Counts one entry.
    pub fn add(&mut self, entry: &Entry) {
        self.positions += 1;
        self.games +=
            u64::from(self.last_ply.and_then(|ply| ply.checked_add(1)) != Some(entry.ply));
        self.last_ply = Some(entry.ply);
        self.quiet += u64::from(entry.is_quiet());
        self.results[(entry.result.signum() + 1) as usize] += 1;
        if entry.score == NO_SCORE {
            self.unscored += 1;
            return;
        }
        let size = entry.score.unsigned_abs();
        let class = SCORE_CLASSES.iter().position(|&end| size <= end);
        self.scores[class.unwrap_or(SCORE_CLASSES.len() - 1)] += 1;
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |part: u64| 100.0 * part as f64 / self.positions.max(1) as f64;
        writeln!(f, "  positions {:>12}", self.positions)?;
        writeln!(f, "  games     {:>12}", self.games)?;
        writeln!(
            f,
            "  quiet     {:>12}  {:5.1} %",
            self.quiet,
            percent(self.quiet)
        )?;
        writeln!(
            f,
            "  unscored  {:>12}  {:5.1} %",
            self.unscored,
            percent(self.unscored)
        )?;
        for (name, count) in ["lost", "drawn", "won"].iter().zip(self.results) {
            writeln!(f, "  {name:<9} {count:>12}  {:5.1} %", percent(count))?;
        }
        for (end, count) in SCORE_CLASSES.iter().zip(self.scores) {
            let label = if *end == u16::MAX {
                "beyond".into()
            } else {
                format!("<= {end}")
            };
            writeln!(
                f,
                "  |score| {label:>8} {count:>8}  {:5.1} %",
                percent(count)
            )?;
        }
        Ok(())
    }
}
