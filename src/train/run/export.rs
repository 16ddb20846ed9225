//! `train export`: exports a net from a checkpoint.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::checkpoint::{self, Checkpoint};
use super::outputs::{millions, write_net, write_picture};
use super::plot;
use super::schedule::{self, Elapsed};
use crate::nnue::Network;
use crate::train::integer::{ExportReport, export};
use crate::train::model::rounding::Rounding;
use crate::util::identity::check_distinct;
use crate::util::text::Shown as _;

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
