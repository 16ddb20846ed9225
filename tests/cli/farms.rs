//! Commands of test farms: `bench`, `perft`, `genfens`, `cpu`.

use crate::run::{file, number_before, zoothera};

#[test]
fn bench_prints_formats_of_both_test_farms() {
    let first = zoothera(&["bench", "3"]).ok();
    let nodes = number_before(first.last_line(), "nodes").expect("nodes");
    assert!(number_before(first.last_line(), "nps").is_some(), "{}", first.last_line());
    let value = |name: &str| {
        let line = first.err.lines().find_map(|line| line.strip_prefix(name)).expect("the line of fishtest");
        line.trim().parse::<u64>().expect("a number")
    };
    assert_eq!(value("Nodes searched  : "), nodes);
    value("Total time (ms) : ");
    value("Nodes/second    : ");

    let again = zoothera(&["bench", "16", "1", "3", "default", "depth"]).ok();
    assert_eq!(number_before(again.last_line(), "nodes"), Some(nodes), "bench is not reproducible");
}

#[test]
fn perft_counts_a_position() {
    assert_eq!(zoothera(&["perft", "4"]).ok().last_line(), "Nodes: 197281");
    let fen = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
    let divided = zoothera(&["perft", "2", "--divide", "--fen", fen]).ok();
    assert_eq!(divided.last_line(), "Nodes: 2039");
    assert!(divided.out.contains("e1g1: 43"), "{}", divided.out);
    let fen = "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9";
    assert_eq!(zoothera(&["perft", "3", "--chess960", "--fen", fen]).ok().last_line(), "Nodes: 12189");
    zoothera(&["perft", "3", "--fen", "8/8/8/8/8/8/8/8 w - - 0 1"]).fails_with("FEN");
}

#[test]
fn perft_verifies_a_suite() {
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    let good = file("good.epd", &format!("{start} ;D1 20 ;D2 400 ;D9 1\n"));
    let run = zoothera(&["perft", "--suite", &good, "--max-depth", "2"]).ok();
    assert_eq!(run.last_line(), "Nodes: 420");
    let bad = file("bad.epd", &format!("{start} ;D1 20 ;D2 401\n"));
    let run = zoothera(&["perft", "--suite", &bad]).fails_with("1 of 2 counts differ");
    assert!(run.out.contains("MISMATCH depth 2: 400 found, 401 expected"), "{}", run.out);
    assert_eq!(run.code, Some(1));
    zoothera(&["perft", "--suite", "no-such-suite.epd"]).fails_with("no-such-suite.epd");
}

#[test]
fn genfens_accepts_openbench_arguments() {
    let openings = |arguments: &[&str]| -> Vec<String> {
        let run = zoothera(arguments).ok();
        let fen = |line: &str| line.strip_prefix("info string genfens ").expect("every line is an opening").to_owned();
        run.out.lines().map(fen).collect()
    };
    let quoted = openings(&["genfens 5 seed 42 book None", "quit"]);
    assert_eq!(quoted.len(), 5);
    assert!(quoted.iter().all(|fen| fen.split(' ').count() == 6));
    assert_eq!(quoted, openings(&["genfens", "5", "seed", "42", "book", "None"]));
    assert_ne!(quoted, openings(&["genfens 5 seed 43 book None", "quit"]));

    let book = file("book.epd", "rnbqkb1r/pp2pppp/3p1n2/8/3NP3/2N5/PPP2PPP/R1BQKB1R b KQkq -  \n");
    assert_eq!(openings(&[&format!("genfens 3 seed 1 book {book}"), "quit"]).len(), 3);
    zoothera(&["genfens 3 seed 1 book no-such-book.epd", "quit"]).fails_with("no-such-book.epd");
    zoothera(&["genfens 3 seed"]).fails_with("genfens N seed S book");
}

#[test]
fn cpu_names_the_kernel() {
    let out = zoothera(&["cpu"]).ok().out;
    assert!(out.contains("Kernels") && out.contains("Chosen"), "{out}");
}
