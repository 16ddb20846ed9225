//! The turning points, each with its own board, and a list of all other marked moves.

use maud::{Markup, PreEscaped, html};

use super::super::lines::clickable_lines;
use super::super::picture::{BoardView, diagram, ends};
use super::super::report::PlayedMove;
use super::turning::{repeated, turning_points, what_decided};
use super::{Shown, moves};
use crate::board::{Color, Position};

/// What decided the game, and its turning points.
pub(super) fn turning(shown: &Shown) -> Markup {
    let points = turning_points(shown);
    let repeated = repeated(shown);
    html! {
        section.critical aria-label="What decided the game" {
            h2 { "What decided the game" }
            @if let Some(sentence) = what_decided(shown) { p.decided { (sentence) } }
            @for sentence in &repeated { p.repeated { (sentence) } }
            @if !points.is_empty() {
                div.moments { @for played in points { (moment(shown, played)) } }
            }
        }
    }
}

/// All other moves with reasons, folded.
pub(super) fn others(shown: &Shown) -> Markup {
    let points: Vec<usize> = turning_points(shown).iter().map(|played| played.ply).collect();
    let moves = &shown.review.moves;
    let others: Vec<&PlayedMove> = moves.iter().filter(|m| !m.reasons.is_empty() && !points.contains(&m.ply)).collect();
    html! {
        @if !others.is_empty() {
            details.others {
                summary { "All other marked moves (" (others.len()) ")" }
                @for played in others { div.other { (text(&shown.positions[played.ply - 1], played)) } }
            }
        }
    }
}

fn moment(shown: &Shown, played: &PlayedMove) -> Markup {
    let position = &shown.positions[played.ply - 1];
    // All boards of the page have one direction.
    let mut view = BoardView { flipped: shown.review.side == Some(Color::Black), arrows: Vec::new() };
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
            div { (text(position, played)) }
        }
    }
}

fn text(position: &Position, played: &PlayedMove) -> Markup {
    html! {
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
