//! Handicap of a level for one position: evaluation noise and missed moves; and its thinking time.
//!
//! Noise depends on the position and the game, so a position is misjudged the same way whenever it occurs. Missed moves
//! depend on the turn: a move of a piece between two squares is missed in the whole search of that turn. The level may
//! therefore choose a move that a missed move refutes. Every turn draws new missed moves.

use std::time::Duration;

use super::{Handicap, Level, habits, mix, technique, theory};
use crate::board::{Color, Move, Position, Role, material};

/// Minimum number of nodes in technically won positions.
const NODES_FOR_TECHNIQUE: u64 = 1500;
/// Remaining share of the handicap, in eighths, in technically won positions.
const EASE: i32 = 2;
/// Material advantage (9, 5, 3, 3, 1) of a technically won ending.
const WINNING_POINTS: i32 = 5;
/// Material above which the opponent still has counterplay.
const HARMLESS_POINTS: i32 = 3;

/// Salts for independent random numbers.
const NOISE: u64 = 1;
const TURN: u64 = 2;

/// Handicap of a level for one turn.
#[derive(Clone, Copy, Debug)]
pub struct TurnHandicap {
    seed: u64,
    handicap: Handicap,
    /// Random seed of this turn's missed moves.
    turn: u64,
}

impl TurnHandicap {
    /// The handicap of `level` for a search of `root`.
    pub fn new(level: Level, root: &Position) -> Self {
        Self {
            seed: level.seed,
            handicap: eased(level.handicap, root),
            turn: mix(level.seed.wrapping_add(TURN), root.key()),
        }
    }

    /// Node budget of this turn.
    pub fn nodes(&self) -> u64 {
        self.handicap.nodes
    }

    /// The level's evaluation of a position with the true `value` for the side to move.
    pub fn evaluate(&self, position: &Position, value: i32) -> i32 {
        if let Some(value) = technique::value(position) {
            return value;
        }
        let chance = mix(self.seed.wrapping_add(NOISE), position.key());
        value + scatter(chance, self.handicap.noise)
    }

    /// Whether the level misses `m`, a legal move. No move is missed in check.
    pub fn misses(&self, position: &Position, m: Move) -> bool {
        if self.handicap.oversight == 0 || position.in_check() {
            return false;
        }
        let piece = position.moved_piece(m);
        let piece_move = m.bits() as u64 | (piece.role as u64) << 16 | (piece.color as u64) << 20;
        let chance = mix(self.turn, piece_move) % habits::PARTS;
        let oversight = self.handicap.oversight;
        // The first comparison is fast and usually decides at high levels.
        chance < u64::from(oversight * habits::MAX_OBSCURITY)
            && chance < u64::from(habits::miss_probability(oversight, position, m))
    }
}

/// The handicap for `root`: reduced in technically won positions, and almost none against a bare king, because people
/// take more care there.
fn eased(handicap: Handicap, root: &Position) -> Handicap {
    let us = root.turn();
    if technique::attacker(root) == Some(us) {
        return Handicap { nodes: handicap.nodes.max(NODES_FOR_TECHNIQUE), noise: 0, oversight: 0, theory: 0 };
    }
    if !is_technical(root, us) {
        return handicap;
    }
    Handicap {
        nodes: handicap.nodes.max(NODES_FOR_TECHNIQUE),
        noise: handicap.noise * EASE / 8,
        oversight: handicap.oversight * EASE as u32 / 8,
        theory: 0,
    }
}

/// Whether `us` has a winning advantage in material, and the opponent at most a minor piece and pawns.
fn is_technical(position: &Position, us: Color) -> bool {
    let theirs = material(position, !us);
    let their_pieces = theirs - position.pieces(!us, Role::Pawn).count() as i32;
    their_pieces <= HARMLESS_POINTS && material(position, us) - theirs >= WINNING_POINTS
}

/// An approximately normal deviate with standard deviation `sigma`, from the random bits of `chance`: the sum of four
/// uniform deviates (Irwin-Hall distribution), at most 3.46 standard deviations from 0.
fn scatter(chance: u64, sigma: i32) -> i32 {
    const LANE: i64 = 1 << 16;
    // Standard deviation of the sum: a uniform number below 2^16 has variance 2^32 / 12, and the sum of four 2^32 / 3.
    const DEVIATION: i64 = 37_837;
    let sum: i64 = (0..4).map(|lane| i64::from((chance >> (16 * lane)) as u16)).sum();
    ((sum - 2 * (LANE - 1)) * i64::from(sigma) / DEVIATION) as i32
}

// Simulated thinking time of a level, as a person with this clock would use it. Avoids time trouble.

/// Maximum delay of a move.
const MAX_TIME: Duration = Duration::from_secs(10);
/// Maximum delay of a move in a position of a named opening, which a person plays from memory.
const MAX_OPENING_TIME: Duration = Duration::from_secs(2);
/// Maximum delay of a recapture or an only move.
const MAX_OBVIOUS_TIME: Duration = Duration::from_millis(700);

/// Time from `go` to the move: a random 10 to 60 % of `share_ms`, the milliseconds that the clock allows for an average
/// move.
pub fn thinking_time(level: Level, position: &Position, share_ms: f64) -> Duration {
    let chance = mix(level.seed ^ 0x7ACE, position.key()) % 1024;
    let time = Duration::from_secs_f64(share_ms.max(0.0) / 1000.0).mul_f64(0.1 + 0.5 * chance as f64 / 1024.0);
    time.min(longest(position))
}

fn longest(position: &Position) -> Duration {
    if is_obvious(position) {
        MAX_OBVIOUS_TIME
    } else if theory::contains(position) {
        MAX_OPENING_TIME
    } else {
        MAX_TIME
    }
}

