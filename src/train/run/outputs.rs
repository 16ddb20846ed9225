//! Output files of a run other than the checkpoint: the net, the log and the picture. Export and description of a
//! checkpoint.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

pub use super::checkpoint::is_checkpoint;
use super::checkpoint::{self, Checkpoint, Validation};
use super::config::Config;
use super::display::{millions, short_rate};
use super::plot;
use super::schedule::{self, Elapsed};
use crate::nnue::{self, Network};
use crate::train::integer::{ExportReport, export};
use crate::train::model::shapes::Rounding;
use crate::util::atomic::{AtomicFile, resolve, write_over};
use crate::util::files::{Kind, check_distinct, free_bytes};
use crate::util::quantity::short_time;
use crate::util::text::{Shown as _, read_text};

/// First line of a log.
const LOG_HEADER: &str = "positions\ttrain\theld_out\trate\tlambda\tseconds\n";
/// Title of every picture, after the name of the net.
const PICTURE_TITLE: &str = "loss by positions shown";
/// The kind of file that a log may replace.
pub const LOG: Kind = Kind { name: "the log of a training run", is: |head| head.starts_with(LOG_HEADER.as_bytes()) };
/// The kind of file that a picture may replace.
pub const PICTURE: Kind = Kind {
    name: "the plot of a training run",
    is: |head| {
        let head = String::from_utf8_lossy(head);
        head.starts_with("<svg ") && head.contains(PICTURE_TITLE)
    },
};

/// Returns the path of the net with another extension.
pub fn beside(out: &Path, extension: &str) -> PathBuf {
    out.with_extension(extension)
}

/// Extensions of the files of a run.
const FILES: [&str; 4] = ["checkpoint", "nnue", "tsv", "svg"];

/// Renames the files of an older run, so that a new run with the same `out` does not overwrite them: `mine.nnue`
/// becomes `mine-1.nnue`, or has the first number that none of its files has.
///
/// # Errors
/// Fails if a file cannot be renamed.
pub fn keep_old(config: &Config) -> Result<()> {
    let out = &config.out;
    let name = |extension: &str| if extension == "nnue" { out.clone() } else { beside(out, extension) };
    let log = config.log.file().map(|(extension, _)| extension);
    let extensions = FILES.into_iter().chain(log);
    let old: Vec<PathBuf> = extensions.map(name).filter(|path| has_content(path)).collect();
    if old.is_empty() {
        return Ok(());
    }
    let (stem, number) = unused_number(out);
    for path in &old {
        let mut new = stem.clone();
        new.push(format!("-{number}"));
        if let Some(extension) = path.extension() {
            new.push(".");
            new.push(extension);
        }
        // If the name is a link, its target is renamed.
        let (from, new) = (resolve(path)?, path.with_file_name(new));
        std::fs::rename(&from, &new).with_context(|| format!("cannot rename {}", path.shown()))?;
        eprintln!("{} exists from another run: renamed to {}", path.shown(), new.shown());
    }
    Ok(())
}

/// Whether a regular file exists and is not empty.
fn has_content(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.is_file() && found.len() > 0)
}

/// The name of `out` without its extension, and the first number that no file of an older run has.
fn unused_number(out: &Path) -> (OsString, u32) {
    let stem = out.file_stem().unwrap_or_default().to_os_string();
    let is_free = |number: &u32| {
        let mut numbered = stem.clone();
        numbered.push(format!("-{number}"));
        let extensions = FILES.iter().map(OsString::from).chain(out.extension().map(Into::into));
        extensions
            .map(|extension| {
                let mut name = numbered.clone();
                name.push(".");
                name.push(extension);
                out.with_file_name(name)
            })
            .all(|path| path.symlink_metadata().is_err())
    };
    let number = (1..).find(is_free).unwrap_or(1);
    (stem, number)
}

