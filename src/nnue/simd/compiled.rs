//! The kernels of one instruction set: the shared algorithms as functions that enable its features.

/// Declares kernels for one instruction set: the shared algorithms, compiled for its features.
macro_rules! compiled_for {
    ($features:literal, $isa:ty: $($name:ident)+) => {
        $(compiled_for! { @$name $features, $isa })+
    };
    (@update $features:literal, $isa:ty) => {
        #[target_feature(enable = $features)]
        pub fn update(
            rows: &$crate::nnue::rows::Rows<'_, i16>,
            from: &$crate::nnue::rows::Accumulator,
            to: &mut $crate::nnue::rows::Accumulator,
            added: &[u16],
            removed: &[u16],
        ) {
            // SAFETY: this function enables the features.
            unsafe { $crate::nnue::simd::update::update::<$isa>(rows, from, to, added, removed) }
        }
    };
    (@update_all $features:literal, $isa:ty) => {
        #[target_feature(enable = $features)]
        pub fn update_all(
            rows: &$crate::nnue::rows::AllRows<'_>,
            from: &$crate::nnue::rows::Accumulator,
            to: &mut $crate::nnue::rows::Accumulator,
            changes: &$crate::nnue::rows::Changes<'_>,
        ) {
            // SAFETY: this function enables the features.
            unsafe { $crate::nnue::simd::update::update_all::<$isa>(rows, from, to, changes) }
        }
    };
    (@forward $features:literal, $isa:ty) => {
        #[target_feature(enable = $features)]
        pub fn forward(
            shape: &$crate::nnue::Shape,
            head: &$crate::nnue::layers::Head,
            own: &[i16],
            other: &[i16],
        ) -> i32 {
            // SAFETY: this function enables the features.
            unsafe { $crate::nnue::simd::forward::vector::<$isa>(shape, head, own, other) }
        }
    };
}
#[cfg(any(
    target_arch = "x86_64",
    target_arch = "aarch64",
    all(target_arch = "wasm32", target_feature = "simd128")
))]
pub(super) use compiled_for;
