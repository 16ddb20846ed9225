//! The search as a library: mates, draws, limits, threads, determinism.

mod common;

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::shared;
use zoothera::board::{CastlingMode, Move, Position};
use zoothera::nnue::Network;
use zoothera::search::{
    Limits, Line, Outcome, Progress, Reporter, Score, ScoreBound, SearchOptions, SideClock, ThreadPool,
};

/// Reporter that stores every line.
#[derive(Default)]
struct Recorder {
    lines: Mutex<Vec<Line>>,
    done: Mutex<usize>,
}

impl Reporter for Recorder {
    fn line(&self, line: &Line, _: &Progress) {
        self.lines.lock().expect("no panic").push(line.clone());
    }
    fn done(&self, _: &Outcome) {
        *self.done.lock().expect("no panic") += 1;
    }
}

fn pool(threads: usize) -> ThreadPool {
    ThreadPool::new(Network::embedded(), threads, 16)
}

fn position(fen: &str) -> Position {
    Position::from_fen(fen, CastlingMode::Standard).expect(fen)
}

fn search(pool: &mut ThreadPool, fen: &str, limits: Limits) -> Outcome {
    let recorder = Arc::new(Recorder::default());
    let outcome = pool.search(position(fen), limits, SearchOptions::default(), recorder.clone());
    assert_eq!(*recorder.done.lock().expect("no panic"), 1, "exactly one outcome");
    outcome
}

fn depth(depth: i32) -> Limits {
    Limits { depth: Some(depth), ..Limits::default() }
}

/// Plays the line. Returns whether it ends in checkmate.
fn ends_in_mate(fen: &str, pv: &[Move]) -> bool {
    let mut position = position(fen);
    for &m in pv {
        assert!(position.legal_moves().contains(&m), "illegal move in {pv:?} of {fen}");
        position.do_move(m);
    }
    position.in_check() && position.legal_moves().is_empty()
}

const MATES: &[(&str, i32)] = &[
    ("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1", 1),
    ("7k/8/5K2/6Q1/8/8/8/8 w - - 0 1", 1),
    ("r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4", 1),
    ("2bqkbn1/2pppp2/np2N3/r3P1p1/p2N2B1/5Q2/PPPPKPP1/RNB2r2 w KQkq - 0 1", 2),
    ("r5rk/5p1p/5R2/4B3/8/8/7P/7K w - - 0 1", 3),
];

/// A quiet sacrifice and a zugzwang. Pruning by evaluation hides the mate, so only a `go mate` search must find it.
const HIDDEN_MATE: (&str, i32) = ("kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1", 2);

#[test]
fn search_finds_mates_with_exact_length() {
    let mut pool = pool(1);
    for &(fen, moves) in MATES {
        pool.clear();
        let outcome = search(&mut pool, fen, depth(24));
        let line = outcome.line.expect("a line");
        assert_eq!(line.score, Score::Mate(moves), "{fen}");
        assert_eq!(line.pv.len() as i32, 2 * moves - 1, "{fen}");
        assert!(ends_in_mate(fen, &line.pv), "{fen}");
        assert_eq!(line.bound, ScoreBound::Exact);
        assert_eq!(outcome.best, line.pv.first().copied());
    }
}

#[test]
fn mate_limit_ends_the_search() {
    let mut pool = pool(1);
    for &(fen, moves) in MATES.iter().chain([&HIDDEN_MATE]) {
        let limits = Limits { mate: Some(moves), ..Limits::default() };
        let outcome = search(&mut pool, fen, limits);
        assert_eq!(outcome.line.map(|line| line.score), Some(Score::Mate(moves)), "{fen}");
    }
}

/// Endings with shuffling pieces, where many lines have the same value.
const SHUFFLING: [&str; 4] = [
    "8/3KP3/6R1/1q1k4/8/8/8/8 w - - 12 96",
    "8/8/5k2/8/2q5/8/4R3/3QK3 w - - 0 1",
    "8/5k2/3r4/8/8/2B5/1P3K2/8 b - - 0 1",
    "4r1k1/5ppp/8/8/8/8/5PPP/1Q4K1 w - - 0 1",
];

