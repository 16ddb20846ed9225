//! Remarks of the file's author, kept apart from those of an earlier review.

use std::ops::RangeInclusive;

use super::mark::Mark;
use crate::notation::pgn::{Remarks, Token};

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
