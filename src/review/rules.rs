//! Draws by rule: the ends of games and of lines.
//!
//! The third occurrence of a position, the hundredth ply without a capture or pawn move, and material that cannot mate
//! end a game as a draw. If the players went on, the positions stay drawn until a capture or a pawn move.

use crate::board::Position;
pub(crate) use crate::game::ending::cut_at_end;
use crate::game::ending::{Cause, Ending};
use crate::notation::pgn::Game;

/// Whether the rules end the game in this position.
pub(crate) fn is_over(position: &Position) -> bool {
    Ending::by_rules(position).is_some()
}

/// The cause of a draw by rule in this position, stalemate included.
pub(crate) fn draw(position: &Position) -> Option<Cause> {
    Ending::by_rules(position).filter(|ending| ending.white == 0).map(|ending| ending.cause)
}

/// For each position of a game, the first and the last included, whether the game is over there by the rules.
pub(crate) fn over(game: &Game) -> Vec<bool> {
    let mut position = game.start.clone();
    let mut is_drawn = draw(&position).is_some();
    let mut over = vec![is_over(&position)];
    for &m in &game.moves {
        is_drawn &= !position.is_irreversible(m);
        position.do_move(m);
        is_drawn |= draw(&position).is_some();
        over.push(is_drawn || is_over(&position));
    }
    over
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation::pgn;

    const ROOKS: &str = "7k/6pp/8/8/8/2Q5/5PPP/6K1 w - - 0 1";

    fn game(moves: &str) -> Vec<bool> {
        let games = pgn::read(format!("[FEN \"{ROOKS}\"]\n\n{moves} *\n").as_bytes()).expect("a text");
        over(games[0].as_ref().expect("a game"))
    }

    #[test]
    fn repeated_position_stays_drawn_until_a_capture_or_pawn_move() {
        let shuffles = "1. Qd3 Kg8 2. Qc3 Kh8 3. Qd3 Kg8 4. Qc3 Kh8";
        let ends = game(shuffles);
        assert_eq!(ends.iter().position(|over| *over), Some(8), "{ends:?}");
        let played_on = game(&format!("{shuffles} 5. Qe3 Kg8 6. Qc3 h6 7. Qd3"));
        assert_eq!(played_on[8..], [true, true, true, true, false, false]);
    }
}
