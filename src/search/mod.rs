//! The search.

pub mod limits;
pub mod pool;
pub mod report;
pub mod score;
