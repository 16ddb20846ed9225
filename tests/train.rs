//! `zoothera train` end to end: killing and resuming runs, exporting checkpoints, settings from a file.

mod engine;
mod folder;
#[cfg(feature = "gpu")]
mod gpu;

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

/// Temporary folder with a file of positions; removed if the test passes.
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

    /// Returns the material net. Labels from it do not change with the default net.
    fn material_net(&self) -> Arc<Network> {
        let path = self.path("material.nnue");
        let made = engine().arg("net-material").arg(&path).output();
        assert!(made.expect("the program runs").status.success());
        let bytes = fs::read(&path).expect("the net was written");
        fs::remove_file(path).expect("the net exists");
        Arc::new(Network::from_bytes(&bytes).expect("a valid net"))
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Returns the command `zoothera train` in this folder. Runs whose arguments do not determine the shape of the net
    /// use the smallest one: its checkpoints have 5 MB, those of the shape of Stockfish 12 128 MB.
    fn train(&self, arguments: &str) -> Command {
        const DETERMINE: [&str; 6] = ["--shape", "--features", "--init", "--config", "export ", "loss "];
        let mut command = engine();
        command.current_dir(&self.0).arg("train").args(arguments.split_whitespace()).stdin(Stdio::null());
        if !DETERMINE.iter().any(|word| arguments.contains(word)) {
            command.args(["--shape", "small", "--king-buckets", "1"]);
        }
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
        Self { ok: output.status.success(), err: String::from_utf8_lossy(&output.stderr).into_owned() }
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

/// Returns positions of random games as a `.bin` file, labelled by a network.
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
        writer.write(&entry).expect("a valid entry");
    }
    writer.finish().expect("writing to a vector succeeds")
}

/// Settings of a short run with several checkpoints.
const SHORT: &str =
    "some.bin --shape sf12 --millions 0.3 --batch 1000 --threads 2 --every 0.05 --checkpoint-every 0.04";

/// Runs `settings` once without interruption and once with repeated kills; both must give the same net and log.
fn assert_kills_change_nothing(folder: &Folder, settings: &str, pauses: &[Duration]) {
    folder.run(&format!("{settings} --out whole.nnue")).ok();
    let command = format!("{settings} --out killed.nnue --resume");
    let mut kills = 0;
    for &pause in pauses {
        let mut child = folder.train(&command).stderr(Stdio::null()).spawn().expect("the program runs");
        sleep(pause);
        kills += u32::from(matches!(child.try_wait(), Ok(None)));
        // SIGKILL at a random time: loading, training or writing.
        let _ = child.kill();
        child.wait().expect("the process ends");
    }
    let log = fs::read_to_string(folder.path("killed.tsv")).unwrap_or_default();
    let reports = log.lines().count().saturating_sub(1);
    eprintln!("{kills} of {} runs were killed; {reports} validations done", pauses.len());
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
    folder.run(&format!("{short} --resume --rate 0.001")).fails_with("rate is");
    assert!(folder.bytes("net.checkpoint") == first);
    // Without --resume a new run starts, and the old checkpoint is renamed.
    let again = folder.run(&format!("{short} --seed 2")).ok();
    assert!(again.err.contains("net.checkpoint.old"), "{}", again.err);
    assert!(folder.bytes("net.checkpoint.old") == first);

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
    for name in ["t.nnue", "t.tsv", "t.svg", "t.checkpoint", "t.checkpoint.old"] {
        fs::write(folder.path(name), "the user's own").expect("a file");
        folder.run("some.bin --millions 0.001 --out t.nnue").fails_with(&format!("{name} exists and is not "));
        assert_eq!(folder.bytes(name), b"the user's own");
        fs::remove_file(folder.path(name)).expect("the file exists");
    }
    // Outputs of an earlier run are overwritten.
    for _ in 0..3 {
        folder.run("some.bin --millions 0.001 --out t.nnue").ok();
    }
}

