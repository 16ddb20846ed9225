//! Clocks of a game and the time used for each move, from `[%clk]`, `[%emt]` and the tag `TimeControl`.

use crate::board::Color;
use crate::notation::pgn::{Game, Remarks};

/// Maximum gain of a clock, in seconds, that is attributed to rounding.
const ROUNDING: f64 = 1.0;

/// Clock of a move.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct MoveTime {
    /// Seconds left after the move.
    pub left: Option<f64>,
    /// Seconds used for the move.
    pub used: Option<f64>,
}

/// The clock of each move.
pub(super) fn times(game: &Game) -> Vec<MoveTime> {
    let control = game.tag("TimeControl").and_then(time_control);
    let base = control.as_ref().map(|control| control.base);
    let increment = control.map_or(0.0, |control| control.increment);
    let mut before = [base; 2];
    let mut side = usize::from(game.start.turn() == Color::Black);
    let mut times = Vec::new();
    for remarks in &game.remarks[1..] {
        let seconds = |name| command(remarks, name).and_then(|text| parse(&text));
        let left = seconds("clk");
        let by_clock = before[side].zip(left).and_then(|(before, left)| {
            // Some files write the first clock before the increment, others after it.
            let first = base.is_some_and(|base| before == base && left == base);
            let used = before + increment - left;
            let used = if first { 0.0 } else { used };
            (used >= -ROUNDING).then_some(used.max(0.0))
        });
        times.push(MoveTime { left, used: seconds("emt").or(by_clock) });
        before[side] = left;
        side = 1 - side;
    }
    times
}

/// The value of a command such as `[%clk 0:09:58]`.
pub(super) fn command(remarks: &Remarks, name: &str) -> Option<String> {
    let begin = format!("[%{name} ");
    let find = |comment: &str| {
        let (_, rest) = comment.split_once(&begin)?;
        Some(rest.split_once(']')?.0.trim().to_owned())
    };
    remarks.comments().find_map(find)
}

/// The seconds of `0:09:58`, `9:58`, `598` or `0:09:58.4`.
fn parse(text: &str) -> Option<f64> {
    let parts: Vec<&str> = text.split(':').collect();
    if parts.len() > 3 {
        return None;
    }
    parts.iter().try_fold(0.0, |seconds, part| {
        let number: f64 = part.trim().parse().ok()?;
        (number.is_finite() && number >= 0.0).then_some(seconds * 60.0 + number)
    })
}

/// A time control in seconds.
#[derive(Debug, PartialEq)]
struct TimeControl {
    /// Time at the start.
    base: f64,
    /// Time added for each move.
    increment: f64,
}

/// Parses `180+2`, or the first period of `40/5400+30:1800+30`.
fn time_control(text: &str) -> Option<TimeControl> {
    let first = text.split(':').next()?;
    let first = first.split_once('/').map_or(first, |(_, rest)| rest);
    let (base, increment) = first.split_once('+').unwrap_or((first, "0"));
    Some(TimeControl { base: parse(base)?, increment: parse(increment)? })
}

/// A time as text: `4.2 s`, `12 s`, `1:05`, `1:02:03`.
pub(super) fn readable(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    let (hours, minutes, rest) = (whole / 3600, whole / 60 % 60, whole % 60);
    match whole {
        0..10 if seconds.fract() != 0.0 => format!("{seconds:.1} s"),
        0..60 => format!("{whole} s"),
        60..3600 => format!("{minutes}:{rest:02}"),
        _ => format!("{hours}:{minutes:02}:{rest:02}"),
    }
}

/// The time left in the form of a clock: `9:58`, `1:02:03`.
pub(super) fn on_clock(seconds: f64) -> String {
    let whole = seconds as u64;
    let (hours, minutes, rest) = (whole / 3600, whole / 60 % 60, whole % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{rest:02}") } else { format!("{minutes}:{rest:02}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation::pgn;

    fn used(pgn: &str) -> Vec<Option<f64>> {
        let games = pgn::read(pgn.as_bytes()).expect("a text");
        let game = games[0].as_ref().expect("a game");
        times(game).into_iter().map(|time| time.used).collect()
    }

    #[test]
    fn time_used_is_the_difference_of_clocks_and_the_increment() {
        let moves = "1. e4 {[%clk 0:03:00]} e5 {[%clk 0:02:55]} 2. Nf3 {[%clk 0:02:50]} Nc6 {x [%clk 0:02:57.5]} *\n";
        let some = |values: [f64; 4]| values.map(Some).to_vec();
        let with_increment = format!("[TimeControl \"180+3\"]\n\n{moves}");
        assert_eq!(used(&with_increment), some([0.0, 8.0, 13.0, 0.5]));
        assert_eq!(used(moves), [None, None, Some(10.0), None], "no time control");
        let spent = "1. e4 {[%emt 0:00:07]} e5 2. Nf3 *\n";
        assert_eq!(used(spent), [Some(7.0), None, None]);
        assert_eq!(used("1. e4 {[%clk soon]} *\n"), [None]);
    }

    #[test]
    fn time_controls_and_times_are_read_and_written() {
        assert_eq!(time_control("40/5400+30:1800+30"), Some(TimeControl { base: 5400.0, increment: 30.0 }));
        assert_eq!(time_control("600"), Some(TimeControl { base: 600.0, increment: 0.0 }));
        assert_eq!((time_control("-"), time_control("?")), (None, None));
        let texts = [0.4, 12.0, 65.0, 3723.0].map(readable);
        assert_eq!(texts, ["0.4 s", "12 s", "1:05", "1:02:03"]);
        assert_eq!([598.9, 3723.0].map(on_clock), ["9:58", "1:02:03"]);
    }
}
