//! `zoothera data convert IN... OUT`: the same entries in another format, or several files in one.

use anyhow::Result;

use super::output::OutputFile;
use super::{Paths, for_each};

/// Arguments of `data convert`.
#[derive(clap::Args, Clone, Debug)]
pub struct ConvertArgs {
    /// The files.
    #[command(flatten)]
    pub paths: Paths,
    /// Skip so many positions first
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub skip: u64,
    /// Write at most so many positions
    #[arg(long, value_name = "N")]
    pub limit: Option<u64>,
}

/// Writes the entries of all inputs, one file after the other.
///
/// # Errors
/// When a file is at fault; the error names it.
pub fn run(args: &ConvertArgs) -> Result<()> {
    let (inputs, out) = args.paths.split()?;
    let mut output = OutputFile::create(out)?;
    let mut left_to_skip = args.skip;
    let limit = args.limit.unwrap_or(u64::MAX);
    for_each(inputs, "convert", |entry, place| {
        if left_to_skip > 0 {
            left_to_skip -= 1;
            return Ok(());
        }
        if output.count() < limit {
            output.write_placed(entry, place)?;
        }
        Ok(())
    })?;
    let count = output.finish()?;
    eprintln!("{count} positions in {}", out.display());
    Ok(())
}