/// Whether there is only one legal move, or a recapture is possible.
fn is_obvious(position: &Position) -> bool {
    let moves = position.legal_moves();
    let taken_on = position.last_captured().and_then(|_| position.last_move()).map(|m| m.to());
    moves.len() < 2 || moves.iter().any(|m| Some(m.to()) == taken_on)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::CastlingMode;

    fn position(fen: &str) -> Position {
        Position::from_fen(fen, CastlingMode::Standard).expect("a FEN")
    }

    fn turn(elo: i32, seed: u64, root: &Position) -> TurnHandicap {
        TurnHandicap::new(Level::of(elo, seed), root)
    }

    #[test]
    fn scatter_has_mean_zero_and_requested_deviation() {
        let values: Vec<f64> = (0..20_000).map(|i| scatter(mix(7, i), 300).into()).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let variance = values.iter().map(|v| v * v).sum::<f64>() / values.len() as f64;
        assert!(mean.abs() < 10.0, "{mean}");
        assert!((variance.sqrt() - 300.0).abs() < 10.0, "{variance}");
        assert_eq!(scatter(u64::MAX, 0), 0);
    }

    #[test]
    fn noise_depends_on_seed_and_is_reproducible() {
        let root = Position::startpos();
        let evaluated = |seed| turn(800, seed, &root).evaluate(&root, 50);
        assert_eq!(evaluated(1), evaluated(1));
        assert!((2..20).any(|seed| evaluated(seed) != evaluated(1)));
        assert_eq!(turn(3200, 1, &root).evaluate(&root, 50), 50);
    }

    #[test]
    fn level_misses_moves_as_often_as_their_probability_says() {
        let root = position("4k3/8/8/2p5/8/8/7P/2R3K1 w - - 0 1");
        // The position is technically won, so the oversight is reduced.
        let oversight = turn(800, 0, &root).handicap.oversight;
        assert!(0 < oversight && oversight < Level::of(800, 0).handicap.oversight);
        for m in ["c1c5", "c1d1", "h2h3", "g1f1"] {
            let m = root.parse_uci(m).expect("legal");
            let missed = (0..4000).filter(|&seed| turn(800, seed, &root).misses(&root, m)).count();
            let expected = 4000 * u64::from(habits::miss_probability(oversight, &root, m)) / habits::PARTS;
            assert!(expected.abs_diff(missed as u64) < 130, "{m:?}: {missed}, {expected}");
        }
    }

    #[test]
    fn level_never_misses_recaptures_or_moves_out_of_check() {
        let check = position("4k3/8/8/8/7b/8/8/Q3K2R w - - 0 1");
        let block = check.parse_uci("e1d1").expect("legal");
        for seed in 0..500 {
            assert!(!turn(500, seed, &check).misses(&check, block));
        }
        let mut taken = position("4k3/8/8/8/q7/8/R6P/Q3K3 b - - 0 1");
        taken.do_move(taken.parse_uci("a4a2").expect("legal"));
        let (back, other) = (taken.parse_uci("a1a2"), taken.parse_uci("h2h3"));
        let (back, other) = (back.expect("legal"), other.expect("legal"));
        let missed = |m| (0..500).any(|seed| turn(500, seed, &taken).misses(&taken, m));
        assert!(!missed(back) && missed(other));
    }

    #[test]
    fn handicap_shrinks_in_technically_won_positions() {
        let bare = position("8/8/8/3k4/8/8/8/KR6 w - - 0 1");
        let eased = turn(500, 1, &bare).handicap;
        assert_eq!((eased.noise, eased.oversight), (0, 0));
        assert_eq!(eased.nodes, NODES_FOR_TECHNIQUE);
        let technical = position("4k3/pp6/8/8/8/8/PP6/KR6 w - - 0 1");
        let middlegame = Position::startpos();
        let noise = |root: &Position| turn(500, 1, root).handicap.noise;
        assert!(noise(&technical) * 3 < noise(&middlegame));
        // The losing side's handicap is not reduced.
        let lost = position("4k3/pp6/8/8/8/8/PP6/KR6 b - - 0 1");
        assert_eq!(noise(&lost), noise(&middlegame));
    }
}

#[cfg(test)]
mod pace_tests {
    use super::*;

    #[test]
    fn thinking_time_stays_within_limits_and_is_reproducible() {
        let position = Position::startpos();
        for seed in 0..100 {
            for share in [0.5, 20.0, 3000.0, 1e9] {
                let level = Level::of(1000, seed);
                let time = thinking_time(level, &position, share);
                assert!(time.as_secs_f64() * 1000.0 <= 0.6 * share && time <= MAX_TIME);
                assert_eq!(time, thinking_time(level, &position, share));
            }
        }
    }

    #[test]
    fn named_opening_is_played_within_two_seconds() {
        let mut position = Position::startpos();
        let level = Level::of(1200, 1);
        assert!(thinking_time(level, &position, 60_000.0) <= MAX_OPENING_TIME);
        for m in ["h2h4", "a7a5", "h4h5", "a5a4"] {
            position.do_move(position.parse_uci(m).expect("legal"));
        }
        assert!(!theory::contains(&position));
        assert!(thinking_time(level, &position, 60_000.0) > MAX_OPENING_TIME);
    }

    #[test]
    fn recapture_is_played_quickly() {
        let mut position = Position::startpos();
        for m in ["e2e4", "d7d5", "e4d5"] {
            position.do_move(position.parse_uci(m).expect("legal"));
        }
        assert!(is_obvious(&position) && !is_obvious(&Position::startpos()));
        let level = Level::of(1000, 3);
        assert!(thinking_time(level, &position, 60_000.0) <= MAX_OBVIOUS_TIME);
    }
}
