//! Move ordering: the statistics of moves and evaluations, their updates, and the move picker.
//!
//! * [`history`], [`correction`]: the tables
//! * [`history_update`]: step 16 of a node, the amounts of the updates
//! * [`movepick`]: the order of a node's moves

pub mod correction;
pub mod history;
pub mod history_update;
pub mod movepick;
