//! `zoothera distill` end to end: rounds, kills, kept files, and rejected inputs.

mod common;

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread::sleep;

use common::engine::engine;
use common::folder::{Folder, pauses};

const DEFAULT_NET: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/nets/default.nnue");

/// The smallest shape that can be trained.
const SMALL: &str = "features = \"half-kav2-hm\"\nl1 = 256\nactivation = \"pairwise\"\nbuckets = 8\nking-buckets = 1\n\
    psqt = true\nbatch = 1024\nwarm-up = 0.0\nmemory = 0.5\n";

/// Settings of a run that takes seconds.
const TINY: &str = "--book builtin --block 0.004 --threads 2 --held-out 1000 --soft-nodes 20 --one-in 10 \
    --match-games 2 --match-nodes 20 --train-config small.toml";

/// Returns the command in a folder with the file of settings.
fn distill(folder: &Folder, out: &str, arguments: &str) -> Command {
    folder.file("small.toml", SMALL.as_bytes());
    let mut command = engine();
    command.current_dir(folder.path(".")).args(["distill", "--out", out]).args(arguments.split_whitespace());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn output(mut command: Command) -> Output {
    command.output().expect("the engine runs")
}

/// Runs a command that must succeed and returns its standard output and error.
fn done(command: Command) -> (String, String) {
    let output = output(command);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}", text(&output.stderr));
    (text(&output.stdout), text(&output.stderr))
}

/// Runs a command that must fail and returns its error.
fn refused(command: Command) -> String {
    let output = output(command);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{error}");
    error
}

