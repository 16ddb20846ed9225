//! Record stream: every record once per epoch, in a random order that can be reproduced.

mod common;

use std::collections::HashMap;
use std::path::PathBuf;

use common::folder::Folder;
use zoothera::board::openings::random_walk;
use zoothera::board::{Move, Position};
use zoothera::data::reader::EntryWriter;
use zoothera::data::reader::Format;
use zoothera::data::stream::{Options, Source, Stream};
use zoothera::data::tree::{Encoder, PackedMove, Root};
use zoothera::data::{Entry, Filter, Record};
use zoothera::util::rng::SplitMix64;

/// Memory in bytes for the smallest window, of 65,536 records.
const MIN_MEMORY: usize = (96 << 20) + (1 << 16) * 32;
const WINDOW: u64 = 1 << 16;

/// `count` entries of a game, numbered from `first` in their scores and plies ([`number`]).
fn games(first: u32, count: u32) -> Vec<Entry> {
    let mut rng = SplitMix64::new(first.into());
    let start = random_walk(&Position::startpos(), 6, &mut rng).expect("a position");
    let mut positions = Vec::new();
    let mut position = start;
    for _ in 0..40 {
        let moves = position.legal_moves();
        let Some(&m) = moves.get(rng.below(moves.len().max(1))) else {
            break;
        };
        positions.push((Entry::of(&position), m));
        position.do_move(m);
    }
    (0..count)
        .map(|i| {
            let (entry, m) = positions[i as usize % positions.len()];
            let number = first + i;
            Entry {
                m: Some(m),
                score: (number % 32_000) as i16,
                ply: entry.ply + (number / 32_000 * 100) as u16,
                ..entry
            }
        })
        .collect()
}

/// The unique number of a record.
fn number(record: &Record) -> u32 {
    u32::from(record.ply) / 100 * 32_000 + record.score as u32
}

/// Writes entries to a file in the format of its extension.
fn write(folder: &Folder, name: &str, entries: &[Entry]) -> PathBuf {
    let path = folder.path(name);
    let format = Format::of(&path).expect("a format");
    let mut writer = EntryWriter::new(format, Vec::new()).expect("a writer");
    for entry in entries {
        writer.write(entry).expect("an entry");
    }
    folder.file(name, &writer.finish().expect("writing to a vector"))
}

/// Writes a `.tree` of `count` numbered samples: random walks of up to 11 plies from roots with different plies.
fn write_tree(folder: &Folder, name: &str, first: u32, count: u32) -> PathBuf {
    let mut bytes = Vec::new();
    let mut rng = SplitMix64::new(first.into());
    let mut number = first;
    while number < first + count {
        let mut root = Root::of(&Position::startpos());
        root.ply = (number / 32_000 * 100) as u16;
        let mut encoder = Encoder::new(root);
        let end = (number + 160).min(first + count).min((number / 32_000 + 1) * 32_000);
        while number < end {
            let walk = random_walk(&Position::startpos(), rng.below(12), &mut rng);
            let Some(position) = walk else { continue };
            let path: Vec<PackedMove> = position.moves_since(0).map(Move::bits_of).collect();
            let score = (number % 32_000) as i16;
            encoder.sample(&path, score).expect("a path of possible moves");
            number += 1;
        }
        encoder.finish(0, &mut bytes).expect("writing to a vector");
    }
    folder.file(name, &bytes)
}

fn options(paths: &[PathBuf]) -> Options {
    let source = |path: &PathBuf| Source { path: path.clone(), sampled: false };
    Options {
        sources: paths.iter().map(source).collect(),
        filter: Filter { max_score: i16::MAX, quiet: false, ..Filter::default() },
        thin_beyond: u16::MAX,
        holdout: 0.0,
        holdout_limit: 0,
        seed: 5,
        memory: MIN_MEMORY,
        threads: 2,
    }
}

/// The next `count` records.
fn next(stream: &mut Stream, count: u64) -> Vec<Record> {
    let mut out = Vec::new();
    stream.next(count as usize, &mut out).expect("valid files");
    assert_eq!(out.len() as u64, count);
    out
}

/// Files of several formats with [`ALL`] positions in all.
fn files(folder: &Folder) -> Vec<PathBuf> {
    vec![
        write(folder, "a.bin", &games(0, 128_000)),
        write_tree(folder, "b.tree", 128_000, 96_000),
        write(folder, "c.plain", &games(224_000, 32_000)),
        write(folder, "d.bin", &games(256_000, 32_000)),
    ]
}

const ALL: u64 = 288_000;

