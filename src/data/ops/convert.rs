//! `zoothera data convert IN... OUT`: converts files to another format, or merges several files.

use anyhow::Result;

use super::output::OutputFile;
use super::{Paths, for_each};
use crate::data::reader::Enough;
use crate::util::quantity::{parse_count, parse_count_or_zero};
use crate::util::text::Shown as _;

/// Arguments of `data convert`.
#[derive(clap::Args, Clone, Debug)]
pub struct ConvertArgs {
    /// Inputs and output.
    #[command(flatten)]
    pub paths: Paths,
    /// Skip the first N positions
    #[arg(long, value_name = "N", default_value = "0", value_parser = parse_count_or_zero)]
    pub skip: u64,
    /// Stop after N positions
    #[arg(long, value_name = "N", value_parser = parse_count)]
    pub limit: Option<u64>,
}

/// Writes the entries of all inputs in order.
///
/// # Errors
/// Fails if a file cannot be read or written, or is damaged. The error names the file.
pub fn run(args: &ConvertArgs) -> Result<()> {
    let (inputs, out) = args.paths.split()?;
    let mut output = OutputFile::create(out, args.paths.force)?;
    let mut left_to_skip = args.skip;
    let limit = args.limit.unwrap_or(u64::MAX);
    for_each(inputs, args.paths.input, "convert", |entry, place| {
        if left_to_skip > 0 {
            left_to_skip -= 1;
            return Ok(());
        }
        if output.count() < limit {
            output.write_placed(entry, place)?;
        }
        // The rest of the files is not read.
        if output.count() >= limit { Err(Enough.into()) } else { Ok(()) }
    })?;
    let count = output.finish()?;
    eprintln!("{count} positions in {}", out.shown());
    Ok(())
}
