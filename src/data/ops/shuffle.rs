//! `zoothera data shuffle IN... OUT`: uniform random shuffle of files of any size.
//!
//! The first pass puts each entry into a random bucket. The second pass shuffles each bucket in memory and writes the
//! buckets in order.

use anyhow::{Context, Result};

use super::buckets::{Buckets, needed};
use super::output::OutputFile;
use super::{Paths, for_each};
use crate::data::bin::{self, RECORD_BYTES};
use crate::data::format::FileFormat;
use crate::data::reader::check_holds_unrelated;
use crate::util::rng::SplitMix64;
use crate::util::text::Shown as _;

/// Arguments of `data shuffle`.
#[derive(clap::Args, Clone, Debug)]
pub struct ShuffleArgs {
    /// Inputs and output.
    #[command(flatten)]
    pub paths: Paths,
    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Memory to use, in MiB; more means fewer temporary files
    #[arg(long, value_name = "MIB", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..))]
    pub memory: u32,
}

/// Shuffles all inputs together.
///
/// # Errors
/// Fails if a file cannot be read or written, or is damaged. The error names the file.
pub fn run(args: &ShuffleArgs) -> Result<()> {
    let (inputs, out) = args.paths.split()?;
    check_holds_unrelated(FileFormat::of(out)?.format)?;
    let mut output = OutputFile::create(out, args.paths.force)?;
    let count = needed(inputs, RECORD_BYTES as u64, args.memory)?;
    let mut buckets = Buckets::new(out, count)?;
    let mut rng = SplitMix64::new(args.seed);
    for_each(inputs, args.paths.input, "shuffle", |entry, _| buckets.put(rng.below(count), &bin::encode(entry)?))?;
    for index in 0..count {
        let mut bytes = buckets.take(index)?;
        let (records, _) = bytes.as_chunks_mut::<RECORD_BYTES>();
        for last in (1..records.len()).rev() {
            records.swap(last, rng.below(last + 1));
        }
        for record in records {
            output.write(&bin::decode(record).context("a temporary file is damaged")?)?;
        }
    }
    let count = output.finish()?;
    eprintln!("{count} positions in {}", out.shown());
    Ok(())
}