#[test]
fn lines_are_legal_and_stop_at_the_end_of_the_game() {
    let mut pool = pool(1);
    for fen in SHUFFLING {
        let mut game = position(fen);
        for _ in 0..40 {
            let recorder = Arc::new(Recorder::default());
            let options = SearchOptions::default();
            let outcome = pool.search(game.clone(), depth(12), options, recorder.clone());
            for line in recorder.lines.lock().expect("no panic").iter() {
                let mut position = game.clone();
                for (ply, &m) in line.pv.iter().enumerate() {
                    let legal = position.legal_moves().contains(&m);
                    assert!(legal, "illegal move {ply} in {:?}", line.pv);
                    let over = ply > 0 && position.is_draw(0);
                    assert!(!over, "move {ply} after the end of {:?}", line.pv);
                    position.do_move(m);
                }
            }
            let Some(best) = outcome.best else { break };
            game.do_move(best);
        }
    }
}

#[test]
fn search_without_legal_move_reports_mate_or_stalemate() {
    let mut pool = pool(1);
    let mated = search(&mut pool, "7k/6Q1/6K1/8/8/8/8/8 b - - 0 1", depth(3));
    assert_eq!(mated.best, None);
    assert_eq!(mated.line.map(|line| line.score), Some(Score::Mate(0)));
    let stalemated = search(&mut pool, "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", depth(3));
    assert_eq!(stalemated.best, None);
    assert_eq!(stalemated.line.map(|line| line.score), Some(Score::Centipawns(0)));
}

#[test]
fn searchmoves_and_excludemoves_restrict_the_root() {
    let mut pool = pool(2);
    let start = Position::startpos();
    let a3 = start.parse_uci("a2a3").expect("legal");
    let h4 = start.parse_uci("h2h4").expect("legal");
    let only = Limits { search_moves: Some(vec![a3, h4]), ..depth(6) };
    let outcome = search(&mut pool, &start.fen(), only.clone());
    assert!(outcome.best == Some(a3) || outcome.best == Some(h4));
    let not = Limits { exclude_moves: vec![a3], ..only };
    assert_eq!(search(&mut pool, &start.fen(), not).best, Some(h4));
    let none = Limits { search_moves: Some(Vec::new()), ..depth(6) };
    assert_eq!(search(&mut pool, &start.fen(), none).best, None);
}

#[test]
fn node_counts_are_reproducible() {
    let fen = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
    let mut nodes = Vec::new();
    for _ in 0..2 {
        let mut pool = pool(1);
        let first = search(&mut pool, fen, depth(9)).progress.nodes;
        pool.clear();
        let again = search(&mut pool, fen, depth(9)).progress.nodes;
        nodes.extend([first, again]);
    }
    assert!(nodes.iter().all(|&n| n == nodes[0]), "{nodes:?}");
}

#[test]
fn node_limit_is_exact() {
    let mut pool = pool(1);
    for limit in [1, 100, 5_000, 50_000] {
        let limits = Limits { nodes: Some(limit), ..Limits::default() };
        let outcome = search(&mut pool, &Position::startpos().fen(), limits);
        assert!(outcome.best.is_some() && outcome.line.is_some());
        let nodes = outcome.progress.nodes;
        assert!(nodes <= limit.max(1000), "{nodes} nodes for a limit of {limit}");
    }
}

#[test]
fn multipv_ranks_distinct_moves_by_score() {
    let mut pool = pool(1);
    let recorder = Arc::new(Recorder::default());
    let options = SearchOptions { multi_pv: 4, ..SearchOptions::default() };
    pool.search(Position::startpos(), depth(8), options, recorder.clone());
    let lines = recorder.lines.lock().expect("no panic");
    let last: Vec<_> = lines.iter().rev().take(4).collect();
    let ranks: Vec<_> = last.iter().rev().map(|line| line.multipv).collect();
    assert_eq!(ranks, [1, 2, 3, 4]);
    let mut moves: Vec<_> = last.iter().map(|line| line.pv[0]).collect();
    moves.dedup();
    assert_eq!(moves.len(), 4);
    let value = |line: &Line| match line.score {
        Score::Centipawns(cp) => cp,
        Score::Mate(_) => panic!("no mate from the start"),
    };
    assert!(last.windows(2).all(|pair| value(pair[0]) <= value(pair[1])));
}

