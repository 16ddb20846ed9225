//! Values of the settings that describe the shape of a net: presets, hidden layers, king buckets.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::nnue::{Activation, Architecture, Features};
use crate::util::text::read_text;

/// A shape by name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// That of the embedded net: HalfKAv2_hm with 8 king buckets, accumulators of 1024, pairwise products
    Default,
    /// As the default, with accumulators of 256: the fastest to train
    Small,
    /// As the default, with accumulators of 1536
    Wide,
    /// That of Stockfish 12: HalfKP 256x2-32-32-1; many other engines read such nets
    Sf12,
    /// That of Stockfish 15.1 (SFNNv5): HalfKAv2_hm with 32 king buckets, accumulators of 1024; other engines read it
    #[value(name = "sf15.1")]
    #[serde(rename = "sf15.1")]
    Sf15_1,
}

/// The hidden layers of a net.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Layers {
    /// Those of the published nets with the activation: 16,32 after pairwise products, otherwise 32,32
    Usual,
    /// None
    Direct,
    /// Two with these numbers of outputs
    Two(usize, usize),
}

/// The king buckets of a net.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(into = "BucketsInFile", try_from = "BucketsInFile")]
pub enum KingBuckets {
    /// Those of the features with this number of buckets; 0 for a bucket for each king square
    Number(usize),
    /// The bucket of every square from a1 to h8, from the own side's view
    Table([u8; 64]),
}

/// King buckets in a settings file or a checkpoint.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum BucketsInFile {
    Number(usize),
    Table(Vec<u8>),
    Text(String),
}

impl From<KingBuckets> for BucketsInFile {
    fn from(buckets: KingBuckets) -> Self {
        match buckets {
            KingBuckets::Number(number) => Self::Number(number),
            KingBuckets::Table(_) => Self::Text(buckets.to_string()),
        }
    }
}

impl TryFrom<BucketsInFile> for KingBuckets {
    type Error = String;

    fn try_from(buckets: BucketsInFile) -> Result<Self, String> {
        match buckets {
            BucketsInFile::Number(number) => Ok(Self::Number(number)),
            BucketsInFile::Table(numbers) => Self::of_table(&numbers),
            BucketsInFile::Text(text) => text.parse(),
        }
    }
}

impl KingBuckets {
    fn of_table(numbers: &[u8]) -> Result<Self, String> {
        let wrong = || format!("a table of king buckets has 64 numbers, but this one has {}", numbers.len());
        numbers.try_into().map(Self::Table).map_err(|_| wrong())
    }
}

impl fmt::Display for KingBuckets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Table(table) => f.write_str(&table.map(|bucket| bucket.to_string()).join(",")),
        }
    }
}

impl FromStr for KingBuckets {
    type Err = String;

    /// Reads a number, a table, or a table from the file of that name.
    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(number) = text.trim().parse() {
            return Ok(Self::Number(number));
        }
        let is_list = text.chars().all(|c| c.is_ascii_digit() || c == ',' || c.is_whitespace());
        let read = |path: &str| {
            let wrong = |reason| format!("neither a number, a table of 64 numbers, nor a file with one: {reason}");
            read_text(Path::new(path)).map_err(wrong)
        };
        let table = if is_list { text.to_owned() } else { read(text)? };
        let words = table.split(|c: char| c == ',' || c.is_whitespace()).filter(|word| !word.is_empty());
        let number = |word: &str| word.parse().map_err(|_| format!("{word:?} is not a king bucket from 0 to 63"));
        Self::of_table(&words.map(number).collect::<Result<Vec<u8>, _>>()?)
    }
}

impl Layers {
    /// Returns the layers with these outputs; zeros stand for none.
    pub fn of(hidden: [usize; 2]) -> Self {
        match hidden {
            [0, 0] => Self::Direct,
            [first, second] => Self::Two(first, second),
        }
    }

    /// Returns the outputs of the layers after an activation; zeros without hidden layers.
    pub fn hidden(self, activation: Activation) -> [usize; 2] {
        match self {
            Self::Usual if activation.is_pairwise() => [16, 32],
            Self::Usual => [32, 32],
            Self::Direct => [0, 0],
            Self::Two(first, second) => [first, second],
        }
    }
}

impl fmt::Display for Layers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usual => f.write_str("usual"),
            Self::Direct => f.write_str("none"),
            Self::Two(first, second) => write!(f, "{first},{second}"),
        }
    }
}

impl FromStr for Layers {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let two = || {
            let (first, second) = text.split_once(',')?;
            let outputs = [first, second].map(|number| number.trim().parse().ok().filter(|&number| number > 0));
            Some(Self::Two(outputs[0]?, outputs[1]?))
        };
        match text.trim() {
            "usual" => Ok(Self::Usual),
            "none" => Ok(Self::Direct),
            _ => two().ok_or_else(|| format!("{text} is neither two numbers of outputs, such as 16,32, nor none")),
        }
    }
}

impl From<Layers> for String {
    fn from(layers: Layers) -> Self {
        layers.to_string()
    }
}

impl TryFrom<String> for Layers {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl Preset {
    /// Returns the shape.
    pub fn architecture(self) -> Architecture {
        let pairwise = |features, l1| Architecture::of_settings(features, l1, Activation::Pairwise, [16, 32], 8, true);
        let found = match self {
            Self::Default => pairwise(Features::HalfKav2Hm8, 1024),
            Self::Small => pairwise(Features::HalfKav2Hm8, 256),
            Self::Wide => pairwise(Features::HalfKav2Hm8, 1536),
            Self::Sf12 => Ok(Architecture::HALF_KP),
            Self::Sf15_1 => pairwise(Features::HalfKav2Hm, 1024),
        };
        found.unwrap_or_else(|error| unreachable!("a preset cannot be trained: {error}"))
    }
}
