//! The values of the options that the search threads do not store.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::book::BookChoice;
use super::level::LevelChoice;
use super::options::{Id, OPTIONS, OptionValue};
use crate::board::CastlingMode;
use crate::search::SearchOptions;

/// Settings of the engine. Each `go` copies those that the search reads.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Settings that the search reads.
    pub search: SearchOptions,
    /// `UCI_Chess960`
    pub chess960: bool,
    /// `UCI_ShowWDL`; shared with the printer, so that a change applies at once.
    pub show_wdl: Arc<AtomicBool>,
    /// The level that the user has set.
    pub level: LevelChoice,
    /// The opening book, and whether to probe it.
    pub book: BookChoice,
    /// `Hash File`
    pub hash_file: String,
}

impl Settings {
    /// The defaults of the table.
    pub fn new() -> Self {
        let mut settings = Self::default();
        for spec in &OPTIONS {
            settings.apply(spec.id, &spec.default_value());
        }
        settings
    }

    /// Stores a checked value. Returns false if the option is not stored here.
    pub fn apply(&mut self, id: Id, value: &OptionValue) -> bool {
        let search = &mut self.search;
        match id {
            Id::MultiPv => search.multi_pv = value.int() as usize,
            Id::Ponder => search.ponder = value.flag(),
            Id::MoveOverhead => search.move_overhead = value.int(),
            Id::NodesTime => search.nodes_time = value.int() as u64,
            Id::SyzygyProbeDepth => search.syzygy_probe_depth = value.int() as i32,
            Id::SyzygyProbeLimit => search.syzygy_probe_limit = value.int() as usize,
            Id::Syzygy50MoveRule => search.syzygy_50_move_rule = value.flag(),
            Id::Chess960 => self.chess960 = value.flag(),
            Id::ShowWdl => self.show_wdl.store(value.flag(), Relaxed),
            Id::AnalyseMode => search.analyse_mode = value.flag(),
            Id::LimitStrength => self.level.limit_strength = value.flag(),
            Id::Elo => self.level.elo = value.int() as i32,
            Id::SkillLevel => self.level.skill = value.int() as i32,
            Id::LevelSeed => self.level.set_seed(value.int() as u64),
            Id::OwnBook => self.book.own = value.flag(),
            Id::BookDepth => self.book.depth = value.int() as u32,
            Id::BookSeed => self.book.set_seed(value.int() as u64),
            Id::HashFile => self.hash_file = value.text().to_owned(),
            Id::EngineAbout => {} // Informs only; it sets nothing.
            Id::Hash
            | Id::Threads
            | Id::EvalFile
            | Id::ClearHash
            | Id::SaveHash
            | Id::LoadHash
            | Id::BookFile
            | Id::SyzygyPath
            | Id::DebugLogFile => return false,
        }
        true
    }

    /// The settings of the next search.
    pub fn for_search(&self) -> SearchOptions {
        SearchOptions { level: self.level.level().filter(|_| !self.search.analyse_mode), ..self.search.clone() }
    }

    /// The mode in which FENs are read.
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
