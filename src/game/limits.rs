//! What a move may cost.

use crate::search::Limits;

/// How many times the soft limit a search may spend when an iteration does not end.
const HARD_OVER_SOFT: u64 = 8;

/// Arguments of a move's search.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct MoveArgs {
    /// Nodes for each move
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub nodes: Option<u64>,
    /// Nodes after which no iteration is begun; eight times as many end the search
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub soft_nodes: Option<u64>,
    /// Depth for each move in plies
    #[arg(long, value_name = "PLIES", value_parser = clap::value_parser!(i32).range(1..=100))]
    pub depth: Option<i32>,
}

impl MoveArgs {
    /// Whether nothing is limited.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_none() && self.soft_nodes.is_none() && self.depth.is_none()
    }

    /// The limits of a search; `default` nodes where nothing is limited.
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
