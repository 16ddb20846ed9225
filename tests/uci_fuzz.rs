//! Fuzzing with random and mutated input: the engine neither crashes nor hangs, and each `go` gets one `bestmove`.

mod common;

use std::str::FromStr;
use std::time::{Duration, Instant};

use common::driver::{Driver, PATIENCE};
use zoothera::uci::command::{Command, NonUciCommand};
use zoothera::util::rng::SplitMix64;

/// Typical lines of GUIs and users, from which mutations start.
const SEEDS: &[&str] = &[
    "uci",
    "isready",
    "ucinewgame",
    "stop",
    "ponderhit",
    "debug on",
    "debug off",
    "register later",
    "position startpos",
    "position startpos moves e2e4 e7e5 g1f3 b8c6 f1b5 a7a6",
    "position startpos moves e2e4 e7e5 e1e2 e8e7 e2e1 e7e8",
    "position fen r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1 moves e1g1 e8c8",
    "position fen 8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1 moves e2e4 f4e3",
    "position fen bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9",
    "position fen 7k/6Q1/6K1/8/8/8/8/8 b - - 0 1",
    "position fen 8/P7/8/8/8/8/k6p/7K w - - 99 80 moves a7a8n",
    "position fen 2k5/8/3K4/1p6/p7/P7/1B6/8 b KQkq - 0 1",
    "go depth 2",
    "go nodes 50",
    "go movetime 1",
    "go infinite",
    "go ponder wtime 10 btime 10",
    "go wtime 10 btime 10 winc 1 binc 1 movestogo 3",
    "go mate 1 searchmoves e2e4 d2d4",
    "go excludemoves e2e4 depth 1",
    "go wtime -5",
    "go perft 1",
    "setoption name Hash value 4",
    "setoption name Threads value 2",
    "setoption name MultiPV value 3",
    "setoption name Move Overhead value 5",
    "setoption name UCI_Chess960 value true",
    "setoption name UCI_Chess960 value false",
    "setoption name UCI_ShowWDL value true",
    "setoption name Clear Hash",
    "setoption name nodestime value 100",
    "setoption name EvalFile value nothing.nnue",
    "setoption name EvalFile value <default>",
    "setoption name SyzygyPath value <empty>",
    "d",
    "eval",
    "flip",
    "help",
    "cpu",
];

/// Words that are inserted into lines.
const FRAGMENTS: &[&str] = &[
    "-1",
    "0",
    "99999999999999999999",
    "abc",
    "e2e4",
    "e7e8q",
    "0000",
    "moves",
    "go",
    "name",
    "value",
    "fen",
    "depth",
    "infinite",
    "\t",
    "\0",
    "  ",
    "\u{feff}",
    "é",
    "(none)",
    "/",
    "k",
    "K",
    "8",
    "9",
    "w",
    "-",
    "startpos",
    "ponder",
];

/// A random line: usually a mutated seed, sometimes random bytes.
fn mutate(rng: &mut SplitMix64) -> Vec<u8> {
    if rng.below(20) == 0 {
        return (0..rng.below(200)).map(|_| rng.next_u64() as u8).collect();
    }
    let mut line = SEEDS[rng.below(SEEDS.len())].as_bytes().to_vec();
    for _ in 0..rng.below(4) {
        let at = rng.below(line.len() + 1);
        match rng.below(6) {
            0 => line.insert(at, rng.next_u64() as u8),
            1 => line.truncate(at),
            2 if at < line.len() => line[at] = rng.next_u64() as u8,
            3 if at < line.len() => drop(line.remove(at)),
            4 => {
                let other = SEEDS[rng.below(SEEDS.len())].as_bytes();
                line.splice(at..at, other[rng.below(other.len())..].iter().copied());
            }
            _ => {
                let fragment = FRAGMENTS[rng.below(FRAGMENTS.len())].as_bytes();
                line.splice(at..at, [b" ", fragment, b" "].concat());
            }
        }
    }
    line
}

/// Whether a line starts a search. Returns `None` for lines that must not be sent, because they would end the engine,
/// run long by design, or write files with arbitrary names.
fn starts_search(line: &[u8]) -> Option<bool> {
    let text = String::from_utf8_lossy(line);
    match Command::from_str(&text) {
        Ok(Command::Quit) => None,
        Ok(Command::NonUci(NonUciCommand::Bench | NonUciCommand::GenFens | NonUciCommand::Perft, _)) => None,
        Ok(Command::Go(go)) if go.perft.is_some_and(|depth| depth > 3) => None,
        Ok(Command::Go(go)) => Some(go.perft.is_none()),
        Ok(Command::SetOption { name, value }) => {
            let value = value.unwrap_or_default();
            let number: i64 = value.trim().parse().unwrap_or(0);
            let is = |other: &str| name.eq_ignore_ascii_case(other);
            let heavy = (is("Hash") && number > 64) || (is("Threads") && number > 4);
            let log = is("Debug Log File") || is("DebugLogFile");
            (!heavy && !log).then_some(false)
        }
        _ => Some(false),
    }
}

/// Sends random lines in batches and counts the answers.
fn fuzz(lines: usize, default_seed: u64) {
    const BATCH: usize = 250;
    let mut rng = SplitMix64::new(common::seed::seed(default_seed));
    let mut engine = Driver::start();
    let mut sent = 0;
    while sent < lines {
        let mut batch = Vec::new();
        let mut searches = 0;
        while batch.len() < BATCH {
            let mut line = mutate(&mut rng);
            line.retain(|&byte| byte != b'\n');
            if let Some(is_search) = starts_search(&line) {
                searches += usize::from(is_search);
                batch.push(line);
            }
        }
        let mut ready = batch.iter().filter(|line| is_ready(line)).count() + 1;
        let mut bytes = batch.join(&b'\n');
        bytes.extend_from_slice(b"\nstop\nisready\n");
        engine.send_bytes(&bytes);
        sent += BATCH;

        let start = Instant::now();
        let mut missing = searches;
        while missing > 0 || ready > 0 {
            match engine.next(PATIENCE) {
                Ok(line) if line.starts_with("bestmove ") => {
                    missing = missing
                        .checked_sub(1)
                        .unwrap_or_else(|| panic!("more bestmoves than searches, {}", saved(&batch)));
                }
                Ok(line) if line == "readyok" => ready -= 1,
                Ok(line) => assert!(!line.contains("ERROR: internal"), "{line}: {}", saved(&batch)),
                Err(_) => panic!("{missing} bestmoves and {ready} readyoks are missing, {}", saved(&batch)),
            }
            assert!(start.elapsed() < 6 * PATIENCE, "a batch takes too long, {}", saved(&batch));
        }
    }
    let rest = engine.listen(Duration::from_millis(100));
    assert!(!rest.iter().any(|line| line.starts_with("bestmove")), "{rest:?}");
    engine.close_input();
    assert!(engine.exit().0.success());
}

fn is_ready(line: &[u8]) -> bool {
    Command::from_str(&String::from_utf8_lossy(line)) == Ok(Command::IsReady)
}

/// Saves a batch to reproduce a failure, and returns a note with its path.
fn saved(batch: &[Vec<u8>]) -> String {
    let path = std::env::temp_dir().join(format!("zoothera-fuzz-{}.tmp", std::process::id()));
    let _ = std::fs::write(&path, batch.join(&b'\n'));
    format!("the batch is in {}", path.display())
}

#[test]
fn engine_survives_random_input() {
    fuzz(10_000, 0x5EED);
}

#[test]
#[ignore = "a million lines take minutes; make check-slow"]
fn engine_survives_a_million_random_lines() {
    fuzz(1_000_000, 0xB16);
}
