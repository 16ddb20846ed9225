//! Checkpoint files: the complete state that determines the rest of a run.
//!
//! ```text
//! 0..8    "ZOOTRAIN"
//! 8..12   version
//! 12..16  length of the state
//!         the state: JSON
//!         every tensor, f32, little endian: the transformer's weights, first and second moments; then for each of the
//!         three the dense tensors, in the order of `DenseParameters::tensors`; the state's settings give the sizes
//!         if the state's `averaged` is not 0, the mean of the weights in the same order
//!         positions to check an export on: records of 32 bytes
//! last 32 SHA-256 of all bytes before
//! ```
//!
//! The order of the positions depends only on the files, the seed and a bookmark. The random mirroring depends only on
//! the seed and the number of positions shown. There is no other random state.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::config::Config;
use crate::data::Record;
use crate::data::stream::Bookmark;
use crate::nnue::Architecture;
use crate::train::model::parameters::{DenseParameters, RowLayout};
use crate::train::model::{Average, Model};
use crate::train::step::optimiser::Moments;
pub use crate::train::step::{Parameters, ParametersRef};
use crate::util::atomic::AtomicFile;
use crate::util::files::Kind;
use crate::util::text::Shown as _;

const MAGIC: &[u8; 8] = b"ZOOTRAIN";
/// The kind of file that a checkpoint may replace.
pub const KIND: Kind = Kind { name: "the checkpoint of a training run", is: |head| head.starts_with(MAGIC) };
const VERSION: u32 = 2;
/// Version without weight averages, which is still read.
const FIRST_VERSION: u32 = 1;
/// Maximum length of the state in bytes. A real state has a few kilobytes; a longer one is damage.
const MAX_STATE: usize = 64 << 20;
/// Maximum number of records in a checkpoint.
const MAX_RECORDS: usize = 1 << 20;

/// Result of one validation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Validation {
    /// Positions shown.
    pub shown: u64,
    /// Mean training loss since the previous validation.
    pub train: f64,
    /// Loss on the held-out positions; 0 if there are none.
    pub held_out: f32,
    /// Learning rate.
    pub rate: f32,
    /// Weight of the score.
    pub lambda: f32,
    /// Seconds of training, including those before a resumption.
    pub seconds: f64,
}

impl Validation {
    /// Loss on the held-out positions; `None` if there are none.
    pub fn measured(&self) -> Option<f32> {
        (self.held_out > 0.0).then_some(self.held_out)
    }
}

/// State of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunState {
    /// The settings.
    pub config: Config,
    /// Positions shown.
    pub shown: u64,
    /// Position in the stream after the shown positions. Absent from checkpoints older than the stream, which had a
    /// different order.
    #[serde(default)]
    pub bookmark: Option<Bookmark>,
    /// Memory of the stream in bytes, on which the order of the positions depends. Absent from older checkpoints, whose
    /// settings determine it.
    #[serde(default)]
    pub stream_memory: Option<usize>,
    /// Number of averaged models; 0 if averaging has not started.
    #[serde(default)]
    pub averaged: u32,
    /// Sum and number of the batches' losses since the last report.
    pub recent: (f64, u32),
    /// Seconds of training.
    pub seconds: f64,
    /// Every validation so far.
    pub history: Vec<Validation>,
}

/// Borrowed contents of a checkpoint, for writing.
#[derive(Clone, Copy)]
pub struct Contents<'a> {
    /// State of the run.
    pub state: &'a RunState,
    /// The parameters, with a mean of as many models as the state's `averaged`.
    pub parameters: ParametersRef<'a>,
    /// Held-out positions to check an export on.
    pub records: &'a [Record],
}

/// Writes a checkpoint. The previous one is replaced when the new one is complete.
///
/// # Errors
/// Fails on an I/O error.
pub fn write(path: &Path, contents: Contents) -> Result<()> {
    begin(path, contents)?.commit()
}

/// Writes a complete checkpoint to a temporary file; [`AtomicFile::commit`] renames it.
///
/// # Errors
/// Fails on an I/O error.
pub fn begin(path: &Path, contents: Contents) -> Result<AtomicFile> {
    let mut file = AtomicFile::create_over(path, &KIND)?;
    let written = write_to(&mut file, contents);
    written.with_context(|| format!("cannot write {}", path.shown()))?;
    Ok(file)
}

fn write_to(file: &mut AtomicFile, contents: Contents) -> io::Result<()> {
    let state = serde_json::to_vec(contents.state)?;
    let mut out = Hashing::new(&mut *file);
    out.write_all(MAGIC)?;
    out.write_all(&VERSION.to_le_bytes())?;
    out.write_all(&(state.len() as u32).to_le_bytes())?;
    out.write_all(&state)?;
    out.write_all(&contents.parameters.moments.steps.to_le_bytes())?;
    let ParametersRef { model, moments, average } = contents.parameters;
    for table in [&model.transformer, &moments.first.0, &moments.second.0] {
        put_floats(&mut out, table)?;
    }
    for dense in [&model.dense, &moments.first.1, &moments.second.1] {
        for tensor in dense.tensors() {
            put_floats(&mut out, tensor)?;
        }
    }
    if let Some(average) = average {
        put_floats(&mut out, &average.model.transformer)?;
        for tensor in average.model.dense.tensors() {
            put_floats(&mut out, tensor)?;
        }
    }
    out.write_all(&(contents.records.len() as u32).to_le_bytes())?;
    out.write_all(bytemuck::cast_slice(contents.records))?;
    let hash = out.hash.finalize();
    file.write_all(&hash)
}

