//! `zoothera data …` on synthetic games: no entry is lost or added, and no temporary file remains.

mod common;

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::process::Output;

use common::engine::engine;
use common::folder::{Folder, encode, entries, random_games};
use zoothera::board::openings::random_walk;
use zoothera::board::{CastlingMode, Move, Position};
use zoothera::data::entry::NO_SCORE;
use zoothera::data::reader::Format;
use zoothera::data::tree::{Encoder, PackedMove, Root};
use zoothera::data::{Entry, bin, plain};
use zoothera::nnue::{AccumulatorStack, Network};
use zoothera::util::rng::SplitMix64;

/// Runs a `data` command; `paths` follow the first argument. Outputs may be replaced.
fn data(arguments: &[&str], paths: &[&Path]) -> Output {
    let force = (arguments[0] != "info").then_some("--force");
    let mut words = arguments.iter();
    engine().arg("data").args(words.next()).args(force).args(paths).args(words).output().expect("the engine starts")
}

/// Runs a `data` command, which must succeed, and returns its standard output.
fn succeed(arguments: &[&str], paths: &[&Path]) -> String {
    let output = data(arguments, paths);
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {err}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The sorted records of the entries, for comparisons that ignore the order.
fn sorted(entries: &[Entry]) -> Vec<[u8; bin::RECORD_BYTES]> {
    let mut records: Vec<_> = entries.iter().map(|entry| bin::encode(entry).expect("a position")).collect();
    records.sort_unstable();
    records
}

#[test]
fn convert_round_trips_every_format() {
    let folder = Folder::new("convert");
    let games = random_games(1, 100);
    let first = folder.file("a.binpack", &encode(Format::Binpack, &games));
    let names = ["b.bin.gz", "c.plain.zst", "d.bin", "e.binpack"].map(|name| folder.path(name));
    let mut from = &first;
    for to in &names {
        succeed(&["convert"], &[from, to]);
        assert!(entries(to) == games);
        from = to;
    }
    let bytes = |path: &Path| fs::read(path).expect("a file");
    assert!(bytes(&names[2]) == encode(Format::Bin, &games));
    assert!(bytes(&first) == bytes(&names[3]));
    let both = folder.path("both.bin");
    let part = ["convert", "--skip", "10", "--limit", "4000"];
    succeed(&part, &[&names[0], &names[1], &both]);
    assert_eq!(entries(&both).len(), 4000);
    assert!(entries(&both)[0] == games[10]);
}

#[test]
fn shuffle_permutes_all_entries_and_depends_on_the_seed() {
    let folder = Folder::new("shuffle");
    let games = random_games(2, 1000);
    let from = folder.file("a.bin", &encode(Format::Bin, &games));
    let [one, again, other, large] = ["1.bin", "2.bin", "3.bin", "4.bin"].map(|n| folder.path(n));
    // One MiB is too little for all entries, so that there are several buckets.
    succeed(&["shuffle", "--memory", "1"], &[&from, &one]);
    succeed(&["shuffle", "--memory", "1"], &[&from, &again]);
    succeed(&["shuffle", "--memory", "1", "--seed", "2"], &[&from, &other]);
    succeed(&["shuffle"], &[&from, &large]);
    assert!(entries(&one) == entries(&again));
    assert!(entries(&one) != entries(&other));
    for shuffled in [&one, &other, &large] {
        let shuffled = entries(shuffled);
        assert!(sorted(&shuffled) == sorted(&games));
        // Few consecutive entries remain consecutive.
        let follow = |pair: &[Entry]| pair[1].ply == pair[0].ply + 1;
        let following = shuffled.windows(2).filter(|pair| follow(pair)).count();
        assert!(following < games.len() / 20, "{following}");
        // About half of the entries of the first half remain in it.
        let half: HashSet<_> = sorted(&shuffled[..games.len() / 2]).into_iter().collect();
        let stayed = sorted(&games[..games.len() / 2]);
        let stayed = stayed.iter().filter(|r| half.contains(*r)).count();
        let share = stayed as f64 / (games.len() / 2) as f64;
        assert!((0.45..0.55).contains(&share), "{share}");
    }
    assert_eq!(folder.names(), ["1.bin", "2.bin", "3.bin", "4.bin", "a.bin"]);
}

#[test]
fn dedupe_keeps_the_first_of_equal_positions() {
    let folder = Folder::new("dedupe");
    let games = random_games(3, 1000);
    let from = folder.file("a.bin", &encode(Format::Bin, &games));
    let mut seen = HashSet::new();
    let mut wanted = games.clone();
    wanted.retain(|e| seen.insert((e.board, e.black_to_move, e.castling, e.ep)));
    assert!(wanted.len() < games.len());
    for memory in ["1", "1024"] {
        let to = folder.path("b.bin");
        succeed(&["dedupe", "--memory", memory], &[&from, &from, &to]);
        assert!(entries(&to) == wanted);
    }
    assert_eq!(folder.names(), ["a.bin", "b.bin"]);
}

#[test]
fn split_keeps_games_whole() {
    let folder = Folder::new("split");
    let games = random_games(4, 400);
    let from = folder.file("a.binpack", &encode(Format::Binpack, &games));
    let [large, small] = ["large.bin", "small.bin"].map(|name| folder.path(name));
    let into = |path: &Path, weight| format!("--into={}={weight}", path.display());
    succeed(&["split", &into(&large, 9), &into(&small, 1)], &[&from]);
    let (large, small) = (entries(&large), entries(&small));
    assert!(sorted(&[large.clone(), small.clone()].concat()) == sorted(&games));
    assert!(small.len() > games.len() / 20 && small.len() < games.len() / 5);
    let starts = |entries: &[Entry]| entries.iter().filter(|entry| entry.ply == 1).count();
    assert_eq!(starts(&small) + starts(&large), 400);
    assert!(small.windows(2).all(|p| p[1].ply == 1 || p[1].ply == p[0].ply + 1));
}

#[test]
fn filter_drops_positions_or_in_binpack_their_scores() {
    let folder = Folder::new("filter");
    let games = random_games(5, 200);
    let from = folder.file("a.bin", &encode(Format::Bin, &games));
    let [bin, binpack, thin] = ["b.bin", "b.binpack", "c.bin"].map(|name| folder.path(name));
    let arguments = ["filter", "--quiet", "--max-score", "2000", "--min-ply", "5"];
    let mut wanted = games.clone();
    wanted.retain(|e| e.is_quiet() && e.score.abs() <= 2000 && e.ply >= 5);
    succeed(&arguments, &[&from, &bin]);
    assert!(entries(&bin) == wanted);
    succeed(&arguments, &[&from, &binpack]);
    let mut scored = entries(&binpack);
    assert_eq!(scored.len(), games.len());
    scored.retain(|entry| entry.score != NO_SCORE);
    assert!(scored == wanted);
    succeed(&["filter", "--thin-beyond", "1000", "--thin", "4"], &[&from, &thin]);
    let within = |e: &&Entry| e.score.abs() <= 1000;
    let thinned = entries(&thin);
    let inside = games.iter().filter(within).count();
    assert_eq!(thinned.iter().filter(within).count(), inside);
    let share = (thinned.len() - inside) as f64 / (games.len() - inside) as f64;
    assert!((0.2..0.3).contains(&share), "{share}");
}

#[test]
fn filter_keeps_a_share_of_the_positions_that_win_material() {
    let folder = Folder::new("noisy");
    let games = random_games(9, 600);
    let from = folder.file("a.bin", &encode(Format::Bin, &games));
    let wins = |entry: &&Entry| {
        let position = Position::from_fen(&plain::fen(entry), CastlingMode::Chess960).expect("a position of a game");
        position.can_win_material()
    };
    let count = |entries: &[Entry]| entries.iter().filter(wins).count();
    let noisy = count(&games);
    let quiet = games.len() - noisy;
    for (share, kept) in [("0", 0..=0), ("0.25", noisy / 6..=noisy / 3), ("1", noisy..=noisy)] {
        let to = folder.path("b.bin");
        succeed(&["filter", "--noisy", share], &[&from, &to]);
        let chosen = entries(&to);
        assert!(kept.contains(&count(&chosen)), "{share}: {} of {noisy}", count(&chosen));
        assert_eq!(chosen.len() - count(&chosen), quiet, "{share}");
    }
    let refused = data(&["filter", "--noisy", "1.5"], &[&from, &folder.path("c.bin")]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("a number from 0 to 1"));
}

#[test]
fn info_counts_positions_games_and_results() {
    let folder = Folder::new("info");
    let games = random_games(6, 50);
    for (name, format) in [("a.bin", Format::Bin), ("a.binpack", Format::Binpack)] {
        let path = folder.file(name, &encode(format, &games));
        let text = succeed(&["info"], &[&path]);
        let line = |name: &str| {
            let line = text.lines().find(|line| line.trim().starts_with(name));
            line.and_then(|line| line.split_whitespace().find_map(|w| w.parse().ok()))
        };
        assert_eq!(line("positions"), Some(games.len()), "{text}");
        assert_eq!(line("runs of plies"), Some(50));
        assert_eq!(line("won"), Some(games.iter().filter(|e| e.result == 1).count()));
        assert!(text.contains("<= 32"), "{text}");
    }
}

/// Samples in the search trees of random games, as a `.tree` and as entries.
fn trees(seed: u64, count: usize) -> (Vec<u8>, Vec<Entry>) {
    let mut rng = SplitMix64::new(seed);
    let (mut bytes, mut all) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let start = random_walk(&Position::startpos(), 4, &mut rng).expect("a position");
        let mut encoder = Encoder::new(Root::of(&start));
        let white = rng.below(3) as i8 - 1;
        for sample in 0..50 {
            let plies = sample / 5 + rng.below(6);
            let Some(position) = random_walk(&start, plies, &mut rng) else {
                continue;
            };
            let moves = position.moves_since(start.history_len());
            let path: Vec<PackedMove> = moves.map(Move::bits_of).collect();
            let score = rng.below(6000) as i16 - 3000;
            encoder.sample(&path, score).expect("a path of possible moves");
            let mut entry = Entry { score, score_alone: true, ..Entry::of(&position) };
            entry.set_result(white);
            all.push(entry);
        }
        encoder.finish(white, &mut bytes).expect("writing to a vector");
    }
    (bytes, all)
}

