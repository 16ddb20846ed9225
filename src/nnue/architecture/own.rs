//! Our own format: files that describe their shape.
//!
//! The container is that of the published nets, with a separate version number. Six little-endian u32 words follow the
//! description:
//!
//! | word | meaning |
//! |---|---|
//! | features | the set's code: 0 HalfKP, 2 HalfKAv2_hm, 3 Chess768; plus 256 times the king buckets of our table |
//! | | (255 for another table) |
//! | | plus 65,536 times the attack inputs: 0 none, 1 attacks on enemies |
//! | width | accumulator of one perspective |
//! | activation | of the accumulators: 0 clipped ReLU, 1 its square divided by 128 (SCReLU), 2 pairwise products |
//! | first layer | outputs; 0 without hidden layers |
//! | second layer | outputs; 0 without hidden layers |
//! | buckets | layer stacks by number of pieces, 1 to 16; plus 256 times the piece-square values of a feature, 0 or 8 |
//!
//! With `n` stacks, a board with `p` pieces uses number `(p - 1) * n / 32`, rounded down. With pairwise products, the
//! layers are those of SFNNv5: one output of the first layer is a skip connection, and the others feed the second,
//! squared and clipped. Without hidden layers, a stack is a bias of 32 bits and a weight of 16 bits for each unit of
//! both accumulators, the side to move's first ([`Direct`](crate::nnue::layers::Direct)). The rest is as in the
//! published nets: the transformer (plain or compressed), then the layer stacks, each preceded by its hash. The hashes
//! depend on the words, so that damaged words are detected: squares, products and the absence of hidden layers change
//! the hash of the dense layers, king buckets, piece-square values and attack inputs that of the transformer. The
//! engine runs these nets with the same code as all others. The error for an unsupported shape names the unsupported
//! number.
//!
//! With 255 king buckets, 64 bytes follow the words: the king bucket of every square of the own king, from a1 to h8,
//! after the board was oriented for Black ([`FeatureSet`](crate::nnue::features::FeatureSet)).
//!
//! Attack inputs require HalfKAv2_hm. They have rows of weights and piece-square values like pieces on squares, after
//! these in both blocks; [`attack_inputs`](crate::nnue::features::attack_inputs) numbers them.

use std::ops::RangeInclusive;
use std::sync::OnceLock;

use super::{Activation, Architecture, Shape, ThreatInputs, Topology, VERSION_OWN, WIDTH_STEP};
use crate::nnue::error::UnsupportedShape;
use crate::nnue::features::attack_inputs::AttackInputs;
use crate::nnue::features::{Features, TABLE};

/// Number of shape words after the description.
pub const WORDS: usize = 6;

/// Number of bytes of a table of king buckets after the words.
pub(crate) const TABLE_SIZE: usize = 64;

/// Number of values in the shape words.
const NUMBERS: usize = 9;

/// Names of the numbers in error messages. A number comes before those that depend on it.
const NAMES: [&str; NUMBERS] = [
    "features",
    "king buckets",
    "attack inputs",
    "width",
    "activation",
    "first layer",
    "second layer",
    "piece-square values",
    "buckets",
];

/// Index of the width.
const WIDTH: usize = 3;

/// Radix of a word that contains two numbers: the first is below it, and the second is multiplied by it.
const RADIX: u32 = 256;

/// A family of shapes: every combination of its values is supported, with every width.
struct Family {
    features: &'static [Features],
    activations: &'static [Activation],
    /// Outputs of the two hidden layers; zeros without them.
    hidden: &'static [[usize; 2]],
    /// Layer stacks.
    buckets: RangeInclusive<usize>,
    /// Piece-square values of a feature: none, or one for each stack.
    psqt: usize,
}

/// The sets that are mirrored by the own king.
const MIRRORED: &[Features] = &[
    Features::HalfKav2Hm,
    Features::HalfKav2Hm16,
    Features::HalfKav2Hm8,
    Features::HalfKav2Hm4,
    Features::HalfKav2Hm1,
];

/// All sets.
const ALL: &[Features] = &[
    Features::HalfKp,
    Features::HalfKav2Hm,
    Features::HalfKav2Hm16,
    Features::HalfKav2Hm8,
    Features::HalfKav2Hm4,
    Features::HalfKav2Hm1,
    Features::Chess768,
];

/// The outputs in the place of hidden layers that a net does not have.
pub(super) const DIRECT: [usize; 2] = [0, 0];

/// The hidden layers without a skip connection: 8, 16 or 32 outputs each, or none.
const HIDDEN: &[[usize; 2]] =
    &[DIRECT, [8, 8], [8, 16], [8, 32], [16, 8], [16, 16], [16, 32], [32, 8], [32, 16], [32, 32]];

