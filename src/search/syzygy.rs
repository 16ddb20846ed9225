//! Endgame tablebases: the files, and what they say of a position.
//!
//! Inside the search only positions just after a capture or pawn move are probed (WDL tables, which do not know the
//! 50-move counter: step 4 in `negamax.rs`); at the root the DTZ tables choose moves that make progress
//! (`root_filter.rs`). Where they know the root, the search below it does without them: a table's win, which tells no
//! distance, would hide the mates that it finds, and the game would take longer with tables than without.

use std::path::PathBuf;

use anyhow::{Result, bail};
use shakmaty::Chess;
use shakmaty_syzygy::{Tablebase, Wdl};

use super::options::SearchOptions;
use crate::board::{Move, Position};
use crate::util::reason;

/// Open tables.
pub struct Syzygy {
    tables: Tablebase<Chess>,
}

/// What opening a list of directories came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadedTables {
    /// Files found.
    pub files: usize,
    /// Most men on the board that they know.
    pub men: usize,
    /// The directories that they lie in.
    pub directories: Vec<PathBuf>,
    /// What was wrong with other directories.
    pub problems: Vec<String>,
}

#[cfg(any(unix, windows))]
fn new_tables() -> Tablebase<Chess> {
    Tablebase::new()
}

/// The system has no reads at an offset of its own.
#[cfg(not(any(unix, windows)))]
fn new_tables() -> Tablebase<Chess> {
    Tablebase::with_filesystem(std::sync::Arc::new(super::table_files::TableFiles))
}

impl Syzygy {
    /// Opens the tables in a list of directories separated as the platform separates paths (`:` or `;`). A directory
    /// that cannot be read, or holds no table, costs only itself. Error: no table in any.
    pub fn open(path: &str) -> Result<(Self, LoadedTables)> {
        let mut tables = new_tables();
        let mut loaded = LoadedTables::default();
        for directory in directories(path) {
            let shown = directory.display();
            match tables.add_directory(&directory) {
                Ok(0) => loaded.problems.push(format!("no tables in '{shown}'")),
                Ok(files) => {
                    loaded.files += files;
                    loaded.directories.push(directory);
                }
                Err(error) => {
                    let why = reason::of(&error);
                    loaded
                        .problems
                        .push(format!("cannot read the directory '{shown}' ({why})"));
                }
            }
        }
        if loaded.files == 0 {
            bail!("no tables (*.rtbw, *.rtbz): {}", loaded.problems.join(", "));
        }
        loaded.men = tables.max_pieces();
        Ok((Self { tables }, loaded))
    }

    /// Most men on the board that the tables know.
    pub fn max_pieces(&self) -> usize {
        self.tables.max_pieces()
    }

    /// The result of the position for the side to move, just after a capture or pawn move; `None` when a table is
    /// missing.
    pub(super) fn wdl(&self, position: &Position) -> Option<Wdl> {
        self.tables
            .probe_wdl_after_zeroing(&position.to_chess())
            .ok()
    }

    /// How the position ends for the side to move, as [`class`] says it; `None` when the tables do not know.
    pub(super) fn class(&self, position: &Position, options: &SearchOptions) -> Option<i32> {
        let most = self.max_pieces().min(options.syzygy_probe_limit);
        if position.occupied().count() > most || position.has_castling_rights() {
            return None;
        }
        let dtz = self.tables.probe_dtz(&position.to_chess()).ok()?;
        let halfmoves = position.halfmoves() as i32;
        Some(class(
            dtz.ignore_rounding().0,
            halfmoves,
            options.syzygy_50_move_rule,
        ))
    }

    /// Plies to the next capture or pawn move with the result kept, from the view of the side that made `m`:
    /// positive for a win, 0 for a draw; `None` when a table is missing.
    pub(super) fn dtz_after(&self, position: &mut Position, m: Move) -> Option<i32> {
        let zeroing =
            position.is_capture(m) || position.moved_piece(m).role == crate::board::Role::Pawn;
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
            self.tables
                .probe_dtz(&position.to_chess())
                .ok()
                .map(|dtz| -dtz.ignore_rounding().0)
                .map(|dtz| dtz + dtz.signum())
        };
        position.undo_move();
        dtz
    }
}

fn directories(path: &str) -> impl Iterator<Item = PathBuf> {
    std::env::split_paths(path).filter(|directory| !directory.as_os_str().is_empty())
}

/// The class of a win that the 50-move rule does not spoil.
pub(super) const WIN: i32 = 2;

/// Win 2, win spoilt by the 50-move rule 1, draw 0, and the same below zero, from the distance to zeroing `dtz`.
pub(super) fn class(dtz: i32, halfmoves: i32, rule: bool) -> i32 {
    let in_time = !rule || dtz.abs() + halfmoves <= 100;
    dtz.signum() * if in_time { WIN } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes() {
        assert_eq!(class(12, 0, true), 2);
        assert_eq!(class(60, 50, true), 1);
        assert_eq!(class(60, 50, false), 2);
        assert_eq!(class(-101, 0, true), -1);
        assert_eq!(class(0, 30, true), 0);
    }

    #[test]
    fn a_missing_directory_alone_is_an_error_that_names_it() {
        let error = Syzygy::open("/no/such/directory").err();
        let text = error.map(|e| format!("{e:#}")).unwrap_or_default();
        assert!(
            text.contains("'/no/such/directory' (No such file or directory)"),
            "{text}"
        );
    }
}
