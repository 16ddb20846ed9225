//! Positions, lines and attempts of a game as JSON for the scripts, and better lines that they play.

use crate::review::mark::Eval;
use maud::{Markup, html};
use serde::Serialize;

use super::Shown;
use super::overview::class;
use crate::board::{Move, Position};
use crate::review::mark::Mark;
use crate::review::picture::ends;
use crate::review::remarks::on_clock;
use crate::review::report::{Attempt, Better, Evaluation, PlayedMove};
use crate::tools::variation::numbered;

/// A position of the game.
#[derive(Serialize)]
struct Place {
    fen: String,
    /// The move that led here, with its number; empty at the start.
    text: String,
    /// The squares of the move that led here, and of the better one.
    played: Option<[String; 2]>,
    better: Option<[String; 2]>,
    /// White's chance in percent.
    chance: Option<f64>,
    /// The clocks of White and Black.
    clocks: [Option<String>; 2],
    /// Whether the move that led here has a bad mark.
    mistake: bool,
    /// Lines that replace the move that led here, and White's chance after each.
    lines: Vec<PlayableLine>,
    /// Name of these lines: `Better`, `Best` or `Engine line`.
    title: &'static str,
    line_chances: Vec<f64>,
    /// All legal moves that could replace the move that led here, if they were searched.
    tries: Vec<Try>,
}

/// A move that a reader may try.
#[derive(Serialize)]
struct Try {
    from: String,
    /// Target squares that select this move: castling has two.
    to: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    promotion: Option<char>,
    san: String,
    /// Pieces and side to move: the first two fields of a FEN.
    fen: String,
    chance: f64,
    class: &'static str,
    /// Sentence shown to the reader.
    text: String,
}

/// All positions of a game.
pub(super) fn data(shown: &Shown) -> String {
    let mut clocks = [None, None];
    let mut places = vec![Place {
        fen: shown.review.start.clone(),
        text: String::new(),
        played: None,
        better: None,
        chance: shown.chance(0),
        clocks: clocks.clone(),
        mistake: false,
        lines: Vec::new(),
        title: "",
        line_chances: Vec::new(),
        tries: Vec::new(),
    }];
    for (i, played) in shown.review.moves.iter().enumerate() {
        clocks[usize::from(played.side == "black")] = shown.times[i].left.map(on_clock);
        places.push(place(shown, i, played, clocks.clone()));
    }
    // Escapes `<`, so that no text can end the script element.
    serde_json::to_string(&places).unwrap_or_default().replace('<', "\\u003c")
}

fn place(shown: &Shown, i: usize, played: &PlayedMove, clocks: [Option<String>; 2]) -> Place {
    let position = &shown.positions[i];
    let better = played.better.first().and_then(|line| line.moves.first());
    let better = better.filter(|_| played.mark.is_some());
    Place {
        fen: played.fen.clone(),
        text: played.numbered(),
        played: Some(squares(position, played.m)),
        better: better.map(|&m| squares(position, m)),
        chance: shown.chance(i + 1),
        clocks,
        mistake: played.mark >= Some(Mark::Inaccuracy),
        lines: playable_lines(position, played),
        title: title(played),
        line_chances: line_evals(played).iter().map(|eval| eval.chance()).collect(),
        tries: tries(position, played),
    }
}

fn squares(position: &Position, m: Move) -> [String; 2] {
    let (from, to) = ends(position, m);
    [from.to_string(), to.to_string()]
}

fn tries(position: &Position, played: &PlayedMove) -> Vec<Try> {
    let all = &played.attempts;
    let king_steps: Vec<[String; 2]> = all
        .iter()
        .filter(|attempt| !position.is_castling(attempt.m))
        .map(|attempt| squares(position, attempt.m))
        .collect();
    let one = |attempt: &Attempt| {
        // The text and the answer to a try show the value of one search.
        let attempt = &Attempt { value: shown_value(played, attempt), ..attempt.clone() };
        let m = attempt.m;
        let mut reached = position.clone();
        reached.do_move(m);
        let [from, target] = squares(position, m);
        let mut to = vec![target];
        if position.is_castling(m) {
            // In Chess960 the king may also step to its castling square. Then only the rook's square selects
            // castling.
            to.retain(|to| !king_steps.contains(&[from.clone(), to.clone()]));
            to.push(m.to().to_string());
        }
        Try {
            from,
            to,
            promotion: m.promotion().map(|role| role.upper_char()),
            san: position.san(m),
            fen: reached.fen().split(' ').take(2).collect::<Vec<_>>().join(" "),
            chance: attempt.value.chance,
            class: attempt.mark.map_or("mark-only", class),
            text: verdict(position, &reached, attempt, played),
        }
    };
    all.iter().map(one).collect()
}

/// The value of a move as the text shows it: of the move of the game, or of the line that begins with it.
fn shown_value(played: &PlayedMove, attempt: &Attempt) -> Evaluation {
    if attempt.m == played.m {
        return played.evaluation.clone().unwrap_or_else(|| attempt.value.clone());
    }
    let line = played.better.iter().find(|line| line.moves.first() == Some(&attempt.m));
    line.map_or_else(
        || attempt.value.clone(),
        |line| Evaluation { eval: line.eval, chance: line.eval.chance(), depth: attempt.value.depth.max(1) },
    )
}

/// `12... Nf6 is a blunder. +5.10, White's chances 87 %. The best reply is 13. Nb5.`
fn verdict(position: &Position, reached: &Position, attempt: &Attempt, played: &PlayedMove) -> String {
    let judgement = match attempt.mark {
        _ if attempt.is_best => "is the best move",
        None => "is a good move",
        Some(Mark::Sacrifice) => "is a sound sacrifice",
        Some(Mark::Only) => "is the only move",
        Some(Mark::Inaccuracy) => "is an inaccuracy",
        Some(Mark::Mistake) => "is a mistake",
        Some(Mark::Blunder) => "is a blunder",
    };
    let again = if attempt.m == played.m { ", as in the game" } else { "" };
    let mut text = format!("{} {judgement}{again}.", numbered(position, &[attempt.m]));
    if attempt.value.depth > 0 {
        let (eval, chance) = (attempt.value.eval, attempt.value.chance);
        text += &format!(" {eval}, White's chances {chance:.0} %.");
    }
    if let Some(reply) = attempt.reply.filter(|_| attempt.mark.is_some()) {
        text += &format!(" The best reply is {}.", numbered(reached, &[reply]));
    }
    text
}

// Better lines for the HTML page, whose script plays them on the board.

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
mod lines_tests {
    use super::*;
    use crate::notation::pgn;
    use crate::review::analyst::tests::{analyst, position};
    use crate::review::phase::OpeningNames;
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
