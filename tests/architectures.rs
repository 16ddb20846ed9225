//! Every architecture against a reference evaluation that shares no code with the engine: each
//! kernel, with fresh and incremental evaluation, uncompressed and compressed files, and damaged files.

use std::fs;
use std::sync::Arc;

use shakmaty::{Color, Role, Square, attacks};
use zoothera::board::{CastlingMode, Position};
use zoothera::nnue::synthetic::{self, Recipe};
use zoothera::nnue::{
    AccumulatorStack, Activation, Architecture, Fault, Features, Kernel, NetError, NetOutput, Network, Shape,
    ThreatInputs, Topology, VERSION_OWN,
};
use zoothera::util::rng::SplitMix64;

const STARTS: [&str; 5] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
    "bqnrkbrn/pppppppp/8/8/8/8/PPPPPPPP/BQNRKBRN w GDgd - 0 1",
    // Many attacks.
    "2B1Q1B1/3rnK2/QnqNqnr1/1QnRnQb1/RNqnQ1q1/1kNQ1N2/b1Rn4/8 w - - 0 1",
];

/// Number of rows of attack inputs: kind of the attacker, role and square of the attacked piece.
const ATTACKS: usize = 12 * 6 * 64;
/// The version of the published files of Stockfish 14 to 18.
const VERSION_2: u32 = 0x7AF3_2F20;

/// Size in bytes of the shape words in a file of our own format.
const WORDS: usize = 24;

/// Sequential reader of the numbers in an uncompressed file.
struct Numbers<'a>(&'a [u8]);

impl Numbers<'_> {
    fn number(&mut self, bytes: usize) -> i64 {
        let (here, rest) = self.0.split_at(bytes);
        self.0 = rest;
        match *here {
            [a] => i64::from(a as i8),
            [a, b] => i64::from(i16::from_le_bytes([a, b])),
            [a, b, c, d] => i64::from(i32::from_le_bytes([a, b, c, d])),
            _ => unreachable!("numbers have one, two or four bytes"),
        }
    }

    fn numbers(&mut self, count: usize, bytes: usize) -> Vec<i64> {
        (0..count).map(|_| self.number(bytes)).collect()
    }
}

/// Biases, and one row of weights per output.
struct Layer {
    biases: Vec<i64>,
    rows: Vec<Vec<i64>>,
}

impl Layer {
    fn sums(&self, input: &[i64]) -> Vec<i64> {
        let dot = |row: &Vec<i64>| row.iter().zip(input).map(|(w, x)| w * x).sum::<i64>();
        self.biases.iter().zip(&self.rows).map(|(b, row)| b + dot(row)).collect()
    }
}

/// Reference implementation of a network: follows the published format literally, with 64-bit numbers.
struct Reference<'a> {
    shape: Shape,
    /// Whether there are attack inputs.
    attacks: bool,
    /// The table of king buckets, if the file has one.
    table: &'a [u8],
    biases: Vec<i64>,
    /// Stored as bytes, because 64-bit numbers would need too much memory.
    weights: &'a [u8],
    psqt: &'a [u8],
    stacks: Vec<Vec<Layer>>,
}

