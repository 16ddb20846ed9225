//! Reviews a game from its last move to its first, judges its moves, and values all legal moves at a mistake.
//!
//! In this order, the transposition table already contains the consequences of a move when the position before it is
//! searched. A blunder that becomes visible ten plies later is therefore found where it was made.

use super::analyst::{Analyst, Look};
use super::judge::{Searched, contested, good_mark};
use super::mark::{Mark, bad_mark, for_mover, opposite, rank, winning};
use super::phase::{OpeningNames, phases};
use super::report::{Attempt, Better, Evaluation, PlayedMove, Review, SCHEMA, sides};
use super::why::{Depth, Facts};
use super::{analyst, mark, remarks, why};
use crate::board::{CastlingMode, Color, Move, Position};
use crate::notation::pgn::Game;
use crate::review::mark::tenth;
use crate::search::score::Score;
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

/// Maximum length of a better line, in plies.
const LONGEST_LINE: usize = 12;
/// Maximum length of a refutation, in plies.
const REFUTATION: usize = 5;

/// Minimum number of points of winning chance that a move of opening theory loses if it has a bad mark. Grob's 1.g4
/// loses 15.
const THEORY_BLUNDER: f64 = 20.0;

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
    let over = analyst::over(game);
    let mut looks = searches(game, &over, analyst, on_progress);
    let complete = looks[0].is_some();
    confirm(game, &over, &mut looks, wishes, analyst);
    let mut moves = played(game, &looks);
    let opening = openings.name(positions(game).map(|position| position.key()));
    let theory = opening.as_ref().map_or(0, |opening| opening.ply);
    let all = game.moves.len();
    for (i, (played, position)) in moves.iter_mut().zip(positions(game)).enumerate() {
        let wanted = wishes.side.is_none_or(|side| side == position.turn()) && !over[i];
        if let (true, Some(before), Some(after)) = (wanted, &looks[i], &looks[i + 1]) {
            let searched = Searched { before: before.clone(), after: after.clone() };
            judge(played, &position, &searched, i < theory, analyst, wishes.detail);
        }
        on_progress(LOOK * (all + 1) + i + 1);
    }
    // These searches come last because they fill the table: marks and reasons must not depend on them.
    for (i, (played, position)) in moves.iter_mut().zip(positions(game)).enumerate() {
        let is_mistake = played.mark.is_some_and(Mark::is_bad);
        if let (true, Some(before), Some(after)) = (wishes.retry && is_mistake, &looks[i], &looks[i + 1]) {
            let known = Known { before, played: played.m, after };
            played.attempts = attempts(&position, &known, analyst);
        }
        on_progress(LOOK * (all + 1) + all + i + 1);
    }
    let start = looks[0].as_ref().map(|look| evaluation(look, &game.start));
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
        opening,
        complete,
        evaluation: start,
        white,
        black,
        moves,
    }
}

/// The positions of a game, the first and the last included. Each has only the history that affects it, because a game
/// can have tens of thousands of plies.
fn positions(game: &Game) -> impl Iterator<Item = Position> {
    let mut position = game.start.clone();
    let later = game.moves.iter().map(move |&m| {
        position.do_move(m);
        position.recent()
    });
    std::iter::once(game.start.recent()).chain(later)
}

/// The last position of a game, with its complete history.
fn last_position(game: &Game) -> Position {
    let mut position = game.start.clone();
    for &m in &game.moves {
        position.do_move(m);
    }
    position
}

/// Searches all positions of a game, the last one first; `None` for the positions before Ctrl-C.
fn searches(
    game: &Game,
    over: &[bool],
    analyst: &mut Analyst,
    on_progress: &mut dyn FnMut(usize),
) -> Vec<Option<Look>> {
    let mut position = last_position(game);
    let mut looks: Vec<Option<Look>> = vec![None; over.len()];
    for i in (0..over.len()).rev() {
        let here = position.recent();
        let look = if over[i] { Some(Look::over(&here)) } else { analyst.look(&here) };
        let Some(look) = look else { break };
        if look.is_drawn_by_rule(&here) {
            // The values in the table depend on the history of these positions.
            analyst.forget();
        }
        looks[i] = Some(look);
        on_progress(LOOK * (over.len() - i));
        if i > 0 {
            position.undo_move();
        }
    }
    looks
}

