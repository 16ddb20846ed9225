//! Synthetic networks from a documented generator, so that tests need no file.
//!
//! Parameter `k` (in file order, from 0) is draw `k` of SplitMix64, `(draw >> 32) % width + low`.

use super::architecture::Architecture;
use crate::util::rng::SplitMix64;

/// The description of the synthetic networks: the text of every published HalfKP network.
const DESCRIPTION: &[u8] = b"Features=HalfKP(Friend)[41024->256x2],Network=AffineTransform[1<-32](ClippedReLU[32](AffineTransform[32<-32](ClippedReLU[32](AffineTransform[32<-512](InputSlice[512(0:512)])))))";

/// The ranges of a synthetic network.
pub struct Recipe {
    seed: u64,
    transformer: [(i32, i32); 2],
    /// Biases and weights of the three dense layers.
    layers: [[(i32, i32); 2]; 3],
}

/// Ordinary ranges.
pub const A: Recipe = Recipe {
    seed: 1,
    transformer: [(-40, 140), (-24, 24)],
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
    layers: [
        [(-200_000, 200_000), (-128, 127)],
        [(-60_000, 60_000), (-128, 127)],
        [(-500_000, 500_000), (-128, 127)],
    ],
};

/// The file of a synthetic HalfKP network.
pub fn halfkp(recipe: &Recipe) -> Vec<u8> {
    let shape = Architecture::HalfKp.shape();
    let mut rng = SplitMix64::new(recipe.seed);
    let mut draw =
        |(low, high): (i32, i32)| ((rng.next_u64() >> 32) % (high - low + 1) as u64) as i32 + low;
    let mut out = Vec::with_capacity(shape.file_size(DESCRIPTION.len()));
    for word in [shape.version, shape.file_hash(), DESCRIPTION.len() as u32] {
        out.extend(word.to_le_bytes());
    }
    out.extend(DESCRIPTION);
    out.extend(shape.transformer_hash().to_le_bytes());
    let [biases, weights] = recipe.transformer;
    (0..shape.l1).for_each(|_| out.extend((draw(biases) as i16).to_le_bytes()));
    (0..shape.l1 * shape.features.count())
        .for_each(|_| out.extend((draw(weights) as i16).to_le_bytes()));
    out.extend(shape.network_hash().to_le_bytes());
    for (layer, [biases, weights]) in shape.layers().iter().zip(recipe.layers) {
        (0..layer.outputs).for_each(|_| out.extend(draw(biases).to_le_bytes()));
        (0..layer.outputs * layer.inputs).for_each(|_| out.push(draw(weights) as u8));
    }
    out
}
