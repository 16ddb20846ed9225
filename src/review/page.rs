//! The page: all reviewed games in one HTML file that needs nothing else, neither network nor, to be read, a script.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde::Serialize;

use super::graph::{class, graph};
use super::lines::{PlayableLine, clickable_lines, playable_lines};
use super::mark::Mark;
use super::phase::Phase;
use super::picture::{BoardView, definitions, diagram, ends};
use super::report::{PlaySummary, PlayedMove, Review, Side};
use crate::board::{Color, Position};
use crate::notation::pgn::Game;

/// Look and behaviour of the page.
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
/// Nothing may be loaded from anywhere.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; \
    base-uri 'none'; form-action 'none'";

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
                @if games.len() > 1 {
                    nav { label { "Game " select id="games" {
                        @for (i, (_, review)) in games.iter().enumerate() {
                            option value=(i) { (review.number) ": " (players(review)) }
                        }
                    } } }
                }
                @for (game, review) in games { (article(game, review)) }
                (legend())
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

/// Who played.
fn players(review: &Review) -> String {
    let name = |tag, unknown: &str| review.tag(tag).unwrap_or(unknown).to_owned();
    format!("{} – {}", name("White", "White"), name("Black", "Black"))
}

fn article(game: &Game, review: &Review) -> Markup {
    html! {
        article.game {
            h1 { (players(review)) " " span.result { (review.result) } }
            p.about { (about(review)) }
            @if !review.complete {
                p.about { strong { "Interrupted: " } "the first moves were not analysed." }
            }
            div.view {
                div.stage {
                    div.board-place { (PreEscaped(diagram(&game.start, &BoardView::default()))) }
                    div.controls {
                        button type="button" data-go="first" title="Start of the game (Home)" { "«" }
                        button type="button" data-go="back" title="Previous move (←)" { "‹" }
                        button type="button" data-go="on" title="Next move (→)" { "›" }
                        button type="button" data-go="last" title="End of the game (End)" { "»" }
                        button type="button" data-go="flip" title="Flip the board (F)" { "↻" }
                        button.better type="button" data-go="better" title="Play the better line (B)" { "Better" }
                    }
                    p.status aria-live="polite" {}
                }
                div.moves { (moves(review)) }
            }
            div.graph-place { (PreEscaped(graph(review))) }
            (moments(game, review))
            (tables(review))
            script type="application/json" { (PreEscaped(data(game, review))) }
        }
    }
}

/// What the tags tell, and the opening.
fn about(review: &Review) -> String {
    let tags = ["Event", "Site", "Date", "TimeControl"];
    let mut parts: Vec<String> = tags
        .iter()
        .filter_map(|tag| review.tag(tag))
        .map(|value| value.trim_end_matches(".??").to_owned())
        .collect();
    if let Some(opening) = &review.opening {
        parts.push(format!("{} {}", opening.eco, opening.name));
    }
    parts.join(" · ")
}

/// The moves as a list of links to positions.
fn moves(review: &Review) -> Markup {
    html! {
        ol.list {
            @for (i, played) in review.moves.iter().enumerate() {
                li {
                    @if played.side == "white" || i == 0 {
                        span.number { (played.number) (if played.side == "white" { "." } else { "..." }) }
                    }
                    button.move type="button" data-ply=(played.ply) class=(played.mark.map_or("", class)) {
                        (played.san)
                        @if let Some(mark) = played.mark { (mark.glyph()) }
                    }
                }
            }
        }
        p.outcome { (review.result) }
    }
}

/// The moves of which there is something to say, each with its own board.
fn moments(game: &Game, review: &Review) -> Markup {
    let critical: Vec<&PlayedMove> = review
        .moves
        .iter()
        .filter(|m| !m.reasons.is_empty())
        .collect();
    html! {
        @if !critical.is_empty() {
            h2 { "Critical moments" }
            div.moments { @for played in critical { (moment(&before(game, played.ply), played)) } }
        }
    }
}

/// The position before a ply, which is counted from 1.
fn before(game: &Game, ply: usize) -> Position {
    let mut position = game.start.clone();
    for &m in &game.moves[..ply - 1] {
        position.do_move(m);
    }
    position
}

