//! Better lines for the HTML page, whose script plays them on the board.

use maud::{Markup, html};
use serde::Serialize;

use super::eval::Eval;
use super::picture::ends;
use super::report::{Better, PlayedMove};
use crate::board::Position;
use crate::tools::variation::numbered;

/// A better line for the page's script.
#[derive(Serialize)]
pub(super) struct PlayableLine {
    /// Score of the line as text.
    eval: String,
    steps: Vec<LineStep>,
}

/// A move of a better line, and the position after it.
#[derive(Serialize)]
struct LineStep {
    fen: String,
    /// The squares of the move.
    played: [String; 2],
    /// The move in SAN, with its number where needed.
    text: String,
}

/// Maximum number of plies of the engine's line for a move without a bad mark.
const SHORT: usize = 6;

/// The better lines for a move with a bad mark; the engine's line in place of any other move. `position` is the
/// position before the move.
pub(super) fn playable_lines(position: &Position, played: &PlayedMove) -> Vec<PlayableLine> {
    if played.mark.is_some() && !played.better.is_empty() {
        return played.better.iter().map(|line| playable(position, line)).collect();
    }
    let line = played.engine.clone().map(|line| line.cut(SHORT));
    line.iter().filter(|line| !line.moves.is_empty()).map(|line| playable(position, line)).collect()
}

/// The values of these lines.
pub(super) fn line_evals(played: &PlayedMove) -> Vec<Eval> {
    match played.mark.is_some() && !played.better.is_empty() {
        true => played.better.iter().map(|line| line.eval).collect(),
        false => played.engine.iter().map(|line| line.eval).collect(),
    }
}

/// Name of the lines of a move.
pub(super) fn title(played: &PlayedMove) -> &'static str {
    match played.engine.as_ref().and_then(|line| line.moves.first()) {
        Some(&m) if m == played.m => "Engine line",
        _ if played.mark.is_some() => "Better",
        _ => "Best",
    }
}

fn playable(position: &Position, line: &Better) -> PlayableLine {
    let mut position = position.clone();
    let mut steps = Vec::new();
    for (i, &m) in line.moves.iter().enumerate() {
        let text = if i == 0 || position.turn().is_white() { numbered(&position, &[m]) } else { position.san(m) };
        let (from, to) = ends(&position, m);
        position.do_move(m);
        // The page needs the pieces and the side to move.
        let fen = position.fen().split(' ').take(2).collect::<Vec<_>>().join(" ");
        steps.push(LineStep { fen, played: [from.to_string(), to.to_string()], text });
    }
    PlayableLine { eval: line.eval.to_string(), steps }
}

/// The lines as text with clickable moves.
pub(super) fn clickable_lines(position: &Position, played: &PlayedMove) -> Markup {
    html! {
        @for (number, line) in playable_lines(position, played).iter().enumerate() {
            p.line {
                (title(played)) " (" (line.eval) "): "
                @for (i, step) in line.steps.iter().enumerate() {
                    button.move type="button" data-ply=(played.ply) data-line=(number) data-step=(i) { (step.text) }
                    " "
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation::pgn;
    use crate::review::analyst::tests::{analyst, position};
    use crate::review::opening::OpeningNames;
    use crate::review::study::{Detail, Wishes, review};

    /// The game's last move is a blunder: mate follows.
    const BLUNDERED: &str = "1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 *\n";
    const BEFORE_IT: &str = "r1bqkbnr/pppp1ppp/2n5/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR b KQkq - 3 3";

    fn blunder() -> PlayedMove {
        let games = pgn::read(BLUNDERED.as_bytes()).expect("a text");
        let game = games[0].as_ref().expect("a game");
        let wishes = Wishes { side: None, detail: Detail::Brief, retry: false };
        let mut review = review(game, &mut analyst(4000, 1), &OpeningNames::load(), wishes, &mut |_| ());
        review.moves.pop().expect("a move")
    }

    #[test]
    fn every_move_of_a_line_leads_to_its_position() {
        let blunder = blunder();
        let mut reached = position(BEFORE_IT);
        let lines = playable_lines(&reached, &blunder);
        let steps = &lines[0].steps;
        assert!(steps[0].text.starts_with("3... ") && steps[1].text.starts_with("4. "));
        assert!(steps.len() > 1 && steps.len() == blunder.better[0].san.len());
        for (step, san) in steps.iter().zip(&blunder.better[0].san) {
            reached.do_move(reached.parse_san(san).expect("legal"));
            assert!(reached.fen().starts_with(&step.fen), "{}", step.fen);
            assert!(step.text.ends_with(san.as_str()), "{} {san}", step.text);
        }
    }

    #[test]
    fn a_move_without_a_mark_has_the_engines_line() {
        let unmarked = PlayedMove { mark: None, better: Vec::new(), ..blunder() };
        let lines = playable_lines(&position(BEFORE_IT), &unmarked);
        assert_eq!(lines.len(), 1);
        assert!((1..=SHORT).contains(&lines[0].steps.len()) && lines[0].steps[0].text.starts_with("3... "));
        let html = clickable_lines(&position(BEFORE_IT), &unmarked).into_string();
        assert!(html.contains("Best ("), "{html}");
    }
}
