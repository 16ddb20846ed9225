//! The arithmetic of a network, with one backend for each instruction set. The processor is detected once.
//!
//! There are two kinds of operations. [`Kernels::update`] and [`Kernels::update_all`] add and remove rows of the first
//! layer. [`Kernels::clipped`], [`Kernels::pairwise`], [`Kernels::wide_pairwise`] and [`Kernels::sfnnv16`] run the
//! dense layers. [`scalar`] is their specification. The vector backends (`sse41`, `avx2`, `avx512`, `neon`, `wasm`)
//! share the algorithms of `generic` and `threat_inputs`, and differ in a few instructions. [`kernel`] selects the
//! backend.
// CITE: layouts of dense layers in groups of four inputs for `maddubs` and VNNI, and the list of groups that are not
// zero: Stockfish (2020 and 2023). Measurements are in `docs/experiments.md`.
#![allow(unsafe_code)]

mod kernel;
pub(super) mod scalar;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", all(target_arch = "wasm32", target_feature = "simd128")))]
mod generic;
#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(target_arch = "x86_64")]
mod sse41;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", all(target_arch = "wasm32", target_feature = "simd128")))]
mod threat_inputs;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod wasm;

pub use kernel::Kernel;

use super::layers::Head;
use super::rows::{Accumulator, AllRows, Changes, Rows};

/// A kernel that this processor supports. The existence of a value proves the support.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kernels(Kernel);

/// Calls the function of the backend that `$self` selects. The second name is the variant for VNNI, the third the one
/// for ARM's dot products.
macro_rules! dispatch {
    ($self:ident, $name:ident, $vnni:ident, $dotprod:ident::<$($size:ident),+>($($argument:ident),+)) => {
        match $self.0 {
            // SAFETY: a value of this type proves that the processor has the kernel's features.
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512Vnni => unsafe { avx512::$vnni::<$($size),+>($($argument),+) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512 => unsafe { avx512::$name::<$($size),+>($($argument),+) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2 => unsafe { avx2::$name::<$($size),+>($($argument),+) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Kernel::Sse41 => unsafe { sse41::$name::<$($size),+>($($argument),+) },
            // SAFETY: as above.
            #[cfg(target_arch = "aarch64")]
            Kernel::NeonDotprod => unsafe { neon::$dotprod::<$($size),+>($($argument),+) },
            // SAFETY: as above.
            #[cfg(target_arch = "aarch64")]
            Kernel::Neon => unsafe { neon::$name::<$($size),+>($($argument),+) },
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Kernel::Simd128 => wasm::$name::<$($size),+>($($argument),+),
            _ => scalar::$name::<$($size),+>($($argument),+),
        }
    };
}

impl Kernels {
    /// The backend for `kernel`; `None` if this processor does not support it.
    pub fn new(kernel: Kernel) -> Option<Self> {
        kernel.is_available().then_some(Self(kernel))
    }

    /// The kernel in use in this process.
    pub fn active() -> Self {
        Self(Kernel::active())
    }

    /// Writes `from + rows[added] - rows[removed]` to `to`, wrapping at 16 bits.
    ///
    /// # Panics
    /// If an index is out of the bounds of `rows`.
    #[inline(always)]
    pub fn update<const L1: usize, const P: usize>(
        self,
        rows: &Rows<'_, i16, L1, P>,
        from: &Accumulator<L1, P>,
        to: &mut Accumulator<L1, P>,
        added: &[u16],
        removed: &[u16],
    ) {
        dispatch!(self, update, update, update::<L1, P>(rows, from, to, added, removed))
    }

    /// The raw output for the accumulators of the side to move (`own`) and of the `other` side, through
    /// three layers with clipped ReLUs. The first layer's outputs are padded to `H1`. `squared`
    /// selects SCReLU: clipped sums are squared.
    ///
    /// # Panics
    /// If `head` is not `2 * L1 -> H1 -> 32 -> 1`.
    #[inline]
    pub fn clipped<const L1: usize, const H1: usize>(
        self,
        head: &Head,
        own: &[i16; L1],
        other: &[i16; L1],
        squared: bool,
    ) -> i32 {
        dispatch!(self, clipped, clipped_vnni, clipped_dotprod::<L1, H1>(head, own, other, squared))
    }

    /// The raw output for the accumulators of the side to move (`own`) and of the `other` side, through
    /// products of their halves and three layers with a skip connection. For `squares`, see
    /// [`Topology::Skip`](super::architecture::Topology::Skip).
    ///
    /// # Panics
    /// If `head` is not `L1 -> 16 -> 32 -> 1`.
    #[inline]
    pub fn pairwise<const L1: usize>(self, head: &Head, own: &[i16; L1], other: &[i16; L1], squares: bool) -> i32 {
        dispatch!(self, pairwise, pairwise_vnni, pairwise_dotprod::<L1>(head, own, other, squares))
    }

    /// Applies `changes` to `from` and writes the result to `to`, as [`Self::update`], with the rows of threat inputs.
    ///
    /// # Panics
    /// If an index is out of the bounds of `rows`.
    #[inline]
    pub fn update_all<const L1: usize, const P: usize>(
        self,
        rows: &AllRows<'_, L1, P>,
        from: &Accumulator<L1, P>,
        to: &mut Accumulator<L1, P>,
        changes: &Changes<'_>,
    ) {
        dispatch!(self, update_all, update_all, update_all::<L1, P>(rows, from, to, changes))
    }

    /// As [`Self::pairwise`] with squares, for accumulators with twice the resolution: clipped at 255, products divided
    /// by 512.
    ///
    /// # Panics
    /// If `head` is not `L1 -> 16 -> 32 -> 1`.
    #[inline]
    pub fn wide_pairwise<const L1: usize>(self, head: &Head, own: &[i16; L1], other: &[i16; L1]) -> i32 {
        dispatch!(self, wide_pairwise, wide_pairwise_vnni, wide_pairwise_dotprod::<L1>(head, own, other))
    }

    /// The raw output through the products of [`Self::wide_pairwise`] and three densely connected layers, see
    /// [`Topology::Sfnnv16`](super::architecture::Topology::Sfnnv16).
    ///
    /// # Panics
    /// If `head` is not `L1 -> 32`, `64 -> 32`, `128 -> 1`.
    #[inline]
    pub fn sfnnv16<const L1: usize>(self, head: &Head, own: &[i16; L1], other: &[i16; L1]) -> i32 {
        dispatch!(self, sfnnv16, sfnnv16_vnni, sfnnv16_dotprod::<L1>(head, own, other))
    }
}
