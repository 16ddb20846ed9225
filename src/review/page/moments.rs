//! The critical moments: the moves that have reasons, each with its own board.

use maud::{Markup, PreEscaped, html};

use super::super::lines::clickable_lines;
use super::super::picture::{BoardView, diagram, ends};
use super::super::report::PlayedMove;
use super::{Shown, moves};
use crate::board::{Color, Position};

/// All critical moments of a game.
pub(super) fn moments(shown: &Shown) -> Markup {
    let moves = &shown.review.moves;
    let critical: Vec<&PlayedMove> = moves.iter().filter(|m| !m.reasons.is_empty()).collect();
    html! {
        @if !critical.is_empty() {
            section.critical aria-label="Critical moments" {
                h2 { "Critical moments" }
                div.moments {
                    @for played in critical { (moment(&shown.positions[played.ply - 1], played)) }
                }
            }
        }
    }
}

fn moment(position: &Position, played: &PlayedMove) -> Markup {
    let mut view = BoardView { flipped: position.turn() == Color::Black, arrows: Vec::new() };
    let (from, to) = ends(position, played.m);
    let class = if played.better.is_empty() { "best" } else { "played" };
    view.arrows.push((from, to, class));
    if let Some(m) = played.better.first().and_then(|line| line.moves.first()) {
        let (from, to) = ends(position, *m);
        view.arrows.push((from, to, "best"));
    }
    html! {
        div.moment {
            (PreEscaped(diagram(position, &view)))
            div {
                h3 {
                    (moves::button(played, true))
                    @if let Some(mark) = played.mark { " " span.kind { (mark.name()) } }
                }
                @for reason in &played.reasons { p { (reason.text) } }
                (clickable_lines(position, played))
                @if !played.attempts.is_empty() {
                    button.again type="button" data-go="retry" data-ply=(played.ply) { "Try again" }
                }
            }
        }
    }
}
