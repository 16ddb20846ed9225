//! Results of the searches about a move, and the proof that a line wins material. Reasons are derived from these
//! results and from the board along their lines.
//!
//! A principal variation shows one defence. In a lost position the defender may give a piece that he could have kept,
//! so the material balance at the end of the line proves nothing by itself. It does if the defender's other replies
//! lose as much, and the line ends quietly.

use super::analyst::{Analyst, Look, cut_at_end, is_over};
use super::features::prevention;
use super::mark::{bad_mark, opposite, rank};
use super::material::{Balance, Swing, is_at_rest, is_most, settled, swing};
use crate::board::{Color, Move, Position, Role};
use crate::search::score::Score;

/// Number of the defender's replies that are compared.
const REPLIES: usize = 3;
/// The rounds of a proof: the divisor of a position's limits, and the least number of nodes of a search, whatever the
/// limits are. The first round refutes most claims cheaply; the second one confirms the others.
// MEASURED: 28 November 2026: with searches of 2,000 nodes, 16 of 726 claims of 200 games turned out false.
const ROUNDS: [(u32, u64); 2] = [(2, 1), (1, 10_000)];
/// One more round for threats, and where something is given for the gain: a pawn more or less decides about such
/// claims.
// MEASURED: 29 November 2026: with 10,000 nodes, 2 of 147 claims of 40 games turned out false, both threats, and later
// an exchange among 1,669 claims of 400 games. With this round for claims with a price alone, 2 threats of 400 games.
const LAST_ROUND: (u32, u64) = (1, 40_000);
/// Centipawns for each pawn won by which a reply must be worse than the best one to count as losing more.
const WORSE: i32 = 75;
/// Minimum number of plies played on after the end of a line, and maximum number until the position is quiet. A double
/// attack wins the material back two or three moves later.
const PLAYED_ON: usize = 8;
const UNTIL_QUIET: usize = 16;
/// Plies that one search of the continuation contributes.
const STEP: usize = 4;
/// Plies within which material must be won: a constant, and more for each pawn.
const SOON: (usize, usize) = (4, 2);
/// Minimum number of centipawns for each pawn of a side's surplus; minimum and maximum for each pawn of its deficit.
const SURPLUS: i32 = 80;
const DEFICIT: (i32, i32) = (200, 60);
/// Centipawns by which the score may be lower than for a surplus, and lower and higher than for a deficit. Below, the
/// material is lost again later or has its price; above, an attack decides and not the material.
const MARGIN: i32 = 110;
const MARGINS: (i32, i32) = (100, 150);
/// Maximum score in centipawns after a gain of less than a piece: a constant, and more for each pawn of the surplus.
/// Above, something else decides the game.
const DECIDED: (i32, i32) = (250, 250);
/// Pawns won for each of which one may be given back; one at least, but none where pawns are claimed beside pieces.
const SLACK: i32 = 4;
/// Value of a piece in pawns.
pub(super) const PIECE: i32 = 3;

/// Ctrl-C stopped a search.
pub(super) struct Stopped;

/// A line in which a side seems to win material.
pub(super) struct GainLine<'a> {
    pub start: &'a Position,
    pub moves: &'a [Move],
    pub side: Color,
    /// Number of moves at the start of the line that were played and are not the defender's choice.
    pub given: usize,
    /// Whether the line carries out a threat, after a pass by the defender.
    pub is_threat: bool,
}

/// A round of a proof: the pawns claimed, those that may be given back, the divisor of the limits, and the least number
/// of nodes.
#[derive(Clone, Copy)]
struct Round {
    points: i32,
    slack: i32,
    part: u32,
    least: u64,
}