#[test]
fn commands_read_trees_and_write_trees_from_trees() {
    let folder = Folder::new("trees");
    let (bytes, samples) = trees(8, 100);
    let tree = folder.file("a.tree", &bytes);
    assert!(entries(&tree) == samples);
    let bin = folder.path("a.bin");
    succeed(&["convert"], &[&tree, &bin]);
    assert!(entries(&bin) == samples);
    let copy = folder.path("copy.tree");
    succeed(&["convert"], &[&tree, &copy]);
    assert!(fs::read(&copy).expect("a file") == bytes);
    // Commands with trees as input and output keep the same entries as with `.bin` files.
    for arguments in [
        ["convert", "--skip", "100", "--limit", "3000"].as_slice(),
        &["filter", "--max-score", "2000", "--min-ply", "9"],
        &["filter", "--thin-beyond", "500", "--thin", "3"],
        &["dedupe"],
    ] {
        let [to_tree, to_bin] = ["b.tree", "b.bin"].map(|name| folder.path(name));
        succeed(arguments, &[&tree, &tree, &to_tree]);
        succeed(arguments, &[&bin, &bin, &to_bin]);
        let kept = entries(&to_tree);
        assert!(kept == entries(&to_bin), "{arguments:?}");
        assert!(!kept.is_empty() && kept.len() < 2 * samples.len());
    }
    let shuffled = folder.path("shuffled.bin");
    succeed(&["shuffle"], &[&tree, &shuffled]);
    assert!(sorted(&entries(&shuffled)) == sorted(&samples));
    assert!(succeed(&["info"], &[&tree]).contains(&samples.len().to_string()));
}

