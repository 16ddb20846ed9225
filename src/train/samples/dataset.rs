//! The positions of a run, in memory: 32 bytes each, in the parts that the files gave, never copied.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Result, bail};
use rayon::prelude::*;

use super::epoch_order::EpochOrder;
use super::{Sample, SampleSource};
use crate::data::{Filter, Record, read_records};
use crate::util::prefetch::prefetch;
use crate::util::rng::SplitMix64;

/// A file to load.
#[derive(Clone, Debug)]
pub struct PositionFile {
    /// Where it is.
    pub path: PathBuf,
    /// Whether its positions were met inside searches, so that their scores alone are labels, whatever the position.
    pub sampled: bool,
}

impl PositionFile {
    fn read(&self, filter: &Filter) -> Result<Vec<Record>> {
        if !self.sampled {
            return read_records(&self.path, filter);
        }
        let any = Filter {
            quiet: false,
            ..*filter
        };
        let mut records = read_records(&self.path, &any)?;
        records.iter_mut().for_each(Record::trust_score_alone);
        Ok(records)
    }
}

/// What to load, and what of it.
#[derive(Clone, Debug)]
pub struct Selection {
    /// What a position must be.
    pub filter: Filter,
    /// Learn from one in two positions beyond this |score|.
    pub thin_beyond: u16,
    /// Share of every file, at its end, that is held out.
    pub holdout: f64,
    /// Most positions held out in all.
    pub holdout_limit: usize,
    /// Seed of what is random.
    pub seed: u64,
}

/// Positions to learn from or to measure on.
#[derive(Default)]
pub struct Dataset {
    parts: Vec<Vec<Record>>,
    /// Where each part begins, and the end.
    starts: Vec<u64>,
}

impl Dataset {
    /// Takes the parts as they are.
    pub fn new(parts: Vec<Vec<Record>>) -> Self {
        let mut starts = vec![0];
        for part in &parts {
            starts.push(starts[starts.len() - 1] + part.len() as u64);
        }
        Self { parts, starts }
    }

    /// How many positions there are.
    pub fn len(&self) -> u64 {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The position of that number, which must be below the length.
    #[inline]
    pub fn get(&self, number: u64) -> &Record {
        let part = self.starts.partition_point(|&start| start <= number) - 1;
        &self.parts[part][(number - self.starts[part]) as usize]
    }

    /// Every position.
    pub fn records(&self) -> impl Iterator<Item = &Record> {
        self.parts.iter().flatten()
    }
}

/// A batch of a run: its presentations from number `first` of the run on, epoch after epoch in random order, positions
/// without castling rights mirrored by a coin.
#[derive(Clone, Copy)]
pub struct Batch<'a> {
    /// The positions.
    pub data: &'a Dataset,
    /// Seed of the orders and the coins.
    pub seed: u64,
    /// Number of the first presentation.
    pub first: u64,
}

impl SampleSource for Batch<'_> {
    fn fill(&self, first: usize, count: usize, out: &mut Vec<Sample>) {
        /// Records prefetched ahead of their use: each is somewhere else in memory.
        const AHEAD: usize = 8;
        let first = self.first + first as u64;
        let mut order = Epochs::new(self.data.len(), self.seed);
        let mut coming = [0; AHEAD];
        out.clear();
        for step in 0..count + AHEAD {
            if let Some(ready) = step.checked_sub(AHEAD) {
                let record = *self.data.get(coming[step % AHEAD]);
                let coin = flip(self.seed, first + ready as u64);
                let mirrored = coin && !record.can_castle();
                out.push(Sample { record, mirrored });
            }
            if step < count {
                let number = order.at(first + step as u64);
                prefetch(self.data.get(number));
                coming[step % AHEAD] = number;
            }
        }
    }
}

/// A coin that depends on nothing but its number.
#[inline]
fn flip(seed: u64, number: u64) -> bool {
    let mut rng = SplitMix64::new(seed ^ number.wrapping_mul(0xA076_1D64_78BD_642F));
    rng.next_u64() >> 63 == 1
}

