//! Accuracy and losses of both sides, in the whole game and its phases.

use maud::{Markup, html};

use super::super::phase::Phase;
use super::super::report::{PlaySummary, Review, Side};

/// A table for each side.
pub(super) fn tables(review: &Review) -> Markup {
    let sides: [(&str, &Side); 2] = [("White", &review.white), ("Black", &review.black)];
    html! {
        section aria-label="How each side played" {
            h2 { "How each side played" }
            @for (name, side) in sides { (table(name, side)) }
        }
    }
}

fn table(name: &str, side: &Side) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label={ "Accuracy of " (name) } {
            table {
                caption { (name) }
                thead { tr {
                    td {} th scope="col" { "Accuracy" } th scope="col" { "Chances lost" }
                    th scope="col" { "Centipawns lost" }
                    th scope="col" { abbr title="inaccuracies" { "?!" } }
                    th scope="col" { abbr title="mistakes" { "?" } }
                    th scope="col" { abbr title="blunders" { "??" } }
                    th scope="col" { abbr title="only moves" { "!" } }
                } }
                tbody {
                    (row("Game", &side.whole))
                    @for phase in Phase::ALL { (row(phase.name(), side.phase(phase))) }
                }
            }
        }
    }
}

fn row(name: &str, part: &PlaySummary) -> Markup {
    let number = |value: Option<f64>, digits: usize, unit: &str| {
        value.map_or_else(|| "–".to_owned(), |v| format!("{v:.digits$}{unit}"))
    };
    html! {
        tr {
            th scope="row" { (name) }
            td { (number(part.accuracy, 1, " %")) }
            td { (number(part.average_loss, 1, "")) }
            td { (number(part.average_loss_cp, 0, "")) }
            td { (part.inaccuracies) } td { (part.mistakes) } td { (part.blunders) } td { (part.only_moves) }
        }
    }
}
