//! Searches on the caller's own thread, without channels and reports. A clock counts nodes.
//!
//! Data generation runs a thousand small searches a second on every core. Sending each to another thread would cost
//! more than some of the searches. All results are kept between searches until [`Solo::clear`]. The same searches
//! after a `clear` return the same results.

use std::sync::Arc;

use super::history::SharedHistories;
use super::limits::{Limits, SearchOptions};
use super::request::{self, SearchRequest, Signals};
use super::score::{Silent, Value};
use super::tt::TranspositionTable;
use super::worker::{Sampler, Worker};
use crate::board::{Move, Position};
use crate::level::Level;
use crate::nnue::Network;

/// One worker with its own table. The caller's thread needs a stack of [`super::STACK_BYTES`] bytes.
pub struct Solo {
    worker: Box<Worker>,
    signals: Arc<Signals>,
    table: Arc<TranspositionTable>,
    reporter: Arc<Silent>,
    level: Option<Level>,
    /// Nodes per millisecond of the clock; 0 without a clock.
    nodes_per_ms: u64,
    /// Value of the last search with a clock.
    last_value: Option<Value>,
}

/// Result of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// The best move.
    pub m: Move,
    /// Its value in engine units, from the side to move's view.
    pub value: Value,
    /// The last completed depth in plies.
    pub depth: i32,
    /// Moves made.
    pub nodes: u64,
}

impl Solo {
    /// A searcher with a table of `hash_mb` MiB.
    ///
    /// # Panics
    /// If the system cannot allocate a table of 1 MiB.
    pub fn new(network: Arc<Network>, hash_mb: usize) -> Self {
        let signals = Arc::new(Signals::new(1));
        Self {
            worker: Box::new(Worker::new(0, signals.clone(), network, SharedHistories::new(1))),
            signals,
            table: Arc::new(TranspositionTable::new(hash_mb).unwrap_or_else(|error| panic!("{error}"))),
            reporter: Arc::new(Silent),
            level: None,
            nodes_per_ms: 0,
            last_value: None,
        }
    }

    /// Sets the nodes per millisecond of later searches whose limits have clocks.
    pub fn set_nodes_per_ms(&mut self, nodes: u64) {
        self.nodes_per_ms = nodes;
    }

    /// Sets the observer of evaluations for later searches; `None` for no observer.
    pub fn set_sampler(&mut self, sampler: Option<Box<dyn Sampler>>) {
        self.worker.sampler = sampler;
    }

    /// Sets the level of later searches, or full strength. A search at a level depends only on its position.
    pub fn set_level(&mut self, level: Option<Level>) {
        self.level = level;
    }

    /// Clears the table and all histories.
    pub fn clear(&mut self) {
        self.worker.clear();
        self.table.clear_part(0, 1);
        self.last_value = None;
    }

    /// Searches within limits of depth or nodes, or of clocks if these count nodes ([`Solo::set_nodes_per_ms`]).
    /// Returns `None` if there is no legal move.
    pub fn search(&mut self, position: &Position, limits: &Limits) -> Option<Found> {
        let (position, limits) = (position.clone(), limits.clone());
        let options = SearchOptions { nodes_time: self.nodes_per_ms, ..SearchOptions::default() };
        let mut request = SearchRequest::new(position, limits, options, self.table.clone(), self.reporter.clone());
        if request.root_moves.is_empty() {
            return None;
        }
        if self.nodes_per_ms > 0 {
            request.set_budget();
            request.previous_value = self.last_value;
        }
        self.table.age();
        self.signals.begin(false);
        if let Some(level) = self.level {
            self.clear();
            request::limit_to_level(&mut request, level, self.table.clone());
        }
        self.worker.begin(Arc::new(request));
        self.worker.iterate();
        let best = self.worker.root_moves.first();
        let found = best.map(|root| Found {
            m: root.m,
            value: root.known_value(),
            depth: self.worker.completed_depth,
            nodes: self.worker.nodes,
        });
        self.worker.release_request();
        self.last_value = found.filter(|_| self.nodes_per_ms > 0).map(|found| found.value);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::score;

    fn limits(nodes: u64) -> Limits {
        Limits { nodes: Some(nodes), ..Limits::default() }
    }

    #[test]
    fn cleared_solo_repeats_its_results() {
        let mut solo = Solo::new(Network::embedded(), 1);
        let mut position = Position::startpos();
        let first = solo.search(&position, &limits(3000)).expect("a move");
        assert_eq!(first.nodes, 3000);
        position.do_move(first.m);
        let second = solo.search(&position, &limits(3000));
        solo.clear();
        assert_eq!(solo.search(&Position::startpos(), &limits(3000)), Some(first));
        assert_eq!(solo.search(&position, &limits(3000)), second);
    }

    #[test]
    fn reports_mate_and_no_mate() {
        let mode = crate::board::CastlingMode::Standard;
        let mut solo = Solo::new(Network::embedded(), 1);
        let mate = Position::from_fen("6k1/5ppp/8/8/8/8/8/R3K3 w Q - 0 1", mode).expect("a mate");
        let found = solo.search(&mate, &limits(1000)).expect("a move");
        assert_eq!(found.value, score::mate_in(1));
        let mated = Position::from_fen("R5k1/5ppp/8/8/8/8/8/4K3 b - - 0 1", mode).expect("mated");
        assert_eq!(solo.search(&mated, &limits(1000)), None);
        // The same move does not mate here, although it did in an earlier search.
        let check = Position::from_fen("6k1/5p1p/6p1/8/8/8/8/R3K3 w Q - 0 1", mode).expect("no mate");
        let found = solo.search(&check, &limits(1000)).expect("a move");
        assert!(found.value < score::MATE_IN_MAX_PLY, "{found:?}");
    }
}
