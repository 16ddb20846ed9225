//! The trainer on a graphics card.

use std::collections::VecDeque;

use anyhow::Result;
use wgpu::{Buffer, SubmissionIndex};

use super::passes::{BACKWARD, FOLD, FORWARD, Passes, binding};
use super::sizes::{Constants, Sizes, Slots};
use crate::data::Record;
use crate::gpu::card::{Card, Mapping, Opened};
use crate::train::model::Average;
use crate::train::model::Model;
use crate::train::model::dense::DenseParameters;
use crate::train::model::shapes::Rounding;
use crate::train::samples::Sample;
use crate::train::step::layers::Loss;
use crate::train::step::optimiser::{Moments, OptimiserSettings};
use crate::train::step::{Parameters, ParametersRef, Stepper};

/// Batches that the card is computing or has queued while the host prepares the next one.
const IN_FLIGHT: usize = 2;
/// Hidden environment variable for tests: the card is lost before this step of the process, counted from 0.
const LOSE_AT: &str = "ZOOTHERA_GPU_LOSE_AT";

/// A batch that the card has not completed.
struct Flight {
    submission: SubmissionIndex,
    staging: Buffer,
    mapping: Mapping,
    positions: usize,
}

/// A model on a card, and its copy on the host from the last synchronisation.
pub struct GpuTrainer {
    card: Opened,
    sizes: Sizes,
    passes: Passes,
    slots: Slots,
    settings: OptimiserSettings,
    loss: Loss,
    rounding: Option<Rounding>,
    host: Parameters,
    /// Steps taken, including those since the last synchronisation.
    steps: u32,
    /// Steps before this process.
    steps_before: u32,
    /// Whether the rows on the card are out of date for the next pass.
    are_rows_stale: bool,
    in_flight: VecDeque<Flight>,
    /// Staging buffers for losses that are not in use.
    free: Vec<Buffer>,
    /// Losses of completed batches that were not yet returned.
    losses: Vec<f32>,
    /// Steps of this process before a simulated loss of the card.
    lose_at: Option<u32>,
}

impl GpuTrainer {
    /// Opens a card and copies the parameters to it, for batches of at most `batch` positions.
    ///
    /// # Errors
    /// Fails if the card cannot be opened or has too little memory.
    pub fn new(
        card: &Card,
        settings: OptimiserSettings,
        loss: Loss,
        batch: usize,
        parameters: Parameters,
    ) -> Result<Self> {
        let architecture = parameters.model.architecture;
        let sizes = Sizes::of(architecture, batch)?;
        sizes.check(&card.limits(), &card.name())?;
        let card = card.open()?;
        let passes = Passes::new(&card, &sizes)?;
        let trainer = Self {
            card,
            sizes,
            passes,
            slots: Slots::default(),
            settings,
            loss,
            rounding: None,
            steps: parameters.moments.steps,
            steps_before: parameters.moments.steps,
            host: parameters,
            are_rows_stale: true,
            in_flight: VecDeque::new(),
            free: Vec::new(),
            losses: Vec::new(),
            lose_at: std::env::var(LOSE_AT).ok().and_then(|text| text.parse().ok()),
        };
        let buckets = architecture.features.set().king_buckets.map(u32::from);
        trainer.card.write(trainer.buffer(binding::KING_BUCKETS), &buckets);
        trainer.upload_model(&trainer.host.model);
        let Moments { first, second, .. } = &trainer.host.moments;
        for (table, dense, (values, small)) in [
            (binding::TABLE_FIRST, binding::DENSE_FIRST, first),
            (binding::TABLE_SECOND, binding::DENSE_SECOND, second),
        ] {
            trainer.card.write(trainer.buffer(table), values);
            trainer.upload_dense(dense, small);
        }
        Ok(trainer)
    }

    /// Memory of the card's buffers in bytes.
    pub fn bytes(&self) -> u64 {
        self.sizes.total()
    }

    fn buffer(&self, binding: usize) -> &Buffer {
        &self.passes.buffers[binding]
    }

    fn upload_model(&self, model: &Model) {
        self.card.write(self.buffer(binding::TABLE), &model.transformer);
        self.upload_dense(binding::DENSE, &model.dense);
    }

    fn upload_dense(&self, binding: usize, dense: &DenseParameters) {
        self.card.write(self.buffer(binding), &dense.tensors().concat());
    }

    /// Uploads a batch, and submits its passes. With `rate`, the batch is also trained on.
    fn submit(&mut self, batch: &[Sample], rate: Option<f32>) -> Result<()> {
        let architecture = self.sizes.architecture;
        self.slots.fill(architecture, batch, self.sizes.chunks);
        let (slots, chunks) = (self.slots.records.len(), self.slots.chunk_count);
        let mut constants = Constants::forward(architecture, self.loss, self.rounding, batch.len());
        (constants.slots, constants.chunks) = (slots as u32, chunks as u32);
        if let Some(rate) = rate {
            constants = constants.with_step(architecture, self.settings, self.steps + 1, rate);
        }
        self.card.write(self.buffer(binding::STEP), &[constants]);
        self.card.write(self.buffer(binding::RECORDS), &self.slots.records);
        self.card.write(self.buffer(binding::CHUNKS), &self.slots.chunks);
        let staging = self.free.pop().unwrap_or_else(|| self.card.staging(16));
        let mut encoder = self.card.device.create_command_encoder(&Default::default());
        if self.are_rows_stale {
            self.passes.encode(&mut encoder, FOLD, slots, chunks);
            self.are_rows_stale = false;
        }
        if rate.is_some() {
            encoder.clear_buffer(self.buffer(binding::BITS), 0, None);
        }
        self.passes.encode(&mut encoder, FORWARD, slots, chunks);
        if rate.is_some() {
            self.passes.encode(&mut encoder, BACKWARD, slots, chunks);
        }
        encoder.copy_buffer_to_buffer(self.buffer(binding::TOTAL_LOSS), 0, &staging, 0, 16);
        let submission = self.card.queue.submit([encoder.finish()]);
        let mapping = Mapping::of(&staging);
        self.in_flight.push_back(Flight { submission, staging, mapping, positions: batch.len() });
        self.card.check()
    }