/// Starts a run with standard error in a pipe and waits for its first checkpoint.
fn start(folder: &Folder, mut command: Command) -> std::process::Child {
    let mut child = command.stderr(Stdio::piped()).spawn().expect("the run starts");
    while !folder.path("net.checkpoint").exists() {
        sleep(Duration::from_millis(20));
        let ended = child.try_wait().expect("the status is available");
        assert!(ended.is_none(), "the run ended without a checkpoint");
    }
    child
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

#[test]
fn settings_load_from_file_and_weights_from_net() {
    let folder = Folder::new("config");
    let config = "shape = 'sf12'\nfiles = ['some.bin']\nmillions = 0.1\nbatch = 1000\nthreads = 2\nout = 'first.nnue'\n\
                  loss = 'power'\nlambda = 1.0\nlambda-end = 0.7\nschedule = 'step'\nstep-every = 0.03\n\
                  warm-up = 0.01\nevery = 0.05\n";
    fs::write(folder.path("run.toml"), config).expect("a file");
    folder.run("--config run.toml").ok();
    let first = held_out(&folder, "first.tsv");
    // After one batch with a negligible rate, the loss must be that of the initial net.
    let tuning = "--config run.toml --init first.nnue --rate 1e-9 --millions 0.001 --every 0.001 --lambda 0.7";
    folder.run(&format!("{tuning} --out second.nnue")).ok();
    let second = held_out(&folder, "second.tsv");
    let (end, begin) = (first[first.len() - 1], second[0]);
    assert!((begin / end - 1.0).abs() < 0.05, "{first:?} {second:?}");

    fs::write(folder.path("bad.toml"), "batches = 3\n").expect("a file");
    folder.run("--config bad.toml").fails_with("batches");
    folder.run("--config none.toml").fails_with("none.toml");
    folder.run("--millions 1").fails_with("no training data");
    folder.run("some.bin --lambda 2").fails_with("lambda is 2");
    folder.run("some.bin --init run.toml --millions 0.01").fails_with("run.toml");
}

#[test]
fn weight_average_resumes_and_exports() {
    let folder = Folder::new("average");
    let settings = format!("{SHORT} --schedule constant --rate 0.01 --scale 3000");
    assert_kills_change_nothing(&folder, &format!("{settings} --average 0.5"), &pauses(2, 2500));
    folder.run("export whole.checkpoint --out mean.nnue").ok();
    assert!(folder.bytes("mean.nnue") == folder.bytes("whole.nnue"));
    // Averaging does not change the steps.
    folder.run(&format!("{settings} --out plain.nnue")).ok();
    folder.run("export whole.checkpoint --last --out last.nnue").ok();
    assert!(folder.bytes("last.nnue") == folder.bytes("plain.nnue"));
    let end = |name: &str| held_out(&folder, name).pop().expect("a validation");
    let (mean, last) = (end("whole.tsv"), end("plain.tsv"));
    // On so few positions the mean is no better than the last net: 0.92 to 1.09 of its loss with eight seeds.
    assert!(mean != last && mean < 1.3 * last, "{mean} {last}");
}

#[test]
fn rounded_training_resumes_exports_and_reduces_quantisation_error() {
    let folder = Folder::new("rounded");
    assert_kills_change_nothing(&folder, &format!("{SHORT} --rounded 0.5"), &pauses(2, 2500));
    let rounded = folder.run("export whole.checkpoint --out rounded.nnue").ok();
    assert!(folder.bytes("rounded.nnue") == folder.bytes("whole.nnue"));
    folder.run(&format!("{SHORT} --out plain.nnue")).ok();
    let plain = folder.run("export plain.checkpoint --out plain.nnue").ok();
    let (rounded, plain) = (difference(&rounded), difference(&plain));
    assert!(rounded < 0.5 * plain, "{rounded} {plain}");
}

#[test]
fn fine_tuning_starts_at_initial_loss_and_improves_it() {
    let folder = Folder::new("fine-tune");
    let settings = "some.bin --batch 1000 --threads 2 --every 0.05 --loss power --loss-exponent 2.6";
    folder
        .run(&format!("{settings} --shape sf12 --millions 0.2 --schedule constant --rate 0.004 --out base.nnue"))
        .ok();
    let tune = "--millions 0.2 --rate 0.0008 --warm-up 0.02 --decay 0.01 --sparsity 1e-6";
    let base = held_out(&folder, "base.tsv").pop().expect("a validation");
    for init in ["base.nnue", "base.checkpoint"] {
        folder.run(&format!("{settings} {tune} --init {init} --out tuned.nnue")).ok();
        let tuned = held_out(&folder, "tuned.tsv");
        assert!(tuned[0] < 1.05 * base && tuned[tuned.len() - 1] < 0.98 * base, "{base} {tuned:?}");
    }
}

#[test]
fn results_of_sampled_positions_are_ignored() {
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
fn screlu_net_round_trips() {
    let folder = Folder::new("squares");
    let short = "some.bin --millions 0.05 --batch 1000 --threads 1";
    folder.run(&format!("{short} --shape sf12 --activation screlu --out net.nnue")).ok();
    let network = Network::from_bytes(&folder.bytes("net.nnue")).expect("a network");
    let name = network.architecture().to_string();
    assert_eq!(name, "HalfKP 256x2-32-32-1 SCReLU (own)");
    folder.run("export net.checkpoint --out again.nnue").ok();
    assert!(folder.bytes("again.nnue") == folder.bytes("net.nnue"));
    // The net can initialise another run, which inherits the shape.
    let on = format!("{short} --init net.nnue --out on.nnue");
    folder
        .run(&format!("{on} --activation crelu"))
        .fails_with("but the settings ask for HalfKP 256x2-32-32-1: leave out");
    folder.run(&on).ok();
    let network = Network::from_bytes(&folder.bytes("on.nnue")).expect("a network");
    assert_eq!(network.architecture().to_string(), name);
}

#[test]
fn pairwise_net_with_skip_and_psqt_round_trips() {
    let folder = Folder::new("products");
    let short = "some.bin --batch 1000 --threads 2 --output-scale 1.3";
    folder.run(&format!("{short} --millions 0.05 --shape small --king-buckets 4 --out net.nnue")).ok();
    let network = Network::from_bytes(&folder.bytes("net.nnue")).expect("a network");
    let name = network.architecture().to_string();
    assert_eq!(name, "HalfKAv2_hm/4 256x2-(15+1)-32-1 PSQT x8 (own)");
    folder.run("export net.checkpoint --out again.nnue").ok();
    assert!(folder.bytes("again.nnue") == folder.bytes("net.nnue"));
    let on = format!("{short} --rate 1e-9 --every 0.001 --millions 0.001 --init net.nnue");
    folder.run(&format!("{on} --shape small --out no.nnue")).fails_with("the initial net is HalfKAv2_hm/4 256x2");
    // The first validation of a warm start repeats the last one of the initial run.
    folder.run(&format!("{on} --out on.nnue")).ok();
    let end = held_out(&folder, "net.tsv").pop().expect("a validation");
    let begin = held_out(&folder, "on.tsv")[0];
    assert!((begin / end - 1.0).abs() < 0.05, "{begin} {end}");
}

#[test]
fn half_kp_net_with_eight_stacks_round_trips() {
    let folder = Folder::new("stacks");
    let short = "some.bin --millions 0.05 --batch 1000 --threads 2";
    folder.run(&format!("{short} --shape sf12 --buckets 8 --out net.nnue")).ok();
    let network = Network::from_bytes(&folder.bytes("net.nnue")).expect("a network");
    let name = network.architecture().to_string();
    assert_eq!(name, "HalfKP 256x2-32-32-1 x8 (own)");
    folder.run("export net.checkpoint --out again.nnue").ok();
    assert!(folder.bytes("again.nnue") == folder.bytes("net.nnue"));
    let on = format!("{short} --init net.nnue --out on.nnue");
    folder.run(&format!("{on} --buckets 1")).fails_with("the initial net is HalfKP 256x2-32-32-1 x8");
    folder.run(&on).ok();
}

#[test]
fn warm_start_and_resume_reject_another_shape() {
    let folder = Folder::new("widths");
    let short = "some.bin --millions 0.05 --batch 1000 --threads 1";
    let whole = "--features half-kav2-hm --king-buckets 1 --activation pairwise --buckets 8 --psqt --l1 256";
    folder.run(&format!("{short} {whole} --out net.nnue")).ok();
    for init in ["net.nnue", "net.checkpoint"] {
        for other in ["--l1 1024", "--shape default"] {
            let run = folder.run(&format!("{short} {other} --init {init} --out on.nnue"));
            run.fails_with("the initial net is HalfKAv2_hm/1 256x2");
        }
    }
    let resume = "some.bin --millions 0.05 --batch 1000 --threads 1 --resume --out net.nnue";
    folder
        .run(&format!("{resume} --features half-kav2-hm --l1 1024"))
        .fails_with("l1 is 1024 in the settings and 256 in the checkpoint");
    folder
        .run(&format!("{resume} --shape small"))
        .fails_with("king-buckets is 8 in the settings and 1 in the checkpoint");
    // Without conflicting options, the checkpoint determines the shape.
    folder.run(&format!("{resume} --features half-kav2-hm")).ok();
}

#[cfg(not(feature = "gpu"))]
#[test]
fn device_without_feature_names_the_build() {
    let folder = Folder::new("device");
    folder.run("some.bin --device gpu --out a.nnue").fails_with("cargo build --release --features gpu");
    let auto = folder.run("some.bin --device auto --millions 0.01 --batch 1000 --out a.nnue").ok();
    assert!(auto.err.contains("training on the processor: this program was built without"), "{}", auto.err);
    Run::of(&engine().arg("gpu").output().expect("the program runs")).fails_with("--features gpu");
}

#[test]
fn unsupported_shape_error_lists_choices() {
    let folder = Folder::new("shapes");
    for (settings, message) in [
        ("--shape sf12 --l1 300", "l1 is 300, but must be 256"),
        ("--shape sf12 --activation pairwise", "activation is pairwise, but must be crelu or screlu with HalfKP"),
        ("--shape default --l1 768", "l1 is 768, but must be 256, 1024 or 1536"),
        ("--shape small --activation crelu", "activation is crelu, but must be pairwise with HalfKAv2_hm"),
        ("--shape sf18", "[possible values: default, small, wide, sf12, sf15.1]"),
    ] {
        folder.run(&format!("some.bin {settings}")).fails_with(message);
    }
}

#[test]
fn loss_prints_mean_squared_difference_of_expected_results() {
    let folder = Folder::new("loss");
    fs::write(folder.path("default.nnue"), Network::embedded().to_bytes()).expect("a net");
    // The expected results by their definition, independent of the trainer's code.
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
    .expect("a valid file");

    let nets = "--net default.nnue --net default.nnue@0.5";
    let output = folder.train(&format!("loss some.bin {nets} --max-score 32000"));
    let output = { output }.output().expect("the program runs");
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).expect("a text");
    let lines: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines.len(), 2, "{text}");
    for (line, sum) in lines.iter().zip(sum) {
        assert_eq!(line[0], format!("{count}"), "{text}");
        let loss: f64 = line[1].parse().expect("a number");
        assert!((loss - 1e6 * sum / count).abs() < 1.0, "{loss} {sum}");
    }

    folder.run("loss none.bin").fails_with("none.bin");
    folder.run("loss some.bin --net some.bin").fails_with("some.bin");
    folder.run("loss some.bin --scale 0").fails_with("scale is 0, but must be more than 0");
}

