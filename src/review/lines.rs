//! Better lines for the HTML page, whose script plays them on the board.

use maud::{Markup, html};
use serde::Serialize;

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

/// The better lines for a move with a mark; none without a mark. `position` is the position before the move.
pub(super) fn playable_lines(position: &Position, played: &PlayedMove) -> Vec<PlayableLine> {
    if played.mark.is_none() {
        return Vec::new();
    }
    played.better.iter().map(|line| playable(position, line)).collect()
}

fn playable(position: &Position, line: &Better) -> PlayableLine {
    let mut position = position.clone();
    let mut steps = Vec::new();
    for (i, &m) in line.moves.iter().enumerate() {
        let text = if i == 0 || position.turn().is_white() { numbered(&position, &[m]) } else { position.san(m) };
        let (from, to) = ends(&position, m);
        position.do_move(m);
        steps.push(LineStep { fen: position.fen(), played: [from.to_string(), to.to_string()], text });
    }
    PlayableLine { eval: line.eval.to_string(), steps }
}

/// The lines as text with clickable moves.
pub(super) fn clickable_lines(position: &Position, played: &PlayedMove) -> Markup {
    html! {
        @for (number, line) in playable_lines(position, played).iter().enumerate() {
            p.line {
                (line.eval) " "
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
            assert_eq!(step.fen, reached.fen());
            assert!(step.text.ends_with(san.as_str()), "{} {san}", step.text);
        }
    }

    #[test]
    fn a_move_without_a_mark_has_none() {
        let unmarked = PlayedMove { mark: None, ..blunder() };
        assert!(!unmarked.better.is_empty());
        assert!(playable_lines(&position(BEFORE_IT), &unmarked).is_empty());
    }
}
