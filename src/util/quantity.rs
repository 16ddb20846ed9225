//! Formats numbers, times and speeds for people.

use std::time::Duration;

/// Formats a number in short form: 812, 45.1 k, 3.20 M, 1.07 G.
pub fn short_number(value: f64) -> String {
    match value {
        v if v < 1e3 => format!("{v:.0}"),
        v if v < 1e6 => format!("{:.1} k", v / 1e3),
        v if v < 1e9 => format!("{:.2} M", v / 1e6),
        v => format!("{:.2} G", v / 1e9),
    }
}

/// Formats a count with its noun: `1 game`, `2 games`. `one` is the singular, `many` the plural.
pub fn counted(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// Formats a time in seconds: 42 s, 3 min 05 s, 2 h 10 min. A negative or infinite time is `?`.
pub fn short_time(seconds: f64) -> String {
    if !seconds.is_finite() || seconds < 0.0 {
        return "?".to_owned();
    }
    let seconds = seconds.round() as u64;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} min", seconds / 3600, seconds / 60 % 60),
    }
}

/// Nodes per second; 0 if `time` is 0.
pub fn nodes_per_second(nodes: u64, time: Duration) -> u64 {
    match time.as_micros() {
        0 => 0,
        micros => u64::try_from(u128::from(nodes) * 1_000_000 / micros).unwrap_or(u64::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_counts_and_times_are_short() {
        assert_eq!(short_number(812.0), "812");
        assert_eq!(short_number(45_123.0), "45.1 k");
        assert_eq!(short_number(3.2e6), "3.20 M");
        let games = [0, 1, 2].map(|n| counted(n, "game", "games"));
        assert_eq!(games, ["0 games", "1 game", "2 games"]);
        assert_eq!(short_time(42.2), "42 s");
        assert_eq!(short_time(185.0), "3 min 05 s");
        assert_eq!(short_time(7830.0), "2 h 10 min");
        assert_eq!(short_time(f64::NAN), "?");
    }

    #[test]
    fn nodes_per_second_is_zero_for_zero_time() {
        assert_eq!(nodes_per_second(1000, Duration::ZERO), 0);
        assert_eq!(nodes_per_second(1000, Duration::from_millis(500)), 2000);
    }
}
