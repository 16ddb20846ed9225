//! The page: all reviewed games in one HTML file without external resources. The text is readable without scripts.
//!
//! * `moments`: what decided the game, the turning points and all other marked moves; `overview`: tables and graphs
//! * `moves`: the list of moves with the remarks of the file, and the texts next to the board
//! * `data`: the input of the scripts, better lines among them

mod data;
mod moments;
mod moves;
mod overview;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::mark::Mark;
use super::picture::{BoardView, definitions, diagram};
use super::remarks::{MoveTime, of_author, times};
use super::report::Review;
use crate::board::{Color, Position};
use crate::notation::pgn::{Game, Remarks};
use overview::{graph, time_graph};

/// Style sheet of the page.
const STYLE: &str = include_str!("page.css");
/// Script of the page, in one scope.
const SCRIPT: &str = concat!(
    "(() => {\n\"use strict\";\n",
    include_str!("page/board.js"),
    include_str!("page/retry.js"),
    include_str!("page.js"),
    "})();\n"
);
/// Content security policy: the page may load nothing.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; \
    base-uri 'none'; form-action 'none'";

/// The keys of the page and their actions.
const KEYS: [(&str, &str); 9] = [
    ("← →", "previous and next move"),
    ("Home End", "start and end of the game"),
    ("N", "next mistake"),
    ("P", "previous mistake"),
    ("T", "try again at this mistake; again: another move"),
    ("M", "try again at every mistake of the side at the bottom"),
    ("B", "play the engine's line"),
    ("F", "flip the board"),
    ("Esc", "back to the game"),
];

/// A game with all data that the parts of the page show.
struct Shown<'a> {
    review: &'a Review,
    /// All positions, the first and the last included.
    positions: Vec<Position>,
    /// The author's remarks: before the first move, then after each move.
    remarks: Vec<Remarks>,
    /// The clock of each move.
    times: Vec<MoveTime>,
}

impl<'a> Shown<'a> {
    fn new(game: &Game, review: &'a Review) -> Self {
        let mut position = game.start.clone();
        let mut positions = vec![position.clone()];
        for &m in &game.moves {
            position.do_move(m);
            positions.push(position.clone());
        }
        Self { review, positions, remarks: game.remarks.iter().map(of_author).collect(), times: times(game) }
    }

    /// White's chance after a ply, in percent.
    fn chance(&self, ply: usize) -> Option<f64> {
        let evaluation = match ply.checked_sub(1) {
            None => self.review.evaluation.as_ref(),
            Some(i) => self.review.moves[i].evaluation.as_ref(),
        };
        evaluation.map(|e| e.chance)
    }
}

