//! Killing, resuming and locking runs; checkpoints and other outputs.

use std::fs;
use std::process::Command;

use zoothera::nnue::Network;

#[cfg(unix)]
use crate::common::engine::{restore_sighup, signal};
use crate::common::folder::pauses;
use crate::runs::*;

#[test]
fn killed_run_resumes_byte_identical() {
    let folder = Folder::new("resume");
    assert_kills_change_nothing(&folder, SHORT, &pauses(4, 1500));

    // The final checkpoint gives the final net.
    let export = folder.run("export whole.checkpoint --out again.nnue --plot again.svg").ok();
    assert!(export.err.contains("dead"), "{}", export.err);
    assert!(folder.bytes("again.nnue") == folder.bytes("whole.nnue"));
    for name in ["whole", "again"] {
        let picture = folder.bytes(&format!("{name}.svg"));
        let picture = String::from_utf8_lossy(&picture);
        let title = format!(">{name}.nnue: loss");
        assert!(picture.contains(&title) && picture.ends_with("</svg>\n"));
    }
}

#[test]
fn killed_run_larger_than_memory_resumes_byte_identical() {
    let folder = Folder::new("stream");
    let some = folder.bytes("some.bin");
    fs::write(folder.path("more.bin"), some.repeat(7)).expect("a file for the test");
    let small = format!("more.bin {SHORT} --memory 0.359");
    let run = folder.run(&format!("{small} --out whole.nnue")).ok();
    assert!(run.err.contains("in memory at a time"), "{}", run.err);
    assert_kills_change_nothing(&folder, &small, &pauses(3, 2500));
    // The order of the positions depends on the memory, so it must not change within a run.
    folder.run(&format!("more.bin {SHORT} --out whole.nnue --resume --memory 1")).fails_with("memory is");
    folder
        .run(&format!("{SHORT} --memory 0.2"))
        .fails_with("memory is 0.2 GB, but training a net of this shape needs at least 0.358");
}

#[test]
fn resume_rejects_other_training_files() {
    let folder = Folder::new("files");
    let run = |files: &str, more: &str| {
        let settings = "--millions 0.02 --batch 1000 --threads 1 --out net.nnue";
        folder.run(&format!("{files} {settings} {more}"))
    };
    run("some.bin", "").ok();
    let checkpoint = folder.bytes("net.checkpoint");
    let other = run("some.bin some.bin", "--resume");
    assert!(other.err.contains("net.checkpoint"), "{}", other.err);
    other.fails_with("the files or the settings differ from those");
    assert!(folder.bytes("net.checkpoint") == checkpoint);
    fs::write(folder.path("moved.bin"), folder.bytes("some.bin")).expect("a file");
    run("moved.bin", "--resume").ok();
}

#[test]
#[ignore = "a minute"]
fn repeatedly_killed_run_resumes_byte_identical() {
    let folder = Folder::new("many-kills");
    let settings = "some.bin --shape sf12 --millions 0.6 --batch 500 --threads 2 --every 0.1 --checkpoint-every 0.02";
    assert_kills_change_nothing(&folder, settings, &pauses(25, 2500));
}

#[test]
fn checkpoint_of_another_run_is_kept_but_not_resumed() {
    let folder = Folder::new("other");
    let short = "some.bin --millions 0.02 --batch 1000 --threads 1 --out net.nnue";
    folder.run(short).ok();
    let first = folder.bytes("net.checkpoint");
    folder.run(&format!("{short} --resume --seed 2")).fails_with("seed is 2 in the settings and 1 in the checkpoint");
    assert!(folder.bytes("net.checkpoint") == first);
    // Without --resume a new run starts, and the files of every older run are renamed.
    let files = ["nnue", "checkpoint", "tsv", "svg"];
    let all = |stem: &str| files.map(|extension| folder.bytes(&format!("{stem}.{extension}")));
    let oldest = all("net");
    let again = folder.run(&format!("{short} --seed 2")).ok();
    assert!(again.err.contains("net.checkpoint exists from another run: renamed to net-1.checkpoint"), "{}", again.err);
    let second = all("net");
    folder.run(&format!("{short} --seed 3")).ok();
    assert!(all("net-1") == oldest && all("net-2") == second && all("net") != second);

    fs::write(folder.path("net.checkpoint"), &first[..first.len() / 2]).expect("a file");
    folder.run(&format!("{short} --resume")).fails_with("cannot read checkpoint");
    folder.run("export some.bin --out x.nnue").fails_with("cannot read checkpoint");
}