#[test]
fn stream_presents_every_record_once_per_epoch_in_bounded_memory() {
    let folder = Folder::new("stream-all");
    let mut stream = Stream::open(&options(&files(&folder))).expect("valid files");
    assert_eq!(stream.window_len(), WINDOW);
    assert!(!stream.is_resident());
    let estimate = stream.estimated_len() as f64 / ALL as f64;
    assert!((0.8..1.25).contains(&estimate), "{estimate}");
    // The presented records and those in the window are together a prefix of the sequence of epochs.
    let mut times = vec![0_u32; ALL as usize];
    for _ in 0..3 * ALL / 1000 {
        for record in next(&mut stream, 1000) {
            times[number(&record) as usize] += 1;
        }
    }
    assert!(times.iter().all(|&n| (2..=4).contains(&n)));
    let late = times.iter().map(|&n| u64::from(n.abs_diff(3))).sum::<u64>();
    assert!(late <= 2 * WINDOW, "{late} presentations too many or too few");
}

#[test]
fn batches_mix_games_and_files() {
    let folder = Folder::new("stream-mix");
    let mut stream = Stream::open(&options(&files(&folder))).expect("valid files");
    // Neighbours in a file are a third of the window apart on average, as random places are.
    let shown = next(&mut stream, WINDOW);
    let place: HashMap<u32, usize> = shown.iter().enumerate().map(|(at, r)| (number(r), at)).collect();
    let mut distances = Vec::new();
    for (&number, &at) in &place {
        if let Some(&other) = place.get(&(number + 1)) {
            distances.push(at.abs_diff(other) as f64 / WINDOW as f64);
        }
    }
    let mean = distances.iter().sum::<f64>() / distances.len() as f64;
    assert!(distances.len() > 50_000, "{}", distances.len());
    assert!((mean - 1.0 / 3.0).abs() < 0.01, "{mean}");
    // Later batches have records of the `.tree`, in very roughly its proportion.
    let shown = next(&mut stream, 2 * ALL);
    let of_tree = |r: &&Record| (128_000..224_000).contains(&number(r));
    for batch in shown.chunks(16_384) {
        let share = batch.iter().filter(of_tree).count() as f64 / batch.len() as f64;
        assert!((0.05..0.7).contains(&share), "{share}");
    }
}

#[test]
fn stream_resumes_at_bookmark_with_any_number_of_threads() {
    let folder = Folder::new("stream-resume");
    let paths = files(&folder);
    let whole = {
        let mut stream = Stream::open(&options(&paths)).expect("valid files");
        next(&mut stream, 500_000)
    };
    let mut rng = SplitMix64::new(1);
    for threads in [1, 4] {
        let options = Options { threads, ..options(&paths) };
        let mut at = 0;
        let mut stream = Stream::open(&options).expect("valid files");
        while at < whole.len() {
            let count = (1 + rng.below(60_000)).min(whole.len() - at);
            assert!(next(&mut stream, count as u64) == whole[at..at + count], "at {at}");
            at += count;
            let bookmark = serde_json::to_string(&stream.bookmark()).expect("numbers");
            let bookmark = serde_json::from_str(&bookmark).expect("the same");
            drop(stream);
            stream = Stream::open_at(&options, &bookmark).expect("the same files");
            assert_eq!(stream.bookmark(), bookmark);
        }
    }
    let other = Options { seed: 6, ..options(&paths) };
    let mut stream = Stream::open(&other).expect("valid files");
    assert!(next(&mut stream, 1000) != whole[..1000]);
    let bookmark = stream.bookmark();
    assert!(Stream::open_at(&options(&paths), &bookmark).is_err());
}

#[test]
fn small_files_are_resident_and_shuffled_every_epoch() {
    let folder = Folder::new("stream-small");
    let paths = [write(&folder, "a.binpack", &games(0, 30_000))];
    let mut stream = Stream::open(&options(&paths)).expect("a valid file");
    assert!(stream.is_resident());
    assert_eq!((stream.window_len(), stream.estimated_len()), (30_000, 30_000));
    let mut epochs = Vec::new();
    for _ in 0..3 {
        let epoch = next(&mut stream, 30_000);
        let mut numbers: Vec<u32> = epoch.iter().map(number).collect();
        numbers.sort_unstable();
        assert!(numbers.into_iter().eq(0..30_000));
        epochs.push(epoch);
    }
    assert!(epochs[0] != epochs[1] && epochs[1] != epochs[2]);
    let bookmark = stream.bookmark();
    let mut again = Stream::open_at(&options(&paths), &bookmark).expect("the same file");
    assert!(next(&mut again, 1000) == next(&mut stream, 1000));
}

