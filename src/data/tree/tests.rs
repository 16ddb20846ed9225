//! Round trips of trees, compared with the positions of the board module.

use super::*;
use crate::board::openings::{chess960_start, random_walk};
use crate::board::{CastlingMode, Move, Position};
use crate::data::entry::Entry;
use crate::util::rng::SplitMix64;

/// An encoded game with ten random walks from each position, including null moves, and the expected entries.
struct SampledGame {
    bytes: Vec<u8>,
    expected: Vec<Entry>,
}

impl SampledGame {
    fn generate(start: &Position, plies: usize, result: i8, rng: &mut SplitMix64) -> Self {
        let mut encoder = Encoder::new(Root::of(start));
        let mut expected = Vec::new();
        let mut position = start.clone();
        for _ in 0..plies {
            for _ in 0..10 {
                let mut inside = position.clone();
                for _ in 0..rng.below(8) {
                    random_move(&mut inside, rng);
                }
                let moves = inside.moves_since(start.history_len());
                let path: Vec<PackedMove> = moves.map(Move::bits_of).collect();
                let score = rng.below(8001) as i16 - 4000;
                encoder.sample(&path, score).expect("a path of possible moves");
                let mut entry = Entry { score, score_alone: true, ..Entry::of(&inside) };
                entry.set_result(result);
                expected.push(entry);
            }
            random_move(&mut position, rng);
        }
        let mut bytes = Vec::new();
        encoder.finish(result, &mut bytes).expect("writing to a vector");
        Self { bytes, expected }
    }
}

/// Makes a random legal move or a null move; prefers promotions, castling and en passant captures.
fn random_move(position: &mut Position, rng: &mut SplitMix64) {
    let moves = position.legal_moves();
    let special = |m: &&Move| m.promotion().is_some() || position.is_castling(**m) || position.is_en_passant(**m);
    let rare: Vec<Move> = moves.iter().filter(special).copied().collect();
    if !position.in_check() && rng.below(8) == 0 {
        position.do_null_move();
    } else if !rare.is_empty() && rng.below(2) == 0 {
        position.do_move(rare[rng.below(rare.len())]);
    } else if !moves.is_empty() {
        position.do_move(moves[rng.below(moves.len())]);
    }
}

/// Decodes all entries, and returns the number of bytes of an incomplete block.
fn read(bytes: &[u8]) -> anyhow::Result<(Vec<Entry>, usize)> {
    let mut entries = Vec::new();
    let left = for_each(bytes, |entry, _, _| {
        entries.push(*entry);
        Ok(())
    })?;
    Ok((entries, left))
}

/// Start positions: special ones, Chess960 and the end of a random walk.
fn starts(rng: &mut SplitMix64) -> Vec<Position> {
    let mut starts = vec![Position::startpos()];
    for fen in [
        "r3k2r/8/8/8/8/8/8/R3K2R b Kq - 99 321",
        "4k3/1P6/8/3pP3/8/8/8/K6R w - d6 0 70",
        "8/PPPk4/8/8/8/8/4Kppp/8 w - - 0 1",
        "k7/8/8/8/8/8/8/7K w - - 0 30000",
    ] {
        starts.push(Position::from_fen(fen, CastlingMode::Standard).expect(fen));
    }
    starts.extend((0..20).map(|_| chess960_start(rng)));
    starts.extend(random_walk(&Position::startpos(), 9, rng));
    starts
}

#[test]
fn decoded_samples_equal_the_board_positions() {
    let mut rng = SplitMix64::new(1);
    for round in 0..10 {
        for start in starts(&mut rng) {
            let game = SampledGame::generate(&start, 60, round % 3 - 1, &mut rng);
            let (entries, left) = read(&game.bytes).expect("a valid block");
            assert_eq!((entries.len(), left), (600, 0));
            for (entry, expected) in std::iter::zip(&entries, &game.expected) {
                assert_eq!(entry, expected);
            }
        }
    }
}

#[test]
fn long_game_is_written_as_several_blocks() {
    let mut rng = SplitMix64::new(2);
    let mut encoder = Encoder::new(Root::of(&Position::startpos()));
    let path = ["e2e4", "e7e5", "e1e2", "e8e7"].map(|uci| {
        let square = |at: usize| uci[at..at + 2].parse::<crate::board::Square>().expect(uci);
        Move::new(square(0), square(2)).expect(uci).bits()
    });
    let scores: Vec<i16> = (0..900_000).map(|_| rng.below(60_000) as i16).collect();
    for (i, &score) in scores.iter().enumerate() {
        encoder.sample(&path[..i % 5], score).expect("a path of possible moves");
    }
    assert_eq!(encoder.count(), 900_000);
    let mut bytes = Vec::new();
    encoder.finish(1, &mut bytes).expect("writing to a vector");
    let (mut blocks, mut at) = (0, 0);
    let left = for_each(bytes.as_slice(), |entry, sample_path, block| {
        assert_eq!(entry.score, scores[at]);
        assert_eq!(sample_path.path, &path[..at % 5]);
        assert_eq!(sample_path.root.continues, block > 0);
        (blocks, at) = (block + 1, at + 1);
        Ok(())
    });
    assert_eq!((left.ok(), at), (Some(0), 900_000));
    assert!(blocks > 1);
}

#[test]
fn reader_keeps_whole_blocks_of_truncated_file_and_locates_damage() {
    let mut rng = SplitMix64::new(3);
    let generate = |rng: &mut SplitMix64| SampledGame::generate(&Position::startpos(), 5, 0, rng);
    let games = [(); 3].map(|()| generate(&mut rng));
    let whole = games.each_ref().map(|game| game.bytes.as_slice()).concat();
    let ends = [0, games[0].bytes.len(), whole.len() - games[2].bytes.len(), whole.len()];
    for cut in 0..whole.len() {
        let (entries, left) = read(&whole[..cut]).expect("a truncated file is not damaged");
        let blocks = ends.iter().filter(|&&end| end <= cut).count() - 1;
        assert_eq!((entries.len(), left), (50 * blocks, cut - ends[blocks]));
    }
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << rng.below(8);
        let block = ends.iter().filter(|&&end| end <= at).count() - 1;
        let error = format!("{:#}", read(&bytes).expect_err("damage"));
        let place = format!("block {block} (at byte {})", ends[block]);
        assert!(error.starts_with(&place), "byte {at}: '{error}' does not start with '{place}'");
    }
}

/// Decodes random bits in blocks with correct checksums. Each sample is an error or a position with two kings.
#[test]
fn decoder_never_panics_on_random_bits_with_correct_checksum() {
    let mut rng = SplitMix64::new(4);
    let mut valid = 0;
    for start in starts(&mut rng) {
        let root = Root::of(&start).encode();
        for round in 0..3000 {
            let mut bytes = root;
            if round % 2 == 1 {
                bytes[rng.below(32)] = rng.next_u64() as u8;
            }
            let Ok(root) = Root::decode(&bytes) else {
                continue;
            };
            let bits: Vec<u8> = (0..60).map(|_| rng.next_u64() as u8).collect();
            let mut block = Vec::new();
            write(&root, 20, &bits, &mut block).expect("writing to a vector");
            let _ = for_each(block.as_slice(), |entry, _, _| {
                valid += 1;
                assert!(entry.board.king(false).is_some() && entry.board.king(true).is_some());
                assert!(crate::data::bin::encode(entry).is_ok());
                let _ = (entry.is_quiet(), entry.record());
                Ok(())
            });
        }
    }
    assert!(valid > 1000, "{valid}");
}