#[test]
fn stop_and_ponderhit_end_a_search_without_limit() {
    let mut pool = pool(2);
    for fen in [Position::startpos().fen(), "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1".to_owned()] {
        let recorder = Arc::new(Recorder::default());
        let limits = Limits { infinite: true, depth: Some(2), ..Limits::default() };
        pool.go(position(&fen), limits, SearchOptions::default(), recorder.clone());
        std::thread::sleep(Duration::from_millis(100));
        assert_eq!(*recorder.done.lock().expect("no panic"), 0, "infinite delays the move: {fen}");
        pool.controller().stop();
        pool.wait();
        assert_eq!(*recorder.done.lock().expect("no panic"), 1);
    }
    let recorder = Arc::new(Recorder::default());
    let clock = SideClock { time: Some(300), increment: 0 };
    let limits = Limits { ponder: true, white: clock, ..Limits::default() };
    pool.go(Position::startpos(), limits, SearchOptions::default(), recorder.clone());
    std::thread::sleep(Duration::from_millis(400));
    assert_eq!(*recorder.done.lock().expect("no panic"), 0, "pondering delays the move");
    pool.controller().ponderhit();
    pool.wait();
    assert_eq!(*recorder.done.lock().expect("no panic"), 1);
}

#[test]
fn third_repetition_is_a_draw() {
    // After two shuffles, the third occurrence is a draw by rule.
    let mut game = Position::startpos();
    for text in ["g1f3", "g8f6", "f3g1", "f6g8", "g1f3", "g8f6", "f3g1"] {
        let m = game.parse_uci(text).expect(text);
        game.do_move(m);
    }
    let back = game.parse_uci("f6g8").expect("legal");
    let mut pool = pool(1);
    let recorder = Arc::new(Recorder::default());
    let limits = Limits { search_moves: Some(vec![back]), ..depth(6) };
    let outcome = pool.search(game, limits, SearchOptions::default(), recorder);
    let Some(Score::Centipawns(cp)) = outcome.line.map(|line| line.score) else { panic!("not a mate") };
    assert!(cp.abs() <= 2, "a third repetition is a draw, not {cp}");
}

#[test]
fn perpetual_check_is_a_draw() {
    // White is lost without the perpetual check of the queen on e8 and h5.
    let fen = "6k1/6p1/8/7Q/8/8/rq4PP/7K w - - 0 1";
    let outcome = search(&mut pool(1), fen, depth(10));
    let Some(Score::Centipawns(cp)) = outcome.line.map(|line| line.score) else { panic!("not a mate") };
    assert!(cp.abs() <= 2, "perpetual check is a draw, not {cp}");
}

/// The elementary mates against a lone king.
const ELEMENTARY_MATES: [&str; 4] = [
    "8/8/8/3k4/8/8/8/KQ6 w - - 0 1",
    "8/8/8/3k4/8/8/8/KR6 w - - 0 1",
    "8/8/8/3k4/8/8/8/KBB5 w - - 0 1",
    "8/8/8/3k4/8/8/8/KBN5 w - - 0 1",
];

/// Longest mates of these endings against any defence, in plies.
// CITE: known since the first tables (Thompson).
const MOST_PLIES_TO_MATE: [usize; 4] = [19, 31, 37, 65];

/// The settings of a search that does not end at the computed distances to mate.
fn without_mate_tables() -> SearchOptions {
    SearchOptions { mate_tables: false, ..SearchOptions::default() }
}

