//! The board against published suites, embedded ones and those of the shared folder (`ZOOTHERA_SHARED`, or
//! `../shared`): the move generator by perft, static exchange evaluation by known values.
//!
//! `make check-slow` runs the ignored tests too.

mod shared;

use std::cell::Cell;

use zoothera::board::perft::{SuiteLine, parse_suite, perft, perft_until};
use zoothera::board::{CastlingMode, Position};

/// The classics of the chess programming wiki, and Chess960 castling from the fischer960 suite.
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
                suite
                    .iter()
                    .skip(start)
                    .step_by(threads)
                    .for_each(|line| check_line(line, max_depth));
            });
        }
    });
}

/// The deepest count within the limit: it contains the shallower ones.
fn check_line(line: &SuiteLine, max_depth: u32) {
    let wanted = line
        .counts
        .iter()
        .filter(|(depth, _)| *depth <= max_depth)
        .max();
    let Some(&(depth, count)) = wanted else {
        return;
    };
    let mut position = Position::from_fen(&line.fen, CastlingMode::Chess960).expect(&line.fen);
    assert_eq!(
        perft(&mut position, depth),
        count,
        "perft {depth} of {}",
        line.fen
    );
}

fn shared_suite(file: &str) -> Option<Vec<SuiteLine>> {
    let path = shared::shared(&format!("epd/{file}"))?;
    let text = std::fs::read_to_string(path).expect("a readable file");
    Some(parse_suite(&text).unwrap_or_else(|why| panic!("{file}: {why:#}")))
}

fn check_shared(file: &str, lines: usize, max_depth: u32) {
    if let Some(suite) = shared_suite(file) {
        assert!(
            suite.len() >= lines,
            "{file} has only {} positions",
            suite.len()
        );
        check(&suite, max_depth);
    }
}

#[test]
fn embedded() {
    let suite = parse_suite(EMBEDDED).expect("the embedded suite");
    assert_eq!(suite.len(), 9);
    check(&suite, 5);
}

#[test]
fn standard() {
    check_shared("perft-standard.epd", 127, 5);
}

#[test]
fn fischer960() {
    check_shared("perft-fischer960.epd", 960, 4);
}

#[test]
fn tricky() {
    check_shared("tricky.perft", 20, 9);
}

#[test]
#[ignore = "slow: run by make check-slow"]
fn standard_deep() {
    check_shared("perft-standard.epd", 127, 6);
}

#[test]
#[ignore = "slow: run by make check-slow"]
fn fischer960_deep() {
    check_shared("perft-fischer960.epd", 960, 5);
}

#[test]
fn a_count_can_be_stopped_and_is_the_same_if_not() {
    let mut position = Position::startpos();
    let (before, asked) = (position.clone(), Cell::new(0));
    let after = |most: u32| {
        asked.set(0);
        let asked = &asked;
        move || asked.replace(asked.get() + 1) >= most
    };
    assert_eq!(perft_until(&mut position, 5, &after(99)), Some(4_865_609));
    assert_eq!(asked.get(), 21);
    assert_eq!(perft_until(&mut position, 60, &after(99)), None);
    assert_eq!(asked.get(), 100);
    assert!(position == before);
    assert_eq!(perft(&mut position, 0), 1);
}

#[test]
fn suite_errors_name_the_line() {
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

#[test]
fn exchanges_of_the_suite() {
    let Some(path) = shared::shared("epd/see-hobbes.epd") else {
        return;
    };
    let text = std::fs::read_to_string(path).expect("a readable file");
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let checked = lines.map(|line| {
        let fields: Vec<&str> = line.split('|').map(str::trim).collect();
        let position = Position::from_fen(fields[0], CastlingMode::Standard).expect(line);
        let m = position.parse_uci(fields[1]).expect(line);
        let value: i32 = fields[2].parse().expect(line);
        assert!(position.see_ge(m, value), "less than {line}");
        assert!(!position.see_ge(m, value + 1), "more than {line}");
    });
    assert!(checked.count() >= 70, "a short file");
}
