//! Copies of files. `zoothera data filter IN... OUT` keeps the positions that pass the filters, among them choices at
//! random; `convert` and `split` copy without a filter; `dedupe` keeps the first of equal positions, in the order of
//! the files; and `shuffle` copies in random order.

use std::fs::{self, File};
use std::io::{BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context, Error, Result, ensure};

use super::{InputArgs, OutputFile, Paths, for_each};
use crate::board::{CastlingMode, Position};
use crate::data::bin::{self, RECORD_BYTES};
use crate::data::entry::{Entry, Filter, FilterArgs, UNITS_PER_CENTIPAWN, remainder};
use crate::data::format::{Compression, FileFormat, Format};
use crate::data::plain::fen;
use crate::data::reader::{Enough, check_holds_unrelated};
use crate::util::files::check_distinct;
use crate::util::quantity::{parse_count, parse_count_or_zero, parse_share};
use crate::util::rng::{SplitMix64, scaled};
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
    /// Keep this share of the positions in which a capture or a promotion wins material, at random; 1 keeps all
    #[arg(long, value_name = "SHARE", default_value_t = 1.0, value_parser = parse_share)]
    pub noisy: f64,
    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
}

impl ChooseArgs {
    /// Whether the filters keep an entry, except for the shares of piece counts.
    fn keeps(&self, filter: &Filter, entry: &Entry, rng: &mut SplitMix64) -> bool {
        let extreme = entry.score.unsigned_abs() > self.thin_beyond;
        let thinned = extreme && rng.below(self.thin as usize) != 0;
        let fits_result =
            |rng: &mut SplitMix64| !self.by_result || entry.score_alone || rng.unit() < result_chance(entry);
        !thinned && filter.keeps(entry) && fits_result(rng) && self.keeps_noisy(entry, rng)
    }

