//! The game in progress, in a file next to the file of games. A killed session leaves it there and adds nothing to the
//! file of games.

use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::util::atomic::write_atomically;

/// The file of a game in progress: `NAME.part`, or `NAME.part2` and so on if there are games of killed sessions.
pub(super) struct Kept(PathBuf);

impl Kept {
    /// The first unused name next to a file of games.
    pub(super) fn next_to(games: &Path) -> Self {
        let name = |number: u32| {
            let mut name = OsString::from(games);
            name.push(".part");
            if number > 1 {
                name.push(number.to_string());
            }
            PathBuf::from(name)
        };
        let mut number = 1;
        while name(number).symlink_metadata().is_ok() {
            number += 1;
        }
        Self(name(number))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Writes the game so far. Returns whether it could be written; the game goes on if not.
    pub(super) fn write(&self, pgn: &str) -> bool {
        write_atomically(&self.0, |file| file.write_all(pgn.as_bytes())).is_ok()
    }

    /// Removes the file when the game has been saved.
    pub(super) fn remove(&self) {
        // The file does not exist if no move was played.
        let _ = fs::remove_file(&self.0);
    }
}
