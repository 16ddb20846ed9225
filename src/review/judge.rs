//! Verdicts on moves: which searches a mark rests on, and the good marks.
//!
//! An inaccuracy is marked only if longer searches of both positions agree. The engine's own first choice is compared
//! with the best other move if the search after it finds it bad.

use super::analyst::{Analyst, Look};
use super::mark::{INACCURACY, MISTAKE, Mark, bad_mark, for_mover, winning};
use super::motifs::{Walk, sacrifice};
use crate::board::{Move, Position, Role, piece_value};
use crate::search::score::Score;

/// Divisor of a position's limits for the first search that tests for an only move.
const ONLY_MOVE_PART: u32 = 4;
/// Winning chances of a side, in percent, at which only moves are marked: below, the game is lost; above, it is won.
const ONLY_MOVE_CHANCES: std::ops::Range<f64> = 20.0..97.0;
/// Minimum number of legal moves for a good mark.
const FEWEST_MOVES: usize = 3;
/// Minimum value, in pawns, of a piece that is not sacrificed because it could be captured anyway.
const EN_PRISE: i32 = 2;

/// Searches of the positions before and after a move.
pub(crate) struct Searched {
    /// Search of the position before the move, from the mover's view.
    pub before: Look,
    /// Search of the position after the move, from the opponent's view.
    pub after: Look,
}

impl Searched {
    /// Whether the search would have played the move.
    pub(crate) fn is_best(&self, m: Move) -> bool {
        self.before.best() == Some(m)
    }

    /// The score after the move, from the mover's view.
    pub(crate) fn then(&self) -> Score {
        for_mover(self.after.score)
    }

    fn mark(&self) -> Option<Mark> {
        bad_mark(self.before.score, self.then())
    }

    /// The bad mark of the move. The best move has none.
    pub(crate) fn bad_mark(&self, m: Move) -> Option<Mark> {
        self.mark().filter(|_| !self.is_best(m))
    }

    /// Whether longer searches must decide about the move: an inaccuracy, or a best move that the search after it finds
    /// bad.
    pub(crate) fn is_doubtful(&self, m: Move) -> bool {
        self.mark().is_some_and(|mark| mark == Mark::Inaccuracy || self.is_best(m))
    }
}

/// The search of the position before a move, if the move is still the best one and still bad after longer searches: the
/// best other move if that is better, and otherwise the value after the move. `Ok(None)` if nothing changes; an error
/// after Ctrl-C.
pub(crate) fn contested(
    position: &Position,
    m: Move,
    searched: &Searched,
    analyst: &mut Analyst,
) -> Result<Option<Look>, Interrupted> {
    if !searched.is_best(m) || searched.mark().is_none() {
        return Ok(None);
    }
    let here = Look::before(m, &searched.after, &searched.before);
    if position.legal_moves().len() < 2 {
        return Ok(Some(here));
    }
    let other = analyst.look_without(position, m, 1).ok_or(Interrupted)?;
    Ok(Some(if bad_mark(other.score, searched.then()).is_some() { other } else { here }))
}

/// Ctrl-C stopped a search.
#[derive(Debug)]
pub(crate) struct Interrupted;

/// A good mark, and the search without the move.
pub(crate) struct Good {
    pub mark: Mark,
    pub second: Look,
}

/// The good mark of the best move: a sound sacrifice, or the only move. A short search rules out most moves; a full
/// search confirms the rest.
pub(crate) fn good_mark(position: &Position, m: Move, searched: &Searched, analyst: &mut Analyst) -> Option<Good> {
    let sacrifices = is_sacrifice(position, m, &searched.before);
    // The value that both searches agree on.
    let chance = winning(searched.before.score).min(winning(searched.then()));
    let is_open = sacrifices || ONLY_MOVE_CHANCES.contains(&chance);
    if !is_open || is_obvious(position, m) || position.legal_moves().len() < FEWEST_MOVES {
        return None;
    }
    let mates = matches!(searched.before.score, Score::Mate(moves) if moves > 0);
    let decide = |second: &Look| {
        let margin = chance - winning(second.score);
        let is_slower = !matches!(second.score, Score::Mate(moves) if moves > 0);
        match sacrifices {
            true if mates && is_slower || margin >= INACCURACY => Some(Mark::Sacrifice),
            _ if margin >= MISTAKE && ONLY_MOVE_CHANCES.contains(&chance) => Some(Mark::Only),
            _ => None,
        }
    };
    let first = analyst.look_without(position, m, ONLY_MOVE_PART)?;
    decide(&first)?;
    let second = analyst.look_without(position, m, 1)?;
    let mark = decide(&second)?;
    Some(Good { mark, second })
}

/// Whether everybody sees the move: an answer to check, a recapture, a capture that wins material on its square, or an
/// even trade of queens or of a piece that would be lost.
fn is_obvious(position: &Position, m: Move) -> bool {
    if position.in_check() || !position.is_capture(m) {
        return position.in_check();
    }
    let recaptures = position.last_captured().is_some() && position.last_move().is_some_and(|last| last.to() == m.to());
    let queens = [position.captured(m), position.role_at(m.from())] == [Some(Role::Queen); 2];
    let trades = position.see_ge(m, 0) && (queens || is_en_prise(position, m));
    recaptures || trades || position.see_ge(m, 100)
}

