//! Generation of games on all cores: the output file, with a state file that records how much of it is complete; and
//! self-play games.
//!
//! A game is appended first, then the state file is replaced by renaming. After an interruption between the two steps,
//! resuming truncates the data to the recorded length and plays the game again, with the same result. The state has a
//! checksum of itself and one of the data. A file that was edited or damaged is not resumed.

use std::io::{IsTerminal, Write, stderr};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

use crate::board::Position;
use crate::data::entry::{Entry, FilterArgs, NO_SCORE, remainder};
use crate::data::reader::{EntryWriter, Format, check_holds_unrelated};
use crate::game::play::{self, Answer, EvenOpenings, Event, MoveArgs, OpeningArgs, Player, RuleArgs, rng_of};
use crate::nnue::Network;
use crate::search::evaluate::unscaled;
use crate::search::{Found, Limits, Solo};
use crate::util::atomic::{AppendFile, AtomicFile};
use crate::util::console::{Interrupt, Interrupted, ProgressLine};
use crate::util::cores;
use crate::util::files::check_distinct;
use crate::util::quantity::{short_number, short_time};
use crate::util::text::{Shown as _, read_bytes};

/// Largest accepted state file in bytes; a valid one has a few hundred.
const MAX_STATE_BYTES: u64 = 1 << 20;

/// Recorded state of a data file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// Settings that determine the data. `--resume` requires them to be unchanged.
    pub settings: String,
    /// Games in the file, which is also the number of the next game.
    pub games: u64,
    /// Positions in the file.
    pub positions: u64,
    /// Length of the data in bytes.
    pub bytes: u64,
    /// CRC-32 of the data; absent in states of version 0.1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_crc: Option<u32>,
}

/// State with its checksum, as stored in the state file.
#[derive(Serialize, Deserialize)]
struct SealedState {
    #[serde(flatten)]
    state: State,
    /// CRC-32 of the state as JSON without whitespace; absent in states of version 0.1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    state_crc: Option<u32>,
}

impl State {
    fn crc(&self) -> Result<u32> {
        Ok(crc32fast::hash(&serde_json::to_vec(self)?))
    }

    /// Reads the state file of the data file `data`.
    fn read(path: &Path, data: &Path) -> Result<Self> {
        let name = path.shown();
        let bytes = read_bytes(path, MAX_STATE_BYTES)
            .with_context(|| format!("cannot read {name}, which records how to resume"))?;
        let sealed: SealedState =
            serde_json::from_slice(&bytes).with_context(|| format!("{name} is not a state file"))?;
        let state = sealed.state;
        match sealed.state_crc {
            Some(crc) => ensure!(
                crc == state.crc()?,
                "{name} was edited or damaged: its checksum is wrong. Restore the original or start a new file; the \
                 positions in the data file can still be read"
            ),
            None => {
                ensure!(
                    state.data_crc.is_none(),
                    "{name} was edited: its own checksum is missing. Restore the original or start a new file"
                );
                eprintln!(
                    "warning: {name} was written by an earlier version and has no checksums: resuming {} without \
                     checking its data",
                    data.shown()
                );
            }
        }
        Ok(state)
    }
}

/// An open data file.
pub struct Store {
    path: PathBuf,
    file: AppendFile,
    state: State,
}

impl Store {
    /// Opens a new data file, or with `resume` an existing one.
    ///
    /// # Errors
    /// Fails on an I/O error, if the file exists without `resume`, was generated with other settings, is in use, or
    /// disagrees with its state.
    pub fn open(path: &Path, settings: String, resume: bool) -> Result<Self> {
        let store = Self::try_open(path, settings, resume);
        store.with_context(|| path.shown())
    }

