//! The training loop of a run.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};

use super::checkpoint::{Contents, RunState, Validation};
use super::display::{RunDisplay, Status, divergence, millions, overfitting};
use super::outputs::{beside, keep_old, write_curves, write_net};
use super::schedule::Elapsed;
use super::{checkpoint, plot, schedule};
use crate::data::Record;
use crate::data::stream::Stream;
use crate::nnue::Network;
use crate::train::integer::{ExportReport, export};
use crate::train::samples::{Batch, Batches};
use crate::train::step::Stepper;
use crate::train::step::layers::Loss;
use crate::util::atomic::resolve;
use crate::util::console::{Interrupt, Interrupted};
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