/// Writes the net.
pub fn write_net(path: &Path, net: &Network) -> Result<()> {
    let bytes = net.to_bytes();
    write_over(path, &nnue::KIND, |file| file.write_all(&bytes))
}

/// Writes the log and the picture next to the net.
pub fn write_curves(config: &Config, history: &[Validation]) -> Result<()> {
    let out = &config.out;
    let log = format!("{}# settings {}\n", log_of(history), config.to_json());
    write_over(&beside(out, "tsv"), &LOG, |file| file.write_all(log.as_bytes()))?;
    if let Some((extension, kind)) = config.log.file() {
        write_over(&beside(out, extension), &kind, |file| file.write_all(&config.log.content(history)))?;
    }
    write_picture(&beside(out, "svg"), out, history)
}

/// Writes the loss curves of the run that made `net`.
pub fn write_picture(path: &Path, net: &Path, history: &[Validation]) -> Result<()> {
    let picture = plot::svg(&picture_title(net), history);
    write_over(path, &PICTURE, |file| file.write_all(picture.as_bytes()))
}

/// Writes the loss curves of several runs.
pub fn write_comparison(path: &Path, runs: &[(String, Vec<Validation>)]) -> Result<()> {
    let names: Vec<&str> = runs.iter().map(|(name, _)| name.as_str()).collect();
    let picture = plot::compare(&format!("{}: {PICTURE_TITLE}", names.join(", ")), runs);
    write_over(path, &PICTURE, |file| file.write_all(picture.as_bytes()))
}

/// Returns a title with the net's file name, without its folder.
fn picture_title(net: &Path) -> String {
    let name = net.file_name().unwrap_or_default();
    format!("{}: {PICTURE_TITLE}", name.shown())
}

/// Returns the log: one line per validation.
fn log_of(history: &[Validation]) -> String {
    history.iter().fold(LOG_HEADER.to_owned(), |log, report| {
        log + &format!(
            "{}\t{:.8}\t{}\t{:.8}\t{:.4}\t{:.1}\n",
            report.shown,
            report.train,
            report.measured().map_or_else(String::new, |loss| format!("{loss:.8}")),
            report.rate,
            report.lambda,
            report.seconds
        )
    })
}

// `train export`: exports a net from a checkpoint.

/// Arguments of `train export`.
#[derive(clap::Args, Clone, Debug)]
pub struct ExportArgs {
    /// Checkpoint of a finished or running run
    pub checkpoint: PathBuf,
    /// Net file to write
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Factor for the net's outputs [default: that of the run]
    #[arg(long)]
    pub output_scale: Option<f32>,
    /// Use the weights of the last step instead of the averaged weights
    #[arg(long)]
    pub last: bool,
    /// Also draw the run's loss curves to this SVG file
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
}

/// Results of a finished run.
#[derive(Clone, Copy, Debug)]
pub struct Results {
    /// Training loss since the second-to-last validation.
    pub training: f64,
    /// Mean quantisation error in engine units.
    pub quantisation: f64,
    /// Accumulator units that are never active.
    pub dead: usize,
}

/// Returns the results of a finished run from its checkpoint and its net.
///
/// # Errors
/// Fails if one of the files is not valid.
pub fn results(checkpoint: &Path, net: &Path) -> Result<Results> {
    let Checkpoint { state, parameters, records } = checkpoint::read(checkpoint)?;
    let scale = state.config.output_scale;
    let mut model = parameters.into_result();
    let elapsed = Elapsed::after(&state.config, state.shown, state.seconds);
    model.rounding = schedule::rounding(&state.config, elapsed);
    let net = Network::from_file(net)?;
    let report = ExportReport::of(&model, scale, &net, &records, state.config.last_loss());
    Ok(Results {
        training: state.history.last().map_or(f64::NAN, |last| last.train),
        quantisation: report.mean,
        dead: report.layers[0].dead(),
    })
}

