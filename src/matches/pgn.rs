//! The games of a match in PGN.

use super::plan::Plan;
use super::table::PlayedMove;
use crate::board::opening_book::Opening;
use crate::board::{CastlingMode, Color};
use crate::game::ending::{Cause, Ending};
use crate::search::Score;
use crate::tools::game_record::{pgn, result_of};

/// A game to write.
pub struct GameText<'a> {
    /// The match.
    pub plan: &'a Plan,
    /// Number of the game, from 0.
    pub number: u64,
    /// Date of the match, as PGN writes it.
    pub date: &'a str,
    /// The opening.
    pub opening: &'a Opening,
    /// The moves after the opening.
    pub moves: &'a [PlayedMove],
    /// Result and cause of the end.
    pub ending: Ending,
}

impl GameText<'_> {
    /// The game as PGN with tags, the score of each searched move as a comment, and a blank line at the end.
    pub fn pgn(&self) -> String {
        let [white, black] = [Color::White, Color::Black].map(|color| {
            let side = usize::from(color != Plan::colour_of_a(self.number));
            self.plan.sides[side].name.as_str()
        });
        let result = result_of(self.ending.white);
        let round = format!("{}.{}", self.number / 2 + 1, self.number % 2 + 1);
        let plies = (self.opening.moves.len() + self.moves.len()).to_string();
        let control = self.plan.control.map(|control| control.to_string());
        let mut tags = vec![
            ("Event", "zoothera match"),
            ("Site", "?"),
            ("Date", self.date),
            ("Round", round.as_str()),
            ("White", white),
            ("Black", black),
            ("Result", result),
            ("PlyCount", plies.as_str()),
            ("Termination", termination(self.ending.cause)),
            ("TimeControl", control.as_deref().unwrap_or("-")),
        ];
        if self.opening.start.castling_mode() == CastlingMode::Chess960 {
            tags.push(("Variant", "Chess960"));
        }
        let played = self.moves.iter().map(|played| played.m);
        let moves: Vec<_> = self.opening.moves.iter().copied().chain(played).collect();
        let last = moves.len();
        let note = |ply: usize| {
            let searched = ply.checked_sub(self.opening.moves.len());
            let note = searched.and_then(|index| self.moves.get(index));
            let end = (ply + 1 == last).then(|| words(self.ending));
            match (note.map(|played| self.note(played)), end) {
                (Some(note), Some(end)) => Some(format!("{note}, {end}")),
                (note, end) => note.or(end),
            }
        };
        format!("{}\n", pgn(&tags, &self.opening.start, &moves, note, result))
    }

    /// Score and depth of a move, and its time in timed matches: `+0.31/9 0.050s`.
    fn note(&self, played: &PlayedMove) -> String {
        let score = match played.score {
            Score::Centipawns(value) => format!("{:+.2}", f64::from(value) / 100.0),
            Score::Mate(moves) if moves > 0 => format!("+M{moves}"),
            Score::Mate(moves) => format!("-M{}", -moves),
        };
        let note = format!("{score}/{}", played.depth);
        if self.plan.is_timed() { format!("{note} {:.3}s", played.time.as_secs_f64()) } else { note }
    }
}

/// The value of the tag `Termination`.
fn termination(cause: Cause) -> &'static str {
    match cause {
        Cause::Time => "time forfeit",
        Cause::WinningScore | Cause::DrawnScore | Cause::Length => "adjudication",
        _ => "normal",
    }
}

/// The cause of a game's end as a sentence.
fn words(ending: Ending) -> String {
    let (winner, loser) = if ending.white > 0 { ("White", "Black") } else { ("Black", "White") };
    match ending.cause {
        Cause::Mate => format!("{winner} mates"),
        Cause::Stalemate => "stalemate".into(),
        Cause::Repetition => "draw by repetition".into(),
        Cause::FiftyMoves => "draw by the fifty-move rule".into(),
        Cause::Material => "draw by insufficient material".into(),
        Cause::Time if ending.white == 0 => "time ran out against a bare king".into(),
        Cause::Time => format!("{loser} loses on time"),
        Cause::WinningScore => format!("{winner} wins by adjudication"),
        Cause::DrawnScore => "draw by adjudication".into(),
        Cause::Length => "draw by adjudication: too many moves".into(),
    }
}
