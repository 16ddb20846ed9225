//! Search limits of a move.

use crate::search::Limits;

/// Hard node limit divided by the soft limit. It stops an iteration that takes too long.
const HARD_OVER_SOFT: u64 = 8;

/// Arguments for the limits of a move.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct MoveArgs {
    /// Nodes for each move
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub nodes: Option<u64>,
    /// Nodes after which no new iteration starts; the search stops at eight times this number
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub soft_nodes: Option<u64>,
    /// Depth for each move in plies
    #[arg(long, value_name = "PLIES", value_parser = clap::value_parser!(i32).range(1..=100))]
    pub depth: Option<i32>,
}

impl MoveArgs {
    /// Whether no limit is given.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_none() && self.soft_nodes.is_none() && self.depth.is_none()
    }

    /// The limits of a search; `default` nodes if no limit is given.
    pub fn limits(&self, default: u64) -> Limits {
        let hard = self.soft_nodes.map(|soft| soft.saturating_mul(HARD_OVER_SOFT));
        Limits {
            nodes: self.nodes.or(hard).or(self.is_empty().then_some(default)),
            soft_nodes: self.soft_nodes,
            depth: self.depth,
            ..Limits::default()
        }
    }
}
