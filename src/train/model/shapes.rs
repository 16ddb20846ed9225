//! Trainable net shapes: Zoothera's own architectures, the scales of a net file, and the rounding to its integers.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::nnue::architecture::{MAX_WIDTH, Topology, WIDTH_STEP};
use crate::nnue::features::attack_inputs::AttackInputs;
use crate::nnue::layers::Direct;
use crate::nnue::{Activation, Architecture, Features};

/// Returns the trainable widths, in ascending order: all that the engine plays.
pub fn widths() -> impl Iterator<Item = usize> {
    Architecture::widths()
}

/// Returns the trainable widths as text.
pub fn width_names() -> String {
    format!("a multiple of {WIDTH_STEP} up to {MAX_WIDTH}")
}

/// Trainable kinds of features, by the name in the settings. Sets with fewer king buckets are selected by their number.
const FEATURES: [(&str, Features); 3] =
    [("half-kp", Features::HalfKp), ("half-kav2-hm", Features::HalfKav2Hm), ("chess768", Features::Chess768)];

/// Trainable activations, by the name in the settings.
pub const ACTIVATIONS: [(&str, Activation); 3] =
    [("crelu", Activation::Crelu), ("screlu", Activation::Screlu), ("pairwise", Activation::Pairwise)];

/// Parses the name of features on the command line.
pub fn features() -> impl TypedValueParser<Value = Features> {
    by_name(&FEATURES)
}

/// Parses the name of an activation on the command line.
pub fn activations() -> impl TypedValueParser<Value = Activation> {
    by_name(&ACTIVATIONS)
}

/// Parses the name of attack inputs on the command line.
pub fn attacks() -> impl TypedValueParser<Value = AttackInputs> {
    let names = AttackInputs::ALL.iter().map(|inputs| PossibleValue::new(inputs.name()));
    PossibleValuesParser::new(names).try_map(|given| {
        let found = AttackInputs::ALL.iter().find(|inputs| inputs.name() == given);
        found.copied().ok_or("not one of the names")
    })
}

fn by_name<T: Copy + Send + Sync + 'static>(choices: &'static [(&str, T)]) -> impl TypedValueParser<Value = T> {
    let names = choices.iter().map(|&(name, _)| PossibleValue::new(name));
    PossibleValuesParser::new(names).try_map(|given| {
        let found = choices.iter().find(|(name, _)| *name == given);
        found.map(|&(_, value)| value).ok_or("not one of the names")
    })
}

/// Returns the features of the same kind without a reduced number of king buckets.
pub fn kind(features: Features) -> Features {
    let same = |(_, of): &&(&str, Features)| of.set().code == features.set().code;
    FEATURES.iter().find(same).map_or(features, |&(_, of)| of)
}

/// Returns the trainable shapes as text: `HalfKP or HalfKAv2_hm of a width that is a multiple of 32 up to 3072`.
pub fn names() -> String {
    let sets = FEATURES.map(|(_, features)| features);
    format!("{} of a width that is {}", list(&sets), width_names())
}

/// Formats choices as `1, 2 or 3`.
pub fn list(choices: &[impl ToString]) -> String {
    let choices: Vec<String> = choices.iter().map(ToString::to_string).collect();
    match choices.split_last() {
        None => String::new(),
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
    }
}