impl<'a> Reference<'a> {
    fn new(file: &'a [u8], shape: Shape) -> Self {
        let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap()) as usize;
        let is_own = shape.version == VERSION_OWN;
        let attacks = is_own && word(12 + word(8)) / 65_536 == 1;
        let words = 12 + word(8);
        let has_table = is_own && file[words + 1] == 255;
        let table = &file[words + WORDS..][..if has_table { 64 } else { 0 }];
        let mut rest = Numbers(&file[words + if is_own { WORDS } else { 0 } + table.len() + 4..]);
        let biases = rest.numbers(shape.l1, 2);
        let features = shape.features.set().count() + if attacks { ATTACKS } else { 0 };
        let weights = rest.0.split_off(..2 * shape.l1 * features).unwrap();
        let psqt = rest.0.split_off(..4 * shape.psqt * features).unwrap();
        let mut stack = || {
            rest.number(4);
            let layers = shape.layers().map(|layer| Layer {
                biases: rest.numbers(layer.outputs, 4),
                rows: (0..layer.outputs).map(|_| rest.numbers(layer.row(), 1)).collect(),
            });
            layers.into_iter().collect()
        };
        let stacks = (0..shape.buckets).map(|_| stack()).collect();
        assert!(rest.0.is_empty());
        Self { shape, attacks, table, biases, weights, psqt, stacks }
    }

    /// The index of a piece, by the formulas of the format description and with their names.
    fn index(&self, black: bool, king: Square, (square, role, own): (Square, Role, bool)) -> Option<usize> {
        let (sq, king) = (square as usize, king as usize);
        let kind = 2 * (role as usize - 1) + usize::from(!own);
        let plane = if role == Role::King { 640 } else { 64 * kind };
        match self.shape.features {
            Features::HalfKp if role == Role::King => None,
            Features::Table(set) if role == Role::King && set.code == 0 => None,
            Features::HalfKp => {
                let x = if black { 63 } else { 0 };
                Some((sq ^ x) + 1 + 64 * kind + 641 * (king ^ x))
            }
            Features::HalfKav2 => {
                let x = if black { 56 } else { 0 };
                Some((sq ^ x) + plane + 704 * (king ^ x))
            }
            Features::HalfKav2Hm => {
                let flip = if black { 56 } else { 0 };
                let m = if king % 8 < 4 { 7 } else { 0 } ^ flip;
                let k = king ^ flip;
                let kb = 28 - 4 * (k / 8) + (k % 8).min(7 - k % 8);
                Some((sq ^ m) + plane + 704 * kb)
            }
            Features::HalfKav2Hm16 | Features::HalfKav2Hm8 | Features::HalfKav2Hm4 | Features::HalfKav2Hm1 => {
                let flip = if black { 56 } else { 0 };
                let m = if king % 8 < 4 { 7 } else { 0 } ^ flip;
                let k = king ^ flip;
                let bucket = king_bucket(self.shape.features, k / 8, k % 8);
                Some((sq ^ m) + plane + 704 * bucket)
            }
            Features::Chess768 => Some((sq ^ if black { 56 } else { 0 }) + 64 * kind),
            Features::Table(_) => Some(self.index_by_table(black, king, (square, role, kind))),
        }
    }

    /// The index of a piece with a table of king buckets, whose bytes follow the shape words.
    fn index_by_table(&self, black: bool, king: usize, (square, role, kind): (Square, Role, usize)) -> usize {
        let (sq, flip) = (square as usize, if black { 56 } else { 0 });
        let bucket = usize::from(self.table[king ^ flip]);
        match self.shape.features.set().code {
            0 => {
                let x = if black { 63 } else { 0 };
                (sq ^ x) + 1 + 64 * kind + 641 * usize::from(self.table[king ^ x])
            }
            2 => {
                let plane = if role == Role::King { 640 } else { 64 * kind };
                (sq ^ flip ^ if king % 8 < 4 { 7 } else { 0 }) + plane + 704 * bucket
            }
            _ => (sq ^ flip) + 64 * kind + 768 * bucket,
        }
    }

    /// The rows of attacks on enemies, which follow those of pieces. A row occurs once for each attack.
    fn attack_indices(&self, position: &Position, perspective: Color) -> Vec<usize> {
        let first = self.shape.features.set().count();
        let m = if position.king(perspective) as usize % 8 < 4 { 7 } else { 0 };
        let m = m ^ if perspective == Color::Black { 56 } else { 0 };
        let mut indices = Vec::new();
        for from in position.occupied() {
            let attacker = position.piece_at(from).unwrap();
            for to in attacks::attacks(from, attacker, position.occupied()) {
                let Some(attacked) = position.piece_at(to).filter(|attacked| attacked.color != attacker.color) else {
                    continue;
                };
                let kind = attacker.role as usize - 1 + if attacker.color == perspective { 0 } else { 6 };
                indices.push(first + (6 * kind + attacked.role as usize - 1) * 64 + (to as usize ^ m));
            }
        }
        indices
    }

    /// The accumulator of one perspective: neurons and piece-square values.
    fn sums(&self, position: &Position, perspective: Color) -> (Vec<i64>, Vec<i64>) {
        let (mut neurons, mut psqt) = (self.biases.clone(), vec![0; self.shape.psqt]);
        let king = position.king(perspective);
        let pieces = position.occupied().into_iter().filter_map(|square| {
            let piece = position.piece_at(square).unwrap();
            self.index(perspective.is_black(), king, (square, piece.role, piece.color == perspective))
        });
        let mut indices: Vec<usize> = pieces.collect();
        if self.attacks {
            indices.extend(self.attack_indices(position, perspective));
        }
        for index in indices {
            let mut row = Numbers(&self.weights[2 * self.shape.l1 * index..]);
            neurons.iter_mut().for_each(|sum| *sum += row.number(2));
            let mut row = Numbers(&self.psqt[4 * self.shape.psqt * index..]);
            psqt.iter_mut().for_each(|sum| *sum += row.number(4));
        }
        neurons.iter_mut().for_each(|sum| *sum = i64::from(*sum as i16));
        (neurons, psqt)
    }

    fn evaluate(&self, position: &Position) -> NetOutput {
        let turn = position.turn();
        let (own, own_psqt) = self.sums(position, turn);
        let (other, other_psqt) = self.sums(position, !turn);
        let bucket = match self.shape.buckets {
            1 => 0,
            stacks => (position.occupied().count() - 1) * stacks / 32,
        };
        let psqt = own_psqt.get(bucket).map_or(0, |own| (own - other_psqt[bucket]) / 2);
        NetOutput { psqt: psqt as i32, positional: self.positional(&own, &other, &self.stacks[bucket]) as i32, bucket }
    }

    fn positional(&self, own: &[i64], other: &[i64], stack: &[Layer]) -> i64 {
        let half = self.shape.l1 / 2;
        let clip = |sum: i64| sum.clamp(0, 127);
        let relu = |sums: &[i64]| sums.iter().map(|sum| clip(sum >> 6)).collect::<Vec<_>>();
        let input: Vec<i64> = match self.shape.activation {
            Activation::Crelu => own.iter().chain(other).map(|&sum| clip(sum)).collect(),
            Activation::Screlu => own.iter().chain(other).map(|&sum| (clip(sum) * clip(sum)) >> 7).collect(),
            Activation::Pairwise => [own, other]
                .into_iter()
                .flat_map(|acc| (0..half).map(|i| (clip(acc[i]) * clip(acc[i + half])) >> 7))
                .collect(),
            Activation::WidePairwise => unreachable!("only nets with threat inputs have it"),
        };
        let y = stack[0].sums(&input);
        let (z, skip) = match self.shape.topology {
            Topology::Plain => (relu(&y), 0),
            Topology::Skip { squares } => {
                let squared = y[..15].iter().map(|y| ((y * y) >> 19).min(127));
                let z = if squares { squared.chain(relu(&y[..15])).collect() } else { relu(&y) };
                (z, y[15] * 9600 / 8128)
            }
            Topology::Sfnnv16 => unreachable!("only nets with threat inputs have it"),
            Topology::Direct => unreachable!("the nets of `tests/direct.rs`"),
        };
        let h2 = relu(&stack[1].sums(&z));
        stack[2].sums(&h2)[0] + skip
    }
}

