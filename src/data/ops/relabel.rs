//! `zoothera data relabel IN... OUT`: labels existing positions with other networks.
//!
//! Relabelling the positions of an old teacher with a better one costs a small part of the time for new games.

use std::ops::Range;
use std::path::Path;

use anyhow::Result;

use super::output::OutputFile;
use super::{Paths, for_each};
use crate::data::entry::{Entry, NO_SCORE};
use crate::data::label::{Judge, LabelNet, Labeller};
use crate::data::network_board::board_of_entry;
use crate::data::reader::Place;
use crate::data::tree::{PackedMove, Root, SamplePath};
use crate::nnue::Board;
use crate::util::identity::check_distinct;
use crate::util::text::Shown as _;
use crate::util::{cores, threads};

/// Number of positions per batch.
const BATCH: usize = 1 << 16;
/// Largest |score| written; larger numbers such as [`NO_SCORE`] have special meanings.
const MAX_SCORE: i32 = 30_000;

/// Arguments of `data relabel`.
#[derive(clap::Args, Clone, Debug)]
pub struct RelabelArgs {
    /// Inputs and output.
    #[command(flatten)]
    pub paths: Paths,
    /// Network that labels, and a factor for its values; repeat it for the mean of several networks
    #[arg(long, value_name = "FILE[@FACTOR]", required = true)]
    pub label: Vec<LabelNet>,
    /// Threads; all cores if absent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
}

/// Writes all positions, labelled with the mean value by the `judges`. Moves, results, and entries without a score are
/// unchanged.
///
/// # Errors
/// Fails if a file cannot be read or written or is damaged, and if a position does not have exactly one king on each
/// side. The error names the file.
pub fn run(args: &RelabelArgs, judges: &[Judge]) -> Result<()> {
    let (inputs, out) = args.paths.split()?;
    let nets: Vec<&Path> = args.label.iter().map(LabelNet::file).collect();
    check_distinct(&[out], &nets)?;
    let mut output = OutputFile::create(out, args.paths.force)?;
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
    eprintln!("{count} positions in {}", out.shown());
    Ok(())
}

/// Batch of entries with their boards and places.
#[derive(Default)]
struct Batch {
    entries: Vec<Entry>,
    boards: Vec<Board>,
    places: Vec<Option<OwnPlace>>,
    /// Concatenated paths of all places.
    paths: Vec<PackedMove>,
}

/// Owned form of a [`Place`]; its path is a range of `Batch::paths`.
struct OwnPlace {
    block: u64,
    root: Root,
    path: Range<usize>,
}

impl Batch {
    fn push(&mut self, entry: &Entry, place: Option<Place>) -> Result<()> {
        self.boards.push(board_of_entry(entry)?);
        self.entries.push(*entry);
        self.places.push(place.map(|Place { block, sample_path }| {
            let first = self.paths.len();
            self.paths.extend_from_slice(sample_path.path);
            OwnPlace { block, root: *sample_path.root, path: first..self.paths.len() }
        }));
        Ok(())
    }

    /// Labels the entries. Each labeller gets a contiguous share and runs on its own thread.
    fn label(&mut self, labellers: &mut [Labeller]) {
        let share = self.entries.len().div_ceil(labellers.len().max(1)).max(1);
        let shares = self.entries.chunks_mut(share);
        let shares = shares.zip(self.boards.chunks(share));
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

    /// Writes the entries and clears the batch.
    fn write(&mut self, output: &mut OutputFile) -> Result<()> {
        for (entry, place) in self.entries.iter().zip(&self.places) {
            let place = place.as_ref().map(|place| Place {
                block: place.block,
                sample_path: SamplePath { root: &place.root, path: &self.paths[place.path.clone()] },
            });
            output.write_placed(entry, place)?;
        }
        self.entries.clear();
        self.boards.clear();
        self.places.clear();
        self.paths.clear();
        Ok(())
    }
}

/// Labels a share of the entries, except those without a score.
fn label_all(labeller: &mut Labeller, (entries, boards): (&mut [Entry], &[Board])) {
    for (entry, value) in entries.iter_mut().zip(labeller.label(boards.iter())) {
        if entry.score != NO_SCORE {
            entry.score = value.clamp(-MAX_SCORE, MAX_SCORE) as i16;
        }
    }
}
