//! Which positions are labelled, besides those of a search: starts of endgames, a share of the positions with a winning
//! exchange, and positions made from samples by random moves.

use std::ops::RangeInclusive;

use crate::board::{Move, Position};
use crate::nnue::AccumulatorStack;
use crate::search::score::Value;
use crate::util::rng::SplitMix64;

// Endgames: the choice of samples from which further games start.
//
// A game of short searches is mostly decided when few pieces are left. Samples of such games contain few endgames that
// either side can still win, so a net learns little about them. Games that start from a level endgame make up for it.
// The value of a position in check or with an exchange that wins material says little about that, so starts are quiet.
// MEASURED: the net x7, trained without such games, lost 24 +- 7 Elo to one of its teachers in games that began with 7
// to 14 pieces (docs/experiments.md).

/// Numbers of pieces, kings included, with which an endgame starts.
const PIECES: RangeInclusive<usize> = 10..=22;
/// Largest |value| of a start, in engine units: about one and a half pawns.
const MAX_VALUE: Value = 330;

/// Starts of endgames, chosen at random from the suitable samples of a game.
pub struct EndgameStarts {
    /// Number of starts to choose.
    wanted: usize,
    /// Number of suitable samples so far.
    suitable: usize,
    starts: Vec<Position>,
    rng: SplitMix64,
}

impl EndgameStarts {
    /// Chooses `share` starts on average, from a game with these random numbers.
    pub fn new(share: f64, mut rng: SplitMix64) -> Self {
        let fraction = rng.unit();
        Self { wanted: (share + fraction) as usize, suitable: 0, starts: Vec::new(), rng }
    }

    /// Considers a sample, with its value from the view of the side to move. Every suitable sample of the game is
    /// chosen with the same probability.
    pub fn consider(&mut self, sample: &Position, value: Value) {
        let is_suitable = value.abs() <= MAX_VALUE && PIECES.contains(&sample.occupied().count());
        if self.wanted == 0 || !is_suitable || !is_quiet(sample) {
            return;
        }
        // CITE: reservoir sampling: Vitter, "Random sampling with a reservoir", ACM TOMS 11, 1985.
        self.suitable += 1;
        if self.starts.len() < self.wanted {
            self.starts.push(sample.clone());
            return;
        }
        let place = self.rng.below(self.suitable);
        if let Some(start) = self.starts.get_mut(place) {
            start.clone_from(sample);
        }
    }

    /// Returns the starts, without the moves that led to them. Samples of later games are not considered.
    pub fn take(&mut self) -> Vec<Position> {
        self.wanted = 0;
        self.starts.drain(..).map(|start| Position::from_chess(&start.to_chess())).collect()
    }

    /// Returns a random number generator for the next endgame.
    pub fn next_rng(&mut self) -> SplitMix64 {
        SplitMix64::new(self.rng.next_u64())
    }
}

/// Whether the side to move is not in check, and no capture or promotion wins material.
fn is_quiet(position: &Position) -> bool {
    !position.in_check() && !position.can_win_material()
}

// Filter by exchanges: a share of the positions in which a capture or a promotion wins material.
//
// Most samples of short searches are such positions. What a net gains and loses without them is in
// `docs/experiments.md`.
// CITE: training on quiet positions only is common (nnue-pytorch's "smart FEN skipping" judges by the best move).

/// Share of the positions to keep in which a capture or a promotion to a queen wins material for the side to move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoisyFilter(f64);

impl NoisyFilter {
    /// Keeps all positions.
    pub const ALL: Self = Self(1.0);

    /// Keeps this share of the noisy positions, from 0 to 1.
    pub const fn keeping(share: f64) -> Self {
        Self(share)
    }

    /// Whether the filter keeps the position. Draws a random number only for noisy ones.
    pub fn admits(self, position: &Position, rng: &mut SplitMix64) -> bool {
        self == Self::ALL || !position.can_win_material() || rng.unit() < self.0
    }
}

