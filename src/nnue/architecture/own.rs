//! Nets of our own shapes, in files that describe themselves.
//!
//! The container is the one of the published nets with a version of its own. Six little-endian u32 words follow the
//! description:
//!
//! | word | meaning |
//! |---|---|
//! | features | the set's code: 0 HalfKP, 2 HalfKAv2_hm |
//! | width | accumulator of one perspective |
//! | activation | of the accumulators: 0 clipped ReLU, 1 its square divided by 128 (SCReLU), 2 products of halves |
//! | first layer | outputs |
//! | second layer | outputs |
//! | buckets | stacks of dense layers by number of pieces |
//!
//! With products of halves the layers are those of SFNNv5: an output of the first layer skips the others, which go on
//! squared and clipped. Then everything is as in the published nets: the transformer behind its hash (plain or compressed,
//! without piece-square values), and each stack of dense layers behind its hash. The hashes follow from the
//! words (squares and products change that of the dense layers), so that damaged words do not pass for others. The engine
//! runs these nets with the same code as all others; what it lacks is named when a file is refused.

use std::sync::LazyLock;

use super::{Architecture, Shape, VERSION_OWN, compiled};
use crate::nnue::error::UnsupportedShape;

/// Words behind the description.
pub const WORDS: usize = 6;

/// The names of the words, as messages have them.
const NAMES: [&str; WORDS] = [
    "features",
    "width",
    "activation",
    "first layer",
    "second layer",
    "buckets",
];

/// The numbers of stacks of dense layers.
const BUCKETS: [usize; 2] = [1, 8];

/// The words of the file.
pub(crate) fn words(shape: &Shape) -> [u32; WORDS] {
    let [h1, h2] = shape.hidden;
    let counts = [shape.l1, h1, h2, shape.buckets].map(|count| count as u32);
    let [l1, h1, h2, buckets] = counts;
    [
        shape.features.set().code,
        l1,
        shape.activation as u32,
        h1,
        h2,
        buckets,
    ]
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
    for &(activation, chain, hidden) in row.pass.own_layers() {
        let shapes = BUCKETS.map(|buckets| Shape {
            version: VERSION_OWN,
            features: row.features,
            relations: row.relations,
            l1: row.l1,
            activation,
            chain,
            hidden,
            buckets,
            psqt: row.psqt,
        });
        found.extend(shapes.into_iter().filter_map(Architecture::of));
    }
    found
}

/// See [`Architecture::from_words`].
pub(super) fn from_words(wanted: [u32; WORDS]) -> Result<Architecture, UnsupportedShape> {
    // The width first, which most differ in.
    let first = |own: &Architecture| own.l1 as u32 == wanted[1] && words(own) == wanted;
    if let Some(own) = all().find(first) {
        return Ok(own);
    }
    let mut left: Vec<_> = all().map(|found| (words(&found), found)).collect();
    for (i, &found) in wanted.iter().enumerate() {
        let mut supported: Vec<u32> = left.iter().map(|(words, _)| words[i]).collect();
        left.retain(|(words, _)| words[i] == found);
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
    unreachable!("the words tell all architectures apart, so that what is left was found at first")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_round_trip_and_what_we_lack_is_named() {
        let wanted = [2, 512, 1, 16, 32, 8];
        let own = from_words(wanted).expect("a supported shape");
        assert_eq!(words(&own), wanted);
        for (word, value, name) in [
            (0, 1, "features 1; this engine runs 0 or 2"),
            (1, 128, "width 128; this engine runs 256, 512, 768 or 1024"),
            (2, 3, "activation 3; this engine runs 0, 1 or 2"),
            (3, 8, "first layer 8; this engine runs 16 or 32"),
            (4, 16, "second layer 16; this engine runs 32"),
            (5, 4, "buckets 4; this engine runs 1 or 8"),
        ] {
            let mut other = wanted;
            other[word] = value;
            let error = from_words(other).expect_err(name).to_string();
            assert_eq!(error, name);
        }
    }

    #[test]
    fn the_words_tell_all_architectures_apart() {
        let mut seen = std::collections::HashSet::new();
        for own in all() {
            assert!(seen.insert(words(&own)), "{own:?}");
            assert_eq!(from_words(words(&own)), Ok(own));
        }
        assert!(seen.len() > 20);
    }
}
