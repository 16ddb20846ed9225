//! The search of one node, in the main search and in quiescence.
//!
//! * [`node`], [`stack`], [`step`]: the types of nodes, their state and moves; the path; the result of a step
//! * [`negamax`]: the numbered steps of a node; their table names the file and function of each
//! * [`prune`] (steps 5 to 10), [`moves`] (11 to 16), [`reduce`] (amounts of step 14), [`qsearch`]
//! * [`evaluation`], [`lone_king`], [`fifty`]: from the network's output to the search's value

pub(crate) mod evaluation;
pub mod fifty;
pub mod lone_king;
pub mod moves;
pub mod negamax;
pub mod node;
pub mod prune;
pub mod qsearch;
pub mod reduce;
pub mod stack;
pub mod step;
