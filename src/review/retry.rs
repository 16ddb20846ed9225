//! Values of all legal moves at a mistake: the answers of the page when a reader tries another move.
//!
//! A short search of each move finds the bad ones. At most [`MAX_GOOD`] of the others get a longer search. All these
//! searches together cost about as much as three positions of the game.

use super::analyst::{Analyst, Look};
use super::chance::{for_mover, rank};
use super::mark::bad_mark;
use super::report::{Attempt, Evaluation};
use super::study::evaluation;
use crate::board::{Move, Position};
use crate::search::report::Score;

/// Divisor of a position's limits for the first search of a move.
const FIRST_PART: u32 = 32;
/// Divisor of a position's limits for the second search.
const SECOND_PART: u32 = 4;
/// Maximum number of moves that are searched a second time.
const MAX_GOOD: usize = 8;

/// Results at the mistake that the review already has.
pub(super) struct Known<'a> {
    /// Search of the position before the move.
    pub before: &'a Look,
    /// The move of the game.
    pub played: Move,
    /// The position after the move of the game.
    pub after: &'a Look,
}

/// A legal move with the search of the position after it.
struct Searched {
    m: Move,
    reached: Position,
    look: Look,
}

impl Searched {
    fn score(&self) -> Score {
        for_mover(self.look.score)
    }
}

/// All legal moves with their values; empty after Ctrl-C.
pub(super) fn attempts(position: &Position, known: &Known, analyst: &mut Analyst) -> Vec<Attempt> {
    search(position, known, analyst).unwrap_or_default()
}

fn search(position: &Position, known: &Known, analyst: &mut Analyst) -> Option<Vec<Attempt>> {
    let mut all = Vec::new();
    for m in position.legal_moves() {
        let mut reached = position.clone();
        reached.do_move(m);
        let look = if m == known.played { known.after.clone() } else { analyst.look_for_part(&reached, FIRST_PART)? };
        all.push(Searched { m, reached, look });
    }
    let mark = |searched: &Searched| bad_mark(known.before.score, searched.score());
    let mut good: Vec<usize> =
        (0..all.len()).filter(|&i| all[i].m != known.played && mark(&all[i]).is_none()).collect();
    good.sort_by(|&a, &b| rank(all[b].score()).cmp(&rank(all[a].score())));
    for &i in good.iter().take(MAX_GOOD) {
        all[i].look = analyst.look_for_part(&all[i].reached, SECOND_PART)?;
    }
    // As in the review, the move that the engine prefers has no mark.
    let attempt = |searched: &Searched| {
        let is_best = known.before.best() == Some(searched.m);
        Attempt {
            m: searched.m,
            is_best,
            mark: mark(searched).filter(|_| !is_best),
            value: value(position, known, searched, is_best),
            reply: searched.look.best().filter(|_| searched.look.depth > 0),
        }
    };
    Some(all.iter().map(attempt).collect())
}

/// The value shown: the result of the longest search of the move.
fn value(position: &Position, known: &Known, searched: &Searched, is_best: bool) -> Evaluation {
    if is_best { evaluation(known.before, position) } else { evaluation(&searched.look, &searched.reached) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::analyst::tests::{analyst, position};
    use crate::review::mark::Mark;
    use std::collections::HashSet;

    #[test]
    fn every_legal_move_gets_a_value() {
        let before = position("r1bqkbnr/pppp1ppp/2n5/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR b KQkq - 3 3");
        let played = before.parse_san("Nf6").expect("legal");
        let mut after = before.clone();
        after.do_move(played);
        let mut analyst = analyst(8000, 1);
        let (look, answer) = (analyst.look(&before), analyst.look(&after));
        let (look, answer) = (look.expect("a look"), answer.expect("a look"));
        let known = Known { before: &look, played, after: &answer };
        let all = attempts(&before, &known, &mut analyst);
        let moves: HashSet<Move> = all.iter().map(|attempt| attempt.m).collect();
        assert_eq!((all.len(), moves.len()), (before.legal_moves().len(), all.len()));
        let of = |san: &str| {
            let m = before.parse_san(san).expect("legal");
            all.iter().find(|attempt| attempt.m == m).expect("searched")
        };
        assert_eq!(of("Nf6").mark, Some(Mark::Blunder));
        // After a6, mate on f7 follows too; g6 and Qe7 prevent it.
        assert_eq!(of("a6").mark, Some(Mark::Blunder));
        assert!(of("a6").reply.is_some_and(|m| m.to().to_string() == "f7"));
        assert_eq!((of("g6").mark, of("Qe7").mark), (None, None));
        assert_eq!(all.iter().filter(|attempt| attempt.is_best).count(), 1);
    }

    #[test]
    fn scores_are_ordered_by_mates_too() {
        use Score::{Centipawns as Cp, Mate};
        let scores = [Mate(-1), Mate(-5), Cp(-3000), Cp(0), Cp(3000), Mate(5), Mate(1)];
        assert!(scores.map(rank).is_sorted());
    }
}
