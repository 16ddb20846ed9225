//! The settings of a search, as UCI's options give them. Pure data.

use crate::level::Level;

/// Settings that a search reads; a copy travels with each `go`. MultiPV and the like changed while a search
/// runs hold from the next one.
#[derive(Clone, Debug)]
pub struct SearchOptions {
    /// Number of lines.
    pub multi_pv: usize,
    /// Milliseconds kept in reserve for the interface.
    pub move_overhead: i64,
    /// Nodes per millisecond when the clock counts nodes; 0 means real time.
    pub nodes_time: u64,
    /// Whether the GUI may let us ponder (makes the clock a little more generous).
    pub ponder: bool,
    /// Play at a level below full strength; then one thread searches one line, whatever `multi_pv` says.
    pub level: Option<Level>,
    /// Whether a person analyses: draws are worth exactly nothing.
    pub analyse_mode: bool,
    /// Minimal depth at which positions with the largest number of men are probed.
    pub syzygy_probe_depth: i32,
    /// Most men that are probed.
    pub syzygy_probe_limit: usize,
    /// Whether tablebases respect the 50-move rule.
    pub syzygy_50_move_rule: bool,
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self {
            multi_pv: 1,
            move_overhead: 10,
            nodes_time: 0,
            ponder: false,
            level: None,
            analyse_mode: false,
            syzygy_probe_depth: 1,
            syzygy_probe_limit: 7,
            syzygy_50_move_rule: true,
        }
    }
}
