//! The trainer on the chosen device.

use anyhow::Result;

use super::checkpoint::Parameters;
use super::config::Config;
use crate::gpu::Device;
use crate::nnue::Architecture;
use crate::train::gpu;
use crate::train::step::optimiser::{Optimiser, OptimiserSettings};
use crate::train::step::stepper::Stepper;
use crate::train::step::{Trainer, TrainerSize};

impl Device {
    /// Checks that the device can train nets of this shape.
    ///
    /// # Errors
    /// Fails if the device cannot train this shape. The error lists the supported shapes.
    pub(super) fn check(&self, architecture: Architecture) -> Result<()> {
        match self {
            Self::Gpu(_) => gpu::check_shape(architecture),
            Self::Cpu | Self::Auto(_) => Ok(()),
        }
    }

    /// Returns the trainer on this device, and prints the device unless it is the processor by choice.
    ///
    /// # Errors
    /// Fails if there is no such device, or if it cannot train the net of the settings.
    pub(super) fn stepper(&self, config: &Config, parameters: Parameters) -> Result<Box<dyn Stepper>> {
        let architecture = parameters.model.architecture;
        let choice = match self {
            Self::Cpu => return cpu(config, parameters),
            Self::Gpu(choice) => choice,
            Self::Auto(choice) => match gpu::check_usable(choice, architecture, config.batch) {
                Ok(()) => choice,
                Err(error) => {
                    eprintln!("training on the processor: {error:#}");
                    return cpu(config, parameters);
                }
            },
        };
        let (card, trainer) = gpu::stepper(choice, settings(config), config.last_loss(), config.batch, parameters)?;
        eprintln!("training on {card}; the same card, driver and program give the same net");
        Ok(trainer)
    }
}

/// Returns the trainer on the processor.
fn cpu(config: &Config, parameters: Parameters) -> Result<Box<dyn Stepper>> {
    let optimiser = Optimiser::new(settings(config), parameters.moments);
    let size = TrainerSize { threads: config.threads, batch: config.batch };
    let mut trainer = Trainer::new(parameters.model, optimiser, config.last_loss(), size)?;
    trainer.average = parameters.average;
    Ok(Box::new(trainer))
}

/// Returns the settings of the optimiser.
fn settings(config: &Config) -> OptimiserSettings {
    OptimiserSettings {
        real_rate: config.real_rate,
        attack_rate: config.attack_rate,
        real_decay: config.real_decay,
        factor_decay: config.factor_decay,
        decay: config.decay,
        output_scale: config.output_scale,
    }
}
