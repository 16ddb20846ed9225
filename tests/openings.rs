//! The built-in book of openings: its content, and its generation.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use zoothera::board::openings::Book;
use zoothera::board::{CastlingMode, Move, Position};
use zoothera::nnue::Network;
use zoothera::search::{Limits, STACK_BYTES, Solo};
use zoothera::util::rng::SplitMix64;

/// Openings in the book.
const COUNT: usize = 3000;
/// Minimum number of random plies; the maximum is two more.
const PLIES: usize = 6;
/// Nodes of the two searches of an opening: a short one that discards most of the bad ones, and a longer one.
const NODES: [u64; 2] = [200, 10_000];
/// Largest |score| of these searches in engine units. About 210 of them are a pawn in the opening.
const LIMITS: [i32; 2] = [400, 200];
const SEED: u64 = 1;
/// Largest size of the file in bytes.
const LARGEST: u64 = 200_000;

fn on_a_large_stack(work: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
        let thread = thread.spawn_scoped(scope, work).expect("a thread");
        thread.join().expect("the work ends");
    });
}

/// The score of a search without results of earlier searches.
fn score(position: &Position, nodes: u64, solo: &mut Solo) -> i32 {
    solo.clear();
    let limits = Limits { nodes: Some(nodes), ..Limits::default() };
    solo.search(position, &limits).expect("a move").value
}

/// A random line, if the side to move is not in check after it and the game is not over.
fn random_line(rng: &mut SplitMix64) -> Option<(String, Position)> {
    let mut position = Position::startpos();
    let mut line = Vec::new();
    for _ in 0..PLIES + rng.below(3) {
        let moves = position.legal_moves();
        if moves.is_empty() {
            return None;
        }
        let m: Move = moves[rng.below(moves.len())];
        line.push(position.uci(m, false));
        position.do_move(m);
    }
    let playable = !position.in_check() && !position.legal_moves().is_empty();
    playable.then(|| (line.join(" "), position))
}

/// The text of the book.
fn make() -> String {
    let mut rng = SplitMix64::new(SEED);
    let mut solo = Solo::new(Network::embedded(), 1);
    let (mut keys, mut lines) = (HashSet::new(), Vec::new());
    while lines.len() < COUNT {
        let Some((line, position)) = random_line(&mut rng) else {
            continue;
        };
        let even = |(nodes, limit)| score(&position, nodes, &mut solo).abs() <= limit;
        if NODES.into_iter().zip(LIMITS).all(even) && keys.insert(position.key()) {
            lines.push(line);
        }
    }
    lines.sort();
    let mut text = format!(
        "# {COUNT} openings of zoothera {}: {PLIES} to {} random plies, at most {} units after {} nodes, \
         seed {SEED}.\n",
        env!("CARGO_PKG_VERSION"),
        PLIES + 2,
        LIMITS[1],
        NODES[1]
    );
    for line in lines {
        let _ = writeln!(text, "{line}");
    }
    text
}

/// Generates the book again. The same search and net generate the same book; another net generates another one, which
/// need not be committed.
#[test]
#[ignore = "takes minutes and writes src/board/openings.txt.gz: cargo test --release --test openings -- --ignored"]
fn builtin_book_is_made_again() {
    on_a_large_stack(|| {
        let mut packed = GzEncoder::new(Vec::new(), Compression::best());
        packed.write_all(make().as_bytes()).expect("a vector");
        let packed = packed.finish().expect("a vector");
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/board/openings.txt.gz");
        fs::write(path, packed).expect("src/ is writable");
    });
}

#[test]
fn builtin_book_is_small_and_has_no_position_twice() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/board/openings.txt.gz");
    let size = fs::metadata(path).expect("the book").len();
    assert!(size < LARGEST, "{size} bytes");
    let book = Book::builtin().expect("the book");
    assert_eq!((book.len(), book.skipped()), (COUNT, None));
    let mut keys = HashSet::new();
    for number in 0..book.len() {
        let opening = book.opening(number);
        let line = &book.lines()[number];
        assert!((PLIES..=PLIES + 2).contains(&opening.moves.len()), "{line}");
        let position = opening.position();
        assert!(!position.in_check() && !position.is_draw(0), "{line}");
        assert!(!position.legal_moves().is_empty(), "{line}");
        assert!(keys.insert(position.key()), "{line} is there twice");
    }
}

#[test]
fn builtin_openings_are_balanced() {
    on_a_large_stack(|| {
        let book = Book::builtin().expect("the book");
        let mut solo = Solo::new(Network::embedded(), 1);
        // Another net gives slightly different scores.
        for number in (0..book.len()).step_by(60) {
            let score = score(&book.opening(number).position(), 1000, &mut solo);
            assert!(score.abs() < 500, "{score}: {}", book.lines()[number]);
        }
    });
}

#[test]
fn builtin_book_is_refused_for_chess960() {
    let name = Path::new("builtin");
    assert!(Book::read(name, CastlingMode::Standard).is_ok());
    assert!(Book::read(name, CastlingMode::Chess960).is_err());
}
