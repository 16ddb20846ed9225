//! Networks against reference outputs: every kernel, with fresh and incremental evaluation, and invalid files.

mod common;

use std::sync::{Arc, OnceLock};

use common::oracle::{Board, check_positions, table};
use common::shared::shared;
use shakmaty::{Role, Square};
use zoothera::board::{CastlingMode, DirtyPiece, DirtyPieces, Position};
use zoothera::nnue::{AccumulatorStack, Kernel, NetError, NetOutput, Network, synthetic};
use zoothera::util::rng::SplitMix64;

/// The published network for which there is a table of games.
const GAMES_NET: &str = "nn-82215d0fd0df";

/// The published networks with a table of reference outputs.
const PUBLISHED: [&str; 3] = [GAMES_NET, "nn-26abeed38351", "nn-ad9b42354671"];

/// Raw reference outputs of both synthetic networks, for checkouts without the shared tables.
const EMBEDDED_ORACLE: [(&str, i32, i32); 14] = [
    ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 21544, 28561),
    ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1", 31396, 45678),
    ("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", 34171, 41417),
    ("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b KQkq - 0 1", 22252, 23388),
    ("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", -2019, 15369),
    ("r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1", 35265, 45446),
    ("r2q1rk1/pP1p2pp/Q4n2/bbp1p3/Np6/1B3NBn/pPPP1PPP/R3K2R b KQ - 0 1", 18092, 38975),
    ("rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8", 13574, 10283),
    ("1k6/8/8/8/8/nnnnnnnn/8/7K w - - 0 1", -7235, 53871),
    ("1R6/8/p7/P2n4/8/2pk4/8/1K6 w - - 14 118", 3873, 27251),
    ("1r6/4b3/1kN1n1b1/4pp1p/1P3B2/R1p2PR1/7q/4K3 b - - 7 66", -3619, 62611),
    ("1rbb2k1/8/Br6/2p1p1pB/2R1P1Pp/3N2pP/8/K2Bn3 b - - 9 117", 5670, 67588),
    ("r5Rr/2q5/1p3pP1/1P1k1P1N/P1p1N1b1/2P1P1p1/8/1R4K1 w - - 1 53", 4948, 42775),
    ("8/b7/8/2q5/6K1/PP1p1p2/2k5/4rn2 b - - 0 1", 20296, 33324),
];

/// The dirty pieces of the move between two boards. A king comes first, as [`DirtyPieces`] requires.
fn difference(before: &Board, after: &Board) -> DirtyPieces {
    let changed = Square::ALL.into_iter().filter(|&s| before.piece_at(s) != after.piece_at(s));
    let mut removed = Vec::new();
    let mut added = Vec::new();
    for square in changed {
        removed.extend(before.piece_at(square).map(|piece| (piece, square)));
        added.extend(after.piece_at(square).map(|piece| (piece, square)));
    }
    let mut changes: Vec<DirtyPiece> = Vec::new();
    for (piece, to) in added {
        let from = removed.iter().position(|&(p, _)| p == piece).map(|i| removed.remove(i).1);
        changes.push(DirtyPiece { piece, from, to: Some(to) });
    }
    changes.extend(removed.into_iter().map(|(piece, from)| DirtyPiece { piece, from: Some(from), to: None }));
    // A king in the list is always the moved piece, because kings are never captured.
    changes.sort_by_key(|change| change.piece.role != Role::King);
    let mut dirty = DirtyPieces::none();
    changes.into_iter().for_each(|change| dirty.push(change));
    dirty
}

/// A published network from the shared folder; `None` if the folder does not have it.
fn published(name: &str) -> Option<Arc<Network>> {
    let path = shared(&format!("nets/{name}.nnue"))?;
    Some(Arc::new(Network::from_file(path).expect("the published network")))
}

fn synthetic_a() -> Arc<Network> {
    static NET: OnceLock<Arc<Network>> = OnceLock::new();
    NET.get_or_init(|| Arc::new(parse(&synthetic::halfkp(&synthetic::A)))).clone()
}

fn synthetic_b() -> Arc<Network> {
    static NET: OnceLock<Arc<Network>> = OnceLock::new();
    NET.get_or_init(|| Arc::new(parse(&synthetic::halfkp(&synthetic::B)))).clone()
}

