//! The overview of a file of many games, the tables of a game, and the graphs of its chances and times.

use std::fmt::Write;

use maud::{Markup, html};

use super::{Shown, player};
use crate::board::Color;
use crate::notation::pgn::Game;
use crate::review::mark::Mark;
use crate::review::phase::Phase;
use crate::review::remarks::{MoveTime, readable};
use crate::review::report::{PlaySummary, Review, Side};

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

// Accuracy, losses and counts of both players, in the whole game and its phases.

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
                        th scope="col" { abbr title="sound sacrifices" { "!!" } }
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
            (loss_row(name, &side.whole, true))
            @for phase in Phase::ALL {
                @if side.phase(phase).judged > 0 { (loss_row(phase.name(), side.phase(phase), false)) }
            }
        }
    }
}

fn loss_row(name: &str, part: &PlaySummary, whole: bool) -> Markup {
    let number = |value: Option<f64>, unit: &str| value.map_or_else(|| "–".to_owned(), |v| format!("{v:.1}{unit}"));
    html! {
        tr.whole[whole] {
            th scope="row" { (name) }
            td { (number(part.accuracy, " %")) }
            td { (number(part.average_loss, "")) }
            td { (part.inaccuracies) } td { (part.mistakes) } td { (part.blunders) } td { (part.only_moves) }
            td { (part.sacrifices) }
        }
    }
}

// The graph of winning chances: White's share at the bottom, and one clickable column for each ply.

/// Height of the graph; a ply is as wide as `STEP`.
const HEIGHT: f64 = 100.0;
const STEP: f64 = 10.0;

/// The graph of a game as SVG; plies without an evaluation leave a gap.
pub(crate) fn graph(review: &Review) -> String {
    let start = review.evaluation.as_ref();
    let chances: Vec<Option<f64>> = std::iter::once(start)
        .chain(review.moves.iter().map(|played| played.evaluation.as_ref()))
        .map(|evaluation| evaluation.map(|e| e.chance))
        .collect();
    let width = STEP * chances.len() as f64;
    let mut svg = format!(
        "<svg class=\"graph\" viewBox=\"0 0 {width} {HEIGHT}\" preserveAspectRatio=\"none\" role=\"img\" \
         aria-label=\"White's winning chances, move by move\">\
         <rect class=\"black-share\" width=\"{width}\" height=\"{HEIGHT}\"/>"
    );
    let mut shape = format!("M0 {HEIGHT}");
    for (ply, chance) in chances.iter().enumerate() {
        let (left, right) = (STEP * ply as f64, STEP * (ply + 1) as f64);
        let y = HEIGHT - chance.unwrap_or(0.0);
        let _ = write!(shape, "L{left} {y:.1}L{right} {y:.1}");
    }
    let _ = write!(svg, "<path class=\"white-share\" d=\"{shape}L{width} {HEIGHT}Z\"/>");
    let _ = write!(svg, "<line class=\"middle\" x1=\"0\" x2=\"{width}\" y1=\"50\" y2=\"50\"/>");
    for played in &review.moves {
        marks(&mut svg, played.ply, played.mark);
    }
    let _ = write!(svg, "<rect class=\"cursor\" x=\"0\" y=\"0\" width=\"{STEP}\" height=\"{HEIGHT}\"/>");
    for (ply, chance) in chances.iter().enumerate() {
        let name = name(review, ply);
        let chance = chance.map_or_else(|| "?".to_owned(), |chance| format!("{chance:.0} %"));
        let _ = write!(
            svg,
            "<rect class=\"hit\" data-ply=\"{ply}\" x=\"{}\" width=\"{STEP}\" height=\"{HEIGHT}\">\
             <title>{name}: {chance}</title></rect>",
            STEP * ply as f64
        );
    }
    svg + "</svg>"
}

/// The time used for each move as SVG: bars upwards for White, downwards for Black.
pub(crate) fn time_graph(review: &Review, times: &[MoveTime]) -> String {
    let width = STEP * (times.len() + 1) as f64;
    let longest = times.iter().filter_map(|time| time.used).fold(1.0, f64::max);
    let mut svg = format!(
        "<svg class=\"graph times\" viewBox=\"0 0 {width} {HEIGHT}\" preserveAspectRatio=\"none\" role=\"img\" \
         aria-label=\"Time used, move by move\">"
    );
    for (played, time) in review.moves.iter().zip(times) {
        let Some(used) = time.used else { continue };
        let white = played.side == "white";
        let height = used / longest * HEIGHT / 2.0;
        let y = HEIGHT / 2.0 - if white { height } else { 0.0 };
        let _ = write!(
            svg,
            "<rect class=\"{}\" data-ply=\"{}\" x=\"{}\" y=\"{y:.1}\" width=\"{STEP}\" height=\"{height:.1}\">\
             <title>{}: {}</title></rect>",
            if white { "white-time" } else { "black-time" },
            played.ply,
            STEP * played.ply as f64,
            name(review, played.ply),
            readable(used)
        );
    }
    svg + "</svg>"
}

/// A coloured base below the plies that have a mark.
fn marks(svg: &mut String, ply: usize, mark: Option<Mark>) {
    let Some(mark) = mark else { return };
    let _ = write!(
        svg,
        "<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{STEP}\" height=\"6\"/>",
        class(mark),
        STEP * ply as f64,
        HEIGHT - 6.0
    );
}

/// The class of a mark on the page.
pub(crate) fn class(mark: Mark) -> &'static str {
    match mark {
        Mark::Sacrifice | Mark::Only => "mark-only",
        Mark::Inaccuracy => "mark-inaccuracy",
        Mark::Mistake => "mark-mistake",
        Mark::Blunder => "mark-blunder",
    }
}

/// Text label of a ply. No character of SAN has a special meaning in SVG.
fn name(review: &Review, ply: usize) -> String {
    match ply.checked_sub(1).and_then(|i| review.moves.get(i)) {
        None => "Start".to_owned(),
        Some(played) => {
            let dots = if played.side == "white" { "." } else { "..." };
            format!("{}{dots} {}", played.number, played.san)
        }
    }
}
