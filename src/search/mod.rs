//! The search: iterative deepening over a parallel principal-variation search.
//!
//! From `go` to `bestmove`: [`pool::ThreadPool::go`] builds a job (root moves, budget), every [`worker::Worker`] runs
//! `root` (iterations, window) over `negamax` (the numbered steps) and `qsearch`; worker 0 watches the limits, reports,
//! and concludes.
//!
//! * [`score`], [`wdl`], [`limits`], [`report`], [`time`], [`params`]: values and data; they know no worker
//! * [`tt`], [`history`], [`correction`], [`movepick`]: what is remembered, and how it orders moves
//! * `negamax`, `prune`, `moves`, `reduce`, `learn`, `qsearch`: the node
//! * [`root`], [`worker`], [`pool`], `conclude`, [`syzygy`]: the tree, the threads and their vote, the tablebases
//! * [`solo`], [`sampler`]: a search on the caller's thread, and who looks on, for data generation

mod conclude;
pub mod correction;
pub mod frame;
pub mod history;
mod learn;
pub mod limits;
pub mod movepick;
mod moves;
mod negamax;
pub mod params;
pub mod pool;
mod prune;
mod qsearch;
mod reduce;
pub mod report;
pub mod root;
pub mod sampler;
pub mod score;
pub mod solo;
pub mod syzygy;
#[cfg(not(any(unix, windows)))]
mod table_files;
pub mod time;
pub mod tt;
pub mod wdl;
pub mod worker;

pub use limits::Limits;
pub use pool::{Controller, SearchOptions, ThreadPool};
pub use report::{Line, Outcome, Progress, Reporter, Score, ScoreBound};
pub use solo::Solo;
