//! Evaluates the FENs on standard input with the given network, or else with the embedded one.
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
        // Starts afresh for each line. For the moves of a game, `push` and `pop` would update the accumulators.
        accumulators.reset();
        let value = accumulators.evaluate(&position).value();
        println!("{value:>6}  {}", position.fen());
    }
    Ok(())
}
