//! `zoothera data dedupe IN... OUT`: keeps the first of equal positions, in the order of the files; and `data shuffle`.
//!
//! Positions are equal if their 64-bit keys are equal: pieces, side to move, castling rights and en passant square. Two
//! different positions among a billion share a key about once in 40 files.
//!
//! The first pass writes each key and the position's index into a bucket, chosen by the high bits of the key. Each
//! bucket is sorted in memory, so that duplicates become adjacent. The second pass skips the duplicates. Memory use is
//! one bucket and one bit per position.

use std::fs;
use std::fs::File;
use std::io::{BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::{OutputFile, Paths, for_each};
use crate::data::bin;
use crate::data::bin::RECORD_BYTES;
use crate::data::compression::Compression;
use crate::data::format::{FileFormat, Format};
use crate::data::reader::check_holds_unrelated;
use crate::util::rng::{SplitMix64, scaled};
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
pub fn dedupe(args: &DedupeArgs) -> Result<()> {
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

// `zoothera data shuffle IN... OUT`: uniform random shuffle of files of any size.
//
// The first pass puts each entry into a random bucket. The second pass shuffles each bucket in memory and writes the
// buckets in order.

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
pub fn shuffle(args: &ShuffleArgs) -> Result<()> {
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

// Temporary files that partition data larger than memory. Each bucket fits into memory.

/// Largest number of buckets; each is an open file with a buffer.
const MAX_BUCKETS: u64 = 256;
/// Size of a bucket's buffer in bytes.
const BUFFER: usize = 1 << 17;

/// Anonymous temporary files in the folder of the output. The system removes them when the process ends, even if it is
/// killed.
pub struct Buckets {
    folder: PathBuf,
    /// One file per bucket, `None` after the bucket was taken.
    files: Vec<Option<BufWriter<File>>>,
}

impl Buckets {
    /// Creates `count` empty buckets in the folder of `out`.
    ///
    /// # Errors
    /// Fails on an I/O error.
    pub fn new(out: &Path, count: usize) -> Result<Self> {
        let folder = match out.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let open = |_| {
            let file = tempfile::tempfile_in(folder);
            let file = file.with_context(|| format!("cannot create temporary files in {}", folder.shown()))?;
            Ok(Some(BufWriter::with_capacity(BUFFER, file)))
        };
        Ok(Self { files: (0..count).map(open).collect::<Result<_>>()?, folder: folder.to_path_buf() })
    }

    /// Number of buckets.
    pub fn count(&self) -> usize {
        self.files.len()
    }

    /// Appends to a bucket.
    ///
    /// # Errors
    /// Fails on an I/O error, and if the bucket was already taken.
    pub fn put(&mut self, index: usize, bytes: &[u8]) -> Result<()> {
        let bucket = self.files[index].as_mut().context("the bucket was already taken")?;
        let put = bucket.write_all(bytes);
        put.with_context(|| format!("cannot write temporary files in {}", self.folder.shown()))
    }

    /// Returns the content of a bucket and removes its file, which frees disk space for the output.
    ///
    /// # Errors
    /// As [`Self::put`].
    pub fn take(&mut self, index: usize) -> Result<Vec<u8>> {
        let bucket = self.files[index].take().context("the bucket was already taken")?;
        let read = || -> std::io::Result<Vec<u8>> {
            let mut file = bucket.into_inner()?;
            file.rewind()?;
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        read().with_context(|| format!("cannot read temporary files in {}", self.folder.shown()))
    }
}

/// Number of buckets such that a bucket needs about half of `memory_mib` MiB, at `bytes_each` bytes per entry.
///
/// # Errors
/// Fails if the size or format of an input cannot be determined.
pub fn needed(inputs: &[PathBuf], bytes_each: u64, memory_mib: u32) -> Result<usize> {
    let mut entries = 0;
    for path in inputs {
        let size = fs::metadata(path).with_context(|| format!("cannot read {}", path.shown()))?;
        // Bytes per entry. Formats of variable size have low estimates, so that buckets are small enough.
        entries += size.len()
            / match FileFormat::of(path)? {
                FileFormat { compression: Compression::Gzip | Compression::Zstd, .. } => 2,
                FileFormat { format, .. } => match format {
                    Format::Bin => 40,
                    Format::Bulletformat => 32,
                    Format::Binpack => 2,
                    Format::Plain => 80,
                    Format::Tree | Format::Viriformat => 4,
                    Format::BulletText | Format::Epd => 20,
                    Format::Pgn => 5,
                },
            };
    }
    let half = u64::from(memory_mib) << 19;
    Ok((entries.saturating_mul(bytes_each) / half + 1).min(MAX_BUCKETS) as usize)
}

#[cfg(test)]
mod buckets_tests {
    use super::*;

    #[test]
    fn buckets_are_anonymous_and_return_their_content() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut buckets = Buckets::new(&folder.path().join("out.bin"), 3).expect("a writable folder");
        for (index, bytes) in [(0, b"ab"), (2, b"cd"), (0, b"ef")] {
            buckets.put(index, bytes).expect("a writable folder");
        }
        // Unix removes the names at once, Windows when the files are closed.
        if cfg!(unix) {
            let names = fs::read_dir(folder.path()).expect("the folder").count();
            assert_eq!(names, 0);
        }
        let taken: Vec<_> = (0..3).map(|index| buckets.take(index).expect("a full bucket")).collect();
        assert_eq!(taken, [b"abef".to_vec(), vec![], b"cd".to_vec()]);
        assert!(buckets.take(0).is_err());
        drop(buckets);
        assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 0);
    }
}
