//! Reviews a game from its last move to its first, and judges its moves.
//!
//! In this order, the transposition table already contains the consequences of a move when the position before it is
//! searched. A blunder that becomes visible ten plies later is therefore found where it was made.

use super::analyst::{Analyst, Look};
use super::chance::{self, for_mover, opposite, winning};
use super::clock;
use super::mark::{MISTAKE, Mark, bad_mark};
use super::opening::OpeningNames;
use super::phase::phases;
use super::report::{Better, Evaluation, PlayedMove, Review, SCHEMA};
use super::retry::{Known, attempts};
use super::summary::{sides, tenth};
use super::why::{self, Depth, Facts};
use crate::board::{CastlingMode, Color, Move, Position};
use crate::notation::pgn::Game;
use crate::tools::variation::san_moves;

/// Amount of detail in a review.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum Detail {
    /// Marks and better lines, without reasons
    Brief,
    /// Reasons for every mark
    Normal,
    /// Reasons for every mark, and threats at inaccuracies too
    Full,
}

/// Settings of a review.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wishes {
    /// The side whose moves are judged; both sides if absent.
    pub side: Option<Color>,
    /// Amount of detail.
    pub detail: Detail,
    /// Whether each legal move at a mistake is evaluated, for readers who try other moves.
    pub retry: bool,
}

/// Divisor of a position's limits for the first search that tests for an only move.
const ONLY_MOVE_PART: u32 = 4;
/// Winning chances of a side, in percent, at which only moves are marked: below, the game is lost; above, it is won.
const ONLY_MOVE_CHANCES: std::ops::Range<f64> = 20.0..97.0;
/// Minimum number of legal moves for an only move.
const FEWEST_MOVES: usize = 3;
/// Maximum length of a better line, in plies.
const LONGEST_LINE: usize = 12;
/// Maximum length of a refutation, in plies.
const REFUTATION: usize = 5;

/// Progress parts for the search of a position. Judging a move and evaluating its alternatives count one each.
const LOOK: usize = 3;

/// Number of progress parts of a game.
pub(crate) fn parts(game: &Game) -> usize {
    LOOK * (game.moves.len() + 1) + 2 * game.moves.len()
}

/// Reviews a game. Calls `on_progress` with the number of finished [`parts`].
pub(crate) fn review(
    game: &Game,
    analyst: &mut Analyst,
    openings: &OpeningNames,
    wishes: Wishes,
    on_progress: &mut dyn FnMut(usize),
) -> Review {
    let positions = positions(game);
    let mut looks: Vec<Option<Look>> = vec![None; positions.len()];
    for i in (0..positions.len()).rev() {
        looks[i] = analyst.look(&positions[i]);
        if looks[i].is_none() {
            break;
        }
        on_progress(LOOK * (positions.len() - i));
    }
    let complete = looks[0].is_some();
    let mut moves = played(game, &positions, &looks);
    for (i, played) in moves.iter_mut().enumerate() {
        let wanted = wishes.side.is_none_or(|side| side == positions[i].turn());
        if let (true, Some(before), Some(after)) = (wanted, &looks[i], &looks[i + 1]) {
            judge(played, &positions[i], before, after, analyst, wishes.detail);
        }
        on_progress(LOOK * positions.len() + i + 1);
    }
    // These searches come last because they fill the table: marks and reasons must not depend on them.
    for (i, played) in moves.iter_mut().enumerate() {
        let is_mistake = played.mark >= Some(Mark::Inaccuracy);
        if let (true, Some(before), Some(after)) = (wishes.retry && is_mistake, &looks[i], &looks[i + 1]) {
            let known = Known { before, played: played.m, after };
            played.attempts = attempts(&positions[i], &known, analyst);
        }
        on_progress(LOOK * positions.len() + game.moves.len() + i + 1);
    }
    let start = looks[0].as_ref().map(|look| evaluation(look, &positions[0]));
    let [white, black] = sides(start.as_ref(), &moves);
    Review {
        schema: SCHEMA,
        engine: format!("Zoothera {}", env!("CARGO_PKG_VERSION")),
        number: game.number,
        tags: game.tags.clone(),
        result: game.result.to_owned(),
        start: game.start.fen(),
        side: wishes.side,
        chess960: game.start.castling_mode() == CastlingMode::Chess960,
        opening: openings.name(positions.iter()),
        complete,
        evaluation: start,
        white,
        black,
        moves,
    }
}

