//! The training step on a graphics card, through `wgpu` (Vulkan, Metal or DX12), with the feature `gpu`.
//!
//! The arithmetic is in `shaders/`: the passes of [`crate::train::step`] for the nets with pairwise products. A batch
//! costs an upload of 32 bytes per position; features, row lists, gradients and the optimiser run on the card. All sums
//! have a fixed order, so the same card, driver and program give the same result.
//!
//! Without the feature, which WebAssembly lacks, this module only has functions that return an error.
//!
//! * `sizes`: the nets that a card can train, the sizes of the buffers, the constants of the shaders and of one step,
//!   and a batch in the order of its layer stacks.
//! * `trainer`: the trainer, and the shaders' entry points with their buffers.
//! * `self_test`: comparison with the trainer on the processor, and `zoothera gpu`.

#[cfg(feature = "gpu")]
mod self_test;
#[cfg(feature = "gpu")]
mod sizes;
#[cfg(all(test, feature = "gpu"))]
mod tests;
#[cfg(feature = "gpu")]
mod trainer;

use std::io::Write;

use anyhow::Result;

use super::step::layers::Loss;
use super::step::optimiser::OptimiserSettings;
use super::step::{Parameters, Stepper};
use crate::gpu::CardChoice;
#[cfg(feature = "gpu")]
use crate::gpu::card;
use crate::nnue::Architecture;

/// Arguments of `gpu`.
#[derive(clap::Args, Clone, Debug)]
pub struct GpuArgs {
    /// Card to test: a part of its name or its number in the list; the fastest one if absent
    #[arg(value_name = "CARD")]
    pub card: Option<String>,
    /// Only list the cards
    #[arg(long)]
    pub list: bool,
    /// Positions per step of the speed test
    #[arg(long, value_name = "N", default_value_t = 16_384)]
    #[arg(value_parser = clap::value_parser!(u32).range(256..=1 << 20))]
    pub batch: u32,
    /// Seconds of the speed test
    #[arg(long, value_name = "S", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=600))]
    pub seconds: u16,
}

#[cfg(feature = "gpu")]
mod present {
    use super::*;

    /// Checks that a card can train nets of this shape.
    ///
    /// # Errors
    /// The error names the shapes that a card can train.
    pub(in crate::train) fn check_shape(architecture: Architecture) -> Result<()> {
        sizes::check(architecture)
    }

    /// Checks that the chosen card exists, can be opened and can train nets of this shape with batches of `batch`
    /// positions.
    ///
    /// # Errors
    /// The error describes what is missing.
    pub(in crate::train) fn check_usable(choice: &CardChoice, architecture: Architecture, batch: usize) -> Result<()> {
        sizes::check(architecture)?;
        let card = card::choose(choice)?;
        sizes::Sizes::of(architecture, batch)?.check(&card.limits(), &card.name())?;
        card.open().map(drop)
    }

    /// Opens the chosen card. Returns its name with its driver, and the trainer.
    ///
    /// # Errors
    /// Fails if no card matches, or if the card cannot train the net with batches of `batch` positions.
    pub(in crate::train) fn stepper(
        choice: &CardChoice,
        settings: OptimiserSettings,
        loss: Loss,
        batch: usize,
        parameters: Parameters,
    ) -> Result<(String, Box<dyn Stepper>)> {
        sizes::check(parameters.model.architecture)?;
        let card = card::choose(choice)?;
        let name = card.describe();
        let trainer = trainer::GpuTrainer::new(&card, settings, loss, batch, parameters)?;
        Ok((name, Box::new(trainer)))
    }

    /// Lists the cards, and tests one.
    ///
    /// # Errors
    /// Fails if the machine has no card, or if the test fails.
    pub(crate) fn run(args: &GpuArgs, out: &mut impl Write) -> Result<()> {
        self_test::run(args, out)
    }
}

#[cfg(not(feature = "gpu"))]
mod absent {
    use super::*;

    use crate::gpu::unsupported as error;

    pub(in crate::train) fn check_shape(_: Architecture) -> Result<()> {
        Err(error())
    }

    pub(in crate::train) fn check_usable(_: &CardChoice, _: Architecture, _: usize) -> Result<()> {
        Err(error())
    }

    pub(in crate::train) fn stepper(
        _: &CardChoice,
        _: OptimiserSettings,
        _: Loss,
        _: usize,
        _: Parameters,
    ) -> Result<(String, Box<dyn Stepper>)> {
        Err(error())
    }

    /// Fails: this program cannot use graphics cards.
    pub(crate) fn run(_: &GpuArgs, _: &mut impl Write) -> Result<()> {
        Err(error())
    }
}

#[cfg(not(feature = "gpu"))]
use absent as implementation;
#[cfg(feature = "gpu")]
use present as implementation;

pub(crate) use implementation::run;
pub(super) use implementation::{check_shape, check_usable, stepper};