/// Returns the names of all files in a folder.
fn names(folder: &Folder) -> Vec<String> {
    let entries = fs::read_dir(&folder.0).expect("a folder");
    let name = |entry: std::io::Result<fs::DirEntry>| {
        let name = entry.expect("a name").file_name();
        name.to_string_lossy().into_owned()
    };
    let mut names: Vec<String> = entries.map(name).collect();
    names.sort();
    names
}

#[test]
fn unwritable_output_fails_before_work_starts() {
    let folder = Folder::new("outputs");
    fs::create_dir(folder.path("inner")).expect("a folder");
    fs::create_dir(folder.path("a.svg")).expect("a folder");
    fs::copy(folder.path("some.bin"), folder.path("some.nnue")).expect("a file");
    let before = names(&folder);
    // If the inputs were read first, the error would name the absent file.
    let early = |out: &str, reason: &str| {
        let command = format!("absent.bin --out {out} --millions 0.01");
        folder.run(&command).fails_with(reason);
    };
    early("none/net.nnue", "cannot write none/net.nnue");
    early("inner", "inner: it is not a regular file");
    early("a.nnue", "a.svg: it is not a regular file");
    early("net.tsv", "for another file");
    early("net.nnue --init some.nnue", "some.nnue is neither a checkpoint nor a net");
    early("net.nnue --init other.nnue", "cannot read other.nnue");
    folder.run("some.bin --out some.bin").fails_with("some.bin is also an input (some.bin)");
    early("net.nnue", "absent.bin");
    assert_eq!(names(&folder), before);
}

#[test]
fn failed_run_renames_nothing() {
    let folder = Folder::new("fails");
    let short = "some.bin --millions 0.02 --batch 1000 --threads 1 --out net.nnue";
    folder.run(short).ok();
    let before = (names(&folder), folder.bytes("net.checkpoint"));
    fs::write(folder.path("bad.tree"), [7; 5000]).expect("a file");
    folder.run(&format!("{short} bad.tree")).fails_with("bad.tree");
    fs::remove_file(folder.path("bad.tree")).expect("the file exists");
    assert!((names(&folder), folder.bytes("net.checkpoint")) == before);
}

#[test]
fn training_does_not_overwrite_files_of_another_kind() {
    let folder = Folder::new("kinds");
    for name in ["t.nnue", "t.tsv", "t.svg", "t.checkpoint"] {
        fs::write(folder.path(name), "the user's own").expect("a file");
        folder.run("some.bin --millions 0.001 --out t.nnue").fails_with(&format!("{name} exists and is not "));
        assert_eq!(folder.bytes(name), b"the user's own");
        fs::remove_file(folder.path(name)).expect("the file exists");
    }
    // A net without a checkpoint is kept too.
    fs::write(folder.path("t.nnue"), Network::embedded().to_bytes()).expect("a net");
    folder.run("some.bin --millions 0.001 --out t.nnue").ok();
    assert!(folder.bytes("t-1.nnue") == Network::embedded().to_bytes());
}

