//! Levels below full strength: levels reply to first moves as people do, those above 1300 seldom leave a piece to a
//! capture, and every level wins elementary endings.

mod common;

use std::thread;

use zoothera::board::{CastlingMode, Color, Move, Position, Role, Square};
use zoothera::level::Level;
use zoothera::nnue::Network;
use zoothera::search::{Limits, STACK_BYTES, Solo, score};
use zoothera::util::rng::SplitMix64;

/// Maximum number of full moves to mate in an elementary ending, by the 50-move rule.
const MAX_MOVES: usize = 50;
/// The endings: their names, and White's pieces without the king.
const ENDINGS: [(&str, &[Role]); 4] = [
    ("KQK", &[Role::Queen]),
    ("KRK", &[Role::Rook]),
    ("KBBK", &[Role::Bishop, Role::Bishop]),
    ("KBNK", &[Role::Bishop, Role::Knight]),
];

/// Runs `work` on a thread with the stack size that the search requires.
fn with_stack(work: impl FnOnce() + Send + 'static) {
    let thread = thread::Builder::new().stack_size(STACK_BYTES);
    if let Err(panic) = thread.spawn(work).expect("a thread").join() {
        std::panic::resume_unwind(panic);
    }
}

/// A random legal position of White's pieces against a bare king that cannot capture any of them, White to move.
fn ending(pieces: &[Role], rng: &mut SplitMix64) -> Position {
    loop {
        let mut squares: Vec<Square> = Vec::new();
        while squares.len() < pieces.len() + 2 {
            let square = Square::new(rng.below(64) as u32);
            if !squares.contains(&square) {
                squares.push(square);
            }
        }
        let fen = placement(pieces, &squares);
        let Ok(position) = Position::from_fen(&fen, CastlingMode::Standard) else {
            continue;
        };
        let bishops = position.pieces(Color::White, Role::Bishop);
        let light = bishops.into_iter().filter(|square| square.is_light());
        let same_colour = bishops.count() == 2 && light.count() != 1;
        let near = |square: &Square| square.distance(squares[1]) < 2;
        if !same_colour && !squares[2..].iter().any(near) {
            return position;
        }
    }
}

/// The FEN with White's king on the first square, Black's on the second, and White's pieces on the others.
fn placement(pieces: &[Role], squares: &[Square]) -> String {
    let on = |square: Square| match squares.iter().position(|&other| other == square)? {
        0 => Some('K'),
        1 => Some('k'),
        n => Some(pieces[n - 2].upper_char()),
    };
    let ranks: Vec<String> =
        (0..8).rev().map(|rank| (0..8).map(|file| on(Square::new(8 * rank + file)).unwrap_or('1')).collect()).collect();
    format!("{} w - - 0 1", ranks.join("/"))
}

/// Plays `position` to the end: a level with the pieces against a defender at full strength. Returns the number of
/// moves to mate, or a description of the failure.
fn conversion(level: Level, mut position: Position) -> Result<usize, String> {
    let start = position.fen();
    let mut winner = Solo::new(Network::embedded(), 1);
    winner.set_level(Some(level));
    let mut defender = Solo::new(Network::embedded(), 1);
    let defence = Limits { nodes: Some(3000), ..Limits::default() };
    for moves in 0..MAX_MOVES {
        let found = winner.search(&position, &Limits::default());
        position.do_move(found.expect("a move").m);
        let Some(answer) = defender.search(&position, &defence) else {
            let mated = position.in_check();
            return mated.then_some(moves + 1).ok_or_else(|| format!("{start}: stalemate in {}", position.fen()));
        };
        position.do_move(answer.m);
    }
    Err(format!("{start}: no mate after {MAX_MOVES} moves: {}", position.fen()))
}

