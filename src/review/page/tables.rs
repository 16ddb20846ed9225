//! Accuracy, losses and counts of both players, in the whole game and its phases.

use maud::{Markup, html};

use super::super::phase::Phase;
use super::super::report::{PlaySummary, Side};
use super::{Shown, player};
use crate::board::Color;

/// A table of both players.
pub(super) fn tables(shown: &Shown) -> Markup {
    let review = shown.review;
    let sides = [(Color::White, &review.white), (Color::Black, &review.black)];
    html! {
        section.accuracy aria-label="Accuracy" {
            h2 { "Accuracy" }
            div.scroll tabindex="0" role="region" aria-label="Accuracy by player and phase" {
                table {
                    thead { tr {
                        td {} th scope="col" { "Accuracy" } th scope="col" { "Average loss" }
                        th scope="col" { abbr title="inaccuracies" { "?!" } }
                        th scope="col" { abbr title="mistakes" { "?" } }
                        th scope="col" { abbr title="blunders" { "??" } }
                        th scope="col" { abbr title="only moves" { "!" } }
                    } }
                    @for (color, side) in sides { (rows(&player(review, color), side)) }
                }
            }
        }
    }
}

/// The rows of a player. Phases without moves have none.
fn rows(name: &str, side: &Side) -> Markup {
    html! {
        tbody {
            (row(name, &side.whole, true))
            @for phase in Phase::ALL {
                @if side.phase(phase).judged > 0 { (row(phase.name(), side.phase(phase), false)) }
            }
        }
    }
}

fn row(name: &str, part: &PlaySummary, whole: bool) -> Markup {
    let number = |value: Option<f64>, unit: &str| value.map_or_else(|| "–".to_owned(), |v| format!("{v:.1}{unit}"));
    html! {
        tr.whole[whole] {
            th scope="row" { (name) }
            td { (number(part.accuracy, " %")) }
            td { (number(part.average_loss, "")) }
            td { (part.inaccuracies) } td { (part.mistakes) } td { (part.blunders) } td { (part.only_moves) }
        }
    }
}
