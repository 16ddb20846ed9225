//! Endgame tablebases: the files, and the results in them.
//!
//! Inside the search, the WDL tables are probed only after a capture or pawn move, because they ignore the 50-move
//! counter (step 4 of a node). At the root, the DTZ tables choose moves that make progress (`tablebases`).
//! If the tables contain the root, the search below it does not probe. A WDL win has no distance: it would hide the
//! mates that the search finds, and games would take longer with tables than without.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use anyhow::{Result, bail};
use shakmaty::Chess;
use shakmaty_syzygy::{MaybeRounded, Metric, ProbeError, SyzygyError, Tablebase};

use super::score::LoadedTables;
use crate::board::Position;
use crate::util::sync::Mutex;
use crate::util::text::Shown as _;
use crate::util::{city, reason};

pub(super) use shakmaty_syzygy::Wdl;

/// Tables of at most this length in bytes are verified when they are opened: all tables of up to four pieces, and small
/// tables of five pieces, which are read quickly. `zoothera tables verify` verifies the others.
const VERIFIED_AT_START: u64 = 1 << 20;

/// Open tables.
pub struct Syzygy {
    tables: Tablebase<Chess>,
    /// The files by name, such as `KQvK.rtbw`.
    files: BTreeMap<String, PathBuf>,
    damage: Damage,
}

/// Tables that were found to be damaged by a probe.
#[derive(Default)]
struct Damage {
    /// Problems by file name; each is reported once.
    found: Mutex<BTreeMap<String, String>>,
    /// Problems that have not been reported yet.
    unreported: Mutex<Vec<String>>,
    /// Whether `unreported` is not empty, so that the search does not need to lock it.
    has_unreported: AtomicBool,
}

#[cfg(any(unix, windows))]
fn new_tables() -> Tablebase<Chess> {
    Tablebase::new()
}

/// Creates tables for systems that cannot read a file at an offset.
#[cfg(not(any(unix, windows)))]
fn new_tables() -> Tablebase<Chess> {
    Tablebase::with_filesystem(std::sync::Arc::new(by_seek::TableFiles))
}

impl Syzygy {
    /// Opens the tables in a list of directories, separated by the platform's path separator (`:` or `;`). A directory
    /// or file that cannot be used is skipped.
    ///
    /// # Errors
    /// Fails if no directory contains a table.
    pub fn open(path: &str) -> Result<(Self, LoadedTables)> {
        let mut syzygy = Self { tables: new_tables(), files: BTreeMap::new(), damage: Damage::default() };
        let mut loaded = LoadedTables::default();
        for directory in directories(path) {
            syzygy.add_directory(directory, &mut loaded);
        }
        if loaded.files == 0 {
            bail!("no tables (*.rtbw, *.rtbz): {}", loaded.problems_in_words());
        }
        loaded.pieces = syzygy.tables.max_pieces();
        Ok((syzygy, loaded))
    }

    fn add_directory(&mut self, directory: PathBuf, loaded: &mut LoadedTables) {
        let shown = directory.shown();
        let files = match table_files_in(&directory) {
            Ok(files) => files,
            Err(error) => {
                let why = reason::of(&error);
                let problem = format!("cannot read the directory '{shown}' ({why})");
                return loaded.problems.push(problem);
            }
        };
        if files.is_empty() {
            return loaded.problems.push(format!("no tables in '{shown}'"));
        }
        let before = loaded.files;
        for file in files {
            match self.add_file(&file) {
                Ok(()) => loaded.files += 1,
                Err(why) => {
                    let problem = format!("'{}' is not used: {why}", file.shown());
                    loaded.problems.push(problem);
                }
            }
        }
        if loaded.files > before {
            loaded.directories.push(directory);
        }
    }

    /// Adds one table. The error is the reason why the file is not a valid table.
    fn add_file(&mut self, path: &Path) -> Result<(), String> {
        if path.is_dir() {
            return Err("it is a directory".to_owned());
        }
        check_magic(path)?;
        let length = path.metadata().map_or(0, |meta| meta.len());
        if length <= VERIFIED_AT_START && has_checksum(length) {
            check_checksum(path)?;
        }
        self.tables.add_file(path).map_err(|error| match error.kind() {
            io::ErrorKind::InvalidData => "wrong size for a table; download it again".to_owned(),
            io::ErrorKind::InvalidInput => "not the name of a table; expected a name such as KQvKR.rtbw".to_owned(),
            _ => reason::of(&error),
        })?;
        if let Some(name) = path.file_name() {
            let name = name.to_string_lossy().into_owned();
            self.files.insert(name, path.to_path_buf());
        }
        Ok(())
    }

