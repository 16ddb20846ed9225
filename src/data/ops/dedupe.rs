//! `zoothera data dedupe IN... OUT`: of equal positions only the first, in the order of the files.
//!
//! Positions are equal when their 64-bit keys are: pieces, side to move, castling rights and en passant square; two
//! different ones among a billion share a key about once in forty files. The first pass writes the keys with their
//! places into buckets by the key's high bits; each bucket is sorted in memory, which shows who came later; the second
//! pass leaves those out. The memory is a bucket and one bit for every position.

use anyhow::Result;

use super::buckets::{Buckets, needed};
use super::output::OutputFile;
use super::{Paths, for_each};

/// Bytes of a key with its place.
const BYTES: usize = 16;

/// Arguments of `data dedupe`.
#[derive(clap::Args, Clone, Debug)]
pub struct DedupeArgs {
    /// The files.
    #[command(flatten)]
    pub paths: Paths,
    /// Memory to use, in MiB; more means fewer temporary files
    #[arg(long, value_name = "MIB", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..))]
    pub memory: u32,
}

/// Writes the first of all equal positions.
///
/// # Errors
/// When a file or the disk is at fault; the error names it.
pub fn run(args: &DedupeArgs) -> Result<()> {
    let (inputs, out) = args.paths.split()?;
    let mut output = OutputFile::create(out)?;
    // Read back and sorted: twice the bytes.
    let count = needed(inputs, 2 * BYTES as u64, args.memory)?;
    let mut buckets = Buckets::new(out, count)?;
    let mut place = 0_u64;
    let total = for_each(inputs, "keys", |entry, _| {
        let key = entry.key();
        let bucket = ((u128::from(key) * count as u128) >> 64) as usize;
        let pair = [key.to_le_bytes(), place.to_le_bytes()];
        place += 1;
        buckets.put(bucket, pair.as_flattened())
    })?;
    let mut later = vec![0_u64; total as usize / 64 + 1];
    for index in 0..buckets.count() {
        mark_later(&buckets.take(index)?, &mut later);
    }
    let mut place = 0;
    for_each(inputs, "dedupe", |entry, from| {
        let drop = later[place / 64] >> (place % 64) & 1 == 1;
        place += 1;
        if drop {
            return Ok(());
        }
        output.write_placed(entry, from)
    })?;
    let kept = output.finish()?;
    eprintln!("{kept} of {total} positions kept in {}", out.display());
    Ok(())
}

/// Sets the bits of those whose key an earlier place has too.
fn mark_later(bytes: &[u8], later: &mut [u64]) {
    let (pairs, _) = bytes.as_chunks::<BYTES>();
    let key_and_place = |&pair: &[u8; BYTES]| {
        let both = u128::from_le_bytes(pair);
        (both as u64, (both >> 64) as u64)
    };
    let mut pairs: Vec<(u64, u64)> = pairs.iter().map(key_and_place).collect();
    pairs.sort_unstable();
    for pair in pairs.windows(2) {
        if pair[0].0 == pair[1].0 {
            let place = pair[1].1 as usize;
            later[place / 64] |= 1 << (place % 64);
        }
    }
}