/// Checks that levels of all `elos` win `positions` random positions of each ending.
fn convert(elos: &[i32], positions: usize) {
    let mut rng = SplitMix64::new(common::seed::seed(1));
    for (name, pieces) in ENDINGS {
        for &elo in elos {
            let (mut longest, mut problems) = (0, Vec::new());
            for _ in 0..positions {
                let level = Level::of(elo, rng.next_u64());
                match conversion(level, ending(pieces, &mut rng)) {
                    Ok(moves) => longest = longest.max(moves),
                    Err(problem) => problems.push(problem),
                }
            }
            assert!(problems.is_empty(), "{name} at {elo}: {problems:?}");
            println!("{name} at {elo}: won {positions} of {positions}, in at most {longest} moves");
        }
    }
}

/// Percentage of 200 games, each with its own seed, in which a level answers `first` with one of the moves `common`.
fn common_replies(elo: i32, first: &str, common: &[&str]) -> usize {
    const GAMES: u64 = 200;
    let mut position = Position::startpos();
    position.do_move(position.parse_san(first).expect(first));
    let mut player = Solo::new(Network::embedded(), 1);
    let replies = (1..=GAMES).filter(|&seed| {
        player.set_level(Some(Level::of(elo, seed)));
        let found = player.search(&position, &Limits::default()).expect("a move");
        common.contains(&position.san(found.m).as_str())
    });
    replies.count() * 100 / GAMES as usize
}

#[test]
fn levels_answer_first_moves_as_people_do() {
    // Moves that at least one person in fifty plays.
    let to_e4 = ["e5", "c5", "e6", "c6", "d5", "d6", "g6", "Nf6"];
    let to_d4 = ["d5", "Nf6", "e6", "f5", "d6", "g6", "c6", "c5"];
    with_stack(move || {
        for (first, common) in [("e4", to_e4), ("d4", to_d4)] {
            for (elo, min_share) in [(1500, 90), (800, 75)] {
                let share = common_replies(elo, first, &common);
                println!("{elo} answers 1. {first} with a common move in {share} % of games");
                assert!(share >= min_share, "{elo} after 1. {first}: {share} %");
            }
        }
    });
}

/// The opponent's captures that, by the exchange value, win at least a minor piece for a pawn after `m`, net of what
/// `m` itself wins; and the position after `m`.
fn captures_of_a_piece(position: &Position, m: Move) -> (Position, Vec<Move>) {
    let value = |role: Role| [100, 300, 300, 500, 900, 0][role as usize - 1];
    let won = position.captured(m).map_or(0, value);
    let mut after = position.clone();
    after.do_move(m);
    let wins = |&reply: &Move| after.is_capture(reply) && after.see_ge(reply, won + 200);
    let captures = after.legal_moves().iter().copied().filter(wins).collect();
    (after, captures)
}

/// Value of a position in centipawns by a search of 10,000 nodes at full strength, of all moves or only `moves`.
fn full_strength_value(judge: &mut Solo, position: &Position, moves: Option<Vec<Move>>) -> i32 {
    const MAX_CENTIPAWNS: i32 = 1500;
    judge.clear();
    let limits = Limits { nodes: Some(10_000), search_moves: moves, ..Limits::default() };
    let value = judge.search(position, &limits).map_or(0, |found| found.value);
    (value * 100 / score::piece_value(Role::Pawn)).clamp(-MAX_CENTIPAWNS, MAX_CENTIPAWNS)
}

/// Whether `m` leaves a piece to a capture: another move would not, and that capture gains at least 200 centipawns over
/// the best move by searches at full strength. So counter-attacks and captures by pinned pieces do not count.
fn leaves_a_piece(judge: &mut Solo, position: &Position, m: Move) -> bool {
    let (after, captures) = captures_of_a_piece(position, m);
    let is_safe = |&other: &Move| captures_of_a_piece(position, other).1.is_empty();
    if captures.is_empty() || !position.legal_moves().iter().any(is_safe) {
        return false;
    }
    let kept = -full_strength_value(judge, &after, Some(captures));
    full_strength_value(judge, position, None) - kept >= 200
}