impl GainLine<'_> {
    /// The part of the line that wins material by force, and the material; `None` if the defender can avoid the loss.
    pub(super) fn proven(&self, analyst: &mut Analyst) -> Result<Option<Swing>, Stopped> {
        for won in self.candidates() {
            if self.is_forced(&won, analyst)? {
                return Ok(Some(won));
            }
        }
        Ok(None)
    }

    /// The gains that the line may force: most of what the whole line wins, and what its beginning wins. Often the
    /// defender loses a pawn in any case, and more only in this line.
    fn candidates(&self) -> impl Iterator<Item = Swing> {
        let whole = settled(self.start, self.moves, self.side).filter(|whole| whole.points > 0);
        let part =
            |plies: &usize| swing(self.start, &self.moves[..*plies], self.side).filter(|won| won.plies == *plies);
        let less = |won: &Swing| whole.is_some_and(|whole| (1..whole.points).contains(&won.points));
        let early = whole.and_then(|whole| (1..whole.plies).filter_map(|plies| part(&plies)).find(less));
        whole.into_iter().chain(early).filter(|won| is_clear(won) && is_soon(won))
    }

    fn is_forced(&self, won: &Swing, analyst: &mut Analyst) -> Result<bool, Stopped> {
        let line = &self.moves[..won.plies];
        // Where neither side can mate any more, material is worth nothing.
        if self.after(line).is_insufficient_material() {
            return Ok(false);
        }
        let [wins, gives] = won.roles();
        let slack = slack(&wins, won.points);
        let is_doubtful = self.is_threat || !gives.is_empty();
        let last = Some(LAST_ROUND).filter(|(_, least)| is_doubtful && analyst.has_fewer_nodes(*least));
        for (part, least) in ROUNDS.into_iter().chain(last) {
            if !self.holds(line, Round { points: won.points, slack, part, least }, analyst)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether the line wins the material, and no other reply of the defender keeps it.
    fn holds(&self, line: &[Move], round: Round, analyst: &mut Analyst) -> Result<bool, Stopped> {
        if !self.keeps(line, round, true, analyst)? {
            return Ok(false);
        }
        let mut position = self.start.recent();
        for ply in 0..=line.len() {
            let defends = position.turn() != self.side && ply >= self.given;
            if defends && !self.survives_replies(&position, &line[..ply], line.get(ply), round, analyst)? {
                return Ok(false);
            }
            if let Some(&m) = line.get(ply) {
                position.do_move(m);
            }
        }
        Ok(true)
    }

    /// The position after a line.
    fn after(&self, line: &[Move]) -> Position {
        let mut end = self.start.recent();
        for &m in line {
            end.do_move(m);
        }
        end
    }

    /// Whether the defender's other replies to these moves lose as much. `reply` is the reply of the line. At its end,
    /// captures and checks count, which may win the material back.
    fn survives_replies(
        &self,
        position: &Position,
        before: &[Move],
        reply: Option<&Move>,
        round: Round,
        analyst: &mut Analyst,
    ) -> Result<bool, Stopped> {
        let wide = analyst.look_wide(position, REPLIES, round.part, round.least).ok_or(Stopped)?;
        let best = rank(wide.score);
        for other in wide.lines.iter().filter(|other| other.pv.first() != reply) {
            let Some(&first) = other.pv.first() else { continue };
            let mut reached = position.recent();
            reached.do_move(first);
            let is_quiet = !position.is_capture(first) && !reached.in_check();
            let loses_more = rank(other.score) <= best - WORSE * round.points;
            let is_mated = matches!(other.score, Score::Mate(moves) if moves <= 0);
            if reply.is_none() && is_quiet || loses_more || is_mated {
                continue;
            }
            let other = [before, &[first]].concat();
            if !self.keeps(&other, round, false, analyst)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether the side mates, or has won most of the material where the line, played on until it is quiet, ends. The
    /// score there must fit the material. After the line of the claim, nothing else may decide the game.
    fn keeps(
        &self,
        line: &[Move],
        Round { points, slack, part, least }: Round,
        is_claim: bool,
        analyst: &mut Analyst,
    ) -> Result<bool, Stopped> {
        let before = Balance::of(self.start, self.side).points();
        let mut position = self.after(line);
        let mut played = 0;
        loop {
            let next = analyst.look_for_part(&position, part, least).ok_or(Stopped)?;
            let for_side = if position.turn() == self.side { next.score } else { opposite(next.score) };
            let balance = Balance::of(&position, self.side).points();
            if is_claim && played == 0 && is_decided(for_side, points, balance) {
                return Ok(false);
            }
            if matches!(for_side, Score::Mate(moves) if moves > 0) {
                return Ok(true);
            }
            // In a wild position, the score tells whether the material will stay.
            let is_last = next.pv().is_empty()
                || played >= PLAYED_ON && is_at_rest(&position)
                || played >= UNTIL_QUIET && points >= PIECE;
            if is_last {
                return Ok(is_kept(balance - before, points, slack) && fits(for_side, points, balance));
            }
            if played >= UNTIL_QUIET {
                return Ok(false);
            }
            for &m in next.pv().iter().take(STEP) {
                position.do_move(m);
                played += 1;
            }
        }
    }
}

/// Whether material is won: a pawn at least, or two pawns net if something is given for it. Other defences seldom lead
/// to the same uneven trade.
fn is_clear(won: &Swing) -> bool {
    won.points >= if won.roles()[1].is_empty() { 1 } else { 2 }
}

/// Pawns of a gain that may be given back. If the claim names pawns beside pieces, they have to stay: "a knight and a
/// pawn" is not won if only the knight is.
fn slack(wins: &[Role], points: i32) -> i32 {
    let has_pawn_and_piece = wins.contains(&Role::Pawn) && wins.iter().any(|role| *role != Role::Pawn);
    if has_pawn_and_piece { 0 } else { 1.max(points / SLACK) }
}

/// Whether what is left is most of the pawns won, and no more than the slack is given back. A queen that wins only a
/// piece in the end is not won.
fn is_kept(left: i32, points: i32, slack: i32) -> bool {
    is_most(left, points) && left >= points - slack
}

/// Whether a line is short enough for the material that it wins. In longer lines, the defender usually has alternatives
/// that the searches miss.
fn is_soon(won: &Swing) -> bool {
    won.plies <= SOON.0 + SOON.1 * usize::try_from(won.points).unwrap_or(0)
}

/// Whether the side that wins less than a piece mates, or has a score far above its material, so that the gain is not
/// the reason. `balance` is its surplus in pawns after the gain.
fn is_decided(score: Score, points: i32, balance: i32) -> bool {
    let most = DECIDED.0 + DECIDED.1 * balance.max(points);
    match score {
        _ if points >= PIECE => false,
        Score::Mate(moves) => moves > 0,
        Score::Centipawns(cp) => cp > most,
    }
}

/// Whether the score of a side fits its material balance after a gain of this many pawns. Where a piece is won, an
/// attack may be worth more in addition.
fn fits(score: Score, points: i32, balance: i32) -> bool {
    let score = rank(score);
    match balance {
        1.. => score >= SURPLUS * balance - MARGIN,
        _ => score >= DEFICIT.0 * balance - MARGINS.0 && (points >= PIECE || score <= DEFICIT.1 * balance + MARGINS.1),
    }
}

// Results of the searches about a move.

/// Divisor of the search limits for additional searches of a position.
const PART: u32 = 2;
/// Maximum number of searches to complete a mating line.
const COMPLETIONS: usize = 4;

/// Extent of the searches about a move, in addition to the positions before and after the move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    /// No additional search.
    Brief,
    /// Additional searches for threats and the second-best move.
    Full,
}

/// A move and the results of the searches about it.
pub(crate) struct Facts {
    /// The position before the move.
    pub position: Position,
    /// The move.
    pub m: Move,
    /// Search of the position before the move, from the mover's view.
    pub before: Look,
    /// Search of the position after the move, from the opponent's view.
    pub after: Look,
    /// Search of the position before the move, without the best move.
    pub second: Option<Look>,
    /// The opponent's threat before the move: a search after a pass by the mover.
    pub threat: Option<Passed>,
    /// The mover's threat after the best move: a search after a pass by the opponent.
    pub idea: Option<Passed>,
    /// Material that the move and its refutation lose by force, as the opponent's gain.
    pub lost: Option<Swing>,
    /// Material that the best line wins by force.
    pub won: Option<Swing>,
    /// The mover's threat after the move played.
    pub own_idea: Option<Passed>,
    /// The opponent's threat after the reply to a bad move that loses no material: a search after a pass by the mover.
    pub reply_idea: Option<Passed>,
    /// Search of the position after a bad move, without the reply, if the best move prevents that reply.
    pub second_reply: Option<Look>,
}

/// A search after a pass.
#[derive(Clone)]
pub(crate) struct Passed {
    /// The position after the pass.
    pub position: Position,
    /// The result of the search.
    pub look: Look,
    /// Material that the search's line wins by force.
    pub gain: Option<Swing>,
}

impl Passed {
    /// Searches the position after a null move; `None` after Ctrl-C. The side to move must not be in check.
    fn by(position: &Position, analyst: &mut Analyst) -> Option<Self> {
        let (position, look) = analyst.look_after_pass(position, PART)?;
        let line = GainLine { start: &position, moves: look.pv(), side: position.turn(), given: 0, is_threat: true };
        let gain = line.proven(analyst).ok()?;
        Some(Self { position, look, gain })
    }
}

impl Facts {
    /// Runs the searches. Returns `None` after Ctrl-C.
    pub(crate) fn gather(
        position: &Position,
        m: Move,
        before: &Look,
        after: &Look,
        second: Option<Look>,
        depth: Depth,
        analyst: &mut Analyst,
    ) -> Option<Self> {
        let best = before.best().unwrap_or(m);
        let [played, better] = [m, best].map(|m| {
            let mut reached = position.clone();
            reached.do_move(m);
            reached
        });
        let mut facts = Self {
            before: completed(position, before, analyst)?,
            after: completed(&played, after, analyst)?,
            position: position.clone(),
            m,
            second,
            lost: None,
            won: None,
            threat: None,
            idea: None,
            own_idea: None,
            reply_idea: None,
            second_reply: None,
        };
        facts.prove(analyst).ok()?;
        if depth == Depth::Full {
            if facts.second.is_none() && position.legal_moves().len() > 1 {
                facts.second = Some(analyst.look_without(position, best, PART)?);
            }
            let passes = [
                (position, &mut facts.threat, true),
                (&played, &mut facts.own_idea, true),
                (&better, &mut facts.idea, m != best),
            ];
            for (position, passed, is_new) in passes {
                if is_new && can_pass(position) {
                    *passed = Some(Passed::by(position, analyst)?);
                }
            }
            if m == best {
                facts.idea = facts.own_idea.clone();
            }
            facts.search_replies(&played, analyst)?;
        }
        Some(facts)
    }

    /// Searches the opponent's threat after the reply to a bad move, and the other replies if the best move prevents
    /// this one. `None` after Ctrl-C.
    fn search_replies(&mut self, played: &Position, analyst: &mut Analyst) -> Option<()> {
        let is_bad = bad_mark(self.before.score, self.score_after()).is_some() && !self.is_best();
        let is_material = matches!(self.after.score, Score::Centipawns(_)) && self.lost.is_some();
        let Some(reply) = self.after.best().filter(|_| is_bad && !is_material) else { return Some(()) };
        let mut answered = played.clone();
        answered.do_move(reply);
        if can_pass(&answered) {
            self.reply_idea = Some(Passed::by(&answered, analyst)?);
        }
        if prevention(&self.position, self.m, self.best(), reply).is_some() && played.legal_moves().len() > 1 {
            self.second_reply = Some(analyst.look_without(played, reply, PART)?);
        }
        Some(())
    }

    /// Searches whether the material that the lines win is won by force.
    fn prove(&mut self, analyst: &mut Analyst) -> Result<(), Stopped> {
        let (side, played) = (self.mover(), self.played_line());
        let start = &self.position;
        self.lost = GainLine { start, moves: &played, side: !side, given: 1, is_threat: false }.proven(analyst)?;
        self.won = GainLine { start, moves: self.before.pv(), side, given: 0, is_threat: false }.proven(analyst)?;
        Ok(())
    }

    /// The side that made the move.
    pub(crate) fn mover(&self) -> Color {
        self.position.turn()
    }

    /// The best move, or the move played if the search has no best move.
    pub(crate) fn best(&self) -> Move {
        self.before.best().unwrap_or(self.m)
    }

    /// Whether the move played is the best move.
    pub(crate) fn is_best(&self) -> bool {
        self.best() == self.m
    }

    /// The position after the move.
    pub(crate) fn reached(&self) -> Position {
        let mut position = self.position.recent();
        position.do_move(self.m);
        position
    }

    /// The score after the move from the mover's view.
    pub(crate) fn score_after(&self) -> Score {
        match self.after.score {
            Score::Mate(0) => Score::Mate(1),
            score => opposite(score),
        }
    }

    /// The move played and the best line after it.
    pub(crate) fn played_line(&self) -> Vec<Move> {
        let mut line = vec![self.m];
        line.extend_from_slice(self.after.pv());
        line
    }
}

/// Whether a null move is possible.
fn can_pass(position: &Position) -> bool {
    !position.in_check() && !is_over(position)
}

/// `look` with its first line completed to the mate, if its score is a mate. Each step searches the end of the line.
fn completed(position: &Position, look: &Look, analyst: &mut Analyst) -> Option<Look> {
    let mut look = look.clone();
    if !matches!(look.score, Score::Mate(_)) {
        return Some(look);
    }
    let Some(first) = look.lines.first_mut() else {
        return Some(look);
    };
    for _ in 0..COMPLETIONS {
        let mut end = position.clone();
        for &m in &first.pv {
            end.do_move(m);
        }
        if is_over(&end) {
            break;
        }
        let next = analyst.look(&end)?;
        if !matches!(next.score, Score::Mate(_)) || next.pv().is_empty() {
            break;
        }
        first.pv.extend_from_slice(next.pv());
        cut_at_end(position, &mut first.pv);
    }
    Some(look)
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
        let line = GainLine { start: &start, moves: &moves, side, given: 0, is_threat: false };
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
        let fits = |cp, balance| fits(Score::Centipawns(cp), 1, balance);
        assert!(!fits(-226, 1) && fits(0, 1) && fits(-500, -2) && !fits(0, 3) && fits(1200, 3));
        // White takes the queen and loses his own to a fork: at +4.70 he is no queen for a bishop up.
        assert!(!fits(470, 8));
        let piece = [Role::Queen];
        let kept = |left, points| is_kept(left, points, slack(&piece, points));
        assert!(kept(2, 3) && kept(7, 9) && !kept(6, 9) && !kept(4, 6) && !kept(1, 2));
        let with_pawn = slack(&[Role::Queen, Role::Pawn], 5);
        assert!(!is_kept(4, 5, with_pawn) && is_kept(5, 5, with_pawn));
        assert_eq!(slack(&[Role::Pawn; 3], 3), 1);
        // Anderssen and Kieseritzky, London 1851: the attack is worth more than a pawn won back.
        assert!(!fits(174, -2) && fits(900, 1));
        // A piece is won back, and an attack decides.
        assert!(super::fits(Score::Centipawns(366), PIECE, -2));
        // The bishop that attacks the queen is taken, and so is White's queen.
        let trade = "3qk3/8/8/6B1/6b1/8/8/3QK3 w - - 0 1";
        assert_eq!(proven(trade, "Bxd8 Bxd1 Kxd1", Color::White), None);
    }

    #[test]
    fn pawn_is_no_reason_in_a_decided_game_and_at_the_end_of_a_long_line() {
        let cp = Score::Centipawns;
        assert!(is_decided(cp(501), 1, 1) && !is_decided(cp(501), 1, 2) && !is_decided(cp(2800), 8, 8));
        assert!(is_decided(Score::Mate(4), 1, 1) && !is_decided(Score::Mate(4), 9, 9));
        assert!(!is_decided(Score::Mate(-4), 1, 1));
        // Two rooks and two bishops up, the side takes a pawn and mates.
        assert_eq!(proven("4k3/7p/8/8/8/3B4/1B6/RR2K3 w - - 0 1", "Bxh7 Kf7", Color::White), None);
    }

    #[test]
    fn checks_after_the_last_move_of_a_line_count() {
        let survives = |fen: &str| {
            let start = position(fen);
            let moves = [start.parse_san("Rxa7").expect("legal")];
            let line = GainLine { start: &start, moves: &moves, side: Color::White, given: 0, is_threat: false };
            let round = Round { points: 1, slack: 0, part: 1, least: 10_000 };
            let replies = line.survives_replies(&line.after(&moves), &moves, None, round, &mut analyst(10_000, 1));
            replies.ok()
        };
        // The queen's check on d4 attacks the rook that took the pawn. Without the queen, there is no check.
        assert_eq!(survives("3q2k1/p5pp/8/8/8/8/6PP/R5K1 w - - 0 1"), Some(false));
        assert_eq!(survives("6k1/p5pp/8/8/8/8/6PP/R5K1 w - - 0 1"), Some(true));
    }

    #[test]
    fn line_that_ends_before_the_recapture_proves_nothing() {
        // The queen takes a pawn that the rook protects.
        let fen = "3r2k1/5ppp/8/3p4/8/8/3Q1PPP/6K1 w - - 0 1";
        assert_eq!(proven(fen, "Qxd5", Color::White), None);
    }
}
