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
//! * [`score`], `wdl`, [`limits`], `options`, [`report`], `time`, `params` (and `parameter`, its type), `evaluation`,
//!   `lone_king`, `syzygy` (with `table_files` where the system cannot read at an offset): values, settings, rules and
//!   tablebases; independent of the worker
//! * [`tt`], `tt_file` (its file format), `history`, `correction`, `movepick`: results of earlier nodes, and the move
//!   ordering that uses them
//! * `job`, `signals`, `root_move`: the state of one search that its threads share
//! * `worker`, `frame`: the state of one thread, and the only functions that make and undo a move; `fifty`: the
//!   50-move limit within reach
//! * `node`, `candidate`, `step`, then `negamax`, `prune`, `moves`, `reduce`, `history_update`, `qsearch`: the node
//! * `root`, `root_filter`, `tb_line`, `pool`, `actor`, `vote`: iterations, root moves and lines, threads and their
//!   vote; `handicap`: restrictions of a level below full strength
//! * [`solo`], [`sampler`]: a search on the caller's thread, and an observer of its positions, for data generation
//!
//! The table of steps in `negamax.rs` lists the file and function of each rule.
// CITE: alpha-beta: Knuth and Moore (1975); principal-variation search: Marsland and Campbell (1982), Reinefeld's
// NegaScout (1983); threads that search the same tree over a shared table ("Lazy SMP"): Dan Homan (2013), Stockfish
// (2015).

mod actor;
mod candidate;
mod correction;
pub(crate) mod evaluation;
mod fifty;
mod frame;
mod handicap;
mod history;
mod history_update;
mod job;
pub mod limits;
mod lone_king;
mod movepick;
mod moves;
mod negamax;
mod node;
mod options;
mod parameter;
pub(crate) mod params;
mod pool;
mod prune;
mod qsearch;
mod reduce;
pub mod report;
mod root;
mod root_filter;
mod root_move;
pub mod sampler;
pub mod score;
mod signals;
pub mod solo;
mod step;
pub(crate) mod syzygy;
#[cfg(not(any(unix, windows)))]
mod table_files;
mod tb_line;
mod time;
pub mod tt;
mod tt_file;
mod vote;
pub(crate) mod wdl;
mod worker;

pub use limits::Limits;
pub use options::SearchOptions;
pub use pool::{Controller, ThreadPool};
pub use report::{Line, Outcome, Progress, Reporter, Score, ScoreBound, Silent};
pub use solo::Solo;
pub use tt_file::SavedTable;