/// Searches the positions around doubtful moves longer, the last ones first, and replaces their results, until no
/// doubtful move has a result of the first searches.
fn confirm(game: &Game, over: &[bool], looks: &mut [Option<Look>], wishes: Wishes, analyst: &mut Analyst) {
    let mut longer = vec![false; looks.len()];
    loop {
        let mut changed = false;
        let mut position = last_position(game);
        for (i, &m) in game.moves.iter().enumerate().rev() {
            let reached = position.recent();
            position.undo_move();
            let here = position.recent();
            let wanted = wishes.side.is_none_or(|side| side == here.turn()) && !over[i];
            let doubtful = |looks: &[Option<Look>]| searched(looks, i).is_some_and(|both| both.is_doubtful(m));
            if !wanted || longer[i] && longer[i + 1] || !doubtful(looks) {
                continue;
            }
            for (at, position) in [(i + 1, &reached), (i, &here)] {
                if !longer[at] && !over[at] {
                    let Some(look) = analyst.look_longer(position) else { return };
                    looks[at] = Some(look);
                }
                longer[at] = true;
            }
            changed = true;
            let Some(both) = searched(looks, i) else { return };
            match contested(&here, m, &both, analyst) {
                Ok(Some(look)) => looks[i] = Some(look),
                Ok(None) => {}
                Err(_) => return,
            }
        }
        if !changed {
            return;
        }
    }
}