fn moment(position: &Position, played: &PlayedMove) -> Markup {
    let mut view = BoardView {
        flipped: position.turn() == Color::Black,
        arrows: Vec::new(),
    };
    let (from, to) = ends(position, played.m);
    view.arrows.push((
        from,
        to,
        if played.better.is_empty() {
            "best"
        } else {
            "played"
        },
    ));
    if let Some(m) = played.better.first().and_then(|line| line.moves.first()) {
        let (from, to) = ends(position, *m);
        view.arrows.push((from, to, "best"));
    }
    let dots = if played.side == "white" { "." } else { "..." };
    html! {
        section.moment {
            (PreEscaped(diagram(position, &view)))
            div {
                h3 { button.move type="button" data-ply=(played.ply) class=(played.mark.map_or("", class)) {
                    (played.number) (dots) " " (played.san)
                    @if let Some(mark) = played.mark { (mark.glyph()) " " span.kind { (mark.name()) } }
                } }
                @for reason in &played.reasons { p { (reason.text) } }
                (clickable_lines(position, played))
            }
        }
    }
}

/// Accuracy and losses of both sides, in the whole game and its phases.
fn tables(review: &Review) -> Markup {
    let sides: [(&str, &Side); 2] = [("White", &review.white), ("Black", &review.black)];
    let percent =
        |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |v| format!("{v:.1} %"));
    let points = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |v| format!("{v:.1}"));
    let row = |name: &str, part: &PlaySummary| {
        html! {
            tr {
                th scope="row" { (name) }
                td { (percent(part.accuracy)) }
                td { (points(part.average_loss)) }
                td { (part.average_loss_cp.map_or_else(|| "–".to_owned(), |v| format!("{v:.0}"))) }
                td { (part.inaccuracies) } td { (part.mistakes) } td { (part.blunders) } td { (part.only_moves) }
            }
        }
    };
    html! {
        h2 { "How each side played" }
        @for (name, side) in sides {
            div.scroll { table {
                caption { (name) }
                thead { tr {
                    th {} th { "Accuracy" } th { "Chances lost" } th { "Centipawns lost" }
                    th { "?!" } th { "?" } th { "??" } th { "!" }
                } }
                tbody {
                    (row("Game", &side.whole))
                    @for phase in Phase::ALL { (row(phase.name(), side.phase(phase))) }
                }
            } }
        }
    }
}

/// What the numbers mean.
fn legend() -> Markup {
    html! {
        footer {
            p {
                "Scores are in pawns from White's view. Winning chances are those of people, by the curve and the "
                "marks that lichess uses: " (Mark::Inaccuracy.glyph()) " loses 5 points of chance, "
                (Mark::Mistake.glyph()) " 10, " (Mark::Blunder.glyph()) " 15; " (Mark::Only.glyph())
                " is an only move that was found. Loss is the average of these points a move. "
                "Wins, draws and losses under the board are those of the engine against itself."
            }
            p {
                "Reviewed by Zoothera " (env!("CARGO_PKG_VERSION"))
                ". Names of openings: lichess-org/chess-openings (CC0)."
            }
        }
    }
}

/// A position as the script shows it.
#[derive(Serialize)]
struct Shown {
    fen: String,
    /// The squares of the move that led here, and of the better one.
    played: Option<[String; 2]>,
    better: Option<[String; 2]>,
    text: String,
    /// What could have been played in place of the move that led here.
    lines: Vec<PlayableLine>,
}

/// All positions of a game for the script.
fn data(game: &Game, review: &Review) -> String {
    let mut position = game.start.clone();
    let status = |evaluation: Option<&super::report::Evaluation>| {
        evaluation.map_or_else(String::new, |e| {
            let [win, draw, loss] = e.wdl.map(|permill| f64::from(permill) / 10.0);
            let (eval, chance, depth) = (e.eval, e.chance, e.depth);
            format!(
                "{eval} · White's chances {chance:.0} % · \
                 wins {win:.0}, draws {draw:.0}, losses {loss:.0} % · depth {depth}"
            )
        })
    };
    let mut shown = vec![Shown {
        fen: review.start.clone(),
        played: None,
        better: None,
        text: status(review.evaluation.as_ref()),
        lines: Vec::new(),
    }];
    for played in &review.moves {
        let squares = |m| {
            let (from, to) = ends(&position, m);
            [from.to_string(), to.to_string()]
        };
        let better = played.better.first().and_then(|line| line.moves.first());
        let better = better
            .filter(|_| played.mark.is_some())
            .map(|&m| squares(m));
        shown.push(Shown {
            played: Some(squares(played.m)),
            better,
            text: status(played.evaluation.as_ref()),
            fen: played.fen.clone(),
            lines: playable_lines(&position, played),
        });
        position.do_move(played.m);
    }
    // Inside a script element nothing may look like the end of it.
    serde_json::to_string(&shown)
        .unwrap_or_default()
        .replace('<', "\\u003c")
}
