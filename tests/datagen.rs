//! Data generation from the command line: the same seed gives the same file, with any threads and interruptions.

mod common;

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use common::engine::engine;
use common::folder::{Folder, entries, pauses};
use zoothera::board::{CastlingMode, Position};
use zoothera::data::entry::NO_SCORE;
use zoothera::data::{Entry, plain};
use zoothera::nnue::{AccumulatorStack, Network};

fn command(kind: &str, out: &Path, arguments: &str) -> Command {
    let mut command = engine();
    command.args(["datagen", kind, "--out"]).arg(out).args(arguments.split(' ')).stderr(Stdio::piped());
    command
}

fn start(kind: &str, out: &Path, arguments: &str) -> Child {
    command(kind, out, arguments).spawn().expect("the engine starts")
}

/// Runs the generator, which must succeed.
fn generate(kind: &str, out: &Path, arguments: &str) {
    let child = start(kind, out, arguments);
    let output = child.wait_with_output().expect("the engine exits");
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments}: {err}");
}

/// Runs the generator, which must fail, and returns its error output.
fn refused(kind: &str, out: &Path, arguments: &str) -> String {
    let child = start(kind, out, arguments);
    let output = child.wait_with_output().expect("the engine exits");
    assert!(!output.status.success(), "{arguments}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Kills the generator `kills` times, then runs it to the end. After each kill the output must be a prefix of the file
/// `whole` and contain all games that its state records.
fn generate_with_kills(kind: &str, (out, whole): (&Path, &Path), arguments: &str, kills: usize) {
    let arguments = format!("{arguments} --resume");
    let wanted = entries(whole);
    let mut recorded = 0;
    for pause in pauses(kills, 600) {
        let mut child = start(kind, out, &arguments);
        std::thread::sleep(pause);
        let _ = child.kill();
        let _ = child.wait();
        let now = recorded_positions(out);
        assert!(now >= recorded, "{now} positions after {recorded}");
        recorded = now;
        if out.exists() {
            let left = entries(out);
            assert!(left.len() >= recorded, "{} of {recorded}", left.len());
            assert!(wanted.starts_with(&left), "the output is not a prefix of the uninterrupted file");
        }
    }
    eprintln!("{recorded} of {} positions after {kills} kills", wanted.len());
    generate(kind, out, &arguments);
    let same = fs::read(out).expect("a file") == fs::read(whole).expect("a file");
    assert!(same, "the output depends on kills");
}

/// The number of positions that the state file records.
fn recorded_positions(out: &Path) -> usize {
    let mut path = out.as_os_str().to_owned();
    path.push(".state");
    let Ok(text) = fs::read_to_string(path) else {
        return 0;
    };
    let state: serde_json::Value = serde_json::from_str(&text).expect("a complete state");
    state["positions"].as_u64().expect("a number") as usize
}

const SAMPLE: &str = "--positions 12000 --nodes 300 --one-in 4 --hash 1";

#[test]
fn samples_depend_only_on_the_seed() {
    let folder = Folder::new("sample");
    let [one, two, killed] = ["1.bin", "2.bin", "3.bin"].map(|name| folder.path(name));
    generate("sample", &one, &format!("{SAMPLE} --threads 1"));
    generate("sample", &two, &format!("{SAMPLE} --threads 3"));
    generate_with_kills("sample", (&killed, &one), &format!("{SAMPLE} --threads 2"), 5);
    let wanted = fs::read(&one).expect("a file");
    assert!(fs::read(&two).expect("a file") == wanted, "the output depends on the number of threads");
    let samples = entries(&one);
    assert!(samples.len() >= 12_000 && samples.len() < 20_000);
    assert!(samples.iter().all(|e| e.is_quiet() && e.score.abs() <= 4000));
    for result in [-1, 1] {
        assert!(samples.iter().any(|e| e.result == result));
    }
}

#[test]
fn label_networks_label_the_same_samples() {
    let folder = Folder::new("sample-label");
    let [own, same, half] = ["own.bin", "same.bin", "half.bin"].map(|name| folder.path(name));
    let net = concat!(env!("CARGO_MANIFEST_DIR"), "/nets/default.nnue");
    let sample = "--positions 2000 --nodes 300 --one-in 4 --hash 1 --max-score 32000 --thin-beyond 32000";
    generate("sample", &own, sample);
    generate("sample", &same, &format!("{sample} --label {net}"));
    generate("sample", &half, &format!("{sample} --label {net}@0.25 --label {net}@0.75"));
    let [own, same, half] = [own, same, half].map(|path| entries(&path));
    assert!(same == own, "the labels by the playing network differ");
    assert_eq!(half.len(), own.len());
    for (half, own) in half.iter().zip(&own) {
        let wanted = (f64::from(own.score) / 2.0).round();
        assert_eq!(f64::from(half.score), wanted);
        assert_eq!(half.ply, own.ply);
    }

    let missing = refused("sample", &folder.path("none.bin"), &format!("{sample} --label no-such.nnue"));
    assert!(missing.contains("no-such.nnue"), "{missing}");
    let odd = refused("sample", &folder.path("none.bin"), &format!("{sample} --label {net}@0"));
    assert!(odd.contains("between 0.01 and 100"), "{odd}");
}

#[test]
fn made_positions_stand_beside_the_same_samples_and_survive_kills() {
    let folder = Folder::new("made");
    let [plain, one, bin, killed] = ["plain.tree", "1.tree", "1.bin", "k.tree"].map(|name| folder.path(name));
    let all = "--positions 2000 --nodes 300 --one-in 4 --hash 1 --max-score 32000 --thin-beyond 32000";
    generate("sample", &plain, all);
    let made = "--positions 12000 --nodes 300 --one-in 4 --hash 1 --max-score 32000 --thin-beyond 32000 --made 2";
    generate("sample", &one, &format!("{made} --threads 1"));
    generate("sample", &bin, made);
    generate_with_kills("sample", (&killed, &one), &format!("{made} --threads 3"), 4);
    let (plain, both) = (entries(&plain), entries(&one));
    assert!(both == entries(&bin), "the formats hold different positions");
    // The samples are the same as in a run without made positions, in the same order.
    let mut rest = both.iter();
    for sample in plain.iter().take(1000) {
        assert!(rest.any(|entry| entry.board == sample.board && entry.score == sample.score), "a sample is missing");
    }
    let passed = (both.len() - rest.len()) as f64;
    assert!((2800.0..=3200.0).contains(&passed), "1000 samples and {} made positions", passed - 1000.0);
    for wrong in ["-1", "nan", "1e9"] {
        let error = refused("sample", &folder.path("none.tree"), &format!("{all} --made={wrong}"));
        assert!(error.contains("from 0 to 1000"), "{error}");
    }
}

/// Samples of all values from short games with many endgames.
const UNFILTERED: &str = "--nodes 100 --one-in 4 --hash 1 --max-score 32000 --thin-beyond 32000 --random-plies 16";

#[test]
fn endgames_follow_the_same_games_and_survive_kills() {
    let folder = Folder::new("endgames");
    let [plain, one, bin, killed] = ["plain.tree", "1.tree", "1.bin", "k.tree"].map(|name| folder.path(name));
    let all = UNFILTERED;
    generate("sample", &plain, &format!("{all} --positions 4000"));
    let both = format!("{all} --positions 20000 --endgames 1.5");
    generate("sample", &one, &format!("{both} --threads 1"));
    generate("sample", &bin, &both);
    generate_with_kills("sample", (&killed, &one), &format!("{both} --threads 3"), 4);
    let (plain, both) = (entries(&plain), entries(&one));
    assert!(both == entries(&bin), "the formats hold different positions");
    // The games are those of a run without endgames, in the same order, with endgames between them.
    let mut rest = both.iter();
    for sample in &plain {
        assert!(rest.any(|entry| entry == sample), "a sample is missing");
    }
    let between = both.len() - rest.len() - plain.len();
    assert!(between > plain.len() / 4, "{between} samples of endgames");
    let few = |entries: &[Entry]| entries.iter().filter(|entry| entry.board.count() <= 22).count();
    // The share of samples with few pieces grows.
    assert!(few(&both) * plain.len() > few(&plain) * both.len(), "{} and {}", few(&both), few(&plain));
    for wrong in ["-1", "nan", "101"] {
        let error = refused("sample", &folder.path("none.tree"), &format!("{all} --positions 100 --endgames={wrong}"));
        assert!(error.contains("from 0 to 100"), "{error}");
    }
}

#[test]
fn noisy_drops_positions_of_the_same_games_and_survives_kills() {
    let folder = Folder::new("noisy");
    let [all, quiet, some, killed] = ["all.bin", "quiet.bin", "some.tree", "k.tree"].map(|name| folder.path(name));
    generate("sample", &all, &format!("{UNFILTERED} --positions 6000"));
    generate("sample", &quiet, &format!("{UNFILTERED} --positions 2000 --noisy 0"));
    generate("sample", &some, &format!("{UNFILTERED} --positions 3000 --noisy 0.3 --made 0.5 --threads 1"));
    generate_with_kills(
        "sample",
        (&killed, &some),
        &format!("{UNFILTERED} --positions 3000 --noisy 0.3 --made 0.5"),
        4,
    );
    // The games are the same, and only samples are missing.
    let (all, quiet) = (entries(&all), entries(&quiet));
    let mut rest = all.iter();
    for sample in &quiet {
        assert!(rest.any(|entry| entry == sample), "a sample is not from the same games");
    }
    let passed = all.len() - rest.len();
    assert!(quiet.len() * 10 < passed * 8, "{} quiet of {passed}", quiet.len());
    for wrong in ["-0.1", "nan", "1.1"] {
        let error =
            refused("sample", &folder.path("none.tree"), &format!("{UNFILTERED} --positions 100 --noisy={wrong}"));
        assert!(error.contains("from 0 to 1"), "{error}");
    }
}

#[test]
fn trees_have_the_same_samples_in_the_same_order_as_bin() {
    let folder = Folder::new("sample-tree");
    for (name, arguments) in [
        ("classical", SAMPLE.to_owned()),
        ("960", "--positions 5000 --nodes 300 --one-in 3 --hash 1 --chess960".to_owned()),
    ] {
        let path = |form: &str| folder.path(&format!("{name}-{form}"));
        let [bin, one, three, killed] = ["a.bin", "1.tree", "3.tree", "k.tree"].map(path);
        generate("sample", &bin, &arguments);
        generate("sample", &one, &format!("{arguments} --threads 1"));
        generate("sample", &three, &format!("{arguments} --threads 3"));
        generate_with_kills("sample", (&killed, &one), &arguments, 5);
        assert!(entries(&one) == entries(&bin), "{name}: the samples differ");
        let wanted = fs::read(&one).expect("a file");
        assert!(fs::read(&three).expect("a file") == wanted, "the output depends on the number of threads");
        let bytes = wanted.len() as f64 / entries(&one).len() as f64;
        assert!(bytes < 10.0, "{bytes} bytes a position");
    }
    let out = folder.path("games.tree");
    let error = refused("selfplay", &out, SELFPLAY);
    assert!(error.contains("datagen sample"), "{error}");
    assert!(!out.exists());
}

#[test]
fn finished_file_can_be_extended_only_with_the_same_settings() {
    let folder = Folder::new("longer");
    let [short, long] = ["short.bin", "long.bin"].map(|name| folder.path(name));
    let rest = "--nodes 200 --one-in 4 --hash 1 --threads 2";
    generate("sample", &short, &format!("--positions 3000 {rest}"));
    generate("sample", &short, &format!("--positions 6000 --resume {rest}"));
    generate("sample", &long, &format!("--positions 6000 {rest}"));
    assert!(fs::read(&short).expect("a file") == fs::read(&long).expect("a file"));
    for (arguments, why) in [
        (format!("--positions 6000 {rest}"), "--resume"),
        (format!("--positions 9000 --resume --seed 2 {rest}"), "other settings"),
        (format!("--positions 9000 --resume --book absent.epd {rest}"), "absent.epd"),
    ] {
        let error = refused("sample", &long, &arguments);
        assert!(error.contains(why), "{error}");
    }
    for (name, why) in
        [("a.xyz", "unknown file extension"), ("a.pgn", "a position without a move, which PGN cannot store")]
    {
        let error = refused("sample", &folder.path(name), &format!("--positions 9 {rest}"));
        assert!(error.contains(why), "{error}");
    }
}

fn position(entry: &Entry) -> Position {
    let fen = plain::fen(entry);
    Position::from_fen(&fen, CastlingMode::Standard).expect("a position")
}

#[test]
fn labels_are_the_static_evaluations_of_the_network() {
    let folder = Folder::new("labels");
    let out = folder.path("a.bin");
    let arguments = "--positions 2000 --nodes 200 --one-in 2 --max-score 2000 --hash 1";
    generate("sample", &out, arguments);
    let mut accumulators = AccumulatorStack::new(Network::embedded());
    for entry in entries(&out) {
        accumulators.reset();
        let value = accumulators.evaluate(&position(&entry)).value();
        assert_eq!(i32::from(entry.score), value);
        assert!(value.abs() <= 2000);
    }
}

const SELFPLAY: &str = "--positions 600 --nodes 200 --hash 1";

#[test]
fn games_depend_only_on_the_seed() {
    let folder = Folder::new("selfplay");
    for format in ["binpack", "bin", "plain"] {
        let [one, two, killed] = [1, 2, 3].map(|n| folder.path(&format!("{n}.{format}")));
        generate("selfplay", &one, &format!("{SELFPLAY} --threads 1"));
        generate("selfplay", &two, &format!("{SELFPLAY} --threads 3"));
        generate_with_kills("selfplay", (&killed, &one), SELFPLAY, 5);
        let wanted = fs::read(&one).expect("a file");
        assert!(fs::read(&two).expect("a file") == wanted, "the output depends on the number of threads");
    }
    let games = entries(&folder.path("1.bin"));
    assert!(games.len() >= 600);
    assert!(entries(&folder.path("1.binpack")) == games);
    assert!(entries(&folder.path("1.plain")) == games);
    for pair in games.windows(2) {
        // Within a game, the move of each entry leads to the position of the next.
        let [before, after] = [position(&pair[0]), position(&pair[1])];
        let mut played = before;
        played.do_move(pair[0].m.expect("a move"));
        if pair[1].ply == pair[0].ply + 1 {
            assert_eq!(played.key(), after.key());
            assert_eq!(pair[0].result, -pair[1].result);
        }
    }
}

#[test]
fn filters_drop_positions_or_in_binpack_their_scores() {
    let folder = Folder::new("filters");
    let [bin, binpack] = ["a.bin", "a.binpack"].map(|name| folder.path(name));
    let arguments = format!("{SELFPLAY} --quiet --max-score 1000 --min-ply 12");
    generate("selfplay", &bin, &arguments);
    generate("selfplay", &binpack, &arguments);
    let kept = entries(&bin);
    assert!(kept.iter().all(|e| e.is_quiet() && e.ply >= 12));
    assert!(kept.iter().all(|e| e.score.abs() <= 1000));
    let mut all = entries(&binpack);
    assert!(all.len() > kept.len());
    all.retain(|e| e.score != NO_SCORE);
    assert!(all == kept);
}

#[test]
fn chess960_games_can_be_read_back() {
    let folder = Folder::new("chess960");
    for format in ["bin", "plain", "binpack"] {
        let out = folder.path(&format!("a.{format}"));
        generate("selfplay", &out, &format!("{SELFPLAY} --chess960"));
        assert!(entries(&out).len() >= 590, "{format}");
    }
}

#[test]
#[ignore = "minutes"]
fn many_kills_lose_no_game() {
    let folder = Folder::new("many-kills");
    for (kind, name, arguments) in [
        ("sample", "a.bin", "--positions 300000 --nodes 300 --one-in 4 --hash 1"),
        ("sample", "e.tree", "--positions 300000 --nodes 300 --one-in 4 --hash 1"),
        ("selfplay", "b.bin", "--positions 15000 --nodes 400 --hash 1"),
        ("selfplay", "c.binpack", "--positions 15000 --nodes 400 --hash 1"),
        ("selfplay", "d.plain", "--positions 15000 --nodes 400 --hash 1"),
    ] {
        let [whole, killed] = ["whole", "killed"].map(|form| folder.path(&format!("{form}-{name}")));
        generate(kind, &whole, arguments);
        generate_with_kills(kind, (&killed, &whole), arguments, 30);
    }
}

#[test]
fn edited_state_and_flipped_bit_are_refused_by_name() {
    let folder = Folder::new("damage");
    let out = folder.path("a.tree");
    let arguments = "--positions 300 --nodes 200 --one-in 4 --hash 1 --threads 1";
    generate("sample", &out, arguments);
    let state = folder.path("a.tree.state");
    let (data, valid) = (fs::read(&out).expect("a file"), fs::read_to_string(&state).expect("a state"));
    let longer = arguments.replace("300", "600") + " --resume";
    let mut edited: serde_json::Value = serde_json::from_str(&valid).expect("JSON");
    edited["games"] = (edited["games"].as_u64().expect("a number") - 1).into();
    fs::write(&state, edited.to_string()).expect("the file is writable");
    let error = refused("sample", &out, &longer);
    assert!(error.contains("a.tree.state was edited or damaged"), "{error}");
    fs::write(&state, &valid).expect("the file is writable");
    for at in [0, data.len() / 2, data.len() - 1] {
        let mut flipped = data.clone();
        flipped[at] ^= 16;
        fs::write(&out, &flipped).expect("the file is writable");
        let error = refused("sample", &out, &longer);
        assert!(error.contains("a.tree: ") && error.contains("changed or damaged"), "{error}");
        assert!(fs::read(&out).expect("a file") == flipped);
    }
    fs::write(&out, &data).expect("the file is writable");
    generate("sample", &out, &longer);
    assert!(fs::read(&out).expect("a file").starts_with(&data));
}

#[cfg(unix)]
#[test]
fn interrupted_generation_can_be_resumed() {
    let folder = Folder::new("requests");
    let [out, whole] = ["a.tree", "whole.tree"].map(|name| folder.path(name));
    let arguments = "--positions 3000 --nodes 300 --one-in 4 --hash 1 --threads 2 --resume";
    for name in ["INT", "TERM", "HUP"] {
        let mut command = command("sample", &out, &arguments.replace("3000", "100000000"));
        let mut child = common::engine::restore_sighup(&mut command).spawn().expect("the generator starts");
        let before = recorded_positions(&out);
        while recorded_positions(&out) == before {
            std::thread::sleep(std::time::Duration::from_millis(5));
            assert!(child.try_wait().expect("a child process").is_none(), "the generator exited early");
        }
        common::engine::signal(&child, name);
        let output = child.wait_with_output().expect("the generator exits");
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(130), "{err}");
        assert!(err.contains("interrupted after ") && err.contains("--resume"), "{err}");
        assert_eq!(folder.names(), ["a.tree", "a.tree.state"]);
    }
    let longer = arguments.replace("3000", &(recorded_positions(&out) + 500).to_string());
    generate("sample", &out, &longer);
    generate("sample", &whole, &longer);
    assert!(fs::read(&out).expect("a file") == fs::read(&whole).expect("a file"));
}