/// The positions after each ply until `attacker` has mated an engine without tablebases, with 20,000 nodes a move. Both
/// search with `options`.
fn game_to_mate(mut attacker: ThreadPool, fen: &str, options: &SearchOptions) -> Vec<String> {
    let mut defender = pool(1);
    let mut game = position(fen);
    let mut positions = Vec::new();
    for ply in 0.. {
        if game.legal_moves().is_empty() {
            assert!(game.in_check(), "stalemate: {fen}");
            return positions;
        }
        assert!(!game.is_draw(0), "{fen} was drawn: {}", game.fen());
        let limits = Limits { nodes: Some(20_000), ..Limits::default() };
        let player = if ply % 2 == 0 { &mut attacker } else { &mut defender };
        let outcome = player.search(game.clone(), limits, options.clone(), Arc::new(Recorder::default()));
        game.do_move(outcome.best.expect("a legal move"));
        positions.push(game.fen());
    }
    unreachable!("the 50-move rule ends every game")
}

/// Searches without the computed distances to mate, whose values would end these searches.
fn search_without_mate_tables(pool: &mut ThreadPool, fen: &str, limits: Limits) -> Outcome {
    pool.search(position(fen), limits, without_mate_tables(), Arc::new(Recorder::default()))
}

/// Nodes of a search to depth 12, or about `max_nodes` if it does not finish.
fn nodes_to_depth_12(fen: &str, max_nodes: Option<u64>) -> u64 {
    let limits = Limits { nodes: max_nodes, ..depth(12) };
    search_without_mate_tables(&mut pool(1), fen, limits).progress.nodes
}

#[test]
fn search_near_fifty_move_limit_takes_at_most_four_times_the_nodes() {
    for pieces in ["7R", "7Q", "5BB1", "5BN1", "5RN1"] {
        let fen = |clock| format!("8/8/8/3k4/8/8/6K1/{pieces} w - - {clock} 1");
        let max_nodes = 4 * nodes_to_depth_12(&fen(0), None);
        for clock in (80..=98).step_by(2) {
            let nodes = nodes_to_depth_12(&fen(clock), Some(max_nodes));
            assert!(nodes < max_nodes, "more than {max_nodes} nodes: {}", fen(clock));
        }
    }
}

#[test]
fn search_finds_mate_before_fifty_move_limit() {
    for (fen, moves) in [
        ("8/8/8/8/8/2k5/7q/K7 b - - 96 1", 1),
        ("8/8/8/8/8/3k4/7q/K7 b - - 96 1", 2),
        ("7k/8/5K2/8/8/8/8/6R1 w - - 97 1", 2),
    ] {
        let found = search(&mut pool(1), fen, depth(24)).line.expect("a line");
        assert_eq!(found.score, Score::Mate(moves), "{fen}");
    }
    // One move later, the 50-move limit is reached before the mate.
    let late = search(&mut pool(1), "7k/8/5K2/8/8/8/8/6R1 w - - 98 1", depth(24));
    assert_eq!(late.line.map(|line| line.score), Some(Score::Centipawns(0)));
}

#[test]
fn search_alone_wins_elementary_mates() {
    for fen in ELEMENTARY_MATES {
        game_to_mate(pool(1), fen, &without_mate_tables());
    }
}

#[test]
fn elementary_mates_are_found_at_once_and_take_the_fewest_plies() {
    for (fen, max_plies) in ELEMENTARY_MATES.into_iter().zip(MOST_PLIES_TO_MATE) {
        let first = search(&mut pool(1), fen, depth(4)).line.expect("a line");
        let Score::Mate(moves) = first.score else { panic!("{fen}: {:?}", first.score) };
        let plies = game_to_mate(pool(1), fen, &SearchOptions::default()).len();
        assert_eq!((plies, first.pv.len()), (2 * moves as usize - 1, plies), "{fen}");
        assert!(plies <= max_plies, "{fen}: {plies} plies");
    }
}

/// A pool of one thread that uses the tablebases of a folder.
fn pool_with(tables: &Path) -> ThreadPool {
    let mut pool = pool(1);
    pool.set_syzygy_path(&tables.display().to_string()).expect("tables open");
    pool
}

