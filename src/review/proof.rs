//! Proof that a line wins material: the defender's other replies lose as much, and the line ends quietly.
//!
//! A principal variation shows one defence. In a lost position the defender may give a piece that he could have kept,
//! so the material balance at the end of the line proves nothing by itself.

use super::analyst::Analyst;
use super::chance::{opposite, rank};
use super::material::{Balance, HORIZON, Swing, is_most, settled, swing_within};
use crate::board::{Color, Move, Position};
use crate::search::report::Score;

/// Number of the defender's replies that are compared.
const REPLIES: usize = 3;
/// Divisor of a position's limits for the search of replies and of the end of a line.
const PART: u32 = 2;
/// Centipawns for each pawn won by which a reply must be worse than the best one to count as losing more.
const WORSE: i32 = 75;
/// Maximum number of plies played on after the end of a line.
const PLAYED_ON: usize = 8;
/// Minimum number of centipawns for each pawn of a side's surplus; minimum and maximum for each pawn of its deficit.
const SURPLUS: i32 = 60;
const DEFICIT: (i32, i32) = (200, 60);
/// Centipawns by which the score may be lower and higher. Below, the material is lost again later or has its price;
/// above, an attack decides and not the material.
const MARGINS: (i32, i32) = (150, 250);

/// Ctrl-C stopped a search.
pub(super) struct Stopped;

/// A line in which a side seems to win material.
pub(super) struct GainLine<'a> {
    pub start: &'a Position,
    pub moves: &'a [Move],
    pub side: Color,
    /// Number of moves at the start of the line that were played and are not the defender's choice.
    pub given: usize,
}

impl GainLine<'_> {
    /// The part of the line that wins material by force, and the material; `None` if the defender can avoid the loss.
    pub(super) fn proven(&self, analyst: &mut Analyst) -> Result<Option<Swing>, Stopped> {
        let won = settled(self.start, self.moves, self.side).filter(is_clear);
        let Some(won) = won else { return Ok(None) };
        let line = &self.moves[..won.plies];
        // Where neither side can mate any more, material is worth nothing.
        if self.after(line).is_insufficient_material() || !self.keeps(line, won.points, analyst)? {
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

    /// The position after a line.
    fn after(&self, line: &[Move]) -> Position {
        let mut end = self.start.recent();
        for &m in line {
            end.do_move(m);
        }
        end
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

    /// Whether the side has won most of `points` where the line, played on if necessary, is quiet.
    fn keeps(&self, line: &[Move], points: i32, analyst: &mut Analyst) -> Result<bool, Stopped> {
        let end = self.after(line);
        let next = analyst.look_for_part(&end, PART).ok_or(Stopped)?;
        let for_side = if end.turn() == self.side { next.score } else { opposite(next.score) };
        if matches!(for_side, Score::Mate(moves) if moves > 0) {
            return Ok(true);
        }
        let on = &next.pv()[..next.pv().len().min(PLAYED_ON)];
        let whole = [line, on].concat();
        let horizon = HORIZON.max(line.len()) + PLAYED_ON;
        let kept = swing_within(self.start, &whole, self.side, horizon).filter(|kept| is_most(kept.points, points));
        let before = Balance::of(self.start, self.side).points();
        Ok(kept.is_some_and(|kept| fits(for_side, before + kept.points)))
    }
}

/// Whether material is won: a pawn at least, or two pawns net if something is given for it. Other defences seldom lead
/// to the same uneven trade.
fn is_clear(won: &Swing) -> bool {
    won.points >= if won.roles()[1].is_empty() { 1 } else { 2 }
}

/// Whether a score fits the material balance of the same side.
fn fits(score: Score, balance: i32) -> bool {
    let score = rank(score);
    match balance {
        1.. => score >= SURPLUS * balance - MARGINS.0,
        _ => (DEFICIT.0 * balance - MARGINS.0..=DEFICIT.1 * balance + MARGINS.1).contains(&score),
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
        let line = GainLine { start: &start, moves: &moves, side, given: 0 };
        let won = line.proven(&mut analyst(40_000, 1));
        won.ok().flatten().map(|won| won.to_string())
    }

    #[test]
    fn line_in_which_the_defender_need_not_give_anything_proves_nothing() {
        // The game is drawn with and without the pawn.
        assert_eq!(proven("8/8/8/8/6k1/5p2/5K2/8 w - - 0 1", "Kf1 f2 Kxf2", Color::White), None);
        // The skewer wins the queen wherever the king goes.
        let skewer = proven("8/8/8/q2k4/8/8/8/6KR w - - 0 1", "Rh5+ Kc4 Rxa5", Color::White);
        assert_eq!(skewer.as_deref(), Some("the queen"));
        // Kasparov and Topalov, Wijk aan Zee 1999: Black takes a pawn and then loses the queen.
        let fits = |cp, balance| fits(Score::Centipawns(cp), balance);
        assert!(!fits(-226, 1) && fits(-50, 1) && fits(-500, -2) && !fits(0, 3) && fits(1200, 3));
        // Anderssen and Kieseritzky, London 1851: the attack is worth more than a pawn won back.
        assert!(!fits(174, -2) && fits(900, 1));
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
