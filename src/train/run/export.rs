//! `train export`: a net out of any checkpoint.

use std::path::PathBuf;

use anyhow::Result;

use super::outputs::{millions, write_net, write_picture};
use super::schedule::{self, Elapsed};
use super::{checkpoint, plot};
use crate::train::integer::{ExportReport, export};
use crate::train::model::rounding::Rounding;
use crate::util::identity::check_distinct;

/// Arguments of `train export`.
#[derive(clap::Args, Clone, Debug)]
pub struct ExportArgs {
    /// Checkpoint of a run, also of one that is still going on
    pub checkpoint: PathBuf,
    /// File to write
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Multiplies what the net says [default: as the run was told]
    #[arg(long)]
    pub output_scale: Option<f32>,
    /// The weights of the last step, where the mean of the last ones would be taken
    #[arg(long)]
    pub last: bool,
    /// Draw the run's loss curves into this file too, as SVG
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
}

/// Makes a net of a checkpoint, and tells what the rounding cost.
///
/// # Errors
/// When the checkpoint is none, or the net cannot be written.
pub fn run(args: &ExportArgs) -> Result<()> {
    let mut outputs = vec![args.out.as_path()];
    outputs.extend(args.plot.as_deref());
    check_distinct(&outputs, &[&args.checkpoint])?;
    let (state, parameters, records) = checkpoint::read(&args.checkpoint)?;
    let scale = args.output_scale.unwrap_or(state.config.output_scale);
    let mut model = if args.last {
        parameters.model
    } else {
        parameters.into_result()
    };
    let elapsed = Elapsed::after(&state.config, state.shown, state.seconds);
    let rounding = schedule::rounding(&state.config, elapsed);
    model.rounding = rounding.map(|_| Rounding {
        output_scale: scale,
    });
    let net = export(&model, scale, &records);
    write_net(&args.out, &net)?;
    if let Some(path) = &args.plot {
        write_picture(path, &args.out, &state.history)?;
    }
    eprintln!(
        "{} after {:.1} M positions\n{}{}\nwrote {}",
        args.checkpoint.display(),
        millions(state.shown),
        plot::text(&state.history),
        ExportReport::of((&model, scale), &net, &records, state.config.last_loss()),
        args.out.display()
    );
    Ok(())
}
