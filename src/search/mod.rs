//! The search: iterative deepening over a parallel principal-variation search.
//!
//! # Credit
//!
//! Most formulas and most constants of this search are those of Stockfish's source of August 2026, written anew in
//! Rust. No code was copied. Of the 255 values in `params`, 172 equal that source; 64 more equal, or are close to,
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
//! * ours: the structure of the code, the layout of the transposition table, the win model's constants (`wdl`),
//!   the figures of endings against a lone king (`lone_king`), the choice of root moves by tablebases (`root_filter`),
//!   `asp_delta`, `red_factor`, `qs_futility`, `time_share`
//!
//! At each step a `CITE:` comment names the author and year of the idea and the source of its form and figures.
//! `docs/experiments.md` has measurements and failed experiments.
//!
//! # Map
//!
//! From `go` to `bestmove`: [`ThreadPool::go`] builds a job (root moves, budget). Every `Worker` runs `root`
//! (iterations, aspiration window), which calls `negamax` (the numbered steps) and `qsearch`. Worker 0 checks the
//! limits, reports, and ends the search.
//!
//! * [`limits`], `options`, [`report`], [`score`], `wdl`, `params` (and `parameter`, its type), `rules`: settings,
//!   reports, values, tunable numbers, and switches of rules
//! * `tree`: the search of one node and its evaluation
//! * `ordering`: histories, correction histories, and the move picker
//! * `root`: root moves, iterations, lines and time
//! * `threads`: workers, the pool, and a search on the caller's thread
//! * `tables`: the transposition table and tablebases
//!
//! The table of steps in `tree/negamax.rs` lists the file and function of each rule.
// CITE: alpha-beta: Knuth and Moore (1975); principal-variation search: Marsland and Campbell (1982), Reinefeld's
// NegaScout (1983); threads that search the same tree over a shared table ("Lazy SMP"): Dan Homan (2013), Stockfish
// (2015).

pub mod limits;
mod options;
mod ordering;
mod parameter;
pub(crate) mod params;
pub mod report;
mod root;
pub(crate) mod rules;
pub mod score;
mod tables;
#[cfg(test)]
mod tests;
mod threads;
mod tree;
pub(crate) mod wdl;

pub use limits::Limits;
pub use options::SearchOptions;
pub use report::{Line, Outcome, Progress, Reporter, Score, ScoreBound, Silent};
pub(crate) use tables::syzygy;
pub use tables::table_checksum;
pub use tables::tt;
pub use tables::tt_file::SavedTable;
pub use threads::pool::{Controller, ThreadPool};
pub use threads::solo;
pub use threads::solo::Solo;
pub(crate) use tree::evaluation;