/// Exports a net from a checkpoint and reports the quantisation error.
///
/// # Errors
/// Fails if the file is not a valid checkpoint or the net cannot be written.
pub fn run(args: &ExportArgs) -> Result<()> {
    let mut outputs = vec![args.out.as_path()];
    outputs.extend(args.plot.as_deref());
    check_distinct(&outputs, &[&args.checkpoint])?;
    let Checkpoint { state, parameters, records } = checkpoint::read(&args.checkpoint)?;
    let scale = args.output_scale.unwrap_or(state.config.output_scale);
    let mut model = if args.last { parameters.model } else { parameters.into_result() };
    let elapsed = Elapsed::after(&state.config, state.shown, state.seconds);
    let rounding = schedule::rounding(&state.config, elapsed);
    model.rounding = rounding.map(|_| Rounding { output_scale: scale });
    let net = export(&model, scale, &records);
    write_net(&args.out, &net)?;
    if let Some(path) = &args.plot {
        write_picture(path, &args.out, &state.history)?;
    }
    eprintln!(
        "{} after {:.1} M positions\n{}{}\nwrote {}",
        args.checkpoint.shown(),
        millions(state.shown),
        plot::text(&state.history),
        ExportReport::of(&model, scale, &net, &records, state.config.last_loss()),
        args.out.shown()
    );
    Ok(())
}

// Description of a checkpoint: the part of `net info` for files that are no nets.

/// Prints the progress and the settings of a checkpoint.
///
/// # Errors
/// Fails if the file is not a valid checkpoint, or a write fails.
pub fn describe(path: &Path, out: &mut dyn Write) -> Result<()> {
    let checkpoint::Checkpoint { state, parameters, .. } = checkpoint::read(path)?;
    let architecture = parameters.model.architecture;
    writeln!(out, "File          {}", path.shown())?;
    writeln!(out, "Checkpoint    of a training run of {architecture}")?;
    writeln!(out, "Positions     {} M of {} M shown", millions(state.shown), state.config.millions)?;
    writeln!(out, "Time          {}", short_time(state.seconds))?;
    match state.history.last() {
        Some(last) => {
            let held_out = last.measured().map_or_else(|| "none".to_owned(), |loss| loss.to_string());
            let (at, rate) = (millions(last.shown), short_rate(last.rate));
            writeln!(out, "Loss          training {:.6}, held out {held_out}, at {at} M with rate {rate}", last.train)?;
        }
        None => writeln!(out, "Loss          no validation yet")?,
    }
    writeln!(out, "Moments       of {} steps", parameters.moments.steps)?;
    writeln!(out, "Averaged      {} models", state.averaged)?;
    writeln!(out, "Settings")?;
    for (name, value) in state.config.values() {
        writeln!(out, "  {name:<16}  {value}")?;
    }
    Ok(())
}

// Checks before a run: whether its outputs can be written.

/// Checks that the net, checkpoint, log and picture of a run can be written, that none is an input, that they replace
/// no other files of the user, and that the disk has room for them. Changes and creates no file.
///
/// # Errors
/// Describes the problem and names the file.
pub fn check_outputs(config: &Config, inputs: &[&Path], resume: bool) -> Result<()> {
    let outputs = outputs(config)?;
    let paths: Vec<&Path> = outputs.iter().map(|(path, _)| path.as_path()).collect();
    check_distinct(&paths, inputs)?;
    for (output, kind) in &outputs {
        // Dropping it without a commit removes the temporary file.
        AtomicFile::create_over(output, kind)?;
    }
    let folder = config.out.parent().unwrap_or(Path::new("."));
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    // New files coexist with the old ones until they are complete.
    let resumed = resume && beside(&config.out, "checkpoint").exists();
    let needed = needed_bytes(config)? * if resumed { 1 } else { 2 };
    check_room(folder, free_bytes(folder), needed)
}

