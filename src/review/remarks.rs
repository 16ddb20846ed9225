//! What a file says about its moves: the author's remarks, kept apart from those of an earlier review, and the clocks.

use std::ops::RangeInclusive;

use super::mark::Mark;
use crate::board::Color;
use crate::notation::pgn::{Game, Remarks, Token};

/// Prefix of the comments that a review writes.
const SIGNATURE: &str = "Zoothera: ";
/// NAGs of the glyphs for the quality of a move: `!`, `?`, `!!`, `??`, `!?`, `?!`.
const JUDGEMENTS: RangeInclusive<u8> = 1..=6;

/// Whether the author of the file has judged the move.
pub(super) fn is_judged(remarks: &Remarks) -> bool {
    remarks.nags.iter().any(|nag| JUDGEMENTS.contains(nag))
}

/// The comment of a review: `Zoothera: Blunder. It allows mate in 1.` If the author's own glyph follows the move, the
/// comment contains the glyph of the review, after the name of the mark.
pub(super) fn signed(mark: Mark, judged_by_author: bool, reasons: &[&str]) -> String {
    let glyph = if judged_by_author { format!(" ({})", mark.glyph()) } else { String::new() };
    let text = format!("{SIGNATURE}{}{glyph}. {}", capitalised(mark), reasons.join(" "));
    text.trim_end().to_owned()
}

/// The name of a mark at the beginning of a sentence.
pub(super) fn capitalised(mark: Mark) -> String {
    let name = mark.name();
    name[..1].to_uppercase() + &name[1..]
}

/// The remarks of the author: without evaluations, and without the comment, glyph and lines of an earlier review.
pub(super) fn of_author(remarks: &Remarks) -> Remarks {
    let mut own = remarks.clone();
    let mut earlier = None;
    for text in &mut own.texts {
        if let Token::Comment(comment) = text {
            let (rest, found) = without_review(&without_command(comment, "eval"));
            *comment = rest;
            earlier = earlier.or(found);
        }
    }
    own.texts.retain(|text| !matches!(text, Token::Comment(comment) if comment.is_empty()));
    if let Some(earlier) = earlier {
        let glyph = own.nags.iter().position(|&nag| nag == earlier.mark.nag());
        if let Some(place) = glyph.filter(|_| !earlier.judged_by_author) {
            own.nags.remove(place);
        }
        own.texts.retain(|text| !matches!(text, Token::Variation(line) if is_better_line(line)));
    }
    own
}

/// The mark of an earlier review.
struct Earlier {
    mark: Mark,
    judged_by_author: bool,
}

/// The part of a comment before the signature, and the mark after the signature.
fn without_review(comment: &str) -> (String, Option<Earlier>) {
    let whole = || (comment.to_owned(), None);
    let Some((before, after)) = comment.split_once(SIGNATURE) else {
        return whole();
    };
    let found = Mark::ALL.into_iter().find_map(|mark| {
        let rest = after.strip_prefix(capitalised(mark).as_str())?;
        let judged_by_author = rest.starts_with(" (");
        (judged_by_author || rest.starts_with('.')).then_some(Earlier { mark, judged_by_author })
    });
    match found {
        Some(earlier) => (before.trim_end().to_owned(), Some(earlier)),
        None => whole(),
    }
}

/// Whether a variation looks like a better line of a review: the comment after its first move has only an evaluation.
fn is_better_line(line: &[Token]) -> bool {
    let [Token::Number(..), Token::Move(_), Token::Comment(comment), ..] = line else {
        return false;
    };
    comment.contains("[%eval ") && without_command(comment, "eval").is_empty()
}

/// A comment without a command such as `[%eval 0.31]`.
fn without_command(comment: &str, name: &str) -> String {
    let begin = format!("[%{name}");
    let mut text = comment.to_owned();
    while let Some(start) = text.find(&begin) {
        let Some(length) = text[start..].find(']') else {
            break;
        };
        text.replace_range(start..=start + length, "");
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The words of a comment, without commands such as `[%clk 0:01:00]`.
pub(super) fn words(comment: &str) -> String {
    without_command(comment, "")
}

/// The usual symbol of a glyph, or `$n` if it has none.
pub(super) fn glyph(nag: u8) -> String {
    let sign = match nag {
        1 => "!",
        2 => "?",
        3 => "!!",
        4 => "??",
        5 => "!?",
        6 => "?!",
        7 => "□",
        10 => "=",
        13 => "∞",
        14 => "⩲",
        15 => "⩱",
        16 => "±",
        17 => "∓",
        18 => "+−",
        19 => "−+",
        22 | 23 => "⨀",
        36 | 37 => "↑",
        40 | 41 => "→",
        132 | 133 => "⇆",
        140 => "∆",
        146 => "N",
        _ => return format!("${nag}"),
    };
    sign.to_owned()
}

// Clocks of a game and the time used for each move, from `[%clk]`, `[%emt]` and the tag `TimeControl`.

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
    use crate::board::Color;

    fn remarks(nags: &[u8], comments: &[&str]) -> Remarks {
        Remarks { nags: nags.to_vec(), texts: comments.iter().map(|&text| Token::Comment(text.to_owned())).collect() }
    }

    #[test]
    fn author_keeps_marks_and_comments_beside_an_earlier_review() {
        let ours = signed(Mark::Blunder, false, &["It allows mate in 1."]);
        let merged = format!("best [%clk 0:01:00] [%eval 0.1] {ours}");
        let own = of_author(&remarks(&[4, 7], &[&merged]));
        assert_eq!(own, remarks(&[7], &["best [%clk 0:01:00]"]));
        let beside = signed(Mark::Blunder, true, &[]);
        assert_eq!(beside, "Zoothera: Blunder (??).");
        let own = of_author(&remarks(&[4], &[&beside]));
        assert_eq!(own, remarks(&[4], &[]), "the author's own glyph stays");
        let talk = remarks(&[4], &["Zoothera: a bird"]);
        assert_eq!(of_author(&talk), talk);
    }

    #[test]
    fn only_better_lines_of_a_review_are_removed() {
        let line = |comment: &str| {
            let word = |text: &str| Token::Move(text.to_owned());
            let number = Token::Number(1, Color::White);
            Token::Variation(vec![number, word("d4"), Token::Comment(comment.to_owned()), word("d5")])
        };
        let ours = signed(Mark::Mistake, false, &[]);
        let mut reviewed = remarks(&[], &[&ours]);
        reviewed.texts.extend([line("[%eval 0.31]"), line("[%eval 0.31] solid")]);
        assert_eq!(of_author(&reviewed).texts, reviewed.texts[2..]);
        reviewed.texts.remove(0);
        assert_eq!(of_author(&reviewed).texts, reviewed.texts);
    }

    #[test]
    fn words_leave_commands_out() {
        assert_eq!(words("[%clk 0:01:00] [%emt 3] so, [%cal Ge2e4] well"), "so, well");
        assert_eq!(words("[%clk 0:01"), "[%clk 0:01");
    }
}

#[cfg(test)]
mod clock_tests {
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