/// All positions of a game, the first and the last included.
fn positions(game: &Game) -> Vec<Position> {
    let mut position = game.start.clone();
    let mut all = vec![position.clone()];
    for &m in &game.moves {
        position.do_move(m);
        all.push(position.clone());
    }
    all
}

/// The evaluation of a position from White's view.
pub(crate) fn evaluation(look: &Look, position: &Position) -> Evaluation {
    let score = match position.turn() {
        Color::White => look.score,
        Color::Black => opposite(look.score),
    };
    // `Mate(0)` has no sign, so it cannot be converted to White's view.
    let chance = position.turn().fold_wb(winning(look.score), 100.0 - winning(look.score));
    Evaluation { eval: score.into(), chance: tenth(chance), depth: look.depth }
}

/// The moves of a game, not judged yet.
fn played(game: &Game, positions: &[Position], looks: &[Option<Look>]) -> Vec<PlayedMove> {
    let phases = phases(positions.iter());
    let one = |(i, &m): (usize, &Move)| {
        let (before, after) = (&positions[i], &positions[i + 1]);
        let chess960 = before.castling_mode() == CastlingMode::Chess960;
        PlayedMove {
            ply: i + 1,
            number: before.fullmoves(),
            side: before.turn().fold_wb("white", "black"),
            san: before.san(m),
            uci: before.uci(m, chess960),
            fen: after.fen(),
            phase: phases[i],
            clock: clock::command(&game.remarks[i + 1], "clk"),
            evaluation: looks[i + 1].as_ref().map(|look| evaluation(look, after)),
            loss: None,
            loss_cp: None,
            accuracy: None,
            mark: None,
            better: Vec::new(),
            engine: looks[i].as_ref().and_then(|look| better(before, look).into_iter().next()),
            refutation: None,
            reasons: Vec::new(),
            attempts: Vec::new(),
            m,
        }
    };
    game.moves.iter().enumerate().map(one).collect()
}

/// Judges a move, and adds reasons if `detail` requires them.
fn judge(
    played: &mut PlayedMove,
    position: &Position,
    before: &Look,
    after: &Look,
    analyst: &mut Analyst,
    detail: Detail,
) {
    let is_best = before.best() == Some(played.m);
    let then = for_mover(after.score);
    let points = if is_best { 0.0 } else { (winning(before.score) - winning(then)).max(0.0) };
    let centipawns = chance::centipawns(before.score) - chance::centipawns(then);
    played.loss = Some(tenth(points));
    played.loss_cp = Some(if is_best { 0 } else { centipawns.max(0) });
    played.accuracy = Some(tenth(chance::accuracy(points, 0.0)));
    let second = if is_best { only_move(position, played.m, before, analyst) } else { None };
    if is_best {
        played.mark = second.as_ref().map(|_| Mark::Only);
    } else {
        played.mark = bad_mark(before.score, then);
        played.better = better(position, before);
    }
    let Some(mark) = played.mark else { return };
    if mark != Mark::Only {
        played.refutation = refutation(&reached(position, played.m), after);
    }
    if detail > Detail::Brief {
        // The refutation explains an inaccuracy. Threats are searched for larger errors, and with full detail.
        let depth = if mark == Mark::Inaccuracy && detail < Detail::Full { Depth::Brief } else { Depth::Full };
        let facts = Facts::gather(position, played.m, before, after, second, depth, analyst);
        played.reasons = facts.map(|facts| why::reasons(&facts)).unwrap_or_default();
    }
}

/// The opponent's line in the position after a move.
pub(crate) fn refutation(reached: &Position, after: &Look) -> Option<Better> {
    let line = better(reached, after).into_iter().next()?;
    Some(line.cut(REFUTATION))
}

fn reached(position: &Position, m: Move) -> Position {
    let mut reached = position.clone();
    reached.do_move(m);
    reached
}

/// The lines of a search in the form that a review shows.
pub(crate) fn better(position: &Position, look: &Look) -> Vec<Better> {
    let chess960 = position.castling_mode() == CastlingMode::Chess960;
    let one = |line: &crate::search::Line| {
        let moves: Vec<Move> = line.pv.iter().copied().take(LONGEST_LINE).collect();
        let mut reached = position.clone();
        let uci = |&m: &Move| {
            let text = reached.uci(m, chess960);
            reached.do_move(m);
            text
        };
        Better {
            eval: match position.turn() {
                Color::White => line.score,
                Color::Black => opposite(line.score),
            }
            .into(),
            san: san_moves(position, &moves),
            uci: moves.iter().map(uci).collect(),
            moves,
        }
    };
    look.lines.iter().map(one).collect()
}

