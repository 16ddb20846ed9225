//! `zoothera data relabel IN... OUT`: labels existing positions with other networks.
//!
//! Relabelling the positions of an old teacher with a better one costs a small part of the time for new games.

use std::ops::Range;
use std::path::Path;

use anyhow::Result;

use super::{OutputFile, Paths, for_each};
use crate::data::entry::{Entry, NO_SCORE, board_of_entry};
use crate::data::label::{CardLabeller, LabelNet, Labeller, Labelling, PendingLabels, label_in_parallel};
use crate::data::tree::{PackedMove, Place, Root, SamplePath};
use crate::gpu::Device;
use crate::nnue::Board;
use crate::util::files::check_distinct;
use crate::util::text::Shown as _;
use crate::util::{cores, sync};

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
    /// Device that labels
    #[arg(long, value_name = "cpu|gpu|auto[:NAME]", default_value = "cpu")]
    pub device: Device,
    /// Threads that label on the processor; all cores if absent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
}

/// Writes all positions with new labels. Moves, results, and entries without a score are unchanged.
///
/// # Errors
/// Fails if a file cannot be read or written or is damaged, if a position does not have exactly one king on each side,
/// and if a card labels and is lost. The error names the file.
pub fn run(args: &RelabelArgs, labelling: &Labelling) -> Result<()> {
    let (inputs, out) = args.paths.split()?;
    let nets: Vec<&Path> = args.label.iter().map(LabelNet::file).collect();
    check_distinct(&[out], &nets)?;
    let mut output = OutputFile::create(out, args.paths.force)?;
    let mut labellers = Labellers::new(args, labelling);
    let mut batch = Batch::default();
    // A card labels a batch while the next one is read.
    let mut before: Option<LabelledBatch> = None;
    for_each(inputs, args.paths.input, "relabel", |entry, place| {
        batch.push(entry, place)?;
        if batch.entries.len() == BATCH {
            let labelled = labellers.label(std::mem::take(&mut batch))?;
            before.replace(labelled).map_or(Ok(()), |before| before.write(&mut output))?;
        }
        Ok(())
    })?;
    let last = labellers.label(batch)?;
    before.map_or(Ok(()), |before| before.write(&mut output))?;
    last.write(&mut output)?;
    let count = output.finish()?;
    eprintln!("{count} positions in {}", out.shown());
    Ok(())
}

/// The labellers of all threads, or the card.
enum Labellers<'a> {
    Processor(Vec<Labeller>),
    Card(&'a CardLabeller),
}

impl<'a> Labellers<'a> {
    fn new(args: &RelabelArgs, labelling: &'a Labelling) -> Self {
        if let Some(card) = labelling.card() {
            return Self::Card(card);
        }
        let threads = match args.threads {
            _ if !sync::THREADS_EXIST => 1,
            Some(threads) => threads.into(),
            None => cores(),
        };
        Self::Processor((0..threads).filter_map(|_| Labeller::new(labelling.judges())).collect())
    }

    /// Labels a batch, or starts to.
    fn label(&mut self, batch: Batch) -> Result<LabelledBatch> {
        let labels = match self {
            Self::Processor(labellers) => Labels::Ready(label_in_parallel(labellers, &batch.boards)),
            Self::Card(card) => {
                Labels::Pending(card.label(batch.entries.iter().map(Entry::packed_position).collect())?)
            }
        };
        Ok(LabelledBatch { batch, labels })
    }
}

/// A batch and its labels.
struct LabelledBatch {
    batch: Batch,
    labels: Labels,
}

/// Labels of a batch.
enum Labels {
    Ready(Vec<i32>),
    /// The card has not computed them.
    Pending(PendingLabels),
}

impl LabelledBatch {
    /// Writes the entries with their labels, except to entries without a score.
    fn write(mut self, output: &mut OutputFile) -> Result<()> {
        let labels = match self.labels {
            Labels::Ready(labels) => labels,
            Labels::Pending(labels) => labels.wait()?,
        };
        for (entry, label) in self.batch.entries.iter_mut().zip(labels) {
            if entry.score != NO_SCORE {
                entry.score = label.clamp(-MAX_SCORE, MAX_SCORE) as i16;
            }
        }
        self.batch.write(output)
    }
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

    /// Writes the entries.
    fn write(&self, output: &mut OutputFile) -> Result<()> {
        for (entry, place) in self.entries.iter().zip(&self.places) {
            let place = place.as_ref().map(|place| Place {
                block: place.block,
                sample_path: SamplePath { root: &place.root, path: &self.paths[place.path.clone()] },
            });
            output.write_placed(entry, place)?;
        }
        Ok(())
    }
}