/// The king bucket for a rank and a file, both from 0. The rows of the tables start with the first rank.
fn king_bucket(features: Features, rank: usize, file: usize) -> usize {
    let table: [&[u8; 8]; 8] = match features {
        Features::HalfKav2Hm16 => {
            [b"01233210", b"45677654", b"88999988", b"aabbbbaa", b"ccddddcc", b"eeffffee", b"eeffffee", b"eeffffee"]
        }
        Features::HalfKav2Hm8 => {
            [b"01233210", b"44555544", b"66666666", b"66666666", b"77777777", b"77777777", b"77777777", b"77777777"]
        }
        Features::HalfKav2Hm4 => {
            [b"00111100", b"22222222", b"33333333", b"33333333", b"33333333", b"33333333", b"33333333", b"33333333"]
        }
        _ => [b"00000000"; 8],
    };
    let digit = char::from(table[rank][file]).to_digit(16);
    digit.expect("a hexadecimal digit") as usize
}

/// Architectures of our own format. Each feature set, width, activation, king bucket table and number of stacks occurs
/// at least once, and each width with attack inputs.
fn own_format() -> Vec<Architecture> {
    [
        [0, 256, 1, 32, 32, 1],
        [0, 256, 1, 32, 32, 8],
        [0, 256, 0, 32, 32, 8],
        // Pairwise products with fewer king buckets and piece-square values.
        [2 + 256 * 16, 256, 2, 16, 32, 8 + 256 * 8],
        [2 + 256 * 8, 1024, 2, 16, 32, 8 + 256 * 8],
        [2 + 256, 1024, 2, 16, 32, 8 + 256 * 8],
        [2 + 256 * 4, 1536, 2, 16, 32, 8 + 256 * 8],
        // The same with attacks on enemies.
        [2 + 256 * 8 + 65_536, 256, 2, 16, 32, 8 + 256 * 8],
        [2 + 256 + 65_536, 512, 2, 16, 32, 8 + 256 * 8],
        [2 + 65_536, 1024, 2, 16, 32, 8 + 256 * 8],
        [2 + 256 * 4 + 65_536, 1536, 2, 16, 32, 8 + 256 * 8],
        // Without king buckets.
        [3, 128, 1, 32, 32, 1],
        [3, 512, 0, 32, 32, 8],
        // Other layers and numbers of stacks.
        [3, 64, 1, 8, 32, 16],
        [0, 128, 0, 16, 32, 3],
        [2 + 256, 256, 1, 16, 32, 5],
        [2 + 256 * 4 + 65_536, 192, 1, 32, 32, 8],
        // Other widths: the smallest, the largest, and those that are no multiple of 128 or 512 columns.
        [0, 64, 0, 32, 32, 8],
        [0, 448, 1, 32, 32, 8],
        [2 + 256, 64, 2, 16, 32, 8 + 256 * 8],
        [2 + 256 * 4, 192, 2, 16, 32, 8 + 256 * 8],
        [2 + 256 * 8, 320, 2, 16, 32, 8 + 256 * 8],
        [2, 768, 2, 16, 32, 8 + 256 * 8],
        [2 + 256 * 4 + 65_536, 192, 2, 16, 32, 8 + 256 * 8],
        [2 + 256, 1088, 2, 16, 32, 8 + 256 * 8],
        [2 + 256, 3072, 2, 16, 32, 8 + 256 * 8],
        // Odd multiples of 32 columns, and second layers with other numbers of outputs.
        [3, 32, 0, 32, 16, 1],
        [3, 32, 1, 8, 8, 4],
        [3, 96, 1, 16, 8, 1],
        [0, 160, 0, 32, 8, 8],
        [2 + 256, 32, 2, 16, 32, 8 + 256 * 8],
        [2 + 256, 96, 2, 16, 32, 8 + 256 * 8],
        [2 + 256 * 4 + 65_536, 96, 2, 16, 32, 8 + 256 * 8],
        [2 + 256 * 4 + 65_536, 1056, 2, 16, 32, 8 + 256 * 8],
    ]
    .map(|words| Architecture::from_words(words).expect("a supported shape"))
    .into_iter()
    .chain(by_table())
    .collect()
}