/// Result of a search without the best move, if the best move is an only move: not a recapture, and every other move
/// is at least a mistake. A short search rules out most moves; a full search confirms the rest.
fn only_move(position: &Position, m: Move, look: &Look, analyst: &mut Analyst) -> Option<Look> {
    let chance = winning(look.score);
    let last = position.moves_since(position.history_len().saturating_sub(1)).last().flatten();
    let recapture =
        position.is_capture(m) && position.last_captured().is_some() && last.is_some_and(|last| last.to() == m.to());
    if recapture || !ONLY_MOVE_CHANCES.contains(&chance) || position.legal_moves().len() < FEWEST_MOVES {
        return None;
    }
    for part in [ONLY_MOVE_PART, 1] {
        let second = analyst.look_without(position, m, part)?;
        if chance - winning(second.score) < MISTAKE {
            return None;
        }
        if part == 1 {
            return Some(second);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation::pgn;
    use crate::review::analyst::tests::analyst;
    use crate::review::eval::Eval;

    fn reviewed(pgn: &str, nodes: u64, wishes: Wishes) -> Review {
        let games = pgn::read(pgn.as_bytes()).expect("a text");
        let game = games[0].as_ref().expect("a game");
        let mut count = 0;
        let review = review(game, &mut analyst(nodes, 1), &OpeningNames::load(), wishes, &mut |n| count = n);
        assert_eq!(count, parts(game));
        review
    }

    const ALL: Wishes = Wishes { side: None, detail: Detail::Brief, retry: false };
    const SCHOLARS_MATE: &str = "[Result \"1-0\"]\n\n\
        1. e4 {[%clk 0:01:00]} e5 2. Bc4 Nc6 3. Qh5 Nf6 4. Qxf7# 1-0\n";

    #[test]
    fn the_scholars_mate_is_a_blunder_and_is_punished() {
        let review = reviewed(SCHOLARS_MATE, 5000, ALL);
        assert!(review.complete && review.moves.len() == 7);
        assert_eq!(review.moves[0].clock.as_deref(), Some("0:01:00"));
        let (blunder, mate) = (&review.moves[5], &review.moves[6]);
        assert_eq!(blunder.mark, Some(Mark::Blunder));
        assert!(!blunder.better.is_empty() && blunder.loss > Some(40.0));
        let eval = |played: &PlayedMove| played.evaluation.as_ref().map(|e| e.eval);
        assert_eq!(eval(blunder), Some(Eval::Mate(1)));
        assert!(mate.evaluation.as_ref().is_some_and(|e| e.chance > 95.0));
        assert_eq!((mate.accuracy, mate.loss), (Some(100.0), Some(0.0)));
        assert_eq!((review.white.whole.blunders, review.black.whole.blunders), (0, 1));
        assert!(review.white.whole.accuracy > review.black.whole.accuracy);
        assert_eq!(review.opening.map(|o| o.eco).as_deref(), Some("C23"));
    }

    #[test]
    fn a_side_alone_is_judged() {
        let wishes = Wishes { side: Some(Color::Black), ..ALL };
        let review = reviewed(SCHOLARS_MATE, 2000, wishes);
        assert_eq!((review.white.whole.judged, review.black.whole.judged), (0, 3));
        assert_eq!(review.white.whole.accuracy, None);
        assert!(review.moves[0].evaluation.is_some(), "but all is searched");
    }

    #[test]
    fn only_moves_are_those_without_a_second() {
        let mark = |fen: &str, moves: &str| {
            let game = format!("[FEN \"{fen}\"]\n\n{moves} *\n");
            let review = reviewed(&game, 4000, ALL);
            review.moves.last().and_then(|played| played.mark)
        };
        // Three pieces down, the queen must be taken.
        let found = "rnb1kbnr/pppp1ppp/8/4p3/4P2q/5N2/PPPP1PPP/R2QK2R w KQkq - 0 3";
        assert_eq!(mark(found, "3. Nxh4"), Some(Mark::Only));
        assert_eq!(mark(found, "3. O-O"), Some(Mark::Blunder));
        // A recapture is not marked as an only move, and in the initial position every move is good.
        let before = "rnb1kbnr/pppp1ppp/8/4p3/4P2N/5q2/PPPP1PPP/R2QK2R b KQkq - 0 3";
        assert_eq!(mark(before, "3... Qxd1+ 4. Rxd1"), None);
        assert_eq!(mark(&Position::startpos().fen(), "1. e4"), None);
    }
}
