//! Nets without hidden layers against a naive evaluation that reads the file itself and shares no code with the engine:
//! every kernel, fresh and incremental evaluation, numbers of stacks, and damaged files.

use std::sync::Arc;

use shakmaty::{Color, Role};
use zoothera::board::{CastlingMode, Position};
use zoothera::nnue::synthetic::{self, Recipe};
use zoothera::nnue::{AccumulatorStack, Architecture, Kernel, NetError, Network};
use zoothera::util::rng::SplitMix64;

const STARTS: [&str; 4] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
    "bqnrkbrn/pppppppp/8/8/8/8/PPPPPPPP/BQNRKBRN w GDgd - 0 1",
];

/// Features (0 HalfKP, 2 HalfKAv2_hm, 3 Chess768; plus 256 times the king buckets), width, activation (0 clipped, 1
/// squared, 2 products), no hidden layers, stacks.
const SHAPES: [[u32; 6]; 15] = [
    [3, 128, 1, 0, 0, 1],
    [3, 64, 0, 0, 0, 16],
    [3, 192, 2, 0, 0, 3],
    [3, 1024, 1, 0, 0, 8],
    [3, 64, 2, 0, 0, 1],
    // Odd multiples of 32 columns.
    [3, 32, 0, 0, 0, 1],
    [3, 32, 1, 0, 0, 8],
    [3, 32, 2, 0, 0, 1],
    [3, 96, 2, 0, 0, 2],
    [3, 160, 1, 0, 0, 1],
    [0, 64, 1, 0, 0, 5],
    [2 + 256, 256, 0, 0, 0, 8],
    [2 + 256, 1536, 2, 0, 0, 2],
    // With attacks on enemies.
    [2 + 256 + 65_536, 128, 1, 0, 0, 4],
    [3, 3072, 1, 0, 0, 1],
];

/// A file, read number by number.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn word(&mut self) -> i64 {
        let (bytes, rest) = self.0.split_first_chunk::<4>().expect("four bytes");
        self.0 = rest;
        i64::from(i32::from_le_bytes(*bytes))
    }

    fn shorts(&mut self, count: usize) -> Vec<i64> {
        let (bytes, rest) = self.0.split_at(2 * count);
        self.0 = rest;
        bytes.chunks(2).map(|pair| i64::from(i16::from_le_bytes([pair[0], pair[1]]))).collect()
    }
}

/// The numbers of a net, by the description in docs/nets.md.
struct Naive {
    words: [i64; 6],
    biases: Vec<i64>,
    rows: Vec<i64>,
    stacks: Vec<(i64, Vec<i64>)>,
}

impl Naive {
    fn read(file: &[u8]) -> Self {
        let mut reader = Reader(file);
        let (_version, _hash) = (reader.word(), reader.word());
        let description = reader.word() as usize;
        reader.0 = &reader.0[description..];
        let words = std::array::from_fn(|_| reader.word());
        let [features, width, activation, _, _, stacks] = words;
        let mut rows = match features % 256 {
            0 => 64 * 641,
            2 => 704 * (features / 256 % 256),
            _ => 768,
        };
        if features / 65_536 == 1 {
            rows += 4608;
        }
        let width = width as usize;
        let _hash = reader.word();
        let (biases, rows) = (reader.shorts(width), reader.shorts(rows as usize * width));
        let units = if activation == 2 { width } else { 2 * width };
        let stack = |_| {
            let _hash = reader.word();
            (reader.word(), reader.shorts(units))
        };
        let stacks = (0..stacks).map(stack).collect();
        assert!(reader.0.is_empty(), "bytes are left");
        Self { words, biases, rows, stacks }
    }

