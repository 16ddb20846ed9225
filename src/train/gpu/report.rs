//! `zoothera gpu`: lists the cards and tests one.

use std::io::Write;
use std::time::Duration;

use anyhow::{Result, ensure};

use super::GpuArgs;
use super::self_test::{self, TOLERANCE};
use super::sizes::RECORD;
use crate::gpu::CardChoice;
use crate::gpu::card::{Card, cards, choose};

/// Positions per step of the speed test on a software device.
const SOFTWARE_BATCH: usize = 1024;

/// Lists the cards, and tests the chosen one.
///
/// # Errors
/// Fails if the machine has no card, or if the test fails.
pub fn run(args: &GpuArgs, out: &mut impl Write) -> Result<()> {
    for (number, card) in (1..).zip(cards()) {
        list(number, &card, out)?;
    }
    if args.list {
        return Ok(());
    }
    let card = choose(&CardChoice::of(args.card.as_deref()))?;
    let shape = self_test::shape()?;
    writeln!(out, "\nself-test of {} with {shape}", card.name())?;
    let worst = self_test::gradient_difference(&card, shape)?;
    ensure!(
        worst <= TOLERANCE,
        "the gradient differs from the processor's by {worst:.4} of its size, more than {TOLERANCE}: update the driver \
         of {}, or use --device cpu",
        card.name()
    );
    writeln!(out, "  gradient  differs from the processor's by {worst:.4} of its size (limit {TOLERANCE}): passed")?;
    let batch = args.batch as usize;
    let batch = if card.is_software() { batch.min(SOFTWARE_BATCH) } else { batch };
    let speed = self_test::speed(&card, shape, batch, Duration::from_secs(args.seconds.into()))?;
    let upload = speed.positions * (4 * RECORD) as f64;
    writeln!(out, "  memory    {} MB", speed.bytes.div_ceil(1_000_000))?;
    writeln!(
        out,
        "  speed     {:.0} positions a second, {:.2} ms a step of {batch}, upload {:.1} MB a second",
        speed.positions,
        1e3 * speed.step,
        upload / 1e6
    )?;
    let labels = self_test::label_speed(&card, batch, Duration::from_secs(args.seconds.div_ceil(3).into()))?;
    writeln!(out, "  labels    {labels:.0} positions a second by the embedded net, equal to the processor's")?;
    Ok(())
}

/// Prints a card and its limits.
fn list(number: usize, card: &Card, out: &mut impl Write) -> Result<()> {
    let limits = card.limits();
    let megabytes = |bytes: u64| bytes / 1_000_000;
    writeln!(out, "{number:>3}  {}", card.describe())?;
    writeln!(
        out,
        "     {}, buffers of {} MB at most ({} MB for a shader)",
        card.kind(),
        megabytes(limits.max_buffer_size),
        megabytes(limits.max_storage_buffer_binding_size)
    )?;
    Ok(())
}