    /// Result of a probe; `None` if a table is missing or damaged. A damaged table is reported later.
    fn checked<T>(&self, result: Result<T, SyzygyError>) -> Option<T> {
        match result {
            Ok(checked) => Some(checked),
            Err(SyzygyError::ProbeFailed { metric, material, error }) => {
                let extension = match metric {
                    Metric::Wdl => "rtbw",
                    Metric::Dtz => "rtbz",
                };
                self.note_damage(format!("{material}.{extension}"), &error);
                None
            }
            Err(_) => None,
        }
    }

    #[cold]
    fn note_damage(&self, name: String, error: &ProbeError) {
        let mut found = self.damage.found.lock();
        if found.contains_key(&name) {
            return;
        }
        let why = match error {
            ProbeError::Read { error } => format!("cannot be read ({})", reason::of(error)),
            _ => "is damaged; download it again".to_owned(),
        };
        let file = self.files.get(&name).map_or(Path::new(&name), |path| path);
        let text = format!("Syzygy: '{}' {why}", file.shown());
        self.damage.unreported.lock().push(text.clone());
        self.damage.has_unreported.store(true, Relaxed);
        found.insert(name, text);
    }

    /// Messages about tables that were found to be damaged since the last call.
    pub(super) fn take_messages(&self) -> Vec<String> {
        if !self.damage.has_unreported.swap(false, Relaxed) {
            return Vec::new();
        }
        std::mem::take(&mut *self.damage.unreported.lock())
    }

    /// Largest number of pieces on the board in any table.
    pub fn max_pieces(&self) -> usize {
        self.tables.max_pieces()
    }

    /// Result for the side to move, just after a capture or pawn move; `None` if a table is missing.
    pub(super) fn wdl(&self, position: &Position) -> Option<Wdl> {
        self.checked(self.tables.probe_wdl_after_zeroing(&position.to_chess()))
    }

    /// Maximum distance of the position to the next capture or pawn move: positive for a win of the side to move, 0 for
    /// a draw. `None` if a table is missing. Tables may store a distance that is one ply too small; it counts as the
    /// larger one, so that a win is never claimed a ply beyond the 50-move rule.
    pub(super) fn dtz(&self, position: &Position) -> Option<i32> {
        let dtz = self.checked(self.tables.probe_dtz(&position.to_chess()))?;
        Some(match dtz {
            MaybeRounded::Precise(dtz) => dtz.0,
            MaybeRounded::Rounded(dtz) => dtz.0 + dtz.0.signum(),
        })
    }
}

/// Verifies the name, the first bytes and the checksum of a table. The error is the reason why it is not a valid table.
pub(crate) fn verify_file(path: &Path) -> Result<(), String> {
    check_magic(path)?;
    check_checksum(path)
}

/// Files in a directory with the extension of a table, sorted by name.
pub(crate) fn table_files_in(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        let extension = path.extension().and_then(|text| text.to_str());
        if matches!(extension, Some("rtbw" | "rtbz")) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Extensions and first bytes of WDL and DTZ files.
// CITE: the format of R. de Man's tables (syzygy1).
const MAGIC: [(&str, [u8; 4]); 2] = [("rtbw", [0x71, 0xE8, 0x23, 0x5D]), ("rtbz", [0xD7, 0x66, 0x0C, 0xA5])];

/// Checks that a file can be read and begins with the magic bytes of a table. The size of the file is not sufficient,
/// because a server's error page can have any size.
fn check_magic(path: &Path) -> Result<(), String> {
    let mut start = [0; 4];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut start));
    match read {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            return Err("the file is empty or truncated; download it again".to_owned());
        }
        Err(error) => return Err(reason::of(&error)),
    }
    let extension = path.extension().and_then(|text| text.to_str());
    if MAGIC.iter().any(|&(name, magic)| extension == Some(name) && magic == start) {
        Ok(())
    } else {
        Err("not a tablebase file (wrong first bytes); download it again".to_owned())
    }
}

fn directories(path: &str) -> impl Iterator<Item = PathBuf> {
    std::env::split_paths(path).filter(|directory| !directory.as_os_str().is_empty())
}

// Checksums.
//
// Checksums of tablebase files. A file ends with the checksum of everything before it.
// CITE: the format of R. de Man's tables: CityHashCrc256 of each chunk of 16 MiB, and CityHashCrc128 of these hashes.

/// Length of the checksum in bytes.
pub const CHECKSUM_BYTES: usize = 16;

