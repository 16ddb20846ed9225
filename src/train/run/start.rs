//! Initial state of a run: fresh, from another net, or from its checkpoint.

use std::path::Path;

use anyhow::{Result, bail, ensure};

use super::checkpoint::{self, Checkpoint, Parameters, RunState};
use super::config::Config;
use super::outputs::{beside, millions};
use super::shape::read_net;
use crate::nnue::features::attack_inputs::AttackInputs;
use crate::nnue::{Activation, Architecture};
use crate::train::integer::unfold;
use crate::train::model::Model;
use crate::train::step::optimiser::Moments;
use crate::util::rng::SplitMix64;
use crate::util::text::Shown as _;

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
        eprintln!("no checkpoint {}: starting a new run", path.shown());
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
    let (model, moments) = match init {
        Some(path) => read_initial(path, configured, config)?,
        None => {
            let span = initial_span(configured.activation);
            (Model::initial(&mut SplitMix64::new(config.seed), configured, span), None)
        }
    };
    ensure!(
        model.architecture == configured,
        "the initial net is {}, but the settings ask for {configured}: leave out --shape and the parts of the shape \
         (a net file, not a checkpoint, can get more --king-buckets)",
        model.architecture
    );
    let moments = moments.unwrap_or_else(|| Moments::zeros(configured));
    Ok(Parameters { model, moments, average: None })
}

/// Reads the checkpoint of a run, whose settings must match `config`.
fn resumed(path: &Path, config: &Config) -> Result<(RunState, Parameters)> {
    let Checkpoint { mut state, parameters, .. } = checkpoint::read(path)?;
    if let Some(difference) = config.difference(&state.config) {
        bail!(
            "{} belongs to another run: {difference}. Use the same settings, or start a new run with --init",
            path.shown()
        );
    }
    if state.bookmark.is_none() {
        bail!(
            "{} was written by an earlier version, which used another order of positions. Start a new run with --init",
            path.shown()
        );
    }
    let max = 1e6 * config.millions + config.batch as f64;
    ensure!(
        state.shown as f64 <= max,
        "{} is damaged: {} positions shown are more than the whole run has",
        path.shown(),
        state.shown
    );
    state.config = config.clone();
    Ok((state, parameters))
}

/// Reads the model of a net file with a trainable shape, or of a checkpoint (its mean if it has one). With
/// `keep_moments`, also returns the moments of a checkpoint of the shape `configured`.
///
/// Divides the output of a net file by the output scale, which the export applied, and gives it the king buckets of
/// `configured` if they are parts of its own. A model without attack inputs gets those of `configured`, with weights of
/// zero.
///
/// # Errors
/// Fails if the file is neither a net nor a checkpoint, or the net cannot be trained.
fn read_initial(path: &Path, configured: Architecture, config: &Config) -> Result<(Model, Option<Moments>)> {
    let (model, moments) = if checkpoint::is_checkpoint(path)? {
        let Parameters { model, moments, average } = checkpoint::read(path)?.parameters;
        let is_kept = config.keep_moments && model.architecture == configured;
        (average.map_or(model, |average| average.model), is_kept.then_some(moments))
    } else {
        let (net, own) = read_net(path)?;
        let has_parts = configured.features.set().buckets_in(own.features.set()).is_some();
        let finer = own.with_features(configured.features);
        let finer = finer.filter(|finer| has_parts && finer.with_attacks(configured.attacks) == Some(configured));
        (unfold(&net, finer.unwrap_or(own), config.output_scale), None)
    };
    let can_add = model.architecture.attacks == AttackInputs::None
        && model.architecture.with_attacks(configured.attacks) == Some(configured);
    Ok((if can_add { model.with_attacks(configured) } else { model }, moments))
}
