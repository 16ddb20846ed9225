//! Endgame tablebases: the files, and the results in them.
//!
//! Inside the search, the WDL tables are probed only after a capture or pawn move, because they ignore the 50-move
//! counter (step 4 of a node). At the root, the DTZ tables choose moves that make progress (`root_filter`).
//! If the tables contain the root, the search below it does not probe. A WDL win has no distance: it would hide the
//! mates that the search finds, and games would take longer with tables than without.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use anyhow::{Result, bail};
use shakmaty::Chess;
use shakmaty_syzygy::{Metric, ProbeError, SyzygyError, Tablebase};

pub(in crate::search) use shakmaty_syzygy::Wdl;

pub use super::loaded_tables::LoadedTables;
pub(in crate::search) use super::loaded_tables::{WIN, class};
use super::table_checksum;
use crate::board::{Move, Position};
use crate::search::options::SearchOptions;
use crate::util::reason;
use crate::util::sync::Mutex;
use crate::util::text::Shown as _;

/// Tables of at most this length in bytes are verified when they are opened: all tables of up to four men, and small
/// tables of five men, which are read quickly. `zoothera tables verify` verifies the others.
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
    Tablebase::with_filesystem(std::sync::Arc::new(super::table_files::TableFiles))
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
        loaded.men = syzygy.tables.max_pieces();
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
        if length <= VERIFIED_AT_START && table_checksum::has_checksum(length) {
            table_checksum::check(path)?;
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
    pub(in crate::search) fn take_messages(&self) -> Vec<String> {
        if !self.damage.has_unreported.swap(false, Relaxed) {
            return Vec::new();
        }
        std::mem::take(&mut *self.damage.unreported.lock())
    }

    /// Largest number of men on the board in any table.
    pub fn max_pieces(&self) -> usize {
        self.tables.max_pieces()
    }

    /// Result for the side to move, just after a capture or pawn move; `None` if a table is missing.
    pub(in crate::search) fn wdl(&self, position: &Position) -> Option<Wdl> {
        self.checked(self.tables.probe_wdl_after_zeroing(&position.to_chess()))
    }

    /// Outcome of the position for the side to move, as a [`class`]; `None` if no table contains it.
    pub(in crate::search) fn class(&self, position: &Position, options: &SearchOptions) -> Option<i32> {
        let max_men = self.max_pieces().min(options.syzygy_probe_limit);
        if position.occupied().count() > max_men || position.has_castling_rights() {
            return None;
        }
        let dtz = self.checked(self.tables.probe_dtz(&position.to_chess()))?;
        let halfmoves = position.halfmoves() as i32;
        Some(class(dtz.ignore_rounding().0, halfmoves, options.syzygy_50_move_rule))
    }

    /// Plies to the next capture or pawn move that keeps the result, for the side that made `m`: positive for a win, 0
    /// for a draw; `None` if a table is missing.
    pub(in crate::search) fn dtz_after(&self, position: &mut Position, m: Move) -> Option<i32> {
        let zeroing = position.is_capture(m) || position.moved_piece(m).role == crate::board::Role::Pawn;
        position.do_move(m);
        let dtz = if position.in_check() && position.legal_moves().is_empty() {
            Some(1)
        } else if zeroing {
            self.wdl(position).map(|wdl| match wdl {
                Wdl::Loss => 1,
                Wdl::BlessedLoss => 101,
                Wdl::Draw => 0,
                Wdl::CursedWin => -101,
                Wdl::Win => -1,
            })
        } else {
            self.checked(self.tables.probe_dtz(&position.to_chess()))
                .map(|dtz| -dtz.ignore_rounding().0)
                .map(|dtz| dtz + dtz.signum())
        };
        position.undo_move();
        dtz
    }
}

/// Verifies the name, the first bytes and the checksum of a table. The error is the reason why it is not a valid table.
pub(crate) fn verify_file(path: &Path) -> Result<(), String> {
    check_magic(path)?;
    table_checksum::check(path)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_of_missing_directory_names_it() {
        let error = Syzygy::open("/no/such/directory").err();
        let text = error.map(|e| format!("{e:#}")).unwrap_or_default();
        assert!(text.contains("'/no/such/directory' (No such file or directory)"), "{text}");
    }
}
