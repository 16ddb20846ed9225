//! Forward passes by name: maps the pass names in the list of compiled sizes to kernels.

use crate::nnue::architecture::{Activation, Shape, Topology};
use crate::nnue::layers::Head;
use crate::nnue::simd::Kernels;

/// A forward pass through the dense layers.
pub(super) trait Forward {
    /// The raw output for the accumulators of the side to move (`own`) and of the `other` side.
    fn forward<const L1: usize>(
        kernels: Kernels,
        shape: &Shape,
        head: &Head,
        own: &[i16; L1],
        other: &[i16; L1],
    ) -> i32;
}

/// Declares uninhabited types that implement [`Forward`].
macro_rules! passes {
    ($($name:ident<$l1:ident>: ($kernels:ident, $shape:ident) => $call:expr;)+) => {
        $(
            pub(super) enum $name {}

            impl Forward for $name {
                #[inline(always)]
                fn forward<const $l1: usize>(
                    $kernels: Kernels,
                    $shape: &Shape,
                    head: &Head,
                    own: &[i16; $l1],
                    other: &[i16; $l1],
                ) -> i32 {
                    $call(head, own, other)
                }
            }
        )+
    };
}

passes! {
    Clipped16<L1>: (kernels, shape) => |head, own, other| {
        let squared = shape.activation == Activation::Screlu;
        kernels.clipped::<L1, 16>(head, own, other, squared)
    };
    Clipped32<L1>: (kernels, shape) => |head, own, other| {
        let squared = shape.activation == Activation::Screlu;
        kernels.clipped::<L1, 32>(head, own, other, squared)
    };
    Pairwise<L1>: (kernels, shape) => |head, own, other| {
        let squares = shape.topology == (Topology::Skip { squares: true });
        kernels.pairwise::<L1>(head, own, other, squares)
    };
    WidePairwise<L1>: (kernels, _shape) => |head, own, other| {
        kernels.wide_pairwise::<L1>(head, own, other)
    };
    Sfnnv16<L1>: (kernels, _shape) => |head, own, other| {
        kernels.sfnnv16::<L1>(head, own, other)
    };
}
