//! Formats numbers, times and speeds for people, and parses numbers, times and arguments of commands.

use std::any::TypeId;
use std::ffi::OsString;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use clap::Arg;

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

/// Parses a time: a number of milliseconds, or numbers with units (`300ms`, `5s`, `10m`, `1h30m`, `1.5 s`).
///
/// # Errors
/// Fails if the text is not such a time, or the time is zero or longer than a year.
pub fn parse_time(text: &str) -> Result<Duration> {
    const YEAR: f64 = 366.0 * 86_400.0;
    let expected =
        || format!("'{text}' is not a time; expected milliseconds, or a number with a unit: 300ms, 5s, 10m, 1h30m");
    let mut rest = text.trim();
    let mut seconds = 0.0;
    while !rest.is_empty() {
        let number = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').len();
        let (value, after) = rest.split_at(number);
        let after = after.trim_start();
        let unit = after.len() - after.trim_start_matches(|c: char| c.is_ascii_alphabetic()).len();
        let (unit, after) = after.split_at(unit);
        let Ok(value) = value.parse::<f64>() else { bail!(expected()) };
        seconds += value
            * match unit.to_ascii_lowercase().as_str() {
                "" if after.is_empty() && rest.len() == text.trim().len() => 0.001,
                "ms" => 0.001,
                "s" | "sec" => 1.0,
                "m" | "min" => 60.0,
                "h" => 3600.0,
                "d" => 86_400.0,
                _ => bail!(expected()),
            };
        rest = after.trim_start();
    }
    if !(0.001..=YEAR).contains(&seconds) {
        bail!("{}, at least 1 ms and at most a year", expected());
    }
    Ok(Duration::from_micros((seconds * 1e6).round() as u64))
}

/// Parses a count: digits, or a number with `k`, `M` or `G` (`500k`, `2M`, `1.5G`).
///
/// # Errors
/// Fails if the text is not such a count, or the count is below 1 or above 10^18.
pub fn parse_count(text: &str) -> Result<u64> {
    let expected =
        || format!("'{text}' is not a count of at least 1; expected digits, or a number with k, M or G: 500k, 2M");
    let number = text.trim();
    let unit = number.chars().last().unwrap_or(' ');
    let factor = match unit {
        'k' | 'K' => 1e3,
        'm' | 'M' => 1e6,
        'g' | 'G' => 1e9,
        _ => 1.0,
    };
    let count = if factor > 1.0 {
        let digits = number[..number.len() - 1].trim_end();
        let plain = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        digits.parse::<f64>().ok().filter(|_| plain).map(|value| (value * factor).round() as u64)
    } else {
        number.parse().ok()
    };
    match count {
        Some(count @ 1..=1_000_000_000_000_000_000) => Ok(count),
        _ => bail!(expected()),
    }
}

/// Parses a count as [`parse_count`] does, or zero.
///
/// # Errors
/// Fails if the text is neither zero nor a count.
pub fn parse_count_or_zero(text: &str) -> Result<u64> {
    if text.trim() == "0" { Ok(0) } else { parse_count(text) }
}

/// Parses a share of a whole.
///
/// # Errors
/// Fails if the text is not a number from 0 to 1.
pub fn parse_share(text: &str) -> Result<f64> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.context("must be a number from 0 to 1")
}

// Arguments of a command from inside the program, so that a command can be composed of others, and numbers with a
// suffix.

/// Options whose unit is a million.
const IN_MILLIONS: [&str; 6] = ["millions", "every", "checkpoint-every", "step-every", "warm-up", "block"];
/// Options whose unit is not a number of things.
const MEASURES: [&str; 8] = ["memory", "disk", "hash", "hours", "minutes", "movetime", "time", "score-unit"];

/// Parses words as the arguments of a command, with its defaults.
///
/// # Errors
/// Fails as the command line would.
pub fn parsed<A: clap::Args>(words: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> Result<A> {
    let command = A::augment_args(clap::Command::new("").no_binary_name(true));
    Ok(A::from_arg_matches(&command.try_get_matches_from(words)?)?)
}

/// The number in digits, if the option takes a number and the text is one with `k`, `M` or `G`. Options that count
/// millions take `2M` as two million, which is 2.
pub fn in_digits(arg: &Arg, text: &str) -> Option<String> {
    let name = arg.get_long().unwrap_or("");
    if !takes_number(arg) || MEASURES.contains(&name) {
        return None;
    }
    let unit = text.chars().last()?;
    let factor = match unit {
        'k' | 'K' => 1e3,
        'm' | 'M' => 1e6,
        'g' | 'G' => 1e9,
        _ => return None,
    };
    let digits = &text[..text.len() - 1];
    if !digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return None;
    }
    let value = digits.parse::<f64>().ok()? * factor;
    Some(if IN_MILLIONS.contains(&name) { (value / 1e6).to_string() } else { value.to_string() })
}

/// Whether the values of an option are numbers.
fn takes_number(arg: &Arg) -> bool {
    let found = arg.get_value_parser().type_id();
    [
        TypeId::of::<u16>(),
        TypeId::of::<u32>(),
        TypeId::of::<u64>(),
        TypeId::of::<usize>(),
        TypeId::of::<i16>(),
        TypeId::of::<i32>(),
        TypeId::of::<i64>(),
        TypeId::of::<f32>(),
        TypeId::of::<f64>(),
    ]
    .iter()
    .any(|number| found == *number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_parse_with_and_without_units() {
        for (text, milliseconds) in [
            ("500", Some(500)),
            ("300ms", Some(300)),
            ("5s", Some(5000)),
            ("1.5 s", Some(1500)),
            ("10m", Some(600_000)),
            ("10 min", Some(600_000)),
            ("1h30m", Some(5_400_000)),
            ("1H 30M", Some(5_400_000)),
            ("0", None),
            ("", None),
            ("-5", None),
            ("5x", None),
            ("1h30", None),
            ("1e9", None),
            ("inf", None),
            ("900d", None),
            ("1.2.3s", None),
        ] {
            assert_eq!(parse_time(text).ok().map(|time| time.as_millis()), milliseconds, "{text}");
        }
    }

    #[test]
    fn counts_parse_with_and_without_units() {
        for (text, count) in [
            ("1", Some(1)),
            ("2000000", Some(2_000_000)),
            ("500k", Some(500_000)),
            ("1.5M", Some(1_500_000)),
            ("2 G", Some(2_000_000_000)),
            ("0", None),
            ("0k", None),
            ("-1", None),
            ("k", None),
            ("1e3k", None),
            ("99999999999G", None),
            ("many", None),
        ] {
            assert_eq!(parse_count(text).ok(), count, "{text}");
        }
    }

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

#[cfg(test)]
mod arguments_tests {
    use super::*;

    #[derive(clap::Args, Debug)]
    struct Two {
        #[arg(long, default_value_t = 7)]
        a: u32,
        #[arg(long)]
        b: Vec<String>,
    }

    #[test]
    fn words_are_parsed_with_defaults_and_errors() {
        let two: Two = parsed(["--b", "x", "--b=y"]).expect("arguments");
        assert_eq!((two.a, two.b), (7, vec!["x".to_owned(), "y".to_owned()]));
        let error = parsed::<Two>(["--a", "x"]).expect_err("no number").to_string();
        assert!(error.contains("--a"), "{error}");
    }
}
