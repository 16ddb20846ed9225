//! Counts of move paths, to prove the generator.

use super::Position;

/// Leaf nodes at `depth` (bulk counting at the last ply).
pub fn perft(position: &mut Position, depth: u32) -> u64 {
    let _ = (position, depth);
    todo!()
}