/// The searches before and after a move.
fn searched(looks: &[Option<Look>], i: usize) -> Option<Searched> {
    Some(Searched { before: looks[i].clone()?, after: looks[i + 1].clone()? })
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
fn played(game: &Game, looks: &[Option<Look>]) -> Vec<PlayedMove> {
    let phases = phases(positions(game));
    let one = |(i, (&m, (before, after))): (usize, (&Move, (Position, Position)))| {
        let chess960 = before.castling_mode() == CastlingMode::Chess960;
        PlayedMove {
            ply: i + 1,
            number: before.fullmoves(),
            side: before.turn().fold_wb("white", "black"),
            san: before.san(m),
            uci: before.uci(m, chess960),
            fen: after.fen(),
            phase: phases[i],
            clock: remarks::command(&game.remarks[i + 1], "clk"),
            evaluation: looks[i + 1].as_ref().map(|look| evaluation(look, &after)),
            loss: None,
            loss_cp: None,
            accuracy: None,
            mark: None,
            better: Vec::new(),
            engine: looks[i].as_ref().and_then(|look| better(&before, look).into_iter().next()),
            refutation: None,
            reasons: Vec::new(),
            attempts: Vec::new(),
            m,
        }
    };
    let around = positions(game).zip(positions(game).skip(1));
    game.moves.iter().zip(around).enumerate().map(one).collect()
}

/// Judges a move, and adds reasons if `detail` requires them. A move of opening theory has no bad mark, unless it is a
/// large blunder.
fn judge(
    played: &mut PlayedMove,
    position: &Position,
    searched: &Searched,
    in_theory: bool,
    analyst: &mut Analyst,
    detail: Detail,
) {
    let (before, after) = (&searched.before, &searched.after);
    let is_best = searched.is_best(played.m);
    let then = searched.then();
    let points = if is_best { 0.0 } else { (winning(before.score) - winning(then)).max(0.0) };
    let centipawns = mark::centipawns(before.score) - mark::centipawns(then);
    played.loss = Some(tenth(points));
    played.loss_cp = Some(if is_best { 0 } else { centipawns.max(0) });
    played.accuracy = Some(tenth(mark::accuracy(points, 0.0)));
    let mut second = None;
    if is_best {
        let good = good_mark(position, played.m, searched, analyst);
        played.mark = good.as_ref().map(|good| good.mark);
        second = good.map(|good| good.second);
    } else {
        let bad = searched.bad_mark(played.m);
        played.mark = bad.filter(|mark| !in_theory || *mark == Mark::Blunder && points >= THEORY_BLUNDER);
        played.better = better(position, before);
    }
    let Some(mark) = played.mark else { return };
    if mark.is_bad() {
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

// Values of all legal moves at a mistake: the answers of the page when a reader tries another move.
//
// A short search of each move finds the bad ones. At most [`MAX_GOOD`] of the others get a longer search. All these
// searches together cost about as much as three positions of the game.

/// Divisor of a position's limits for the first search of a move.
const FIRST_PART: u32 = 32;
/// Divisor of a position's limits for the second search.
const SECOND_PART: u32 = 4;
/// Maximum number of moves that are tried a second time.
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
struct Tried {
    m: Move,
    reached: Position,
    look: Look,
}

impl Tried {
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
        let look =
            if m == known.played { known.after.clone() } else { analyst.look_for_part(&reached, FIRST_PART, 1)? };
        all.push(Tried { m, reached, look });
    }
    let mark = |tried: &Tried| bad_mark(known.before.score, tried.score());
    let mut good: Vec<usize> =
        (0..all.len()).filter(|&i| all[i].m != known.played && mark(&all[i]).is_none()).collect();
    good.sort_by(|&a, &b| rank(all[b].score()).cmp(&rank(all[a].score())));
    for &i in good.iter().take(MAX_GOOD) {
        all[i].look = analyst.look_for_part(&all[i].reached, SECOND_PART, 1)?;
    }
    // As in the review, the move that the engine prefers has no mark.
    let attempt = |tried: &Tried| {
        let is_best = known.before.best() == Some(tried.m);
        Attempt {
            m: tried.m,
            is_best,
            mark: mark(tried).filter(|_| !is_best),
            value: value(position, known, tried, is_best),
            reply: tried.look.best().filter(|_| tried.look.depth > 0),
        }
    };
    Some(all.iter().map(attempt).collect())
}

/// The value shown: the result of the longest search of the move.
fn value(position: &Position, known: &Known, tried: &Tried, is_best: bool) -> Evaluation {
    if is_best { evaluation(known.before, position) } else { evaluation(&tried.look, &tried.reached) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation::pgn;
    use crate::review::analyst::tests::analyst;
    use crate::review::mark::Eval;

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
        assert_eq!(mark(found, "3. Nxh4"), None, "it captures what hangs");
        assert_eq!(mark(found, "3. O-O"), Some(Mark::Blunder));
        // Only the king's move holds the draw.
        let opposition = "8/8/8/8/6k1/5p2/5K2/8 w - - 0 1";
        assert_eq!(mark(opposition, "1. Kf1"), Some(Mark::Only));
        // A recapture is not marked as an only move, and in the initial position every move is good.
        let before = "rnb1kbnr/pppp1ppp/8/4p3/4P2N/5q2/PPPP1PPP/R2QK2R b KQkq - 0 3";
        assert_eq!(mark(before, "3... Qxd1+ 4. Rxd1"), None);
        assert_eq!(mark(&Position::startpos().fen(), "1. e4"), None);
    }

    #[test]
    fn draws_by_rule_have_no_marks_and_the_value_zero() {
        let rooks = "[FEN \"7k/6pp/8/8/8/2Q5/5PPP/6K1 w - - 0 1\"]\n\n";
        let moves = "1. Qd3 Kg8 2. Qc3 Kh8 3. Qd3 Kg8 4. Qc3 Kh8 5. Qa3 Kg8 6. Qc3 Kh8 7. Qc8# *\n";
        let review = reviewed(&format!("{rooks}{moves}"), 10_000, ALL);
        let eval = |i: usize| review.moves[i].evaluation.as_ref().map(|e| (e.eval, e.depth));
        for i in 7..12 {
            assert_eq!(eval(i), Some((Eval::Cp(0), 0)), "{}", review.moves[i].san);
        }
        assert_eq!(eval(12), Some((Eval::Mate(0), 0)));
        for played in &review.moves[8..] {
            assert_eq!((played.mark, played.loss, played.accuracy), (None, None, None), "{}", played.san);
        }
        // White allowed the draw.
        assert_eq!(review.moves[6].mark, Some(Mark::Blunder));
    }

    #[test]
    fn book_moves_have_no_bad_mark_unless_they_are_blunders() {
        let marks = |moves: &str| -> Vec<Option<Mark>> {
            reviewed(&format!("{moves} *\n"), 4000, ALL).moves.iter().map(|played| played.mark).collect()
        };
        assert!(marks("1. e4 e5 2. f4 d5 3. exd5 c6").iter().all(|mark| mark.is_none_or(|mark| !mark.is_bad())));
        assert_eq!(marks("1. f3 e5 2. g4 Qh4#")[2], Some(Mark::Blunder));
    }

    #[test]
    fn game_of_many_plies_keeps_little_history() {
        let shuffle = "Nf3 Nf6 Ng1 Ng8 ".repeat(5000);
        let games = pgn::read(format!("{shuffle}*\n").as_bytes()).expect("a text");
        let game = games[0].as_ref().expect("a game");
        assert!(game.moves.len() > 19_000);
        let history = positions(game).map(|position| position.history_len()).max();
        assert_eq!(history, Some(100));
        let keys = last_position(game).key();
        assert_eq!(positions(game).last().map(|position| position.key()), Some(keys));
    }
}

#[cfg(test)]
mod retry_tests {
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