/// Shapes with king buckets by other tables.
fn by_table() -> Vec<Architecture> {
    let sides = std::array::from_fn(|square| u8::from(square % 8 > 3) + 2 * u8::from(square > 15));
    let mirrored = std::array::from_fn(|square| [2, 0, 1, 3, 3, 1, 0, 2][square % 8] + 4 * u8::from(square > 7));
    let every_square = std::array::from_fn(|square| 63 - square as u8);
    let of = |words, table: &[u8; 64]| {
        let plain = Architecture::from_words(words).expect("a supported shape");
        plain.with_king_table(table).expect("a possible table")
    };
    vec![
        of([3, 64, 1, 32, 32, 1], &sides),
        of([3, 32, 0, 16, 16, 2], &every_square),
        of([0, 64, 1, 8, 32, 1], &sides),
        of([2, 256, 2, 16, 32, 8 + 256 * 8], &mirrored),
        of([2 + 65_536, 128, 2, 16, 32, 8 + 256 * 8], &mirrored),
    ]
}

#[test]
fn tables_of_king_buckets_are_checked() {
    let plain = Architecture::from_words([2, 64, 0, 32, 32, 1]).expect("a supported shape");
    let error = |table: [u8; 64]| plain.with_king_table(&table).expect_err("an impossible table").to_string();
    assert!(error([5; 64]).starts_with("no square has king bucket 0, although one has 5"));
    let mut table = [0; 64];
    table[3] = 1;
    assert!(error(table).starts_with("d1 has king bucket 1 and e1 has 0"), "{}", error(table));
    let found = plain.with_king_table(&[0; 64]).expect("a possible table");
    assert_eq!(found.features, Features::HalfKav2Hm1);
    // A damaged table is detected by the hash, or by its gap.
    let file = synthetic::network(by_table()[3], &synthetic::A, false);
    let table = 12 + b"synthetic".len() + WORDS;
    for (square, value) in [(0, 3), (0, 9), (63, 0)] {
        let mut damaged = file.clone();
        damaged[table + square] = value;
        assert!(Network::from_bytes(&damaged).is_err(), "{square} {value}");
    }
    let cut = Network::from_bytes(&file[..table + 63]).expect_err("a part of the table");
    assert_eq!(cut.to_string(), format!("truncated: {} bytes, expected {}", table + 63, table + 64));
}

