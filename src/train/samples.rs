//! Training samples: records from the stream of `src/data/stream.rs` in batches, and the active features of a record.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

use anyhow::{Result, anyhow};
use crossbeam::channel::{Receiver, Sender, bounded};
use shakmaty::{Color, Square};

use crate::data::Record;
use crate::data::entry::mirrored_board;
use crate::data::stream::{Bookmark, Stream};
use crate::nnue::features::View;
use crate::nnue::features::attack_inputs::{AttackInputs, AttackView};
use crate::nnue::{Architecture, Features};
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

// Active features of both perspectives of a board.
//
// As in a file, rows are ordered by the king's bucket first and *piece row* second (`row = piece_rows * king +
// piece_row`), and those of attack inputs follow. Rows that are never active are left out.

/// The role of a king in a record.
const KING: u8 = 5;

/// The active features of a position, for the side to move and for the other side.
#[derive(Clone, Copy, Debug)]
pub struct Active<'a> {
    /// The rows of both perspectives: those of pieces, then those of attack inputs. A row can occur several times.
    sides: [&'a [u16]; 2],
    /// Number of rows of pieces in each perspective.
    pieces: usize,
}

impl<'a> Active<'a> {
    /// Returns the rows of a perspective (0 the side to move, 1 the other).
    #[inline]
    pub fn side(self, side: usize) -> &'a [u16] {
        self.sides[side]
    }

    /// Returns the rows of pieces and those of attack inputs of a perspective.
    #[inline]
    pub fn parts(self, side: usize) -> (&'a [u16], &'a [u16]) {
        self.sides[side].split_at(self.pieces)
    }
}

/// The active features of positions.
#[derive(Clone, Debug, Default)]
pub struct ActiveRows {
    /// Row indices: of the first position's side to move, of its other side, of the next position, and so on.
    rows: Vec<u16>,
    positions: Vec<Extent>,
    /// Rows of the other side of the position that is being added.
    other: Vec<u16>,
}

/// The rows of a position.
#[derive(Clone, Copy, Debug)]
struct Extent {
    start: u32,
    /// Number of rows of pieces, for one perspective.
    pieces: u16,
    /// Number of all rows, for one perspective.
    count: u16,
}

impl ActiveRows {
    /// Returns the features of one record.
    pub fn of(architecture: Architecture, record: &Record) -> Self {
        let mut rows = Self::default();
        rows.push(architecture, record, false);
        rows
    }

    /// Removes all positions.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.positions.clear();
    }

    /// Adds the features of a record, or of its left-to-right mirror image.
    #[inline]
    pub fn push(&mut self, architecture: Architecture, record: &Record, mirrored: bool) {
        let sides = sides(architecture.features, record, mirrored);
        let start = self.rows.len();
        self.other.clear();
        self.push_pieces(architecture.features, record, mirrored, sides);
        let pieces = self.other.len();
        if architecture.attacks != AttackInputs::None {
            let first = architecture.features.set().active_rows() as u16;
            let board = mirrored_board(record, mirrored);
            let views = sides.map(|(colour, view)| AttackView::new(Color::from_black(colour == 1), view));
            let (rows, others) = (&mut self.rows, &mut self.other);
            architecture.attacks.active(&board, views, |[own, other]| {
                rows.push(first + own);
                others.push(first + other);
            });
        }
        let count = self.other.len() as u16;
        self.rows.append(&mut self.other);
        self.positions.push(Extent { start: start as u32, pieces: pieces as u16, count });
    }

    #[inline]
    fn push_pieces(&mut self, features: Features, record: &Record, mirrored: bool, sides: [(u8, View); 2]) {
        let set = features.set();
        let mirror = if mirrored { 7 } else { 0 };
        let first_rows = sides.map(|(_, view)| set.piece_rows() as u16 * view.king);
        for piece in record.pieces() {
            if piece.role == KING && !set.has_kings() {
                continue;
            }
            let [own, other] = [0, 1].map(|side| {
                let (colour, view) = sides[side];
                let (is_other, square) = (piece.colour != colour, piece.square ^ mirror);
                first_rows[side] + set.piece_row(view, piece.role, is_other, square)
            });
            self.rows.push(own);
            self.other.push(other);
        }
    }

    /// Number of positions.
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Returns the features of a position.
    #[inline]
    pub fn get(&self, position: usize) -> Active<'_> {
        let Extent { start, pieces, count } = self.positions[position];
        let (own, other) = self.rows[start as usize..][..2 * usize::from(count)].split_at(count.into());
        Active { sides: [own, other], pieces: pieces.into() }
    }

    /// Returns the features of a range of positions.
    pub fn range(&self, positions: Range<usize>) -> impl ExactSizeIterator<Item = Active<'_>> {
        positions.map(|position| self.get(position))
    }
}

/// Returns the king buckets of a record, or of its left-to-right mirror image: of the side to move, and of the other.
pub fn king_buckets(features: Features, record: &Record, mirrored: bool) -> [u16; 2] {
    sides(features, record, mirrored).map(|(_, view)| view.king)
}