/// All families. A shape belongs to one at most.
const FAMILIES: [Family; 3] = [
    Family {
        features: ALL,
        activations: &[Activation::Crelu, Activation::Screlu],
        hidden: HIDDEN,
        buckets: 1..=16,
        psqt: 0,
    },
    Family { features: MIRRORED, activations: &[Activation::Pairwise], hidden: &[[16, 32]], buckets: 8..=8, psqt: 8 },
    Family { features: ALL, activations: &[Activation::Pairwise], hidden: &[DIRECT], buckets: 1..=16, psqt: 0 },
];

/// A shape of our own format with these hidden layers, which an activation connects in one way. The caller replaces the
/// other parts.
pub(super) const fn layers(activation: Activation, hidden: [usize; 2]) -> Shape {
    let topology = match activation {
        _ if hidden[0] == DIRECT[0] => Topology::Direct,
        Activation::Crelu | Activation::Screlu => Topology::Plain,
        Activation::Pairwise | Activation::WidePairwise => Topology::Skip { squares: true },
    };
    Shape {
        version: VERSION_OWN,
        features: Features::HalfKp,
        threat_inputs: ThreatInputs::None,
        attacks: AttackInputs::None,
        l1: 256,
        activation,
        topology,
        hidden,
        buckets: 1,
        psqt: 0,
    }
}

/// All architectures of our own format with one width.
pub(super) fn of_width(l1: usize) -> impl Iterator<Item = Architecture> {
    let with_attacks =
        |plain: Architecture| AttackInputs::ALL.iter().filter_map(move |&inputs| plain.with_attacks(inputs));
    plain_of_width(l1).flat_map(with_attacks)
}

/// The architectures of one width without attack inputs.
fn plain_of_width(l1: usize) -> impl Iterator<Item = Architecture> {
    FAMILIES.iter().flat_map(move |Family { features, activations, hidden, buckets, psqt }| {
        let all = features.iter().flat_map(move |&features| activations.iter().map(move |&of| (features, of)));
        let all = all.flat_map(move |(features, of)| hidden.iter().map(move |&hidden| (features, layers(of, hidden))));
        all.flat_map(move |(features, layers)| {
            let of_buckets = move |buckets| Shape { features, l1, buckets, psqt: *psqt, ..layers };
            buckets.clone().map(of_buckets).map(Architecture)
        })
    })
}

/// The numbers of a shape, in the order of [`NAMES`].
fn numbers(shape: &Shape) -> [u32; NUMBERS] {
    let (code, kings) = shape.features.code();
    let [h1, h2] = shape.hidden;
    let counts = [shape.l1, h1, h2, shape.psqt, shape.buckets].map(|count| count as u32);
    let [l1, h1, h2, psqt, buckets] = counts;
    [code, kings, shape.attacks as u32, l1, shape.activation as u32, h1, h2, psqt, buckets]
}

/// The numbers in the words of a file.
fn unpacked(words: [u32; WORDS]) -> [u32; NUMBERS] {
    let [features, l1, activation, h1, h2, buckets] = words;
    let (code, kings, attacks) = (features % RADIX, features / RADIX % RADIX, features / RADIX.pow(2));
    let (psqt, buckets) = (buckets / RADIX, buckets % RADIX);
    [code, kings, attacks, l1, activation, h1, h2, psqt, buckets]
}

/// The shape words of a file.
pub(crate) fn words(shape: &Shape) -> [u32; WORDS] {
    let [code, kings, attacks, l1, activation, h1, h2, psqt, buckets] = numbers(shape);
    let (features, buckets) = (code + RADIX * (kings + RADIX * attacks), buckets + RADIX * psqt);
    [features, l1, activation, h1, h2, buckets]
}

/// See [`Architecture::from_words`].
pub(super) fn from_words(wanted: [u32; WORDS]) -> Result<Architecture, UnsupportedShape> {
    from_numbers(unpacked(wanted))
}

/// Whether a table of king buckets follows the words.
pub(crate) fn has_table([features, ..]: &[u32; WORDS]) -> bool {
    features / RADIX % RADIX == TABLE
}

/// The words without a table of king buckets.
pub(crate) fn without_table([features, others @ ..]: [u32; WORDS]) -> [u32; WORDS] {
    let [a, b, c, d, e] = others;
    [features - RADIX * TABLE, a, b, c, d, e]
}

/// The architecture of our own format with the numbers of `shape`.
pub(super) fn like(shape: &Shape) -> Result<Architecture, UnsupportedShape> {
    let base = from_numbers(numbers(&Shape { features: shape.features.without_table(), ..*shape }))?;
    Ok(Architecture(Shape { features: shape.features, ..*base }))
}