#[test]
fn own_format_networks_match_reference() {
    for architecture in own_format() {
        check_games(architecture, &synthetic::A);
        check_games(architecture, &synthetic::B);
    }
}

#[test]
fn reader_names_the_unsupported_number_of_a_shape() {
    let mut file = synthetic::network(own_format()[0], &synthetic::A, false);
    let words = 12 + b"synthetic".len();
    let mut what = |word: usize, value: u8| {
        let at = words + 4 * word;
        let before = std::mem::replace(&mut file[at], value);
        let error = Network::from_bytes(&file).expect_err("an invalid network");
        file[at] = before;
        match error {
            NetError::UnsupportedShape(shape) => shape.what,
            error => panic!("{error}"),
        }
    };
    assert_eq!(what(0, 1), "features");
    assert_eq!(what(1, 129), "width");
    assert_eq!(what(2, 3), "activation");
    assert_eq!(what(3, 17), "first layer");
    assert_eq!(what(4, 33), "second layer");
    assert_eq!(what(5, 17), "buckets");
    let cut = Network::from_bytes(&file[..words + 7]).expect_err("half of the words");
    assert_eq!(cut.to_string(), "truncated: 28 bytes, expected 45");
}

#[test]
fn reader_rejects_every_change_of_the_shape_words() {
    for architecture in own_format() {
        let mut file = synthetic::network(architecture, &synthetic::A, false);
        let words = 12 + b"synthetic".len();
        for at in words..words + WORDS {
            let before = file[at];
            for value in (0..=255).filter(|&value| value != before) {
                file[at] = value;
                let read = Network::from_bytes(&file);
                assert!(read.is_err(), "{architecture}: byte {at} is {value}");
            }
            file[at] = before;
        }
    }
}

#[test]
fn compressed_own_format_file_round_trips() {
    let plain = synthetic::network(own_format()[0], &synthetic::A, false);
    let compressed = synthetic::network(own_format()[0], &synthetic::A, true);
    let network = Network::from_bytes(&compressed).expect("a compressed network");
    assert!(network.to_bytes() == compressed && network.to_bytes_as(false) == plain);
}

/// Makes and undoes random moves with every kernel, and compares the outputs with the reference. Some moves are made
/// on the position and pushed.
fn check_games(architecture: Architecture, recipe: &Recipe) {
    let file = synthetic::network(architecture, recipe, false);
    let network = Network::from_bytes(&file).expect("a valid network");
    assert_eq!(*network.architecture(), architecture);
    check_games_of(network, &file);
}

/// The same with the network of an uncompressed file.
fn check_games_of(network: Network, file: &[u8]) {
    let architecture = *network.architecture();
    let network = Arc::new(network);
    assert!(network.to_bytes() == file, "{architecture}: the file did not round-trip");
    let reference = Reference::new(file, *architecture);
    let mut rng = SplitMix64::new(17);
    for (game, kernel) in Kernel::available().into_iter().cycle().take(10).enumerate() {
        let mut stack = AccumulatorStack::with_kernel(network.clone(), kernel);
        let fen = STARTS[game % STARTS.len()];
        let mut position = Position::from_fen(fen, CastlingMode::Chess960).expect("a legal FEN");
        let mut height = 0;
        for _ in 0..200 {
            let moves = position.legal_moves();
            if height > 0 && (moves.is_empty() || rng.below(4) == 0) {
                position.undo_move();
                stack.pop();
                height -= 1;
            } else if !moves.is_empty() {
                let m = moves[rng.below(moves.len())];
                match rng.below(16) {
                    0 => stack.push(&position.do_move(m)),
                    _ => stack.make(&mut position, m),
                }
                height += 1;
            }
            if rng.below(if reference.attacks { 3 } else { 8 }) == 0 {
                let output = stack.evaluate(&position);
                let expected = reference.evaluate(&position);
                assert_eq!(output, expected, "{architecture}, {kernel}: {}", position.fen());
            }
        }
    }
}

