//! Stacks of sums for every compiled size: dispatches from a net's shape at run time to types.

use super::plies::Plies;
use super::stack::Stack;
use super::update::Update;
use crate::nnue::Board;
use crate::nnue::architecture::{Compiled, compiled};
use crate::nnue::features::chosen::{self, ChosenFeatures};
use crate::nnue::features::threat_inputs;
use crate::nnue::network::Network;
use crate::nnue::output::NetOutput;
use crate::nnue::simd::forward as layers;
use crate::nnue::simd::{Kernels, Layers};

macro_rules! declare {
    (
        ()
        own { $($own:ident: $features:ident, $l1:literal, $psqt:literal, $pass:ident;)+ }
        published { $($published:tt)+ }
    ) => {
        declare! { $($own: $features, None, $l1, $psqt, $pass;)+ $($published)+ }
    };
    ($($name:ident: $features:ident, $threat_inputs:ident, $l1:literal, $psqt:literal, $pass:ident;)+) => {
        /// The sums of a network's plies, with one variant for each compiled size.
        pub(super) enum SizedStack {
            $($name(Stack<chosen::$features, threat_inputs::types::$threat_inputs, $l1, $psqt>),)+
        }

        impl SizedStack {
            /// Empty sums for `network`.
            pub fn new(network: &Network) -> Self {
                match network.architecture().compiled() {
                    $(Compiled::$name => Self::$name(Stack::new(network)),)+
                }
            }

            /// Updates the sums at the top of the line and runs the dense layers.
            // One function that inlines everything except the kernels. Not inlined into the search, where it would
            // increase register pressure.
            #[inline(never)]
            pub fn evaluate(
                &mut self,
                plies: &mut Plies,
                network: &Network,
                kernels: Kernels,
                board: &Board,
            ) -> NetOutput {
                match self {
                    $(Self::$name(stack) => {
                        evaluate::<_, _, layers::$pass, $l1, $psqt>(stack, plies, network, kernels, board)
                    })+
                }
            }
        }
    };
}

compiled!(declare);

/// See [`SizedStack::evaluate`].
#[inline(always)]
fn evaluate<F, R, Pass, const L1: usize, const P: usize>(
    stack: &mut Stack<F, R, L1, P>,
    plies: &mut Plies,
    network: &Network,
    kernels: Kernels,
    board: &Board,
) -> NetOutput
where
    F: ChosenFeatures,
    R: Update,
    Pass: Layers,
{
    let [own, other] = stack.sums_at_top(plies, network, kernels, board);
    let shape = network.architecture();
    let bucket = shape.bucket(board.count());
    let head = &network.heads()[bucket];
    let psqt = match (own.psqt.get(bucket), other.psqt.get(bucket)) {
        (Some(own), Some(other)) => own.wrapping_sub(*other) / 2,
        _ => 0,
    };
    NetOutput { psqt, positional: kernels.forward::<Pass, L1>(shape, head, &own.neurons, &other.neurons), bucket }
}
