//! Evaluation of pawnless endings against a lone king: elementary mates, which are rare in the training data of
//! networks.
//!
//! Each of these mates needs a plan longer than a search of a few thousand nodes can reach. The evaluation
//! encodes the plan. It rises when the lone king is driven to the edge, or with bishop and knight into a corner of the
//! bishop's colour. It also rises when the other king approaches.
// CITE: the two gradients (edge or corner, and the kings' distance) are those of classical evaluations, Stockfish's KXK
// and KBNK among them; the numbers are ours, chosen by games (`docs/experiments.md`).

use crate::board::{Bitboard, Color, Position, Role, Square};
use crate::search::score::{Value, piece_value};

/// Base value of such an ending, added to its material: above any evaluation of an unclear position with pawns.
const WON: Value = 3000;
/// Weight of the square of [`diagonals_to_centre`]. Squaring makes every step towards the corner worth more than a
/// step of the other king, so the search does not stop halfway.
const CORNER_STEP: Value = 120;
/// Weight of [`eccentricity`].
const EDGE_STEP: Value = 40;
/// Weight of each step of the winner's king towards the lone king.
const NEAR_STEP: Value = 60;

/// Value for the side to move, if one side has only its king and the other can force mate without pawns.
#[inline]
pub fn value(position: &Position) -> Option<Value> {
    let lone = |color| position.by_color(color).count() == 1;
    if !position.by_role(Role::Pawn).is_empty() {
        return None;
    }
    let loser = Color::ALL.into_iter().find(|&color| lone(color))?;
    let value = winning_value(position, loser)?;
    Some(if position.turn() == loser { -value } else { value })
}

/// Value for the side that mates, or `None` if its pieces cannot force mate.
fn winning_value(position: &Position, loser: Color) -> Option<Value> {
    let count = |role| position.by_role(role).count() as Value;
    let bishops = position.by_role(Role::Bishop);
    let (light, dark) =
        (!(bishops & Bitboard::LIGHT_SQUARES).is_empty(), !(bishops & Bitboard::DARK_SQUARES).is_empty());
    let knights = count(Role::Knight);
    let major = count(Role::Rook) + count(Role::Queen) > 0;
    let minor_mates = (light && dark) || ((light || dark) && knights > 0) || knights >= 3;
    if !major && !minor_mates {
        return None;
    }
    let lone_king = position.king(loser);
    // Bishops of both colours, or a major piece, mate at any edge.
    let driven = if major || light == dark {
        EDGE_STEP * eccentricity(lone_king)
    } else {
        let diagonals = diagonals_to_centre(lone_king, light);
        CORNER_STEP * diagonals * diagonals
    };
    let near = NEAR_STEP * (7 - lone_king.distance(position.king(!loser)) as Value);
    let material: Value = Role::ALL.map(|role| piece_value(role) * count(role)).iter().sum();
    Some(WON + material + driven + near)
}

/// Distance of a square from the centre, as a sum of squared distances: 0 in the centre, at least 9 on an edge, 18 in
/// a corner.
fn eccentricity(square: Square) -> Value {
    let from_centre = |coordinate: u32| {
        let distance = (2 * coordinate as Value - 7).abs() / 2;
        distance * distance
    };
    from_centre(square.file().into()) + from_centre(square.rank().into())
}

/// Diagonals between a square and the long diagonal that joins the two corners of the other colour. It is 7 in a
/// corner of the bishop's colour and 0 on that diagonal, along which the lone king flees from one wrong corner to the
/// other.
fn diagonals_to_centre(square: Square, light: bool) -> Value {
    let (file, rank): (u32, u32) = (square.file().into(), square.rank().into());
    let (file, rank) = (file as Value, rank as Value);
    if light { (file - rank).abs() } else { (file + rank - 7).abs() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::CastlingMode;

    fn of(fen: &str) -> Option<Value> {
        value(&Position::from_fen(fen, CastlingMode::Standard).expect(fen))
    }

    #[test]
    fn mating_material_is_won_for_its_side() {
        for fen in [
            "8/8/8/3k4/8/8/8/KQ6 w - - 0 1",
            "8/8/8/3k4/8/8/8/KR6 w - - 0 1",
            "8/8/8/3k4/8/8/8/KBB5 w - - 0 1",
            "8/8/8/3k4/8/8/8/KBN5 w - - 0 1",
            "8/8/8/3k4/8/8/8/KNNN4 w - - 0 1",
        ] {
            let won = of(fen).expect(fen);
            assert!(won > WON, "{fen}");
            assert_eq!(of(&fen.replace(" w ", " b ")), Some(-won), "{fen}");
        }
    }

    #[test]
    fn other_endings_have_no_special_value() {
        for fen in [
            "8/8/8/3k4/8/8/8/KNN5 w - - 0 1",
            "8/8/8/3k4/8/8/8/KB1B4 w - - 0 1",
            "8/8/8/3k4/8/8/8/KB6 w - - 0 1",
            "8/8/8/3k4/8/8/8/K7 w - - 0 1",
            "8/8/8/3k4/8/8/P7/KR6 w - - 0 1",
            "8/8/8/3k4/8/r7/8/KQ6 w - - 0 1",
        ] {
            assert_eq!(of(fen), None, "{fen}");
        }
    }

    #[test]
    fn value_rises_towards_the_mating_edge_or_corner() {
        let better = |more: &str, less: &str| assert!(of(more) > of(less), "{more}, {less}");
        // The lone king is driven to the edge, and the other king approaches.
        better("3k4/8/3K4/8/8/8/8/1R6 w - - 0 1", "8/3k4/8/3K4/8/8/8/1R6 w - - 0 1");
        better("3k4/8/3K4/8/8/8/8/1R6 w - - 0 1", "3k4/8/8/3K4/8/8/8/1R6 w - - 0 1");
        // b1 is a light square: h1 is the right corner, h8 the wrong one.
        better("8/8/8/8/8/5K2/8/1BN4k w - - 0 1", "7k/8/5K2/8/8/8/8/1BN5 w - - 0 1");
        better("8/8/8/8/8/8/5K1k/3BN3 w - - 0 1", "8/5K1k/8/8/8/8/8/3BN3 w - - 0 1");
        // c1 is a dark square: h8 is the right corner, h1 the wrong one.
        better("7k/8/5K2/8/8/8/8/1NB5 w - - 0 1", "8/8/8/8/8/5K2/8/1NB4k w - - 0 1");
    }
}
