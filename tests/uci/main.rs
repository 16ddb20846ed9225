//! End-to-end tests of the protocol: they drive the built engine in the role of a GUI. Every case that is known to
//! have broken an engine is tested here.

#[path = "../common/mod.rs"]
mod common;
mod extras;
mod handshake;
mod input;
mod lasting;
mod levels;
mod options;
mod positions;
mod searching;
mod tables;
mod truth;

use std::time::Duration;

const MATED: &str = "position fen 7k/6Q1/6K1/8/8/8/8/8 b - - 0 1";
const STALEMATED: &str = "position fen 7k/5Q2/6K1/8/8/8/8/8 b - - 0 1";
const CASTLING: &str = "position fen r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";
const SHORT: Duration = Duration::from_millis(150);

fn bestmoves(lines: &[String]) -> usize {
    lines.iter().filter(|line| line.starts_with("bestmove")).count()
}
