//! The search: iterative deepening over a parallel principal-variation search.
//!
//! # Credit
//!
//! Most formulas and most constants of this search are those of Stockfish's source of August 2026, written anew in
//! Rust. No code was copied. Of the 256 values in `params`, 174 equal that source; 62 more equal, or are close to,
//! that source or earlier Stockfish versions. Stockfish is free software under the GNU General Public License,
//! version 3.
//!
//! * Stockfish, development version of 3 August 2026 (commit 762dd1d; `SF-2026-08` in comments): order and conditions
//!   of the steps, razoring, reverse futility, null move, ProbCut, shallow pruning, singular extensions, late move
//!   reductions, histories and their updates, correction histories, quiescence, move ordering
//! * Stockfish 12 to 18: the rest, as `params` names it: time management (17 and 17.1), thread vote (17.1), singular
//!   margins (17.1 and mid 2025), scaling of the evaluation (2020 and 17), ordering of moves away from attacks (2025),
//!   replacement in the transposition table
//! * Berserk: the form of the time factor for a stable best move
//! * Caissa: correction histories, as an idea
//! * Reckless, Viridithas, Ethereal: no formula or figure was traced to them. They share many ideas with Stockfish.
//! * ours: the structure of the code, the layout of the transposition table, the win model's constants (`evaluate`),
//!   the figures of endings against a lone king (`evaluate`), the choice of root moves by tablebases (`tablebases`),
//!   `asp_delta`, `red_factor`, `qs_futility`, `time_share`, `time_share_base`, `time_falling_min`
//!
//! At each step a `CITE:` comment names the author and year of the idea and the source of its form and figures.
//! `docs/experiments.md` has measurements and failed experiments.
//!
//! # Map
//!
//! From `go` to `bestmove`: [`ThreadPool::go`] builds a request (root moves, time budget). Every `Worker` runs `root`
//! (iterations, aspiration window), which calls `negamax` (the numbered steps, and quiescence). Worker 0 checks the
//! limits, reports, and ends the search. A file uses only the files above it in this list.
//!
//! * `params`: tunable numbers, and switches of rules
//! * [`score`]: values, and the reports that a caller receives
//! * [`tt`], `tt_file`: the transposition table and its file format
//! * `syzygy`: tablebase files and probes
//! * `mate_tables`: computed distances to mate of one or two pieces against a king
//! * `limits`: limits and settings of a search, and the time budget of its move
//! * `request`: one search as all threads share it: root moves, counters, the signal to stop
//! * `tablebases`: what the search does with tablebases
//! * `history`, `movepick`: statistics of moves and evaluations; the move picker
//! * `worker`: the state of one thread and its path, and the only functions that make and undo a move
//! * `evaluate`: from the network's output to the search's value, and to centipawns
//! * `negamax`: the numbered steps of a node, the table of all steps, and quiescence search
//! * `prune` (steps 5 to 10), `moves` (11 to 15), `history_update` (16)
//! * `root`: iterations, lines of MultiPV, the aspiration window, the end of the search
//! * `threads`: the pool, its threads, and their vote; `solo`: a search on the caller's thread
//!
//! The table of steps in `negamax.rs` lists the file and function of each rule.
// CITE: alpha-beta: Knuth and Moore (1975); principal-variation search: Marsland and Campbell (1982), Reinefeld's
// NegaScout (1983); threads that search the same tree over a shared table ("Lazy SMP"): Dan Homan (2013), Stockfish
// (2015).

pub(crate) mod evaluate;
mod history;
mod history_update;
mod limits;
mod mate_tables;
mod movepick;
mod moves;
mod negamax;
pub(crate) mod params;
mod prune;
mod request;
mod root;
pub mod score;
mod solo;
#[cfg(feature = "full")]
pub(crate) mod syzygy;
#[cfg(not(feature = "full"))]
#[path = "no_syzygy.rs"]
pub(crate) mod syzygy;
mod tablebases;
#[cfg(test)]
mod tests;
mod threads;
pub mod tt;
mod tt_file;
mod worker;

pub use limits::{Limits, SearchOptions, SideClock};
pub(crate) use params::rules;
pub use score::{Line, Outcome, Progress, Reporter, Score, ScoreBound, Silent};
pub use solo::{Found, Solo};
#[cfg(feature = "full")]
pub use syzygy::{CHECKSUM_BYTES, table_checksum};
pub use threads::{Controller, ThreadPool};
pub use tt_file::SavedTable;
pub use worker::{STACK_BYTES, Sampler};