/// Returns the files of a run and their kinds. The files must have different names.
fn outputs(config: &Config) -> Result<Vec<(PathBuf, Kind)>> {
    let out = &config.out;
    let kinds = [("checkpoint", checkpoint::KIND), ("tsv", LOG), ("svg", PICTURE)].into_iter().chain(config.log.file());
    let mut others: Vec<(PathBuf, Kind)> = kinds.map(|(extension, kind)| (beside(out, extension), kind)).collect();
    let taken = others.iter().find(|(other, _)| other == out);
    ensure!(
        taken.is_none(),
        "out is {}, a name that the run uses for another file: choose a name ending in .nnue",
        out.shown()
    );
    others.insert(0, (out.clone(), nnue::KIND));
    Ok(others)
}

/// Returns the approximate size of a checkpoint and a net in bytes.
fn needed_bytes(config: &Config) -> Result<u64> {
    /// Log, picture, and the state in the checkpoint.
    const SMALL: u64 = 1 << 20;
    let architecture = config.architecture()?;
    let net = architecture.transformer_size() + architecture.stacks_size();
    Ok(checkpoint::bytes(architecture, config.average > 0.0) + net as u64 + SMALL)
}

/// Checks that `needed` bytes are free, if the number of free bytes is known.
fn check_room(folder: &Path, free: Option<u64>, needed: u64) -> Result<()> {
    let gigabytes = |bytes: u64| bytes as f64 / 1e9;
    let free = free.unwrap_or(u64::MAX);
    ensure!(
        free >= needed,
        "disk full: {} has {:.2} GB left, but writing the checkpoint and net of this run needs {:.2} GB",
        folder.shown(),
        gigabytes(free),
        gigabytes(needed)
    );
    Ok(())
}

// `train plot`: the loss curves of several runs in one picture, from their logs or checkpoints.

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
pub fn compare(args: &PlotArgs) -> Result<()> {
    let inputs: Vec<&Path> = args.files.iter().map(PathBuf::as_path).collect();
    check_distinct(&[&args.out], &inputs)?;
    let mut runs = Vec::new();
    for path in &args.files {
        let history =
            if checkpoint::is_checkpoint(path)? { checkpoint::read_state(path)?.history } else { read_log(path)? };
        ensure!(!history.is_empty(), "{} has no validation yet, so there is nothing to draw", path.shown());
        let name = path.file_stem().unwrap_or_default().shown();
        runs.push((name, history));
    }
    write_comparison(&args.out, &runs)?;
    eprintln!("wrote {}", args.out.shown());
    Ok(())
}

/// Reads the validations of a log.
fn read_log(path: &Path) -> Result<Vec<Validation>> {
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
    use crate::train::run::config::LogKind;

    #[test]
    fn too_little_disk_space_is_an_error() {
        let room = |free| check_room(Path::new("there"), free, 2_000_000_000);
        assert!(room(None).is_ok() && room(Some(2_000_000_000)).is_ok());
        let error = room(Some(1_990_000_000)).expect_err("too little").to_string();
        assert!(error.contains("there has 1.99 GB left") && error.contains("2.00 GB"));
    }

    #[test]
    fn outputs_must_have_different_names() {
        let config = |name: &str| Config { out: name.into(), log: LogKind::Csv, ..Config::default() };
        assert!(outputs(&config("a.nnue")).is_ok_and(|outputs| outputs.len() == 5));
        for name in ["a.checkpoint", "a.tsv", "a.svg", "a.csv"] {
            assert!(outputs(&config(name)).is_err(), "{name}");
        }
    }

    #[test]
    fn log_lines_parse_with_and_without_held_out_loss() {
        let report = validation("20000\t0.01\t0.02\t0.004\t0.8\t1.5").expect("a line");
        assert_eq!((report.shown, report.train, report.held_out, report.rate), (20_000, 0.01, 0.02, 0.004));
        assert_eq!(validation("1\t0.01\t\t0.004\t0.8\t1.5").expect("a line").measured(), None);
        assert!(validation("1\tx\t0\t0\t0\t0").is_err() && validation("1").is_err());
    }
}
