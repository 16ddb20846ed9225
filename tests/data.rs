//! Training data of every format, against files that other programs wrote.

mod folder;
mod shared;

use std::fs;

use folder::{Folder, entries};
use shared::shared;
use zoothera::data::reader::{self, Format, read_records};
use zoothera::data::writer::EntryWriter;
use zoothera::data::{Entry, Filter, bin, binpack, plain};

fn encode(format: Format, entries: &[Entry]) -> Vec<u8> {
    let mut writer = EntryWriter::new(format, Vec::new()).expect("a writer");
    for entry in entries {
        writer.write(entry).expect("a sound entry");
    }
    writer.finish().expect("a vector")
}

#[test]
fn the_small_file_has_the_published_count_and_is_written_again_byte_for_byte() {
    let Some(path) = shared("data/games-d5-c.binpack") else {
        return;
    };
    let entries = entries(&path);
    assert_eq!(entries.len(), 841_698);
    let again = encode(Format::Binpack, &entries);
    let original = fs::read(&path).expect("the file again");
    assert!(again == original);
}

#[test]
#[ignore = "reads 30 MB of games"]
fn the_large_files_have_the_published_counts() {
    for (name, wanted) in [
        ("data/games-d4-a.binpack", 5_425_668),
        ("data/games-d4-b.binpack", 1_142_240),
    ] {
        let Some(path) = shared(name) else { return };
        assert_eq!(entries(&path).len(), wanted, "{name}");
    }
}

#[test]
fn entries_hold_what_the_decoder_says() {
    let Some(path) = shared("data/games-d5-c.binpack") else {
        return;
    };
    let file = fs::File::open(path).expect("the file");
    let mut decoder = sfbinpack::CompressedTrainingDataEntryReader::new(file).expect("a decoder");
    for _ in 0..20_000 {
        let theirs = decoder.next();
        let ours = binpack::to_entry(&theirs);
        let without_number = |fen: &str| fen.rsplit_once(' ').map(|(head, _)| head.to_owned());
        let wanted = theirs.pos.fen().expect("a FEN");
        assert_eq!(without_number(&plain::fen(&ours)), without_number(&wanted));
        assert_eq!((ours.score, ours.ply), (theirs.score, theirs.ply));
        assert_eq!(i16::from(ours.result), theirs.result);
        let check = theirs.pos.is_checked(theirs.pos.side_to_move());
        assert_eq!(ours.board.in_check(ours.black_to_move), check);
        let record = ours.record();
        assert_eq!(record.pieces().count(), record.piece_count() as usize);
        assert_eq!(
            record.can_castle(),
            plain::fen(&ours).split(' ').nth(2) != Some("-")
        );
    }
}

#[test]
fn every_format_gives_back_what_it_was_given() {
    let Some(path) = shared("data/games-d5-c.binpack") else {
        return;
    };
    let folder = Folder::new("formats");
    let first = &entries(&path)[..30_000];
    let in_bin = encode(Format::Bin, first);
    let from_bin = entries(&folder.file("a.bin", &in_bin));
    assert!(from_bin == first);
    let from_plain = entries(&folder.file("a.plain", &encode(Format::Plain, &from_bin)));
    assert!(from_plain == first);
    let from_binpack = entries(&folder.file("a.binpack", &encode(Format::Binpack, &from_plain)));
    assert!(from_binpack == first);
    assert!(encode(Format::Bin, &from_binpack) == in_bin);
}

#[test]
fn the_trainer_reads_the_same_records_from_every_format() {
    let Some(path) = shared("data/games-d5-c.binpack") else {
        return;
    };
    let folder = Folder::new("records");
    let first = &entries(&path)[..10_000];
    let filter = Filter::default();
    let records = |name: &str, format| {
        let path = folder.file(name, &encode(format, first));
        read_records(&path, &filter).expect("a sound file")
    };
    let wanted = records("a.binpack", Format::Binpack);
    assert!(wanted.len() > 1000 && wanted.len() < first.len());
    assert!(records("a.bin", Format::Bin) == wanted);
    assert!(records("a.txt", Format::Plain) == wanted);
}

#[test]
fn a_file_that_was_cut_off_gives_what_is_whole() {
    let Some(path) = shared("data/games-d5-c.binpack") else {
        return;
    };
    let folder = Folder::new("cut");
    let first = &entries(&path)[..1000];
    let in_bin = encode(Format::Bin, first);
    for cut in [1, 39, 40, 41] {
        let left = folder.file("a.bin", &in_bin[..in_bin.len() - cut]);
        assert_eq!(entries(&left).len(), 1000 - cut.div_ceil(bin::RECORD_BYTES));
    }
    let text = encode(Format::Plain, first);
    let left = folder.file("a.plain", &text[..text.len() - 20]);
    assert_eq!(entries(&left).len(), 999);
    let blocks = [
        encode(Format::Binpack, &first[..500]),
        encode(Format::Binpack, first),
    ]
    .concat();
    let left = folder.file("a.binpack", &blocks[..blocks.len() - 1]);
    assert_eq!(entries(&left), first[..500]);
}

#[test]
fn what_cannot_be_read_is_told_with_its_name() {
    let folder = Folder::new("unread");
    for (name, bytes) in [
        ("a.bin", [0; 80].as_slice()),
        ("a.binpack", b"BIN?\x08\0\0\0garbage!"),
        ("a.plain", b"hello\n"),
        ("a.pgn", b""),
    ] {
        let path = folder.file(name, bytes);
        let error = reader::for_each(&path, |_| Ok(())).expect_err(name);
        assert!(format!("{error:#}").contains(name), "{error:#}");
    }
    assert!(reader::for_each(&folder.path("absent.bin"), |_| Ok(())).is_err());
}

/// Not a test of the time, but the place to measure it: `--ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn rate_of_reading_bin() {
    let Some(path) = shared("data/games-d4-b.binpack") else {
        return;
    };
    let folder = Folder::new("rate");
    let all = entries(&path);
    let path = folder.file("a.bin", &encode(Format::Bin, &all));
    for (quiet, max_score) in [(false, i16::MAX), (true, i16::MAX), (true, 3000)] {
        let filter = Filter {
            quiet,
            max_score,
            ..Filter::default()
        };
        let start = std::time::Instant::now();
        let kept = read_records(&path, &filter).expect("a sound file").len();
        let seconds = start.elapsed().as_secs_f64();
        let rate = all.len() as f64 / seconds / 1e6;
        println!("quiet {quiet}, |score| <= {max_score}: {kept} kept, {rate:.1} M/s");
    }
}
