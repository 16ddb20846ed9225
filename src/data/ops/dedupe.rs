//! `zoothera data dedupe IN... OUT`: keeps the first of equal positions, in the order of the files.
//!
//! Positions are equal if their 64-bit keys are equal: pieces, side to move, castling rights and en passant square. Two
//! different positions among a billion share a key about once in 40 files.
//!
//! The first pass writes each key and the position's index into a bucket, chosen by the high bits of the key. Each
//! bucket is sorted in memory, so that duplicates become adjacent. The second pass skips the duplicates. Memory use is
//! one bucket and one bit per position.

use anyhow::Result;

use super::buckets::{Buckets, needed};
use super::output::OutputFile;
use super::{Paths, for_each};
use crate::util::rng::scaled;
use crate::util::text::Shown as _;

/// Size of a key and its index in bytes.
const PAIR_BYTES: usize = 16;

/// Arguments of `data dedupe`.
#[derive(clap::Args, Clone, Debug)]
pub struct DedupeArgs {
    /// Inputs and output.
    #[command(flatten)]
    pub paths: Paths,
    /// Memory to use, in MiB; more means fewer temporary files
    #[arg(long, value_name = "MIB", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..))]
    pub memory: u32,
}

/// Writes the first of each set of equal positions.
///
/// # Errors
/// Fails if a file cannot be read or written, or is damaged. The error names the file.
pub fn run(args: &DedupeArgs) -> Result<()> {
    let (inputs, out) = args.paths.split()?;
    let mut output = OutputFile::create(out, args.paths.force)?;
    // A bucket is in memory twice: as bytes, and as pairs to be sorted.
    let count = needed(inputs, 2 * PAIR_BYTES as u64, args.memory)?;
    let mut buckets = Buckets::new(out, count)?;
    let mut next_index = 0_u64;
    let total = for_each(inputs, args.paths.input, "keys", |entry, _| {
        let key = entry.key();
        let bucket = scaled(key, count);
        let pair = [key.to_le_bytes(), next_index.to_le_bytes()];
        next_index += 1;
        buckets.put(bucket, pair.as_flattened())
    })?;
    let mut duplicates = vec![0_u64; total as usize / 64 + 1];
    for bucket in 0..buckets.count() {
        mark_duplicates(&buckets.take(bucket)?, &mut duplicates);
    }
    let mut index = 0;
    for_each(inputs, args.paths.input, "dedupe", |entry, place| {
        let drop = duplicates[index / 64] >> (index % 64) & 1 == 1;
        index += 1;
        if drop {
            return Ok(());
        }
        output.write_placed(entry, place)
    })?;
    let kept = output.finish()?;
    eprintln!("{kept} of {total} positions kept in {}", out.shown());
    Ok(())
}

/// Sets the bits of positions whose key occurs at an earlier index, given the pairs of a bucket.
fn mark_duplicates(bytes: &[u8], duplicates: &mut [u64]) {
    let (pairs, _) = bytes.as_chunks::<PAIR_BYTES>();
    let key_and_index = |&pair: &[u8; PAIR_BYTES]| {
        let both = u128::from_le_bytes(pair);
        (both as u64, (both >> 64) as u64)
    };
    let mut pairs: Vec<(u64, u64)> = pairs.iter().map(key_and_index).collect();
    pairs.sort_unstable();
    for pair in pairs.windows(2) {
        if pair[0].0 == pair[1].0 {
            let index = pair[1].1 as usize;
            duplicates[index / 64] |= 1 << (index % 64);
        }
    }
}
