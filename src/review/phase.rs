//! Opening, middlegame and endgame, and the name of the opening.

use std::borrow::Borrow;
use std::collections::HashMap;

use serde::Serialize;

use crate::board::{Bitboard, Color, Position, Role};
use crate::notation::positions::{self, Walker};

// CITE: the division by officers and by the back ranks is lichess' (scalachess, Divider), as a fact; ours omits its
// third condition (how mixed the board is).

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

// The name of the opening: the name of the last named position of a game, in any move order.

/// A named opening.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Opening {
    /// Code in the Encyclopaedia of Chess Openings.
    pub eco: String,
    /// English name.
    pub name: String,
    /// Number of plies to the last named position.
    pub ply: usize,
}

/// All named positions.
pub(crate) struct OpeningNames {
    table: String,
    /// Offset in the table of the line that leads to a position, by the position's key.
    by_key: HashMap<u64, usize>,
    /// Plies of the longest line.
    longest: usize,
}

impl OpeningNames {
    /// Reads the table that is part of the program.
    pub(crate) fn load() -> Self {
        let mut openings = Self { table: positions::table(), by_key: HashMap::new(), longest: 0 };
        let mut walker = Walker::default();
        let mut start = 0;
        for line in openings.table.split_inclusive('\n') {
            if let Some(position) = walker.play(positions::moves_of(line)) {
                openings.by_key.insert(position.key(), start);
                openings.longest = openings.longest.max(walker.moves().len());
            }
            start += line.len();
        }
        openings
    }

    /// Whether a position has a name.
    pub(crate) fn is_named(&self, position: &Position) -> bool {
        self.by_key.contains_key(&position.key())
    }

    /// The opening of a game, given the keys of its positions from the initial one on.
    pub(crate) fn name(&self, keys: impl Iterator<Item = u64>) -> Option<Opening> {
        let keys = keys.take(self.longest + 1);
        let named = keys.enumerate().filter_map(|(ply, key)| self.by_key.get(&key).map(|&start| (ply, start)));
        let (ply, start) = named.last()?;
        let mut fields = self.table[start..].lines().next()?.split('\t');
        Some(Opening { eco: fields.next()?.to_owned(), name: fields.next()?.to_owned(), ply })
    }
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

#[cfg(test)]
mod opening_tests {
    use super::*;

    fn named(moves: &str) -> Option<(String, String, usize)> {
        let mut positions = vec![Position::startpos()];
        for san in moves.split(' ') {
            let mut next = positions[positions.len() - 1].clone();
            let m = next.parse_san(san).expect(san);
            next.do_move(m);
            positions.push(next);
        }
        let opening = OpeningNames::load().name(positions.iter().map(Position::key))?;
        Some((opening.eco, opening.name, opening.ply))
    }

    #[test]
    fn every_line_of_the_table_is_a_position() {
        let openings = OpeningNames::load();
        let lines = openings.table.lines().count();
        assert_eq!((lines, openings.by_key.len()), (3807, 3807));
        assert!(openings.longest > 20 && openings.longest < 100);
    }

    #[test]
    fn names_are_those_of_the_last_named_position() {
        let najdorf = "e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 a6";
        let expected = |ply| {
            let name = "Sicilian Defense: Najdorf Variation".to_owned();
            Some(("B90".to_owned(), name, ply))
        };
        assert_eq!(named(najdorf), expected(10));
        assert_eq!(named(&format!("{najdorf} Nb3 Ng8")), expected(10));
        // A transposition.
        assert_eq!(named("Nf3 c5 e4 d6 d4 cxd4 Nxd4 Nf6 Nc3 a6"), expected(10));
        let (_, name, _) = named("d4 Nf6 c4").expect("a name");
        assert_eq!(name, "Indian Defense: Normal Variation");
    }

    #[test]
    fn a_game_from_somewhere_else_has_no_name() {
        let mode = crate::board::CastlingMode::Standard;
        let position = Position::from_fen("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", mode).expect("a FEN");
        assert_eq!(OpeningNames::load().name([position.key()].into_iter()), None);
    }
}