/// Returns shapes for tests: every width, activation and kind of layers, with few king buckets to save time, and two
/// with attack inputs.
#[cfg(test)]
pub fn for_tests() -> impl Iterator<Item = Architecture> {
    use Activation::{Crelu, Pairwise, Screlu};
    use Features::{Chess768, HalfKav2Hm1, HalfKav2Hm4, HalfKav2Hm8, HalfKp};
    let of = |features, l1, activation, hidden, buckets| {
        let psqt = activation == Pairwise && hidden != [0, 0];
        Architecture::of_settings(features, l1, activation, hidden, buckets, psqt).expect("a supported shape")
    };
    let skip = |features, l1| of(features, l1, Pairwise, [16, 32], 8);
    let with_attacks = [HalfKav2Hm1, HalfKav2Hm4]
        .map(|features| skip(features, 256).with_attacks(AttackInputs::ToEnemy).expect("a shape with attack inputs"));
    let plain = [
        of(HalfKp, 256, Crelu, [32, 32], 8),
        of(HalfKp, 256, Screlu, [32, 32], 1),
        of(Chess768, 256, Crelu, [16, 32], 3),
        of(Chess768, 256, Screlu, [0, 0], 1),
        of(HalfKav2Hm1, 256, Crelu, [0, 0], 16),
        of(HalfKav2Hm1, 512, Pairwise, [0, 0], 2),
        of(Chess768, 64, Screlu, [0, 0], 1),
        of(Chess768, 192, Screlu, [8, 32], 2),
        of(Chess768, 32, Screlu, [0, 0], 1),
        of(Chess768, 32, Crelu, [8, 16], 1),
        of(HalfKp, 96, Screlu, [32, 8], 2),
        of(Chess768, 96, Pairwise, [0, 0], 1),
        skip(HalfKav2Hm1, 32),
        skip(HalfKav2Hm1, 352),
        skip(HalfKav2Hm4, 256),
        skip(HalfKav2Hm1, 512),
        skip(HalfKav2Hm8, 1024),
        skip(HalfKav2Hm1, 1536),
    ];
    let table = std::array::from_fn(|square| u8::from(square >= 16) + u8::from(square % 8 > 3));
    let by_table = of(Chess768, 64, Crelu, [0, 0], 1).with_king_table(&table).expect("a possible table");
    let narrow = skip(HalfKav2Hm1, 96).with_attacks(AttackInputs::ToEnemy);
    let others = [by_table, narrow.expect("a shape with attack inputs")];
    plain.into_iter().chain(with_attacks).chain(others)
}

// Outputs of the first dense layer in a net with a skip connection: squares, clipped sums, and the skip output.

// CITE: Stockfish 15.1's nets (SFNNv5) and nnue-pytorch.

/// Index of the skip output of the first layer; the outputs before it are the inputs of the second layer.
pub const SKIP: usize = 15;

/// Value of a square of 1.0: the integers divide it by 2^19, where exact scaling would be (127 * 64)^2 / 127.
pub const SQUARE: f32 = 127.0 / 128.0;

/// Returns the inputs of the second layer: the squares of the sums, then the sums, both clipped, padded with zeros.
#[inline(always)]
pub fn squared_and_clipped<const SUMS: usize>(sums: &[f32; SUMS]) -> [f32; SUMS] {
    const { assert!(SUMS >= 2 * SKIP) };
    let mut out = [0.0; SUMS];
    for unit in 0..SKIP {
        out[unit] = (sums[unit] * sums[unit] * SQUARE).min(1.0);
        out[SKIP + unit] = sums[unit].clamp(0.0, 1.0);
    }
    out
}

/// Backpropagates the deltas of the second layer's inputs to the first layer's sums, except the skip output.
#[inline(always)]
pub fn squared_and_clipped_backward<const SUMS: usize>(sums: &[f32; SUMS], deltas: &[f32; SUMS]) -> [f32; SUMS] {
    let mut out = [0.0; SUMS];
    for unit in 0..SKIP {
        let sum = sums[unit];
        if sum * sum * SQUARE < 1.0 {
            out[unit] += 2.0 * SQUARE * sum * deltas[unit];
        }
        if sum > 0.0 && sum < 1.0 {
            out[unit] += deltas[SKIP + unit];
        }
    }
    out
}

// Scales of the integers in a net file.

// CITE: Stockfish 12 and nnue-pytorch.

/// Width of both hidden layers. With pairwise products the first one has fewer outputs.
pub const HIDDEN: usize = 32;

/// Fixed-point scale of activations and feature-transformer weights: 127 represents 1.0.
pub const ACTIVATION_ONE: f32 = 127.0;
/// Fixed-point scale of the hidden layers' weights: 64 represents 1.0.
pub const WEIGHT_ONE: f32 = 64.0;
/// Engine units represented by a float output of 1.0.
pub const UNITS: f32 = 600.0;
/// Raw integer output that represents a float output of 1.0.
pub const OUTPUT_ONE: f32 = 16.0 * UNITS;

/// Integer value that represents an activated accumulator of 1.0.
pub fn input_one(activation: Activation) -> f32 {
    match activation {
        Activation::Crelu => ACTIVATION_ONE,
        // Before truncation to an integer, which subtracts another half on average.
        Activation::Screlu | Activation::Pairwise | Activation::WidePairwise => ACTIVATION_ONE * ACTIVATION_ONE / 128.0,
    }
}

/// Integer value that represents an output of 1.0 in the sums of a net without hidden layers, whose outputs are
/// multiplied by `output_scale`.
pub fn direct_sum_one(activation: Activation, output_scale: f32) -> f32 {
    OUTPUT_ONE * output_scale * (1 << Direct::shift(activation)) as f32
}