/// Checks that the lone king is mated within `max_plies`, the longest mate of the ending against any defence.
fn check_mate(tables: &Path, fen: &str, max_plies: usize) {
    let plies = game_to_mate(pool_with(tables), fen, &without_mate_tables()).len();
    assert!(plies <= max_plies, "{fen}: {plies} plies");
}

#[test]
fn tablebases_mate_a_lone_king_in_the_fewest_plies() {
    for (fen, max_plies) in ELEMENTARY_MATES.into_iter().zip(MOST_PLIES_TO_MATE).take(2) {
        check_mate(&common::shared::data("syzygy"), fen, max_plies);
    }
}

#[test]
fn tablebases_of_four_pieces_win_in_the_fewest_plies() {
    let Some(tables) = common::shared::shared("syzygy") else {
        return;
    };
    for (fen, max_plies) in ELEMENTARY_MATES.into_iter().zip(MOST_PLIES_TO_MATE).skip(2) {
        check_mate(&tables, fen, max_plies);
    }
    // Against a lone piece: the plies to its capture according to the tables.
    for (fen, distance) in [
        ("8/8/8/8/K7/7r/6k1/1Q6 w - - 0 1", 43),
        ("8/2K5/6r1/8/3k4/7Q/8/8 w - - 0 1", 19),
        ("3k4/8/n7/8/8/5K2/8/7Q w - - 0 1", 13),
        ("8/8/8/5Q2/2b5/7K/3k4/8 w - - 0 1", 19),
    ] {
        let game = game_to_mate(pool_with(&tables), fen, &SearchOptions::default());
        let captured = game.iter().position(|fen| pieces(fen) == 3);
        let plies = captured.unwrap_or(game.len());
        // Tables that store distances in moves can be wrong by one ply.
        assert!(plies <= distance + 1, "{fen}: {plies} plies");
    }
    // The search must not give a queen to the lone king, although its capture is the next zeroing move.
    check_mate(&tables, "1K6/8/5k2/3Q4/2Q5/8/8/8 w - - 0 1", 3);
    // KBN v K is a win that a shallow search does not find.
    check_root_score(&mut pool_with(&tables), "8/8/8/3k4/8/8/8/KBN5 w - - 0 1", true);
    // A lone knight draws.
    let drawn = "8/8/8/3k4/8/8/1r6/K1N5 w - - 0 1";
    check_root_score(&mut pool_with(&tables), drawn, false);
}

/// Checks whether a search to depth 6 reports a win (tablebase win or mate).
fn check_root_score(pool: &mut ThreadPool, fen: &str, is_won: bool) {
    let found = search(pool, fen, depth(6));
    let win = match found.line.expect("a line").score {
        Score::Centipawns(cp) => cp > 15_000,
        Score::Mate(moves) => moves > 0,
    };
    assert_eq!(win, is_won, "{fen}");
}

/// Number of pieces in a FEN.
fn pieces(fen: &str) -> usize {
    let board = fen.split(' ').next().unwrap_or_default();
    board.chars().filter(char::is_ascii_alphabetic).count()
}

#[test]
fn tablebases_decide_the_root_score() {
    let mut pool = pool(1);
    let tables = common::shared::data("syzygy");
    let loaded = pool.set_syzygy_path(&tables.display().to_string()).expect("tables open");
    assert_eq!((loaded.files, loaded.pieces), (10, 3), "{loaded:?}");
    // A king two ranks in front of its pawn wins; a king behind its pawn draws.
    let won = "8/4k3/8/8/4K3/8/4P3/8 w - - 0 1";
    check_root_score(&mut pool, won, true);
    // With one more man, the search reaches the tables by a capture.
    let four_pieces = "8/4k3/8/8/4K3/4n3/4P3/8 w - - 0 1";
    assert!(search_without_mate_tables(&mut pool, four_pieces, depth(8)).progress.tb_hits > 0);
    check_root_score(&mut pool, "8/8/8/4k3/4P3/4K3/8/8 w - - 0 1", false);
    // A failed change keeps the tables in use.
    assert!(pool.set_syzygy_path("/no/such/place").is_err());
    check_root_score(&mut pool, won, true);
}

