//! Nets of our own shapes, in files that describe themselves.
//!
//! The container is the one of the published nets with a [`VERSION`] of its own. Six little-endian u32
//! words follow the description:
//!
//! | word | meaning |
//! |---|---|
//! | features | 0 HalfKP, 2 HalfKAv2_hm |
//! | width | accumulator of one perspective: 128, 256 or 512 for HalfKP; 256, 512 or 1024 for HalfKAv2_hm |
//! | activation | of the accumulators: 0 clipped ReLU, 1 its square divided by 128 (SCReLU) |
//! | first layer | outputs: 16 or 32 |
//! | second layer | outputs: 32 |
//! | buckets | stacks of dense layers by number of pieces: 1 or 8 |
//!
//! Then everything is as in the published nets: the transformer behind its hash (plain or compressed,
//! without piece-square values), and each stack of dense layers behind its hash. The hashes follow from the
//! words (squares change that of the dense layers), so that damaged words do not pass for others. The engine
//! runs these nets with the same code as all others; what it lacks is named when a file is refused.

use super::architecture::{Chain, Features, Shape};
use super::error::NetError;

/// The version of these files.
pub const VERSION: u32 = 0x5A6F_6F31;

/// Words behind the description.
pub(super) const WORDS: usize = 6;

/// What the file of a net of our own says about it. Only [`Own::from_words`] tells whether we run it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Own {
    /// The input features: HalfKP or HalfKAv2_hm.
    pub features: Features,
    /// Width of the accumulator of one perspective.
    pub l1: usize,
    /// Whether clipped sums are squared.
    pub squared: bool,
    /// Outputs of the first dense layer.
    pub hidden: usize,
    /// Stacks of dense layers.
    pub buckets: usize,
}

impl Own {
    /// The numbers of this architecture.
    pub fn shape(self) -> Shape {
        Shape {
            version: VERSION,
            features: self.features,
            l1: self.l1,
            chain: if self.squared {
                Chain::Squared
            } else {
                Chain::Clipped
            },
            hidden: [self.hidden, 32],
            buckets: self.buckets,
            psqt: 0,
        }
    }

    /// The words of the file.
    pub fn words(self) -> [u32; WORDS] {
        let features = match self.features {
            Features::HalfKp => 0,
            Features::HalfKav2 => 1,
            Features::HalfKav2Hm => 2,
        };
        let [h1, h2] = self.shape().hidden.map(|outputs| outputs as u32);
        [
            features,
            self.l1 as u32,
            self.squared.into(),
            h1,
            h2,
            self.buckets as u32,
        ]
    }

    /// Understands the words of a file; the error names the first one that asks for something we lack.
    pub fn from_words(words: [u32; WORDS]) -> Result<Self, NetError> {
        let [features, l1, activation, h1, h2, buckets] = words;
        let among = |what, found, supported: &'static [u32]| match supported.contains(&found) {
            true => Ok(found as usize),
            false => Err(NetError::UnsupportedShape {
                what,
                found,
                supported,
            }),
        };
        let (features, widths): (_, &[u32]) = match among("features", features, &[0, 2])? {
            0 => (Features::HalfKp, &[128, 256, 512]),
            _ => (Features::HalfKav2Hm, &[256, 512, 1024]),
        };
        let l1 = among("width", l1, widths)?;
        let squared = among("activation", activation, &[0, 1])? == 1;
        let hidden = among("first layer", h1, &[16, 32])?;
        among("second layer", h2, &[32])?;
        let buckets = among("buckets", buckets, &[1, 8])?;
        Ok(Self {
            features,
            l1,
            squared,
            hidden,
            buckets,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_round_trip_and_what_we_lack_is_named() {
        let words = [2, 512, 1, 16, 32, 8];
        let own = Own::from_words(words).expect("a supported shape");
        assert_eq!(own.words(), words);
        for (word, value, name) in [
            (0, 1, "features 1"),
            (1, 128, "width 128"),
            (2, 2, "activation 2"),
            (3, 8, "first layer 8"),
            (4, 16, "second layer 16"),
            (5, 4, "buckets 4"),
        ] {
            let mut other = words;
            other[word] = value;
            let error = Own::from_words(other).expect_err(name).to_string();
            assert!(error.contains(name), "{error}");
        }
    }
}
