//! Proof that a line wins material: the defender's other replies lose as much, and the line ends quietly.
//!
//! A principal variation shows one defence. In a lost position the defender may give a piece that he could have kept, so
//! the material balance at the end of the line proves nothing by itself.

use super::analyst::Analyst;
use super::chance::{opposite, rank};
use super::material::{HORIZON, Swing, settled, swing_within};
use crate::board::{Color, Move, Position};
use crate::search::report::Score;

/// Number of the defender's replies that are compared.
const REPLIES: usize = 3;
/// Divisor of a position's limits for the search of replies and of the end of a line.
const PART: u32 = 4;
/// Centipawns for each pawn won by which a reply must be worse than the best one to count as losing more.
const WORSE: i32 = 75;
/// Maximum number of plies played on after the end of a line.
const PLAYED_ON: usize = 8;

/// Ctrl-C stopped a search.
pub(super) struct Stopped;

/// A line in which a side seems to win material.
pub(super) struct Line<'a> {
    pub start: &'a Position,
    pub moves: &'a [Move],
    pub side: Color,
    /// Number of moves at the start of the line that were played and are not the defender's choice.
    pub given: usize,
}

impl Line<'_> {
    /// The part of the line that wins material by force, and the material; `None` if the defender can avoid the loss.
    pub(super) fn proven(&self, analyst: &mut Analyst) -> Result<Option<Swing>, Stopped> {
        let won = settled(self.start, self.moves, self.side).filter(|won| won.points > 0);
        let Some(won) = won else { return Ok(None) };
        let line = &self.moves[..won.plies];
        if !self.keeps(line, won.points, analyst)? {
            return Ok(None);
        }
        let mut position = self.start.recent();
        for (ply, &m) in line.iter().enumerate() {
            let defends = position.turn() != self.side && ply >= self.given;
            if defends && !self.survives_replies(&position, &line[..=ply], won.points, analyst)? {
                return Ok(None);
            }
            position.do_move(m);
        }
        Ok(Some(won))
    }

    /// Whether the defender's other replies to the line before its last move lose as much.
    fn survives_replies(
        &self,
        position: &Position,
        line: &[Move],
        points: i32,
        analyst: &mut Analyst,
    ) -> Result<bool, Stopped> {
        let Some((reply, before)) = line.split_last() else { return Ok(true) };
        let wide = analyst.look_wide(position, REPLIES, PART).ok_or(Stopped)?;
        let best = rank(wide.score);
        for other in wide.lines.iter().filter(|other| other.pv.first() != Some(reply)) {
            let loses_more = rank(other.score) <= best - WORSE * points;
            let is_mated = matches!(other.score, Score::Mate(moves) if moves <= 0);
            if !loses_more && !is_mated && !self.keeps(&[before, &other.pv].concat(), points, analyst)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether the side has won at least `points` where the line, played on if necessary, is quiet.
    fn keeps(&self, line: &[Move], points: i32, analyst: &mut Analyst) -> Result<bool, Stopped> {
        let mut end = self.start.recent();
        for &m in line {
            end.do_move(m);
        }
        let next = analyst.look_for_part(&end, PART).ok_or(Stopped)?;
        let for_side = if end.turn() == self.side { next.score } else { opposite(next.score) };
        if matches!(for_side, Score::Mate(moves) if moves < 0) {
            return Ok(false);
        }
        let on = &next.pv()[..next.pv().len().min(PLAYED_ON)];
        let whole = [line, on].concat();
        let horizon = HORIZON.max(line.len()) + PLAYED_ON;
        Ok(swing_within(self.start, &whole, self.side, horizon).is_some_and(|kept| kept.points >= points))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::analyst::tests::{analyst, position};

    fn proven(fen: &str, moves: &str, side: Color) -> Option<String> {
        let start = position(fen);
        let mut now = start.clone();
        let play = |san: &str| {
            let m = now.parse_san(san).expect(san);
            now.do_move(m);
            m
        };
        let moves: Vec<Move> = moves.split(' ').map(play).collect();
        let line = Line { start: &start, moves: &moves, side, given: 0 };
        let won = line.proven(&mut analyst(40_000, 1));
        won.ok().flatten().map(|won| won.to_string())
    }

    #[test]
    fn line_in_which_the_defender_need_not_give_anything_proves_nothing() {
        // Black may also keep the pawn: the game is drawn either way.
        assert_eq!(proven("8/8/8/8/6k1/5p2/5K2/8 w - - 0 1", "Kf1 f2 Kxf2", Color::White), None);
        // The fork wins the rook whatever Black does.
        let fork = "r3k2r/pp3ppp/8/3N4/8/8/PPP2PPP/R3K2R w KQkq - 0 1";
        let won = proven(fork, "Nc7+ Kd7 Nxa8 Rxa8", Color::White);
        assert_eq!(won.as_deref(), Some("the exchange"));
        // The bishop that attacks the queen is taken, and so is White's queen.
        let trade = "3qk3/8/8/6B1/6b1/8/8/3QK3 w - - 0 1";
        assert_eq!(proven(trade, "Bxd8 Bxd1 Kxd1", Color::White), None);
    }

    #[test]
    fn line_that_ends_before_the_recapture_proves_nothing() {
        // The queen takes a pawn that the rook protects.
        let fen = "3r2k1/5ppp/8/3p4/8/8/3Q1PPP/6K1 w - - 0 1";
        assert_eq!(proven(fen, "Qxd5", Color::White), None);
    }
}
