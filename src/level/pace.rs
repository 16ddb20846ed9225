//! Simulated thinking time of a level: plausible for a person with this clock, without time trouble.

use std::time::Duration;

use super::{Level, mix};
use crate::board::Position;

/// Longest delay of a move.
const LONGEST: Duration = Duration::from_secs(10);
/// Longest delay of a recapture or an only move.
const OBVIOUS: Duration = Duration::from_millis(700);

/// Time from `go` to the move: a tenth to six tenths of `share_ms`, the clock's share for an average move, by the seed.
pub fn thinking_time(level: Level, position: &Position, share_ms: f64) -> Duration {
    let chance = mix(level.seed ^ 0x7ACE, position.key()) % 1024;
    let time = Duration::from_secs_f64(share_ms.max(0.0) / 1000.0)
        .mul_f64(0.1 + 0.5 * chance as f64 / 1024.0)
        .min(LONGEST);
    if is_obvious(position) {
        time.min(OBVIOUS)
    } else {
        time
    }
}

/// Whether there is only one legal move, or a recapture is possible.
fn is_obvious(position: &Position) -> bool {
    let moves = position.legal_moves();
    let taken_on = position
        .last_captured()
        .and_then(|_| position.last_move())
        .map(|m| m.to());
    moves.len() < 2 || moves.iter().any(|m| Some(m.to()) == taken_on)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_more_than_the_clock_gives() {
        let position = Position::startpos();
        for seed in 0..100 {
            for share in [0.5, 20.0, 3000.0, 1e9] {
                let level = Level::of(1000, seed);
                let time = thinking_time(level, &position, share);
                assert!(time.as_secs_f64() * 1000.0 <= 0.6 * share && time <= LONGEST);
                assert_eq!(time, thinking_time(level, &position, share));
            }
        }
    }

    #[test]
    fn what_is_obvious_comes_quickly() {
        let mut position = Position::startpos();
        for m in ["e2e4", "d7d5", "e4d5"] {
            position.do_move(position.parse_uci(m).expect("legal"));
        }
        assert!(is_obvious(&position) && !is_obvious(&Position::startpos()));
        let level = Level::of(1000, 3);
        assert!(thinking_time(level, &position, 60_000.0) <= OBVIOUS);
    }
}