fn parse(bytes: &[u8]) -> Network {
    Network::from_bytes(bytes).expect("a valid network")
}

/// Parses an output from the columns of a table: raw output and value, or both parts, bucket and value. Checks the
/// value.
fn output_of(columns: &[String]) -> NetOutput {
    let number = |i: usize| -> i32 { columns[i].parse().expect("a number in the table") };
    let bucketed = columns.len() > 2;
    let output = if bucketed {
        NetOutput { psqt: number(0), positional: number(1), bucket: number(2) as usize }
    } else {
        raw_output(number(0))
    };
    assert_eq!(output.value(), number(columns.len() - 1));
    output
}

/// The output of a network without piece-square values and buckets.
fn raw_output(positional: i32) -> NetOutput {
    NetOutput { positional, ..NetOutput::default() }
}

/// Checks a network against a table of reference outputs.
fn check_table(network: &Arc<Network>, name: &str) {
    let rows = table(name).expect("a table in tests/data or the shared folder");
    let rows: Vec<_> = rows.iter().map(|r| (r[0].clone(), output_of(&r[1..]))).collect();
    assert!(rows.len() > 200);
    check_positions(network, &rows);
}

#[test]
fn synthetic_networks_match_embedded_reference_outputs() {
    let rows = |value: fn(&(&str, i32, i32)) -> i32| -> Vec<_> {
        EMBEDDED_ORACLE.iter().map(|row| (row.0.to_owned(), raw_output(value(row)))).collect()
    };
    check_positions(&synthetic_a(), &rows(|row| row.1));
    check_positions(&synthetic_b(), &rows(|row| row.2));
}

#[test]
fn synthetic_network_a_matches_its_table() {
    check_table(&synthetic_a(), "oracle_synth_A.tsv");
}

#[test]
fn synthetic_network_b_matches_its_table() {
    check_table(&synthetic_b(), "oracle_synth_B.tsv");
}

#[test]
fn published_networks_match_their_tables() {
    for name in PUBLISHED {
        let Some(network) = published(name) else {
            continue;
        };
        check_table(&network, &format!("oracle_{name}.tsv"));
        if name == GAMES_NET {
            check_games_ply_by_ply(&network);
        }
        check_random_walks(&network);
        check_random_games(&network);
    }
}

/// The boards of every game in the table of games, with their raw reference outputs.
fn games() -> Vec<Vec<(Board, i32)>> {
    let rows = table(&format!("oracle_games_{GAMES_NET}.tsv"));
    let mut games: Vec<Vec<_>> = Vec::new();
    for row in rows.expect("a table next to the published network") {
        if row[1] == "0" {
            games.push(Vec::new());
        }
        let game = games.last_mut().expect("a game starts at ply 0");
        game.push((Board::new(&row[4]), row[5].parse().unwrap()));
    }
    games
}

/// The boards of random games.
fn random_boards() -> Vec<Vec<Board>> {
    let mut rng = SplitMix64::new(7);
    let mut game = || {
        let mut position = Position::startpos();
        let mut boards = vec![Board::new(&position.fen())];
        for _ in 0..120 {
            let moves = position.legal_moves();
            if moves.is_empty() {
                break;
            }
            position.do_move(moves[rng.below(moves.len())]);
            boards.push(Board::new(&position.fen()));
        }
        boards
    };
    (0..15).map(|_| game()).collect()
}

/// Plays the games of the table with incremental updates, and checks every ply.
fn check_games_ply_by_ply(network: &Arc<Network>) {
    let games = games();
    for kernel in Kernel::available() {
        let mut stack = AccumulatorStack::with_kernel(network.clone(), kernel);
        for game in &games {
            stack.reset();
            for (ply, (board, expected)) in game.iter().enumerate() {
                if ply > 0 {
                    stack.push(&difference(&game[ply - 1].0, board));
                }
                assert_eq!(stack.evaluate(board).raw(), *expected, "{kernel}, ply {ply}");
            }
        }
    }
}

