//! Plays matches between levels of the engine, each opening with both colours. The table of docs/levels.md was made
//! with this program.
//!
//! `cargo run --release --example level_match -- 200 500 700 900` plays 200 games between each two consecutive levels.
//! A level can also be given by its handicap: `NODES,NOISE,OVERSIGHT`. `--book FILE` reads the openings from a book.

use std::path::PathBuf;

use zoothera::board::openings::Openings;
use zoothera::board::{CastlingMode, Color, Position};
use zoothera::level::{Handicap, Level};
use zoothera::nnue::Network;
use zoothera::search::{Limits, STACK_BYTES, Solo};
use zoothera::util::rng::SplitMix64;

/// Number of plies after which a game is drawn.
const MAX_PLIES: usize = 400;

/// Results of a match, from the first side's point of view.
#[derive(Default)]
struct Score {
    won: usize,
    drawn: usize,
    lost: usize,
}

impl Score {
    /// Points of the first side in percent.
    fn percent(&self) -> f64 {
        let games = (self.won + self.drawn + self.lost).max(1) as f64;
        100.0 * (self.won as f64 + self.drawn as f64 / 2.0) / games
    }
}

fn main() -> anyhow::Result<()> {
    // The search is recursive and needs a larger stack than the main thread has on some systems.
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
    match thread.spawn(run)?.join() {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

fn run() -> anyhow::Result<()> {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let book = words.iter().position(|word| word == "--book");
    let book: Option<PathBuf> = book.map(|at| words.drain(at..at + 2).skip(1).collect());
    let games: usize = words.first().map_or(Ok(100), |word| word.parse())?;
    let openings = Openings::new(book.as_deref(), CastlingMode::Standard, None)?;
    for pair in words.get(1..).unwrap_or_default().windows(2) {
        let handicaps = [pair[1].parse()?, pair[0].parse()?];
        let score = play_match(handicaps, games, &openings)?;
        let Score { won, drawn, lost } = score;
        println!("{} - {}: +{won} ={drawn} -{lost}, {:.1} %", pair[1], pair[0], score.percent());
    }
    Ok(())
}

/// Plays `games` games (rounded up to an even number) between two handicaps.
fn play_match(handicaps: [Handicap; 2], games: usize, openings: &Openings) -> anyhow::Result<Score> {
    let mut sides = [(); 2].map(|()| Solo::new(Network::embedded(), 1));
    let mut rng = SplitMix64::new(1);
    let mut score = Score::default();
    for _ in 0..games.div_ceil(2) {
        let opening = openings.next(&mut rng, |_| true)?;
        for first_is in [Color::White, Color::Black] {
            for (side, handicap) in sides.iter_mut().zip(handicaps) {
                let seed = rng.next_u64();
                side.set_level(Some(Level { handicap, seed }));
            }
            match play(&mut sides, first_is, opening.clone()) {
                None => score.drawn += 1,
                Some(winner) if winner == first_is => score.won += 1,
                Some(_) => score.lost += 1,
            }
        }
    }
    Ok(score)
}

/// Plays a game and returns the winner's colour; `None` for a draw. The first side plays `first_is`.
fn play(sides: &mut [Solo; 2], first_is: Color, mut position: Position) -> Option<Color> {
    for _ in 0..MAX_PLIES {
        if position.is_draw(0) {
            return None;
        }
        let side = &mut sides[usize::from(position.turn() != first_is)];
        match side.search(&position, &Limits::default()) {
            Some(found) => position.do_move(found.m),
            None if position.in_check() => return Some(!position.turn()),
            None => return None,
        };
    }
    None
}
