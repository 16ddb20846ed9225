//! Training samples: records from the stream of `src/data/stream` in batches, and the active features of a record
//! ([`active`]).

pub(super) mod active;

use std::panic::{AssertUnwindSafe, catch_unwind};

use anyhow::{Result, anyhow};
use crossbeam::channel::{Receiver, Sender, bounded};

use crate::data::Record;
use crate::data::stream::{Bookmark, Stream};
use crate::util::rng::SplitMix64;
use crate::util::sync;

/// A position in a batch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sample {
    /// The position.
    pub record: Record,
    /// Whether the left-to-right mirror image is used.
    pub mirrored: bool,
}

impl Sample {
    /// Returns a sample that is not mirrored.
    pub fn plain(record: Record) -> Self {
        Self { record, mirrored: false }
    }
}

// Batches from the stream, filled by a background thread during the steps.

/// Capacity of the queue of batches: one for the next step, and one in case a chunk of a file takes longer.
const QUEUED: usize = 2;

/// A batch of a run. Positions without castling rights are mirrored at random.
pub struct Batch {
    /// The positions.
    pub samples: Vec<Sample>,
    /// Position in the stream after the samples.
    pub bookmark: Bookmark,
}

/// Endless sequence of a run's batches.
pub struct Batches(Filling);

enum Filling {
    /// Batches filled by a background thread.
    Background(Receiver<Result<Batch>>),
    /// Batches filled by the calling thread, on platforms without threads.
    Foreground(Box<Filler>),
}

impl Batches {
    /// Starts batches of `size` positions at the current position of `stream`. The first position has number `first` in
    /// the run. `seed` determines the random mirroring.
    pub fn new(stream: Stream, size: usize, seed: u64, first: u64) -> Self {
        let filler = Box::new(Filler { stream, records: Vec::new(), size, seed, first });
        if !sync::THREADS_EXIST {
            return Self(Filling::Foreground(filler));
        }
        let (sender, receiver) = bounded(QUEUED);
        let thread = std::thread::Builder::new().name("batches".to_owned());
        // If the thread cannot start, its sender is dropped, and `next` reports the error.
        let _ = thread.spawn(move || serve(*filler, &sender));
        Self(Filling::Background(receiver))
    }

    /// Returns the next batch.
    ///
    /// # Errors
    /// Fails if a file can no longer be read or is damaged. All later calls fail too.
    pub fn next(&mut self) -> Result<Batch> {
        match &mut self.0 {
            Filling::Foreground(filler) => filler.next(),
            Filling::Background(receiver) => {
                receiver.recv().unwrap_or_else(|_| Err(anyhow!("the thread that reads the files is not running")))
            }
        }
    }
}

/// Fills batches until the receiver is dropped or filling fails.
fn serve(mut filler: Filler, sender: &Sender<Result<Batch>>) {
    loop {
        let batch = catch_unwind(AssertUnwindSafe(|| filler.next()));
        let batch = batch.unwrap_or_else(|_| Err(anyhow!("filling a batch failed; this is a bug, please report it")));
        let ended = batch.is_err();
        if sender.send(batch).is_err() || ended {
            return;
        }
    }
}

/// Fills batches from the stream.
struct Filler {
    stream: Stream,
    records: Vec<Record>,
    size: usize,
    seed: u64,
    /// Number of the next position.
    first: u64,
}

impl Filler {
    fn next(&mut self) -> Result<Batch> {
        self.stream.next(self.size, &mut self.records)?;
        let numbered = (self.first..).zip(&self.records);
        let samples = numbered
            .map(|(number, &record)| Sample { record, mirrored: !record.can_castle() && flip(self.seed, number) });
        let batch = Batch { samples: samples.collect(), bookmark: self.stream.bookmark() };
        self.first += self.size as u64;
        Ok(batch)
    }
}

