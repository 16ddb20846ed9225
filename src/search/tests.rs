//! Positions and workers for the unit tests of the search.

use std::sync::Arc;

use super::history::SharedHistories;
use super::request::{SearchRequest, Signals};
use super::tt::TranspositionTable;
use super::worker::Worker;
use super::{Limits, SearchOptions, Silent};
use crate::board::{CastlingMode, Move, Position};
use crate::nnue::Network;
use crate::util::rng::SplitMix64;

/// Starts of random games: they contain castling, en passant, promotions, pins, checks and endings.
const STARTS: [&str; 6] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
    "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
    "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9",
];

/// Plies of a random game.
const PLIES: usize = 80;

/// The position of a FEN, in either castling mode.
pub fn position(fen: &str) -> Position {
    Position::from_fen(fen, CastlingMode::Chess960).expect(fen)
}

/// `count` positions of random games in which a legal move exists; the same in every run.
pub fn random_positions(count: usize) -> Vec<Position> {
    let mut rng = SplitMix64::new(count as u64);
    let mut found = Vec::with_capacity(count);
    for start in STARTS.iter().cycle() {
        let mut game = position(start);
        for _ in 0..PLIES {
            let moves = game.legal_moves();
            if moves.is_empty() || found.len() == count {
                break;
            }
            if rng.below(8) == 0 {
                found.push(game.clone());
            }
            game.do_move(moves[rng.below(moves.len())]);
        }
        if found.len() == count {
            return found;
        }
    }
    found
}

/// A worker with the default net, ready to search `position`.
pub fn worker(position: &Position) -> Worker {
    let mut worker = Worker::new(0, Arc::new(Signals::new(1)), Network::embedded(), SharedHistories::new(1));
    worker.signals.stop.store(false, std::sync::atomic::Ordering::Relaxed);
    set_position(&mut worker, position);
    worker
}

/// Prepares `worker` for another position; histories are kept.
pub fn set_position(worker: &mut Worker, position: &Position) {
    worker.begin(Arc::new(request(position, Limits::default())));
}

/// A search of `position` with a small table of its own.
pub fn request(position: &Position, limits: Limits) -> SearchRequest {
    let table = Arc::new(TranspositionTable::new(1).expect("memory"));
    SearchRequest::new(position.clone(), limits, SearchOptions::default(), table, Arc::new(Silent))
}

/// Makes `moves` (in UCI notation), runs `test` at the resulting position, and undoes the moves.
pub fn at_line(worker: &mut Worker, moves: &[&str], test: &mut dyn FnMut(&mut Worker)) {
    let Some((first, rest)) = moves.split_first() else {
        return test(worker);
    };
    let m = uci(worker, first);
    worker.child(m, |w| at_line(w, rest, test));
}

/// A legal move in UCI notation.
pub fn uci(worker: &Worker, text: &str) -> Move {
    worker.position.parse_uci(text).expect(text)
}
