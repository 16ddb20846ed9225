//! Settings of a search, from the UCI options. Pure data.

use crate::level::Level;

/// Settings of a search. Each `go` copies them, so a change during a search applies from the next one.
#[derive(Clone, Debug)]
pub struct SearchOptions {
    /// Number of lines.
    pub multi_pv: usize,
    /// Milliseconds kept in reserve for the interface.
    pub move_overhead: i64,
    /// Nodes per millisecond when the clock counts nodes; 0 means real time.
    pub nodes_time: u64,
    /// Whether the GUI may let the engine ponder. The time budget is then slightly larger.
    pub ponder: bool,
    /// Level below full strength. One thread then searches one line, whatever the value of `multi_pv`.
    pub level: Option<Level>,
    /// Whether a person analyses: draws are then worth exactly 0.
    pub analyse_mode: bool,
    /// Minimum depth of a probe of positions with the largest number of men.
    pub syzygy_probe_depth: i32,
    /// Maximum number of men of a position that is probed.
    pub syzygy_probe_limit: usize,
    /// Whether tablebases respect the 50-move rule.
    pub syzygy_50_move_rule: bool,
}

impl SearchOptions {
    /// The defaults.
    pub const DEFAULT: Self = Self {
        multi_pv: 1,
        move_overhead: 10,
        nodes_time: 0,
        ponder: false,
        level: None,
        analyse_mode: false,
        syzygy_probe_depth: 1,
        syzygy_probe_limit: 7,
        syzygy_50_move_rule: true,
    };
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self::DEFAULT
    }
}
