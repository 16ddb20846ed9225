//! One stack of sums for every size that we run: the only place that turns data into types.

use super::BoardView;
use super::accumulator::{Line, Output, Stack};
use super::architecture::{Chain, Features, Shape};
use super::features::{FeatureSet, HalfKav2, HalfKav2Hm, HalfKp};
use super::network::Network;
use super::simd::Kernels;

/// What an evaluation needs besides the sums.
pub(super) struct Context<'a, B: BoardView> {
    pub line: &'a mut Line,
    pub network: &'a Network,
    pub kernels: Kernels,
    pub board: &'a B,
}

/// The sums of a network's plies, and how they go on.
pub(super) struct AnySums {
    shape: Shape,
    stack: AnyStack,
}

impl AnySums {
    /// Empty sums for `network`.
    pub fn new(network: &Network) -> Self {
        let shape = network.architecture().shape();
        Self {
            shape,
            stack: AnyStack::new(&shape, network),
        }
    }

    /// Brings the top of the line up to date and runs the dense layers.
    #[inline]
    pub fn evaluate(&mut self, context: Context<'_, impl BoardView>) -> Output {
        self.stack.evaluate(&self.shape, context)
    }
}

/// Declares [`AnyStack`]: a name for each feature set, width, and number of piece-square values.
macro_rules! stacks {
    ($($name:ident: $features:ident, $l1:literal, $psqt:literal;)+) => {
        /// A stack of sums; each variant has its sizes in its type.
        enum AnyStack {
            $($name(Stack<$features, $l1, $psqt>),)+
        }

        impl AnyStack {
            fn new(shape: &Shape, network: &Network) -> Self {
                match (shape.features, shape.l1, shape.psqt) {
                    $((Features::$features, $l1, $psqt) => Self::$name(Stack::new(network)),)+
                    // Every architecture's test makes a stack for it.
                    _ => unreachable!("no stack is declared for {shape:?}"),
                }
            }

            #[inline]
            fn evaluate(&mut self, shape: &Shape, context: Context<'_, impl BoardView>) -> Output {
                match self {
                    $(Self::$name(stack) => evaluate(stack, shape, context),)+
                }
            }
        }
    };
}

stacks! {
    HalfKp256: HalfKp, 256, 0;
    HalfKav2x512: HalfKav2, 512, 8;
    Hm128: HalfKav2Hm, 128, 8;
    Hm1024: HalfKav2Hm, 1024, 8;
    Hm1536: HalfKav2Hm, 1536, 8;
    Hm2048: HalfKav2Hm, 2048, 8;
    Hm2560: HalfKav2Hm, 2560, 8;
    Hm3072: HalfKav2Hm, 3072, 8;
}

/// See [`AnySums::evaluate`].
#[inline]
fn evaluate<F: FeatureSet, const L1: usize, const P: usize>(
    stack: &mut Stack<F, L1, P>,
    shape: &Shape,
    context: Context<'_, impl BoardView>,
) -> Output {
    let Context {
        line,
        network,
        kernels,
        board,
    } = context;
    let [own, other] = stack.up_to_date(line, network, kernels, board);
    let bucket = if shape.buckets > 1 { bucket(board) } else { 0 };
    let head = &network.heads()[bucket];
    let (x, y) = (&own.neurons, &other.neurons);
    let positional = match shape.chain {
        Chain::Clipped if shape.hidden[0] > 16 => kernels.clipped::<L1, 32>(head, x, y),
        Chain::Clipped => kernels.clipped::<L1, 16>(head, x, y),
        Chain::Pairwise { squares } => kernels.pairwise(head, x, y, squares),
    };
    let psqt = match (own.psqt.get(bucket), other.psqt.get(bucket)) {
        (Some(own), Some(other)) => own.wrapping_sub(*other) / 2,
        _ => 0,
    };
    Output {
        psqt,
        positional,
        bucket,
    }
}

/// The stack of dense layers for this number of pieces.
#[inline]
fn bucket(board: &impl BoardView) -> usize {
    board.count().clamp(1, 32).div_ceil(4) - 1
}
