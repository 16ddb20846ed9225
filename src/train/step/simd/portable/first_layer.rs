//! Kernels of the first dense layer.

use super::*;

#[inline(always)]
pub fn first_layer<const FMA: bool, const L1: usize>(
    outputs: usize,
    inputs: &[Inputs<L1>; GROUP],
    weights: &[InputMajor<L1>],
    bias: &Hidden,
    out: &mut [Hidden; GROUP],
) {
    for (inputs, sums) in inputs.iter().zip(out) {
        *sums = *bias;
        for (&input, weights) in inputs.as_flattened().iter().zip(weights.as_flattened()) {
            if input != 0.0 {
                add_scaled::<FMA>(&mut sums[..outputs], input, &weights[..outputs]);
            }
        }
    }
}

#[inline(always)]
pub fn first_layer_backward<const FMA: bool, const L1: usize>(
    units: Units,
    inputs: &[Inputs<L1>; GROUP],
    deltas: &[Hidden; GROUP],
    weights: &[Tile],
    gradient: &mut [Tile],
    bias: &mut Inputs<L1>,
    out: &mut [Deltas<L1>],
) {
    let bias = bias.as_flattened_mut();
    for ((inputs, deltas), out) in inputs.iter().zip(deltas).zip(out) {
        let (inputs, out) = (inputs.as_flattened(), out.as_flattened_mut());
        for tile in 0..weights.len() {
            let at = tile * LANES;
            let inputs = &inputs[at..][..LANES];
            let mut sums = [units.penalty; LANES];
            for (output, &delta) in deltas[..units.outputs].iter().enumerate() {
                if delta != 0.0 {
                    add_scaled::<FMA>(&mut sums, delta, &weights[tile].0[output]);
                    add_scaled::<FMA>(&mut gradient[tile].0[output], delta, inputs);
                }
            }
            if units.activation == Activation::Screlu {
                // The derivative of x squared is 2 x, and x is the root of the activation.
                for (sum, &input) in sums.iter_mut().zip(inputs) {
                    *sum *= 2.0 * input.sqrt();
                }
            }
            for lane in 0..LANES {
                let delta = if open(inputs[lane]) { sums[lane] } else { 0.0 };
                bias[at + lane] += delta;
                out[at + lane] = delta;
            }
        }
    }
}

#[inline(always)]
pub fn first_layer_deltas<const FMA: bool, const L1: usize>(
    units: Units,
    inputs: &[Inputs<L1>; GROUP],
    deltas: &[Hidden; GROUP],
    weights: &[Tile],
    gradient: &mut [Tile],
    out: &mut [Row<L1>; GROUP],
) {
    for ((inputs, deltas), out) in inputs.iter().zip(deltas).zip(out) {
        let tiles = inputs[0].as_chunks::<LANES>().0.iter();
        let tiles = tiles.zip(out.as_chunks_mut::<LANES>().0);
        for ((inputs, out), (weights, gradient)) in tiles.zip(weights.iter().zip(&mut *gradient)) {
            *out = [units.penalty; LANES];
            for (output, &delta) in deltas[..units.outputs].iter().enumerate() {
                if delta != 0.0 {
                    add_scaled::<FMA>(out, delta, &weights.0[output]);
                    add_scaled::<FMA>(&mut gradient.0[output], delta, inputs);
                }
            }
        }
    }
}