/// The trained nets that are not embedded: one with attack inputs, whose weights fit into bytes, and one with king
/// buckets by a table.
#[test]
fn trained_nets_match_reference() {
    for name in ["attacks.nnue", "small.nnue"] {
        let file = match fs::read(format!("{}/nets/{name}", env!("CARGO_MANIFEST_DIR"))) {
            Err(_) if name == "attacks.nnue" => {
                eprintln!("skipped: nets/{name} is not part of the package");
                continue;
            }
            file => file.expect(name),
        };
        let plain = Network::from_bytes(&file).expect("a net").to_bytes_as(false);
        check_games_of(Network::from_bytes(&plain).expect("the same net"), &plain);
    }
}

/// The published architectures without threat inputs; `threats.rs` tests the others.
fn without_threat_inputs() -> impl Iterator<Item = Architecture> {
    Architecture::published().filter(|known| known.threat_inputs == ThreatInputs::None)
}

#[test]
fn published_architectures_match_reference() {
    without_threat_inputs().for_each(|architecture| check_games(architecture, &synthetic::A));
}

#[test]
fn smaller_architectures_match_reference_with_extreme_parameters() {
    without_threat_inputs()
        .filter(|architecture| architecture.l1 <= 1024)
        .for_each(|architecture| check_games(architecture, &synthetic::B));
}

/// The smallest architecture: a file of 6 MB.
fn small() -> Architecture {
    let mut published = Architecture::published();
    let small = published.find(|known| known.l1 == 128);
    small.expect("a published net of width 128")
}

#[test]
fn compressed_and_uncompressed_files_convert_into_each_other() {
    for recipe in [&synthetic::A, &synthetic::B] {
        let plain = synthetic::network(small(), recipe, false);
        let compressed = synthetic::network(small(), recipe, true);
        let network = Network::from_bytes(&compressed).expect("a compressed network");
        assert!(network.is_compressed() && network.info().size == compressed.len());
        assert!(network.to_bytes() == compressed);
        assert!(network.to_bytes_as(false) == plain);
        let again = Network::from_bytes(&plain).expect("a network");
        assert!(!again.is_compressed() && again.to_bytes_as(true) == compressed);
    }
}

#[test]
fn reader_reports_each_fault_of_a_compressed_file() {
    let file = synthetic::network(small(), &synthetic::A, true);
    let fault_of = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut file = file.clone();
        change(&mut file);
        match Network::from_bytes(&file).expect_err("an invalid network") {
            NetError::BadCompression { block, fault } => (block, fault),
            error => panic!("{error}"),
        }
    };
    // Start of the blocks, after header, description and hash. Each block starts with the magic text and its length.
    let biases = 12 + b"synthetic".len() + 4;
    let length_at = |block: usize| block + 17;
    let length = |block: usize| {
        let at = length_at(block);
        u32::from_le_bytes(file[at..at + 4].try_into().unwrap())
    };
    let weights = biases + 21 + length(biases) as usize;
    let psqt = weights + 21 + length(weights) as usize;
    let set_length = |block: usize, length: u32| {
        move |f: &mut Vec<u8>| {
            f[length_at(block)..length_at(block) + 4].copy_from_slice(&length.to_le_bytes());
        }
    };
    assert_eq!(fault_of(&|f| f[weights] = b'X'), ("weights", Fault::NoMagic));
    assert_eq!(fault_of(&|f| f[psqt + 16] = b'7'), ("piece-square values", Fault::NoMagic));
    assert_eq!(fault_of(&set_length(biases, 7)), ("biases", Fault::TooShort));
    // The length of the last block is one byte too short, then one byte too long.
    assert_eq!(fault_of(&set_length(psqt, length(psqt) - 1)), ("piece-square values", Fault::EndsEarly));
    assert_eq!(fault_of(&set_length(psqt, length(psqt) + 1)), ("piece-square values", Fault::LeftOver));
    assert_eq!(fault_of(&|f| f[weights + 21..weights + 31].fill(0xFF)), ("weights", Fault::OutOfRange));
    let message = NetError::BadCompression { block: "weights", fault: Fault::OutOfRange };
    assert_eq!(message.to_string(), "the compressed block of the weights contains a number that is out of range");
    let truncated = Network::from_bytes(&file[..weights + 1000]);
    assert!(matches!(truncated, Err(NetError::Truncated { .. })));
}

