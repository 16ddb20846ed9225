//! Searches positions for a review, and finds draws by rule. All searches share one transposition table.

use std::sync::Arc;

use super::mark::for_mover;
use crate::board::{Move, Position};
pub(crate) use crate::game::ending::cut_at_end;
use crate::game::ending::{Cause, Ending};
use crate::notation::pgn::Game;
use crate::search::Limits;
use crate::search::score::{Line, Outcome, Progress, Reporter, Score};
use crate::search::{Controller, SearchOptions, ThreadPool};
use crate::util::console::Interrupt;

/// Result of a search.
#[derive(Clone, Debug)]
pub(crate) struct Look {
    /// Score from the view of the side to move.
    pub score: Score,
    /// Depth in plies; 0 when the game is over.
    pub depth: i32,
    /// Lines, best first; empty when the game is over.
    pub lines: Vec<Line>,
}

impl Look {
    /// The moves of the best line.
    pub(crate) fn pv(&self) -> &[Move] {
        self.lines.first().map_or(&[], |line| &line.pv)
    }

    /// The best move.
    pub(crate) fn best(&self) -> Option<Move> {
        self.pv().first().copied()
    }

    /// The result for the position before a move from the result after it, if no other move is better.
    pub(crate) fn before(m: Move, after: &Self, known: &Self) -> Self {
        let score = for_mover(after.score);
        let mut look = Self { score, ..known.clone() };
        look.lines.truncate(1);
        if let Some(line) = look.lines.first_mut() {
            line.score = score;
            line.pv = [&[m], after.pv()].concat();
        }
        look
    }

    /// Whether the best line ends in a draw by rule.
    pub(crate) fn is_drawn_by_rule(&self, position: &Position) -> bool {
        cut_at_end(position, &mut self.pv().to_vec()).is_some()
    }

    /// Whether the best line ends in a draw by rule although the score is not a draw.
    fn contradicts_rules(&self, position: &Position) -> bool {
        self.score != Score::Centipawns(0) && self.is_drawn_by_rule(position)
    }

    /// Result for a position in which the game is over: mate, or a draw.
    pub(crate) fn over(position: &Position) -> Self {
        let mated = position.in_check() && position.legal_moves().is_empty();
        Self { score: if mated { Score::Mate(0) } else { Score::Centipawns(0) }, depth: 0, lines: Vec::new() }
    }
}

/// Factor of a position's limits for a longer search.
const LONGER: u32 = 3;
/// Divisor of a position's limits for the search of a reply that a line lacks.
const REPLY_PART: u32 = 8;

/// The engine and its limits for a position.
pub(crate) struct Analyst {
    pool: ThreadPool,
    limits: Limits,
    lines: usize,
    interrupt: Interrupt,
}

impl Analyst {
    /// An engine that searches each position with `limits` and returns `lines` lines. Ctrl-C stops it.
    pub(crate) fn new(pool: ThreadPool, limits: Limits, lines: usize) -> Self {
        let controller = pool.controller();
        let interrupt = Interrupt::listen(move || controller.stop());
        Self { pool, limits, lines, interrupt }
    }

