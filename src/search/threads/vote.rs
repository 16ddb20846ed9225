//! The end of a search: the thread vote, and the outcome.

use super::job::{Job, Signals};
use crate::board::Move;
use crate::search::params;
use crate::search::report::{Line, Outcome, Score, ScoreBound};
use crate::search::root::lines;
use crate::search::root::root_move::RootMove;
use crate::search::score;
use crate::search::tables::tt;

/// Result of one thread.
pub struct Findings {
    /// The last completed depth.
    pub depth: i32,
    /// The root moves, best first.
    pub roots: Vec<RootMove>,
}

/// The best thread's best move, with its final line.
pub fn outcome(job: &Job, signals: &Signals, all: &[Findings]) -> Outcome {
    let progress = job.progress(signals);
    let Some(winner) = vote(all) else {
        return Outcome { line: no_move(job), progress, ..Outcome::without_search(None) };
    };
    let best = &winner.roots[0];
    let mut lines = lines::final_lines(job, &winner.roots, winner.depth).into_iter();
    let line = lines.next();
    let expected = line.as_ref().and_then(|line| line.pv.get(1).copied());
    Outcome {
        best: Some(best.m),
        ponder: expected.or_else(|| expected_reply(job, best.m)),
        line,
        others: lines.collect(),
        progress,
    }
}

/// A legal move, if there is one, for the case that every thread failed.
pub(super) fn fallback(job: &Job) -> Outcome {
    Outcome::without_search(job.root_moves.first().map(|root| root.m))
}

/// The line of a position without legal moves: mated or stalemated. `None` if moves were only excluded.
fn no_move(job: &Job) -> Option<Line> {
    if !job.position.legal_moves().is_empty() {
        return None;
    }
    let mated = job.position.in_check();
    let score = if mated { Score::Mate(0) } else { Score::Centipawns(0) };
    let wdl = if mated { [0, 0, 1000] } else { [0, 1000, 0] };
    let line = Line { depth: 0, seldepth: 0, multipv: 1, score, bound: ScoreBound::Exact, wdl, pv: Vec::new() };
    Some(line)
}

/// The table's reply to `best`, for a principal variation that ends there.
fn expected_reply(job: &Job, best: Move) -> Option<Move> {
    let mut position = job.position.clone();
    position.do_move(best);
    let answer = job.table.probe(tt::key_of(&position))?.best?;
    (position.pseudo_legal(answer) && position.legal(answer)).then_some(answer)
}

/// The winner of the thread vote. Every thread votes for its best move, weighted by depth and value. Among proven
/// wins, the shortest is chosen.
// CITE: the vote of Stockfish's thread pool; weight and offset as in Stockfish 17.1.
fn vote(all: &[Findings]) -> Option<&Findings> {
    // A thread that reached a limit in its first iteration has almost no result to compare.
    let all: Vec<&Findings> = match all.iter().filter(|found| found.depth > 0).collect::<Vec<_>>() {
        nobody if nobody.is_empty() => return all.first(),
        some => some,
    };
    let value = |found: &Findings| found.roots[0].known_value();
    let min_value = all.iter().map(|found| value(found)).min()?;
    let weight =
        |found: &Findings| i64::from(value(found) - min_value + params::vote_offset()) * i64::from(found.depth.max(1));
    let votes = |found: &Findings| -> i64 {
        let m = found.roots[0].m;
        all.iter().filter(|other| other.roots[0].m == m).map(|other| weight(other)).sum()
    };
    let mut best = all[0];
    for &found in &all[1..] {
        let better = if score::is_win(value(best)) {
            value(found) > value(best)
        } else {
            score::is_win(value(found)) || (votes(found), weight(found)) > (votes(best), weight(best))
        };
        if better {
            best = found;
        }
    }
    Some(best)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Square;
    use crate::search::score::Value;
    use crate::util::rng::SplitMix64;

    fn found(to: Square, value: Value, depth: i32) -> Findings {
        let m = Move::new(Square::E2, to).expect("not a1a1");
        let mut root = RootMove::new(m);
        root.value = value;
        Findings { depth, roots: vec![root] }
    }

    fn choice(all: &[Findings]) -> Square {
        vote(all).expect("someone voted").roots[0].m.to()
    }

    #[test]
    fn two_votes_beat_one_slightly_deeper_vote() {
        let all = [found(Square::E3, 10, 11), found(Square::E4, 12, 10), found(Square::E4, 11, 10)];
        assert_eq!(choice(&all), Square::E4);
    }

    #[test]
    fn shortest_proven_win_is_chosen() {
        let all = [
            found(Square::E3, 500, 20),
            found(Square::E4, score::mate_in(9), 12),
            found(Square::D3, score::mate_in(5), 10),
        ];
        assert_eq!(choice(&all), Square::D3);
    }

    /// Sum of the weights of the threads that chose the move to `to`, computed from its definition.
    fn votes_for(all: &[Findings], to: Square) -> i64 {
        let value = |found: &Findings| i64::from(found.roots[0].value);
        let completed = || all.iter().filter(|found| found.depth > 0);
        let worst = completed().map(value).min().expect("a thread");
        let agree = completed().filter(|found| found.roots[0].m.to() == to);
        agree.map(|found| (value(found) - worst + i64::from(params::vote_offset())) * i64::from(found.depth)).sum()
    }

    #[test]
    fn chosen_move_has_most_votes_or_the_shortest_win() {
        let mut rng = SplitMix64::new(7);
        let (mut wins, mut outvoted) = (0, 0);
        for _ in 0..5000 {
            let all: Vec<Findings> = (0..2 + rng.below(8))
                .map(|_| {
                    let to = [Square::E3, Square::E4, Square::D3][rng.below(3)];
                    let value = match rng.below(12) {
                        0 => score::mate_in(1 + rng.below(30)),
                        1 => score::mated_in(1 + rng.below(30)),
                        _ => rng.below(200) as Value - 100,
                    };
                    found(to, value, rng.below(20) as i32)
                })
                .collect();
            if all.iter().all(|found| found.depth == 0) {
                continue;
            }
            let winner = vote(&all).expect("a thread");
            let completed = || all.iter().filter(|found| found.depth > 0);
            let best = completed().map(|found| found.roots[0].value).max().expect("a thread");
            assert!(winner.depth > 0, "a thread without a completed iteration was chosen");
            if score::is_win(best) {
                wins += 1;
                assert_eq!(winner.roots[0].value, best);
            } else {
                let to = winner.roots[0].m.to();
                assert!(completed().all(|found| votes_for(&all, found.roots[0].m.to()) <= votes_for(&all, to)));
                outvoted += usize::from(winner.roots[0].value < best);
            }
        }
        assert!(wins > 300 && outvoted > 300, "{wins} {outvoted}");
    }

    #[test]
    fn deepest_of_the_threads_with_the_chosen_move_is_reported() {
        let all = [found(Square::E4, 10, 9), found(Square::E4, 10, 12), found(Square::E3, 10, 11)];
        assert_eq!(vote(&all).map(|found| found.depth), Some(12));
    }

    #[test]
    fn vote_without_threads_is_none() {
        assert!(vote(&[]).is_none());
    }
}
