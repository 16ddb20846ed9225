use super::*;
use crate::board::Square;
use crate::search::score::Value;
use crate::search::tests::position;
use crate::util::rng::SplitMix64;

fn found(to: Square, value: Value, depth: i32) -> ThreadResult {
    let m = Move::new(Square::E2, to).expect("not a1a1");
    let mut root = RootMove::new(m);
    root.value = value;
    ThreadResult { depth, roots: vec![root] }
}

fn choice(all: &[ThreadResult]) -> Square {
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
fn votes_for(all: &[ThreadResult], to: Square) -> i64 {
    let value = |found: &ThreadResult| i64::from(found.roots[0].value);
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
        let all: Vec<ThreadResult> = (0..2 + rng.below(8))
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

/// When the search ended, and what its clock showed.
#[derive(Default)]
struct EndRecorder {
    end: Mutex<Option<(Instant, std::time::Duration)>>,
}

impl Reporter for EndRecorder {
    fn line(&self, _: &Line, _: &Progress) {}

    fn done(&self, outcome: &Outcome) {
        *self.end.lock() = Some((Instant::now(), outcome.progress.time));
    }
}

#[test]
fn clock_of_a_search_starts_after_the_earlier_search() {
    let mut pool = ThreadPool::new(Network::embedded(), 1, 1);
    let (first, second) = (Arc::new(EndRecorder::default()), Arc::new(EndRecorder::default()));
    let root = position("8/8/8/3k4/8/8/8/KR6 w - - 0 1");
    let infinite = Limits { infinite: true, ..Limits::default() };
    pool.go(root.clone(), infinite, SearchOptions::default(), first.clone());
    let controller = pool.controller();
    // The second `go` waits until this thread stops the first search.
    let stopper = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(200));
        controller.stop();
    });
    let one = Limits { depth: Some(1), ..Limits::default() };
    pool.go(root, one, SearchOptions::default(), second.clone());
    pool.wait();
    stopper.join().expect("no panic");
    let (first_end, _) = first.end.lock().expect("an outcome");
    let (second_end, time) = second.end.lock().expect("an outcome");
    assert!(time <= second_end - first_end, "the clock of the second search ran during the first");
}