fn is_won_by_mate(score: Score) -> bool {
    matches!(score, Score::Mate(moves) if moves > 0)
}

/// Searches a won ending. Checks that no exact score but a mate follows a mate. Returns the exact scores and the last
/// one.
fn scores_of_won_ending(pool: &mut ThreadPool, fen: &str, nodes: u64) -> (Vec<Score>, Score) {
    let recorder = Arc::new(Recorder::default());
    let limits = Limits { nodes: Some(nodes), ..Limits::default() };
    let outcome = pool.search(position(fen), limits, SearchOptions::default(), recorder.clone());
    let lines = recorder.lines.lock().expect("no panic");
    let exact = lines.iter().filter(|line| line.bound == ScoreBound::Exact).map(|line| line.score);
    let last = outcome.line.expect("a line").score;
    let scores: Vec<Score> = exact.chain([last]).collect();
    let first = scores.iter().position(|&score| is_won_by_mate(score)).unwrap_or(scores.len());
    assert!(scores[first..].iter().all(|&score| is_won_by_mate(score)), "{fen}: {scores:?}");
    (scores, last)
}

#[test]
#[ignore = "slow: up to 40 million nodes; run by make check-slow"]
fn elementary_mates_are_found_and_kept() {
    // One pool for all, so that the table has entries of the positions before.
    let mut used = pool(1);
    for fen in ELEMENTARY_MATES {
        for pool in [&mut pool(1), &mut used] {
            let (scores, last) = scores_of_won_ending(pool, fen, 5_000_000);
            assert!(is_won_by_mate(last), "{fen}: {last:?}");
            assert!(scores.iter().all(|score| score.tablebase().is_none()), "{fen}: {scores:?}");
        }
    }
}

/// Fifty endings that the side to move wins.
const WON_ENDINGS: &str = include_str!("data/epd/won-endings.epd");

/// Searches the won endings with `pool` and checks their scores. Returns the number of mates and of tablebase wins.
fn decided_endings(mut pool: impl FnMut() -> ThreadPool) -> (usize, usize) {
    let (mut mates, mut tablebase_wins) = (0, 0);
    for fen in WON_ENDINGS.lines().filter(|line| !line.starts_with('#')) {
        let (_, last) = scores_of_won_ending(&mut pool(), fen, 5_000_000);
        match last {
            Score::Mate(moves) => assert!(moves > 0, "{fen}: {last:?}"),
            Score::Centipawns(cp) => assert!(cp > 100, "{fen}: {last:?}"),
        }
        mates += usize::from(is_won_by_mate(last));
        tablebase_wins += usize::from(last.tablebase() == Some(true));
    }
    (mates, tablebase_wins)
}

#[test]
#[ignore = "slow: 250 million nodes; run by make check-slow"]
fn won_endings_are_won_without_tablebases() {
    // MEASURED: 49 mates (Stockfish 15.1: 48).
    let (mates, tablebase_wins) = decided_endings(|| pool(1));
    assert!(mates >= 45 && tablebase_wins == 0, "{mates} mates, {tablebase_wins} tablebase wins");
}

#[test]
#[ignore = "slow: 250 million nodes; run by make check-slow"]
fn won_endings_are_won_with_tablebases() {
    let Some(tables) = shared::shared("syzygy") else {
        return;
    };
    let (mates, tablebase_wins) = decided_endings(|| pool_with(&tables));
    assert!(mates + tablebase_wins == 50, "{mates} mates, {tablebase_wins} tablebase wins");
}

#[test]
fn analysis_of_a_short_mate_ends_by_itself() {
    let mut pool = pool(1);
    let mate = "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1";
    let outcome = search(&mut pool, mate, Limits { nodes: Some(50_000_000), ..Limits::default() });
    let line = outcome.line.expect("a line");
    assert_eq!(line.score, Score::Mate(1));
    assert!(outcome.progress.nodes < 50_000_000 && line.depth >= 20, "{line:?}");
    let deep = search(&mut pool, mate, depth(40)).line.expect("a line");
    assert_eq!((deep.score, deep.depth), (Score::Mate(1), 40));
}