/// Moves forwards and backwards through random games, and compares incremental evaluations with fresh ones.
fn check_random_walks(network: &Arc<Network>) {
    let games = random_boards();
    let mut rng = SplitMix64::new(11);
    for kernel in Kernel::available() {
        let mut stack = AccumulatorStack::with_kernel(network.clone(), kernel);
        for game in &games {
            let mut fresh = AccumulatorStack::with_kernel(network.clone(), Kernel::Scalar);
            let mut expected = |ply: usize| {
                fresh.reset();
                fresh.evaluate(&game[ply])
            };
            stack.reset();
            let (mut ply, mut forwards) = (0, true);
            for _ in 0..4 * game.len() {
                forwards ^= rng.below(6) == 0;
                if forwards && ply + 1 < game.len() {
                    stack.push(&difference(&game[ply], &game[ply + 1]));
                    ply += 1;
                } else if !forwards && ply > 0 {
                    stack.pop();
                    ply -= 1;
                }
                if rng.below(3) == 0 {
                    assert_eq!(stack.evaluate(&game[ply]), expected(ply), "{kernel}, ply {ply}");
                }
            }
        }
    }
}

#[test]
fn incremental_evaluation_equals_refresh_on_random_walks() {
    check_random_walks(&synthetic_b());
}

#[test]
fn incremental_evaluation_equals_refresh_on_random_games() {
    check_random_games(&synthetic_b());
}

/// Makes and undoes random moves, and compares incremental evaluations with fresh ones.
fn check_random_games(network: &Arc<Network>) {
    let mut rng = SplitMix64::new(17);
    let starts = [
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
        "bqnrkbrn/pppppppp/8/8/8/8/PPPPPPPP/BQNRKBRN w GDgd - 0 1",
    ];
    for (game, kernel) in Kernel::available().into_iter().cycle().take(40).enumerate() {
        let mut stack = AccumulatorStack::with_kernel(network.clone(), kernel);
        let mut fresh = AccumulatorStack::with_kernel(network.clone(), Kernel::Scalar);
        let fen = starts[game % starts.len()];
        let mut position = Position::from_fen(fen, CastlingMode::Chess960).expect("a legal FEN");
        let mut height = 0;
        for _ in 0..300 {
            let moves = position.legal_moves();
            if height > 0 && (moves.is_empty() || rng.below(3) == 0) {
                position.undo_move();
                stack.pop();
                height -= 1;
            } else if !moves.is_empty() {
                let dirty = position.do_move(moves[rng.below(moves.len())]);
                stack.push(&dirty);
                height += 1;
            }
            if rng.below(2) == 0 {
                fresh.reset();
                let expected = fresh.evaluate(&position);
                assert_eq!(stack.evaluate(&position), expected, "{kernel}: {}", position.fen());
            }
        }
    }
}

#[test]
fn stack_accepts_lines_longer_than_its_capacity() {
    let network = synthetic_a();
    let mut stack = AccumulatorStack::new(network);
    let boards = ["4k3/8/8/8/8/8/8/R3K3 w - - 0 1", "4k3/8/8/8/8/8/8/1R2K3 b - - 0 1"].map(Board::new);
    let expected = boards.each_ref().map(|board| {
        stack.reset();
        stack.evaluate(board)
    });
    stack.reset();
    for ply in 1..2000 {
        stack.push(&difference(&boards[1 - ply % 2], &boards[ply % 2]));
    }
    assert_eq!(stack.evaluate(&boards[1]), expected[1]);
    (1..2000).for_each(|_| stack.pop());
    assert_eq!(stack.evaluate(&boards[0]), expected[0]);
}

#[test]
fn file_round_trips_with_any_description() {
    let file = synthetic::halfkp(&synthetic::A);
    let network = parse(&file);
    assert!(network.to_bytes() == file);
    let info = network.info();
    assert_eq!(info.size, 21_022_697);
    assert!(info.description.starts_with("Features=HalfKP(Friend)"));
    for description in [&b""[..], b"\xFF\x00\xFE", &[b'x'; 4099]] {
        let mut other = file[..8].to_vec();
        other.extend((description.len() as u32).to_le_bytes());
        other.extend(description);
        other.extend(&file[189..]);
        let network = parse(&other);
        assert!(network.to_bytes() == other);
        assert_eq!(network.info().description, String::from_utf8_lossy(description));
    }
}

