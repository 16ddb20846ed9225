//! The kernels of one instruction set: the shared algorithms as functions that enable its features.
//!
//! The loops of a kernel run to the width of the net. A second instance of each kernel has a constant width, that of
//! the default net and of most published nets ([`for_width`]): with widths known at run time only, the engine is
//! several percent slower.

/// Calls the instance of a kernel for a width.
macro_rules! for_width {
    ($width:expr, $kernel:ident($($argument:ident),+)) => {
        match $width {
            1024 => $kernel::<1024>($($argument),+),
            _ => $kernel::<{ $crate::nnue::simd::generic::ANY_WIDTH }>($($argument),+),
        }
    };
}
#[cfg(any(
    target_arch = "x86_64",
    target_arch = "aarch64",
    all(target_arch = "wasm32", target_feature = "simd128")
))]
pub(super) use for_width;

/// Declares kernels for one instruction set: the shared algorithms, compiled for its features.
macro_rules! compiled_for {
    ($features:literal, $isa:ty: $($name:ident)+) => {
        $(compiled_for! { @$name $features, $isa })+
    };
    (@update $features:literal, $isa:ty) => {
        compiled_for! { @kernel $features, rows.width(), $crate::nnue::simd::vector::update::<$isa, L1>,
            fn update(
                rows: &$crate::nnue::rows::Rows<'_, i16>,
                from: &$crate::nnue::rows::Accumulator,
                to: &mut $crate::nnue::rows::Accumulator,
                added: &[u16],
                removed: &[u16]
            ) -> ()
        }
    };
    (@update_all $features:literal, $isa:ty) => {
        compiled_for! { @kernel $features, rows.pieces.width(), $crate::nnue::simd::vector::update_all::<$isa, L1>,
            fn update_all(
                rows: &$crate::nnue::rows::AllRows<'_>,
                from: &$crate::nnue::rows::Accumulator,
                to: &mut $crate::nnue::rows::Accumulator,
                changes: &$crate::nnue::rows::Changes<'_>
            ) -> ()
        }
    };
    (@forward $features:literal, $isa:ty) => {
        compiled_for! { @kernel $features, own.len(), $crate::nnue::simd::vector::forward::<$isa, L1>,
            fn forward(
                shape: &$crate::nnue::Shape,
                head: &$crate::nnue::layers::Head,
                own: &[i16],
                other: &[i16]
            ) -> i32
        }
    };
    (
        @kernel $features:literal, $width:expr, $algorithm:path,
        fn $name:ident($($argument:ident: $type:ty),+) -> $result:ty
    ) => {
        /// # Safety
        /// The processor must have the features.
        // Inlined, because some arguments are passed in memory, and a second call would copy them.
        #[inline(always)]
        // In WebAssembly all functions of a module have the features, so the call is safe.
        #[cfg_attr(target_arch = "wasm32", allow(unused_unsafe))]
        pub unsafe fn $name($($argument: $type),+) -> $result {
            #[target_feature(enable = $features)]
            fn of_width<const L1: usize>($($argument: $type),+) -> $result {
                // SAFETY: this function enables the features.
                unsafe { $algorithm($($argument),+) }
            }
            // SAFETY: the caller guarantees the features.
            unsafe { $crate::nnue::simd::compiled::for_width!($width, of_width($($argument),+)) }
        }
    };
}
#[cfg(any(
    target_arch = "x86_64",
    target_arch = "aarch64",
    all(target_arch = "wasm32", target_feature = "simd128")
))]
pub(super) use compiled_for;
