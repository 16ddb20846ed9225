//! Initial state of a run: fresh, from another net, or from its checkpoint.

use std::path::Path;

use anyhow::{Result, bail, ensure};

use super::checkpoint::{self, Checkpoint, Parameters, RunState};
use super::config::{Change, Config};
use super::outputs::{beside, millions};
use super::schedule::{self, Elapsed};
use super::shape::read_net;
use crate::data::stream;
use crate::nnue::features::attack_inputs::AttackInputs;
use crate::nnue::{Activation, Architecture};
use crate::train::integer::unfold;
use crate::train::model::Model;
use crate::train::step::optimiser::Moments;
use crate::train::step::trainer_bytes;
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
        return resumed(&path, config);
    }
    if resume {
        eprintln!("no checkpoint {}: starting a new run", path.shown());
    }
    Ok((new_state(config)?, new_parameters(config, init)?))
}

/// Returns the state of a new run.
fn new_state(config: &Config) -> Result<RunState> {
    Ok(RunState {
        config: config.clone(),
        shown: 0,
        bookmark: None,
        stream_memory: Some(stream_memory(config)?),
        averaged: 0,
        recent: (0.0, 0),
        seconds: 0.0,
        history: Vec::new(),
    })
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

/// Memory for the stream of positions in bytes: what the trainer does not need.
///
/// # Errors
/// Fails if the memory is too small for a net of this shape.
pub fn stream_memory(config: &Config) -> Result<usize> {
    let memory = (1e9 * config.memory) as usize;
    let own = trainer_bytes(config.architecture()?, config.average > 0.0, config.batch);
    let min_memory = own + stream::MIN_MEMORY;
    if memory < min_memory {
        let min_memory = min_memory as f64 / 1e9;
        bail!("memory is {} GB, but training a net of this shape needs at least {min_memory:.3} GB", config.memory);
    }
    Ok(memory - own)
}

/// Reads the checkpoint of a run and continues it with the settings of `config`, which must have the same shape and
/// order of positions.
fn resumed(path: &Path, config: &Config) -> Result<(RunState, Parameters)> {
    let Checkpoint { mut state, mut parameters, .. } = checkpoint::read(path)?;
    let changes = config.changes(&state.config);
    if let Some(Change { name, before, now }) = changes.iter().find(|change| change.is_fixed()) {
        bail!(
            "{} belongs to another run: {name} is {now} in the settings and {before} in the checkpoint. Use the same \
             value, or start a new run with --init",
            path.shown()
        );
    }
    if state.bookmark.is_none() {
        bail!(
            "{} was written by an earlier version, which used another order of positions. Start a new run with --init",
            path.shown()
        );
    }
    let max = 1e6 * state.config.millions + state.config.batch as f64;
    ensure!(
        state.shown as f64 <= max,
        "{} is damaged: {} positions shown are more than the whole run has",
        path.shown(),
        state.shown
    );
    if state.stream_memory.is_none() {
        state.stream_memory = Some(stream_memory(&state.config)?);
    }
    state.config = config.clone();
    // A longer run has its last part, over which the weights are averaged, later.
    if schedule::averaged(config, Elapsed::after(config, state.shown, state.seconds)) == 0 {
        (state.averaged, parameters.average) = (0, None);
    }
    eprintln!("resuming after {:.1} M positions{}", millions(state.shown), described(&changes));
    Ok((state, parameters))
}

/// The changed settings of a resumed run in words.
fn described(changes: &[Change]) -> String {
    if changes.is_empty() {
        return String::new();
    }
    let change = |Change { name, before, now }: &Change| format!("{name} {now} (was {before})");
    let changes: Vec<String> = changes.iter().map(change).collect();
    format!(" with {}; from here the result is not byte-identical to that of an uninterrupted run", changes.join(", "))
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