/// The error of the reader for `file` after `change`.
fn error_of(file: &mut Vec<u8>, change: impl Fn(&mut Vec<u8>)) -> NetError {
    change(file);
    Network::from_bytes(file).expect_err("an invalid network")
}

#[test]
fn reader_reports_each_fault_by_its_own_error() {
    let file = synthetic::halfkp(&synthetic::A);
    let error = |change: &dyn Fn(&mut Vec<u8>)| error_of(&mut file.clone(), change);
    assert!(matches!(error(&|f| f.truncate(11)), NetError::TooShort { actual: 11 }));
    assert!(matches!(error(&|f| f[0] ^= 1), NetError::WrongVersion { found: 0x7AF3_2F17, .. }));
    assert!(matches!(error(&|f| f[0] = 0x20), NetError::UnknownArchitecture { version: 0x7AF3_2F20, .. }));
    assert!(matches!(error(&|f| f[4] ^= 1), NetError::WrongFileHash { .. }));
    assert!(matches!(error(&|f| f[11] = 1), NetError::DescriptionTooLong { .. }));
    assert!(matches!(error(&|f| f[189] ^= 1), NetError::WrongTransformerHash { .. }));
    assert!(matches!(error(&|f| f[21_004_993] ^= 1), NetError::WrongNetworkHash { .. }));
    assert!(matches!(error(&|f| f.truncate(9999)), NetError::Truncated { expected: 21_022_697, actual: 9999 }));
    let trailing = error(&|f| f.push(0));
    assert!(matches!(trailing, NetError::TrailingBytes { expected: 21_022_697, actual: 21_022_698 }));
    assert_eq!(trailing.to_string(), "1 trailing bytes: 21022698 bytes, expected 21022697");
    assert!(matches!(Network::from_file("no/such/net"), Err(NetError::Io(_))));
}

#[test]
fn reader_rejects_truncated_file() {
    let file = synthetic::halfkp(&synthetic::A);
    let mut rng = SplitMix64::new(3);
    let sampled = (0..3000).map(|_| rng.below(file.len())).collect::<Vec<_>>();
    let near_borders = [705, 21_004_993, file.len()].into_iter().flat_map(|at| at - 9..at + 9);
    for length in (0..1000).chain(sampled).chain(near_borders).filter(|&l| l < file.len()) {
        assert!(Network::from_bytes(&file[..length]).is_err(), "{length} bytes");
    }
}

#[test]
fn damaged_file_is_rejected_or_evaluated_alike_by_all_kernels() {
    let mut file = synthetic::halfkp(&synthetic::A);
    let board = Board::new("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1");
    let mut rng = SplitMix64::new(5);
    let mut accepted = 0;
    for round in 0..3000 {
        // Damages the header in half of the rounds, and otherwise the dense layers or any part of the file.
        let (low, high) = match round % 4 {
            0 | 1 => (0, 200),
            2 => (21_004_990, file.len()),
            _ => (0, file.len()),
        };
        let damage: Vec<_> =
            (0..1 + rng.below(3)).map(|_| (low + rng.below(high - low), rng.next_u64() as u8)).collect();
        let before: Vec<_> = damage.iter().map(|&(at, _)| file[at]).collect();
        damage.iter().for_each(|&(at, byte)| file[at] = byte);
        // Parsing a valid file copies 20 MB, so only a quarter of the rounds do it.
        let header_only = Network::from_bytes(&file[..1000]);
        assert!(header_only.is_err());
        if round % 16 < 4
            && let Ok(network) = Network::from_bytes(&file)
        {
            accepted += 1;
            let network = Arc::new(network);
            let raw = Kernel::available()
                .into_iter()
                .map(|kernel| AccumulatorStack::with_kernel(network.clone(), kernel).evaluate(&board).raw());
            let raw: Vec<_> = raw.collect();
            assert!(raw.iter().all(|&r| r == raw[0]), "kernels differ: {raw:?}");
        }
        damage.iter().zip(before).rev().for_each(|(&(at, _), byte)| file[at] = byte);
    }
    assert!(accepted > 100, "only {accepted} damaged networks were evaluated");
}
