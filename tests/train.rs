//! `zoothera train` end to end: runs that are killed and resumed, checkpoints that are exported, settings from a file.

mod engine;
mod folder;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use engine::engine;
#[cfg(unix)]
use engine::{restore_sighup, signal};
use folder::pauses;
use zoothera::board::Position;
use zoothera::data::Entry;
use zoothera::data::reader::Format;
use zoothera::data::writer::EntryWriter;
use zoothera::nnue::{AccumulatorStack, Network};
use zoothera::util::rng::SplitMix64;

/// A folder of its own for a test, with positions in it; removed when the test has passed.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("zoothera-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a folder for the test");
        let folder = Self(path);
        let some = positions(20_000, &folder.material_net());
        fs::write(folder.path("some.bin"), some).expect("a file for the test");
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The net of material and squares: what is learned from it does not change with the default net.
    fn material_net(&self) -> Arc<Network> {
        let path = self.path("material.nnue");
        let made = engine().arg("net-material").arg(&path).output();
        assert!(made.expect("the program runs").status.success());
        let bytes = fs::read(&path).expect("it was written");
        fs::remove_file(path).expect("it is there");
        Arc::new(Network::from_bytes(&bytes).expect("a sound net"))
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// `zoothera train` in this folder.
    fn train(&self, arguments: &str) -> Command {
        let mut command = engine();
        command
            .current_dir(&self.0)
            .arg("train")
            .args(arguments.split_whitespace())
            .stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &str) -> Run {
        Run::of(&self.train(arguments).output().expect("the program runs"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}

struct Run {
    ok: bool,
    err: String,
}

impl Run {
    fn of(output: &Output) -> Self {
        Self {
            ok: output.status.success(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    fn ok(self) -> Self {
        assert!(self.ok, "{}", self.err);
        self
    }

    fn fails_with(self, reason: &str) {
        assert!(!self.ok && self.err.contains(reason), "{}", self.err);
        assert!(!self.err.contains("panicked"), "{}", self.err);
    }
}

/// Positions of random games as a `.bin` file, labelled by a network.
fn positions(count: usize, network: &Arc<Network>) -> Vec<u8> {
    let mut rng = SplitMix64::new(5);
    let mut accumulators = AccumulatorStack::new(Arc::clone(network));
    let mut position = Position::startpos();
    let mut writer = EntryWriter::new(Format::Bin, Vec::new()).expect("a writer");
    for _ in 0..count {
        let moves = position.legal_moves();
        if moves.is_empty() || position.fullmoves() > 40 {
            position = Position::startpos();
            continue;
        }
        position.do_move(moves[rng.below(moves.len())]);
        accumulators.reset();
        let score = accumulators.evaluate(&position).value();
        let mut entry = Entry::of(&position);
        entry.score = score.clamp(-3000, 3000) as i16;
        entry.result = entry.score.signum() as i8;
        writer.write(&entry).expect("a sound entry");
    }
    writer.finish().expect("a vector takes everything")
}

/// A run that is short, but has several checkpoints.
const SHORT: &str =
    "some.bin --millions 0.3 --batch 1000 --threads 2 --every 0.05 --checkpoint-every 0.04";

/// Runs with `settings`, once in peace and once killed again and again; the same net and log must come of both.
fn kill_and_compare(folder: &Folder, settings: &str, pauses: &[Duration]) {
    folder.run(&format!("{settings} --out whole.nnue")).ok();
    let command = format!("{settings} --out killed.nnue --resume");
    let mut kills = 0;
    for &pause in pauses {
        let mut child = folder
            .train(&command)
            .stderr(Stdio::null())
            .spawn()
            .expect("the program runs");
        sleep(pause);
        kills += u32::from(matches!(child.try_wait(), Ok(None)));
        // SIGKILL, wherever it is: loading, learning, writing.
        let _ = child.kill();
        child.wait().expect("it ends");
    }
    let log = fs::read_to_string(folder.path("killed.tsv")).unwrap_or_default();
    let reports = log.lines().count().saturating_sub(1);
    eprintln!(
        "{kills} of {} runs were killed; {reports} validations done",
        pauses.len()
    );
    folder.run(&command).ok();
    assert!(folder.bytes("killed.nnue") == folder.bytes("whole.nnue"));
    let log = |name: &str| -> Vec<String> {
        let text = String::from_utf8(folder.bytes(name)).expect("a text");
        let without_time = |line: &str| line.rsplit_once('\t').map(|(left, _)| left.to_owned());
        text.lines().filter_map(without_time).collect()
    };
    assert_eq!(log("killed.tsv"), log("whole.tsv"));
    assert_eq!(log("whole.tsv").len(), 7);
}

#[test]
fn a_killed_run_goes_on_as_if_nothing_had_been() {
    let folder = Folder::new("resume");
    kill_and_compare(&folder, SHORT, &pauses(4, 1500));

    // The checkpoint of the end gives the net of the end.
    let export = folder
        .run("export whole.checkpoint --out again.nnue --plot again.svg")
        .ok();
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
fn a_killed_run_on_more_than_the_memory_holds_goes_on_as_well() {
    let folder = Folder::new("stream");
    let some = folder.bytes("some.bin");
    fs::write(folder.path("more.bin"), some.repeat(7)).expect("a file for the test");
    let small = format!("more.bin {SHORT} --memory 0.317");
    let run = folder.run(&format!("{small} --out whole.nnue")).ok();
    assert!(run.err.contains("in memory at a time"), "{}", run.err);
    kill_and_compare(&folder, &small, &pauses(3, 2500));
    // What is shown depends on the memory, which a run must not change.
    folder
        .run(&format!(
            "more.bin {SHORT} --out whole.nnue --resume --memory 1"
        ))
        .fails_with("memory is");
    folder
        .run(&format!("{SHORT} --memory 0.2"))
        .fails_with("memory is 0.2 GB, but training a net of this shape takes 0.316");
}

#[test]
fn a_checkpoint_is_not_continued_on_other_files() {
    let folder = Folder::new("files");
    let run = |files: &str, more: &str| {
        let settings = "--millions 0.02 --batch 1000 --threads 1 --out net.nnue";
        folder.run(&format!("{files} {settings} {more}"))
    };
    run("some.bin", "").ok();
    let checkpoint = folder.bytes("net.checkpoint");
    let other = run("some.bin some.bin", "--resume");
    assert!(other.err.contains("net.checkpoint"), "{}", other.err);
    other.fails_with("the files or the settings are not those");
    assert!(folder.bytes("net.checkpoint") == checkpoint);
    fs::write(folder.path("moved.bin"), folder.bytes("some.bin")).expect("a file");
    run("moved.bin", "--resume").ok();
}

#[test]
#[ignore = "a minute"]
fn many_kills_change_nothing() {
    let folder = Folder::new("many-kills");
    let settings =
        "some.bin --millions 0.6 --batch 500 --threads 2 --every 0.1 --checkpoint-every 0.02";
    kill_and_compare(&folder, settings, &pauses(25, 2500));
}

#[test]
fn another_run_s_checkpoint_is_neither_taken_nor_lost() {
    let folder = Folder::new("other");
    let short = "some.bin --millions 0.02 --batch 1000 --threads 1 --out net.nnue";
    folder.run(short).ok();
    let first = folder.bytes("net.checkpoint");
    folder
        .run(&format!("{short} --resume --rate 0.001"))
        .fails_with("rate is");
    assert!(folder.bytes("net.checkpoint") == first);
    // Without --resume it is a new run, and the old one's checkpoint is kept.
    let again = folder.run(&format!("{short} --seed 2")).ok();
    assert!(again.err.contains("net.checkpoint.old"), "{}", again.err);
    assert!(folder.bytes("net.checkpoint.old") == first);

    fs::write(folder.path("net.checkpoint"), &first[..first.len() / 2]).expect("a file");
    folder
        .run(&format!("{short} --resume"))
        .fails_with("no whole checkpoint");
    folder
        .run("export some.bin --out x.nnue")
        .fails_with("no whole checkpoint");
}

/// The names in a folder.
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
fn what_cannot_be_written_is_told_at_once() {
    let folder = Folder::new("outputs");
    fs::create_dir(folder.path("inner")).expect("a folder");
    fs::create_dir(folder.path("a.svg")).expect("a folder");
    fs::copy(folder.path("some.bin"), folder.path("some.nnue")).expect("a file");
    let before = names(&folder);
    // Were the files read first, the absent one would be named.
    let early = |out: &str, reason: &str| {
        let command = format!("absent.bin --out {out} --millions 0.01");
        folder.run(&command).fails_with(reason);
    };
    early("none/net.nnue", "cannot write none/net.nnue");
    early("inner", "inner: it is not a regular file");
    early("a.nnue", "a.svg: it is not a regular file");
    early("net.tsv", "another file of the run");
    early("net.nnue --init some.nnue", "some.nnue is no checkpoint");
    early("net.nnue --init other.nnue", "cannot read other.nnue");
    folder
        .run("some.bin --out some.bin")
        .fails_with("some.bin is also an input (some.bin)");
    early("net.nnue", "absent.bin");
    assert_eq!(names(&folder), before);
}

#[test]
fn a_run_that_fails_renames_nothing() {
    let folder = Folder::new("fails");
    let short = "some.bin --millions 0.02 --batch 1000 --threads 1 --out net.nnue";
    folder.run(short).ok();
    let before = (names(&folder), folder.bytes("net.checkpoint"));
    fs::write(folder.path("bad.tree"), [7; 5000]).expect("a file");
    folder
        .run(&format!("{short} bad.tree"))
        .fails_with("bad.tree");
    fs::remove_file(folder.path("bad.tree")).expect("it is there");
    assert!((names(&folder), folder.bytes("net.checkpoint")) == before);
}

#[test]
fn files_of_another_kind_are_not_replaced() {
    let folder = Folder::new("kinds");
    for name in [
        "t.nnue",
        "t.tsv",
        "t.svg",
        "t.checkpoint",
        "t.checkpoint.old",
    ] {
        fs::write(folder.path(name), "the user's own").expect("a file");
        folder
            .run("some.bin --millions 0.001 --out t.nnue")
            .fails_with(&format!("{name} exists and is not "));
        assert_eq!(folder.bytes(name), b"the user's own");
        fs::remove_file(folder.path(name)).expect("it is there");
    }
    // What a run itself has written is replaced by the next one.
    for _ in 0..3 {
        folder.run("some.bin --millions 0.001 --out t.nnue").ok();
    }
}

/// Starts a run with standard error in a pipe, and waits for its first checkpoint.
fn start(folder: &Folder, mut command: Command) -> std::process::Child {
    let mut child = command.stderr(Stdio::piped()).spawn().expect("it runs");
    while !folder.path("net.checkpoint").exists() {
        sleep(Duration::from_millis(20));
        let ended = child.try_wait().expect("it is our child");
        assert!(ended.is_none(), "it ended without a checkpoint");
    }
    child
}

#[cfg(unix)]
#[test]
fn checkpoint_comes_early_and_at_each_request_to_end() {
    let folder = Folder::new("requests");
    let settings = "some.bin --batch 1000 --threads 2 --every 0.2 --checkpoint-every 0";
    let run = format!("{settings} --millions 0.6 --out net.nnue --resume");
    // A closed terminal sends more than one signal.
    for signals in [&["INT"][..], &["TERM"], &["HUP"], &["TERM", "HUP", "HUP"]] {
        let mut command = folder.train(&run);
        restore_sighup(&mut command);
        // After the first of 600 batches.
        let child = start(&folder, command);
        let first = folder.bytes("net.checkpoint");
        signals.iter().for_each(|name| signal(&child, name));
        let ended = Run::of(&child.wait_with_output().expect("it ends"));
        ended.fails_with("stopped by Ctrl-C or a signal after");
        assert!(folder.bytes("net.checkpoint") != first, "{signals:?}");
        if signals.len() > 1 {
            folder.run(&run).ok();
        } else {
            fs::remove_file(folder.path("net.checkpoint")).expect("it is there");
        }
    }
    folder
        .run(&run.replace("--out net.nnue --resume", "--out whole.nnue"))
        .ok();
    assert!(folder.bytes("net.nnue") == folder.bytes("whole.nnue"));
}

#[cfg(unix)]
#[test]
fn run_under_nohup_ignores_hangups() {
    let folder = Folder::new("nohup");
    let run = "some.bin --batch 1000 --threads 2 --every 0.2 --millions 0.1 --out net.nnue";
    let train = folder.train(run);
    let mut command = Command::new("sh");
    command
        .current_dir(&folder.0)
        .args(["-c", "trap '' HUP; exec \"$0\" \"$@\""])
        .arg(train.get_program())
        .args(train.get_args());
    let child = start(&folder, command);
    signal(&child, "HUP");
    Run::of(&child.wait_with_output().expect("it ends")).ok();
}

#[test]
fn second_run_with_the_same_output_is_refused_and_a_killed_one_blocks_nobody() {
    let folder = Folder::new("lock");
    let settings = "some.bin --batch 1000 --threads 1 --out net.nnue --resume";
    let mut first = start(
        &folder,
        folder.train(&format!("{settings} --millions 1000")),
    );
    let before = names(&folder);
    for other in [settings, "some.bin --out ./net.nnue"] {
        folder.run(other).fails_with("another run writes to ");
    }
    assert!(
        first.try_wait().expect("our child").is_none(),
        "it was disturbed"
    );
    first.kill().expect("it runs");
    first.wait().expect("it ends");
    assert!(before.contains(&".net.checkpoint.zoothera.lock".to_owned()));
    folder
        .run("some.bin --batch 1000 --threads 1 --millions 0.01 --out net.nnue")
        .ok();
    let left = names(&folder);
    assert!(
        !left.iter().any(|name| name.contains("zoothera")),
        "{left:?}"
    );
}

#[test]
fn checkpoint_with_an_impossible_place_is_refused() {
    let folder = Folder::new("place");
    let run = "some.bin --batch 1000 --threads 1 --millions 0.01 --out net.nnue";
    folder.run(run).ok();
    let sound = folder.bytes("net.checkpoint");
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
        let damaged = with_state(&sound, |state| state["bookmark"][name] = value.into());
        fs::write(folder.path("net.checkpoint"), damaged).expect("a file");
        folder
            .run(&format!("{run} --resume"))
            .fails_with("cannot go on from net.checkpoint");
    }
    let damaged = with_state(&sound, |state| state["shown"] = u64::MAX.into());
    fs::write(folder.path("net.checkpoint"), damaged).expect("a file");
    folder
        .run(&format!("{run} --resume"))
        .fails_with("net.checkpoint is damaged");
    let longer = [&sound[..], &[0; 100_000]].concat();
    fs::write(folder.path("net.checkpoint"), longer).expect("a file");
    folder
        .run(&format!("{run} --resume"))
        .fails_with("something behind its end");
    fs::write(folder.path("net.checkpoint"), &sound).expect("a file");
    folder.run(&format!("{run} --resume")).ok();
}

/// A checkpoint with another state, and the checksum that fits.
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

#[test]
fn settings_may_come_from_a_file_and_weights_from_a_net() {
    let folder = Folder::new("config");
    let config = "files = ['some.bin']\nmillions = 0.1\nbatch = 1000\nthreads = 2\nout = 'first.nnue'\n\
                  loss = 'power'\nlambda = 1.0\nlambda-end = 0.7\nschedule = 'step'\nstep-every = 0.03\n\
                  warm-up = 0.01\nevery = 0.05\n";
    fs::write(folder.path("run.toml"), config).expect("a file");
    folder.run("--config run.toml").ok();
    let first = held_out(&folder, "first.tsv");
    // What a net has learnt is there again after a single batch with hardly a step.
    let tuning = "--config run.toml --init first.nnue --rate 1e-9 --millions 0.001 --every 0.001 --lambda 0.7";
    folder.run(&format!("{tuning} --out second.nnue")).ok();
    let second = held_out(&folder, "second.tsv");
    let (end, begin) = (first[first.len() - 1], second[0]);
    assert!((begin / end - 1.0).abs() < 0.05, "{first:?} {second:?}");

    fs::write(folder.path("bad.toml"), "batches = 3\n").expect("a file");
    folder.run("--config bad.toml").fails_with("batches");
    folder.run("--config none.toml").fails_with("none.toml");
    folder.run("--millions 1").fails_with("name files");
    folder.run("some.bin --lambda 2").fails_with("lambda is 2");
    folder
        .run("some.bin --init run.toml --millions 0.01")
        .fails_with("run.toml");
}

#[test]
fn a_mean_of_the_last_part_is_kept_exported_and_better_at_a_constant_rate() {
    let folder = Folder::new("average");
    // Labels near a half are soon learned: what is left of a step is noise, which a mean takes out.
    let settings = format!("{SHORT} --schedule constant --rate 0.01 --scale 3000");
    kill_and_compare(
        &folder,
        &format!("{settings} --average 0.5"),
        &pauses(2, 2500),
    );
    folder.run("export whole.checkpoint --out mean.nnue").ok();
    assert!(folder.bytes("mean.nnue") == folder.bytes("whole.nnue"));
    // The steps are those of a run without a mean.
    folder.run(&format!("{settings} --out plain.nnue")).ok();
    folder
        .run("export whole.checkpoint --last --out last.nnue")
        .ok();
    assert!(folder.bytes("last.nnue") == folder.bytes("plain.nnue"));
    let end = |name: &str| held_out(&folder, name).pop().expect("a validation");
    let (mean, last) = (end("whole.tsv"), end("plain.tsv"));
    assert!(mean < 0.95 * last, "{mean} {last}");
}

#[test]
fn a_run_that_ends_rounded_is_kept_exported_and_what_the_file_says() {
    let folder = Folder::new("rounded");
    kill_and_compare(&folder, &format!("{SHORT} --rounded 0.5"), &pauses(2, 2500));
    let rounded = folder
        .run("export whole.checkpoint --out rounded.nnue")
        .ok();
    assert!(folder.bytes("rounded.nnue") == folder.bytes("whole.nnue"));
    folder.run(&format!("{SHORT} --out plain.nnue")).ok();
    let plain = folder.run("export plain.checkpoint --out plain.nnue").ok();
    let (rounded, plain) = (difference(&rounded), difference(&plain));
    assert!(rounded < 0.5 * plain, "{rounded} {plain}");
}

#[test]
fn a_fine_tune_at_a_small_rate_begins_where_the_net_was_and_improves_it() {
    let folder = Folder::new("fine-tune");
    let settings =
        "some.bin --batch 1000 --threads 2 --every 0.05 --loss power --loss-exponent 2.6";
    folder
        .run(&format!(
            "{settings} --millions 0.2 --schedule constant --rate 0.004 --out base.nnue"
        ))
        .ok();
    let tune = "--millions 0.2 --rate 0.0008 --warm-up 0.02 --decay 0.01 --sparsity 1e-6";
    let base = held_out(&folder, "base.tsv").pop().expect("a validation");
    for init in ["base.nnue", "base.checkpoint"] {
        folder
            .run(&format!("{settings} {tune} --init {init} --out tuned.nnue"))
            .ok();
        let tuned = held_out(&folder, "tuned.tsv");
        assert!(
            tuned[0] < 1.05 * base && tuned[tuned.len() - 1] < 0.95 * base,
            "{base} {tuned:?}"
        );
    }
}

#[test]
fn results_of_sampled_positions_do_not_count() {
    let folder = Folder::new("sampled");
    let short = "--millions 0.05 --batch 1000 --threads 1";
    for (out, what) in [
        ("scores.nnue", "--sampled some.bin --lambda 1"),
        ("results.nnue", "--sampled some.bin --lambda 0"),
        ("games.nnue", "some.bin --any-position --lambda 0"),
        ("mixed.nnue", "some.bin --sampled some.bin --lambda 0"),
    ] {
        folder.run(&format!("{what} {short} --out {out}")).ok();
    }
    assert!(folder.bytes("results.nnue") == folder.bytes("scores.nnue"));
    assert!(folder.bytes("results.nnue") != folder.bytes("games.nnue"));
    assert!(folder.bytes("mixed.nnue") != folder.bytes("games.nnue"));
}

#[test]
fn a_net_with_squares_is_trained_and_read() {
    let folder = Folder::new("squares");
    let short = "some.bin --millions 0.05 --batch 1000 --threads 1";
    folder
        .run(&format!("{short} --activation screlu --out net.nnue"))
        .ok();
    let network = Network::from_bytes(&folder.bytes("net.nnue")).expect("a network");
    let name = network.architecture().to_string();
    assert_eq!(name, "HalfKP 256x2-32-32-1 SCReLU (own)");
    folder.run("export net.checkpoint --out again.nnue").ok();
    assert!(folder.bytes("again.nnue") == folder.bytes("net.nnue"));
    // Learning goes on from it, but not with another activation.
    let on = format!("{short} --init net.nnue --out on.nnue");
    folder
        .run(&on)
        .fails_with("has the activation screlu, but the run was told crelu");
    folder.run(&format!("{on} --activation screlu")).ok();
}

#[test]
fn pairwise_net_with_skip_and_psqt_round_trips() {
    let folder = Folder::new("products");
    let short = "some.bin --batch 1000 --threads 2 --output-scale 1.3";
    let form = "--features half-kav2-hm --king-buckets 4 --l1 256 --activation pairwise --buckets 8 --psqt";
    folder
        .run(&format!("{short} --millions 0.05 {form} --out net.nnue"))
        .ok();
    let network = Network::from_bytes(&folder.bytes("net.nnue")).expect("a network");
    let name = network.architecture().to_string();
    assert_eq!(name, "HalfKAv2_hm/4 256x2-(15+1)-32-1 PSQT x8 (own)");
    folder.run("export net.checkpoint --out again.nnue").ok();
    assert!(folder.bytes("again.nnue") == folder.bytes("net.nnue"));
    let on = format!("{short} --rate 1e-9 --every 0.001 --millions 0.001 --init net.nnue");
    folder
        .run(&format!("{on} --out no.nnue"))
        .fails_with("--activation pairwise");
    // The first validation of a warm start repeats the last one of the run before.
    folder.run(&format!("{on} {form} --out on.nnue")).ok();
    let end = held_out(&folder, "net.tsv").pop().expect("a validation");
    let begin = held_out(&folder, "on.tsv")[0];
    assert!((begin / end - 1.0).abs() < 0.05, "{begin} {end}");
}

#[test]
fn half_kp_net_with_eight_stacks_round_trips() {
    let folder = Folder::new("stacks");
    let short = "some.bin --millions 0.05 --batch 1000 --threads 2";
    folder
        .run(&format!("{short} --buckets 8 --out net.nnue"))
        .ok();
    let network = Network::from_bytes(&folder.bytes("net.nnue")).expect("a network");
    let name = network.architecture().to_string();
    assert_eq!(name, "HalfKP 256x2-32-32-1 x8 (own)");
    folder.run("export net.checkpoint --out again.nnue").ok();
    assert!(folder.bytes("again.nnue") == folder.bytes("net.nnue"));
    let on = format!("{short} --init net.nnue --out on.nnue");
    folder.run(&on).fails_with("--buckets");
    folder.run(&format!("{on} --buckets 8")).ok();
}

#[test]
fn warm_start_and_resume_refuse_another_shape() {
    let folder = Folder::new("widths");
    let short = "some.bin --millions 0.05 --batch 1000 --threads 1";
    let form = "--features half-kav2-hm --king-buckets 1 --activation pairwise --buckets 8 --psqt";
    folder
        .run(&format!("{short} {form} --l1 256 --out net.nnue"))
        .ok();
    for init in ["net.nnue", "net.checkpoint"] {
        folder
            .run(&format!(
                "{short} {form} --l1 1024 --init {init} --out on.nnue"
            ))
            .fails_with("has accumulators of width 256");
    }
    folder
        .run(&format!("{short} {form} --l1 1024 --resume --out net.nnue"))
        .fails_with("l1 is 1024 in one and 256 in the other");
}

#[test]
fn shapes_without_code_are_refused_with_the_choices() {
    let folder = Folder::new("shapes");
    let hm = "--features half-kav2-hm";
    for (settings, message) in [
        ("--l1 300".to_owned(), "l1 is 300, but must be 256"),
        (
            "--activation pairwise".to_owned(),
            "activation is pairwise, but must be crelu or screlu with HalfKP",
        ),
        (
            format!("{hm} --king-buckets 8 --l1 768"),
            "l1 is 768, but must be 256, 1024 or 1536",
        ),
        (
            format!("{hm} --king-buckets 8"),
            "activation is crelu, but must be pairwise with HalfKAv2_hm",
        ),
    ] {
        folder
            .run(&format!("some.bin {settings}"))
            .fails_with(message);
    }
}

#[test]
fn loss_prints_mean_squared_difference_of_expected_results() {
    let folder = Folder::new("loss");
    fs::write(folder.path("default.nnue"), Network::embedded().to_bytes()).expect("a net");
    // The expected results by the definition, without the trainer's code.
    let expected = |units: f64| 1.0 / (1.0 + (-units / 340.0).exp());
    let mut accumulators = AccumulatorStack::new(Network::embedded());
    let mut sum = [0.0; 2];
    let mut count = 0.0;
    let path = folder.path("some.bin");
    zoothera::data::reader::for_each(&path, |entry| {
        let record = entry.record();
        accumulators.reset();
        let value = f64::from(accumulators.evaluate(&record).value());
        for (sum, factor) in sum.iter_mut().zip([1.0, 0.5]) {
            let value = (factor * value).round();
            *sum += (expected(value) - expected(f64::from(entry.score))).powi(2);
        }
        count += 1.0;
        Ok(())
    })
    .expect("a sound file");

    let nets = "--net default.nnue --net default.nnue@0.5";
    let output = folder.train(&format!("loss some.bin {nets} --max-score 32000"));
    let output = { output }.output().expect("the program runs");
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).expect("a text");
    let lines: Vec<Vec<&str>> = text
        .lines()
        .skip(1)
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(lines.len(), 2, "{text}");
    for (line, sum) in lines.iter().zip(sum) {
        assert_eq!(line[0], format!("{count}"), "{text}");
        let loss: f64 = line[1].parse().expect("a number");
        assert!((loss - 1e6 * sum / count).abs() < 1.0, "{loss} {sum}");
    }

    folder.run("loss none.bin").fails_with("none.bin");
    folder
        .run("loss some.bin --net some.bin")
        .fails_with("some.bin");
    folder
        .run("loss some.bin --scale 0")
        .fails_with("scale is 0, but must be more than 0");
}

/// The held-out losses of a log.
fn held_out(folder: &Folder, name: &str) -> Vec<f64> {
    let text = String::from_utf8(folder.bytes(name)).expect("a text");
    let loss = |line: &str| line.split('\t').nth(2)?.parse().ok();
    text.lines().skip(1).filter_map(loss).collect()
}

/// How far rounding moved the net, in engine units on average, by what an export says.
fn difference(export: &Run) -> f64 {
    let (_, after) = export.err.split_once(": mean ").expect("a report");
    let (number, _) = after.split_once(',').expect("a number");
    number.parse().expect("a number")
}

#[test]
fn diverged_run_fails_and_keeps_the_last_good_checkpoint() {
    let folder = Folder::new("train-diverged");
    let settings = "some.bin --batch 1000 --threads 2 --every 0.02 --checkpoint-every 0.01";
    folder
        .run(&format!("{settings} --millions 0.02 --out mine.nnue"))
        .ok();
    let sound = folder.bytes("mine.nnue");
    // It has weights at their limit after its first batch, and says so before anything is replaced.
    let wild = folder.run(&format!(
        "{settings} --millions 0.2 --rate 50 --out mine.nnue"
    ));
    assert!(wild.err.contains("Nothing of it was kept"), "{}", wild.err);
    wild.fails_with("weights are at their limit");
    assert!(folder.bytes("mine.nnue") == sound, "the net was replaced");
    // It diverges later: the rate rises over the whole run.
    let later = folder.run(&format!(
        "{settings} --millions 0.2 --rate 50 --warm-up 0.2 --out other.nnue"
    ));
    assert!(
        later.err.contains("other.checkpoint is that of"),
        "{}",
        later.err
    );
    later.fails_with("the run diverged after");
    folder.run("export other.checkpoint --out last.nnue").ok();
}

#[test]
fn overfitting_is_warned_of_once() {
    let folder = Folder::new("train-overfitting");
    let run = folder.run(
        "some.bin --batch 500 --threads 2 --millions 0.4 --every 0.05 --holdout 0.2 --out mine.nnue",
    );
    let run = run.ok();
    let warnings = run.err.matches("the net overfits").count();
    assert_eq!(warnings, 1, "{}", run.err);
    assert!(run.err.contains("% above the training loss"), "{}", run.err);
}