/// Returns the colours and views of the side to move and of the other side.
#[inline]
fn sides(features: Features, record: &Record, mirrored: bool) -> [(u8, View); 2] {
    let mirror = if mirrored { 7 } else { 0 };
    let mut views = [View::default(); 2];
    for piece in record.pieces().filter(|piece| piece.role == KING) {
        let king = Square::new(u32::from(piece.square ^ mirror));
        let perspective = Color::from_black(piece.colour == 1);
        views[usize::from(piece.colour)] = features.set().view(perspective, king);
    }
    let us = u8::from(record.black_to_move());
    [us, 1 - us].map(|colour| (colour, views[usize::from(colour)]))
}

/// Packs a board into a record without a label, and with a castling right so that training does not mirror it.
#[cfg(any(test, feature = "gpu"))]
pub fn record_of(board: &shakmaty::Board, black_to_move: bool) -> Record {
    let pieces = board.iter().map(|(square, piece)| crate::data::entry::PackedPiece {
        square: u8::from(square),
        role: piece.role as u8 - 1,
        colour: u8::from(piece.color.is_black()),
    });
    Record::pack(pieces, black_to_move, true)
}

/// Returns positions of random games of a hundred plies, labelled with their material, for tests and for the self-test
/// of a graphics card.
#[cfg(any(test, feature = "gpu"))]
pub fn positions(count: usize) -> Vec<Record> {
    use shakmaty::{Chess, Position as _};

    // The material balance from the side to move's view.
    let material = |game: &Chess| -> i32 {
        let value = |piece: shakmaty::Piece| {
            let size = [0, 200, 800, 850, 1300, 2500, 0][piece.role as usize];
            if piece.color == game.turn() { size } else { -size }
        };
        game.board().iter().map(|(_, piece)| value(piece)).sum()
    };
    let mut rng = crate::util::rng::SplitMix64::new(11);
    let mut game = Chess::default();
    let mut records = Vec::new();
    while records.len() < count {
        let moves = game.legal_moves();
        if moves.is_empty() || game.fullmoves().get() > 50 {
            game = Chess::default();
            continue;
        }
        game.play_unchecked(moves[rng.below(moves.len())]);
        let score = material(&game);
        let mut record = record_of(game.board(), game.turn().is_black());
        record.score = score.clamp(-3000, 3000) as i16;
        record.result = score.signum() as i8;
        records.push(record);
    }
    records
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

#[cfg(test)]
mod active_tests {
    use super::*;
    use crate::train::model::shapes;
    use shakmaty::Board;

    /// Returns the rows of a perspective as indices into the file.
    fn file_rows(active: Active, features: Features, side: usize) -> Vec<u16> {
        let set = features.set();
        let to_file = |&row: &u16| {
            let (king, piece_row) = set.king_and_piece_row(row.into());
            set.row(king as u16, piece_row as u16)
        };
        active.side(side).iter().map(to_file).collect()
    }

    #[test]
    fn start_position_has_thirty_rows_per_side() {
        let active = ActiveRows::of(Architecture::HALF_KP, &record_of(&Board::new(), false));
        let active = active.get(0);
        assert_eq!(active.side(0).len(), 30);
        let rows = file_rows(active, Features::HalfKp, 0);
        assert!(rows.iter().all(|&row| row < 41_024 && row % 641 != 0));
        // White's a1 rook with the king on e1. Black's h8 rook, which is on a1 from Black's view, with the king on d1.
        assert!(rows.contains(&(641 * 4 + 1 + 64 * 6)));
        let rows = file_rows(active, Features::HalfKp, 1);
        assert!(rows.contains(&(641 * 3 + 1 + 64 * 6)));
    }

    #[test]
    fn mirrored_record_has_features_of_mirrored_board() {
        let board = Board::from_ascii_board_fen(b"2k5/pp6/8/4n3/8/5Q2/6PP/R5K1").unwrap();
        let mut mirrored = board.clone();
        mirrored.flip_horizontal();
        for architecture in shapes::for_tests() {
            for black in [false, true] {
                let direct = ActiveRows::of(architecture, &record_of(&mirrored, black));
                let mut turned = ActiveRows::default();
                turned.push(architecture, &record_of(&board, black), true);
                for side in 0..2 {
                    let sorted = |rows: &ActiveRows| {
                        let mut rows = rows.get(0).side(side).to_vec();
                        rows.sort_unstable();
                        rows
                    };
                    assert_eq!(sorted(&direct), sorted(&turned), "{architecture}");
                }
            }
        }
    }

    #[test]
    fn rows_of_attack_inputs_follow_those_of_pieces() {
        let board = Board::from_ascii_board_fen(b"2k5/pp6/8/4n3/8/4RQ2/6PP/6K1").unwrap();
        let architecture = shapes::for_tests().find(|shape| shape.attacks != AttackInputs::None);
        let architecture = architecture.expect("a shape with attack inputs");
        let plain = architecture.with_attacks(AttackInputs::None).expect("the shape without them");
        let record = record_of(&board, false);
        let (with, without) = (ActiveRows::of(architecture, &record), ActiveRows::of(plain, &record));
        let first = architecture.features.set().active_rows() as u16;
        for side in 0..2 {
            let (pieces, attacks) = with.get(0).parts(side);
            assert_eq!(pieces, without.get(0).side(side));
            assert!(!attacks.is_empty() && attacks.iter().all(|&row| row >= first));
        }
    }
}
