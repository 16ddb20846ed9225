//! The search: iterative deepening over a parallel principal-variation search.
//!
//! From `go` to `bestmove`: [`ThreadPool::go`] builds a job (root moves, budget), every `Worker` runs
//! `root` (iterations, window) over `negamax` (the numbered steps) and `qsearch`; worker 0 watches the limits, reports,
//! and concludes.
//!
//! * [`score`], `wdl`, [`limits`], `options`, [`report`], `time`, `params` (and `parameter`, what one is),
//!   `evaluation`, `lone_king`, `syzygy` (over `table_files` where the system does not read at an offset): values,
//!   data, rules and tablebases; they know no worker
//! * [`tt`], `tt_file` (the same on a disk), `history`, `correction`, `movepick`: what is remembered, and how it orders
//!   moves
//! * `job`, `signals`, `root_move`: one search as its threads share it
//! * `worker`, `frame`: one thread's state, and the one way to make and undo a move
//! * `node`, `candidate`, `step`, then `negamax`, `prune`, `moves`, `reduce`, `learn`, `qsearch`: the node
//! * `root`, `root_filter`, `tb_line`, `pool`, `actor`, `conclude`: the iterations, the root's moves and lines, the
//!   threads and their vote; `handicap`: what a level below full strength does without
//! * [`solo`], [`sampler`]: a search on the caller's thread and an observer of its positions, for data generation
//!
//! Any rule is found by the table of steps in `negamax.rs`; `evidence.md` tells what each is worth.

mod actor;
mod candidate;
mod conclude;
mod correction;
pub(crate) mod evaluation;
mod frame;
mod handicap;
mod history;
mod job;
mod learn;
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
pub(crate) mod wdl;
mod worker;

pub use limits::Limits;
pub use options::SearchOptions;
pub use pool::{Controller, ThreadPool};
pub use report::{Line, Outcome, Progress, Reporter, Score, ScoreBound, Silent};
pub use solo::Solo;
pub use tt_file::SavedTable;
