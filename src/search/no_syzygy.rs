//! The interface of [`syzygy`](super::syzygy) in a build without tablebases: none can be opened.

use anyhow::{Result, bail};

use super::score::LoadedTables;
use crate::board::Position;

/// Open tables. There is no value.
pub enum Syzygy {}

/// Result of a position in the tables.
#[derive(Clone, Copy)]
pub(super) enum Wdl {
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

    pub(super) fn take_messages(&self) -> Vec<String> {
        match *self {}
    }

    /// Largest number of pieces on the board in any table.
    pub fn max_pieces(&self) -> usize {
        match *self {}
    }

    pub(super) fn wdl(&self, _: &Position) -> Option<Wdl> {
        match *self {}
    }

    pub(super) fn dtz(&self, _: &Position) -> Option<i32> {
        match *self {}
    }
}
