//! One stack of sums for every architecture: the only place that turns data into types.

use super::BoardView;
use super::accumulator::{Line, Output, Stack};
use super::architecture::{Architecture, Chain};
use super::features::{HalfKav2Hm, HalfKp};
use super::network::Network;
use super::simd::Kernels;

/// The sums of a network's plies; each variant has its sizes in its type.
pub(super) enum AnySums {
    /// HalfKP, 256.
    HalfKp(Stack<HalfKp, 256, 0>),
    /// HalfKAv2_hm, 1024.
    Hm1024(Stack<HalfKav2Hm, 1024, 8>),
}

impl AnySums {
    /// Empty sums for `network`.
    pub fn new(network: &Network) -> Self {
        match network.architecture() {
            Architecture::HalfKp => Self::HalfKp(Stack::new(network)),
            Architecture::Sfnn { .. } => Self::Hm1024(Stack::new(network)),
        }
    }

    /// Brings the top of `line` up to date and runs the dense layers.
    #[inline]
    pub fn evaluate(
        &mut self,
        line: &mut Line,
        network: &Network,
        kernels: Kernels,
        board: &impl BoardView,
    ) -> Output {
        match self {
            Self::HalfKp(stack) => {
                let [own, other] = stack.up_to_date(line, network, kernels, board);
                let head = &network.heads()[0];
                Output {
                    positional: kernels.clipped::<256, 32>(head, &own.neurons, &other.neurons),
                    ..Output::default()
                }
            }
            Self::Hm1024(stack) => {
                let [own, other] = stack.up_to_date(line, network, kernels, board);
                let bucket = bucket(board);
                let head = &network.heads()[bucket];
                let squares = matches!(
                    network.architecture().shape().chain,
                    Chain::Pairwise { squares: true }
                );
                Output {
                    psqt: own.psqt[bucket].wrapping_sub(other.psqt[bucket]) / 2,
                    positional: kernels.pairwise(head, &own.neurons, &other.neurons, squares),
                    bucket,
                }
            }
        }
    }
}

/// The stack of dense layers for this number of pieces.
#[inline]
fn bucket(board: &impl BoardView) -> usize {
    (board.count().max(1) - 1).min(31) / 4
}
