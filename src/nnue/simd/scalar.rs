//! The specification: plain loops that say what every other kernel must compute.

use crate::nnue::layers::{Dense, Head};

/// See [`Kernels::update`](super::Kernels::update).
pub(super) fn update<const L1: usize>(
    rows: &[[i16; L1]],
    from: &[i16; L1],
    to: &mut [i16; L1],
    added: &[u16],
    removed: &[u16],
) {
    *to = *from;
    for &feature in added {
        let row = &rows[usize::from(feature)];
        to.iter_mut()
            .zip(row)
            .for_each(|(sum, &weight)| *sum = sum.wrapping_add(weight));
    }
    for &feature in removed {
        let row = &rows[usize::from(feature)];
        to.iter_mut()
            .zip(row)
            .for_each(|(sum, &weight)| *sum = sum.wrapping_sub(weight));
    }
}

/// See [`Kernels::forward`](super::Kernels::forward).
pub(super) fn forward<const L1: usize, const H1: usize, const H2: usize>(
    head: &Head,
    own: &[i16; L1],
    other: &[i16; L1],
) -> i32 {
    let input = [*own, *other].map(|sums| sums.map(|sum| sum.clamp(0, 127) as u8));
    let mut hidden1 = [0; H1];
    affine(&head.first, input.as_flattened(), &mut hidden1);
    let mut hidden2 = [0; H2];
    affine(&head.second, &activate(hidden1), &mut hidden2);
    let mut output = [0];
    affine(&head.output, &activate(hidden2), &mut output);
    output[0]
}

/// `output = biases + weights * input`.
fn affine(layer: &Dense, input: &[u8], output: &mut [i32]) {
    assert_eq!(
        (layer.shape().inputs, layer.shape().outputs),
        (input.len(), output.len())
    );
    assert!(input.len().is_multiple_of(16));
    let rows = layer.weights().chunks_exact(input.len());
    for ((sum, &bias), row) in output.iter_mut().zip(layer.biases()).zip(rows) {
        // Products fit i16 (128 * 127); sixteen side by side are what compilers vectorise.
        let mut partial = [0; 16];
        for (weights, x) in row
            .as_chunks::<16>()
            .0
            .iter()
            .zip(input.as_chunks::<16>().0)
        {
            for i in 0..16 {
                partial[i] += i32::from(i16::from(weights[i]) * i16::from(x[i]));
            }
        }
        *sum = bias.wrapping_add(partial.iter().sum());
    }
}

/// The clipped ReLU between layers: weights are scaled by 64, activations by 127.
fn activate<const N: usize>(sums: [i32; N]) -> [u8; N] {
    sums.map(|sum| (sum >> 6).clamp(0, 127) as u8)
}
