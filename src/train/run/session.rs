//! The training loop of a run, and the state from which it starts.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, bail, ensure};

use super::architecture::read_net;
use super::checkpoint::{Checkpoint, Contents, Parameters, RunState, Validation};
use super::config::{Change, Config};
use super::display::{RunDisplay, Status, divergence, millions, overfitting};
use super::outputs::{beside, keep_old, write_curves, write_net};
use super::schedule::Elapsed;
use super::{checkpoint, plot, schedule};
use crate::data::reader::{self, Enough};
use crate::data::stream::{Source, Stream};
use crate::data::{Record, stream};
use crate::nnue::features::attack_inputs::AttackInputs;
use crate::nnue::{Activation, Architecture, Network};
use crate::train::integer::{ExportReport, export, unfold};
use crate::train::model::Model;
use crate::train::model::narrow::narrowing;
use crate::train::samples::{Batch, Batches};
use crate::train::step::layers::Loss;
use crate::train::step::optimiser::Moments;
use crate::train::step::{Stepper, trainer_bytes};
use crate::util::atomic::resolve;
use crate::util::console::{Interrupt, Interrupted};
use crate::util::rng::SplitMix64;
use crate::util::text::Shown as _;

/// Number of positions for the quantisation report of an export.
const CHECK_POSITIONS: usize = 10_000;

/// Maximum time between copies of a device's parameters to the host, and so the maximum loss of work with the device.
const SYNC_PERIOD: Duration = Duration::from_secs(30);

/// A run: data, trainer and state.
pub struct Session {
    batches: Batches,
    held_out: Vec<Record>,
    /// A sample of the held-out positions, stored in checkpoints to calibrate and check exports.
    checked: Vec<Record>,
    trainer: Box<dyn Stepper>,
    state: RunState,
    synced: Synced,
    /// Loss of the last completed batch.
    last_loss: f32,
    /// Progress display.
    pub display: RunDisplay,
    here: Here,
    /// Seconds of training before this process.
    seconds_before: f64,
    /// Whether the checkpoint next to the output belongs to this run.
    kept: bool,
    /// Positions shown before the last checkpoint.
    kept_at: Option<u64>,
}

/// Positions of a run.
pub struct Positions {
    /// Training positions; the stream must be at the bookmark of the run's state.
    pub stream: Stream,
    /// Held-out positions.
    pub held_out: Vec<Record>,
}

/// The last copy of the trainer's parameters to the host.
struct Synced {
    /// The state that belongs to these parameters.
    state: RunState,
    /// Time of the copy.
    at: Instant,
}

/// The part of the run in this process.
#[derive(Clone, Copy)]
struct Here {
    started: Instant,
    /// Positions shown.
    shown: u64,
}

impl Session {
    /// Starts or resumes a run. The trainer must have the state's parameters.
    pub fn begin(state: RunState, mut trainer: Box<dyn Stepper>, positions: Positions) -> Self {
        let config = &state.config;
        let Positions { stream, held_out } = positions;
        let batches = Batches::new(stream, config.batch, config.seed, state.shown);
        let elapsed = Elapsed::after(config, state.shown, state.seconds);
        trainer.round(schedule::rounding(config, elapsed));
        Self {
            trainer,
            batches,
            checked: spread(&held_out, CHECK_POSITIONS),
            held_out,
            seconds_before: state.seconds,
            kept: state.bookmark.is_some(),
            kept_at: state.bookmark.is_some().then_some(state.shown),
            synced: Synced { state: state.clone(), at: Instant::now() },
            last_loss: 0.0,
            state,
            display: RunDisplay::new(),
            here: Here { started: Instant::now(), shown: 0 },
        }
    }

    /// Prints the held-out loss of the initial weights.
    ///
    /// # Errors
    /// Fails if the device fails.
    pub fn report_initial_loss(&mut self) -> Result<()> {
        if self.held_out.is_empty() {
            return Ok(());
        }
        self.trainer.set_loss(self.state.config.last_loss());
        let loss = self.trainer.validate(&self.held_out)?;
        self.display.print(&format!("    0.0 M         before the first step  held out {loss:.6}"));
        Ok(())
    }

