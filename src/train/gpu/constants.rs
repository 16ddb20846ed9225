//! The constants of one step, in the layout of the shaders' struct `Step`.

use bytemuck::{Pod, Zeroable};

use crate::nnue::Architecture;
use crate::train::model::dense::limits;
use crate::train::model::rounding::{Rounding, Scales};
use crate::train::model::scales::UNITS;
use crate::train::step::loss::{Loss, LossKind};
use crate::train::step::optimiser::{OptimiserSettings, adam_step};

/// Counterpart of the struct `Step` in `shaders/common.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
pub struct Constants {
    pub slots: u32,
    pub chunks: u32,
    rounded: u32,
    train: u32,
    weight: f32,
    penalty: f32,
    lambda: f32,
    scale: f32,
    kind: u32,
    exponent: f32,
    steepness: f32,
    epsilon: f32,
    rate: f32,
    decay: f32,
    real_rate: f32,
    real_decay: f32,
    factor_decay: f32,
    first_one: f32,
    skip_one: f32,
    second_one: f32,
    output_one: f32,
    first_limit: f32,
    skip_limit: f32,
    second_limit: f32,
    output_limit: f32,
    unused: [f32; 3],
}

impl Constants {
    /// Returns the constants of the passes forward over `positions` positions.
    pub fn forward(architecture: Architecture, loss: Loss, rounding: Option<Rounding>, positions: usize) -> Self {
        let weight = 1.0 / positions.max(1) as f32;
        let Scales { first, skip, second, output } =
            rounding.unwrap_or(Rounding { output_scale: 1.0 }).scales(architecture);
        Self {
            rounded: u32::from(rounding.is_some()),
            weight,
            penalty: weight * loss.sparsity / architecture.inputs() as f32,
            lambda: loss.lambda,
            scale: loss.scale,
            kind: match loss.kind {
                LossKind::Mse => 0,
                LossKind::Power => 1,
                LossKind::Bce => 2,
            },
            exponent: loss.exponent,
            steepness: UNITS / loss.scale,
            first_one: first,
            skip_one: skip,
            second_one: second,
            output_one: output,
            ..Self::default()
        }
    }

    /// Adds the constants of optimiser step `steps`.
    pub fn with_step(self, architecture: Architecture, settings: OptimiserSettings, steps: u32, rate: f32) -> Self {
        let step = adam_step(steps, rate, 0.0);
        let limits = limits(architecture, settings.output_scale);
        let real_rate = rate * settings.real_rate;
        Self {
            train: 1,
            epsilon: step.epsilon,
            rate: step.rate,
            decay: rate * settings.decay,
            real_rate: adam_step(steps, real_rate, 0.0).rate,
            real_decay: real_rate * settings.real_decay,
            factor_decay: rate * settings.factor_decay,
            first_limit: limits.first,
            skip_limit: limits.skip,
            second_limit: limits.hidden,
            output_limit: limits.output,
            ..self
        }
    }
}
