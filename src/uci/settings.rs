//! The values of the options that the search threads do not store.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::book::BookChoice;
use super::level::LevelChoice;
use super::options::{Change, OPTIONS};
use crate::board::CastlingMode;
use crate::search::SearchOptions;

/// Settings of the engine. Each `go` copies the settings that the search reads.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Settings that the search reads.
    pub search: SearchOptions,
    /// `UCI_Chess960`
    pub chess960: bool,
    /// `UCI_ShowWDL`; shared with the printer, so that a change applies at once.
    pub show_wdl: Arc<AtomicBool>,
    /// Level set by the user.
    pub level: LevelChoice,
    /// The opening book, and whether to probe it.
    pub book: BookChoice,
    /// `Hash File`
    pub hash_file: String,
}

impl Settings {
    /// Settings with the default values of the option table.
    pub fn new() -> Self {
        let mut settings = Self::default();
        for option in OPTIONS {
            if let Change::Search(set) | Change::Session(set) = option.initial().change {
                set(&mut settings);
            }
        }
        settings
    }

    /// Sets `UCI_ShowWDL`.
    pub fn show_wdl(&mut self, on: bool) {
        self.show_wdl.store(on, Relaxed);
    }

    /// The settings of the next search.
    pub fn for_search(&self) -> SearchOptions {
        SearchOptions { level: self.level.level().filter(|_| !self.search.analyse_mode), ..self.search.clone() }
    }

    /// Castling mode for parsing FENs.
    pub fn castling_mode(&self) -> CastlingMode {
        if self.chess960 { CastlingMode::Chess960 } else { CastlingMode::Standard }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_and_search_have_equal_defaults() {
        let (ours, theirs) = (Settings::new().search, SearchOptions::default());
        assert_eq!(format!("{ours:?}"), format!("{theirs:?}"));
    }
}