    /// Trains until the end of the run. On a read error or an interrupt, writes a checkpoint first.
    ///
    /// # Errors
    /// Fails if the run did not reach its end, with the reason.
    pub fn train(&mut self) -> Result<()> {
        let interrupt = Interrupt::shared();
        while self.elapsed().done < 1.0 {
            if interrupt.is_set() {
                return self.stop();
            }
            let before = self.state.shown;
            let batch = match self.batches.next() {
                Ok(batch) => batch,
                Err(error) => {
                    self.keep()?;
                    return Err(error);
                }
            };
            self.step(&batch)?;
            self.display.tick(status(&self.state, self.elapsed(), self.here, self.last_loss));
            let passed = |period: f64| {
                let periods = |shown: u64| (millions(shown) / period) as u64;
                period > 0.0 && periods(before) != periods(self.state.shown)
            };
            let (validate, keep) = (passed(self.state.config.every), passed(self.state.config.checkpoint_every));
            // The first checkpoint is early, so that a disk or folder error appears before much work is at risk. It
            // renames the files of an older run, so it precedes the first validation.
            let is_first = !self.kept;
            if is_first {
                self.keep()?;
            }
            if validate {
                self.validate()?;
            }
            if keep || (validate && is_first) {
                self.keep()?;
            }
            if self.synced.at.elapsed() > SYNC_PERIOD {
                self.sync()?;
            }
        }
        Ok(())
    }

    /// Writes a checkpoint and returns an error that explains how to resume.
    fn stop(&mut self) -> Result<()> {
        if self.here.shown > 0 {
            self.keep()?;
        }
        Err(Interrupted::error(format!(
            "stopped by Ctrl-C or a signal after {:.1} M positions; add --resume to the command to continue from {}",
            millions(self.state.shown),
            self.checkpoint().shown()
        )))
    }

    /// Returns the path of the checkpoint.
    fn checkpoint(&self) -> PathBuf {
        beside(&self.state.config.out, "checkpoint")
    }

    /// Trains on one batch.
    fn step(&mut self, batch: &Batch) -> Result<()> {
        let (config, elapsed) = (&self.state.config, self.elapsed());
        let rate = schedule::rate(config, elapsed);
        self.trainer.set_loss(Loss { lambda: schedule::lambda(config, elapsed), ..config.last_loss() });
        self.trainer.round(schedule::rounding(config, elapsed));
        let losses = self.trainer.step(&batch.samples, rate).map_err(|error| self.rescue(&error))?;
        let size = batch.samples.len() as u64;
        let averaged = schedule::averaged(&self.state.config, elapsed);
        self.state.bookmark = Some(batch.bookmark);
        self.state.shown += size;
        self.here.shown += size;
        self.state.seconds = self.seconds_before + self.here.started.elapsed().as_secs_f64();
        self.add_losses(&losses)?;
        if schedule::averaged(&self.state.config, self.elapsed()) > averaged {
            self.sync()?;
            self.trainer.add_to_average();
            self.state.averaged += 1;
            self.synced.state.averaged += 1;
        }
        Ok(())
    }

    /// Adds the losses of completed batches to the mean of the next validation.
    ///
    /// # Errors
    /// Fails if the run has diverged.
    fn add_losses(&mut self, losses: &[f32]) -> Result<()> {
        for &loss in losses {
            if !loss.is_finite() {
                return Err(self.diverged(&divergence(loss.into(), 0.0).unwrap_or_default()));
            }
            self.state.recent.0 += f64::from(loss);
            self.state.recent.1 += 1;
            self.last_loss = loss;
        }
        Ok(())
    }

    /// Completes all steps and copies the parameters to the host.
    fn sync(&mut self) -> Result<()> {
        let losses = self.trainer.sync().map_err(|error| self.rescue(&error))?;
        self.add_losses(&losses)?;
        self.synced = Synced { state: self.state.clone(), at: Instant::now() };
        Ok(())
    }