#[test]
fn relabel_writes_the_mean_value_of_the_networks() {
    let folder = Folder::new("relabel");
    let (bytes, samples) = trees(10, 60);
    let [tree, bin] = ["a.tree", "a.bin"].map(|name| folder.path(name));
    fs::write(&tree, bytes).expect("a file");
    let mut wanted = samples.clone();
    // An entry without a score must stay without one.
    wanted[7].score = NO_SCORE;
    fs::write(&bin, encode(Format::Bin, &wanted)).expect("a file");
    let net = concat!(env!("CARGO_MANIFEST_DIR"), "/nets/default.nnue");
    let [half, more] = ["0.5", "2"].map(|factor| format!("--label={net}@{factor}"));
    let mut accumulators = AccumulatorStack::new(Network::embedded());
    for entry in wanted.iter_mut().filter(|entry| entry.score != NO_SCORE) {
        let position = Position::from_fen(&plain::fen(entry), CastlingMode::Standard);
        accumulators.reset();
        let value = accumulators.evaluate(&position.expect("legal")).value();
        entry.score = (f64::from(value) * 1.25).round() as i16;
    }
    for threads in ["1", "3"] {
        let [to_tree, to_bin] = ["b.tree", "b.bin"].map(|name| folder.path(name));
        let arguments = ["relabel", &half, &more, "--threads", threads];
        succeed(&arguments, &[&bin, &to_bin]);
        assert!(entries(&to_bin) == wanted, "{threads} threads");
        succeed(&arguments, &[&tree, &to_tree]);
        let labelled = entries(&to_tree);
        assert!(labelled.len() == wanted.len());
        let differ = labelled.iter().zip(&wanted).filter(|(a, b)| a != b);
        assert_eq!(differ.count(), 1, "only the entry without a score may differ");
    }
    let missing = data(&["relabel", "--label", "none.nnue"], &[&bin, &tree]);
    let message = String::from_utf8_lossy(&missing.stderr).into_owned();
    assert!(!missing.status.success() && message.contains("none.nnue"));
}

