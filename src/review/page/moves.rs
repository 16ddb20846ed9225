//! The list of moves, with the author's remarks between them.

use maud::{Markup, html};

use super::super::clock::readable;
use super::super::graph::class;
use super::super::mark::Mark;
use super::super::report::PlayedMove;
use super::super::spoken::move_in_words;
use super::{Shown, author};

/// The moves as buttons that show their positions: a number, and one column for each side. The author's remarks
/// interrupt the columns.
pub(super) fn moves(shown: &Shown) -> Markup {
    let review = shown.review;
    html! {
        ol.list {
            @if let Some(remarks) = shown.remarks.first().filter(|remarks| author::has_text(remarks)) {
                li.remark { (author::text(remarks)) }
            }
            @for (i, played) in review.moves.iter().enumerate() {
                @let remarks = &shown.remarks[i + 1];
                @let is_white = played.side == "white";
                @let interrupted = i == 0 || author::has_text(&shown.remarks[i]);
                @if is_white || interrupted { li.number { (played.number) (dots(played)) } }
                @if !is_white && interrupted { li.gap { "…" } }
                li { (cell(shown, i, played)) }
                @if author::has_text(remarks) {
                    @if is_white && i + 1 < review.moves.len() { li.gap { "…" } }
                    li.remark { (author::text(remarks)) }
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
        (author::glyphs(&shown.remarks[i + 1], played.mark))
        @if let Some(used) = shown.times[i].used {
            span.used title="Time used" { (readable(used)) }
        }
        @if book == Some(played.ply) { span.book title="Last book move" { "book" } }
    }
}

fn dots(played: &PlayedMove) -> &'static str {
    if played.side == "white" { "." } else { "..." }
}

/// `12. e4` or `12... e5`.
pub(super) fn numbered(played: &PlayedMove) -> String {
    format!("{}{} {}", played.number, dots(played), played.san)
}

/// A move with its mark in colour: `12. e4??`, with or without the number. Screen readers also get the mark in words.
pub(super) fn button(played: &PlayedMove, with_number: bool) -> Markup {
    let mark = played.mark;
    let glyph = mark.map_or("", Mark::glyph);
    let text = if with_number { format!("{}{glyph}", numbered(played)) } else { format!("{}{glyph}", played.san) };
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
