//! Evaluates the FENs on standard input with a network, the one inside the binary if none is named.
//!
//! `cargo run --release --example evaluate_fens -- my.nnue < positions.fen`

use std::io::stdin;
use std::sync::Arc;

use zoothera::board::{CastlingMode, Position};
use zoothera::nnue::{AccumulatorStack, Network};

fn main() -> anyhow::Result<()> {
    let network = match std::env::args().nth(1) {
        Some(path) => Arc::new(Network::from_file(path)?),
        None => Network::embedded(),
    };
    eprintln!("{}", network.architecture());
    let mut accumulators = AccumulatorStack::new(network);
    for line in stdin().lines() {
        let position = Position::from_fen(&line?, CastlingMode::Standard)?;
        // Nothing is carried over from the line before. Along a game, `push` and `pop` would update it by each move.
        accumulators.reset();
        let value = accumulators.evaluate(&position).value();
        println!("{value:>6}  {}", position.fen());
    }
    Ok(())
}
