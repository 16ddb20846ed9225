//! The threads: actors that own their `Worker`, and the pool that drives them.

use std::sync::Arc;

use super::limits::Limits;
use super::report::{Outcome, Reporter};
use crate::board::Position;
use crate::nnue::Network;

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
    /// Minimal depth at which tablebases are probed with fewer than the largest number of men.
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
            syzygy_probe_depth: 1,
            syzygy_probe_limit: 7,
            syzygy_50_move_rule: true,
        }
    }
}

/// The search threads and what they share. All methods return at once unless they say otherwise.
pub struct ThreadPool {}

#[allow(unused_variables, missing_docs)]
impl ThreadPool {
    /// `threads` threads, a transposition table of `hash_mb` MiB (or the largest that fits).
    pub fn new(network: Arc<Network>, threads: usize, hash_mb: usize) -> Self {
        todo!()
    }
    /// Starts a search. A search in progress must have been stopped and waited for (else this waits for it).
    pub fn go(
        &mut self,
        position: Position,
        limits: Limits,
        options: SearchOptions,
        reporter: Arc<dyn Reporter>,
    ) {
        todo!()
    }
    /// Starts a search and waits for its outcome.
    pub fn search(
        &mut self,
        position: Position,
        limits: Limits,
        options: SearchOptions,
        reporter: Arc<dyn Reporter>,
    ) -> Outcome {
        todo!()
    }
    /// A handle that another thread may use at any time: it never blocks.
    pub fn controller(&self) -> Controller {
        todo!()
    }
    /// Waits until no search runs.
    pub fn wait(&self) {
        todo!()
    }
    /// The four below wait for the search to end first.
    pub fn set_threads(&mut self, threads: usize) {
        todo!()
    }
    pub fn threads(&self) -> usize {
        todo!()
    }
    /// Returns the size in MiB that was obtained, which is smaller than asked when memory is short.
    pub fn set_hash(&mut self, mb: usize) -> usize {
        todo!()
    }
    /// Forgets the transposition table and all histories (`ucinewgame`, `Clear Hash`), in parallel.
    pub fn clear(&mut self) {
        todo!()
    }
    pub fn set_network(&mut self, network: Arc<Network>) {
        todo!()
    }
    pub fn network(&self) -> Arc<Network> {
        todo!()
    }
    /// Opens tablebases under a list of directories (`:` or `;` separated as the platform has it); empty closes them. Returns (files, largest number of men).
    pub fn set_syzygy_path(&mut self, path: &str) -> anyhow::Result<(usize, usize)> {
        todo!()
    }
}

/// Controls a running search from any thread; cheap to clone; never blocks.
#[derive(Clone)]
pub struct Controller {}

#[allow(missing_docs)]
impl Controller {
    /// Ends the search as soon as possible; `done` follows. Ignored while idle.
    pub fn stop(&self) {
        todo!()
    }
    /// The opponent played the expected move: the clock starts. Ignored unless pondering.
    pub fn ponderhit(&self) {
        todo!()
    }
    /// Whether a search runs (until `done` has returned).
    pub fn is_searching(&self) -> bool {
        todo!()
    }
    pub fn nodes(&self) -> u64 {
        todo!()
    }
}
