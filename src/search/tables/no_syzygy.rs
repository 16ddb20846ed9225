//! The interface of [`syzygy`](super::syzygy) in a build without tablebases: none can be opened.

use anyhow::{Result, bail};

pub use super::loaded_tables::LoadedTables;
pub(in crate::search) use super::loaded_tables::{WIN, class};
use crate::board::{Move, Position};
use crate::search::options::SearchOptions;

/// Open tables. There is no value.
pub enum Syzygy {}

/// Result of a position in the tables.
#[derive(Clone, Copy)]
pub(in crate::search) enum Wdl {
    Loss,
    BlessedLoss,
    Draw,
    CursedWin,
    Win,
}

impl Syzygy {
    /// Always fails.
    ///
    /// # Errors
    /// Names the build as the reason.
    pub fn open(_: &str) -> Result<(Self, LoadedTables)> {
        bail!("this build has no tablebases; use the native engine")
    }

    pub(in crate::search) fn take_messages(&self) -> Vec<String> {
        match *self {}
    }

    /// Largest number of men on the board in any table.
    pub fn max_pieces(&self) -> usize {
        match *self {}
    }

    pub(in crate::search) fn wdl(&self, _: &Position) -> Option<Wdl> {
        match *self {}
    }

    pub(in crate::search) fn class(&self, _: &Position, _: &SearchOptions) -> Option<i32> {
        match *self {}
    }

    pub(in crate::search) fn dtz_after(&self, _: &mut Position, _: Move) -> Option<i32> {
        match *self {}
    }
}
