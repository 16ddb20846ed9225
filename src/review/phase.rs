//! Opening, middlegame and endgame.
// CITE: the division by officers and by the back ranks is lichess' (scalachess, Divider), as a fact; ours omits its
// third condition (how mixed the board is).

use std::borrow::Borrow;

use serde::Serialize;

use crate::board::{Bitboard, Color, Position, Role};

/// Maximum number of officers of both sides (queens, rooks, bishops, knights) after the opening.
const MIDDLEGAME: usize = 10;
/// Maximum number of officers of both sides in the endgame.
const ENDGAME: usize = 6;
/// Number of pieces on the own first rank below which a side is developed.
const BACK_RANK: usize = 4;

/// A part of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Phase {
    /// Until a side is developed or pieces have been exchanged.
    Opening,
    /// Between opening and endgame.
    Middlegame,
    /// At most six officers remain.
    Endgame,
}

impl Phase {
    /// All phases, in order.
    pub(crate) const ALL: [Self; 3] = [Self::Opening, Self::Middlegame, Self::Endgame];

    /// Name of the phase.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Opening => "opening",
            Self::Middlegame => "middlegame",
            Self::Endgame => "endgame",
        }
    }

    fn of(position: &Position) -> Self {
        let plain = position.by_role(Role::Pawn) | position.by_role(Role::King);
        let officers = (position.occupied() & !plain).count();
        let developed = |color: Color| {
            let rank = color.fold_wb(Bitboard(0xff), Bitboard(0xff << 56));
            (position.by_color(color) & rank).count() < BACK_RANK
        };
        if officers <= ENDGAME {
            Self::Endgame
        } else if officers <= MIDDLEGAME || Color::ALL.into_iter().any(developed) {
            Self::Middlegame
        } else {
            Self::Opening
        }
    }
}

/// The phase of each position of a game. A game never returns to an earlier phase.
pub(crate) fn phases(positions: impl Iterator<Item = impl Borrow<Position>>) -> Vec<Phase> {
    let mut reached = Phase::Opening;
    positions
        .map(|position| {
            reached = reached.max(Phase::of(position.borrow()));
            reached
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::analyst::tests::position;

    #[test]
    fn phases_follow_the_pieces_and_never_go_back() {
        let start = Position::startpos();
        let developed = position("r4rk1/pppqbppp/2npbn2/4p3/4P3/2NPBN2/PPPQBPPP/R4RK1 w - - 0 9");
        let end = position("8/5pk1/6p1/8/8/6P1/R4PK1/8 b - - 0 40");
        let game = [&start, &developed, &end, &start];
        use Phase::{Endgame, Middlegame, Opening};
        assert_eq!(phases(game.into_iter()), [Opening, Middlegame, Endgame, Endgame]);
    }
}