/// Integer value that represents a weight of 1.0 from a unit to the output in a net without hidden layers.
pub fn direct_weight_one(activation: Activation, output_scale: f32) -> f32 {
    let unit = match activation {
        Activation::Crelu => ACTIVATION_ONE,
        // Not truncated.
        Activation::Screlu | Activation::Pairwise | Activation::WidePairwise => ACTIVATION_ONE * ACTIVATION_ONE,
    };
    direct_sum_one(activation, output_scale) / unit
}

/// Integer value that represents a first-layer weight of 1.0. The layer's sums are 127 * 64 for 1.0.
pub fn first_weight_one(activation: Activation) -> f32 {
    WEIGHT_ONE * ACTIVATION_ONE / input_one(activation)
}

// Simulated quantisation: rounds the parameters as in the net file. In the last part of a run the forward passes use
// the rounded values, so that training takes the rounding into account.
//
// The gradient bypasses the rounding and updates the exact parameter.

// CITE: Y. Bengio, N. Léonard and A. Courville, "Estimating or Propagating Gradients Through Stochastic Neurons"
// (2013): the straight-through estimator; B. Jacob et al., "Quantization and Training of Neural Networks" (2018):
// training with the roundings of inference.

/// Rounding for a file whose outputs are multiplied by `output_scale`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rounding {
    /// Factor of the net's outputs.
    pub output_scale: f32,
}

/// The integers that represent weights of 1.0.
#[derive(Clone, Copy, Debug)]
pub struct Scales {
    /// First layer.
    pub first: f32,
    /// The skip output of the first layer.
    pub skip: f32,
    /// Second layer.
    pub second: f32,
    /// Output layer.
    pub output: f32,
}

impl Rounding {
    /// Returns the scales of the dense layers' weights.
    pub fn scales(self, architecture: Architecture) -> Scales {
        let first = first_weight_one(architecture.activation);
        Scales {
            first,
            skip: first * self.output_scale,
            second: WEIGHT_ONE,
            output: match architecture.topology {
                Topology::Direct => direct_weight_one(architecture.activation, self.output_scale),
                _ => OUTPUT_ONE * self.output_scale / ACTIVATION_ONE,
            },
        }
    }
}

/// Rounds a weight of the transformer's rows, real plus factor.
pub fn row_weight(weight: f32) -> f32 {
    rounded(weight, ACTIVATION_ONE)
}

/// Whether the engine truncates products of units. Without hidden layers it does not.
pub fn truncates_products(architecture: Architecture) -> bool {
    architecture.activation == Activation::Pairwise && !architecture.is_direct()
}

/// Rounds a product of two clipped units down, as the engine truncates it. Units are integers in fixed point.
#[inline(always)]
pub fn product(product: f32) -> f32 {
    // Products are multiples of 1/128, so this margin absorbs float errors without reaching the next multiple.
    const MARGIN: f32 = 1.0 / 256.0;
    let one = input_one(Activation::Pairwise);
    (product * one + MARGIN).floor() / one
}

/// Rounds a weight to a multiple of one part of `one`.
pub fn rounded(weight: f32, one: f32) -> f32 {
    (weight * one).round() / one
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_line_offers_trainable_shapes() {
        let all: Vec<Architecture> = Architecture::own(&[64]).filter_map(|own| own.trained()).collect();
        for (_, features) in FEATURES {
            assert!(all.iter().any(|shape| shape.features == features));
        }
        assert!(all.iter().all(|shape| FEATURES.iter().any(|&(_, of)| of == kind(shape.features))));
        for (name, activation) in ACTIVATIONS {
            assert!(all.iter().any(|shape| shape.activation == activation));
            assert_eq!(name, activation.to_string());
        }
        assert!(all.iter().all(|shape| ACTIVATIONS.iter().any(|&(_, of)| of == shape.activation)));
        assert_eq!(names(), "HalfKP, HalfKAv2_hm or Chess768 of a width that is a multiple of 32 up to 3072");
    }

    #[test]
    fn rounded_products_equal_engine_products() {
        for a in 0..=127_u32 {
            for b in 0..=127_u32 {
                let float = product(a as f32 / ACTIVATION_ONE * (b as f32 / ACTIVATION_ONE));
                let integer = float * input_one(Activation::Pairwise);
                assert!((integer - (a * b / 128) as f32).abs() < 1e-3, "{a} {b}");
            }
        }
    }
}
