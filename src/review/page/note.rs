//! The notes next to the board: mark, reasons and better lines of the move that led to the position.

use maud::{Markup, html};

use super::super::clock::{on_clock, readable};
use super::super::eval::Eval;
use super::super::graph::class;
use super::super::lines::clickable_lines;
use super::super::report::{Evaluation, PlayedMove};
use super::{Shown, author, moves};

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
        @if let Some(remarks) = shown.remarks.first().filter(|remarks| author::has_text(remarks)) {
            (author::text(remarks))
        }
    }
}

fn note(shown: &Shown, i: usize, played: &PlayedMove) -> Markup {
    let remarks = &shown.remarks[i + 1];
    html! {
        p.verdict {
            strong { (moves::numbered(played)) } (author::glyphs(remarks, played.mark))
            @if let Some(mark) = played.mark {
                " " span class=(class(mark)) { strong { (mark.glyph()) } " " (mark.name()) }
            }
        }
        @for reason in &played.reasons { p.reason { (reason.text) } }
        (clickable_lines(&shown.positions[i], played))
        @if author::has_text(remarks) { (author::text(remarks)) }
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