#[test]
fn finished_run_is_extended_with_other_settings() {
    let folder = Folder::new("extended");
    let run = |more: &str| folder.run(&format!("some.bin --out net.nnue --every 0.01 {more}")).ok();
    run("--batch 1000 --millions 0.02 --threads 1 --average 0.5");
    let first = folder.bytes("net.nnue");
    let longer = "--millions 0.05 --threads 2 --rate 0.0008 --schedule constant --average 0.1 --batch 500 --resume";
    let extended = run(longer);
    assert!(
        extended.err.contains("resuming after 0.0 M positions with average 0.1 (was 0.5), batch 500"),
        "{}",
        extended.err
    );
    for text in ["millions 0.05 (was 0.02)", "rate 0.0008 (was 0.004)", "threads 2 (was 1)", "is not byte-identical"] {
        assert!(extended.err.contains(text), "{text}: {}", extended.err);
    }
    assert!(folder.bytes("net.nnue") != first);
    let log = String::from_utf8(folder.bytes("net.tsv")).expect("a text");
    let shown: Vec<&str> =
        log.lines().skip(1).filter_map(|line| line.split_once('\t')).map(|(shown, _)| shown).collect();
    assert_eq!(shown, ["10000", "20000", "30000", "40000", "50000"]);
    assert!(
        log.lines().last().is_some_and(|line| line.starts_with("# settings {") && line.contains("\"0.0008\"")),
        "{log}"
    );
    // Logs and checkpoints of several runs share a picture.
    folder.run("plot net.tsv net.checkpoint --out both.svg").ok();
    let picture = String::from_utf8(folder.bytes("both.svg")).expect("a text");
    assert!(picture.contains("net, net: loss") && picture.matches("<polyline").count() == 2, "{picture}");
    folder.run("plot some.bin --out other.svg").fails_with("some.bin");
    // From there on the run is exact again.
    let last = folder.bytes("net.nnue");
    let again = run(longer);
    assert!(!again.err.contains("byte-identical") && folder.bytes("net.nnue") == last, "{}", again.err);
}

#[test]
fn initial_loss_is_printed() {
    let folder = Folder::new("initial");
    let short = "some.bin --batch 1000 --threads 1 --millions 0.02";
    folder.run(&format!("{short} --out net.nnue")).ok();
    let end = held_out(&folder, "net.tsv").pop().expect("a validation");
    let run = folder.run(&format!("{short} --init net.checkpoint --out further.nnue")).ok();
    let (_, loss) = run.err.split_once("before the first step  held out ").expect("the initial loss");
    let loss: f64 = loss.split_whitespace().next().and_then(|loss| loss.parse().ok()).expect("a number");
    assert!((loss / end - 1.0).abs() < 0.05, "{loss} {end}");
    let info = crate::common::engine::engine().args(["net", "info"]).arg(folder.path("further.checkpoint")).output();
    let text = String::from_utf8(info.expect("the program runs").stdout).expect("a text");
    for line in ["0.02 M of 0.02 M shown", "Moments       of 20 steps", "  rate              0.004\n"] {
        assert!(text.contains(line), "{text}");
    }
}

#[test]
fn run_without_held_out_positions_says_none() {
    let folder = Folder::new("no-holdout");
    let run =
        folder.run("some.bin --batch 1000 --threads 1 --millions 0.02 --every 0.01 --holdout 0 --out net.nnue").ok();
    assert!(run.err.contains("training positions, none held out"), "{}", run.err);
    assert!(run.err.contains("held out none"), "{}", run.err);
    let log = String::from_utf8(folder.bytes("net.tsv")).expect("a text");
    assert_eq!(log.lines().nth(1).and_then(|line| line.split('\t').nth(2)), Some(""), "{log}");
    assert!(!String::from_utf8_lossy(&folder.bytes("net.svg")).contains("held out"));
}

#[cfg(unix)]
#[test]
fn checkpoint_is_written_early_and_on_termination_signals() {
    let folder = Folder::new("requests");
    let settings = "some.bin --batch 1000 --threads 2 --every 0.2 --checkpoint-every 0 --shape sf12";
    let run = format!("{settings} --millions 0.6 --out net.nnue --resume");
    // A closed terminal sends more than one signal.
    for signals in [&["INT"][..], &["TERM"], &["HUP"], &["TERM", "HUP", "HUP"]] {
        let mut command = folder.train(&run);
        restore_sighup(&mut command);
        // After the first of 600 batches.
        let child = start(&folder, command);
        let first = folder.bytes("net.checkpoint");
        signals.iter().for_each(|name| signal(&child, name));
        let ended = Run::of(&child.wait_with_output().expect("the run ends"));
        ended.fails_with("stopped by Ctrl-C or a signal after");
        assert!(folder.bytes("net.checkpoint") != first, "{signals:?}");
        if signals.len() > 1 {
            folder.run(&run).ok();
        } else {
            fs::remove_file(folder.path("net.checkpoint")).expect("the checkpoint exists");
        }
    }
    folder.run(&run.replace("--out net.nnue --resume", "--out whole.nnue")).ok();
    assert!(folder.bytes("net.nnue") == folder.bytes("whole.nnue"));
}