#[test]
fn split_keeps_games_of_trees_whole() {
    let folder = Folder::new("split-trees");
    let (bytes, samples) = trees(9, 300);
    let from = folder.file("a.tree", &bytes);
    let [large, small] = ["large.tree", "small.bin"].map(|name| folder.path(name));
    let into = |path: &Path, weight| format!("--into={}={weight}", path.display());
    succeed(&["split", &into(&large, 4), &into(&small, 1)], &[&from]);
    let (large, small) = (entries(&large), entries(&small));
    assert!(sorted(&[large.clone(), small.clone()].concat()) == sorted(&samples));
    // A run of consecutive samples in one part is one or more whole games, so that there are few runs.
    let first = sorted(&small[..1]);
    assert!(!sorted(&large).contains(&first[0]));
    let mut rest = samples.as_slice();
    let mut runs = 0;
    while let Some(sample) = rest.first() {
        let part = if small.contains(sample) { &small } else { &large };
        let here = rest.iter().take_while(|e| part.contains(e)).count();
        rest = &rest[here..];
        runs += 1;
    }
    assert!(runs <= 150, "{runs} runs of samples in 300 games");
}

#[test]
fn commands_refuse_unrelated_positions_in_trees_at_once() {
    let folder = Folder::new("unrelated");
    let games = random_games(10, 20);
    let bin = folder.file("a.bin", &encode(Format::Bin, &games));
    let tree = folder.path("b.tree");
    for command in ["convert", "filter", "shuffle", "dedupe"] {
        let output = data(&[command], &[&bin, &tree]);
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success());
        assert!(err.contains("write .bin instead"), "{command}: {err}");
        assert_eq!(folder.names(), ["a.bin"], "{command}");
    }
}

#[test]
fn failed_command_keeps_the_old_output_and_no_temporary_file() {
    let folder = Folder::new("failure");
    let games = random_games(7, 20);
    let mut bytes = encode(Format::Bin, &games);
    bytes[200] = 255;
    bytes[201..240].fill(255);
    let damaged = folder.file("damaged.bin", &bytes);
    let old = folder.file("old.bin", b"");
    for command in ["convert", "filter", "shuffle", "dedupe"] {
        let output = data(&[command], &[&damaged, &old]);
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "{command}");
        assert!(err.contains("damaged.bin") && err.contains("record 5"), "{command}: {err}");
        assert!(!err.contains("panicked"), "{command}: {err}");
        assert_eq!(folder.names(), ["damaged.bin", "old.bin"], "{command}");
        assert_eq!(fs::metadata(&old).expect("the old file").len(), 0);
    }
    let no_move = Entry { m: None, ..games[0] };
    let positions = folder.file("positions.bin", &encode(Format::Bin, &[no_move]));
    let output = data(&["convert"], &[&positions, &folder.path("a.binpack")]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("without a move"));
    assert!(!output.status.success());
}

