//! The kernels in plain Rust. `FMA` is set if the target has a multiply-add instruction; without one, `mul_add` would
//! call the maths library.

mod accumulator;
mod adam;
mod first_layer;
mod products;
mod upper;

pub use accumulator::{accumulate, add_rows, fold, pack};
pub use adam::adam;
pub use first_layer::{first_layer, first_layer_backward, first_layer_deltas};
pub use products::{products, products_backward};
pub use upper::{upper, upper_backward, upper_skip, upper_skip_backward};

use super::*;

#[inline(always)]
fn multiply_add<const FMA: bool>(a: f32, b: f32, c: f32) -> f32 {
    if FMA { a.mul_add(b, c) } else { a * b + c }
}

/// `sums += factor * terms`.
#[inline(always)]
fn add_scaled<const FMA: bool>(sums: &mut [f32], factor: f32, terms: &[f32]) {
    for (sum, &term) in sums.iter_mut().zip(terms) {
        *sum = multiply_add::<FMA>(factor, term, *sum);
    }
}

/// Whether a unit is neither off nor saturated, so that deltas pass through it.
#[inline(always)]
fn open(activation: f32) -> bool {
    activation > 0.0 && activation < 1.0
}
