//! Training data formats, checked against each other and against files of other programs.

mod common;

use std::fs;

use common::folder::{Folder, encode, entries, random_games};
use common::shared::shared;
use zoothera::data::reader::{self, Format, read_records};
use zoothera::data::{Entry, Filter, bin, binpack, plain};

/// Entries of random games.
fn sample() -> Vec<Entry> {
    random_games(1, 500)
}

#[test]
fn published_binpack_keeps_its_entries_and_bytes() {
    let Some(path) = shared("data/games-d5-c.binpack") else {
        return;
    };
    let entries = entries(&path);
    assert_eq!(entries.len(), 841_698);
    let again = encode(Format::Binpack, &entries);
    let original = fs::read(&path).expect("a readable file");
    assert!(again == original);
    let games = &entries[..30_000];
    check_against_decoder(games);
    check_round_trips(games);
    check_records(games);
}

#[test]
#[ignore = "reads 30 MB of games"]
fn large_files_have_the_published_counts() {
    for (name, wanted) in [("data/games-d4-a.binpack", 5_425_668), ("data/games-d4-b.binpack", 1_142_240)] {
        let Some(path) = shared(name) else { return };
        assert_eq!(entries(&path).len(), wanted, "{name}");
    }
}

#[test]
fn binpack_entries_equal_those_of_sfbinpack() {
    check_against_decoder(&sample());
}

fn check_against_decoder(sample: &[Entry]) {
    let folder = Folder::new("decoder");
    let path = folder.file("a.binpack", &encode(Format::Binpack, sample));
    let file = fs::File::open(path).expect("the file");
    let decoder = sfbinpack::CompressedTrainingDataEntryReader::new(file);
    check_decoded(sample, decoder.expect("a decoder"));
}

/// Compares entries with those that the crate `sfbinpack` decodes from their file.
fn check_decoded(sample: &[Entry], mut decoder: sfbinpack::CompressedTrainingDataEntryReader<fs::File>) {
    for entry in sample {
        let theirs = decoder.next();
        let ours = binpack::to_entry(&theirs);
        assert!(ours == *entry);
        let without_number = |fen: &str| fen.rsplit_once(' ').map(|(head, _)| head.to_owned());
        let wanted = theirs.pos.fen().expect("a FEN");
        assert_eq!(without_number(&plain::fen(&ours)), without_number(&wanted));
        assert_eq!((ours.score, ours.ply), (theirs.score, theirs.ply));
        assert_eq!(i16::from(ours.result), theirs.result);
        let check = theirs.pos.is_checked(theirs.pos.side_to_move());
        assert_eq!(ours.board.in_check(ours.black_to_move), check);
        let record = ours.record();
        assert_eq!(record.pieces().count(), record.piece_count() as usize);
        assert_eq!(record.can_castle(), plain::fen(&ours).split(' ').nth(2) != Some("-"));
    }
}

#[test]
fn every_format_round_trips() {
    check_round_trips(&sample());
}

fn check_round_trips(sample: &[Entry]) {
    let folder = Folder::new("formats");
    let in_bin = encode(Format::Bin, sample);
    let from_bin = entries(&folder.file("a.bin", &in_bin));
    assert!(from_bin == sample);
    let from_plain = entries(&folder.file("a.plain", &encode(Format::Plain, &from_bin)));
    assert!(from_plain == sample);
    let in_binpack = encode(Format::Binpack, &from_plain);
    let from_binpack = entries(&folder.file("a.binpack", &in_binpack));
    assert!(from_binpack == sample);
    assert!(encode(Format::Bin, &from_binpack) == in_bin);
}

#[test]
fn trainer_reads_the_same_records_from_every_format() {
    check_records(&sample());
}

fn check_records(sample: &[Entry]) {
    let folder = Folder::new("records");
    let filter = Filter::default();
    let records = |name: &str, format| {
        let path = folder.file(name, &encode(format, sample));
        read_records(&path, &filter).expect("a valid file")
    };
    let wanted = records("a.binpack", Format::Binpack);
    assert!(wanted.len() > 1000 && wanted.len() < sample.len());
    assert!(records("a.bin", Format::Bin) == wanted);
    assert!(records("a.txt", Format::Plain) == wanted);
}

#[test]
fn reader_returns_the_whole_entries_of_truncated_file() {
    let folder = Folder::new("cut");
    let first = &random_games(2, 50)[..1000];
    let in_bin = encode(Format::Bin, first);
    for cut in [1, 39, 40, 41] {
        let left = folder.file("a.bin", &in_bin[..in_bin.len() - cut]);
        assert_eq!(entries(&left).len(), 1000 - cut.div_ceil(bin::RECORD_BYTES));
    }
    let text = encode(Format::Plain, first);
    let left = folder.file("a.plain", &text[..text.len() - 20]);
    assert_eq!(entries(&left).len(), 999);
    let blocks = [encode(Format::Binpack, &first[..500]), encode(Format::Binpack, first)].concat();
    let left = folder.file("a.binpack", &blocks[..blocks.len() - 1]);
    assert_eq!(entries(&left), first[..500]);
}

#[test]
fn errors_name_the_file() {
    let folder = Folder::new("unread");
    for (name, bytes) in [
        ("a.bin", [0; 80].as_slice()),
        ("a.binpack", b"BIN?\x08\0\0\0garbage!"),
        ("a.plain", b"hello\n"),
        ("a.xyz", b""),
    ] {
        let path = folder.file(name, bytes);
        let error = reader::for_each(&path, |_| Ok(())).expect_err(name);
        assert!(format!("{error:#}").contains(name), "{error:#}");
    }
    assert!(reader::for_each(&folder.path("absent.bin"), |_| Ok(())).is_err());
}
