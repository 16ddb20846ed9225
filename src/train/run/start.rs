//! The state from which a run starts: fresh, from another net, or from its checkpoint.

use std::path::Path;

use anyhow::{Result, bail, ensure};

use super::architecture::read_net;
use super::checkpoint::{self, Checkpoint, Parameters, RunState};
use super::config::{Change, Config};
use super::display::millions;
use super::outputs::beside;
use super::schedule::{self, Elapsed};
use crate::data::Record;
use crate::data::reader::{self, Enough};
use crate::data::stream::{self, Source};
use crate::nnue::features::attack_inputs::AttackInputs;
use crate::nnue::{Activation, Architecture};
use crate::train::integer::unfold;
use crate::train::model::Model;
use crate::train::model::narrow::narrowing;
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

/// The files of a run's initial weights.
#[derive(Clone, Copy, Debug)]
pub struct Initial<'a> {
    /// A net or checkpoint.
    pub path: &'a Path,
    /// Files of positions; those of the first decide on the units of a narrower model.
    pub sources: &'a [Source],
    /// Another one and the share of its weights.
    pub mix: Option<(&'a Path, f32)>,
}

/// Returns the initial state and parameters of a run: fresh, from another net, or from the checkpoint next to its
/// output.
///
/// # Errors
/// Fails if the checkpoint or the other net cannot be read or does not match the settings.
pub fn start(config: &Config, resume: bool, init: Option<Initial<'_>>) -> Result<(RunState, Parameters)> {
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
fn new_parameters(config: &Config, init: Option<Initial<'_>>) -> Result<Parameters> {
    let configured = config.architecture()?;
    let (model, moments) = match init {
        Some(init) => {
            let (model, moments) = mixed_initial(init, configured, config)?;
            (narrowed(model, configured, init.sources)?, moments)
        }
        None => {
            let span = initial_span(configured.activation);
            (Model::initial(&mut SplitMix64::new(config.seed), configured, span), None)
        }
    };
    ensure!(
        model.architecture == configured,
        "the initial net is {}, but the settings ask for {configured}: leave out --shape and the parts of the shape \
         (any net can get a smaller --l1 and fewer --king-buckets; a net file, not a checkpoint, more of them)",
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

/// Reads the initial model, and the mixed one if there is one. The moments of a mixed model are new.
///
/// # Errors
/// Fails as [`read_initial`] does, or if the models differ in shape.
fn mixed_initial(init: Initial<'_>, configured: Architecture, config: &Config) -> Result<(Model, Option<Moments>)> {
    let (mut model, moments, is_rounded) = read_initial(init.path, configured, config)?;
    let Some((path, share)) = init.mix else {
        return Ok((model, moments));
    };
    let (other, _, other_is_rounded) = read_initial(path, configured, config)?;
    ensure!(
        other.architecture == model.architecture,
        "--mix: {} is {}, but --init is {}: only nets of one shape can be mixed",
        path.shown(),
        other.architecture,
        model.architecture
    );
    if is_rounded && other_is_rounded && config.rounded == 0.0 {
        eprintln!(
            "warning: both checkpoints were trained with rounding: without --rounded 1 the net differs from them"
        );
    }
    model.move_towards(&other, share);
    Ok((model, None))
}

/// Number of positions from which the units of a narrower model are chosen, and the distance between them in the file,
/// because neighbours come from the same game and are similar.
const UNIT_POSITIONS: usize = 8_000;
const UNIT_DISTANCE: usize = 20;

/// Returns the model in the shape `configured` if that is narrower, otherwise as it is. Without files the choice of
/// units is arbitrary.
///
/// # Errors
/// Fails if the first file cannot be read or has no positions.
fn narrowed(model: Model, configured: Architecture, sources: &[Source]) -> Result<Model> {
    if model.architecture == configured || narrowing(model.architecture, configured).is_none() {
        return Ok(model);
    }
    let records = sources.first().map(unit_positions).transpose()?;
    Ok(model.narrowed(configured, &records.unwrap_or_default()))
}

/// Reads the positions from which the units of a narrower model are chosen.
fn unit_positions(source: &Source) -> Result<Vec<Record>> {
    let (mut records, mut count) = (Vec::new(), 0_usize);
    let read = reader::for_each(&source.path, |entry| {
        if count.is_multiple_of(UNIT_DISTANCE) {
            records.push(entry.record());
        }
        count += 1;
        if records.len() == UNIT_POSITIONS { Err(Enough.into()) } else { Ok(()) }
    });
    read.or_else(|error| if error.is::<Enough>() { Ok(()) } else { Err(error) })?;
    ensure!(!records.is_empty(), "{} has no positions", source.path.shown());
    Ok(records)
}

/// Reads the model of a net file with a trainable shape, or of a checkpoint (its mean if it has one). With
/// `keep_moments`, also returns the moments of a checkpoint of the shape `configured`. The last value says whether the
/// model is that of a checkpoint whose run rounded its weights.
///
/// Divides the output of a net file by the output scale, which the export applied, and gives it the king buckets of
/// `configured` if they are parts of its own. A model without attack inputs gets those of `configured`, with weights of
/// zero. It may be wider than `configured` ([`narrowed`]).
///
/// # Errors
/// Fails if the file is neither a net nor a checkpoint, or the net cannot be trained.
fn read_initial(path: &Path, configured: Architecture, config: &Config) -> Result<(Model, Option<Moments>, bool)> {
    let (model, moments, is_rounded) = if checkpoint::is_checkpoint(path)? {
        let Checkpoint { state, parameters: Parameters { model, moments, average }, .. } = checkpoint::read(path)?;
        let is_kept = config.keep_moments && model.architecture == configured;
        let model = average.map_or(model, |average| average.model);
        (model, is_kept.then_some(moments), state.config.rounded > 0.0)
    } else {
        let (net, own) = read_net(path)?;
        let has_parts = configured.features.set().buckets_in(own.features.set()).is_some();
        let finer = own.with_features(configured.features);
        let finer = finer.filter(|finer| has_parts && finer.with_attacks(configured.attacks) == Some(configured));
        (unfold(&net, finer.unwrap_or(own), config.output_scale), None, false)
    };
    let extended = model.architecture.with_attacks(configured.attacks);
    let extended = extended.filter(|&shape| narrowing(shape, configured).is_some());
    let model = match extended {
        Some(shape) if model.architecture.attacks == AttackInputs::None => model.with_attacks(shape),
        _ => model,
    };
    Ok((model, moments, is_rounded))
}
