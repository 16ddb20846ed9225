//! Synthetic networks of random parameters from a documented generator, so that tests need no network file.
//!
//! Parameter `k` (in file order, from 0) is draw `k` of SplitMix64, `(draw >> 32) % width + low`.
//! In the layer stacks of an architecture without squares, the weights of the squares are zero.

use std::ops::RangeInclusive;

use super::architecture::{Architecture, Shape, Topology};
use super::layers::{Dense, Direct, Head};
use super::network::Network;
use super::rows::pair;
use super::transformer::{BlockKind, Numbers};
use crate::util::rng::SplitMix64;

/// The range of a block of parameters.
type Range = RangeInclusive<i32>;

/// The ranges of a layer's parameters.
struct LayerRanges {
    biases: Range,
    weights: Range,
}

/// The seed and the parameter ranges of a synthetic network.
pub struct Recipe {
    seed: u64,
    /// Biases and weights of the feature transformer.
    transformer: LayerRanges,
    /// Weights of threat inputs.
    threat_inputs: Range,
    psqt: Range,
    /// Biases and weights of the three dense layers.
    layers: [LayerRanges; 3],
    /// Bias and weights of the output in nets without hidden layers.
    direct: LayerRanges,
}

/// Ranges similar to the ranges in trained nets.
pub const A: Recipe = Recipe {
    seed: 1,
    transformer: LayerRanges { biases: -40..=140, weights: -24..=24 },
    threat_inputs: -12..=12,
    psqt: -20_000..=20_000,
    layers: [
        LayerRanges { biases: -3000..=3000, weights: -20..=20 },
        LayerRanges { biases: -3000..=3000, weights: -40..=40 },
        LayerRanges { biases: -2000..=2000, weights: -100..=100 },
    ],
    direct: LayerRanges { biases: -1_000_000..=1_000_000, weights: -300..=300 },
};

/// The full ranges of i16 and i8: accumulators wrap, and every clamp takes effect.
pub const B: Recipe = Recipe {
    seed: 2,
    transformer: LayerRanges { biases: -32768..=32767, weights: -32768..=32767 },
    threat_inputs: -128..=127,
    psqt: -10_000_000..=10_000_000,
    layers: [
        LayerRanges { biases: -200_000..=200_000, weights: -128..=127 },
        LayerRanges { biases: -60_000..=60_000, weights: -128..=127 },
        LayerRanges { biases: -500_000..=500_000, weights: -128..=127 },
    ],
    direct: LayerRanges { biases: -1_000_000_000..=1_000_000_000, weights: -32768..=32767 },
};

/// The random number generator of one network.
struct Draws(SplitMix64);

impl Draws {
    fn next(&mut self, range: &Range) -> i32 {
        let (low, high) = (*range.start(), *range.end());
        let width = (i64::from(high) - i64::from(low) + 1) as u64;
        ((self.0.next_u64() >> 32) % width) as i32 + low
    }

    /// Draws every number of `out`, in order; `range` must fit the type.
    fn fill<T: TryFrom<i32>>(&mut self, out: &mut [T], range: &Range) {
        for number in out {
            if let Ok(drawn) = T::try_from(self.next(range)) {
                *number = drawn;
            }
        }
    }
}

/// The file of a synthetic HalfKP network.
pub fn halfkp(recipe: &Recipe) -> Vec<u8> {
    network(Architecture::HALF_KP, recipe, false)
}

/// The file of a synthetic network of any architecture, its transformer compressed or not.
pub fn network(architecture: Architecture, recipe: &Recipe, compressed: bool) -> Vec<u8> {
    let mut draws = Draws(SplitMix64::new(recipe.seed));
    let mut network = Network::zeroed(architecture);
    if architecture != Architecture::HALF_KP {
        network.describe(b"synthetic");
    }
    let (transformer, heads) = network.parameters_mut();
    let LayerRanges { biases, weights } = &recipe.transformer;
    for block in transformer.blocks() {
        match transformer.block_mut(&block) {
            Numbers::Paired(numbers) => {
                let mut weights = vec![0; numbers.len()];
                draws.fill(&mut weights, &recipe.threat_inputs);
                pair(&weights, numbers);
            }
            Numbers::I16(numbers) if block.kind == BlockKind::Biases => draws.fill(numbers, biases),
            Numbers::I16(numbers) => draws.fill(numbers, weights),
            Numbers::I32(numbers) => draws.fill(numbers, &recipe.psqt),
        }
    }
    for head in heads {
        if architecture.is_direct() {
            *head = Head::from_direct(direct(&architecture, &mut draws, &recipe.direct));
            continue;
        }
        *head = Head::from_layers(std::array::from_fn(|i| layer(&architecture, i, &mut draws, &recipe.layers[i])));
    }
    network.to_bytes_as(compressed)
}

/// The weights of a stack without hidden layers.
fn direct(shape: &Shape, draws: &mut Draws, ranges: &LayerRanges) -> Direct {
    let (mut bias, mut weights) = ([0_i32], vec![0_i16; shape.inputs()]);
    draws.fill(&mut bias, &ranges.biases);
    draws.fill(&mut weights, &ranges.weights);
    Direct::new(bias[0], &weights)
}

/// Dense layer `i` of a stack. In architectures without squares, the weights of the squares are zero.
fn layer(shape: &Shape, i: usize, draws: &mut Draws, ranges: &LayerRanges) -> Dense {
    let layer = shape.layers()[i];
    let (mut biases, mut weights) = (vec![0_i32; layer.outputs], vec![0_i8; layer.weights()]);
    draws.fill(&mut biases, &ranges.biases);
    draws.fill(&mut weights, &ranges.weights);
    if i == 1 && shape.topology == (Topology::Skip { squares: false }) {
        for row in weights.chunks_exact_mut(layer.row()) {
            row[layer.inputs..].fill(0);
        }
    }
    Dense::new(layer, biases, &weights)
}
