//! Networks with threat inputs and pawn pairs: every kernel, with fresh and incremental evaluation, and invalid files.
//!
//! The synthetic networks are generated here. The published ones are read from the folder that `ZOOTHERA_NETS` names,
//! from the user's cache folder, or from the shared folder; their tests are slow.

mod common;

use std::path::PathBuf;
use std::sync::Arc;

use common::oracle::{Board, check_positions, table};
use zoothera::board::{CastlingMode, Position};
use zoothera::nnue::synthetic::{self, Recipe};
use zoothera::nnue::{AccumulatorStack, Architecture, Kernel, NetError, NetOutput, Network, ThreatInputs};
use zoothera::util::rng::SplitMix64;

/// The architecture with these threat inputs.
fn architecture(threat_inputs: ThreatInputs) -> Architecture {
    let found = Architecture::published().find(|known| known.threat_inputs == threat_inputs);
    found.expect("a published architecture")
}

/// A synthetic network and its reference outputs.
struct Synthetic {
    threat_inputs: ThreatInputs,
    recipe: &'static Recipe,
    /// Start of the SHA-256 of its file.
    sha256: &'static str,
    /// Name of its table of reference outputs.
    table: &'static str,
    /// Two rows of the table (FEN, piece-square part, positional part), for checkouts without the table.
    known: [(&'static str, i32, i32); 2],
}

const KIWIPETE: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
/// The position with the largest number of threats that a hill-climbing search found.
const CROWDED: &str = "2B1Q1B1/3rnK2/QnqNqnr1/1QnRnQb1/RNqnQ1q1/1kNQ1N2/b1Rn4/8 w - - 0 1";

const SYNTHETIC: [Synthetic; 4] = [
    Synthetic {
        threat_inputs: ThreatInputs::Threats,
        recipe: &synthetic::A,
        sha256: "7cb516b153c7",
        table: "oracle_synth_sfnnv10_A.tsv",
        known: [(KIWIPETE, -20164, -29540), (CROWDED, 99257, -17626)],
    },
    Synthetic {
        threat_inputs: ThreatInputs::Threats,
        recipe: &synthetic::B,
        sha256: "54edad09d814",
        table: "oracle_synth_sfnnv10_B.tsv",
        known: [(KIWIPETE, 45810563, 290487), (CROWDED, 83116676, 180056)],
    },
    Synthetic {
        threat_inputs: ThreatInputs::ThreatsAndPawnPairs,
        recipe: &synthetic::A,
        sha256: "f8843690c239",
        table: "oracle_synth_sfnnv16_A.tsv",
        known: [(KIWIPETE, 94934, 2704), (CROWDED, -153526, -15258)],
    },
    Synthetic {
        threat_inputs: ThreatInputs::ThreatsAndPawnPairs,
        recipe: &synthetic::B,
        sha256: "fb0cec0b40bc",
        table: "oracle_synth_sfnnv16_B.tsv",
        known: [(KIWIPETE, 40222140, -24038), (CROWDED, -11099663, -64316)],
    },
];

/// Parses an output from the columns of a table: piece-square part, positional part, and bucket.
fn output_of(columns: &[String]) -> NetOutput {
    let number = |i: usize| -> i32 { columns[i].parse().expect("a number in the table") };
    NetOutput { psqt: number(0), positional: number(1), bucket: number(2) as usize }
}

/// The FENs of a table with their outputs.
fn positions(name: &str) -> Option<Vec<(String, NetOutput)>> {
    let rows = table(name)?;
    let rows = rows.iter().map(|row| (row[0].clone(), output_of(&row[1..])));
    Some(rows.collect())
}

/// Makes and undoes random moves, and compares incremental evaluations with fresh ones by the scalar kernel.
fn check_random_games(network: &Arc<Network>) {
    let starts = [
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        KIWIPETE,
        "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
        "bqnrkbrn/pppppppp/8/8/8/8/PPPPPPPP/BQNRKBRN w GDgd - 0 1",
        "4k3/pppppppp/8/8/8/8/PPPPPPPP/4K3 w - - 0 1",
        CROWDED,
    ];
    let mut rng = SplitMix64::new(23);
    let kernels = Kernel::available().into_iter().cycle();
    for (game, kernel) in kernels.take(30).enumerate() {
        let mut stack = AccumulatorStack::with_kernel(network.clone(), kernel);
        let mut fresh = AccumulatorStack::with_kernel(network.clone(), Kernel::Scalar);
        let fen = starts[game % starts.len()];
        let mut position = Position::from_fen(fen, CastlingMode::Chess960).expect("a legal FEN");
        let mut height = 0;
        for _ in 0..200 {
            let moves = position.legal_moves();
            if height > 0 && (moves.is_empty() || rng.below(3) == 0) {
                position.undo_move();
                stack.pop();
                height -= 1;
            } else if !moves.is_empty() {
                let m = moves[rng.below(moves.len())];
                if rng.below(16) == 0 {
                    // A push of changed pieces is as good as a move made through the stack.
                    stack.push(&position.do_move(m));
                } else {
                    stack.make(&mut position, m);
                }
                height += 1;
            }
            if rng.below(2) == 0 {
                fresh.reset();
                let expected = fresh.evaluate(&position);
                let fen = position.fen();
                assert_eq!(stack.evaluate(&position), expected, "{kernel}: {fen}");
            }
        }
    }
}

/// Plays the games of a table forwards and backwards. Evaluates every ply in the first pass, then a random quarter of
/// them.
fn check_games(network: &Arc<Network>, name: &str) {
    let Some(rows) = table(name) else { return };
    let games: Vec<_> = rows.chunk_by(|a, b| a[0] == b[0]).collect();
    assert!(games.len() > 10);
    for kernel in Kernel::available() {
        let mut stack = AccumulatorStack::with_kernel(network.clone(), kernel);
        let mut rng = SplitMix64::new(29);
        for game in &games {
            for all in [true, false] {
                check_game(&mut stack, game, |rng| all || rng.below(4) == 0, &mut rng);
            }
        }
    }
}

/// Plays a game forwards and backwards, and checks the evaluation of the plies for which `is_checked` returns true.
fn check_game(
    stack: &mut AccumulatorStack,
    game: &[Vec<String>],
    is_checked: impl Fn(&mut SplitMix64) -> bool,
    rng: &mut SplitMix64,
) {
    let mode = match game[0][3].contains("960") {
        true => CastlingMode::Chess960,
        false => CastlingMode::Standard,
    };
    let mut position = Position::from_fen(&game[0][4], mode).expect("a legal FEN");
    stack.reset();
    let mut check = |stack: &mut AccumulatorStack, position: &Position, row: &Vec<String>| {
        if is_checked(rng) {
            let output = stack.evaluate(position);
            assert_eq!(output, output_of(&row[5..]), "{}", row[4]);
        }
    };
    for row in game {
        if row[1] != "0" {
            let m = position.parse_uci(&row[2]).expect("a legal move");
            stack.make(&mut position, m);
        }
        check(stack, &position, row);
    }
    for row in game[..game.len() - 1].iter().rev() {
        position.undo_move();
        stack.pop();
        check(stack, &position, row);
    }
}

/// Checks the file, the reference outputs and random games of a synthetic network.
fn check_synthetic(net: &Synthetic) {
    let file = synthetic::network(architecture(net.threat_inputs), net.recipe, true);
    let network = Arc::new(Network::from_bytes(&file).expect("a valid network"));
    assert!(network.to_bytes() == file, "the file did not round-trip");
    let sha256 = network.info().sha256;
    assert!(sha256.starts_with(net.sha256), "{sha256}");
    let known = net.known.map(|(fen, psqt, positional)| {
        let output = NetOutput { psqt, positional, bucket: 7 };
        (fen.to_owned(), output)
    });
    check_positions(&network, &known);
    if let Some(rows) = positions(net.table) {
        assert!(rows.len() > 300);
        check_positions(&network, &rows);
    }
    check_random_games(&network);
}

#[test]
fn synthetic_sfnnv10_networks_match_reference_outputs() {
    SYNTHETIC[..2].iter().for_each(check_synthetic);
}

#[test]
fn synthetic_sfnnv16_networks_match_reference_outputs() {
    SYNTHETIC[2..].iter().for_each(check_synthetic);
}

#[test]
fn reader_rejects_architectures_of_development_versions_and_names_them() {
    for (version, hash) in [(0x7AF3_2F20_u32, 0xEC10_2EF3_u32), (0x6A44_8AFA, 0xA85B_2204)] {
        let words = [version, hash, 0, 0];
        let file: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
        let error = Network::from_bytes(&file).expect_err("no such architecture");
        assert!(matches!(error, NetError::UnknownArchitecture { .. }));
        let message = error.to_string();
        for part in ["SFNNv10", "SFNNv16", "SFNNv11 to v15"] {
            assert!(message.contains(part), "{message}");
        }
    }
    let error = Network::from_bytes(&[1; 100]).expect_err("no such version");
    assert!(error.to_string().contains("6A448AFA") && error.to_string().contains("SFNNv11"));
}

#[test]
fn damaged_file_is_rejected_or_evaluated_alike_by_all_kernels() {
    for threat_inputs in [ThreatInputs::Threats, ThreatInputs::ThreatsAndPawnPairs] {
        let mut file = synthetic::network(architecture(threat_inputs), &synthetic::A, true);
        let mut rng = SplitMix64::new(31);
        let near_end = file.len() - 300_000;
        let lengths = (0..200).chain((0..40).map(|i| near_end + i * 7001));
        for length in lengths.chain((0..20).map(|_| rng.below(file.len()))) {
            let cut = Network::from_bytes(&file[..length]);
            assert!(cut.is_err(), "{length} bytes");
        }
        file.push(0);
        let longer = Network::from_bytes(&file);
        assert!(matches!(longer, Err(NetError::TrailingBytes { .. })));
        file.pop();
        let mut accepted = 0;
        for round in 0..24 {
            // Threat weights are never compressed, so every byte is valid there.
            let (low, high) = match round % 3 {
                0 => (0, 3000),
                1 => (3000, 50_000_000),
                _ => (file.len() - 100_000, file.len()),
            };
            let (at, byte) = (low + rng.below(high - low), rng.next_u64() as u8);
            let before = std::mem::replace(&mut file[at], byte);
            if let Ok(network) = Network::from_bytes(&file) {
                accepted += 1;
                let network = Arc::new(network);
                for fen in [KIWIPETE, CROWDED] {
                    let board = Board::new(fen);
                    let mut outputs = Kernel::available()
                        .into_iter()
                        .map(|kernel| AccumulatorStack::with_kernel(network.clone(), kernel).evaluate(&board));
                    let first = outputs.next();
                    assert!(outputs.all(|output| Some(output) == first), "kernels differ");
                }
            }
            file[at] = before;
        }
        assert!(accepted >= 8, "{accepted} accepted");
    }
}

#[test]
fn decompressed_network_round_trips() {
    let compressed = synthetic::network(architecture(ThreatInputs::ThreatsAndPawnPairs), &synthetic::B, true);
    let network = Network::from_bytes(&compressed).expect("a valid network");
    let plain = network.to_bytes_as(false);
    let again = Network::from_bytes(&plain).expect("the same network");
    assert!(!again.is_compressed() && plain.len() == 115_114_576 + b"synthetic".len());
    assert!(again.to_bytes_as(true) == compressed);
    assert!(Network::from_bytes(&plain[..plain.len() - 1]).is_err());
}

/// A published network; `None` if its file cannot be found.
fn published(name: &str) -> Option<Arc<Network>> {
    let file = format!("{name}.nnue");
    let cache = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")));
    let folders =
        [std::env::var_os("ZOOTHERA_NETS").map(PathBuf::from), cache.map(|folder| folder.join("zoothera-nets"))];
    let paths = folders.into_iter().flatten().map(|folder| folder.join(&file));
    let found = paths.into_iter().find(|path| path.exists());
    let path = found.or_else(|| common::shared::shared(&format!("nets/{file}")))?;
    let network = Network::from_file(path).expect("the published network");
    assert!(network.info().sha256.starts_with(&name[3..]));
    Some(Arc::new(network))
}

/// Checks the table, the games and random games of a published network.
fn check_published(name: &str) {
    let Some(network) = published(name) else {
        return;
    };
    if let Some(rows) = positions(&format!("oracle_{name}.tsv")) {
        check_positions(&network, &rows);
    }
    check_games(&network, &format!("oracle_games_{name}.tsv"));
    check_random_games(&network);
}

#[test]
#[ignore = "slow: a file of 109 MB"]
fn network_of_stockfish_18_matches_reference_outputs() {
    check_published("nn-c288c895ea92");
}

#[test]
#[ignore = "slow: a file of 99 MB"]
fn network_of_stockfish_19_matches_reference_outputs() {
    check_published("nn-1a298aa575a0");
}