/// The page of these games.
pub(crate) fn page(games: &[(Game, Review)]) -> String {
    let title = match games {
        [(_, review)] => players(review),
        _ => format!("{} games", games.len()),
    };
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                title { (title) " – reviewed by Zoothera" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                svg id="shapes" aria-hidden="true" { (PreEscaped(format!("<defs>{}</defs>", definitions()))) }
                @if games.len() > 1 { (overview::overview(games)) (choice(games)) }
                main { @for (game, review) in games { (article(&Shown::new(game, review))) } }
                (footer())
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

/// The selection of a game.
fn choice(games: &[(Game, Review)]) -> Markup {
    html! {
        nav aria-label="Games" { label { "Game " select id="games" {
            @for (i, (_, review)) in games.iter().enumerate() {
                option value=(i) { (review.number) ": " (players(review)) }
            }
        } } }
    }
}

/// The name of a player, or the colour if it is unknown.
fn player(review: &Review, color: Color) -> String {
    let tag = color.fold_wb("White", "Black");
    review.tag(tag).unwrap_or(tag).to_owned()
}

/// The names of both players.
fn players(review: &Review) -> String {
    let (white, black) = (player(review, Color::White), player(review, Color::Black));
    format!("{white} – {black}")
}

fn article(shown: &Shown) -> Markup {
    let review = shown.review;
    html! {
        article.game id=(overview::address(review)) data-number=(review.number)
            data-side=[review.side.map(|side| side.fold_wb("white", "black"))] {
            h1 { (rated(review)) " " span.result { (review.result) } }
            p.about {
                (about(review))
                @if let Some((address, host)) = link(review) {
                    " · " a href=(address) rel="noopener noreferrer" { "Game on " (host) }
                }
            }
            @if !review.complete {
                p.about { strong { "Interrupted: " } "the first moves were not analysed." }
            }
            div.first {
                (moments::turning(shown))
                (overview::tables(shown))
            }
            div.view {
                (stage(shown))
                (controls(review.side))
                (moves::notes(shown))
                section.moves aria-label="Moves" tabindex="0" { (moves::moves(shown)) }
            }
            div.graph-place { (PreEscaped(graph(review))) }
            @if shown.times.iter().any(|time| time.used.is_some()) {
                figure.graph-place {
                    (PreEscaped(time_graph(review, &shown.times)))
                    figcaption { "Time used for each move: White upwards, Black downwards" }
                }
            }
            (moments::others(shown))
            script type="application/json" { (PreEscaped(data::data(shown))) }
        }
    }
}

/// The board between the players, with the evaluation bar.
fn stage(shown: &Shown) -> Markup {
    let review = shown.review;
    let flipped = review.side == Some(Color::Black);
    let view = BoardView { flipped, ..BoardView::default() };
    let chance = shown.chance(0).unwrap_or(50.0);
    let clocked = shown.times.iter().any(|time| time.left.is_some());
    html! {
        div.stage.flipped[flipped] {
            @for color in [Color::Black, Color::White] {
                p class={ "player " (color.fold_wb("white", "black")) } {
                    span.name { (player(review, color)) }
                    @if clocked {
                        span.clock role="timer" aria-label={ (color.fold_wb("White", "Black")) "'s clock" } {}
                    }
                }
            }
            div.board-row {
                div.bar role="meter" aria-label="White's winning chances in percent" aria-valuemin="0"
                    aria-valuemax="100" aria-valuenow=(format!("{chance:.0}")) {
                    div.bar-white style=(format!("height:{chance:.0}%")) {}
                }
                div.board-place { (PreEscaped(diagram(&shown.positions[0], &view))) }
            }
        }
    }
}

/// The buttons directly under the board. `side` is the side whose moves are judged.
fn controls(side: Option<Color>) -> Markup {
    let button = |go: &str, key: &str, text: &str, name: &str| {
        let is_sign = !text.is_ascii();
        html! {
            button type="button" data-go=(go) title={ (name) " (" (key) ")" }
                aria-label=[is_sign.then_some(name)] { span aria-hidden=[is_sign.then_some("true")] { (text) } }
        }
    };
    html! {
        div.controls role="group" aria-label="Board" {
            (button("first", "Home", "«", "Start of the game"))
            (button("back", "←", "‹", "Previous move"))
            (button("on", "→", "›", "Next move"))
            (button("last", "End", "»", "End of the game"))
            (button("flip", "F", "↻", "Flip the board"))
        }
        div.controls.more role="group" aria-label="Mistakes" {
            (button("previous", "P", "Previous mistake", "Go to the previous mistake"))
            (button("next", "N", "Next mistake", "Go to the next mistake"))
            (button("retry", "T", "Try again", "Find a better move on the board"))
            (button("better", "B", "Engine line", "Play the engine's line on the board"))
            (button("mine", "M", "All my mistakes", match side {
                Some(_) => "Try again at every mistake",
                None => "Try again at every mistake of the side at the bottom",
            }))
            a.permalink href="#" { "Link to this position" }
        }
    }
}

/// The names of both players with their ratings: `A (1830) – B (1790)`.
fn rated(review: &Review) -> String {
    let one = |color: Color| {
        let rating = review.tag(color.fold_wb("WhiteElo", "BlackElo")).filter(|&rating| rating != "-");
        player(review, color) + &rating.map(|rating| format!(" ({rating})")).unwrap_or_default()
    };
    format!("{} – {}", one(Color::White), one(Color::Black))
}

/// The address of the game on its site, and the name of the site.
fn link(review: &Review) -> Option<(&str, &str)> {
    ["Link", "GameLink", "Site", "Source"].iter().find_map(|tag| {
        let address = review.tag(tag)?.trim();
        let rest = address.strip_prefix("https://").or_else(|| address.strip_prefix("http://"))?;
        let host = rest.split(['/', '?', '#']).next().filter(|host| !host.is_empty())?;
        (!address.contains(char::is_whitespace)).then(|| (address, host.trim_start_matches("www.")))
    })
}

/// The event's tags, the ending and the opening.
fn about(review: &Review) -> String {
    let tags = ["Event", "Site", "Date", "TimeControl", "Termination"];
    // A normal ending is no news.
    let is_text = |value: &&str| *value != "-" && !value.starts_with("http") && !value.eq_ignore_ascii_case("normal");
    let known = tags.iter().filter_map(|tag| review.tag(tag)).filter(is_text);
    let mut parts: Vec<String> = known.map(|value| value.trim_end_matches(".??").to_owned()).collect();
    if let Some(opening) = &review.opening {
        parts.push(format!("{} {}", opening.eco, opening.name));
    }
    parts.join(" · ")
}

/// The meaning of numbers and marks, and the keys.
fn footer() -> Markup {
    let sample =
        |mark: Mark, text: &str| html! { span class=(super::page::overview::class(mark)) { (mark.glyph()) } (text) };
    html! {
        footer {
            section.keys aria-label="Keys" {
                h2 { "Keys" }
                dl { @for (key, action) in KEYS { div { dt { kbd { (key) } } dd { (action) } } } }
            }
            h2 { "Marks and numbers" }
            p {
                "A winning chance is that of a person with this score: the curve that lichess uses. "
                "Scores are in pawns. Both are from White's view. "
                (sample(Mark::Inaccuracy, " loses 5 points of chance, "))
                (sample(Mark::Mistake, " 10 points, "))
                (sample(Mark::Blunder, " 15 points; "))
                (sample(Mark::Only, " is an only move that was found, "))
                (sample(Mark::Sacrifice, " a sound sacrifice. "))
                "Average loss is in these points too. A grey mark in a frame, such as " span.glyph { "!?" }
                ", comes from the file, and so do texts with a bar on their left."
            }
            p {
                "Reviewed by Zoothera " (env!("CARGO_PKG_VERSION"))
                ". Names of openings: lichess-org/chess-openings (CC0)."
            }
        }
    }
}