#[test]
fn damaged_file_is_rejected_or_evaluated_alike_by_all_kernels() {
    let position = Position::from_fen(STARTS[1], CastlingMode::Standard).expect("a legal FEN");
    let mut rng = SplitMix64::new(5);
    for (architecture, compressed) in [(small(), false), (small(), true), (own_format()[0], false)] {
        let file = synthetic::network(architecture, &synthetic::A, compressed);
        let (mut accepted, mut rejected) = (0, 0);
        for round in 0..300 {
            let mut damaged = file.clone();
            let (low, high) = match round % 3 {
                0 => (0, 400),
                1 => (file.len() - 30_000, file.len()),
                _ => (0, file.len()),
            };
            for _ in 0..1 + rng.below(3) {
                damaged[low + rng.below(high - low)] = rng.next_u64() as u8;
            }
            if round % 10 == 0 {
                damaged.truncate(rng.below(file.len()));
            }
            let Ok(network) = Network::from_bytes(&damaged) else {
                rejected += 1;
                continue;
            };
            accepted += 1;
            let network = Arc::new(network);
            let mut outputs = Kernel::available()
                .into_iter()
                .map(|kernel| AccumulatorStack::with_kernel(network.clone(), kernel).evaluate(&position));
            let first = outputs.next();
            assert!(outputs.all(|output| Some(output) == first), "kernels differ");
        }
        assert!(accepted > 50 && rejected > 20, "{accepted} accepted, {rejected} rejected");
    }
}

#[test]
fn error_for_unknown_architecture_lists_the_supported_ones() {
    let mut file = synthetic::network(small(), &synthetic::A, false);
    file[4] ^= 0x10;
    match Network::from_bytes(&file) {
        Err(NetError::UnknownArchitecture { description, known, .. }) => {
            assert_eq!(description, "synthetic");
            for supported in Architecture::published() {
                assert!(known.contains(&supported.to_string()), "{known}");
            }
        }
        other => panic!("{:?}", other.err()),
    }
}

/// Nets of the published architectures can have any width, as nnue-pytorch writes them. The file of another width is
/// made from one of our own format: both contain the same parameters.
#[test]
fn published_file_of_any_width_is_read_and_written_back() {
    for l1 in [32, 64, 768, 1088, 1120] {
        let own = Architecture::from_words([2, l1, 2, 16, 32, 8 + 256 * 8]).expect("a supported shape");
        let mut file = synthetic::network(own, &synthetic::A, false);
        let published = Shape { version: VERSION_2, ..*own };
        let description = b"synthetic".len();
        file.drain(12 + description..12 + description + WORDS);
        let mut write = |at: usize, word: u32| file[at..at + 4].copy_from_slice(&word.to_le_bytes());
        write(0, VERSION_2);
        write(4, published.file_hash());
        let transformer = 12 + description;
        write(transformer, published.transformer_hash());
        let stacks = transformer + 4 + published.transformer_size();
        let stack = published.stacks_size() / published.buckets;
        (0..published.buckets).for_each(|i| write(stacks + i * stack, published.network_hash()));
        let network = Network::from_bytes(&file).expect("a published architecture of another width");
        let name = format!("HalfKAv2_hm {l1}x2-(15+1)-32-1 x8 (as SFNNv5)");
        assert_eq!(network.architecture().to_string(), name);
        assert!(network.to_bytes() == file, "{name} did not round-trip");
    }
}

#[test]
fn architecture_names_are_unique() {
    let mut seen = std::collections::HashSet::new();
    for architecture in Architecture::published().chain(Architecture::own(&[32, 256, 1024])) {
        let name = architecture.to_string();
        assert!(seen.insert(name), "{architecture}");
    }
}