/// One epoch's order after the other.
struct Epochs {
    len: u64,
    seed: u64,
    epoch: u64,
    order: EpochOrder,
}

impl Epochs {
    fn new(len: u64, seed: u64) -> Self {
        let order = EpochOrder::new(len, seed, 0);
        Self {
            len,
            seed,
            epoch: 0,
            order,
        }
    }

    /// The position that presentation `number` of the run shows.
    #[inline]
    fn at(&mut self, number: u64) -> u64 {
        let epoch = number / self.len;
        if epoch != self.epoch {
            self.epoch = epoch;
            self.order = EpochOrder::new(self.len, self.seed, epoch);
        }
        self.order.at(number % self.len)
    }
}

/// Reads the files, several at a time, in the current thread pool: the positions to learn from, and those held out.
pub fn load(sources: &[PositionFile], selection: &Selection) -> Result<(Dataset, Dataset)> {
    let started = Instant::now();
    let mut parts: Vec<Vec<Record>> = sources
        .par_iter()
        .map(|source| {
            let records = source.read(&selection.filter)?;
            let seconds = started.elapsed().as_secs_f64();
            eprintln!(
                "{seconds:6.1} s  {}: {} positions",
                source.path.display(),
                records.len()
            );
            Ok(records)
        })
        .collect::<Result<_>>()?;
    let total: usize = parts.iter().map(Vec::len).sum();
    let limit = selection.holdout_limit as f64 / total.max(1) as f64;
    let share = selection.holdout.clamp(0.0, 1.0).min(limit);
    let held_out = parts.iter_mut().map(|part| {
        let kept = part.len() - (part.len() as f64 * share) as usize;
        part.split_off(kept)
    });
    let held_out = Dataset::new(held_out.collect());
    for (number, part) in parts.iter_mut().enumerate() {
        thin(part, selection, number as u64);
    }
    let training = Dataset::new(parts);
    if training.is_empty() {
        bail!("no position is left to learn from");
    }
    Ok((training, held_out))
}

/// Drops every second position beyond the limit, at random, in place.
fn thin(part: &mut Vec<Record>, selection: &Selection, number: u64) {
    let mut rng = SplitMix64::new(selection.seed ^ number);
    part.retain(|record| {
        record.score.unsigned_abs() <= selection.thin_beyond || rng.next_u64() >> 63 == 0
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::record::PackedPiece;

    /// Two parts of positions that are told apart by their ply.
    fn dataset() -> Dataset {
        let part = |plies: std::ops::Range<u16>| {
            plies
                .map(|ply| {
                    let mut record =
                        Record::pack(std::iter::empty::<PackedPiece>(), false, ply % 2 == 0);
                    record.ply = ply;
                    record
                })
                .collect()
        };
        Dataset::new(vec![part(0..70), Vec::new(), part(70..100)])
    }

    fn samples(first: u64, count: usize) -> Vec<Sample> {
        let data = dataset();
        let batch = Batch {
            data: &data,
            seed: 3,
            first,
        };
        let mut samples = Vec::new();
        batch.fill(0, count, &mut samples);
        samples
    }

    fn plies(first: u64, count: usize) -> Vec<u16> {
        samples(first, count)
            .iter()
            .map(|sample| sample.record.ply)
            .collect()
    }

    #[test]
    fn an_epoch_shows_every_position_once() {
        for epoch in 0..2 {
            let mut shown = plies(100 * epoch, 100);
            assert!(!shown.is_sorted());
            shown.sort_unstable();
            assert!(shown.into_iter().eq(0..100));
        }
    }

    #[test]
    fn a_run_may_be_entered_anywhere() {
        let whole = plies(0, 250);
        assert_eq!(whole[90..130], plies(90, 40));
        assert_ne!(whole[..100], whole[100..200]);
    }

    #[test]
    fn only_positions_without_castling_rights_are_mirrored() {
        let samples = samples(0, 100);
        assert!(
            samples
                .iter()
                .all(|sample| !(sample.mirrored && sample.record.can_castle()))
        );
        let mirrored = samples.iter().filter(|sample| sample.mirrored).count();
        assert!((10..40).contains(&mirrored), "{mirrored}");
    }
}