/// Size in bytes of a checkpoint for this architecture, with or without weight averages, excluding state and records.
pub fn bytes(architecture: Architecture, averaged: bool) -> u64 {
    let dense = DenseParameters::zeros(architecture);
    let dense: usize = dense.tensors().iter().map(|tensor| tensor.len()).sum();
    let table = RowLayout::weights(architecture).len();
    (3 + u64::from(averaged)) * 4 * (table + dense) as u64
}

/// Whether a file starts with the magic bytes of a checkpoint.
pub fn is_checkpoint(path: &Path) -> Result<bool> {
    let open = || -> io::Result<bool> {
        let mut begin = Vec::new();
        File::open(path)?.take(MAGIC.len() as u64).read_to_end(&mut begin)?;
        Ok(begin == MAGIC)
    };
    open().with_context(|| format!("cannot read {}", path.shown()))
}

/// What [`read`] returns.
pub struct Checkpoint {
    /// The state of the run.
    pub state: RunState,
    /// The trainer's parameters.
    pub parameters: Parameters,
    /// Held-out positions to calibrate and check exports.
    pub records: Vec<Record>,
}

/// Reads a checkpoint.
///
/// # Errors
/// Fails if the file is not a checkpoint, has another version, or is damaged.
pub fn read(path: &Path) -> Result<Checkpoint> {
    let file = File::open(path).with_context(|| format!("cannot open {}", path.shown()))?;
    read_from(BufReader::with_capacity(1 << 20, file))
        .with_context(|| format!("cannot read checkpoint {}", path.shown()))
}

/// Reads the state of a checkpoint without the parameters and the check of the checksum.
///
/// # Errors
/// Fails if the file is not a checkpoint or has another version.
pub fn read_state(path: &Path) -> Result<RunState> {
    let file = File::open(path).with_context(|| format!("cannot open {}", path.shown()))?;
    Hashing::new(BufReader::new(file)).state().with_context(|| format!("cannot read checkpoint {}", path.shown()))
}

fn read_from(file: impl Read) -> Result<Checkpoint> {
    let mut file = Hashing::new(file);
    let state = file.state()?;
    let architecture = state.config.architecture()?;
    let mut model = Model::zeros(architecture);
    let mut moments = Moments::zeros(architecture);
    moments.steps = file.word()?;
    for table in [&mut model.transformer, &mut moments.first.0, &mut moments.second.0] {
        file.floats(table)?;
    }
    for dense in [&mut model.dense, &mut moments.first.1, &mut moments.second.1] {
        for tensor in dense.tensors_mut() {
            file.floats(tensor)?;
        }
    }
    let average = match state.averaged {
        0 => None,
        count => Some(file.average(architecture, count)?),
    };
    let count = file.word()? as usize;
    if count > MAX_RECORDS {
        bail!("damaged: {count} records are more than {MAX_RECORDS}");
    }
    let mut records = vec![bytemuck::Zeroable::zeroed(); count];
    file.read_exact(bytemuck::cast_slice_mut::<Record, u8>(&mut records))?;
    let computed = file.hash.finalize();
    let mut stored = [0; 32];
    file.inner.read_exact(&mut stored)?;
    if stored != computed[..] {
        bail!("damaged: wrong checksum");
    }
    if file.inner.read(&mut [0])? > 0 {
        bail!("damaged: data after the end");
    }
    let parameters = Parameters { model, moments, average };
    Ok(Checkpoint { state, parameters, records })
}

/// Floats converted to bytes at a time.
const RUN: usize = 1 << 14;

fn put_floats(out: &mut impl Write, floats: &[f32]) -> io::Result<()> {
    let mut bytes = Vec::with_capacity(4 * RUN);
    for run in floats.chunks(RUN) {
        bytes.clear();
        bytes.extend(run.iter().flat_map(|float| float.to_le_bytes()));
        out.write_all(&bytes)?;
    }
    Ok(())
}

/// Hashes the bytes that pass through.
struct Hashing<F> {
    inner: F,
    hash: Sha256,
}

impl<F> Hashing<F> {
    fn new(inner: F) -> Self {
        let hash = Sha256::new();
        Self { inner, hash }
    }
}

impl<F: Write> Write for Hashing<&mut F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.hash.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<F: Read> Read for Hashing<F> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(bytes)?;
        self.hash.update(&bytes[..count]);
        Ok(count)
    }
}

