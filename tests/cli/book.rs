//! `book`: made of games, and shown.

use crate::run::{file, zoothera};

#[test]
fn a_book_is_made_of_games_and_shown() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("book.bin");
    let path = path.to_str().expect("a name");
    let games = file(
        "book.pgn",
        "[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 1-0\n\n[Result \"1/2-1/2\"]\n\n1. d4 d5 1/2-1/2\n\n\
         [Result \"0-1\"]\n\n1. e4 Ke7 0-1\n\n",
    );
    let made = zoothera(&["book", "build", &games, "--out", path, "--min-games", "1"]).ok();
    assert!(
        made.out.contains("4 moves of 3 positions, from 2 games"),
        "{}",
        made.out
    );
    assert!(
        made.err.contains("game 3") && made.err.contains("Ke7"),
        "{}",
        made.err
    );
    let shown = zoothera(&["book", "show", "--book", path]).ok().out;
    let rows: Vec<&str> = shown.lines().skip(3).collect();
    assert_eq!(
        rows,
        ["     2   66.7%  e4 (e2e4)", "     1   33.3%  d4 (d2d4)"],
        "{shown}"
    );
    let later = zoothera(&["book", "show", "startpos moves e2e4", "--book", path]).ok();
    assert!(
        !later.out.contains("e7e5"),
        "1...e5 only lost: {}",
        later.out
    );
    zoothera(&["book", "build", &games, "--out", path]).fails_with("--min-games");
    let again = zoothera(&["book", "show", "--book", path]).ok();
    assert_eq!(again.out, shown, "the book that was there stays");
}