    fn try_open(path: &Path, settings: String, resume: bool) -> Result<Self> {
        let state_path = state_path(path);
        if !resume {
            ensure!(
                !path.exists() && !state_path.exists(),
                "the file exists: add --resume to continue it, or remove it and its .state file to start again"
            );
        }
        let mut file = AppendFile::open(path)?;
        let length = file.bytes();
        let state = if length == 0 && !state_path.exists() {
            State { settings: settings.clone(), ..State::default() }
        } else {
            State::read(&state_path, path)?
        };
        ensure!(
            state.settings == settings,
            "the file was generated with other settings:\n  then: {}\n  now:  {settings}",
            state.settings
        );
        file.continue_at(state.bytes, state.data_crc)?;
        let mut store = Self { path: path.to_path_buf(), file, state };
        store.save()?;
        Ok(store)
    }

    /// The recorded state.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Appends a game.
    ///
    /// # Errors
    /// Fails on an I/O error; the run can be resumed afterwards.
    pub fn append(&mut self, bytes: &[u8], positions: u64) -> Result<()> {
        self.file.append(bytes)?;
        self.state.games += 1;
        self.state.positions += positions;
        self.state.bytes += bytes.len() as u64;
        self.save()
    }

    /// Syncs the data to the disk.
    ///
    /// # Errors
    /// Fails on an I/O error.
    pub fn finish(&mut self) -> Result<()> {
        self.file.sync()
    }

    /// Replaces the state file atomically, but without a sync, because sampling finishes 100 games a second. The file
    /// can be resumed after a killed process. After a power failure it can be read, but possibly not resumed.
    fn save(&mut self) -> Result<()> {
        self.state.data_crc = Some(self.file.crc());
        let sealed = SealedState { state_crc: Some(self.state.crc()?), state: self.state.clone() };
        let path = state_path(&self.path);
        let mut file = AtomicFile::create(&path)?;
        let written = file.write_all(&serde_json::to_vec_pretty(&sealed)?);
        written.with_context(|| format!("cannot write {}", path.shown()))?;
        file.commit_without_sync()
    }
}

/// Path of the state file of a data file.
pub fn state_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".state");
    name.into()
}

// Generation of games on all cores, which are written in the order of their numbers.

/// Arguments of the output.
#[derive(clap::Args, Clone, Debug)]
pub struct OutputArgs {
    /// File to write: .bin, .binpack, .plain, or .tree for samples
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Positions to write; generation stops after the game that reaches this number
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub positions: u64,
    /// Continue the file if it exists
    #[arg(long)]
    pub resume: bool,
    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Threads; all cores if absent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Transposition table of each thread in MiB
    #[arg(long, value_name = "MIB", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=65536))]
    pub hash: u32,
    /// Whether the progress is shown on a terminal only.
    #[arg(skip)]
    pub quiet: bool,
}

impl OutputArgs {
    /// Rejects an output that would overwrite an input.
    ///
    /// # Errors
    /// Fails if the output or its state file is one of `inputs`. The error names both.
    pub fn check_inputs<'a>(&self, inputs: impl IntoIterator<Item = &'a Path>) -> Result<()> {
        let inputs: Vec<&Path> = inputs.into_iter().collect();
        check_distinct(&[&self.out, &state_path(&self.out)], &inputs)
    }
}

/// A finished game, encoded in the format of the file.
pub struct PlayedGame {
    /// Bytes to append to the file.
    pub bytes: Vec<u8>,
    /// Number of labelled positions.
    pub positions: u64,
}

impl PlayedGame {
    /// Encodes the positions of a game. Those with `NO_SCORE` are not counted as labelled.
    ///
    /// # Errors
    /// Fails if the format cannot store a position.
    pub fn encode(entries: &[Entry], format: Format) -> Result<Self> {
        let mut writer = EntryWriter::new(format, Vec::with_capacity(40 * entries.len()))?;
        for entry in entries {
            writer.write(entry)?;
        }
        Ok(Self { bytes: writer.finish()?, positions: entries.iter().filter(|e| e.score != NO_SCORE).count() as u64 })
    }

    /// Appends another game, which is stored after this one.
    pub fn append(&mut self, game: Self) {
        self.bytes.extend(game.bytes);
        self.positions += game.positions;
    }
}

