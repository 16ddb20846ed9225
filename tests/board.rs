//! The board against published suites: the move generator by perft, static exchange evaluation by known values.
//!
//! `make check-slow` also runs the ignored tests.

mod common;

use std::cell::Cell;

use zoothera::board::perft::{KnownCount, SuiteLine, parse_suite, perft, perft_until};
use zoothera::board::{CastlingMode, Position};

/// The classic positions of the chess programming wiki, and Chess960 castling from the fischer960 suite.
const EMBEDDED: &str = "\
rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 ;D1 20 ;D2 400 ;D3 8902 ;D4 197281 ;D5 4865609
r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1 ;D1 48 ;D2 2039 ;D3 97862 ;D4 4085603
8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1 ;D1 14 ;D2 191 ;D3 2812 ;D4 43238 ;D5 674624
r2q1rk1/pP1p2pp/Q4n2/bbp1p3/Np6/1B3NBn/pPPP1PPP/R3K2R b KQ - 0 1 ;D1 6 ;D2 264 ;D3 9467 ;D4 422333
rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8 ;D1 44 ;D2 1486 ;D3 62379 ;D4 2103487
r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10 ;D1 46 ;D2 2079 ;D3 89890 ;D4 3894594
bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9 ;D1 21 ;D2 528 ;D3 12189 ;D4 326672
2nnrbkr/p1qppppp/8/1ppb4/6PP/3PP3/PPP2P2/BQNNRBKR w HEhe - 1 9 ;D1 21 ;D2 807 ;D3 18002 ;D4 667366
r1k1r2q/p1ppp1pp/8/8/8/8/P1PPP1PP/R1K1R2Q w KQkq - ;D1 23 ;D2 522 ;D3 12333 ;D4 285754
";

fn check(suite: &[SuiteLine], max_depth: u32) {
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    std::thread::scope(|scope| {
        for start in 0..threads {
            scope.spawn(move || {
                suite.iter().skip(start).step_by(threads).for_each(|line| check_line(line, max_depth));
            });
        }
    });
}

/// Checks the deepest count within the limit, which includes the shallower ones.
fn check_line(line: &SuiteLine, max_depth: u32) {
    let within_depth = line.counts.iter().filter(|count| count.depth <= max_depth);
    let Some(&KnownCount { depth, nodes }) = within_depth.max_by_key(|count| count.depth) else {
        return;
    };
    let mut position = Position::from_fen(&line.fen, CastlingMode::Chess960).expect(&line.fen);
    assert_eq!(perft(&mut position, depth), nodes, "perft {depth} of {}", line.fen);
}

fn read_suite(file: &str) -> String {
    let path = common::shared::data(&format!("epd/{file}"));
    std::fs::read_to_string(path).expect("a suite of tests/data")
}

fn check_suite(file: &str, lines: usize, max_depth: u32) {
    let suite = parse_suite(&read_suite(file)).unwrap_or_else(|why| panic!("{file}: {why:#}"));
    assert_eq!(suite.len(), lines, "{file}");
    check(&suite, max_depth);
}

#[test]
fn perft_matches_embedded_suite() {
    let suite = parse_suite(EMBEDDED).expect("the embedded suite");
    assert_eq!(suite.len(), 9);
    check(&suite, 5);
}

#[test]
fn perft_matches_standard_suite() {
    check_suite("perft-standard.epd", 128, 5);
}

#[test]
fn perft_matches_fischer960_suite() {
    check_suite("perft-fischer960.epd", 960, 4);
}

#[test]
fn perft_matches_tricky_suite() {
    check_suite("tricky.perft", 26, 9);
}

#[test]
#[ignore = "slow: run by make check-slow"]
fn perft_matches_standard_suite_deep() {
    check_suite("perft-standard.epd", 128, 6);
}

#[test]
#[ignore = "slow: run by make check-slow"]
fn perft_matches_fischer960_suite_deep() {
    check_suite("perft-fischer960.epd", 960, 5);
}

