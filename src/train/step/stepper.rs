//! The interface of a training step, which is the same on the processor and on a graphics card.

use anyhow::Result;

use super::loss::Loss;
use super::optimiser::Moments;
use crate::data::Record;
use crate::train::model::Model;
use crate::train::model::average::Average;
use crate::train::model::rounding::Rounding;
use crate::train::samples::Sample;

/// Parameters of a run: all that a checkpoint stores of the trainer.
pub struct Parameters {
    /// The weights.
    pub model: Model,
    /// The optimiser's moments.
    pub moments: Moments,
    /// The mean of the weights, if there is one.
    pub average: Option<Average>,
}

impl Parameters {
    /// Returns the resulting model: the mean, or the weights if there is no mean.
    pub fn into_result(self) -> Model {
        self.average.map_or(self.model, |average| average.model)
    }
}

/// Borrowed [`Parameters`].
#[derive(Clone, Copy)]
pub struct ParametersRef<'a> {
    /// The weights.
    pub model: &'a Model,
    /// The optimiser's moments.
    pub moments: &'a Moments,
    /// The mean of the weights, if there is one.
    pub average: Option<&'a Average>,
}

impl<'a> ParametersRef<'a> {
    /// Returns the resulting model: the mean, or the weights if there is no mean.
    pub fn result(self) -> &'a Model {
        self.average.map_or(self.model, |average| &average.model)
    }
}

/// Takes steps on a device. A device with its own memory may still be computing when [`Self::step`] returns.
///
/// After an error the device can no longer be used; [`Self::parameters`] then still returns the parameters of the last
/// [`Self::sync`].
pub trait Stepper {
    /// Trains on a batch. Returns the mean losses, before their steps, of the batches that were completed since the
    /// last call of this function or of [`Self::sync`], in order.
    ///
    /// # Errors
    /// Fails if the device fails.
    fn step(&mut self, batch: &[Sample], rate: f32) -> Result<Vec<f32>>;

    /// Completes all steps and copies the parameters to the host. Returns the losses of the batches that were
    /// completed.
    ///
    /// # Errors
    /// Fails if the device fails.
    fn sync(&mut self) -> Result<Vec<f32>>;

    /// Sets the loss to minimise.
    fn set_loss(&mut self, loss: Loss);

    /// Sets the rounding of the parameters for later passes.
    fn round(&mut self, rounding: Option<Rounding>);

    /// Adds the parameters of the last [`Self::sync`] to the mean.
    fn add_to_average(&mut self);

    /// Returns the mean loss of the resulting model of the last [`Self::sync`] on held-out positions.
    ///
    /// # Errors
    /// Fails if the device fails.
    fn validate(&mut self, held_out: &[Record]) -> Result<f32>;

    /// Returns the parameters of the last [`Self::sync`], or the initial ones.
    fn parameters(&self) -> ParametersRef<'_>;
}
