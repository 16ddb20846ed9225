//! The arithmetic of a network, with one kernel for each instruction set. The processor is detected once.
//!
//! A kernel has three functions. [`Kernels::update`] and [`Kernels::update_all`] add and remove rows of the first
//! layer. [`Kernels::forward`] runs the dense layers. All sizes are those of the net at run time. [`scalar`] is the
//! specification. The vector kernels (`sse41`, `avx2`, `avx512`, `neon`, `wasm`) declare their instructions, see
//! [`generic::Isa`]; [`compiled`] compiles the algorithms of [`vector`] for each of them. [`kernel`]
//! selects the kernel.
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

mod compiled;
mod generic;
mod kernel;
pub(super) mod scalar;
mod vector;

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

pub use kernel::Kernel;

use super::architecture::Shape;
use super::layers::Head;
use super::rows::{Accumulator, AllRows, Changes, Rows};

/// A kernel that this processor supports. The existence of a value proves the support.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kernels(Kernel);

/// Calls a function of the kernel that `$self` selects.
macro_rules! dispatch {
    ($self:ident, $name:ident($($argument:ident),+)) => {
        match $self.0 {
            // SAFETY: a value of this type proves that the processor has the kernel's features.
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512Vnni => unsafe { avx512::vnni::$name($($argument),+) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512 => unsafe { avx512::$name($($argument),+) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2 => unsafe { avx2::$name($($argument),+) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Kernel::Sse41 => unsafe { sse41::$name($($argument),+) },
            // SAFETY: as above.
            #[cfg(target_arch = "aarch64")]
            Kernel::NeonDotprod => unsafe { neon::dotprod::$name($($argument),+) },
            // SAFETY: as above.
            #[cfg(target_arch = "aarch64")]
            Kernel::Neon => unsafe { neon::$name($($argument),+) },
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            // SAFETY: as above.
            kernel if kernel == Kernel::Simd128 || !Kernel::HAS_SCALAR => unsafe { wasm::$name($($argument),+) },
            _ => scalar::$name($($argument),+),
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
    pub fn update(
        self,
        rows: &Rows<'_, i16>,
        from: &Accumulator,
        to: &mut Accumulator,
        added: &[u16],
        removed: &[u16],
    ) {
        dispatch!(self, update(rows, from, to, added, removed))
    }

    /// Applies `changes` to `from` and writes the result to `to`, as [`Self::update`], with the rows of threat or
    /// attack inputs.
    ///
    /// # Panics
    /// If an index is out of the bounds of `rows`.
    #[inline]
    pub fn update_all(self, rows: &AllRows<'_>, from: &Accumulator, to: &mut Accumulator, changes: &Changes<'_>) {
        dispatch!(self, update_all(rows, from, to, changes))
    }

    /// The raw output of the dense layers for the accumulators of the side to move (`own`) and of the `other` side.
    ///
    /// # Panics
    /// If the accumulators or the layers of `head` do not have the sizes of the shape.
    #[inline]
    pub fn forward(self, shape: &Shape, head: &Head, own: &[i16], other: &[i16]) -> i32 {
        dispatch!(self, forward(shape, head, own, other))
    }
}