/// Bytes that are hashed together.
const CHUNK: u64 = 1 << 24;
/// The length of a table without its checksum is a multiple of this.
const ALIGNMENT: u64 = 64;

/// The checksum of a table without the 16 bytes of the checksum at its end.
///
/// # Errors
/// Fails on an I/O error, and if there is no data.
pub fn table_checksum(mut table: impl Read) -> io::Result<[u8; CHECKSUM_BYTES]> {
    let mut hashes = Vec::new();
    let mut chunk = Vec::new();
    loop {
        chunk.clear();
        if table.by_ref().take(CHUNK).read_to_end(&mut chunk)? == 0 {
            break;
        }
        hashes.extend(city::crc_256(&chunk).into_iter().flat_map(u64::to_le_bytes));
    }
    if hashes.is_empty() {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let mut sum = [0; CHECKSUM_BYTES];
    for (bytes, word) in sum.chunks_exact_mut(8).zip(city::crc_128(&hashes)) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    Ok(sum)
}

/// Whether a file of this length can be a table with a checksum.
fn has_checksum(length: u64) -> bool {
    length % ALIGNMENT == CHECKSUM_BYTES as u64 && length > ALIGNMENT
}

/// Compares the checksum of a table with its content. The error states why the file is not a valid table.
fn check_checksum(path: &Path) -> Result<(), String> {
    let found = || {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        if !has_checksum(length) {
            return Ok(None);
        }
        let computed = table_checksum(file.by_ref().take(length - CHECKSUM_BYTES as u64))?;
        let mut stored = [0; CHECKSUM_BYTES];
        file.read_exact(&mut stored)?;
        Ok(Some(stored == computed))
    };
    match found().map_err(|error: io::Error| reason::of(&error))? {
        Some(true) => Ok(()),
        Some(false) => Err("damaged (the checksum does not match); download it again".to_owned()),
        None => Err("wrong size for a table; download it again".to_owned()),
    }
}

/// Table files on systems without reads at an offset (WASI): seek, then read.
#[cfg(not(any(unix, windows)))]
mod by_seek {
    use std::fs::{self, File};
    use std::io::{self, Read as _, Seek as _, SeekFrom};
    use std::path::{Path, PathBuf};

    use shakmaty_syzygy::filesystem::{Filesystem, RandomAccessFile, ReadHint};

    use crate::util::sync::Mutex;

    /// Opens files with the standard library.
    pub(super) struct TableFiles;

    impl Filesystem for TableFiles {
        fn regular_file_size(&self, path: &Path) -> io::Result<u64> {
            let meta = fs::metadata(path)?;
            if meta.is_file() { Ok(meta.len()) } else { Err(io::ErrorKind::InvalidInput.into()) }
        }

        fn read_dir(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
            fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect()
        }

        fn open(&self, path: &Path) -> io::Result<Box<dyn RandomAccessFile>> {
            Ok(Box::new(TableFile(Mutex::new(File::open(path)?))))
        }
    }

    /// An open file. The lock makes a seek and its read atomic.
    struct TableFile(Mutex<File>);

    impl RandomAccessFile for TableFile {
        fn read_at(&self, buf: &mut [u8], offset: u64, _hint: ReadHint) -> io::Result<usize> {
            let mut file = self.0.lock();
            file.seek(SeekFrom::Start(offset))?;
            file.read(buf)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_of_missing_directory_names_it() {
        let error = Syzygy::open("/no/such/directory").err();
        let text = error.map(|e| format!("{e:#}")).unwrap_or_default();
        assert!(text.contains("'/no/such/directory' (No such file or directory)"), "{text}");
    }

    #[test]
    fn one_flipped_bit_anywhere_is_detected() {
        let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/syzygy/KRvK.rtbw");
        let good = std::fs::read(&table).expect("a table");
        assert_eq!(check_checksum(&table), Ok(()));
        let copy = tempfile::NamedTempFile::new().expect("a file");
        for byte in 0..good.len() {
            let mut bad = good.clone();
            bad[byte] ^= 1 << (byte % 8);
            std::fs::write(copy.path(), bad).expect("room");
            assert!(check_checksum(copy.path()).is_err_and(|why| why.contains("checksum")), "byte {byte}");
        }
        std::fs::write(copy.path(), &good[1..]).expect("room");
        assert!(check_checksum(copy.path()).is_err_and(|why| why.contains("wrong size")));
    }

    #[test]
    fn checksum_of_nothing_is_an_error() {
        assert!(table_checksum(io::empty()).is_err());
        // Two chunks.
        assert!(table_checksum(io::repeat(1).take(CHUNK + 64)).is_ok());
    }
}
