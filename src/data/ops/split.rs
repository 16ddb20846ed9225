//! `zoothera data split IN... --into A.bin=98 --into B.bin=2`: random split by whole games, for example into
//! training and validation data.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context, Result, ensure};

use super::output::OutputFile;
use super::{InputArgs, for_each};
use crate::util::identity::check_distinct;
use crate::util::rng::SplitMix64;
use crate::util::text::Shown as _;

/// Arguments of `data split`.
#[derive(clap::Args, Clone, Debug)]
pub struct SplitArgs {
    /// Files to read, of any format (see `data convert`)
    #[arg(required = true, value_name = "IN")]
    pub files: Vec<PathBuf>,
    /// File to write and its weight; repeat it for every part
    #[arg(long, required = true, value_name = "OUT=WEIGHT")]
    pub into: Vec<Part>,
    /// Replace existing outputs
    #[arg(long)]
    pub force: bool,
    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// How the inputs are read.
    #[command(flatten)]
    pub input: InputArgs,
}

/// An output file and its weight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Path of the file.
    pub path: PathBuf,
    /// Weight; the share of the games is the weight divided by the sum of all weights.
    pub weight: u32,
}

impl FromStr for Part {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let (path, weight) = text.rsplit_once('=').context("expected FILE=WEIGHT")?;
        let weight = weight.parse().with_context(|| format!("'{weight}' is not a weight; expected a whole number"))?;
        Ok(Self { path: path.into(), weight })
    }
}

/// Assigns each game to a random part. A game is a block of a `.tree`, or a run of consecutive plies in other formats;
/// unrelated positions are assigned one by one.
///
/// # Errors
/// Fails if a file cannot be read or written, or is damaged. The error names the file.
pub fn run(args: &SplitArgs) -> Result<()> {
    let total: usize = args.into.iter().map(|part| part.weight as usize).sum();
    ensure!(total > 0, "all parts have weight 0");
    let read: Vec<&Path> = args.files.iter().map(PathBuf::as_path).collect();
    let written: Vec<&Path> = args.into.iter().map(|part| part.path.as_path()).collect();
    check_distinct(&written, &read)?;
    let outputs: Result<Vec<_>> = args.into.iter().map(|p| OutputFile::create(&p.path, args.force)).collect();
    let mut outputs = outputs?;
    let mut rng = SplitMix64::new(args.seed);
    let (mut chosen, mut next_ply) = (0, None);
    let mut block = None;
    let total = for_each(&args.files, args.input, "split", |entry, place| {
        let begins = match place {
            Some(place) => {
                let last = block.replace(place.block);
                last != Some(place.block) && !(last.is_some() && place.sample_path.root.continues)
            }
            None => next_ply != Some(entry.ply),
        };
        if begins {
            chosen = choose(&args.into, rng.below(total));
        }
        next_ply = entry.ply.checked_add(1);
        outputs[chosen].write_placed(entry, place)
    })?;
    ensure!(total > 0, "the inputs have no positions, so no part was written");
    for (output, part) in outputs.into_iter().zip(&args.into) {
        eprintln!("{} positions in {}", output.finish_part()?, part.path.shown());
    }
    Ok(())
}

/// Index of the part whose cumulative weight range contains `number`.
fn choose(parts: &[Part], number: usize) -> usize {
    let mut end = 0;
    let within = parts.iter().position(|part| {
        end += part.weight as usize;
        number < end
    });
    within.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn part_parses_and_is_chosen_by_its_weight() {
        let parts: Vec<Part> =
            ["a=b.bin=3", "c.bin=0", "d.bin=1"].iter().map(|text| text.parse().expect(text)).collect();
        assert_eq!(parts[0].path, PathBuf::from("a=b.bin"));
        let chosen: Vec<_> = (0..4).map(|number| choose(&parts, number)).collect();
        assert_eq!(chosen, [0, 0, 0, 2]);
        assert!("a.bin".parse::<Part>().is_err() && "a.bin=x".parse::<Part>().is_err());
    }
}
