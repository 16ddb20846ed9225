//! The arithmetic of a network, with one kernel for each instruction set. The processor is detected once.
//!
//! A kernel has four functions. [`Kernels::update`], [`Kernels::update_with_bytes`] and [`Kernels::update_all`] add and
//! remove rows of the first layer. [`Kernels::forward`] runs the dense layers of a type that implements [`Layers`].
//! [`scalar`] is the specification. The vector kernels (`sse41`, `avx2`, `avx512`, `neon`, `wasm`) declare their
//! instructions, see [`generic::Isa`]; the algorithms of [`update`] and [`forward`] are compiled for each of them.
//! [`kernel`] selects the kernel.
// CITE: layouts of dense layers in groups of four inputs for `maddubs` and VNNI, and the list of groups that are not
// zero: Stockfish (2020 and 2023). Measurements are in `docs/experiments.md`.
#![allow(unsafe_code)]
#![cfg_attr(
    not(any(
        target_arch = "x86_64",
        target_arch = "aarch64",
        all(target_arch = "wasm32", target_feature = "simd128")
    )),
    allow(dead_code, unused_macros, reason = "only the scalar kernel is compiled")
)]

pub(super) mod forward;
mod generic;
mod kernel;
pub(super) mod scalar;
mod update;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(target_arch = "x86_64")]
mod sse41;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod wasm;

pub use forward::Layers;
pub use kernel::Kernel;

use super::architecture::Shape;
use super::layers::Head;
use super::rows::{Accumulator, AllRows, ByteChanges, Changes, Rows};

/// A kernel that this processor supports. The existence of a value proves the support.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kernels(Kernel);

/// Calls a function of the kernel that `$self` selects.
macro_rules! dispatch {
    ($self:ident, $name:ident::<$($size:ident),+>($($argument:ident),+)) => {
        match $self.0 {
            // SAFETY: a value of this type proves that the processor has the kernel's features.
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512Vnni => unsafe { avx512::vnni::$name::<$($size),+>($($argument),+) },
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
            Kernel::NeonDotprod => unsafe { neon::dotprod::$name::<$($size),+>($($argument),+) },
            // SAFETY: as above.
            #[cfg(target_arch = "aarch64")]
            Kernel::Neon => unsafe { neon::$name::<$($size),+>($($argument),+) },
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            kernel if kernel == Kernel::Simd128 || !Kernel::HAS_SCALAR => wasm::$name::<$($size),+>($($argument),+),
            _ => scalar::$name::<$($size),+>($($argument),+),
        }
    };
}

impl Kernels {
    /// The value for `kernel`; `None` if this processor does not support it.
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
        dispatch!(self, update::<L1, P>(rows, from, to, added, removed))
    }

    /// As [`Self::update`], with `bytes` added and removed in the same pass.
    ///
    /// # Panics
    /// If an index is out of the bounds of `rows`, or of the rows of `bytes`.
    #[inline(always)]
    pub fn update_with_bytes<const L1: usize, const P: usize>(
        self,
        rows: &Rows<'_, i16, L1, P>,
        from: &Accumulator<L1, P>,
        to: &mut Accumulator<L1, P>,
        added: &[u16],
        removed: &[u16],
        bytes: &ByteChanges<'_, L1>,
    ) {
        dispatch!(self, update_with_bytes::<L1, P>(rows, from, to, added, removed, bytes))
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
        dispatch!(self, update_all::<L1, P>(rows, from, to, changes))
    }

    /// The raw output of the dense layers for the accumulators of the side to move (`own`) and of the `other` side.
    ///
    /// # Panics
    /// If the layers of `head` do not have the sizes of `L`.
    #[inline]
    pub fn forward<L: Layers, const L1: usize>(
        self,
        shape: &Shape,
        head: &Head,
        own: &[i16; L1],
        other: &[i16; L1],
    ) -> i32 {
        dispatch!(self, forward::<L, L1>(shape, head, own, other))
    }
}
