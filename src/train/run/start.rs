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

/// Initial span of the factor rows. Products of small numbers are smaller still and would learn late, so nets with
/// products start with a larger span. (`DenseParameters::initial` has the bias.)
// CITE: ours, from runs in `docs/experiments.md`.
const fn initial_span(activation: Activation) -> f32 {
    match activation {
        Activation::Crelu | Activation::Screlu => 0.03,
        Activation::Pairwise | Activation::WidePairwise => 0.1,
    }
}

/// Where a run stands when it begins, and its parameters: fresh, of another net, or of the checkpoint beside its
/// output.
///
/// # Errors
/// When the checkpoint or the other net cannot be read, or does not fit the settings.
pub fn start(config: &Config, resume: bool, init: Option<&Path>) -> Result<(RunState, Parameters)> {
    let path = beside(&config.out, "checkpoint");
    if resume && path.exists() {
        let found = resumed(&path, config)?;
        eprintln!("going on after {:.1} M positions", millions(found.0.shown));
        return Ok(found);
    }
    if resume {
        eprintln!("there is no {} yet: a new run", path.display());
    }
    let state = new_state(config);
    Ok((state, new_parameters(config, init)?))
}

/// The state of a run that begins.
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

/// The parameters of a run that begins, random or from a file.
fn new_parameters(config: &Config, init: Option<&Path>) -> Result<Parameters> {
    let told = config.architecture()?;
    let model = match init {
        Some(path) => model_of(path, config.output_scale)?,
        None => {
            let span = initial_span(told.activation);
            Model::initial(&mut SplitMix64::new(config.seed), told, span)
        }
    };
    if let Some(difference) = difference(model.architecture, told) {
        bail!("the net to begin with has {difference}");
    }
    Ok(Parameters {
        model,
        moments: Moments::zeros(told),
        average: None,
    })
}

/// How the shape of the net to begin with is not what the run was told, and how to tell it.
fn difference(found: Architecture, told: Architecture) -> Option<String> {
    let part = |what: &str, found: &dyn Display, told: &dyn Display, option: &str| {
        format!("{what} {found}, but the run was told {told}: give `--{option}`")
    };
    if found.activation != told.activation {
        let option = format!("activation {}", found.activation);
        return Some(part(
            "the activation",
            &found.activation,
            &told.activation,
            &option,
        ));
    }
    if found.l1 != told.l1 {
        let option = format!("l1 {}", found.l1);
        return Some(part("accumulators of width", &found.l1, &told.l1, &option));
    }
    let sets = [found.features, told.features].map(Features::set);
    if sets[0].code == sets[1].code && sets[0].kings != sets[1].kings {
        let option = format!("king-buckets {}", sets[0].kings);
        let kings = [sets[0].kings, sets[1].kings];
        return Some(part(
            "king buckets in the number of",
            &kings[0],
            &kings[1],
            &option,
        ));
    }
    if found.psqt != told.psqt {
        return Some(part(
            "piece-square values in the number of",
            &found.psqt,
            &told.psqt,
            &format!("psqt {}", found.psqt > 0),
        ));
    }
    if found.features != told.features {
        return Some(part(
            "the features",
            &found.features,
            &told.features,
            "features",
        ));
    }
    if found.buckets != told.buckets {
        let option = format!("buckets {}", found.buckets);
        return Some(part(
            "stacks in the number of",
            &found.buckets,
            &told.buckets,
            &option,
        ));
    }
    None
}

/// Reads the checkpoint of a run, which must be the one that `config` describes.
fn resumed(path: &Path, config: &Config) -> Result<(RunState, Parameters)> {
    let (mut state, parameters, _) = checkpoint::read(path)?;
    if let Some(difference) = config.difference(&state.config) {
        bail!(
            "{} belongs to another run: {difference} (here and there). Give the same settings, or begin a new run \
             with --init",
            path.display()
        );
    }
    if state.bookmark.is_none() {
        bail!(
            "{} was written by an earlier version, which showed the positions in another order. Begin a new run with \
             --init",
            path.display()
        );
    }
    let most = 1e6 * config.millions + config.batch as f64;
    ensure!(
        state.shown as f64 <= most,
        "{} is damaged: it has shown {} positions, more than such a run shows",
        path.display(),
        state.shown
    );
    state.config = config.clone();
    Ok((state, parameters))
}

/// The model of a net file of a shape that can be trained, or of a checkpoint (its mean if it has one). A net file was
/// written with its output multiplied by `output_scale`, which is taken off again.
///
/// # Errors
/// When the file is neither.
fn model_of(path: &Path, output_scale: f32) -> Result<Model> {
    if checkpoint::is_checkpoint(path)? {
        return Ok(checkpoint::read(path)?.1.into_result());
    }
    let net = Network::from_file(path)
        .with_context(|| format!("{} is no checkpoint and no net", path.display()))?;
    let Some(architecture) = net.architecture().trained() else {
        bail!(
            "{} is {}, which cannot be trained; these can: {}",
            path.display(),
            net.architecture(),
            shapes::names()
        );
    };
    Ok(unfold(&net, architecture, output_scale))
}