/// The numbers of all architectures of the smallest width; every width has the same shapes.
fn all_numbers() -> &'static [[u32; NUMBERS]] {
    static ALL: OnceLock<Vec<[u32; NUMBERS]>> = OnceLock::new();
    ALL.get_or_init(|| of_width(WIDTH_STEP).map(|own| numbers(&own)).collect())
}

fn from_numbers(wanted: [u32; NUMBERS]) -> Result<Architecture, UnsupportedShape> {
    let is_same = |found: &[u32; NUMBERS], i: usize| i == WIDTH || found[i] == wanted[i];
    let l1 = Architecture::widths().find(|&l1| l1 as u32 == wanted[WIDTH]);
    let at = all_numbers().iter().position(|found| (0..NUMBERS).all(|i| is_same(found, i)));
    if let Some(own) = l1.zip(at).and_then(|(l1, at)| of_width(l1).nth(at)) {
        return Ok(own);
    }
    let mut candidates = all_numbers().to_vec();
    for (i, &found) in wanted.iter().enumerate() {
        let mut supported: Vec<u32> = candidates.iter().map(|numbers| numbers[i]).collect();
        if i == WIDTH {
            supported = Architecture::widths().map(|l1| l1 as u32).collect();
        }
        candidates.retain(|numbers| is_same(numbers, i));
        if !supported.contains(&found) {
            supported.sort_unstable();
            supported.dedup();
            let what = NAMES[i];
            return Err(UnsupportedShape { what, found, supported });
        }
    }
    unreachable!("an architecture with all these numbers was found above")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn words_round_trip_and_errors_name_the_unsupported_number() {
        let half_kp = [0, 256, 1, 32, 32, 8];
        let chess768 = [3, 128, 1, 32, 32, 1];
        let direct = [3, 128, 1, 0, 0, 5];
        let pairwise = [2 + 256 * 8, 1024, 2, 16, 32, 8 + 256 * 8];
        let with_attacks = [2 + 256 * 8 + 65_536, 512, 2, 16, 32, 8 + 256 * 8];
        for wanted in [half_kp, chess768, direct, pairwise, with_attacks] {
            let own = from_words(wanted).expect("a supported shape");
            assert_eq!(words(&own), wanted);
        }
        for (wanted, word, value, name) in [
            (half_kp, 0, 1, "features 1; this engine supports 0, 2 or 3"),
            (half_kp, 1, 100, "width 100; this engine supports multiples of 32 up to 3072"),
            (pairwise, 1, 3136, "width 3136; this engine supports multiples of 32 up to 3072"),
            (pairwise, 1, 0, "width 0; this engine supports multiples of 32 up to 3072"),
            (half_kp, 2, 3, "activation 3; this engine supports 0, 1 or 2"),
            (half_kp, 2, 2, "first layer 32; this engine supports 0"),
            (half_kp, 3, 7, "first layer 7; this engine supports 0, 8, 16 or 32"),
            (pairwise, 3, 8, "first layer 8; this engine supports 0 or 16"),
            (direct, 4, 32, "second layer 32; this engine supports 0"),
            (half_kp, 4, 7, "second layer 7; this engine supports 8, 16 or 32"),
            (half_kp, 5, 17, "buckets 17; this engine supports 1 to 16"),
            (pairwise, 0, 2 + 256 * 5, "king buckets 5; this engine supports 0, 1, 4, 8 or 16"),
            (pairwise, 0, 2 + 256 * 8 + 4 * 65_536, "attack inputs 4; this engine supports 0 or 1"),
            (half_kp, 0, 65_536, "attack inputs 1; this engine supports 0"),
            (chess768, 0, 3 + 256, "king buckets 1; this engine supports 0"),
            (pairwise, 5, 1 + 256 * 8, "buckets 1; this engine supports 8"),
            (pairwise, 5, 8 + 256 * 3, "piece-square values 3; this engine supports 8"),
        ] {
            let mut other = wanted;
            other[word] = value;
            let error = from_words(other).expect_err(name).to_string();
            assert_eq!(error, name);
        }
    }

    #[test]
    fn words_and_hashes_identify_every_architecture() {
        let (mut seen, mut hashed) = (HashSet::new(), HashSet::new());
        for own in Architecture::own(&[32, 64, 96, 256, 1024, 3072]) {
            assert!(seen.insert(words(&own)), "{own:?}");
            assert_eq!(from_words(words(&own)), Ok(own));
            let hashes = (own.file_hash(), own.buckets);
            assert!(hashed.insert(hashes), "{own:?}");
        }
        assert!(seen.len() > 10);
    }
}