#[cfg(unix)]
#[test]
fn run_under_nohup_ignores_hangups() {
    let folder = Folder::new("nohup");
    let run = "some.bin --shape sf12 --batch 1000 --threads 2 --every 0.2 --millions 0.1 --out net.nnue";
    let train = folder.train(run);
    let mut command = Command::new("sh");
    command
        .current_dir(&folder.0)
        .args(["-c", "trap '' HUP; exec \"$0\" \"$@\""])
        .arg(train.get_program())
        .args(train.get_args());
    let child = start(&folder, command);
    signal(&child, "HUP");
    Run::of(&child.wait_with_output().expect("the run ends")).ok();
}

#[test]
fn output_is_locked_by_running_but_not_by_killed_run() {
    let folder = Folder::new("lock");
    let settings = "some.bin --batch 1000 --threads 1 --out net.nnue --resume";
    let mut first = start(&folder, folder.train(&format!("{settings} --millions 1000")));
    let before = names(&folder);
    for other in [settings, "some.bin --out ./net.nnue"] {
        folder.run(other).fails_with("another run writes to ");
    }
    assert!(first.try_wait().expect("the status is available").is_none(), "the first run ended");
    first.kill().expect("the run is active");
    first.wait().expect("the run ends");
    assert!(before.contains(&".net.checkpoint.zoothera.lock".to_owned()));
    folder.run("some.bin --batch 1000 --threads 1 --millions 0.01 --out net.nnue").ok();
    let left = names(&folder);
    assert!(!left.iter().any(|name| name.contains("zoothera")), "{left:?}");
}

#[test]
fn checkpoint_with_impossible_stream_position_is_rejected() {
    let folder = Folder::new("place");
    let run = "some.bin --batch 1000 --threads 1 --millions 0.01 --out net.nnue";
    folder.run(run).ok();
    let intact = folder.bytes("net.checkpoint");
    for (name, value) in [
        ("skip", u64::MAX),
        ("skip", 1 << 40),
        ("chunk", u64::MAX),
        ("chunk", 1),
        ("window", u64::MAX),
        ("window", 1),
        ("shown", u64::MAX),
        ("shown", 0),
        ("fingerprint", 1),
    ] {
        let damaged = with_state(&intact, |state| state["bookmark"][name] = value.into());
        fs::write(folder.path("net.checkpoint"), damaged).expect("a file");
        folder.run(&format!("{run} --resume")).fails_with("cannot resume from net.checkpoint");
    }
    let damaged = with_state(&intact, |state| state["shown"] = u64::MAX.into());
    fs::write(folder.path("net.checkpoint"), damaged).expect("a file");
    folder.run(&format!("{run} --resume")).fails_with("net.checkpoint is damaged");
    let longer = [&intact[..], &[0; 100_000]].concat();
    fs::write(folder.path("net.checkpoint"), longer).expect("a file");
    folder.run(&format!("{run} --resume")).fails_with("data after the end");
    fs::write(folder.path("net.checkpoint"), &intact).expect("a file");
    folder.run(&format!("{run} --resume")).ok();
}

/// Returns the checkpoint with an edited state and a correct checksum.
fn with_state(checkpoint: &[u8], edit: impl Fn(&mut serde_json::Value)) -> Vec<u8> {
    use sha2::Digest;
    let length = u32::from_le_bytes(checkpoint[12..16].try_into().expect("four bytes")) as usize;
    let (state, rest) = checkpoint[16..checkpoint.len() - 32].split_at(length);
    let mut state = serde_json::from_slice(state).expect("JSON");
    edit(&mut state);
    let state = serde_json::to_vec(&state).expect("JSON");
    let length = (state.len() as u32).to_le_bytes();
    let mut bytes = [&checkpoint[..12], &length, &state, rest].concat();
    let hash = sha2::Sha256::digest(&bytes);
    bytes.extend_from_slice(&hash);
    bytes
}