    /// Writes a checkpoint of the last state on the host after the device failed, unless it is already on disk.
    /// Returns an error that explains how to resume.
    fn rescue(&mut self, device: &anyhow::Error) -> anyhow::Error {
        self.state = self.synced.state.clone();
        let (checkpoint, at) = (self.checkpoint(), millions(self.state.shown));
        if self.state.bookmark.is_none() {
            return anyhow!("{device:#}. No step was completed, so there is no checkpoint: start the run again");
        }
        if self.kept_at != Some(self.state.shown)
            && let Err(error) = self.write_checkpoint()
        {
            return anyhow!("{device:#}. The checkpoint could not be written either: {error:#}");
        }
        anyhow!(
            "{device:#}. {} has the state after {at:.1} M positions: add --resume to the command to continue from it, \
             on this device or on another (--device cpu)",
            checkpoint.shown()
        )
    }

    /// Returns the progress of the run.
    fn elapsed(&self) -> Elapsed {
        Elapsed::after(&self.state.config, self.state.shown, self.state.seconds)
    }

    /// Measures the validation loss and writes net, log and plot.
    fn validate(&mut self) -> Result<()> {
        self.sync()?;
        let elapsed = self.elapsed();
        self.trainer.set_loss(self.state.config.last_loss());
        self.trainer.round(schedule::rounding(&self.state.config, elapsed));
        let held_out = self.trainer.validate(&self.held_out).map_err(|error| self.rescue(&error))?;
        let state = &mut self.state;
        let (sum, count) = std::mem::take(&mut state.recent);
        let validation = Validation {
            shown: state.shown,
            train: sum / f64::from(count.max(1)),
            held_out,
            rate: schedule::rate(&state.config, elapsed),
            lambda: schedule::lambda(&state.config, elapsed),
            seconds: state.seconds,
        };
        self.check_divergence(validation.held_out.into())?;
        self.state.history.push(validation);
        let loss = validation.train as f32;
        let status = status(&self.state, elapsed, self.here, loss);
        self.display.report(&validation, status);
        let lambda = self.state.config.last_lambda();
        if let Some(warning) = overfitting(&self.state.history, lambda) {
            self.display.print(&warning);
        }
        self.write_net()?;
        write_curves(&self.state.config, &self.state.history)
    }

    fn write_net(&self) -> Result<Network> {
        let config = &self.state.config;
        let net = export(self.trainer.parameters().result(), config.output_scale, &self.checked);
        write_net(&config.out, &net)?;
        Ok(net)
    }

    /// Fails if the run has diverged.
    fn check_divergence(&self, loss: f64) -> Result<()> {
        let model = self.trainer.parameters().model;
        let scale = self.state.config.output_scale;
        let limited = model.dense.limited(model.architecture, scale);
        divergence(loss, limited).map_or(Ok(()), |reason| Err(self.diverged(&reason)))
    }

    /// Returns the error of a diverged run.
    fn diverged(&self, reason: &str) -> anyhow::Error {
        let (at, rate) = (millions(self.state.shown), self.state.config.rate);
        let checkpoint = self.checkpoint();
        let checkpoint = checkpoint.shown();
        match self.kept_at {
            Some(shown) if self.kept => anyhow!(
                "the run diverged after {at:.3} M positions: {reason}. {checkpoint} is from {:.3} M positions; \
                 start a new run with a --rate below {rate}, or with --init {checkpoint} if that net is good",
                millions(shown)
            ),
            _ => anyhow!(
                "the run diverged after {at:.3} M positions: {reason}. No checkpoint was written; start a new \
                 run with a --rate below {rate}"
            ),
        }
    }

    /// Writes the checkpoint.
    ///
    /// # Errors
    /// Fails on an I/O error, or if the run has diverged; the last checkpoint is then unchanged.
    fn keep(&mut self) -> Result<()> {
        self.sync()?;
        self.write_checkpoint()
    }