/// Whether the best line begins with a sound sacrifice of a piece that was not already lost.
fn is_sacrifice(position: &Position, m: Move, before: &Look) -> bool {
    let walk = Walk::new(position, before.pv());
    sacrifice(&walk, before.score).is_some() && !is_en_prise(position, m)
}

/// Whether the opponent could have won the piece that moves.
fn is_en_prise(position: &Position, m: Move) -> bool {
    let piece = position.moved_piece(m);
    if position.in_check() || piece.role == Role::King || piece_value(piece.role) < EN_PRISE {
        return false;
    }
    let mut passed = position.recent();
    passed.do_null_move();
    let moves = passed.legal_moves();
    moves.iter().any(|reply| reply.to() == m.from() && passed.is_capture(*reply) && passed.see_ge(*reply, 100))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::analyst::tests::{analyst, position};

    /// Searches of a move and its good mark.
    fn good(fen: &str, san: &str) -> Option<Mark> {
        let position = position(fen);
        let m = position.parse_san(san).expect(san);
        let mut reached = position.clone();
        reached.do_move(m);
        let mut analyst = analyst(20_000, 1);
        let after = analyst.look(&reached).expect("a look");
        let before = analyst.look(&position).expect("a look");
        let searched = Searched { before, after };
        let mark = searched.is_best(m).then(|| good_mark(&position, m, &searched, &mut analyst))?;
        mark.map(|good| good.mark)
    }

    #[test]
    fn obvious_moves_are_no_only_moves() {
        for (fen, san) in [
            // A capture of what hangs, a recapture, an answer to check.
            ("rnb1kbnr/pppp1ppp/8/4p3/4P2q/5N2/PPPP1PPP/R2QK2R w KQkq - 0 3", "Nxh4"),
            ("r5k1/5ppp/8/8/8/8/4rPPP/R5K1 b - - 0 30", "Re1+"),
            ("6k1/5ppp/8/8/8/8/r4PPP/1R4K1 w - - 0 30", "Rb8+"),
        ] {
            let position = position(fen);
            let m = position.parse_san(san).expect(san);
            let obvious = is_obvious(&position, m);
            assert_eq!(obvious, san.contains('x'), "{san}");
        }
        for (fen, san, obvious) in [
            // A trade of queens; a trade of a rook that is attacked; a trade of a rook that nothing attacks.
            ("3qk3/8/8/8/8/8/8/3QK3 w - - 0 1", "Qxd8+", true),
            ("3r2k1/3r4/8/8/2p5/3R4/8/6K1 w - - 0 1", "Rxd7", true),
            ("4k3/3r4/8/8/8/3R4/2P5/6K1 w - - 0 1", "Rxd7", false),
        ] {
            let position = position(fen);
            let m = position.parse_san(san).expect(san);
            assert_eq!(is_obvious(&position, m), obvious, "{san}");
        }
        let check = position("4k3/8/8/8/8/8/4r3/3RK3 w - - 0 1");
        assert!(check.legal_moves().iter().all(|m| is_obvious(&check, *m)));
        assert_eq!(good("rnb1kbnr/pppp1ppp/8/4p3/4P2q/5N2/PPPP1PPP/R2QK2R w KQkq - 0 3", "Nxh4"), None);
    }

    #[test]
    fn sound_sacrifices_are_marked_also_where_they_mate() {
        // Edward Lasker and Thomas, London 1912; Morphy at the opera.
        let lasker = "rn3rk1/pbppq1pp/1p2pb2/4N2Q/3PN3/3B4/PPP2PPP/R3K2R w KQ - 6 11";
        let opera = "4kb1r/p2n1ppp/4q3/4p1B1/4P3/1Q6/PPP2PPP/2KR4 w k - 0 16";
        for (fen, san) in [(lasker, "Qxh7+"), (opera, "Qb8+")] {
            let position = position(fen);
            let m = position.parse_san(san).expect(san);
            let mut reached = position.clone();
            reached.do_move(m);
            let mut analyst = analyst(100_000, 1);
            let after = analyst.look(&reached).expect("a look");
            let mut before = analyst.look(&position).expect("a look");
            if before.best() != Some(m) {
                before = Look::before(m, &after, &before);
            }
            assert!(is_sacrifice(&position, m, &before), "{san}");
            let searched = Searched { before, after };
            let mark = good_mark(&position, m, &searched, &mut analyst).map(|good| good.mark);
            assert_eq!(mark, Some(Mark::Sacrifice), "{san}");
        }
        // The queen on d5 is attacked anyway: giving it for a rook is not a sacrifice.
        let desperado = position("3r2k1/5ppp/2p5/3Q4/8/8/5PPP/6K1 w - - 0 1");
        assert!(is_en_prise(&desperado, desperado.parse_san("Qxd8+").expect("legal")));
    }
}