/// Commands that write a file from inputs.
const WRITERS: [&[&str]; 5] = [
    &["convert"],
    &["filter"],
    &["shuffle"],
    &["dedupe"],
    &["relabel", concat!("--label=", env!("CARGO_MANIFEST_DIR"), "/nets/default.nnue")],
];

#[test]
fn bad_inputs_never_change_an_existing_output() {
    let folder = Folder::new("bad-inputs");
    let games = random_games(11, 20);
    let good = encode(Format::Bin, &games);
    let text = encode(Format::Plain, &games);
    let bullet = encode(Format::Bulletformat, &games);
    let binpack = encode(Format::Binpack, &games);
    let without_end = text.len() - 2;
    let inputs: [(&str, &[u8], &str); 12] = [
        ("hello.binpack", b"hello\n", "this is other text"),
        ("hello.tree", b"hello\n", "this is other text"),
        ("hello.bin", b"hello\n", "this is other text"),
        ("short.bin", &[1, 2, 3], "it has only 3 bytes of an incomplete record"),
        ("cut.plain", &text[..without_end], "5 lines of an incomplete entry"),
        ("cut.bin", &good[..good.len() - 1], "39 bytes of an incomplete record"),
        ("cut.binpack", &binpack[..binpack.len() - 1], "bytes of an incomplete block"),
        ("empty.bin", b"", "there is no position to write"),
        ("records.bin", &bullet, "these are bulletformat's 32-byte records; rename it to"),
        ("other.bf", &good, "these are the 40-byte records of a .bin; rename it to"),
        ("other.bin", &binpack, "this is a .binpack; rename it to"),
        ("broken.pgn", b"[Result \"1-0\"]\n\n1. e4 Ke4 1-0\n", "game 1"),
    ];
    for (name, bytes, why) in inputs {
        let input = folder.file(name, bytes);
        let old = folder.file("old.bin", &good);
        for arguments in WRITERS {
            let output = data(arguments, &[&input, &old]);
            let err = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(1), "{arguments:?} {name}: {err}");
            // Filters of an empty file name their own reason.
            let expected = if name == "empty.bin" && arguments[0] == "filter" { "no position passes" } else { why };
            assert!(
                err.contains(expected) && (name == "empty.bin" || err.contains(name)),
                "{arguments:?} {name}: {err}"
            );
            assert!(fs::read(&old).expect("the old file") == good, "{arguments:?} {name}");
        }
        let split = data(&["split", &format!("--into={}=1", old.display())], &[&input]);
        assert_eq!(split.status.code(), Some(1), "split {name}");
        assert!(fs::read(&old).expect("the old file") == good, "split {name}");
        fs::remove_file(&input).expect("the input");
    }
}

#[test]
fn lenient_uses_the_rest_of_a_truncated_file() {
    let folder = Folder::new("lenient");
    let games = random_games(12, 20);
    let bytes = encode(Format::Bin, &games);
    let cut = folder.file("cut.bin", &bytes[..bytes.len() - 1]);
    let out = folder.path("out.bin");
    succeed(&["convert", "--lenient"], &[&cut, &out]);
    assert!(entries(&out) == games[..games.len() - 1]);
}

#[test]
fn limit_stops_before_the_rest_is_read() {
    let folder = Folder::new("limit");
    let games = random_games(13, 20);
    let mut bytes = encode(Format::Bin, &games);
    let damage = 200 * bin::RECORD_BYTES;
    bytes[damage..damage + bin::RECORD_BYTES].fill(255);
    let [input, out] = [folder.file("damaged.bin", &bytes), folder.path("out.bin")];
    succeed(&["convert", "--limit", "10"], &[&input, &folder.path("missing.bin"), &out]);
    assert!(entries(&out) == games[..10]);
    succeed(&["convert", "--skip", "5", "--limit", "0.1k"], &[&input, &out]);
    assert!(entries(&out) == games[5..105]);
}

