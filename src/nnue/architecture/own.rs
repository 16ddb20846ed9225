//! Our own format: files that describe their shape.
//!
//! The container is that of the published nets, with a separate version number. Six little-endian u32 words follow the
//! description:
//!
//! | word | meaning |
//! |---|---|
//! | features | the set's code: 0 HalfKP, 2 HalfKAv2_hm; plus 256 times the king buckets of one of our tables |
//! | | plus 65,536 times the attack inputs: 0 none, 1 attacks on enemies |
//! | width | accumulator of one perspective |
//! | activation | of the accumulators: 0 clipped ReLU, 1 its square divided by 128 (SCReLU), 2 pairwise products |
//! | first layer | outputs |
//! | second layer | outputs |
//! | buckets | layer stacks by number of pieces; plus 256 times the piece-square values of a feature, 0 or 8 |
//!
//! With pairwise products, the layers are those of SFNNv5: one output of the first layer is a skip connection, and the
//! others feed the second layer, squared and clipped. The rest is as in the published nets: the transformer (plain or
//! compressed), then the layer stacks, each preceded by its hash. The hashes depend on the words, so that damaged words
//! are detected: squares and products change the hash of the dense layers, king buckets, piece-square values and attack
//! inputs that of the transformer. The engine runs these nets with the same code as all others. The error for an
//! unsupported shape names the unsupported number.
//!
//! Attack inputs require HalfKAv2_hm. They have rows of weights and piece-square values like pieces on squares, after
//! these in both blocks; [`attack_inputs`](crate::nnue::features::attack_inputs) numbers them.

use std::sync::LazyLock;

use super::{Architecture, Chain, NetKind, Shape, VERSION_OWN};
use crate::nnue::error::UnsupportedShape;
use crate::nnue::features::attack_inputs::AttackInputs;

/// Number of shape words after the description.
pub const WORDS: usize = 6;

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

/// Radix of a word that contains two numbers: the first is below it, and the second is multiplied by it.
const RADIX: u32 = 256;

/// Supported numbers of layer stacks.
const BUCKETS: [usize; 2] = [1, 8];

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

/// All architectures of our own format: every combination that code is compiled for.
pub(super) fn all() -> impl Iterator<Item = Architecture> {
    // Computed once: the definition of the command line reads the list several times at every start.
    static ALL: LazyLock<Vec<Architecture>> =
        LazyLock::new(|| NetKind::OWN.iter().copied().flat_map(of_kind).collect());
    ALL.iter().copied()
}

/// The architectures of our own format that a kind of net supports.
fn of_kind(kind: NetKind) -> Vec<Architecture> {
    let row = kind.row();
    let mut found = Vec::new();
    for &features in row.features {
        // In our own format, the activation determines the other layers.
        for &chain in row.chains.iter().filter(|&&chain| chain == Chain::trained(chain.activation)) {
            // A feature has either no piece-square values or one for each stack.
            for buckets in BUCKETS.into_iter().filter(|&buckets| row.psqt == 0 || row.psqt == buckets) {
                let plain = Architecture::new(kind, VERSION_OWN, features, chain, buckets);
                found.extend(AttackInputs::ALL.iter().filter_map(|&attacks| plain.with_attacks(attacks)));
            }
        }
    }
    found
}

/// See [`Architecture::from_words`].
pub(super) fn from_words(wanted: [u32; WORDS]) -> Result<Architecture, UnsupportedShape> {
    from_numbers(unpacked(wanted))
}

/// The architecture of our own format with the numbers of `shape`.
pub(super) fn like(shape: &Shape) -> Result<Architecture, UnsupportedShape> {
    from_numbers(numbers(shape))
}

fn from_numbers(wanted: [u32; NUMBERS]) -> Result<Architecture, UnsupportedShape> {
    // Compares the width first, because it differs most often.
    let first = |own: &Architecture| own.l1 as u32 == wanted[3] && numbers(own) == wanted;
    if let Some(own) = all().find(first) {
        return Ok(own);
    }
    let mut candidates: Vec<_> = all().map(|found| (numbers(&found), found)).collect();
    for (i, &found) in wanted.iter().enumerate() {
        let mut supported: Vec<u32> = candidates.iter().map(|(numbers, _)| numbers[i]).collect();
        candidates.retain(|(numbers, _)| numbers[i] == found);
        if candidates.is_empty() {
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
        let pairwise = [2 + 256 * 8, 1024, 2, 16, 32, 8 + 256 * 8];
        let with_attacks = [2 + 256 * 8 + 65_536, 512, 2, 16, 32, 8 + 256 * 8];
        for wanted in [half_kp, pairwise, with_attacks] {
            let own = from_words(wanted).expect("a supported shape");
            assert_eq!(words(&own), wanted);
        }
        for (wanted, word, value, name) in [
            (half_kp, 0, 1, "features 1; this engine supports 0 or 2"),
            (half_kp, 1, 128, "width 128; this engine supports 256"),
            (pairwise, 1, 768, "width 768; this engine supports 256, 512, 1024 or 1536"),
            (half_kp, 2, 3, "activation 3; this engine supports 0 or 1"),
            (pairwise, 3, 8, "first layer 8; this engine supports 16"),
            (half_kp, 4, 16, "second layer 16; this engine supports 32"),
            (half_kp, 5, 4, "buckets 4; this engine supports 1 or 8"),
            (pairwise, 0, 2 + 256 * 5, "king buckets 5; this engine supports 0, 1, 4, 8 or 16"),
            (pairwise, 0, 2 + 256 * 8 + 4 * 65_536, "attack inputs 4; this engine supports 0 or 1"),
            (half_kp, 0, 65_536, "attack inputs 1; this engine supports 0"),
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
        for own in all() {
            assert!(seen.insert(words(&own)), "{own:?}");
            assert_eq!(from_words(words(&own)), Ok(own));
            let hashes = (own.file_hash(), own.buckets);
            assert!(hashed.insert(hashes), "{own:?}");
        }
        assert!(seen.len() > 10);
    }
}