    /// Whether Ctrl-C was pressed. No further position is then searched.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupt.is_set()
    }

    /// Clears the results of earlier games.
    pub(crate) fn forget(&mut self) {
        self.pool.clear();
    }

    /// Searches a position; `None` after Ctrl-C. The best line has at least two plies, unless it mates or ends the
    /// game.
    pub(crate) fn look(&mut self, position: &Position) -> Option<Look> {
        let mut look = self.search(position, self.limits.clone(), self.lines)?;
        self.extend(position, &mut look)?;
        Some(look)
    }

    /// Appends the reply to a best line of one move. A hit in the transposition table may end a line there.
    fn extend(&mut self, position: &Position, look: &mut Look) -> Option<()> {
        let is_cut = |line: &&mut Line| line.pv.len() == 1 && matches!(line.score, Score::Centipawns(_));
        if let Some(line) = look.lines.first_mut().filter(is_cut) {
            let mut reached = position.clone();
            reached.do_move(line.pv[0]);
            let reply = self.search(&reached, shared_out(&self.limits, REPLY_PART), 1)?;
            line.pv.extend_from_slice(reply.pv());
            cut_at_end(position, &mut line.pv);
        }
        Some(())
    }

    /// Searches a position three times as long. A depth limit is two plies higher.
    pub(crate) fn look_longer(&mut self, position: &Position) -> Option<Look> {
        let limits = Limits {
            depth: self.limits.depth.map(|depth| depth + 2),
            nodes: self.limits.nodes.map(|nodes| nodes.saturating_mul(LONGER.into())),
            move_time: self.limits.move_time.map(|time| time * LONGER),
            ..self.limits.clone()
        };
        let mut look = self.search(position, limits, self.lines)?;
        self.extend(position, &mut look)?;
        Some(look)
    }

    /// Whether a position is searched with fewer nodes than these.
    pub(crate) fn has_fewer_nodes(&self, nodes: u64) -> bool {
        self.limits.nodes.is_some_and(|limit| limit < nodes)
    }

    /// The `lines` best lines of a position, with `1 / part` of its limits, but at least twice this number of nodes.
    pub(crate) fn look_wide(&mut self, position: &Position, lines: usize, part: u32, least: u64) -> Option<Look> {
        self.search(position, at_least(shared_out(&self.limits, part), 2 * least), lines)
    }

    /// Searches a position with `1 / part` of its limits, but at least this number of nodes. A depth limit is one ply
    /// lower for each halving.
    pub(crate) fn look_for_part(&mut self, position: &Position, part: u32, least: u64) -> Option<Look> {
        let plies = part.ilog2() as i32;
        let depth = self.limits.depth.map(|depth| (depth - plies).max(1));
        self.search(position, Limits { depth, ..at_least(shared_out(&self.limits, part), least) }, 1)
    }

    /// Searches a position without one of its moves, with `1 / part` of its limits.
    pub(crate) fn look_without(&mut self, position: &Position, m: Move, part: u32) -> Option<Look> {
        let mut limits = shared_out(&self.limits, part);
        limits.exclude_moves = vec![m];
        self.search(position, limits, 1)
    }

    /// The position after a null move, and its search with `1 / part` of the limits. The side to move must not be in
    /// check.
    pub(crate) fn look_after_pass(&mut self, position: &Position, part: u32) -> Option<(Position, Look)> {
        let mut position = position.clone();
        position.do_null_move();
        let look = self.search(&position, shared_out(&self.limits, part), 1)?;
        Some((position, look))
    }

    fn search(&mut self, position: &Position, limits: Limits, multi_pv: usize) -> Option<Look> {
        if self.is_interrupted() {
            return None;
        }
        if is_over(position) {
            return Some(Look::over(position));
        }
        let listener = Arc::new(Listener { controller: self.pool.controller(), interrupt: self.interrupt.clone() });
        // Without distances to mate: "promotes a pawn" says more to a person than a mate in ten with a queen.
        let settings = SearchOptions { multi_pv, analyse_mode: true, mate_tables: false, ..SearchOptions::default() };
        let mut look = None;
        for _ in 0..2 {
            let outcome = self.pool.search(position.recent(), limits.clone(), settings.clone(), listener.clone());
            if self.is_interrupted() {
                return None;
            }
            let found = look_of(position, outcome).unwrap_or_else(|| Look::over(position));
            if !found.contradicts_rules(position) {
                return Some(found);
            }
            // The table has values of positions with other histories.
            self.pool.clear();
            look = Some(found);
        }
        look
    }
}

/// The limits divided by `part`. A depth limit is one ply lower.
fn shared_out(limits: &Limits, part: u32) -> Limits {
    Limits {
        depth: limits.depth.map(|depth| (depth - 1).max(1)),
        nodes: limits.nodes.map(|nodes| (nodes / u64::from(part)).max(1)),
        move_time: limits.move_time.map(|time| time / part),
        ..limits.clone()
    }
}

/// The limits, with at least this number of nodes if they limit the nodes.
fn at_least(limits: Limits, least: u64) -> Limits {
    Limits { nodes: limits.nodes.map(|nodes| nodes.max(least)), ..limits }
}

/// The final lines, best first, each cut at the end of the game; `None` when the game is over.
fn look_of(position: &Position, outcome: Outcome) -> Option<Look> {
    let best = outcome.line.filter(|line| !line.pv.is_empty())?;
    let (score, depth) = (best.score, best.depth);
    let mut lines = [vec![best], outcome.others].concat();
    for line in &mut lines {
        cut_at_end(position, &mut line.pv);
    }
    Some(Look { score, depth, lines })
}

/// Stops the search after Ctrl-C.
struct Listener {
    controller: Controller,
    interrupt: Interrupt,
}

impl Reporter for Listener {
    fn line(&self, _line: &Line, _progress: &Progress) {
        if self.interrupt.is_set() {
            // Ctrl-C may come just before the search begins; its handler stops running searches only.
            self.controller.stop();
        }
    }

    fn done(&self, _outcome: &Outcome) {}
}