    /// Whether the filter by exchanges keeps an entry. An entry that is no legal position wins nothing.
    fn keeps_noisy(&self, entry: &Entry, rng: &mut SplitMix64) -> bool {
        let wins = || {
            let position = Position::from_fen(&fen(entry), CastlingMode::Chess960);
            position.is_ok_and(|position| position.can_win_material())
        };
        self.noisy >= 1.0 || !wins() || rng.unit() < self.noisy
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
pub fn filter(args: &ChooseArgs) -> Result<()> {
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

// Choice of positions at random: by the agreement of result and score, and by target shares of piece counts.

/// Probability that a game with this score has the result of the entry: wins by a logistic function that is one half at
/// one pawn, losses by its mirror image.
// CITE: skipping with this probability: nnue-pytorch ("wld filtered").
pub fn result_chance(entry: &Entry) -> f64 {
    /// The value with which half of the games are won, in engine units.
    const PAWN: f64 = 100.0 * UNITS_PER_CENTIPAWN;
    /// Spread of the function in engine units.
    // MEASURED: that of the engine's own games at medium material (docs/experiments.md).
    const SPREAD: f64 = 81.0;
    let chance = |score: f64| 1.0 / (1.0 + ((PAWN - score) / SPREAD).exp());
    let (win, loss) = (chance(entry.score.into()), chance(-f64::from(entry.score)));
    match entry.result.signum() {
        1 => win,
        -1 => loss,
        _ => 1.0 - win - loss,
    }
}

/// Target shares of classes of piece counts, such as `8:1,16:2,32:1`: of four positions, one has up to 8 pieces, two
/// have 9 to 16, and one has 17 to 32.
#[derive(Clone, Debug, PartialEq)]
pub struct PieceShares(Vec<(u32, f64)>);

impl FromStr for PieceShares {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let class = |part: &str| {
            let (pieces, share) = part.split_once(':')?;
            let share = share.trim().parse().ok().filter(|share: &f64| share.is_finite() && *share >= 0.0)?;
            Some((pieces.trim().parse().ok().filter(|pieces| (2..=32).contains(pieces))?, share))
        };
        let classes: Option<Vec<(u32, f64)>> = text.split(',').map(class).collect();
        let expected = || format!("'{text}' is not a list of piece counts with shares, such as 8:1,16:2,32:1");
        let classes = classes.with_context(expected)?;
        let ascending = classes.windows(2).all(|pair| pair[0].0 < pair[1].0);
        ensure!(ascending && classes.last().is_some_and(|class| class.0 == 32), "{}: ascending, up to 32", expected());
        ensure!(classes.iter().any(|class| class.1 > 0.0), "{}: with a share above 0", expected());
        Ok(Self(classes))
    }
}

impl PieceShares {
    /// Number of classes.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The class of a piece count.
    pub fn class(&self, pieces: u32) -> usize {
        self.0.iter().position(|class| pieces <= class.0).unwrap_or(self.0.len() - 1)
    }

    /// Probabilities of keeping a position of each class, as large as possible, for `counts` positions in the classes.
    ///
    /// # Errors
    /// Fails if a class with a share has no position.
    pub fn chances(&self, counts: &[u64]) -> Result<Vec<f64>> {
        let mut lowest = 2;
        let mut ratios = Vec::new();
        for (&(pieces, share), &count) in self.0.iter().zip(counts) {
            ensure!(
                share == 0.0 || count > 0,
                "no position with {lowest} to {pieces} pieces passes the other filters, but their share is {share}"
            );
            ratios.push(if share > 0.0 { share / count as f64 } else { 0.0 });
            lowest = pieces + 1;
        }
        let largest = ratios.iter().copied().fold(0.0, f64::max);
        Ok(ratios.into_iter().map(|ratio| ratio / largest).collect())
    }
}

// `zoothera data convert IN... OUT`: converts files to another format, or merges several files.

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
pub fn convert(args: &ConvertArgs) -> Result<()> {
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

// `zoothera data split IN... --into A.bin=98 --into B.bin=2`: random split by whole games, for example into
// training and validation data.

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
pub fn split(args: &SplitArgs) -> Result<()> {
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

// Dedupe and shuffle.
//
// Positions are equal if their 64-bit keys are equal: pieces, side to move, castling rights and en passant square. Two
// different positions among a billion share a key about once in 40 files.
//
// The first pass writes each key and the position's index into a bucket, chosen by the high bits of the key. Each
// bucket is sorted in memory, so that duplicates become adjacent. The second pass skips the duplicates. Memory use is
// one bucket and one bit per position.

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
mod shares_tests {
    use super::*;
    use crate::board::Position;

    #[test]
    fn chances_of_the_three_results_add_up_and_follow_the_score() {
        let chance = |score, result| result_chance(&Entry { score, result, ..Entry::of(&Position::startpos()) });
        for score in [-3000, -150, 0, 200, 1000] {
            let sum: f64 = [-1, 0, 1].iter().map(|&result| chance(score, result)).sum();
            assert!((sum - 1.0).abs() < 1e-9, "{score}");
        }
        assert!((chance(200, 1) - 0.5).abs() < 1e-9 && (chance(-200, -1) - 0.5).abs() < 1e-9);
        assert!(chance(3000, 1) > 0.999 && chance(3000, -1) < 1e-6);
    }

    #[test]
    fn shares_give_the_largest_possible_chances() {
        let shares: PieceShares = "8:1,16:2,32:1".parse().expect("three classes");
        assert_eq!([2, 8, 9, 16, 17, 32].map(|pieces| shares.class(pieces)), [0, 0, 1, 1, 2, 2]);
        // Of 100, 400 and 1000 positions, 100, 200 and 100 remain.
        assert_eq!(shares.chances(&[100, 400, 1000]).expect("positions in each class"), [1.0, 0.5, 0.1]);
        let error = shares.chances(&[100, 0, 1000]).expect_err("an empty class").to_string();
        assert!(error.contains("9 to 16 pieces"), "{error}");
        for text in ["", "8", "8:1", "16:1,8:1,32:1", "8:-1,32:1", "8:0,32:0", "1:1,32:1", "8:1,32:x"] {
            assert!(text.parse::<PieceShares>().is_err(), "{text}");
        }
    }
}

#[cfg(test)]
mod split_tests {
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