// Made positions: children of a sampled position by random legal moves.
//
// Samples of one game resemble one another, and a net memorises such games. Made positions vary the material and the
// placement of the pieces around each sample at the cost of an incremental update of the labelling networks.
// CITE: own result, in `nets/PROVENANCE.md`: the net g1 learnt mostly from made positions.

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
    /// Whether the position after the move is used. Three kinds are not: positions in check, which searches do not
    /// evaluate either, the sample itself, and those that the filter by exchanges rejects.
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

    const ENDGAME: &str = "8/5pk1/1R4p1/p6p/1r2PP1P/6P1/5K2/8 w - - 3 40";
    const FEW: &str = "8/5k2/3p4/3P4/2Q5/q7/5K2/8 b - - 0 1";

    fn position(fen: &str) -> Position {
        Position::from_fen(fen, CastlingMode::Standard).expect(fen)
    }

    fn chosen(share: f64, samples: &[(&Position, Value)]) -> Vec<Position> {
        let mut starts = EndgameStarts::new(share, SplitMix64::new(3));
        samples.iter().for_each(|&(sample, value)| starts.consider(sample, value));
        starts.take()
    }

    #[test]
    fn starts_have_few_pieces_and_a_small_value() {
        let (endgame, few, start) = (position(ENDGAME), position(FEW), Position::startpos());
        assert!(chosen(5.0, &[(&few, 0), (&start, 0), (&endgame, 331), (&endgame, -331)]).is_empty());
        assert_eq!(chosen(5.0, &[(&few, 0), (&endgame, -330), (&start, 0), (&endgame, 330)]).len(), 2);
        assert!(chosen(0.0, &[(&endgame, 0)]).is_empty());
    }

    #[test]
    fn starts_are_quiet() {
        let quiet = position(ENDGAME);
        // A rook that a pawn or the king can take, and a check.
        let hanging = position("8/5pk1/1R4p1/p6p/1r2PP1P/P5P1/5K2/8 w - - 3 40");
        let check = position("8/5pk1/6R1/p6p/1r2PP1P/5pP1/5K2/8 b - - 3 40");
        assert!(check.in_check());
        assert!(chosen(5.0, &[(&hanging, 0), (&check, 0)]).is_empty());
        assert_eq!(chosen(5.0, &[(&hanging, 0), (&quiet, 0)]).len(), 1);
    }

    #[test]
    fn number_of_starts_matches_the_share() {
        let endgame = position(ENDGAME);
        let starts = |seed| {
            let mut starts = EndgameStarts::new(1.25, SplitMix64::new(seed));
            (0..9).for_each(|_| starts.consider(&endgame, 0));
            starts.take().len()
        };
        let sum: usize = (0..4000).map(starts).sum();
        assert!((4800..5200).contains(&sum), "{sum}");
    }

    #[test]
    fn every_suitable_sample_is_chosen_equally_often() {
        let kings = ["8/5pk1/1R4p1", "6k1/5p2/1R4p1", "8/5p1k/1R4p1", "5k2/5p2/1R4p1", "4k3/5p2/1R4p1"];
        let samples = kings.map(|king| position(&format!("{king}/p6p/1r2PP1P/6P1/5K2/8 w - - 3 40")));
        let mut counts = [0; 5];
        let mut seeds = SplitMix64::new(1);
        for _ in 0..5000 {
            let mut starts = EndgameStarts::new(1.0, SplitMix64::new(seeds.next_u64()));
            samples.iter().for_each(|sample| starts.consider(sample, 0));
            let key = starts.take()[0].key();
            counts[samples.iter().position(|sample| sample.key() == key).expect("one of the samples")] += 1;
        }
        assert!(counts.iter().all(|count| (880..1120).contains(count)), "{counts:?}");
    }

    #[test]
    fn a_start_has_no_history() {
        let mut endgame = position(&ENDGAME.replace(" w ", " b "));
        let m = endgame.legal_moves().iter().copied().find(|&m| {
            let mut next = endgame.clone();
            next.do_move(m);
            is_quiet(&next)
        });
        endgame.do_move(m.expect("a quiet move"));
        let start = chosen(1.0, &[(&endgame, 0)]).remove(0);
        assert_eq!((start.history_len(), start.fen()), (0, endgame.fen()));
    }

    #[test]
    fn filter_keeps_quiet_positions_and_the_share_of_noisy_ones() {
        let (quiet, noisy) = (position("4k3/8/8/8/8/8/8/3RK3 w - - 0 1"), position("4k3/8/3p4/8/8/8/8/3RK3 w - - 0 1"));
        let mut rng = SplitMix64::new(4);
        let mut kept =
            |filter: NoisyFilter, position: &Position| (0..1000).filter(|_| filter.admits(position, &mut rng)).count();
        assert_eq!(kept(NoisyFilter::keeping(0.0), &quiet), 1000);
        assert_eq!(kept(NoisyFilter::keeping(0.0), &noisy), 0);
        assert!((200..300).contains(&kept(NoisyFilter::keeping(0.25), &noisy)));
        assert_eq!(kept(NoisyFilter::ALL, &noisy), 1000);
    }

    const FENS: [&str; 4] = [
        "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2",
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "8/5k2/3p4/3P4/2Q5/q7/5K2/8 b - - 0 1",
        // Stalemate: no position can be made.
        "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1",
    ];

    fn samples() -> impl Iterator<Item = Position> {
        FENS.iter().cycle().map(|fen| position(fen))
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