    /// The rows of a perspective.
    fn active(&self, position: &Position, side: Color) -> Vec<usize> {
        let [features, ..] = self.words;
        let king = position.king(side) as usize;
        let flip = if side == Color::Black { 56 } else { 0 };
        let mirror = if king % 8 < 4 { 7 } else { 0 };
        let mut rows = Vec::new();
        for square in position.occupied() {
            let piece = position.piece_at(square).expect("a piece");
            let (at, enemy) = (square as usize, usize::from(piece.color != side));
            let kind = piece.role as usize - 1;
            match features % 256 {
                0 if piece.role == Role::King => {}
                0 => {
                    let turn = if side == Color::Black { 63 } else { 0 };
                    rows.push(641 * (king ^ turn) + 1 + 64 * (2 * kind + enemy) + (at ^ turn));
                }
                2 => {
                    let plane = if piece.role == Role::King { 10 } else { 2 * kind + enemy };
                    rows.push(64 * plane + (at ^ flip ^ mirror));
                }
                _ => rows.push(64 * (2 * kind + enemy) + (at ^ flip)),
            }
            if features / 65_536 == 1 {
                for to in shakmaty::attacks::attacks(square, piece, position.occupied()) {
                    if let Some(victim) = position.piece_at(to).filter(|victim| victim.color != piece.color) {
                        let attacker = kind + 6 * enemy;
                        rows.push(704 + 64 * (6 * attacker + victim.role as usize - 1) + (to as usize ^ flip ^ mirror));
                    }
                }
            }
        }
        rows
    }

    /// The units of a perspective.
    fn units(&self, position: &Position, side: Color) -> Vec<i64> {
        let [_, width, activation, ..] = self.words;
        let width = width as usize;
        let mut sums = self.biases.clone();
        for row in self.active(position, side) {
            sums.iter_mut().zip(&self.rows[row * width..]).for_each(|(sum, weight)| *sum += weight);
        }
        let clipped: Vec<i64> = sums.iter().map(|&sum| i64::from(sum as i16).clamp(0, 127)).collect();
        match activation {
            0 => clipped,
            1 => clipped.iter().map(|x| x * x).collect(),
            _ => (0..width / 2).map(|i| clipped[i] * clipped[i + width / 2]).collect(),
        }
    }

    /// The output in sixteenths of engine units.
    fn output(&self, position: &Position) -> i32 {
        let pieces = position.occupied().count();
        let (bias, weights) = &self.stacks[(pieces - 1) * self.stacks.len() / 32];
        let turn = position.turn();
        let units = [turn, !turn].map(|side| self.units(position, side)).concat();
        assert_eq!(units.len(), weights.len());
        let sum = bias + units.iter().zip(weights).map(|(unit, weight)| unit * weight).sum::<i64>();
        (sum as i32) >> if self.words[2] == 0 { 2 } else { 9 }
    }
}

fn architecture(words: [u32; 6]) -> Architecture {
    Architecture::from_words(words).expect("a supported shape")
}

/// Makes and takes back random moves, and compares the outputs of every kernel.
fn check_games(words: [u32; 6], recipe: &Recipe) {
    let file = synthetic::network(architecture(words), recipe, false);
    let (naive, network) = (Naive::read(&file), Network::from_bytes(&file).expect("a network"));
    assert!(network.to_bytes() == file, "{words:?}: the file did not round-trip");
    let compressed = network.to_bytes_as(true);
    let again = Network::from_bytes(&compressed).expect("a compressed network");
    assert!(again.to_bytes_as(false) == file, "{words:?}: the compressed file has other numbers");
    let network = Arc::new(network);
    let mut rng = SplitMix64::new(7);
    let mut outputs = std::collections::HashSet::new();
    for (game, kernel) in Kernel::available().into_iter().cycle().take(8).enumerate() {
        let mut stack = AccumulatorStack::with_kernel(network.clone(), kernel);
        let mut position =
            Position::from_fen(STARTS[game % STARTS.len()], CastlingMode::Chess960).expect("a legal FEN");
        let mut height = 0;
        for _ in 0..120 {
            let moves = position.legal_moves();
            if height > 0 && (moves.is_empty() || rng.below(5) == 0) {
                position.undo_move();
                stack.pop();
                height -= 1;
            } else if !moves.is_empty() {
                stack.make(&mut position, moves[rng.below(moves.len())]);
                height += 1;
            }
            if rng.below(6) == 0 {
                let output = stack.evaluate(&position);
                assert_eq!(output.raw(), naive.output(&position), "{words:?}, {kernel}: {}", position.fen());
                outputs.insert(output.raw());
            }
        }
    }
    assert!(outputs.len() > 20, "{words:?}: only {} different outputs", outputs.len());
}