/// Plays games until the file has the requested number of positions. `settings` are the settings that determine the
/// data, except for the seed and the hash size. Returns the number of positions in the file.
///
/// # Errors
/// Fails if the file cannot be opened, if a game cannot be started or stored, if a thread fails, on a write error, and
/// after an interrupt.
pub fn generate<P: Player<Game = PlayedGame>>(
    args: &OutputArgs,
    settings: &str,
    new_player: impl Fn() -> P + Sync,
) -> Result<u64> {
    let settings = format!("{settings}, hash {}, seed {}", args.hash, args.seed);
    let mut store = Store::open(&args.out, settings, args.resume)?;
    let goal = Goal { before: store.state().positions, wanted: args.positions };
    let mut progress = (!args.quiet || stderr().is_terminal()).then(ProgressLine::new);
    let interrupt = Interrupt::shared();
    let is_over = |store: &Store| store.state().positions >= goal.wanted;
    if !is_over(&store) {
        let threads = args.threads.map_or_else(cores, usize::from);
        let numbers = store.state().games..u64::MAX;
        let receive = |event: Event<PlayedGame>| {
            if let Event::Game(played) = event {
                store.append(&played.bytes, played.positions)?;
                if let Some(progress) = &mut progress {
                    progress.tick(|seconds| line(&store, goal, seconds));
                }
            }
            Ok(if is_over(&store) || interrupt.is_set() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        };
        play::play_numbered(threads, numbers, || Ok(new_player()), receive, || ())?;
    }
    store.finish()?;
    if !is_over(&store) {
        return Err(Interrupted::error(format!(
            "interrupted after {} of {} positions; repeat the command with --resume to continue",
            store.state().positions,
            goal.wanted
        )));
    }
    if let Some(progress) = &mut progress {
        progress.finish(&line(&store, goal, progress.seconds()));
    }
    Ok(store.state().positions)
}

/// Numbers of positions in the file between which this process works.
#[derive(Clone, Copy)]
struct Goal {
    /// Number at its start.
    before: u64,
    /// Number requested.
    wanted: u64,
}

/// The progress line.
fn line(store: &Store, goal: Goal, seconds: f64) -> String {
    let state = store.state();
    let rate = (state.positions - goal.before) as f64 / seconds.max(1e-9);
    let left = goal.wanted.saturating_sub(state.positions) as f64 / rate;
    format!(
        "{} of {} positions, {} games, {}/s, {} left",
        short_number(state.positions as f64),
        short_number(goal.wanted as f64),
        state.games,
        short_number(rate),
        short_time(left),
    )
}

// Self-play.
//
// Self-play games: every position with the score of its search and the result of the game.
//
// Scores are in units of the network's output, like those of samples: the factor for material, which the search
// applies, is divided out. The trainer can then mix both.

/// Default nodes per move.
const DEFAULT_NODES: u64 = 5000;

/// Arguments of `datagen selfplay`.
#[derive(clap::Args, Clone, Debug)]
pub struct SelfplayArgs {
    /// Output file and number of positions.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Network of both players; the embedded one if absent
    #[arg(long, value_name = "FILE")]
    pub net: Option<PathBuf>,
    /// Openings of the games.
    #[command(flatten)]
    pub openings: OpeningArgs,
    /// Search limits per move; 5000 nodes if absent.
    #[command(flatten)]
    pub moves: MoveArgs,
    /// Adjudication rules.
    #[command(flatten)]
    pub rules: RuleArgs,
    /// Filter of the positions.
    #[command(flatten)]
    pub keep: FilterArgs,
}

impl SelfplayArgs {
    /// Settings that determine the data, as text. `--resume` requires them to be unchanged.
    fn settings(&self, network: &Network) -> String {
        format!(
            "selfplay: net {}, scores in its units, {:?}, {:?}, {:?}, {:?}",
            network.info().sha256,
            self.openings,
            self.moves,
            self.rules,
            self.keep
        )
    }
}

/// Plays games until the file has the requested number of positions.
///
/// # Errors
/// Fails if the output file or the book cannot be used, and on an I/O error. The error names the file.
pub fn run(args: &SelfplayArgs, network: &Arc<Network>) -> Result<()> {
    let inputs = [args.net.as_deref(), args.openings.book.as_deref()];
    args.output.check_inputs(inputs.into_iter().flatten())?;
    let openings = EvenOpenings::new(&args.openings)?;
    let limits = args.moves.limits(DEFAULT_NODES);
    let format = Format::of(&args.output.out)?;
    check_holds_unrelated(format)?;
    let new_player = || SelfplayPlayer {
        args,
        openings: &openings,
        limits: &limits,
        solo: Solo::new(network.clone(), args.output.hash as usize),
        format,
    };
    generate(&args.output, &args.settings(network), new_player).map(|_| ())
}

/// Plays games on one thread.
struct SelfplayPlayer<'a> {
    args: &'a SelfplayArgs,
    openings: &'a EvenOpenings,
    limits: &'a Limits,
    solo: Solo,
    format: Format,
}