#[test]
fn perft_until_stops_on_request_and_otherwise_counts_all() {
    let mut position = Position::startpos();
    let (before, calls) = (position.clone(), Cell::new(0));
    let after = |max_calls: u32| {
        calls.set(0);
        let calls = &calls;
        move || calls.replace(calls.get() + 1) >= max_calls
    };
    assert_eq!(perft_until(&mut position, 5, &after(99)), Some(4_865_609));
    assert_eq!(calls.get(), 21);
    assert_eq!(perft_until(&mut position, 60, &after(99)), None);
    assert_eq!(calls.get(), 100);
    assert!(position == before);
    assert_eq!(perft(&mut position, 0), 1);
}

#[test]
fn suite_parser_names_the_line() {
    for (text, what) in [
        ("8/8/8/8/8/8/8/8 w - -", "line 1"),
        ("# comment\n\n8/8/8/8/8/8/8/8 w - - ;D1", "line 3"),
        ("8/8/8/8/8/8/8/8 w - - ;X1 20", "line 1"),
        ("perft 1 20", "line 1"),
    ] {
        let why = format!("{:#}", parse_suite(text).expect_err(text));
        assert!(why.starts_with(what), "{text}: {why}");
    }
}

/// Exchanges as position, move, value: one of each kind from the shared suite.
const EXCHANGES: &str = "\
6k1/1pp4p/p1pb4/6q1/3P1pRr/2P4P/PP1Br1P1/5RKN w - - | f1f4 | -100 | P - R + B
2r1r1k1/pp1bppbp/3p1np1/q3P3/2P2P2/1P2B3/P1N1B1PP/2RQ1RK1 b - - | d6e5 | 100 | P
6RR/4bP2/8/8/5r2/3K4/5p2/4k3 w - - | f7f8n | 200 | N - P
7R/4bP2/8/8/1q6/3K4/5p2/4k3 w - - | f7f8r | -100 | -P
3q2nk/pb1r1p2/np6/3P2Pp/2p1P3/2R4B/PQ3P1P/3R2K1 w - h6 | g5h6 | 0
2r4k/2r4p/p7/2b2p1b/4pP2/1BR5/P1R3PP/2Q4K w - - | c3c5 | 300 | B
3r3k/3r4/2n1n3/8/3p4/2PR4/1B1Q4/3R3K w - - | d3d4 | -100 | P - R + N - P + N - B + R - Q + R
2r1k2r/pb4pp/5p1b/2KB3n/4N3/2NP1PB1/PPP1P1PP/R2Q3R w k - | d5c6 | -300 | -B
3n3r/2P5/8/1k6/8/8/3Q4/4K3 w - - | c7d8q | 700 | (N + Q - P) - Q + R
8/8/8/1k6/6b1/4N3/2p3K1/3n4 w - - | e3d1 | 0 | N - N
2r5/1P4pk/p2p1b1p/5b1n/BB3p2/2R2p2/P1P2P2/4RK2 w - - | c3c8 | 500 | R
8/8/1k6/8/8/2N1N3/4p1K1/3n4 w - - | c3d1 | 100 | N - (N + Q - P) + Q
r1bqk1nr/pppp1ppp/2n5/1B2p3/1b2P3/5N2/PPPP1PPP/RNBQK2R w KQkq - | e1g1 | 0
";

/// Checks that each exchange wins exactly its value. Returns the number of exchanges.
fn check_exchanges(suite: &str) -> usize {
    let lines = suite.lines().filter(|line| !line.trim().is_empty());
    let checked = lines.map(|line| {
        let fields: Vec<&str> = line.split('|').map(str::trim).collect();
        let position = Position::from_fen(fields[0], CastlingMode::Standard).expect(line);
        let m = position.parse_uci(fields[1]).expect(line);
        let value: i32 = fields[2].parse().expect(line);
        assert!(position.see_ge(m, value), "SEE below the value of {line}");
        assert!(!position.see_ge(m, value + 1), "SEE above the value of {line}");
    });
    checked.count()
}

#[test]
fn see_matches_embedded_exchanges() {
    assert_eq!(check_exchanges(EXCHANGES), 13);
}

#[test]
fn see_matches_suite() {
    assert_eq!(check_exchanges(&read_suite("see-hobbes.epd")), 71);
}