/// Random bit that depends only on the seed and the number.
#[inline]
fn flip(seed: u64, number: u64) -> bool {
    let mut rng = SplitMix64::new(seed ^ number.wrapping_mul(0xA076_1D64_78BD_642F));
    rng.next_u64() >> 63 == 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Position;
    use crate::data::reader::{EntryWriter, Format};
    use crate::data::stream::{self, Options};
    use crate::data::{Entry, Filter};
    use shakmaty::CastlingMode;
    use std::path::PathBuf;

    /// Writes a file of 1000 positions with distinct plies. Castling is possible in every second one.
    fn file(folder: &tempfile::TempDir) -> PathBuf {
        let path = folder.path().join("a.bin");
        let mut writer = EntryWriter::new(Format::Bin, Vec::new()).expect("a writer");
        for ply in 0..1000 {
            let mut position = Position::startpos();
            if ply % 2 == 1 {
                let fen = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1";
                position = Position::from_fen(fen, CastlingMode::Standard).expect(fen);
            }
            let mut entry = Entry::of(&position);
            entry.ply = ply;
            writer.write(&entry).expect("an entry");
        }
        let bytes = writer.finish().expect("a vector");
        std::fs::write(&path, bytes).expect("the file is written");
        path
    }

    fn options(path: PathBuf) -> Options {
        Options {
            sources: vec![stream::Source { path, sampled: false }],
            filter: Filter { quiet: false, ..Filter::default() },
            thin_beyond: u16::MAX,
            holdout: 0.0,
            holdout_limit: 0,
            seed: 3,
            memory: 100 << 20,
            threads: 1,
        }
    }

    #[test]
    fn stream_resumes_at_bookmark_with_same_order_and_mirroring() {
        let folder = tempfile::tempdir().expect("a folder");
        let options = options(file(&folder));
        let stream = Stream::open(&options).expect("a valid file");
        let mut whole = Batches::new(stream, 300, 3, 0);
        let batches: Vec<Batch> = (0..9).map(|_| whole.next().expect("a batch")).collect();
        for (at, batch) in batches.iter().enumerate().take(8) {
            let stream = Stream::open_at(&options, &batch.bookmark).expect("the same file");
            let first = 300 * (at as u64 + 1);
            let mut rest = Batches::new(stream, 300, 3, first);
            let next = rest.next().expect("a batch");
            assert!(next.samples == batches[at + 1].samples, "{at}");
            assert_eq!(next.bookmark, batches[at + 1].bookmark);
        }
    }

    #[test]
    fn only_positions_without_castling_rights_are_mirrored() {
        let folder = tempfile::tempdir().expect("a folder");
        let stream = Stream::open(&options(file(&folder))).expect("a valid file");
        let batch = Batches::new(stream, 1000, 3, 0).next().expect("a batch");
        let castling = |sample: &&Sample| sample.record.can_castle();
        assert_eq!(batch.samples.iter().filter(castling).count(), 500);
        let mirrored = |sample: &&Sample| sample.mirrored;
        assert!(batch.samples.iter().filter(castling).all(|s| !s.mirrored));
        let count = batch.samples.iter().filter(mirrored).count();
        assert!((200..300).contains(&count), "{count}");
    }

    #[test]
    fn removed_file_ends_batches_with_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = file(&folder);
        let mut bytes = std::fs::read(&path).expect("the file");
        // More positions than the smallest window of 65,536.
        bytes = bytes.repeat(100);
        std::fs::write(&path, &bytes).expect("the file is written");
        let mut options = options(path.clone());
        options.memory = (96 << 20) + (1 << 16) * 32;
        let stream = Stream::open(&options).expect("a valid file");
        assert!(!stream.is_resident());
        std::fs::remove_file(&path).expect("the file exists");
        let mut batches = Batches::new(stream, 50_000, 3, 0);
        let error = (0..9).find_map(|_| batches.next().err());
        let error = format!("{:#}", error.expect("an error after the removal"));
        assert!(error.contains("a.bin"), "{error}");
        assert!(batches.next().is_err());
    }
}
