//! Result and cause of a game's end.

use serde::{Deserialize, Serialize};

use crate::board::{Color, Move, Position};

/// Cause of a game's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// Checkmate.
    Mate,
    /// The side to move has no move and is not in check.
    Stalemate,
    /// The third occurrence of a position.
    Repetition,
    /// The fifty-move rule.
    FiftyMoves,
    /// Material that cannot mate.
    Material,
    /// One side's clock ran out.
    Time,
    /// Adjudicated as a win: the score stayed above the limit.
    WinningScore,
    /// Adjudicated as a draw: the score stayed close to 0.
    DrawnScore,
    /// Adjudicated as a draw: the game was too long.
    Length,
}

impl Cause {
    /// A draw with its cause in words.
    pub(crate) fn draw_in_words(self) -> &'static str {
        match self {
            Self::Repetition => "a draw by threefold repetition",
            Self::FiftyMoves => "a draw by the fifty-move rule",
            Self::Material => "a draw by insufficient material",
            Self::Stalemate => "a draw by stalemate",
            _ => "a draw",
        }
    }
}

/// Result and cause of a game's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ending {
    /// White's result: -1, 0, 1.
    pub white: i8,
    /// The cause.
    pub cause: Cause,
}

impl Ending {
    /// A draw.
    pub fn draw(cause: Cause) -> Self {
        Self { white: 0, cause }
    }

    /// A win of `winner`.
    pub fn win(winner: Color, cause: Cause) -> Self {
        Self { white: winner.fold_wb(1, -1), cause }
    }

    /// The end of the game if the rules of chess end it in this position.
    pub fn by_rules(position: &Position) -> Option<Self> {
        if position.legal_moves().is_empty() {
            return Some(if position.in_check() {
                Self::win(!position.turn(), Cause::Mate)
            } else {
                Self::draw(Cause::Stalemate)
            });
        }
        position.is_draw(0).then(|| {
            Self::draw(if position.is_repetition(0) {
                Cause::Repetition
            } else if position.is_insufficient_material() {
                Cause::Material
            } else {
                Cause::FiftyMoves
            })
        })
    }

    /// The end of a game in which the clock of `loser` ran out: a draw if the opponent has a bare king.
    pub fn out_of_time(position: &Position, loser: Color) -> Self {
        if position.by_color(!loser).count() == 1 { Self::draw(Cause::Time) } else { Self::win(!loser, Cause::Time) }
    }
}

/// Cuts a line after the move that ends the game. Returns the cause if the line then ends in a draw.
pub(crate) fn cut_at_end(start: &Position, line: &mut Vec<Move>) -> Option<Cause> {
    let mut position = start.recent();
    for ply in 0..line.len() {
        position.do_move(line[ply]);
        if let Some(ending) = Ending::by_rules(&position) {
            line.truncate(ply + 1);
            return (ending.white == 0).then_some(ending.cause);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::CastlingMode;

    fn position(fen: &str) -> Position {
        Position::from_fen(fen, CastlingMode::Standard).expect(fen)
    }

    #[test]
    fn rules_name_the_cause() {
        for (fen, expected) in [
            ("R5k1/5ppp/8/8/8/8/8/4K3 b - - 0 1", Ending::win(Color::White, Cause::Mate)),
            ("7k/8/6Q1/8/8/8/8/4K3 b - - 0 1", Ending::draw(Cause::Stalemate)),
            ("7k/8/8/8/8/8/8/4KB2 b - - 0 1", Ending::draw(Cause::Material)),
            ("7k/8/8/8/8/8/8/4KR2 b - - 100 90", Ending::draw(Cause::FiftyMoves)),
        ] {
            assert_eq!(Ending::by_rules(&position(fen)), Some(expected), "{fen}");
        }
        let mut start = Position::startpos();
        for _ in 0..2 {
            assert_eq!(Ending::by_rules(&start), None);
            for m in ["g1f3", "g8f6", "f3g1", "f6g8"] {
                let m = start.parse_uci(m).expect(m);
                start.do_move(m);
            }
        }
        let repeated = Ending::draw(Cause::Repetition);
        assert_eq!(Ending::by_rules(&start), Some(repeated));
    }

    #[test]
    fn line_is_cut_at_the_hundredth_ply() {
        let mut start = position("7k/6pp/8/8/8/2Q5/5PPP/6K1 w - - 97 80");
        let mut line = Vec::new();
        let mut now = start.clone();
        for san in ["Qd3", "Kg8", "Qc4+", "Kh8", "Qc8#"] {
            let m = now.parse_san(san).expect(san);
            now.do_move(m);
            line.push(m);
        }
        assert_eq!(cut_at_end(&start, &mut line), Some(Cause::FiftyMoves));
        assert_eq!(line.len(), 3);
        // Mate on the hundredth ply wins.
        start = position("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 99 80");
        let mut line = vec![start.parse_san("Rd8#").expect("legal")];
        assert_eq!((cut_at_end(&start, &mut line), line.len()), (None, 1));
    }

    #[test]
    fn bare_king_does_not_win_on_time() {
        let bare = position("7k/8/8/8/8/8/8/4KR2 w - - 0 1");
        let drawn = Ending::draw(Cause::Time);
        assert_eq!(Ending::out_of_time(&bare, Color::White), drawn);
        let won = Ending::win(Color::White, Cause::Time);
        assert_eq!(Ending::out_of_time(&bare, Color::Black), won);
    }
}
