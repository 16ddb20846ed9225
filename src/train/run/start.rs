//! Initial state of a run: fresh, from another net, or from its checkpoint.

use std::fmt::Display;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

use super::checkpoint::{self, Parameters, RunState};
use super::config::Config;
use super::outputs::{beside, millions};
use crate::nnue::{Activation, Architecture, Features, Network};
use crate::train::integer::unfold;
use crate::train::model::{Model, shapes};
use crate::train::step::optimiser::Moments;
use crate::util::rng::SplitMix64;

/// Initial span of the factor rows. Products of small numbers are even smaller and would train slowly at first, so
/// nets with products start with a larger span. (`DenseParameters::initial` has the bias.)
// CITE: own result, from runs in `docs/experiments.md`.
const fn initial_span(activation: Activation) -> f32 {
    match activation {
        Activation::Crelu | Activation::Screlu => 0.03,
        Activation::Pairwise | Activation::WidePairwise => 0.1,
    }
}

/// Returns the initial state and parameters of a run: fresh, from another net, or from the checkpoint next to its
/// output.
///
/// # Errors
/// Fails if the checkpoint or the other net cannot be read or does not match the settings.
pub fn start(config: &Config, resume: bool, init: Option<&Path>) -> Result<(RunState, Parameters)> {
    let path = beside(&config.out, "checkpoint");
    if resume && path.exists() {
        let found = resumed(&path, config)?;
        eprintln!("resuming after {:.1} M positions", millions(found.0.shown));
        return Ok(found);
    }
    if resume {
        eprintln!("no checkpoint {}: starting a new run", path.display());
    }
    let state = new_state(config);
    Ok((state, new_parameters(config, init)?))
}

/// Returns the state of a new run.
fn new_state(config: &Config) -> RunState {
    RunState {
        config: config.clone(),
        shown: 0,
        bookmark: None,
        averaged: 0,
        recent: (0.0, 0),
        seconds: 0.0,
        history: Vec::new(),
    }
}

/// Returns the parameters of a new run, random or from a file.
fn new_parameters(config: &Config, init: Option<&Path>) -> Result<Parameters> {
    let configured = config.architecture()?;
    let model = match init {
        Some(path) => model_of(path, config.output_scale)?,
        None => {
            let span = initial_span(configured.activation);
            Model::initial(&mut SplitMix64::new(config.seed), configured, span)
        }
    };
    if let Some(difference) = difference(model.architecture, configured) {
        bail!("the initial net has {difference}");
    }
    Ok(Parameters { model, moments: Moments::zeros(configured), average: None })
}

/// Describes the first difference between the initial net's shape and the configured one, with the option to use.
fn difference(found: Architecture, configured: Architecture) -> Option<String> {
    let part = |what: &str, found: &dyn Display, configured: &dyn Display, option: &str| {
        format!("{what} {found}, but the settings have {configured}: use `--{option}`")
    };
    if found.activation != configured.activation {
        let option = format!("activation {}", found.activation);
        return Some(part("activation", &found.activation, &configured.activation, &option));
    }
    if found.l1 != configured.l1 {
        let option = format!("l1 {}", found.l1);
        return Some(part("accumulator width", &found.l1, &configured.l1, &option));
    }
    let sets = [found.features, configured.features].map(Features::set);
    if sets[0].code == sets[1].code && sets[0].kings != sets[1].kings {
        let option = format!("king-buckets {}", sets[0].kings);
        let kings = [sets[0].kings, sets[1].kings];
        return Some(part("king bucket count", &kings[0], &kings[1], &option));
    }
    if found.psqt != configured.psqt {
        return Some(part(
            "piece-square output count",
            &found.psqt,
            &configured.psqt,
            &format!("psqt {}", found.psqt > 0),
        ));
    }
    if found.features != configured.features {
        return Some(part("features", &found.features, &configured.features, "features"));
    }
    if found.buckets != configured.buckets {
        let option = format!("buckets {}", found.buckets);
        return Some(part("layer stack count", &found.buckets, &configured.buckets, &option));
    }
    None
}

/// Reads the checkpoint of a run, whose settings must match `config`.
fn resumed(path: &Path, config: &Config) -> Result<(RunState, Parameters)> {
    let (mut state, parameters, _) = checkpoint::read(path)?;
    if let Some(difference) = config.difference(&state.config) {
        bail!(
            "{} belongs to another run: {difference}. Use the same settings, or start a new run with --init",
            path.display()
        );
    }
    if state.bookmark.is_none() {
        bail!(
            "{} was written by an earlier version, which used another order of positions. Start a new run with --init",
            path.display()
        );
    }
    let max = 1e6 * config.millions + config.batch as f64;
    ensure!(
        state.shown as f64 <= max,
        "{} is damaged: {} positions shown are more than the whole run has",
        path.display(),
        state.shown
    );
    state.config = config.clone();
    Ok((state, parameters))
}

/// Reads the model of a net file with a trainable shape, or of a checkpoint (its mean if it has one). The output of a
/// net file is scaled by `output_scale`, which is undone here.
///
/// # Errors
/// Fails if the file is neither, or the net cannot be trained.
fn model_of(path: &Path, output_scale: f32) -> Result<Model> {
    if checkpoint::is_checkpoint(path)? {
        return Ok(checkpoint::read(path)?.1.into_result());
    }
    let net =
        Network::from_file(path).with_context(|| format!("{} is neither a checkpoint nor a net", path.display()))?;
    let Some(architecture) = net.architecture().trained() else {
        bail!(
            "{} is {}, which cannot be trained; trainable shapes: {}",
            path.display(),
            net.architecture(),
            shapes::names()
        );
    };
    Ok(unfold(&net, architecture, output_scale))
}