#[test]
fn formats_of_other_trainers_keep_labels() {
    let folder = Folder::new("foreign");
    let mut games = random_games(14, 30);
    games[3].score = NO_SCORE;
    let from = folder.file("a.bin", &encode(Format::Bin, &games));
    games.remove(3);
    let labels = |all: &[Entry]| all.iter().map(|e| (e.score, e.result, e.board.count())).collect::<Vec<_>>();
    for name in ["b.bf", "b.bullet.txt", "c.txt.gz", "b.bf.zst"] {
        let to = folder.path(name);
        if name == "c.txt.gz" {
            // The content of a .txt decides between .plain and bullet's text.
            let text = entries(&folder.path("b.bullet.txt"));
            fs::write(folder.path("c.txt"), encode(Format::BulletText, &text)).expect("room");
            assert!(labels(&entries(&folder.path("c.txt"))) == labels(&games));
            continue;
        }
        succeed(&["convert"], &[&from, &to]);
        assert!(labels(&entries(&to)) == labels(&games), "{name}");
    }
    let epd = folder.path("b.epd");
    succeed(&["convert"], &[&from, &epd]);
    // Centipawns are half as fine as engine units.
    let near = |(a, b): (&Entry, &Entry)| (a.score - b.score).abs() <= 1 && a.result == b.result && a.m == b.m;
    let read: Vec<Entry> = entries(&epd).into_iter().filter(|entry| entry.score != NO_SCORE).collect();
    assert!(read.len() == games.len() && read.iter().zip(&games).all(near));
}

#[test]
fn formats_of_games_keep_labels_and_moves() {
    let folder = Folder::new("games");
    let mut games = random_games(15, 30);
    // A position without a score stays in its game.
    games[3].score = NO_SCORE;
    let from = folder.file("a.bin", &encode(Format::Bin, &games));
    for name in ["b.vf", "b.viri.gz", "b.pgn.zst", "c.pgn"] {
        let to = folder.path(name);
        succeed(&["convert"], &[&from, &to]);
        let mut expected = games.clone();
        let is_pgn = name.contains("pgn");
        if is_pgn {
            expected.remove(3);
        }
        let found = entries(&to);
        assert_eq!(found.len(), expected.len(), "{name}");
        for (found, expected) in found.iter().zip(&expected) {
            let limit = if is_pgn { 28_000 } else { 30_000 };
            let score = if expected.score == NO_SCORE { NO_SCORE } else { expected.score.clamp(-limit, limit) };
            // Centipawns in PGN are half as fine as engine units.
            assert!((found.score - score).abs() <= i16::from(is_pgn), "{name}: {} {score}", found.score);
            let same = Entry { score: found.score, ..*expected };
            assert_eq!(*found, same, "{name}");
        }
    }
    // Thirty games, not one for each position.
    let text = fs::read_to_string(folder.path("c.pgn")).expect("a text");
    assert_eq!(text.matches("[Result").count(), 30);
}

#[test]
fn score_unit_converts_scores_to_engine_units() {
    let folder = Folder::new("units");
    let text = "4k3/8/8/8/8/8/4P3/4K3 b - - 0 9 | 50 | 1.0\n";
    let input = folder.file("a.txt", text.as_bytes());
    let out = folder.path("b.bin");
    for (unit, score) in [("engine", -50), ("cp", -100), ("2.5", -125)] {
        succeed(&["convert", "--score-unit", unit], &[&input, &out]);
        assert_eq!(entries(&out)[0].score, score, "{unit}");
    }
    let pgn = folder.file("a.pgn", b"1. e4 {[%eval 0.5]} e5 {[%eval 0.25]} 2. Nf3 1-0\n");
    succeed(&["convert"], &[&pgn, &out]);
    assert_eq!(entries(&out).iter().map(|entry| entry.score).collect::<Vec<_>>(), [-100, 50]);
}
