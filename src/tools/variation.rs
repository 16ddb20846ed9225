//! Formatting of variations and scores for people.

use crate::board::{Color, Move, Position};
use crate::search::score::{Score, ScoreBound};

/// Returns the moves of a variation in SAN, without numbers.
pub(crate) fn san_moves(position: &Position, moves: &[Move]) -> Vec<String> {
    let mut position = position.clone();
    moves
        .iter()
        .map(|&m| {
            let san = position.san(m);
            position.do_move(m);
            san
        })
        .collect()
}

/// Returns a variation in SAN with move numbers: `12... Nf6 13. O-O`.
pub(crate) fn numbered(position: &Position, moves: &[Move]) -> String {
    let mut number = position.fullmoves();
    let mut turn = position.turn();
    let mut text = String::new();
    for (i, san) in san_moves(position, moves).iter().enumerate() {
        let space = if i == 0 { "" } else { " " };
        match turn {
            Color::White => text += &format!("{space}{number}. {san}"),
            Color::Black if i == 0 => text += &format!("{number}... {san}"),
            Color::Black => text += &format!("{space}{san}"),
        }
        if turn.is_black() {
            number += 1;
        }
        turn = !turn;
    }
    text
}

/// Truncates a line to `columns`, at a space, with dots in place of the rest.
pub(crate) fn fitted(line: String, columns: Option<usize>) -> String {
    const DOTS: &str = " ...";
    let Some(columns) = columns.filter(|&columns| line.chars().count() > columns) else {
        return line;
    };
    let room = columns.saturating_sub(DOTS.len());
    let mut kept: String = line.chars().take(room + 1).collect();
    let end = kept.rfind(' ').unwrap_or(0);
    kept.truncate(end);
    format!("{}{DOTS}", kept.trim_end())
}

/// Formats a score of White in pawns or moves to mate: `+0.31`, `#5`, `#-3`, with `≥` or `≤` in front of a bound, or
/// `TB win`.
pub(crate) fn score(score: Score, bound: ScoreBound) -> String {
    let sign = match bound {
        ScoreBound::Exact => "",
        ScoreBound::Lower => "≥",
        ScoreBound::Upper => "≤",
    };
    match (score, score.tablebase()) {
        (_, Some(true)) => "TB win".to_owned(),
        (_, Some(false)) => "TB loss".to_owned(),
        (Score::Centipawns(cp), None) => format!("{sign}{:+.2}", f64::from(cp) / 100.0),
        (Score::Mate(moves), None) => format!("{sign}#{moves}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    fn play(position: &Position, text: &str) -> Vec<Move> {
        let mut position = position.clone();
        let parse = |word| {
            let m = position.parse_uci(word).expect("a legal move");
            position.do_move(m);
            m
        };
        text.split(' ').map(parse).collect()
    }

    #[test]
    fn moves_are_numbered_from_either_side_to_move() {
        let mut position = Position::startpos();
        let moves = play(&position, "e2e4 e7e5 g1f3");
        assert_eq!(numbered(&position, &moves), "1. e4 e5 2. Nf3");
        position.do_move(moves[0]);
        assert_eq!(numbered(&position, &moves[1..]), "1... e5 2. Nf3");
        assert_eq!(numbered(&position, &[]), "");
    }

    #[test]
    fn long_line_is_truncated_between_words() {
        let line = || "+0.31  1. e4 e5 2. Nf3".to_owned();
        assert_eq!(fitted(line(), None), line());
        assert_eq!(fitted(line(), Some(22)), line());
        let cut = fitted(line(), Some(19));
        assert_eq!(cut, "+0.31  1. e4 e5 ...");
        for columns in 0..30 {
            assert!(fitted(line(), Some(columns)).chars().count() <= columns.max(4));
        }
    }

    #[test]
    fn scores_are_formatted_in_pawns_or_moves_to_mate() {
        assert_eq!(score(Score::Centipawns(31), ScoreBound::Exact), "+0.31");
        assert_eq!(score(Score::Centipawns(-5), ScoreBound::Upper), "≤-0.05");
        assert_eq!(score(Score::Mate(-3), ScoreBound::Exact), "#-3");
        assert_eq!(score(Score::Centipawns(19_995), ScoreBound::Exact), "TB win");
        assert_eq!(score(Score::Centipawns(-19_800), ScoreBound::Upper), "TB loss");
    }
}
