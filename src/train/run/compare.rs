//! `train plot`: the loss curves of several runs in one picture, from their logs or checkpoints.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::checkpoint::{self, Validation};
use super::outputs::{LOG, write_comparison};
use crate::util::encoding::read_text;
use crate::util::identity::check_distinct;
use crate::util::text::Shown as _;

/// Arguments of `train plot`.
#[derive(clap::Args, Clone, Debug)]
pub struct PlotArgs {
    /// Logs (.tsv) or checkpoints of runs
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// SVG file to write
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
}

/// Draws the held-out losses of all runs against the positions shown.
///
/// # Errors
/// Fails if a file is neither a log nor a checkpoint, or the picture cannot be written.
pub fn run(args: &PlotArgs) -> Result<()> {
    let inputs: Vec<&Path> = args.files.iter().map(PathBuf::as_path).collect();
    check_distinct(&[&args.out], &inputs)?;
    let mut runs = Vec::new();
    for path in &args.files {
        let history = if checkpoint::is_checkpoint(path)? { checkpoint::read_state(path)?.history } else { log(path)? };
        ensure!(!history.is_empty(), "{} has no validation yet, so there is nothing to draw", path.shown());
        let name = path.file_stem().unwrap_or_default().shown();
        runs.push((name, history));
    }
    write_comparison(&args.out, &runs)?;
    eprintln!("wrote {}", args.out.shown());
    Ok(())
}

/// Reads the validations of a log.
fn log(path: &Path) -> Result<Vec<Validation>> {
    let text = read_text(path).with_context(|| format!("cannot read {}", path.shown()))?;
    ensure!((LOG.is)(text.as_bytes()), "{} is neither the log nor the checkpoint of a training run", path.shown());
    let lines = text.lines().enumerate().skip(1).filter(|(_, line)| !line.starts_with('#'));
    lines
        .map(|(number, line)| validation(line).with_context(|| format!("{}: line {}", path.shown(), number + 1)))
        .collect()
}

/// Parses a line of a log.
fn validation(line: &str) -> Result<Validation> {
    let columns: Vec<&str> = line.split('\t').collect();
    ensure!(columns.len() == 6, "expected six columns, found {}", columns.len());
    let number = |column: usize| -> Result<f64> {
        let text = columns[column];
        text.parse().with_context(|| format!("'{text}' is not a number"))
    };
    Ok(Validation {
        shown: number(0)? as u64,
        train: number(1)?,
        held_out: if columns[2].is_empty() { 0.0 } else { number(2)? as f32 },
        rate: number(3)? as f32,
        lambda: number(4)? as f32,
        seconds: number(5)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_lines_parse_with_and_without_held_out_loss() {
        let report = validation("20000\t0.01\t0.02\t0.004\t0.8\t1.5").expect("a line");
        assert_eq!((report.shown, report.train, report.held_out, report.rate), (20_000, 0.01, 0.02, 0.004));
        assert_eq!(validation("1\t0.01\t\t0.004\t0.8\t1.5").expect("a line").measured(), None);
        assert!(validation("1\tx\t0\t0\t0\t0").is_err() && validation("1").is_err());
    }
}