impl Player for SelfplayPlayer<'_> {
    type Game = PlayedGame;

    fn play(&mut self, number: u64, stop: &AtomicBool) -> Result<Option<PlayedGame>> {
        let mut rng = rng_of(self.args.output.seed, number);
        let start = self.openings.next(&mut rng, &mut self.solo)?;
        let mut entries = Vec::new();
        let ending = play::play_game(start, &self.args.rules, stop, |position| {
            let Some(found) = self.solo.search(position, self.limits) else {
                return Answer::Stopped;
            };
            entries.push(label(position, &found));
            Answer::Move(found.m, found.value)
        });
        let Some(ending) = ending else {
            return Ok(None);
        };
        entries.iter_mut().for_each(|entry| entry.set_result(ending.white));
        PlayedGame::encode(&self.choose(&entries), self.format).map(Some)
    }
}

impl SelfplayPlayer<'_> {
    /// Removes the positions that the filter rejects, or in a .binpack their scores.
    fn choose(&self, entries: &[Entry]) -> Vec<Entry> {
        let filter = self.args.keep.filter();
        let chains = self.format == Format::Binpack;
        let choose = |entry: &Entry| remainder(entry, filter.keeps(entry), chains);
        entries.iter().filter_map(choose).collect()
    }
}

/// Labels a position with the result of its search.
fn label(position: &Position, found: &Found) -> Entry {
    let score = unscaled(position, found.value).clamp(i16::MIN.into(), i16::MAX.into());
    Entry { m: Some(found.m), score: score as i16, ..Entry::of(position) }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Resumes a store with the settings of these tests.
    fn resume(path: &Path) -> Result<Store> {
        Store::open(path, "seed 1".to_owned(), true)
    }

    /// The error on resuming.
    fn refusal(path: &Path) -> String {
        format!("{:#}", resume(path).err().expect("resuming is refused"))
    }

    /// Writes a store of two games.
    fn two_games(folder: &Path) -> PathBuf {
        let path = folder.join("a.tree");
        let mut store = resume(&path).expect("a new file");
        store.append(b"one", 3).expect("the file is writable");
        store.append(b"two", 4).expect("the file is writable");
        path
    }

    #[test]
    fn edited_state_is_refused_by_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = two_games(folder.path());
        let valid = fs::read_to_string(state_path(&path)).expect("a state");
        let crc = valid.find("\"state_crc\"").expect("a checksum");
        let comma = valid[..crc].rfind(',').expect("it is the last field");
        for edited in [
            valid.replace("\"games\": 2", "\"games\": 1"),
            valid.replace("\"positions\": 7", "\"positions\": 8"),
            valid.replace("\"bytes\": 6", "\"bytes\": 3"),
            // Checksum of the state removed, that of the data kept.
            format!("{}\n}}", &valid[..comma]),
        ] {
            assert_ne!(edited, valid);
            fs::write(state_path(&path), &edited).expect("the file is writable");
            let error = refusal(&path);
            assert!(error.contains("a.tree.state was edited"), "{error}");
        }
        fs::write(state_path(&path), &valid).expect("the file is writable");
        assert_eq!(resume(&path).expect("as it was").state().games, 2);
        assert_eq!(fs::read(&path).expect("a file"), b"onetwo");
    }

    #[test]
    fn flipped_bit_anywhere_in_the_data_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = two_games(folder.path());
        for at in 0..6 {
            let mut bytes = b"onetwo".to_vec();
            bytes[at] ^= 1;
            fs::write(&path, &bytes).expect("the file is writable");
            let error = refusal(&path);
            assert!(error.contains("a.tree: ") && error.contains("changed or damaged"), "{error}");
            assert_eq!(fs::read(&path).expect("a file"), bytes, "the data were modified");
        }
        fs::write(&path, b"onetwo").expect("the file is writable");
        assert_eq!(resume(&path).expect("as it was").state().positions, 7);
    }

    #[test]
    fn state_without_checksums_is_resumed_and_gets_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.tree");
        fs::write(&path, b"one").expect("the file is writable");
        let old = r#"{"settings": "seed 1", "games": 1, "positions": 3, "bytes": 3}"#;
        fs::write(state_path(&path), old).expect("the file is writable");
        drop(resume(&path).expect("a state of version 0.1"));
        let state = fs::read_to_string(state_path(&path)).expect("a state");
        assert!(state.contains("state_crc") && state.contains("data_crc"), "{state}");
        fs::write(&path, b"onf").expect("the file is writable");
        assert!(refusal(&path).contains("changed or damaged"));
    }

    #[cfg(unix)]
    #[test]
    fn pipe_as_output_is_refused_at_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.tree");
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.expect("mkfifo runs").success());
        assert!(refusal(&path).contains("not a regular file"));
    }

    #[test]
    fn resume_truncates_games_missing_from_the_state() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.bin");
        let open = |settings: &str, resume| Store::open(&path, settings.to_owned(), resume);
        let mut store = open("seed 1", false).expect("a new file");
        store.append(b"one", 3).expect("the file is writable");
        assert!(open("seed 1", true).is_err(), "the file is in use");
        drop(store);
        // A process killed after it appended a game and before it saved the state.
        let mut file = fs::OpenOptions::new().append(true).open(&path).expect("a file");
        file.write_all(b"half a ga").expect("the file is writable");
        drop(file);
        assert!(open("seed 1", false).is_err());
        assert!(open("seed 2", true).is_err());
        let mut store = open("seed 1", true).expect("the same file");
        assert_eq!((store.state().games, store.state().positions), (1, 3));
        store.append(b"two", 3).expect("the file is writable");
        drop(store);
        assert_eq!(fs::read(&path).expect("a file"), b"onetwo");
        // A data file shorter than its state records, and a missing state file.
        fs::write(&path, b"on").expect("the file is writable");
        assert!(open("seed 1", true).is_err());
        fs::remove_file(state_path(&path)).expect("the state");
        assert!(open("seed 1", true).is_err());
    }
}

#[cfg(test)]
mod selfplay_tests {
    use super::*;
    use crate::board::{CastlingMode, Move};
    use crate::search::evaluate::scaled;
    use crate::search::score::{MATE, TB_WIN, Value};

    fn found(m: Move, value: Value) -> Found {
        Found { m, value, depth: 1, nodes: 1 }
    }

    #[test]
    fn scores_have_the_units_of_the_network() {
        for fen in ["rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "8/5k2/8/8/3R4/5K2/7p/8 w - - 0 1"] {
            let position = Position::from_fen(fen, CastlingMode::Standard).expect(fen);
            let m = position.legal_moves()[0];
            for raw in [0, 57, -610, 2900] {
                let score = label(&position, &found(m, scaled(&position, raw))).score;
                // Both divisions truncate.
                assert!((i32::from(score) - raw).abs() <= 2, "{fen}: {score} for {raw}");
            }
            for proven in [MATE - 3, -MATE + 8, TB_WIN - 5] {
                assert_eq!(i32::from(label(&position, &found(m, proven)).score), proven);
            }
        }
    }
}
