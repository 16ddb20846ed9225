//! Synthetic networks from a documented generator, so that tests need no file.
//!
//! Parameter `k` (in file order, from 0) is draw `k` of SplitMix64, `(draw >> 32) % width + low`.
//! In a stack of dense layers for an architecture without squares, the weights for them are zero.

use super::architecture::{Architecture, Chain, LayerShape, Shape};
use super::leb128;
use crate::util::rng::SplitMix64;

/// The description of the synthetic HalfKP networks: the text of every published one.
const DESCRIPTION: &[u8] = b"Features=HalfKP(Friend)[41024->256x2],Network=AffineTransform[1<-32](ClippedReLU[32](AffineTransform[32<-32](ClippedReLU[32](AffineTransform[32<-512](InputSlice[512(0:512)])))))";

/// The ranges of a synthetic network.
pub struct Recipe {
    seed: u64,
    transformer: [(i32, i32); 2],
    psqt: (i32, i32),
    /// Biases and weights of the three dense layers.
    layers: [[(i32, i32); 2]; 3],
}

/// Ordinary ranges.
pub const A: Recipe = Recipe {
    seed: 1,
    transformer: [(-40, 140), (-24, 24)],
    psqt: (-20_000, 20_000),
    layers: [
        [(-3000, 3000), (-20, 20)],
        [(-3000, 3000), (-40, 40)],
        [(-2000, 2000), (-100, 100)],
    ],
};

/// The full ranges of i16 and i8: accumulators wrap, and every clamp is hit.
pub const B: Recipe = Recipe {
    seed: 2,
    transformer: [(-32768, 32767), (-32768, 32767)],
    psqt: (-10_000_000, 10_000_000),
    layers: [
        [(-200_000, 200_000), (-128, 127)],
        [(-60_000, 60_000), (-128, 127)],
        [(-500_000, 500_000), (-128, 127)],
    ],
};

/// The draws of one network.
struct Draws(SplitMix64);

impl Draws {
    fn next(&mut self, (low, high): (i32, i32)) -> i32 {
        let width = (i64::from(high) - i64::from(low) + 1) as u64;
        ((self.0.next_u64() >> 32) % width) as i32 + low
    }

    fn many(&mut self, count: usize, range: (i32, i32)) -> Vec<i32> {
        (0..count).map(|_| self.next(range)).collect()
    }
}

/// The file of a synthetic HalfKP network.
pub fn halfkp(recipe: &Recipe) -> Vec<u8> {
    network(Architecture::HalfKp, recipe, false)
}

/// The file of a synthetic network of any architecture, its transformer compressed or not.
pub fn network(architecture: Architecture, recipe: &Recipe, compressed: bool) -> Vec<u8> {
    let shape = architecture.shape();
    let mut draws = Draws(SplitMix64::new(recipe.seed));
    let description = match architecture {
        Architecture::HalfKp => DESCRIPTION,
        _ => b"synthetic",
    };
    let mut out = Vec::with_capacity(shape.file_size(description.len()));
    put_words(
        &[shape.version, shape.file_hash(), description.len() as u32],
        &mut out,
    );
    out.extend(description);
    if let Architecture::Own(own) = architecture {
        put_words(&own.words(), &mut out);
    }
    put_words(&[shape.transformer_hash()], &mut out);
    transformer(&shape, recipe, compressed, &mut draws, &mut out);
    for _ in 0..shape.buckets {
        put_words(&[shape.network_hash()], &mut out);
        for (layer, [biases, weights]) in shape.layers().into_iter().zip(recipe.layers) {
            draws
                .many(layer.outputs, biases)
                .iter()
                .for_each(|n| out.extend(n.to_le_bytes()));
            let weights = draws.many(layer.outputs * layer.row(), weights);
            let zero_from = unused_from(&shape, layer);
            for (i, weight) in weights.into_iter().enumerate() {
                let is_used = i % layer.row() < zero_from;
                out.push(if is_used { weight as u8 } else { 0 });
            }
        }
    }
    out
}

/// The first input of a layer whose weights must be zero: those for squares that do not exist.
fn unused_from(shape: &Shape, layer: LayerShape) -> usize {
    let is_second = layer == shape.layers()[1];
    match shape.chain {
        Chain::Pairwise { squares: false } if is_second => layer.inputs,
        _ => layer.row(),
    }
}

fn transformer(
    shape: &Shape,
    recipe: &Recipe,
    compressed: bool,
    draws: &mut Draws,
    out: &mut Vec<u8>,
) {
    let features = shape.features.count();
    let blocks = [
        (shape.l1, recipe.transformer[0], 2),
        (shape.l1 * features, recipe.transformer[1], 2),
        (shape.psqt * features, recipe.psqt, 4),
    ];
    for (count, range, bytes) in blocks.into_iter().filter(|(count, ..)| *count > 0) {
        if compressed {
            leb128::encode(draws.many(count, range), out);
        } else {
            (0..count).for_each(|_| out.extend(&draws.next(range).to_le_bytes()[..bytes]));
        }
    }
}

fn put_words(words: &[u32], out: &mut Vec<u8>) {
    words.iter().for_each(|word| out.extend(word.to_le_bytes()));
}