// Draws by rule: the ends of games and of lines.
//
// The third occurrence of a position, the hundredth ply without a capture or pawn move, and material that cannot mate
// end a game as a draw. If the players went on, the positions stay drawn until a capture or a pawn move.

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
pub(crate) mod tests {
    use super::*;
    use crate::board::CastlingMode;
    use crate::nnue::Network;
    use crate::train::material_net;

    /// Analyst on one thread with `nodes` nodes for each position, so its results are reproducible. It evaluates
    /// material and squares only, so a new default net does not change the results.
    pub(crate) fn analyst(nodes: u64, lines: usize) -> Analyst {
        let limits = Limits { nodes: Some(nodes), ..Limits::default() };
        let network = Network::from_bytes(&material_net(true)).expect("a sound net");
        Analyst::new(ThreadPool::new(Arc::new(network), 1, 4), limits, lines)
    }

    pub(crate) fn position(fen: &str) -> Position {
        Position::from_fen(fen, CastlingMode::Standard).expect(fen)
    }

    #[test]
    fn lines_differ_in_their_first_move() {
        let look = analyst(10_000, 3).look(&Position::startpos()).expect("a look");
        assert_eq!(look.lines.len(), 3);
        let first: Vec<_> = look.lines.iter().map(|line| line.pv[0]).collect();
        assert!(first[0] != first[1] && first[1] != first[2] && first[0] != first[2]);
        assert_eq!(look.best(), Some(first[0]));
    }

    #[test]
    fn best_line_of_one_move_gets_a_reply() {
        let mut analyst = analyst(1000, 1);
        analyst.limits = Limits { depth: Some(1), ..Limits::default() };
        let mut cut = 0;
        for fen in [
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "r1bqkb1r/pppp1ppp/2n2n2/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R w KQkq - 4 4",
            "8/5pk1/6p1/8/3K4/8/5PP1/8 b - - 0 40",
        ] {
            let root = position(fen);
            let line = |look: Option<Look>| look.expect("a look").pv().to_vec();
            cut += usize::from(line(analyst.search(&root, analyst.limits.clone(), 1)).len() == 1);
            let moves = line(analyst.look(&root));
            assert!(moves.len() >= 2, "{fen}: {moves:?}");
            let mut end = root.clone();
            for m in moves {
                assert!(end.legal_moves().contains(&m), "{fen}: {m:?}");
                end.do_move(m);
            }
        }
        assert!(cut > 0, "no line needed a reply");
    }

    #[test]
    fn a_game_that_is_over_needs_no_search() {
        let mut analyst = analyst(1000, 1);
        let mated = position("R5k1/5ppp/8/8/8/8/8/4K3 b - - 0 1");
        let look = analyst.look(&mated).expect("a look");
        assert_eq!((look.score, look.depth), (Score::Mate(0), 0));
        let stalemate = position("7k/5Q2/8/8/8/8/8/K7 b - - 0 1");
        let look = analyst.look(&stalemate).expect("a look");
        assert_eq!((look.score, look.best()), (Score::Centipawns(0), None));
    }

    #[test]
    fn lines_end_at_a_draw_by_rule() {
        let mut root = position("7k/6pp/8/8/8/2Q5/5PPP/6K1 w - - 0 1");
        for uci in ["c3d3", "h8g8", "d3c3", "g8h8", "c3d3", "h8g8", "d3c3"] {
            root.do_move(root.parse_uci(uci).expect(uci));
        }
        let look = analyst(20_000, 1).look(&root).expect("a look");
        let line: Vec<String> = look.pv().iter().map(|m| root.uci(*m, false)).collect();
        assert_eq!((look.score, line), (Score::Centipawns(0), vec!["g8h8".to_owned()]));
        root.do_move(look.best().expect("a move"));
        let over = analyst(1000, 1).look(&root).expect("a look");
        assert_eq!((over.score, over.depth), (Score::Centipawns(0), 0));
    }

    #[test]
    fn without_a_move_and_after_a_pass() {
        let mut analyst = analyst(2000, 1);
        let mate = position("6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1");
        let best = analyst.look(&mate).and_then(|look| look.best()).expect("a move");
        assert_eq!(mate.san(best), "Ra8#");
        let other = analyst.look_without(&mate, best, 4).expect("a look");
        assert!(other.best().is_some_and(|m| m != best));
        // If Black passes, White mates.
        let threatened = position("6k1/5ppp/8/8/8/8/8/R3K3 b - - 0 1");
        let (passed, look) = analyst.look_after_pass(&threatened, 2).expect("a look");
        assert_eq!(look.score, Score::Mate(1));
        assert_eq!(look.best().map(|m| passed.san(m)).as_deref(), Some("Ra8#"));
    }
}

#[cfg(test)]
mod rules_tests {
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
