//! The graph of winning chances: White's share at the bottom, and one clickable column for each ply.

use std::fmt::Write;

use super::clock::{MoveTime, readable};
use super::mark::Mark;
use super::report::Review;

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