/// Returns the validation losses of a log.
fn held_out(folder: &Folder, name: &str) -> Vec<f64> {
    let text = String::from_utf8(folder.bytes(name)).expect("a text");
    let loss = |line: &str| line.split('\t').nth(2)?.parse().ok();
    text.lines().skip(1).filter_map(loss).collect()
}

/// Returns the mean quantisation error in engine units from the report of an export.
fn difference(export: &Run) -> f64 {
    let (_, after) = export.err.split_once(": mean ").expect("a report");
    let (number, _) = after.split_once(',').expect("a number");
    number.parse().expect("a number")
}

#[test]
fn diverged_run_fails_and_keeps_last_good_checkpoint() {
    let folder = Folder::new("train-diverged");
    let settings = "some.bin --shape sf12 --batch 1000 --threads 2 --every 0.02 --checkpoint-every 0.01";
    folder.run(&format!("{settings} --millions 0.02 --out mine.nnue")).ok();
    let good = folder.bytes("mine.nnue");
    // Weights are at their limit after the first batch; the run must fail before it replaces a file.
    let diverged = folder.run(&format!("{settings} --millions 0.2 --rate 50 --out mine.nnue"));
    assert!(diverged.err.contains("No checkpoint was written"), "{}", diverged.err);
    diverged.fails_with("weights are at their limit");
    assert!(folder.bytes("mine.nnue") == good, "the net was replaced");
    // A run that diverges later, because the rate rises over the whole run.
    let later = folder.run(&format!("{settings} --millions 0.2 --rate 50 --warm-up 0.2 --out other.nnue"));
    assert!(later.err.contains("other.checkpoint is from"), "{}", later.err);
    later.fails_with("the run diverged after");
    folder.run("export other.checkpoint --out last.nnue").ok();
}

#[test]
fn overfitting_warning_appears_once() {
    let folder = Folder::new("train-overfitting");
    let run = folder
        .run("some.bin --shape sf12 --batch 500 --threads 2 --millions 0.4 --every 0.05 --holdout 0.2 --out mine.nnue");
    let run = run.ok();
    let warnings = run.err.matches("the net overfits").count();
    assert_eq!(warnings, 1, "{}", run.err);
    assert!(run.err.contains("% above the training loss"), "{}", run.err);
}