fn bytes(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn killed_run_ends_with_the_same_blocks_and_nets() {
    let folder = Folder::new("distill");
    let new = format!(
        "--teacher {DEFAULT_NET} --student new {TINY} --millions 0.012 --match-every 2 --window 1 --older 1 --made 0.5 \
         --endgames 0.5"
    );
    let (out, err) = done(distill(&folder, "whole", &new));
    assert!(out.starts_with("3 rounds") && out.contains("best.nnue"), "{out}");
    // A line for each round and phase, and no progress bar, because standard error is not a terminal.
    assert_eq!(err.lines().filter(|line| line.starts_with("round ")).count(), 3, "{err}");
    let phases = ["  round 1, sampling 4.0 k positions", "  round 3, training on 16.0 k positions"];
    assert!(phases.iter().all(|phase| err.lines().any(|line| line == *phase)), "{err}");
    assert_eq!(err.lines().count(), 10, "{err}");
    assert!(err.contains("against round 1") && err.contains("held out 0."), "{err}");

    for pause in pauses(5, 2500) {
        let mut child = distill(&folder, "killed", &new).spawn().expect("the engine starts");
        sleep(pause);
        let _ = child.kill();
        let _ = child.wait();
    }
    let (out, _) = done(distill(&folder, "killed", &new));
    assert!(out.starts_with("3 rounds"), "{out}");
    let files = [
        "block-00001.tree",
        "block-00003.tree",
        "held-out.tree",
        "newest.nnue",
        "best.nnue",
        "round-00003.nnue",
        "progress.tsv",
        "progress.svg",
    ];
    for name in files {
        let [whole, killed] = ["whole", "killed"].map(|run| bytes(&folder.path(run).join(name)));
        assert!(whole == killed, "{name} depends on kills");
    }

    // A finished run does nothing more, and continues with a larger limit.
    let (out, err) = done(distill(&folder, "killed", &new));
    assert!(out.starts_with("3 rounds") && err.starts_with("continuing after round 3"), "{out}{err}");
    let longer = new.replace("0.012", "0.016");
    let (out, _) = done(distill(&folder, "killed", &longer));
    assert!(out.starts_with("4 rounds"), "{out}");
    assert!(!folder.path("killed/round-00003.checkpoint").exists(), "files of older rounds remain");

    // A different seed, number of threads or block is a different run; the error names the option.
    for (from, to, name) in [
        ("--millions", "--seed 2 --millions", "seed was 1 and is now 2"),
        ("--threads 2", "--threads 1", "threads was 2 and is now 1"),
        ("--block 0.004", "--block 0.005", "block was 0.004 and is now 0.005"),
    ] {
        let error = refused(distill(&folder, "killed", &new.replace(from, to)));
        assert!(error.contains(name) && error.contains("other settings"), "{error}");
    }
}

#[test]
fn student_keeps_its_shape_and_old_blocks_go() {
    let folder = Folder::new("distill-shape");
    let teacher = format!("--teacher {DEFAULT_NET} --teacher {DEFAULT_NET}@0.5 {TINY} --match-every 1");
    done(distill(&folder, "first", &format!("{teacher} --student new --millions 0.004 --window 1")));
    fs::copy(folder.path("first/newest.nnue"), folder.path("mine.nnue")).expect("a net");
    let plain = folder.file("plain.toml", b"batch = 1024\nmemory = 0.5\n");
    let second = teacher.replace("small.toml", &plain.display().to_string());
    // The limit allows for one block of 4,000 positions, but not for two.
    let (_, err) = done(distill(
        &folder,
        "second",
        &format!("{second} --student mine.nnue --millions 0.008 --disk 0.000028 --window 1"),
    ));
    assert!(err.contains("against the start"), "{err}");
    let info = |name: &str| {
        let mut command = engine();
        command.args(["net", "info"]).arg(folder.path(name));
        let (out, _) = done(command);
        out.lines().filter(|line| line.starts_with("Architecture")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(info("second/newest.nnue"), info("mine.nnue"));
    assert_ne!(bytes(&folder.path("second/newest.nnue")), bytes(&folder.path("mine.nnue")));
    assert!(!folder.path("second/block-00001.tree").exists() && folder.path("second/block-00002.tree").exists());
}

#[test]
fn unusable_inputs_are_refused_before_the_first_round() {
    let folder = Folder::new("distill-refused");
    let good = format!("--teacher {DEFAULT_NET} --student new {TINY} --millions 0.004");
    folder.file("no.epd", b"this is no position\n");
    folder.file("text.nnue", b"this is no net\n");
    folder.file("bad.toml", b"out = \"x.nnue\"\n");
    folder.file("odd.toml", b"l1 = 300\n");
    for (from, to, reason) in [
        (DEFAULT_NET, "missing.nnue", "missing.nnue"),
        (DEFAULT_NET, "text.nnue", "text.nnue"),
        ("--student new", "--student missing.nnue", "missing.nnue"),
        ("builtin", "missing.epd", "missing.epd"),
        ("builtin", "no.epd", "no.epd"),
        ("small.toml", "bad.toml", "sets `out`"),
        ("small.toml", "odd.toml", "l1 is 300"),
        ("small.toml", "missing.toml", "missing.toml"),
        ("--block 0.004", "--block 0", "--block 0"),
        ("--match-games 2", "--match-games 3", "even number"),
        ("--student new", "--student default --shape small", "keeps its shape"),
        ("--millions 0.004", "--millions=-1", "--millions -1"),
        ("--millions 0.004", "--disk 0.000001", "--disk"),
        ("--millions 0.004", "--millions 1e9 --disk 1e9", "disk full"),
    ] {
        let line = good.replace(from, to);
        let output = output(distill(&folder, "run", &line));
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && error.contains(reason), "{from} {to}: {error}");
        assert!(!folder.path("run/block-00001.tree").exists(), "{to}");
        let _ = fs::remove_dir_all(folder.path("run"));
    }
    folder.file("other", b"");
    let error = refused(distill(&folder, ".", &good));
    assert!(error.contains("has other files but no run of distill"), "{error}");
    let error = refused(distill(&folder, "other", &good));
    assert!(error.contains("is not a folder"), "{error}");
}

#[test]
fn short_run_scales_its_blocks_and_makes_a_net() {
    let folder = Folder::new("distill-hours");
    let tiny = TINY.replace("--block 0.004 ", "");
    let short = format!("--teacher {DEFAULT_NET} --student new {tiny} --hours 0.002 --disk 1e9");
    let (out, err) = done(distill(&folder, "run", &short));
    assert!(out.contains("best.nnue") && err.contains("round 1, sampling "), "{out}{err}");
    assert!(err.contains(" left"), "{err}");
    let state: serde_json::Value = serde_json::from_slice(&bytes(&folder.path("run/distill.json"))).expect("JSON");
    let block = state["block"].as_f64().expect("a block");
    assert!((0.02..1.0).contains(&block), "{block}");
    // The last game of a block is complete.
    let positions = state["rounds"][0]["positions"].as_f64().expect("a number");
    assert!((1.0..1.1).contains(&(positions / 1e6 / block)), "{positions}");
    // The same command continues with the same blocks.
    let longer = short.replace("0.002", "1");
    let error = refused(distill(&folder, "run", &longer.replace("--hours", "--block 0.1 --hours")));
    assert!(error.contains("block was scaled to --hours and is now 0.1"), "{error}");
}
