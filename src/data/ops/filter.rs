//! `zoothera data filter IN... OUT`: keeps the positions that pass the filters.

use std::path::PathBuf;

use anyhow::{Result, ensure};

use super::output::OutputFile;
use super::shares::{PieceShares, result_chance};
use super::{Paths, for_each};
use crate::data::entry::Entry;
use crate::data::filter::{Filter, FilterArgs, remainder};
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
    /// Keep each position with the probability that a game with its score has its result, so that results that
    /// contradict the score become rare
    #[arg(long)]
    pub by_result: bool,
    /// Keep positions at random so that classes of piece counts have these shares: 8:1,16:2,32:1 keeps one position
    /// with up to 8 pieces for two with 9 to 16 and one with 17 to 32. Reads the inputs twice
    #[arg(long, value_name = "PIECES:SHARE,...")]
    pub piece_shares: Option<PieceShares>,
    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
}

impl ChooseArgs {
    /// Whether the filters keep an entry, except for the shares of piece counts.
    fn keeps(&self, filter: &Filter, entry: &Entry, rng: &mut SplitMix64) -> bool {
        let extreme = entry.score.unsigned_abs() > self.thin_beyond;
        let thinned = extreme && rng.below(self.thin as usize) != 0;
        !thinned && filter.keeps(entry) && (!self.by_result || entry.score_alone || rng.unit() < result_chance(entry))
    }

    /// The probabilities of keeping a position of each class of piece counts.
    fn chances(&self, shares: &PieceShares, inputs: &[PathBuf]) -> Result<Vec<f64>> {
        let (filter, mut rng) = (self.keep.filter(), SplitMix64::new(self.seed));
        let mut counts = vec![0; shares.count()];
        for_each(inputs, self.paths.input, "count", |entry, _| {
            counts[shares.class(entry.board.count())] += u64::from(self.keeps(&filter, entry, &mut rng));
            Ok(())
        })?;
        shares.chances(&counts)
    }
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
    let shares = match &args.piece_shares {
        Some(shares) => Some((shares, args.chances(shares, inputs)?)),
        None => None,
    };
    let mut rng = SplitMix64::new(args.seed);
    let mut share_rng = SplitMix64::new(!args.seed);
    let mut kept = 0_u64;
    let count = for_each(inputs, args.paths.input, "filter", |entry, place| {
        let is_chosen = |(shares, chances): &(&PieceShares, Vec<f64>)| {
            share_rng.unit() < chances[shares.class(entry.board.count())]
        };
        let keeps = args.keeps(&filter, entry, &mut rng) && shares.as_ref().is_none_or(is_chosen);
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
