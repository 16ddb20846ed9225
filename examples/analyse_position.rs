//! Analyses a position and prints each line that the search reports.
//!
//! ```sh
//! cargo run --release --example analyse_position -- \
//!     "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5Q2/PPPP1PPP/RNB1K1NR w KQkq - 4 4" 14
//! ```

use std::sync::Arc;

use zoothera::board::{CastlingMode, Position};
use zoothera::nnue::Network;
use zoothera::search::{Limits, Line, Outcome, Progress, Reporter, Score, SearchOptions, ThreadPool};

/// Prints what the search reports about the position.
struct Printer(Position);

impl Reporter for Printer {
    fn line(&self, line: &Line, progress: &Progress) {
        let score = match line.score {
            Score::Centipawns(value) => format!("{:+.2}", f64::from(value) / 100.0),
            Score::Mate(moves) => format!("#{moves}"),
        };
        let mut position = self.0.clone();
        let moves = line.pv.iter().map(|&m| {
            let san = position.san(m);
            position.do_move(m);
            san
        });
        let moves: Vec<String> = moves.collect();
        let (depth, nodes) = (line.depth, progress.nodes);
        println!("{depth:>3} {score:>7} {nodes:>10}  {}", moves.join(" "));
    }

    fn done(&self, outcome: &Outcome) {
        match outcome.best {
            Some(m) => println!("best move: {}", self.0.san(m)),
            None => println!("no legal move"),
        }
    }
}

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let position = match arguments.next() {
        Some(fen) => Position::from_fen(&fen, CastlingMode::Standard)?,
        None => Position::startpos(),
    };
    let depth = arguments.next().map_or(Ok(12), |text| text.parse())?;
    let limits = Limits { depth: Some(depth), ..Limits::default() };
    // One thread and a transposition table of 64 MiB.
    let mut pool = ThreadPool::new(Network::embedded(), 1, 64);
    let printer = Arc::new(Printer(position.clone()));
    pool.search(position, limits, SearchOptions::default(), printer);
    Ok(())
}
