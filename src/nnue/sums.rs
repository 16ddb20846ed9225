//! One stack of sums for every size that we run: the only place that turns data into types.

use super::BoardView;
use super::accumulator::{Line, Output, Stack};
use super::architecture::{Chain, Features, Shape};
use super::features::{FeatureSet, HalfKav2, HalfKav2Hm, HalfKp};
use super::layers::Head;
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

/// Returns from a closure with the output of a chain of layers, if it is that of the shape.
macro_rules! forward {
    (clipped32, $shape:ident, $kernels:ident, $head:ident, $own:ident, $other:ident) => {
        if !matches!($shape.chain, Chain::Pairwise { .. }) && $shape.hidden[0] > 16 {
            let squared = $shape.chain == Chain::Squared;
            return $kernels.clipped::<_, 32>($head, $own, $other, squared);
        }
    };
    (clipped16, $shape:ident, $kernels:ident, $head:ident, $own:ident, $other:ident) => {
        if !matches!($shape.chain, Chain::Pairwise { .. }) && $shape.hidden[0] <= 16 {
            let squared = $shape.chain == Chain::Squared;
            return $kernels.clipped::<_, 16>($head, $own, $other, squared);
        }
    };
    (pairwise, $shape:ident, $kernels:ident, $head:ident, $own:ident, $other:ident) => {
        if let Chain::Pairwise { squares } = $shape.chain {
            return $kernels.pairwise($head, $own, $other, squares);
        }
    };
}

/// Declares [`AnyStack`]: a name for each feature set, width, and number of piece-square values,
/// and the chains of layers behind them.
macro_rules! stacks {
    ($($name:ident: $features:ident, $l1:literal, $psqt:literal, [$($chain:ident)+];)+) => {
        /// A stack of sums; each variant has its sizes in its type.
        enum AnyStack {
            $($name(Stack<$features, $l1, $psqt>),)+
        }

        impl AnyStack {
            fn new(shape: &Shape, network: &Network) -> Self {
                match (shape.features, shape.l1, shape.psqt) {
                    $((Features::$features, $l1, $psqt) => Self::$name(Stack::new(network)),)+
                    // The tests make a stack for every architecture.
                    _ => unreachable!("no stack is declared for {shape:?}"),
                }
            }

            #[inline]
            fn evaluate(&mut self, shape: &Shape, context: Context<'_, impl BoardView>) -> Output {
                match self {
                    $(Self::$name(stack) => {
                        evaluate(stack, shape, context, |kernels, head, own, other| {
                            $(forward!($chain, shape, kernels, head, own, other);)+
                            unreachable!("no forward pass is declared for {shape:?}")
                        })
                    })+
                }
            }
        }
    };
}

stacks! {
    HalfKp128: HalfKp, 128, 0, [clipped32 clipped16];
    HalfKp256: HalfKp, 256, 0, [clipped32 clipped16];
    HalfKp512: HalfKp, 512, 0, [clipped32 clipped16];
    HalfKav2x512: HalfKav2, 512, 8, [clipped16];
    Hm128: HalfKav2Hm, 128, 8, [pairwise];
    Hm1024: HalfKav2Hm, 1024, 8, [clipped16 pairwise];
    Hm1536: HalfKav2Hm, 1536, 8, [pairwise];
    Hm2048: HalfKav2Hm, 2048, 8, [pairwise];
    Hm2560: HalfKav2Hm, 2560, 8, [pairwise];
    Hm3072: HalfKav2Hm, 3072, 8, [pairwise];
    Hm256WithoutPsqt: HalfKav2Hm, 256, 0, [clipped32 clipped16];
    Hm512WithoutPsqt: HalfKav2Hm, 512, 0, [clipped32 clipped16];
    Hm1024WithoutPsqt: HalfKav2Hm, 1024, 0, [clipped32 clipped16];
}

/// See [`AnySums::evaluate`]; `forward` runs the dense layers.
#[inline]
fn evaluate<F: FeatureSet, const L1: usize, const P: usize>(
    stack: &mut Stack<F, L1, P>,
    shape: &Shape,
    context: Context<'_, impl BoardView>,
    forward: impl FnOnce(Kernels, &Head, &[i16; L1], &[i16; L1]) -> i32,
) -> Output {
    let Context {
        line,
        network,
        kernels,
        board,
    } = context;
    let [own, other] = stack.up_to_date(line, network, kernels, board);
    let bucket = shape.bucket(board.count());
    let head = &network.heads()[bucket];
    let psqt = match (own.psqt.get(bucket), other.psqt.get(bucket)) {
        (Some(own), Some(other)) => own.wrapping_sub(*other) / 2,
        _ => 0,
    };
    Output {
        psqt,
        positional: forward(kernels, head, &own.neurons, &other.neurons),
        bucket,
    }
}