    /// Writes the checkpoint of the parameters on the host, to which the state must belong.
    fn write_checkpoint(&mut self) -> Result<()> {
        self.check_divergence(0.0)?;
        self.kept_at = Some(self.state.shown);
        // If the checkpoint is a link, its target is renamed, not the link.
        let path = resolve(&self.checkpoint())?;
        let contents = Contents { state: &self.state, parameters: self.trainer.parameters(), records: &self.checked };
        if self.kept {
            return checkpoint::write(&path, contents);
        }
        // Completed before the files of an older run are renamed.
        let new = checkpoint::begin(&path, contents)?;
        keep_old(&self.state.config)?;
        new.commit()?;
        self.kept = true;
        Ok(())
    }

    /// Runs the last validation, writes the last checkpoint, and reports on the net.
    pub fn finish(&mut self) -> Result<()> {
        if self.state.recent.1 > 0 {
            self.validate()?;
        }
        self.keep()?;
        let net = self.write_net()?;
        let config = &self.state.config;
        let model = self.trainer.parameters().result();
        let report = ExportReport::of(model, config.output_scale, &net, &self.checked, config.last_loss());
        self.display.print(&format!(
            "{}{report}\nwrote {}",
            plot::text(&self.state.history),
            self.state.config.out.shown()
        ));
        Ok(())
    }
}

/// Returns at most `max` records, evenly spaced, because neighbours come from the same game and are similar.
fn spread(records: &[Record], max: usize) -> Vec<Record> {
    let step = records.len().div_ceil(max).max(1);
    records.iter().step_by(step).copied().collect()
}

/// Returns the progress for the display.
fn status(state: &RunState, elapsed: Elapsed, here: Here, loss: f32) -> Status<'_> {
    let done = f64::from(elapsed.done).min(1.0);
    let seconds = here.started.elapsed().as_secs_f64();
    Status {
        done,
        shown: state.shown,
        speed: here.shown as f64 / seconds.max(1e-9),
        left: state.seconds * (1.0 - done).max(0.0) / done.max(1e-9),
        loss: f64::from(loss),
        history: &state.history,
    }
}

// Initial state of a run: fresh, from another net, or from its checkpoint.

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
        Some(init) => mixed_initial(init, configured, config)?,
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
    let (mut model, moments) = read_initial(init.path, configured, config)?;
    let Some((path, share)) = init.mix else {
        return Ok((narrowed(model, configured, init.sources)?, moments));
    };
    let (other, _) = read_initial(path, configured, config)?;
    ensure!(
        other.architecture == model.architecture,
        "--mix: {} is {}, but --init is {}: only nets of one shape can be mixed",
        path.shown(),
        other.architecture,
        model.architecture
    );
    model.move_towards(&other, share);
    Ok((narrowed(model, configured, init.sources)?, None))
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
/// `keep_moments`, also returns the moments of a checkpoint of the shape `configured`.
///
/// Divides the output of a net file by the output scale, which the export applied, and gives it the king buckets of
/// `configured` if they are parts of its own. A model without attack inputs gets those of `configured`, with weights of
/// zero. It may be wider than `configured` ([`narrowed`]).
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
    let extended = model.architecture.with_attacks(configured.attacks);
    let extended = extended.filter(|&shape| narrowing(shape, configured).is_some());
    Ok(match extended {
        Some(shape) if model.architecture.attacks == AttackInputs::None => (model.with_attacks(shape), moments),
        _ => (model, moments),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::samples::record_of;

    #[test]
    fn spread_selects_records_evenly() {
        let record = |score: i16| {
            let board = shakmaty::Board::default();
            let mut record = record_of(&board, false);
            record.score = score;
            record
        };
        let records: Vec<Record> = (0..95).map(record).collect();
        let scores = |max| -> Vec<i16> { spread(&records, max).iter().map(|r| r.score).collect() };
        assert_eq!(scores(10), [0, 10, 20, 30, 40, 50, 60, 70, 80, 90]);
        assert_eq!(scores(94).len(), 48);
        assert_eq!(scores(95).len(), 95);
        assert!(spread(&[], 10).is_empty());
    }
}