#[test]
fn stream_never_presents_held_out_records() {
    let folder = Folder::new("stream-holdout");
    let options = Options { holdout: 0.1, holdout_limit: 1 << 20, ..options(&files(&folder)) };
    let mut stream = Stream::open(&options).expect("valid files");
    let held_out = stream.held_out().expect("valid files");
    let share = held_out.len() as f64 / ALL as f64;
    assert!((0.08..0.12).contains(&share), "{share}");
    let mut out = vec![false; ALL as usize];
    held_out.iter().for_each(|r| out[number(r) as usize] = true);
    // The last records of the files are held out.
    assert!([127_999, 223_999, 255_999, 287_999].iter().all(|&n: &usize| out[n]));
    let shown = next(&mut stream, 3 * ALL);
    assert!(shown.iter().all(|r| !out[number(r) as usize]));
    let limited = Options { holdout_limit: 10_000, ..options };
    let stream = Stream::open(&limited).expect("valid files");
    let count = stream.held_out().expect("valid files").len();
    assert!((8_000..12_000).contains(&count), "{count}");
}

#[test]
fn stream_applies_filter_thinning_and_sample_flag() {
    let folder = Folder::new("stream-filter");
    let path = write_tree(&folder, "a.tree", 0, 32_000);
    let mut options = options(&[path]);
    options.sources[0].sampled = true;
    options.filter.max_score = 20_000;
    options.thin_beyond = 10_000;
    let mut stream = Stream::open(&options).expect("a valid file");
    let len = stream.window_len();
    assert!((14_500..15_500).contains(&len), "{len}");
    let shown = next(&mut stream, len);
    assert!(shown.iter().all(|r| r.has_score_alone() && r.score <= 20_000));
}

#[test]
fn errors_name_the_file() {
    let folder = Folder::new("stream-faults");
    let error = |options: &Options| format!("{:#}", Stream::open(options).err().expect("an error"));
    let absent = options(&[folder.path("absent.bin")]);
    assert!(error(&absent).contains("absent.bin"));
    let empty = options(&[folder.file("empty.bin", b"")]);
    assert!(error(&empty).contains("no position"));
    let small = Options { memory: 1 << 20, ..options(&[folder.file("a.bin", &[])]) };
    assert!(error(&small).contains("memory"));
    // Damage to headers and payloads at random places.
    let path = write_tree(&folder, "a.tree", 0, 64_000);
    let bytes = std::fs::read(&path).expect("a file");
    let mut rng = SplitMix64::new(9);
    for _ in 0..40 {
        let mut damaged = bytes.clone();
        damaged[rng.below(bytes.len())] ^= 1 << rng.below(8);
        let damaged = options(&[folder.file("damaged.tree", &damaged)]);
        let error = error(&damaged);
        assert!(error.contains("damaged.tree") && error.contains("at byte"), "{error}");
    }
    // Truncation is not damage.
    let cut = options(&[folder.file("cut.tree", &bytes[..bytes.len() - 10])]);
    let stream = Stream::open(&cut).expect("a truncated file");
    assert!((63_800..64_000).contains(&stream.window_len()));
}

#[test]
fn formats_of_other_trainers_are_read_in_chunks() {
    let folder = Folder::new("stream-foreign");
    let entries: Vec<Entry> =
        games(0, 60_000).into_iter().map(|entry| Entry { score: entry.score % 29_000, ..entry }).collect();
    let mut wanted: Vec<i16> = entries.iter().map(|entry| entry.score).collect();
    wanted.sort_unstable();
    for name in ["a.bf", "a.bullet.txt", "a.epd"] {
        let path = write(&folder, name, &entries);
        let mut stream = Stream::open(&options(&[path])).expect(name);
        assert_eq!(stream.window_len(), 60_000, "{name}");
        let mut scores: Vec<i16> = next(&mut stream, 60_000).iter().map(|record| record.score).collect();
        scores.sort_unstable();
        // EPD has centipawns, half as fine as engine units.
        let close = |(a, b): (&i16, &i16)| (a - b).abs() <= if name == "a.epd" { 1 } else { 0 };
        assert!(scores.iter().zip(&wanted).all(close), "{name}");
    }
    let pgn = options(&[folder.file("a.pgn", b"1. e4 {[%eval 0.5]} e5 *\n")]);
    let error = format!("{:#}", Stream::open(&pgn).err().expect("games"));
    assert!(error.contains("zoothera data convert"), "{error}");
    let foreign = options(&[folder.file("b.bin", b"hello\n")]);
    let error = format!("{:#}", Stream::open(&foreign).err().expect("text"));
    assert!(error.contains("b.bin is not a .bin file of positions: this is other text"), "{error}");
}
