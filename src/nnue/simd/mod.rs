//! The arithmetic of a network, with one kernel for each instruction set. The processor is detected once.
//!
//! A kernel has three functions. [`Kernels::update`] and [`Kernels::update_all`] add and remove rows of the first
//! layer. [`Kernels::forward`] runs the dense layers. All sizes are those of the net at run time. [`scalar`] is the
//! specification. The vector kernels (`sse41`, `avx2`, `avx512`, `neon`, `wasm`) declare their instructions, see
//! [`generic::Isa`]; [`vector`] has their algorithms and compiles them for each kernel. [`Kernel`] names the kernels
//! and selects one.
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

mod generic;
#[cfg(target_arch = "aarch64")]
mod neon;
pub(super) mod scalar;
mod vector;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod wasm;
#[cfg(target_arch = "x86_64")]
mod x86;

use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

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
            Kernel::Avx512Vnni => unsafe { x86::avx512::vnni::$name($($argument),+) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512 => unsafe { x86::avx512::$name($($argument),+) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2 => unsafe { x86::avx2::$name($($argument),+) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Kernel::Sse41 => unsafe { x86::sse41::$name($($argument),+) },
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

// Names, detection and selection of kernels.

/// The environment variable that forces a kernel.
const OVERRIDE: &str = "ZOOTHERA_KERNEL";

/// A kernel by name. Kernels of the same processor architecture are ordered from the slowest to the fastest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kernel {
    /// Portable code: the specification.
    Scalar,
    /// 128-bit vectors (SSSE3 and SSE4.1).
    Sse41,
    /// 256-bit vectors.
    Avx2,
    /// 512-bit vectors (AVX-512 F and BW).
    Avx512,
    /// 512-bit vectors with byte dot products (AVX-512 F, BW and VNNI).
    Avx512Vnni,
    /// 128-bit vectors of ARM (NEON).
    Neon,
    /// 128-bit vectors of ARM with byte dot products (NEON and ARMv8.2's `dotprod`).
    NeonDotprod,
    /// 128-bit vectors of WebAssembly (`simd128`).
    Simd128,
}

impl Kernel {
    /// All kernels. Those of the same processor architecture are ordered from the slowest to the fastest.
    pub const ALL: [Self; 8] = [
        Self::Scalar,
        Self::Sse41,
        Self::Avx2,
        Self::Avx512,
        Self::Avx512Vnni,
        Self::Neon,
        Self::NeonDotprod,
        Self::Simd128,
    ];

    /// Whether this binary contains the scalar kernel: every binary, except modules for browsers, to save space.
    pub(super) const HAS_SCALAR: bool =
        !cfg!(all(target_arch = "wasm32", target_feature = "simd128", not(feature = "full")));

    /// Whether this processor supports the kernel.
    #[cfg(target_arch = "x86_64")]
    pub fn is_available(self) -> bool {
        let sse41 = || is_x86_feature_detected!("ssse3") && is_x86_feature_detected!("sse4.1");
        let bits = || is_x86_feature_detected!("popcnt") && is_x86_feature_detected!("bmi1");
        let avx2 = || is_x86_feature_detected!("avx2") && bits();
        let avx512 = || is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw") && bits();
        match self {
            Self::Scalar => true,
            Self::Sse41 => sse41(),
            Self::Avx2 => avx2(),
            Self::Avx512 => avx512(),
            Self::Avx512Vnni => avx512() && is_x86_feature_detected!("avx512vnni"),
            _ => false,
        }
    }

    /// Whether this processor supports the kernel.
    #[cfg(target_arch = "aarch64")]
    pub fn is_available(self) -> bool {
        use std::arch::is_aarch64_feature_detected;
        match self {
            Self::Scalar => true,
            Self::Neon => is_aarch64_feature_detected!("neon"),
            Self::NeonDotprod => is_aarch64_feature_detected!("neon") && is_aarch64_feature_detected!("dotprod"),
            _ => false,
        }
    }

    /// Whether this processor supports the kernel. WebAssembly has no detection at run time; the build decides.
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    pub fn is_available(self) -> bool {
        self.is_built()
    }

    /// Whether this binary contains the kernel.
    pub fn is_built(self) -> bool {
        match self {
            Self::Scalar => Self::HAS_SCALAR,
            Self::Sse41 | Self::Avx2 | Self::Avx512 | Self::Avx512Vnni => {
                cfg!(target_arch = "x86_64")
            }
            Self::Neon | Self::NeonDotprod => cfg!(target_arch = "aarch64"),
            Self::Simd128 => cfg!(all(target_arch = "wasm32", target_feature = "simd128")),
        }
    }

    /// The kernels that this processor supports, from the slowest to the fastest.
    pub fn available() -> Vec<Self> {
        Self::ALL.into_iter().filter(|kernel| kernel.is_available()).collect()
    }

    /// The fastest kernel that this processor supports.
    pub fn detect() -> Self {
        Self::ALL.into_iter().rev().find(|kernel| kernel.is_available()).unwrap_or(Self::Scalar)
    }

    /// The kernel in use: the one named by `ZOOTHERA_KERNEL`, or else the fastest. Determined once per process.
    pub fn active() -> Self {
        static ACTIVE: OnceLock<Kernel> = OnceLock::new();
        *ACTIVE.get_or_init(|| match std::env::var(OVERRIDE) {
            Ok(name) if !name.is_empty() => Self::forced(&name).unwrap_or_else(|reason| {
                let kernel = Self::detect();
                eprintln!("ignored {OVERRIDE}: {reason}; using {kernel}");
                kernel
            }),
            _ => Self::detect(),
        })
    }

    /// The kernel called `name`, or the reason why it cannot be used.
    fn forced(name: &str) -> Result<Self, String> {
        let kernel: Self = name.parse().map_err(|error: UnknownKernel| error.to_string())?;
        if kernel.is_available() { Ok(kernel) } else { Err(format!("this processor does not support {kernel}")) }
    }

    /// The kernel's name, as used in `ZOOTHERA_KERNEL`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::Sse41 => "sse41",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
            Self::Avx512Vnni => "avx512vnni",
            Self::Neon => "neon",
            Self::NeonDotprod => "neondotprod",
            Self::Simd128 => "simd128",
        }
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// No kernel has this name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownKernel(String);

impl fmt::Display for UnknownKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Kernel::ALL.map(Kernel::name).join(", ");
        write!(f, "unknown kernel {:?} (known kernels: {names})", self.0)
    }
}

impl std::error::Error for UnknownKernel {}

impl FromStr for Kernel {
    type Err = UnknownKernel;
    fn from_str(name: &str) -> Result<Self, UnknownKernel> {
        let wanted = name.to_ascii_lowercase();
        let found = Self::ALL.into_iter().find(|kernel| kernel.name() == wanted);
        found.ok_or_else(|| UnknownKernel(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernel_names_round_trip() {
        for kernel in Kernel::ALL {
            assert_eq!(kernel.to_string().parse(), Ok(kernel));
        }
        assert!("mmx".parse::<Kernel>().is_err());
    }

    #[test]
    fn scalar_kernel_is_always_available() {
        assert_eq!(Kernel::available()[0], Kernel::Scalar);
        assert_eq!(Kernel::available().last(), Some(&Kernel::detect()));
        assert!(Kernel::available().iter().all(|kernel| kernel.is_built()));
        assert_eq!(Kernel::forced("scalar"), Ok(Kernel::Scalar));
        assert!(Kernel::forced("abacus").is_err());
    }
}
