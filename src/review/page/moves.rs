//! The list of moves, with the author's remarks between them.

use maud::{Markup, html};

use super::super::clock::readable;
use super::super::graph::class;
use super::super::mark::Mark;
use super::super::report::PlayedMove;
use super::super::spoken::move_in_words;
use super::{Shown, author};

/// The moves as buttons that show their positions.
pub(super) fn moves(shown: &Shown) -> Markup {
    let review = shown.review;
    let book = review.opening.as_ref().map(|opening| opening.ply);
    html! {
        ol.list {
            @if let Some(remarks) = shown.remarks.first().filter(|remarks| author::has_text(remarks)) {
                li.remark { (author::text(remarks)) }
            }
            @for (i, played) in review.moves.iter().enumerate() {
                @let remarks = &shown.remarks[i + 1];
                @let interrupted = i == 0 || author::has_text(&shown.remarks[i]);
                li {
                    @if played.side == "white" || interrupted {
                        span.number { (played.number) (dots(played)) }
                    }
                    (button(played, false))
                    (author::glyphs(remarks))
                    @if let Some(used) = shown.times[i].used {
                        span.used title="Time used" { (readable(used)) }
                    }
                    @if book == Some(played.ply) { span.book title="Last book move" { "book" } }
                }
                @if author::has_text(remarks) {
                    li.remark { (author::text(remarks)) }
                }
            }
        }
        p.outcome { (review.result) }
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
