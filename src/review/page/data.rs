//! Positions, lines and attempts of a game as JSON for the scripts.

use serde::Serialize;

use super::super::clock::on_clock;
use super::super::graph::class;
use super::super::lines::{PlayableLine, line_evals, playable_lines, title};
use super::super::mark::Mark;
use super::super::picture::ends;
use super::super::report::{Attempt, Evaluation, PlayedMove};
use super::{Shown, moves};
use crate::board::{Move, Position};
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
        text: moves::numbered(played),
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
