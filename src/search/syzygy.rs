//! Endgame tablebases: the files, and what they say of a position.
//!
//! Inside the search only positions just after a capture or pawn move are probed (WDL tables, which do not know the
//! 50-move counter: step 4 in `negamax.rs`); at the root the DTZ tables choose moves that make progress
//! (`root_filter.rs`).

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use shakmaty::Chess;
use shakmaty_syzygy::{Tablebase, Wdl};

use crate::board::{Move, Position};

/// Open tables.
pub struct Syzygy {
    tables: Tablebase<Chess>,
}

impl Syzygy {
    /// Opens the tables in a list of directories separated as the platform separates paths (`:` or `;`), and
    /// says how many files there are. Errors: a directory that cannot be read; no table in any.
    pub fn open(path: &str) -> Result<(Self, usize)> {
        let mut tables = Tablebase::new();
        let mut files = 0;
        for directory in directories(path) {
            files += tables
                .add_directory(&directory)
                .with_context(|| format!("cannot read the directory {}", directory.display()))?;
        }
        if files == 0 {
            bail!("no Syzygy table (*.rtbw, *.rtbz) in {path}");
        }
        Ok((Self { tables }, files))
    }

    /// Most men on the board that the tables know.
    pub fn max_pieces(&self) -> usize {
        self.tables.max_pieces()
    }

    /// The result of the position for the side to move, just after a capture or pawn move; `None` when a table is missing.
    pub(super) fn wdl(&self, position: &Position) -> Option<Wdl> {
        self.tables
            .probe_wdl_after_zeroing(&position.to_chess())
            .ok()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_or_missing_directory_is_an_error() {
        assert!(Syzygy::open("/no/such/directory").is_err());
    }
}
