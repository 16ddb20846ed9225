//! The overview of a file of many games.

use maud::{Markup, html};

use super::super::report::{PlaySummary, Review};
use super::player;
use crate::board::Color;
use crate::notation::pgn::Game;

/// A table of all games, with links to them.
pub(super) fn overview(games: &[(Game, Review)]) -> Markup {
    html! {
        section.overview aria-label="All games" {
            h2 { (games.len()) " games" }
            div.scroll.games tabindex="0" role="region" aria-label="Table of games" {
                table {
                    thead { tr {
                        th scope="col" { "Game" } th scope="col" { "Result" }
                        th scope="col" { "Accuracy" }
                        th scope="col" { abbr title="mistakes and blunders" { "? and ??" } }
                    } }
                    tbody { @for (_, review) in games { (row(review)) } }
                }
            }
        }
    }
}

/// The place of a game in the address, and the name of its article.
pub(super) fn address(review: &Review) -> String {
    format!("game={}&ply=0", review.number)
}

fn row(review: &Review) -> Markup {
    let accuracy = |side: &PlaySummary| side.accuracy.map_or_else(|| "–".to_owned(), |value| format!("{value:.0}"));
    let errors = |side: &PlaySummary| side.mistakes + side.blunders;
    let (white, black) = (&review.white.whole, &review.black.whole);
    html! {
        tr {
            th scope="row" {
                (review.number) ". "
                a href={ "#" (address(review)) } {
                    (player(review, Color::White)) " – " (player(review, Color::Black))
                }
                @if let Some(date) = review.tag("Date") { " " span.kind { (date.trim_end_matches(".??")) } }
            }
            td { (review.result) }
            td { (accuracy(white)) " – " (accuracy(black)) }
            td { (errors(white)) " – " (errors(black)) }
        }
    }
}
