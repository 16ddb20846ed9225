//! The list of moves, with the author's remarks between them, and the notes next to the board.

use crate::review::mark::Eval;
use maud::{Markup, html};

use super::Shown;
use super::data::clickable_lines;
use super::overview::class;
use crate::notation::pgn::{Remarks, Token};
use crate::review::annotate::numbered;
use crate::review::mark::Mark;
use crate::review::picture::move_in_words;
use crate::review::remarks::{glyph, on_clock, readable, words};
use crate::review::report::{Evaluation, PlayedMove};

/// The moves as buttons that show their positions: a number, and one column for each side. The author's remarks
/// interrupt the columns.
pub(super) fn moves(shown: &Shown) -> Markup {
    let review = shown.review;
    html! {
        ol.list {
            @if let Some(remarks) = shown.remarks.first().filter(|remarks| has_text(remarks)) {
                li.remark { (text(remarks)) }
            }
            @for (i, played) in review.moves.iter().enumerate() {
                @let remarks = &shown.remarks[i + 1];
                @let is_white = played.side == "white";
                @let interrupted = i == 0 || has_text(&shown.remarks[i]);
                @if is_white || interrupted { li.number { (played.number) (played.dots()) } }
                @if !is_white && interrupted { li.gap { "…" } }
                li { (cell(shown, i, played)) }
                @if has_text(remarks) {
                    @if is_white && i + 1 < review.moves.len() { li.gap { "…" } }
                    li.remark { (text(remarks)) }
                }
            }
        }
        p.outcome { (review.result) }
    }
}

fn cell(shown: &Shown, i: usize, played: &PlayedMove) -> Markup {
    let book = shown.review.opening.as_ref().map(|opening| opening.ply);
    html! {
        (button(played, false))
        (glyphs(&shown.remarks[i + 1], played.mark))
        @if let Some(used) = shown.times[i].used {
            span.used title="Time used" { (readable(used)) }
        }
        @if book == Some(played.ply) { span.book title="Last book move" { "book" } }
    }
}

/// A move with its mark in colour: `12. e4??`, with or without the number. Screen readers also get the mark in words.
pub(super) fn button(played: &PlayedMove, with_number: bool) -> Markup {
    let mark = played.mark;
    let glyph = mark.map_or("", Mark::glyph);
    let text = if with_number { format!("{}{glyph}", played.numbered()) } else { format!("{}{glyph}", played.san) };
    let mut label = format!("{text}: {}", move_in_words(&played.san));
    if let Some(mark) = mark {
        label += &format!(", {}", mark.name());
    }
    html! {
        button class={ "move " (mark.map_or("", class)) } type="button" data-ply=(played.ply) aria-label=(label) {
            (text)
        }
    }
}

// Comments, glyphs and variations of the file.

/// Whether there is text to show.
pub(super) fn has_text(remarks: &Remarks) -> bool {
    remarks.texts.iter().any(is_shown)
}

/// Whether a part of the remarks is more than commands such as `[%clk 0:01:00]`.
fn is_shown(token: &Token) -> bool {
    !matches!(token, Token::Comment(comment) if words(comment).is_empty())
}

/// Comments and variations after a move, in the order of the file.
pub(super) fn text(remarks: &Remarks) -> Markup {
    html! {
        div.author {
            span.unseen { "From the file: " }
            (tokens(&remarks.texts))
        }
    }
}

/// The author's glyphs after a move. One that says the same as the mark of the review is not repeated.
pub(super) fn glyphs(remarks: &Remarks, mark: Option<Mark>) -> Markup {
    let repeats = |nag: u8| mark.is_some_and(|mark| mark.nag() == nag);
    html! {
        @for &nag in remarks.nags.iter().filter(|&&nag| !repeats(nag)) {
            span.glyph title="From the file" { (glyph(nag)) }
        }
    }
}

/// Parts of a variation or of the remarks, separated by blanks. Glyphs follow their moves directly.
fn tokens(all: &[Token]) -> Markup {
    html! {
        @for (i, token) in all.iter().filter(|token| is_shown(token)).enumerate() {
            @if i > 0 && !matches!(token, Token::Nag(_)) { " " }
            @match token {
                Token::Number(number, side) => (numbered(*number, *side)),
                Token::Move(san) => (san),
                Token::Nag(nag) => (glyph(*nag)),
                Token::Comment(comment) => span.comment { (words(comment)) },
                Token::Variation(line) => span.variation { "(" (tokens(line)) ")" },
            }
        }
    }
}

// The notes next to the board: mark, reasons and better lines of the move that led to the position.

