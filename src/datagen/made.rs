//! Made positions: children of a sampled position by random legal moves.
//!
//! Samples of one game resemble one another, and a net memorises such games. Made positions vary the material and the
//! placement of the pieces around each sample at the cost of an incremental update of the labelling networks.
// CITE: own result, in `nets/PROVENANCE.md`: the net g1 learnt mostly from made positions.

use super::noisy::NoisyFilter;
use crate::board::{Move, Position};
use crate::nnue::AccumulatorStack;
use crate::util::rng::SplitMix64;

/// Largest number of random moves from the sample.
const MAX_PLIES: usize = 4;
/// One in this many random moves is a capture, if there are captures and other moves.
const CAPTURE_ONE_IN: usize = 3;

/// Lines of random legal moves from a sampled position.
pub struct Lines {
    position: Position,
    lines: Vec<Vec<MadeMove>>,
}

/// A random move.
struct MadeMove {
    m: Move,
    /// Whether the position after the move is used. Not if it is in check, because searches do not evaluate such
    /// positions either, not if it is the sample again, and not if the filter by exchanges rejects it.
    used: bool,
}

impl Lines {
    /// Evaluates the used positions in order. `stack` must be at the sampled position.
    pub fn evaluate(&mut self, stack: &mut AccumulatorStack, emit: &mut dyn FnMut(i32)) {
        let position = &mut self.position;
        for line in &self.lines {
            for made in line {
                stack.make(position, made.m);
                if made.used {
                    emit(stack.evaluate(&*position).value());
                }
            }
            for _ in line {
                stack.pop();
                position.undo_move();
            }
        }
    }
}

/// Makes positions from the samples of one game.
pub struct Maker {
    /// Made positions for each sample.
    share: f64,
    /// Made positions that are still missing for the samples so far; negative if there are too many.
    owed: f64,
    noisy: NoisyFilter,
    rng: SplitMix64,
}

impl Maker {
    /// Creates a maker of `share` positions for each sample on average, for a game with these random numbers.
    pub fn new(share: f64, noisy: NoisyFilter, rng: SplitMix64) -> Self {
        Self { share, owed: 0.0, noisy, rng }
    }

    /// Makes positions from a sample, if at least one is missing for the samples so far. `used` receives each
    /// position and the moves that lead to it.
    pub fn lines_from(&mut self, sample: &Position, mut used: impl FnMut(&Position, &[Move])) -> Option<Lines> {
        self.owed += self.share;
        if self.owed < 1.0 {
            return None;
        }
        let mut lines = Lines { position: sample.clone(), lines: Vec::new() };
        while self.owed >= 1.0 {
            let line = self.line(&mut lines.position, &mut used);
            let count = line.iter().filter(|made| made.used).count();
            lines.lines.push(line);
            self.owed -= count as f64;
            if count == 0 {
                // The sample may have no usable child. The next sample then makes up for it.
                break;
            }
        }
        Some(lines)
    }

    /// Makes a line of one to [`MAX_PLIES`] moves and undoes it.
    fn line(&mut self, position: &mut Position, used: &mut impl FnMut(&Position, &[Move])) -> Vec<MadeMove> {
        let sample = position.key();
        let plies = 1 + self.rng.below(MAX_PLIES);
        let (mut line, mut path) = (Vec::new(), Vec::new());
        for _ in 0..plies {
            let Some(m) = self.random_move(position) else {
                break;
            };
            position.do_move(m);
            path.push(m);
            let is_used =
                !position.in_check() && position.key() != sample && self.noisy.admits(position, &mut self.rng);
            line.push(MadeMove { m, used: is_used });
            if is_used {
                used(position, &path);
            }
        }
        for _ in &line {
            position.undo_move();
        }
        line
    }

    /// Returns a random legal move; `None` if there is none.
    fn random_move(&mut self, position: &Position) -> Option<Move> {
        let legal = position.legal_moves();
        let (captures, others): (Vec<Move>, Vec<Move>) = legal.iter().partition(|&&m| position.is_capture(m));
        let capture = self.rng.below(CAPTURE_ONE_IN) == 0;
        let chosen = if others.is_empty() || (capture && !captures.is_empty()) { captures } else { others };
        (!chosen.is_empty()).then(|| chosen[self.rng.below(chosen.len())])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::CastlingMode;
    use crate::nnue::Network;

    const FENS: [&str; 4] = [
        "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2",
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "8/5k2/3p4/3P4/2Q5/q7/5K2/8 b - - 0 1",
        // Stalemate: no position can be made.
        "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1",
    ];

    fn samples() -> impl Iterator<Item = Position> {
        FENS.iter().cycle().map(|fen| Position::from_fen(fen, CastlingMode::Standard).expect("a legal position"))
    }

    /// The positions made from `samples`, and the moves to each.
    fn made(share: f64, count: usize) -> Vec<(Position, Vec<Move>, Position)> {
        let mut maker = Maker::new(share, NoisyFilter::ALL, SplitMix64::new(5));
        let mut all = Vec::new();
        for sample in samples().take(count) {
            maker.lines_from(&sample, |position, path| all.push((sample.clone(), path.to_vec(), position.clone())));
        }
        all
    }

    #[test]
    fn made_positions_follow_from_their_samples_by_one_to_four_legal_moves() {
        let mut plies = [0; MAX_PLIES + 1];
        let mut captures = 0;
        for (sample, path, position) in made(2.0, 2000) {
            let mut replay = sample.clone();
            for &m in &path {
                assert!(replay.legal_moves().contains(&m));
                captures += usize::from(replay.is_capture(m));
                replay.do_move(m);
            }
            assert!(replay == position && !position.in_check());
            assert_ne!(position.key(), sample.key());
            plies[path.len()] += 1;
        }
        assert!(plies[0] == 0 && plies[1..].iter().all(|&count| count > 100), "{plies:?}");
        assert!(captures > 500, "{captures}");
    }

    #[test]
    fn number_of_made_positions_matches_the_share() {
        for share in [0.0, 0.4, 1.5, 6.0] {
            let made = made(share, 3000).len() as f64;
            assert!((made - 3000.0 * share).abs() <= 8.0 + 2.0 * share, "{share}: {made}");
        }
    }

    #[test]
    fn incremental_values_are_those_of_each_position() {
        let network = Network::embedded();
        let (mut stack, mut alone) = (AccumulatorStack::new(network.clone()), AccumulatorStack::new(network));
        let mut maker = Maker::new(5.0, NoisyFilter::ALL, SplitMix64::new(6));
        for sample in samples().take(8) {
            let mut wanted = Vec::new();
            let lines = maker.lines_from(&sample, |position, _| {
                alone.reset();
                wanted.push(alone.evaluate(position).value());
            });
            stack.reset();
            stack.evaluate(&sample);
            let mut found = Vec::new();
            lines.expect("lines").evaluate(&mut stack, &mut |value| found.push(value));
            assert_eq!(found, wanted);
        }
    }
}
