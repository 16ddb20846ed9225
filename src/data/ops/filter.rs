//! `zoothera data filter IN... OUT`: keeps the positions that pass the filters.

use anyhow::{Result, ensure};

use super::output::OutputFile;
use super::{Paths, for_each};
use crate::data::filter::{FilterArgs, remainder};
use crate::data::format::{FileFormat, Format};
use crate::util::rng::SplitMix64;
use crate::util::text::Shown as _;

/// Arguments of `data filter`.
#[derive(clap::Args, Clone, Debug)]
pub struct ChooseArgs {
    /// Inputs and output.
    #[command(flatten)]
    pub paths: Paths,
    /// Filters.
    #[command(flatten)]
    pub keep: FilterArgs,
    /// Thin out positions with a |score| beyond this, in engine units: keep one in --thin
    #[arg(long, value_name = "UNITS", default_value_t = 1000)]
    pub thin_beyond: u16,
    /// Keep one in K of the positions beyond --thin-beyond, at random; 1 keeps all
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub thin: u32,
    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
}

/// Writes the positions that the filters keep.
///
/// # Errors
/// Fails if a file cannot be read or written, or is damaged. The error names the file.
pub fn run(args: &ChooseArgs) -> Result<()> {
    let (inputs, out) = args.paths.split()?;
    let chains = FileFormat::of(out)?.format == Format::Binpack;
    let filter = args.keep.filter();
    let mut output = OutputFile::create(out, args.paths.force)?;
    let mut rng = SplitMix64::new(args.seed);
    let mut kept = 0_u64;
    let count = for_each(inputs, args.paths.input, "filter", |entry, place| {
        let extreme = entry.score.unsigned_abs() > args.thin_beyond;
        let thinned = extreme && rng.below(args.thin as usize) != 0;
        let keeps = !thinned && filter.keeps(entry);
        kept += u64::from(keeps);
        match remainder(entry, keeps, chains) {
            Some(entry) => output.write_placed(&entry, place),
            None => Ok(()),
        }
    })?;
    ensure!(kept > 0, "no position passes the filters, so {} was not written", out.shown());
    output.finish()?;
    eprintln!("{kept} of {count} positions kept in {}", out.shown());
    Ok(())
}