#[test]
fn nets_without_hidden_layers_match_naive_evaluation() {
    for words in SHAPES {
        check_games(words, &synthetic::A);
        check_games(words, &synthetic::B);
    }
}

#[test]
fn every_change_of_the_shape_is_rejected() {
    for words in [SHAPES[0], SHAPES[2]] {
        let mut file = synthetic::network(architecture(words), &synthetic::A, false);
        let start = 12 + b"synthetic".len();
        for at in start..start + 24 {
            let before = file[at];
            for value in (0..=255).filter(|&value| value != before) {
                file[at] = value;
                assert!(Network::from_bytes(&file).is_err(), "{words:?}: byte {at} is {value}");
            }
            file[at] = before;
        }
    }
}

#[test]
fn each_fault_of_a_file_is_named() {
    let words = [3, 64, 1, 0, 0, 2];
    let file = synthetic::network(architecture(words), &synthetic::A, false);
    let error = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut file = file.clone();
        change(&mut file);
        Network::from_bytes(&file).expect_err("an invalid network")
    };
    let stack = 4 + 4 + 2 * 128;
    assert!(matches!(error(&|file| file.truncate(file.len() - 1)), NetError::Truncated { .. }));
    assert!(matches!(error(&|file| file.truncate(file.len() - stack)), NetError::Truncated { .. }));
    assert!(matches!(error(&|file| file.push(0)), NetError::TrailingBytes { .. }));
    for number in 1..=2 {
        let hash = error(&|file| {
            let at = file.len() - number * stack;
            file[at] ^= 1;
        });
        assert!(matches!(hash, NetError::WrongNetworkHash { .. }), "{hash}");
    }
    // A net with hidden layers of the same width has another hash.
    let other = error(&|file| {
        let at = 12 + b"synthetic".len() + 12;
        file[at..at + 8].copy_from_slice(&[32, 0, 0, 0, 32, 0, 0, 0]);
    });
    assert!(matches!(other, NetError::WrongFileHash { .. }), "{other}");
}

#[test]
fn damaged_numbers_are_evaluated_alike_by_all_kernels() {
    let position = Position::from_fen(STARTS[1], CastlingMode::Standard).expect("a legal FEN");
    let file = synthetic::network(architecture(SHAPES[0]), &synthetic::A, false);
    let mut rng = SplitMix64::new(5);
    let (mut accepted, mut rejected) = (0, 0);
    for _ in 0..200 {
        let mut damaged = file.clone();
        let (low, bytes) = if rng.below(3) == 0 { (0, 60) } else { (file.len() - 600, 600) };
        for _ in 0..3 {
            let at = low + rng.below(bytes);
            damaged[at] = rng.next_u64() as u8;
        }
        let Ok(network) = Network::from_bytes(&damaged) else {
            rejected += 1;
            continue;
        };
        accepted += 1;
        let (naive, network) = (Naive::read(&damaged), Arc::new(network));
        for kernel in Kernel::available() {
            let output = AccumulatorStack::with_kernel(network.clone(), kernel).evaluate(&position);
            assert_eq!(output.raw(), naive.output(&position), "{kernel}");
        }
    }
    assert!(accepted > 50 && rejected > 20, "{accepted} accepted, {rejected} rejected");
}
