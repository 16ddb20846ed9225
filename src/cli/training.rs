//! The commands that generate and process training data and tune the search.

use std::io;
#[cfg(feature = "tune")]
use std::io::Write;

use anyhow::Result;

#[cfg(feature = "tune")]
use super::TuneCommand;
use super::{DataCommand, DatagenCommand};
use crate::data::label::{LabelNet, Labelling};
use crate::data::ops;
use crate::gpu::Device;
use crate::{datagen, tools};

/// Runs `tune`.
#[cfg(feature = "tune")]
pub(super) fn tune(command: Option<TuneCommand>, out: &mut impl Write) -> Result<()> {
    match command {
        Some(TuneCommand::Spsa(args)) => crate::tune::runs::run_spsa(&args, out),
        Some(TuneCommand::Screen(args)) => crate::tune::runs::run_screening(&args, out),
        None => {
            let lines: Vec<String> =
                crate::search::params::TABLE.iter().map(crate::search::params::Parameter::spsa_line).collect();
            // OpenBench reads a line break at the end as an empty parameter.
            write!(out, "{}", lines.join("\n"))?;
            Ok(out.flush()?)
        }
    }
}

/// Runs `data`.
pub(super) fn data(command: &DataCommand) -> Result<()> {
    match command {
        DataCommand::Info(args) => ops::info::run(args, &mut io::stdout()),
        DataCommand::Convert(args) => ops::filter::convert(args),
        DataCommand::Filter(args) => ops::filter::filter(args),
        DataCommand::Relabel(args) => ops::relabel::run(args, &labelling(&args.label, &args.device)?),
        DataCommand::Shuffle(args) => ops::filter::shuffle(args),
        DataCommand::Dedupe(args) => ops::filter::dedupe(args),
        DataCommand::Split(args) => ops::filter::split(args),
    }
}

/// Runs `datagen`.
pub(super) fn datagen(command: &DatagenCommand) -> Result<()> {
    match command {
        DatagenCommand::Sample(args) => {
            let network = tools::load_network(args.net.as_deref())?;
            datagen::sample::run(args, &network, &labelling(&args.label, &args.device)?).map(drop)
        }
        DatagenCommand::Selfplay(args) => {
            let network = tools::load_network(args.net.as_deref())?;
            datagen::games::run(args, &network)
        }
    }
}

/// Loads the networks that label positions, on their device.
fn labelling(labels: &[LabelNet], device: &Device) -> Result<Labelling> {
    let judge = |net: &LabelNet| Ok(net.judge(tools::load_network(Some(net.file()))?));
    Labelling::new(labels.iter().map(judge).collect::<Result<_>>()?, device)
}