/// Plays `games` of 80 plies of a level, or of full strength with 3,000 nodes a move, against itself. Returns the
/// number of moves, and of those that leave a piece to a capture.
fn pieces_left(elo: Option<i32>, games: u64) -> (usize, usize) {
    let limits = Limits { nodes: elo.map_or(Some(3000), |_| None), ..Limits::default() };
    let mut judge = Solo::new(Network::embedded(), 4);
    let mut player = Solo::new(Network::embedded(), 1);
    let (mut moves, mut left) = (0, 0);
    for seed in 1..=games {
        // At full strength, level 1900 plays the opening, so that games differ.
        let opening_plies = if elo.is_some() { 0 } else { 8 };
        let mut position = Position::startpos();
        player.clear();
        for ply in 0..80 {
            let level = if ply < opening_plies { Some(1900) } else { elo };
            player.set_level(level.map(|elo| Level::of(elo, seed)));
            let Some(found) = player.search(&position, &limits) else {
                break;
            };
            moves += 1;
            left += usize::from(leaves_a_piece(&mut judge, &position, found.m));
            position.do_move(found.m);
        }
    }
    (moves, left)
}

#[test]
fn levels_above_1300_leave_a_piece_to_a_capture_in_at_most_one_move_of_a_hundred() {
    with_stack(|| {
        for (elo, max_per_mille) in [(Some(1320), 10), (Some(2100), 4), (None, 3)] {
            let (moves, left) = pieces_left(elo, 30);
            println!("{elo:?}: {left} of {moves} moves leave a piece to a capture");
            assert!(moves > 1500, "only {moves} moves");
            assert!(1000 * left <= max_per_mille * moves, "{elo:?}: {left} of {moves}");
        }
        // The measure finds pieces that are left: level 700 leaves some.
        let (moves, left) = pieces_left(Some(700), 5);
        assert!(1000 * left >= 15 * moves, "700: {left} of {moves}");
    });
}

#[test]
fn levels_win_elementary_endings() {
    with_stack(|| convert(&[500, 2000], 1));
}

#[test]
#[ignore = "slow: hundreds of endings"]
fn every_level_wins_elementary_endings() {
    with_stack(|| convert(&[500, 800, 1200, 1600, 2000, 2400, 2800, 3200], 20));
}

/// The first `plies` moves of a game of a level against itself.
fn game(elo: i32, seed: u64, plies: usize) -> Vec<String> {
    let mut side = Solo::new(Network::embedded(), 1);
    side.set_level(Some(Level::of(elo, seed)));
    let mut position = Position::startpos();
    let mut moves = Vec::new();
    while moves.len() < plies
        && let Some(found) = side.search(&position, &Limits::default())
    {
        moves.push(position.uci(found.m, false));
        position.do_move(found.m);
    }
    moves
}

#[test]
fn level_repeats_the_game_only_with_the_same_seed() {
    with_stack(|| {
        for elo in [500, 1200, 1900] {
            let first = game(elo, 1, 60);
            assert_eq!(first, game(elo, 1, 60), "{elo}");
            assert!((2..6).any(|seed| game(elo, seed, 60) != first), "{elo}");
        }
    });
}

/// A level's move depends only on the position and the seed.
#[test]
fn level_move_is_independent_of_earlier_searches() {
    with_stack(|| {
        let mut side = Solo::new(Network::embedded(), 1);
        side.set_level(Some(Level::of(1500, 3)));
        let first = side.search(&Position::startpos(), &Limits::default());
        let mut other = Position::startpos();
        for text in ["d2d4", "g8f6", "c2c4"] {
            other.do_move(other.parse_uci(text).expect("legal"));
            side.search(&other, &Limits::default());
        }
        assert_eq!(side.search(&Position::startpos(), &Limits::default()), first);
    });
}

#[test]
fn level_keeps_its_node_budget_and_does_not_affect_full_strength() {
    with_stack(|| {
        let mut side = Solo::new(Network::embedded(), 1);
        let limits = Limits { nodes: Some(5000), ..Limits::default() };
        let full = side.search(&Position::startpos(), &limits);
        let level = Level::of(1000, 9);
        side.set_level(Some(level));
        let weak = side.search(&Position::startpos(), &Limits::default());
        assert!(weak.is_some_and(|found| found.nodes <= level.handicap.nodes));
        side.set_level(None);
        side.clear();
        assert_eq!(side.search(&Position::startpos(), &limits), full);
    });
}
