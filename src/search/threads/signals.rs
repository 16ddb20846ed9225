//! Shared state of the threads of a pool while they search: stop signals and counters.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use crossbeam::utils::CachePadded;

/// Atomics that all threads of a pool share for its lifetime.
pub struct Signals {
    /// End the search.
    pub stop: AtomicBool,
    /// The engine is pondering.
    pub pondering: AtomicBool,
    /// Nodes and tablebase hits, one cache line per thread.
    pub counters: Vec<CachePadded<Counters>>,
}

/// Counters of one thread in this search.
#[derive(Default)]
pub struct Counters {
    /// Moves made.
    pub nodes: AtomicU64,
    /// Successful tablebase probes.
    pub tb_hits: AtomicU64,
    /// Changes of the best move, in 1/1024; worker 0 resets them when it reads them.
    pub best_move_changes: AtomicU64,
}

impl Signals {
    /// Idle signals for `threads` threads.
    pub fn new(threads: usize) -> Self {
        Self {
            stop: AtomicBool::new(true),
            pondering: AtomicBool::new(false),
            counters: (0..threads).map(|_| CachePadded::default()).collect(),
        }
    }

    /// Nodes of all threads.
    pub fn nodes(&self) -> u64 {
        self.counters.iter().map(|c| c.nodes.load(Relaxed)).sum()
    }

    /// Tablebase hits of all threads.
    pub fn tb_hits(&self) -> u64 {
        self.counters.iter().map(|c| c.tb_hits.load(Relaxed)).sum()
    }
}
