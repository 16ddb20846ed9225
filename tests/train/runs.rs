//! Runs of `zoothera train` in temporary folders.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use zoothera::board::Position;
use zoothera::data::Entry;
use zoothera::data::reader::EntryWriter;
use zoothera::data::reader::Format;
use zoothera::nnue::{AccumulatorStack, Network};
use zoothera::util::rng::SplitMix64;

use crate::common::engine::engine;

/// Temporary folder with a file of positions; removed if the test passes.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("zoothera-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a folder for the test");
        let folder = Self(path);
        let some = positions(20_000, &folder.material_net());
        fs::write(folder.path("some.bin"), some).expect("a file for the test");
        folder
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Returns the material net. Labels from it do not change with the default net.
    pub fn material_net(&self) -> Arc<Network> {
        let path = self.path("material.nnue");
        let made = engine().arg("net-material").arg(&path).output();
        assert!(made.expect("the program runs").status.success());
        let bytes = fs::read(&path).expect("the net was written");
        fs::remove_file(path).expect("the net exists");
        Arc::new(Network::from_bytes(&bytes).expect("a valid net"))
    }

    pub fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Returns the command `zoothera train` in this folder. Runs whose arguments do not determine the shape of the net
    /// use the smallest one: its checkpoints have 5 MB, those of the shape of Stockfish 12 128 MB.
    pub fn train(&self, arguments: &str) -> Command {
        const DETERMINE: [&str; 7] = ["--shape", "--features", "--init", "--config", "export ", "loss ", "plot "];
        let mut command = engine();
        command.current_dir(&self.0).arg("train").args(arguments.split_whitespace()).stdin(Stdio::null());
        if !DETERMINE.iter().any(|word| arguments.contains(word)) {
            command.args(["--shape", "small", "--king-buckets", "1"]);
        }
        command
    }

    pub fn run(&self, arguments: &str) -> Run {
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

pub struct Run {
    pub ok: bool,
    pub err: String,
}

impl Run {
    pub fn of(output: &Output) -> Self {
        Self { ok: output.status.success(), err: String::from_utf8_lossy(&output.stderr).into_owned() }
    }

    pub fn ok(self) -> Self {
        assert!(self.ok, "{}", self.err);
        self
    }

    pub fn fails_with(self, reason: &str) {
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
pub const SHORT: &str =
    "some.bin --shape sf12 --millions 0.3 --batch 1000 --threads 2 --every 0.05 --checkpoint-every 0.04";

/// Runs `settings` once without interruption and once with repeated kills; both must give the same net and log.
pub fn assert_kills_change_nothing(folder: &Folder, settings: &str, pauses: &[Duration]) {
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
    let reports = log.lines().count().saturating_sub(2);
    eprintln!("{kills} of {} runs were killed; {reports} validations done", pauses.len());
    folder.run(&command).ok();
    assert!(folder.bytes("killed.nnue") == folder.bytes("whole.nnue"));
    let log = |name: &str| -> Vec<String> {
        let text = String::from_utf8(folder.bytes(name)).expect("a text");
        let without_time = |line: &str| line.rsplit_once('\t').map(|(left, _)| left.to_owned());
        text.lines().filter(|line| !line.starts_with('#')).filter_map(without_time).collect()
    };
    assert_eq!(log("killed.tsv"), log("whole.tsv"));
    assert_eq!(log("whole.tsv").len(), 7);
}

/// Returns the validation losses of a log.
pub fn held_out(folder: &Folder, name: &str) -> Vec<f64> {
    let text = String::from_utf8(folder.bytes(name)).expect("a text");
    let loss = |line: &str| line.split('\t').nth(2)?.parse().ok();
    text.lines().skip(1).filter_map(loss).collect()
}

/// Returns the mean quantisation error in engine units from the report of an export.
pub fn difference(export: &Run) -> f64 {
    let (_, after) = export.err.split_once(": mean ").expect("a report");
    let (number, _) = after.split_once(',').expect("a number");
    number.parse().expect("a number")
}

/// Starts a run with standard error in a pipe and waits for its first checkpoint.
pub fn start(folder: &Folder, mut command: Command) -> std::process::Child {
    let mut child = command.stderr(Stdio::piped()).spawn().expect("the run starts");
    while !folder.path("net.checkpoint").exists() {
        sleep(Duration::from_millis(20));
        let ended = child.try_wait().expect("the status is available");
        assert!(ended.is_none(), "the run ended without a checkpoint");
    }
    child
}