impl<F: Read> Hashing<F> {
    /// Reads the beginning of a checkpoint: magic bytes, version and state.
    fn state(&mut self) -> Result<RunState> {
        let mut magic = [0; MAGIC.len()];
        self.read_exact(&mut magic)?;
        if &magic != MAGIC {
            bail!("not a checkpoint: it does not start with ZOOTRAIN");
        }
        let version = self.word()?;
        if !(FIRST_VERSION..=VERSION).contains(&version) {
            bail!("version {version} is not supported; this program reads {FIRST_VERSION} to {VERSION}");
        }
        let length = self.word()? as usize;
        if length > MAX_STATE {
            bail!("damaged: a state of {length} bytes is impossible");
        }
        let mut state = vec![0; length];
        self.read_exact(&mut state)?;
        serde_json::from_slice(&state).context("cannot read the state")
    }

    fn word(&mut self) -> io::Result<u32> {
        let mut word = [0; 4];
        self.read_exact(&mut word)?;
        Ok(u32::from_le_bytes(word))
    }

    fn average(&mut self, architecture: Architecture, count: u32) -> Result<Average> {
        let mut model = Model::zeros(architecture);
        self.floats(&mut model.transformer)?;
        for tensor in model.dense.tensors_mut() {
            self.floats(tensor)?;
        }
        Ok(Average { model, count })
    }

    fn floats(&mut self, out: &mut [f32]) -> io::Result<()> {
        let mut bytes = vec![0; 4 * RUN];
        for run in out.chunks_mut(RUN) {
            let bytes = &mut bytes[..4 * run.len()];
            self.read_exact(bytes)?;
            for (float, bytes) in run.iter_mut().zip(bytes.as_chunks().0) {
                *float = f32::from_le_bytes(*bytes);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::model::shapes;
    use crate::util::rng::SplitMix64;

    #[test]
    fn checkpoint_round_trips_and_rejects_damage() {
        shapes::for_tests().for_each(check_round_trip);
    }

    fn check_round_trip(architecture: Architecture) {
        let name = architecture.file_hash();
        let folder = std::env::temp_dir().join(format!("zoothera-checkpoint-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("run.checkpoint");
        let model = Model::initial(&mut SplitMix64::new(1), architecture, 0.1);
        let mut moments = Moments::zeros(architecture);
        moments.steps = 77;
        moments.first.0[5] = 0.5;
        moments.second.1.transformer_bias[3] = -0.25;
        let state = RunState {
            config: Config::default().with_shape(architecture),
            shown: 5000,
            bookmark: Some(Bookmark { fingerprint: u64::MAX, window: 1, shown: 2, chunk: 3, skip: 4 }),
            stream_memory: Some(1 << 30),
            averaged: 2,
            recent: (0.1, 3),
            seconds: 1.5,
            history: vec![Validation {
                shown: 4000,
                train: 0.01,
                held_out: 0.02,
                rate: 0.004,
                lambda: 1.0,
                seconds: 1.0,
            }],
        };
        let records = vec![bytemuck::Zeroable::zeroed(); 3];
        let mut average = Average::of(&model);
        average.add(&Model::zeros(architecture));
        let parameters = ParametersRef { model: &model, moments: &moments, average: Some(&average) };
        let contents = Contents { state: &state, parameters, records: &records };
        write(&path, contents).unwrap();
        assert!(is_checkpoint(&path).unwrap());
        let size = std::fs::metadata(&path).unwrap().len();
        let min_size = bytes(architecture, true);
        assert!((min_size..min_size + 4096).contains(&size));
        let Checkpoint { state: read_state, parameters, records: read_records } = read(&path).unwrap();
        assert!(read_state == state && read_records == records);
        assert!(parameters.model.transformer[..] == model.transformer[..]);
        assert_eq!(parameters.average.as_ref().map(|a| a.count), Some(2));
        assert_eq!(parameters.moments.steps, 77);
        assert_eq!(parameters.moments.first.0[5], 0.5);
        assert_eq!(parameters.moments.second.1.transformer_bias[3], -0.25);
        let result = parameters.into_result();
        assert_eq!(result.dense.transformer_bias[3], model.dense.transformer_bias[3] / 2.0);

        let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(&[0]).unwrap();
        let error = format!("{:#}", read(&path).err().unwrap());
        assert!(error.contains("data after the end"), "{error}");
        file.set_len(size).unwrap();
        let middle = size / 2;
        flip_bit(&path, middle);
        let error = format!("{:#}", read(&path).err().unwrap());
        assert!(error.contains("checksum"), "{error}");
        file.set_len(middle).unwrap();
        assert!(read(&path).is_err());
        std::fs::remove_dir_all(&folder).unwrap();
    }

    fn flip_bit(path: &Path, at: u64) {
        use std::io::{Seek, SeekFrom};
        let mut options = std::fs::OpenOptions::new();
        let mut file = options.read(true).write(true).open(path).unwrap();
        let mut byte = [0];
        file.seek(SeekFrom::Start(at)).unwrap();
        file.read_exact(&mut byte).unwrap();
        file.seek(SeekFrom::Start(at)).unwrap();
        file.write_all(&[byte[0] ^ 1]).unwrap();
    }
}