/// The note section: one note per position, of which the script shows the current one; a status line; the retry form.
pub(super) fn notes(shown: &Shown) -> Markup {
    html! {
        section.note aria-label="About this move" aria-live="polite" tabindex="0" {
            p.status hidden {}
            div data-note="0" hidden { (start(shown)) }
            @for (i, played) in shown.review.moves.iter().enumerate() {
                div data-note=(played.ply) hidden { (note(shown, i, played)) }
            }
            (retry())
        }
    }
}

fn start(shown: &Shown) -> Markup {
    html! {
        p.verdict { strong { "Start" } }
        (numbers(shown.review.evaluation.as_ref()))
        @if let Some(remarks) = shown.remarks.first().filter(|remarks| has_text(remarks)) {
            (text(remarks))
        }
    }
}

fn note(shown: &Shown, i: usize, played: &PlayedMove) -> Markup {
    let remarks = &shown.remarks[i + 1];
    html! {
        p.verdict {
            strong { (played.numbered()) } (glyphs(remarks, played.mark))
            @if let Some(mark) = played.mark {
                " " span class=(class(mark)) { strong { (mark.glyph()) } " " (mark.name()) }
            }
        }
        @for reason in &played.reasons { p.reason { (reason.text) } }
        (clickable_lines(&shown.positions[i], played))
        @if has_text(remarks) { (text(remarks)) }
        (numbers(played.evaluation.as_ref()))
        (time(shown, i))
        (opening(shown, played))
    }
}

/// Score and winning chances, by the same model as the marks.
fn numbers(evaluation: Option<&Evaluation>) -> Markup {
    html! {
        @if let Some(e) = evaluation.filter(|e| e.depth > 0) {
            p.numbers {
                (e.eval) " · White's chances " (format!("{:.0}", e.chance)) " %"
                @if matches!(e.eval, Eval::Cp(_)) { " · depth " (e.depth) }
            }
        }
    }
}

fn time(shown: &Shown, i: usize) -> Markup {
    let time = &shown.times[i];
    let used = time.used.map(|used| format!("Time used: {}", readable(used)));
    let left = time.left.map(|left| format!("{} left", on_clock(left)));
    let text: Vec<String> = used.into_iter().chain(left).collect();
    html! { @if !text.is_empty() { p.numbers { (text.join(", ")) } } }
}

/// The opening's name at the last book move.
fn opening(shown: &Shown, played: &PlayedMove) -> Markup {
    let last = shown.review.opening.as_ref();
    html! {
        @if let Some(opening) = last.filter(|opening| opening.ply == played.ply) {
            p.numbers { "Last book move: " (opening.eco) " " (opening.name) }
        }
    }
}

/// The form for retrying the move. The script fills it.
fn retry() -> Markup {
    html! {
        div.retry hidden {
            p.task {}
            p.answer {}
            div.choices role="group" aria-label="Promote to" hidden {}
            form.typed {
                label {
                    "Your move "
                    input name="move" autocomplete="off" autocapitalize="off" spellcheck="false" size="7";
                }
                button type="submit" { "Try" }
            }
            div.retry-buttons {
                button type="button" data-go="next-try" { "Next mistake" }
                button type="button" data-go="retry" { "Another move" }
                button type="button" data-go="answer" { "Show the better line" }
                button type="button" data-go="leave" { "Back to the game" }
            }
        }
    }
}

#[cfg(test)]
mod author_tests {
    use super::*;
    use crate::notation::pgn;

    #[test]
    fn variations_are_numbered_and_escaped() {
        let games = pgn::read("1. e4 {[%clk 1] <b>} (1. d4 $1 d5 (1... c5 {x} 2. Nf3) 2. f4) e5 *\n".as_bytes());
        let games = games.expect("a text");
        let game = games[0].as_ref().expect("a game");
        let html = text(&game.remarks[1]).into_string();
        for part in ["&lt;b&gt;", "(1. d4! d5", "(1... c5 <span class=\"comment\">x</span> 2. Nf3)</span> 2. f4)"] {
            assert!(html.contains(part), "{part} is not in {html}");
        }
        assert!(!html.contains("clk"), "{html}");
        let repeated = Remarks { nags: vec![6, 14], ..Remarks::default() };
        assert_eq!(glyphs(&repeated, Some(Mark::Inaccuracy)).into_string().matches("<span").count(), 1);
        assert_eq!(glyphs(&repeated, Some(Mark::Blunder)).into_string().matches("<span").count(), 2);
        assert!(has_text(&game.remarks[1]) && !has_text(&game.remarks[2]));
    }
}