    /// Waits until at most `count` batches are incomplete.
    fn complete(&mut self, count: usize) -> Result<()> {
        while self.in_flight.len() > count {
            let Some(flight) = self.in_flight.pop_front() else {
                break;
            };
            self.card.wait(flight.submission)?;
            let mut total = [0.0; 4];
            flight.mapping.copy_to(&flight.staging, &mut total)?;
            self.free.push(flight.staging);
            self.losses.push(total[0] / flight.positions.max(1) as f32);
        }
        Ok(())
    }

    /// Copies the dense parameters at a binding to `out`.
    fn read_dense(&self, binding: usize, out: &mut DenseParameters) -> Result<()> {
        let mut all = vec![0.0; self.sizes.dense];
        self.card.read(self.buffer(binding), &mut all)?;
        let mut rest = &all[..];
        for tensor in out.tensors_mut() {
            let (values, others) = rest.split_at(tensor.len());
            tensor.copy_from_slice(values);
            rest = others;
        }
        Ok(())
    }

    /// Reads all parameters from the card.
    fn download(&self) -> Result<(Model, Moments)> {
        let architecture = self.sizes.architecture;
        let mut model = Model::zeros(architecture);
        let mut moments = Moments::zeros(architecture);
        model.rounding = self.rounding;
        moments.steps = self.steps;
        self.card.read(self.buffer(binding::TABLE), &mut model.transformer)?;
        self.read_dense(binding::DENSE, &mut model.dense)?;
        for (table, dense, (values, small)) in [
            (binding::TABLE_FIRST, binding::DENSE_FIRST, &mut moments.first),
            (binding::TABLE_SECOND, binding::DENSE_SECOND, &mut moments.second),
        ] {
            self.card.read(self.buffer(table), values)?;
            self.read_dense(dense, small)?;
        }
        Ok((model, moments))
    }

    /// Returns the sum of the losses of `held_out` by the model on the card.
    fn measure(&mut self, held_out: &[Record]) -> Result<f64> {
        let mut sum = 0.0;
        for run in held_out.chunks(self.sizes.batch) {
            let samples: Vec<Sample> = run.iter().copied().map(Sample::plain).collect();
            self.submit(&samples, None)?;
            self.complete(0)?;
            let loss: f64 = self.losses.drain(..).map(f64::from).sum();
            sum += loss * run.len() as f64;
        }
        Ok(sum)
    }
}

impl Stepper for GpuTrainer {
    fn step(&mut self, batch: &[Sample], rate: f32) -> Result<Vec<f32>> {
        if self.lose_at == Some(self.steps - self.steps_before) {
            self.card.device.destroy();
        }
        let batch = &batch[..batch.len().min(self.sizes.batch)];
        self.submit(batch, Some(rate))?;
        self.steps += 1;
        self.complete(IN_FLIGHT - 1)?;
        Ok(std::mem::take(&mut self.losses))
    }

    fn sync(&mut self) -> Result<Vec<f32>> {
        self.complete(0)?;
        if self.steps != self.host.moments.steps {
            // Replaces the parameters on the host only after all were read.
            (self.host.model, self.host.moments) = self.download()?;
        }
        Ok(std::mem::take(&mut self.losses))
    }

    fn set_loss(&mut self, loss: Loss) {
        self.loss = loss;
    }

    fn round(&mut self, rounding: Option<Rounding>) {
        self.are_rows_stale |= rounding.is_some() != self.rounding.is_some();
        self.rounding = rounding;
        self.host.model.rounding = rounding;
        if let Some(average) = &mut self.host.average {
            average.model.rounding = rounding;
        }
    }

    fn add_to_average(&mut self) {
        match &mut self.host.average {
            Some(average) => average.add(&self.host.model),
            None => self.host.average = Some(Average::of(&self.host.model)),
        }
    }

    fn validate(&mut self, held_out: &[Record]) -> Result<f32> {
        let has_average = self.host.average.is_some();
        if let Some(average) = &self.host.average {
            self.upload_model(&average.model);
            self.are_rows_stale = true;
        }
        let sum = self.measure(held_out)?;
        if has_average {
            self.upload_model(&self.host.model);
            self.are_rows_stale = true;
        }
        Ok((sum / held_out.len().max(1) as f64) as f32)
    }

    fn parameters(&self) -> ParametersRef<'_> {
        let Parameters { model, moments, average } = &self.host;
        ParametersRef { model, moments, average: average.as_ref() }
    }
}
