//! Endgames: the choice of samples from which further games start.
//!
//! A game of short searches is mostly decided when few pieces are left. Samples of such games contain few endgames that
//! either side can still win, so a net learns little about them. Games that start from a level endgame make up for it.
//! The value of a position in check or with an exchange that wins material says little about that, so starts are quiet.
// MEASURED: the net x7, trained without such games, lost 24 +- 7 Elo to one of its teachers in games that began with 7
// to 14 pieces (docs/experiments.md).

use std::ops::RangeInclusive;

use crate::board::Position;
use crate::search::score::Value;
use crate::util::rng::SplitMix64;

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::CastlingMode;

    const ENDGAME: &str = "8/5pk1/1R4p1/p6p/1r2PP1P/6P1/5K2/8 w - - 3 40";
    const FEW: &str = "8/5k2/3p4/3P4/2Q5/q7/5K2/8 b - - 0 1";

    fn position(fen: &str) -> Position {
        Position::from_fen(fen, CastlingMode::Standard).expect("a legal position")
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
}
