//! Simulated thinking time of a level, as a person with this clock would use it. Avoids time trouble.

use std::time::Duration;

use super::{Level, mix, theory};
use crate::board::Position;

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
