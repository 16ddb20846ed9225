//! `book`: building and showing.

use crate::run::{file, zoothera};

#[test]
fn book_is_built_from_games_and_shown() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("book.bin");
    let path = path.to_str().expect("a name");
    let games = file(
        "book.pgn",
        "[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 1-0\n\n[Result \"1/2-1/2\"]\n\n1. d4 d5 1/2-1/2\n\n\
         [Result \"0-1\"]\n\n1. e4 Ke7 0-1\n\n",
    );
    let made =
        zoothera(&["book", "build", &games, "--out", path, "--min-games", "1"]).fails_with("1 game was skipped or cut");
    assert!(made.out.contains("4 moves of 3 positions, from 2 games"), "{}", made.out);
    assert!(made.err.contains("game 3") && made.err.contains("Ke7"), "{}", made.err);
    let shown = zoothera(&["book", "show", "--book", path]).ok().out;
    let rows: Vec<&str> = shown.lines().skip(3).collect();
    assert_eq!(rows, ["     2   66.7%  e4 (e2e4)", "     1   33.3%  d4 (d2d4)"], "{shown}");
    let later = zoothera(&["book", "show", "startpos moves e2e4", "--book", path]).ok();
    assert!(!later.out.contains("e7e5"), "1...e5 only lost: {}", later.out);
    zoothera(&["book", "build", &games, "--out", path]).fails_with("--min-games");
    let again = zoothera(&["book", "show", "--book", path]).ok();
    assert_eq!(again.out, shown, "the old book is unchanged");
}

#[test]
fn book_never_contains_a_move_that_was_not_played() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("book.bin");
    let path = path.to_str().expect("a name");
    let games = file(
        "unknown.pgn",
        "[Event \"1\"]\n\n1. c4 Sf6 c6 2. d4 d5 3. cxd5 1-0\n\n[Event \"2\"]\n\n1. c4 c6 2. d4 d5 3. Nc3 1-0\n",
    );
    let made = zoothera(&["book", "build", &games, "--out", path, "--min-games", "1"]).fails_with("1 game was skipped");
    assert!(made.err.contains("game 1: move 1... (ply 2) 'Sf6' is not a move"), "{}", made.err);
    assert!(made.out.contains("3 moves of 3 positions, from 1 game\n"), "{}", made.out);
    let shown = zoothera(&["book", "show", "1. c4 c6 2. d4 d5", "--book", path]).ok().out;
    assert!(shown.contains("Nc3") && !shown.contains("cxd5"), "{shown}");
}

#[test]
fn endless_file_is_an_error() {
    if !std::path::Path::new("/dev/zero").exists() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("book.bin");
    let path = path.to_str().expect("a name");
    zoothera(&["book", "build", "/dev/zero", "--out", path]).fails_with("cannot read /dev/zero: line 1 is longer than");
    zoothera(&["epd", "/dev/zero"]).fails_with("no position could be read");
    zoothera(&["perft", "--suite", "/dev/zero"]).fails_with("not a text file");
}
