//! Nets of our own shapes, in files that describe themselves.
//!
//! The container is the one of the published nets with a version of its own. Six little-endian u32 words follow the
//! description:
//!
//! | word | meaning |
//! |---|---|
//! | features | the set's code: 0 HalfKP, 2 HalfKAv2_hm; plus 256 times the king buckets of a table of ours |
//! | width | accumulator of one perspective |
//! | activation | of the accumulators: 0 clipped ReLU, 1 its square divided by 128 (SCReLU), 2 products of halves |
//! | first layer | outputs |
//! | second layer | outputs |
//! | buckets | stacks of dense layers by number of pieces; plus 256 times a feature's piece-square values, 0 or 8 |
//!
//! With products of halves the layers are those of SFNNv5: an output of the first layer skips the others, which go on
//! squared and clipped. Then everything is as in the published nets: the transformer behind its hash (plain or
//! compressed), and each stack of dense layers behind its hash. The hashes follow from the words (squares and products
//! change that of the dense layers, king buckets and piece-square values that of the transformer), so that damaged
//! words do not pass for others. The engine runs these nets with the same code as all others; what it lacks is named
//! when a file is refused.

use std::sync::LazyLock;

use super::{Architecture, Shape, VERSION_OWN, compiled};
use crate::nnue::error::UnsupportedShape;
use crate::nnue::features::Features;

/// Words behind the description.
pub const WORDS: usize = 6;

/// Numbers in them.
const NUMBERS: usize = 8;

/// The names of the numbers, as messages have them. One that some others depend on comes before them.
const NAMES: [&str; NUMBERS] = [
    "features",
    "king buckets",
    "width",
    "activation",
    "first layer",
    "second layer",
    "piece-square values",
    "buckets",
];

/// What the first number of a word is counted below, where a second one shares the word with it.
const SHARE: u32 = 256;

/// The numbers of stacks of dense layers.
const BUCKETS: [usize; 2] = [1, 8];

/// The numbers of a shape.
fn numbers(shape: &Shape) -> [u32; NUMBERS] {
    let (code, kings) = shape.features.code();
    let [h1, h2] = shape.hidden;
    let counts = [shape.l1, h1, h2, shape.psqt, shape.buckets].map(|count| count as u32);
    let [l1, h1, h2, psqt, buckets] = counts;
    [
        code,
        kings,
        l1,
        shape.activation as u32,
        h1,
        h2,
        psqt,
        buckets,
    ]
}

/// The numbers in the words of a file.
fn unpacked(words: [u32; WORDS]) -> [u32; NUMBERS] {
    let [features, l1, activation, h1, h2, buckets] = words;
    let (code, kings) = (features % SHARE, features / SHARE);
    let (psqt, buckets) = (buckets / SHARE, buckets % SHARE);
    [code, kings, l1, activation, h1, h2, psqt, buckets]
}

/// The words of the file.
pub(crate) fn words(shape: &Shape) -> [u32; WORDS] {
    let [code, kings, l1, activation, h1, h2, psqt, buckets] = numbers(shape);
    let (features, buckets) = (code + SHARE * kings, buckets + SHARE * psqt);
    [features, l1, activation, h1, h2, buckets]
}

/// Every architecture of nets of our own: all combinations that there is code for.
pub(super) fn all() -> impl Iterator<Item = Architecture> {
    // Made once: the words of the command line ask again and again, before every start.
    static ALL: LazyLock<Vec<Architecture>> =
        LazyLock::new(|| compiled::OWN.iter().flat_map(of_row).collect());
    ALL.iter().copied()
}

/// The architectures that a row of the list has code for.
fn of_row(row: &compiled::Size) -> Vec<Architecture> {
    let mut found = Vec::new();
    let of_code = |features: &&Features| features.compiled_as() == row.features;
    for &features in Features::ALL.iter().filter(of_code) {
        for &(activation, topology, hidden) in row.pass.own_layers() {
            let shapes = BUCKETS.map(|buckets| Shape {
                version: VERSION_OWN,
                features,
                threat_inputs: row.threat_inputs,
                l1: row.l1,
                activation,
                topology,
                hidden,
                buckets,
                psqt: row.psqt,
            });
            // Piece-square values are chosen as stacks are: there is one of each.
            let agree = |shape: &Shape| shape.psqt == 0 || shape.psqt == shape.buckets;
            let shapes = shapes.into_iter().filter(agree);
            found.extend(shapes.filter_map(Architecture::of));
        }
    }
    found
}

/// See [`Architecture::from_words`].
pub(super) fn from_words(wanted: [u32; WORDS]) -> Result<Architecture, UnsupportedShape> {
    from_numbers(unpacked(wanted))
}

/// The architecture with the numbers of a shape.
pub(super) fn like(shape: &Shape) -> Result<Architecture, UnsupportedShape> {
    from_numbers(numbers(shape))
}

fn from_numbers(wanted: [u32; NUMBERS]) -> Result<Architecture, UnsupportedShape> {
    // The width first, which most differ in.
    let first = |own: &Architecture| own.l1 as u32 == wanted[2] && numbers(own) == wanted;
    if let Some(own) = all().find(first) {
        return Ok(own);
    }
    let mut left: Vec<_> = all().map(|found| (numbers(&found), found)).collect();
    for (i, &found) in wanted.iter().enumerate() {
        let mut supported: Vec<u32> = left.iter().map(|(numbers, _)| numbers[i]).collect();
        left.retain(|(numbers, _)| numbers[i] == found);
        if left.is_empty() {
            supported.sort_unstable();
            supported.dedup();
            let what = NAMES[i];
            return Err(UnsupportedShape {
                what,
                found,
                supported,
            });
        }
    }
    unreachable!(
        "the numbers tell all architectures apart, so that what is left was found at first"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn words_round_trip_and_what_we_lack_is_named() {
        let half_kp = [0, 256, 1, 32, 32, 8];
        let pairwise = [2 + 256 * 8, 1024, 2, 16, 32, 8 + 256 * 8];
        for wanted in [half_kp, pairwise] {
            let own = from_words(wanted).expect("a supported shape");
            assert_eq!(words(&own), wanted);
        }
        for (wanted, word, value, name) in [
            (half_kp, 0, 1, "features 1; this engine runs 0 or 2"),
            (half_kp, 1, 128, "width 128; this engine runs 256"),
            (
                pairwise,
                1,
                768,
                "width 768; this engine runs 256, 1024 or 1536",
            ),
            (half_kp, 2, 3, "activation 3; this engine runs 0 or 1"),
            (pairwise, 3, 8, "first layer 8; this engine runs 16"),
            (half_kp, 4, 16, "second layer 16; this engine runs 32"),
            (half_kp, 5, 4, "buckets 4; this engine runs 1 or 8"),
            (
                pairwise,
                0,
                2 + 256 * 5,
                "king buckets 5; this engine runs 0, 1, 4, 8 or 16",
            ),
            (pairwise, 5, 1 + 256 * 8, "buckets 1; this engine runs 8"),
            (
                pairwise,
                5,
                8 + 256 * 3,
                "piece-square values 3; this engine runs 8",
            ),
        ] {
            let mut other = wanted;
            other[word] = value;
            let error = from_words(other).expect_err(name).to_string();
            assert_eq!(error, name);
        }
    }

    #[test]
    fn the_words_tell_all_architectures_apart() {
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
