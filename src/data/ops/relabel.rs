//! `zoothera data relabel IN... OUT`: the same positions, worth what other nets say of them.
//!
//! Positions outlive their teachers: many games of an old one, judged by a better one, cost a small part of new games.

use std::ops::Range;
use std::path::Path;

use anyhow::Result;

use super::output::OutputFile;
use super::{Paths, for_each};
use crate::data::entry::{Entry, NO_SCORE};
use crate::data::label::{Judge, LabelNet, Labeller};
use crate::data::pieces::Pieces;
use crate::data::reader::Place;
use crate::data::tree::{PackedMove, Root, SamplePath};
use crate::util::identity::check_distinct;
use crate::util::{cores, threads};

/// Positions that are labelled at once.
const BATCH: usize = 1 << 16;
/// The largest |value| that is written: far from the numbers that mean something else.
const MOST: i32 = 30_000;

/// Arguments of `data relabel`.
#[derive(clap::Args, Clone, Debug)]
pub struct RelabelArgs {
    /// The files.
    #[command(flatten)]
    pub paths: Paths,
    /// Network that labels, its values times the factor; of several the mean counts
    #[arg(long, value_name = "FILE[@FACTOR]", required = true)]
    pub label: Vec<LabelNet>,
    /// Threads; all cores if absent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
}

/// Writes all positions with the mean value that the `judges` give them, in engine units for the side to move. Moves,
/// results, and entries without a score stay as they are.
///
/// # Errors
/// When a file is at fault, or a position has not one king on each side; the error names it.
pub fn run(args: &RelabelArgs, judges: &[Judge]) -> Result<()> {
    let (inputs, out) = args.paths.split()?;
    let nets: Vec<&Path> = args.label.iter().map(LabelNet::file).collect();
    check_distinct(&[out], &nets)?;
    let mut output = OutputFile::create(out)?;
    let threads = match args.threads {
        _ if !threads::EXIST => 1,
        Some(threads) => threads.into(),
        None => cores(),
    };
    let mut labellers: Vec<_> = (0..threads).filter_map(|_| Labeller::new(judges)).collect();
    let mut batch = Batch::default();
    for_each(inputs, "relabel", |entry, place| {
        batch.push(entry, place)?;
        if batch.entries.len() == BATCH {
            batch.label(&mut labellers);
            batch.write(&mut output)?;
        }
        Ok(())
    })?;
    batch.label(&mut labellers);
    batch.write(&mut output)?;
    let count = output.finish()?;
    eprintln!("{count} positions in {}", out.display());
    Ok(())
}

/// Entries with their pieces, and where they were read.
#[derive(Default)]
struct Batch {
    entries: Vec<Entry>,
    pieces: Vec<Pieces>,
    places: Vec<Option<OwnPlace>>,
    /// The paths of all places, one after the other.
    paths: Vec<PackedMove>,
}

/// A [`Place`] whose path lies in the batch.
struct OwnPlace {
    block: u64,
    root: Root,
    path: Range<usize>,
}

impl Batch {
    fn push(&mut self, entry: &Entry, place: Option<Place>) -> Result<()> {
        self.pieces.push(Pieces::of_entry(entry)?);
        self.entries.push(*entry);
        self.places.push(place.map(|Place { block, sample_path }| {
            let first = self.paths.len();
            self.paths.extend_from_slice(sample_path.path);
            OwnPlace {
                block,
                root: *sample_path.root,
                path: first..self.paths.len(),
            }
        }));
        Ok(())
    }

    /// Asks the labellers, each in a thread of its own if they are several, for neighbouring entries.
    fn label(&mut self, labellers: &mut [Labeller]) {
        let share = self.entries.len().div_ceil(labellers.len().max(1)).max(1);
        let shares = self.entries.chunks_mut(share);
        let shares = shares.zip(self.pieces.chunks(share));
        let mut work = labellers.iter_mut().zip(shares);
        if !threads::EXIST {
            work.for_each(|(labeller, share)| label_all(labeller, share));
            return;
        }
        let first = work.next();
        std::thread::scope(|scope| {
            work.for_each(|(labeller, share)| {
                scope.spawn(|| label_all(labeller, share));
            });
            if let Some((labeller, share)) = first {
                label_all(labeller, share);
            }
        });
    }

    /// Writes the entries and forgets them.
    fn write(&mut self, output: &mut OutputFile) -> Result<()> {
        for (entry, place) in self.entries.iter().zip(&self.places) {
            let place = place.as_ref().map(|place| Place {
                block: place.block,
                sample_path: SamplePath {
                    root: &place.root,
                    path: &self.paths[place.path.clone()],
                },
            });
            output.write_placed(entry, place)?;
        }
        self.entries.clear();
        self.pieces.clear();
        self.places.clear();
        self.paths.clear();
        Ok(())
    }
}

fn label_all(labeller: &mut Labeller, (entries, pieces): (&mut [Entry], &[Pieces])) {
    for (entry, value) in entries.iter_mut().zip(labeller.label(pieces.iter())) {
        if entry.score != NO_SCORE {
            entry.score = value.clamp(-MOST, MOST) as i16;
        }
    }
}
