//! Plays a match between two networks in one process, each opening with both colours.
//!
//! `cargo run --release --example engine_match -- new.nnue old.nnue`

use std::sync::Arc;

use zoothera::board::openings::Openings;
use zoothera::board::{CastlingMode, Color, Position};
use zoothera::nnue::Network;
use zoothera::search::{Limits, SearchOptions, Silent, ThreadPool};
use zoothera::util::rng::SplitMix64;

/// Number of nodes for each move.
const NODES: u64 = 5000;
/// Number of openings, each played twice.
const OPENINGS: usize = 10;
/// Number of plies after which a game is drawn.
const MAX_PLIES: usize = 400;

fn main() -> anyhow::Result<()> {
    let mut paths = std::env::args().skip(1);
    let mut engine = || -> anyhow::Result<ThreadPool> {
        let network = match paths.next() {
            Some(path) => Arc::new(Network::from_file(path)?),
            None => Network::embedded(),
        };
        Ok(ThreadPool::new(network, 1, 16))
    };
    let mut engines = [engine()?, engine()?];
    let openings = Openings::new(None, CastlingMode::Standard, None)?;
    let mut rng = SplitMix64::new(1);
    let [mut won, mut drawn, mut lost] = [0; 3];
    for _ in 0..OPENINGS {
        let opening = openings.next(&mut rng, |_| true)?;
        for first_is in [Color::White, Color::Black] {
            *match play(&mut engines, first_is, opening.clone()) {
                None => &mut drawn,
                Some(winner) if winner == first_is => &mut won,
                Some(_) => &mut lost,
            } += 1;
            println!("+{won} ={drawn} -{lost}");
        }
    }
    Ok(())
}

/// Plays a game and returns the winner's colour; `None` for a draw. The first engine plays `first_is`.
fn play(engines: &mut [ThreadPool; 2], first_is: Color, mut position: Position) -> Option<Color> {
    engines.iter_mut().for_each(ThreadPool::clear);
    let limits = Limits { nodes: Some(NODES), ..Limits::default() };
    for _ in 0..MAX_PLIES {
        if position.is_draw(0) {
            return None;
        }
        let engine = &mut engines[usize::from(position.turn() != first_is)];
        let (limits, options) = (limits.clone(), SearchOptions::default());
        let outcome = engine.search(position.clone(), limits, options, Arc::new(Silent));
        match outcome.best {
            Some(m) => {
                position.do_move(m);
            }
            None if position.in_check() => return Some(!position.turn()),
            None => return None,
        }
    }
    None
}
