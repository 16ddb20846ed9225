//! The shape of the net that a run trains: a preset, or the shape of the checkpoint or net that the run starts from.
//!
//! Settings for single parts override it.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use super::checkpoint;
use super::config::{Config, Overrides};
use super::outputs::beside;
use crate::nnue::{Activation, Architecture, Features, Network, Shape, ThreatInputs, Topology};
use crate::train::model::shapes;
use crate::util::encoding::read_text;
use crate::util::text::Shown as _;

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
    fn hidden(self, activation: Activation) -> [usize; 2] {
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

/// Returns the base shape: `shape`, or the shape of the checkpoint to resume, or of the initial net, or the default.
/// Settings for single parts are not yet applied.
///
/// # Errors
/// Fails if the checkpoint or the initial net cannot be read, or cannot be trained.
pub fn base(settings: &Overrides, resume: bool, init: Option<&Path>) -> Result<Architecture> {
    if let Some(preset) = settings.shape {
        return Ok(preset.architecture());
    }
    let out = settings.out.clone().unwrap_or(Config::default().out);
    let checkpoint = beside(&out, "checkpoint");
    if resume && checkpoint.exists() {
        return checkpoint::read_state(&checkpoint)?.config.architecture();
    }
    if let Some(init) = init {
        return if checkpoint::is_checkpoint(init)? {
            checkpoint::read_state(init)?.config.architecture()
        } else {
            Ok(read_net(init)?.1)
        };
    }
    // Every other shape has parts that do not fit these sets.
    let preset = match settings.features {
        Some(Features::HalfKp | Features::Chess768) => Preset::Sf12,
        _ => Preset::Default,
    };
    Ok(preset.architecture())
}

/// Reads a net, and returns it with the shape that results from training it.
///
/// # Errors
/// Fails if the file is not a net, or the net cannot be trained.
pub fn read_net(path: &Path) -> Result<(Network, Architecture)> {
    let net =
        Network::from_file(path).with_context(|| format!("{} is neither a checkpoint nor a net", path.shown()))?;
    let shape = net.architecture();
    let Some(architecture) = shape.trained() else {
        bail!(
            "{} is {shape}, which cannot be trained, because {}; trainable shapes: {}",
            path.shown(),
            obstacle(shape),
            shapes::names()
        );
    };
    Ok((net, architecture))
}

/// The part of a published shape that the trainer lacks.
fn obstacle(shape: &Shape) -> String {
    if shape.threat_inputs != ThreatInputs::None {
        return format!("it has threat inputs ({})", shape.threat_inputs);
    }
    match shape.topology {
        _ if shape.features == Features::HalfKav2 => format!("its features, {}, are not mirrored", shape.features),
        Topology::Skip { squares: false } => "its second layer has no squares of the first one's outputs".to_owned(),
        _ => format!("it has piece-square values with layers {}", Layers::of(shape.hidden)),
    }
}

impl Overrides {
    /// Removes the shape and all its parts.
    pub fn clear_shape(&mut self) {
        let Self { shape, features, king_buckets, l1, activation, layers, psqt, buckets, attacks, .. } = self;
        (*shape, *features, *king_buckets, *l1) = (None, None, None, None);
        (*activation, *layers, *psqt, *buckets, *attacks) = (None, None, None, None, None);
    }
}

impl Config {
    /// Returns these settings with another shape.
    pub fn with_shape(self, shape: Architecture) -> Self {
        let features = shapes::kind(shape.features);
        let (_, number) = shape.features.code();
        let number = KingBuckets::Number(number as usize);
        let layers = Layers::of(shape.hidden);
        // So that a setting of the activation alone takes the usual layers with it.
        let is_usual = layers.hidden(shape.activation) == Layers::Usual.hidden(shape.activation);
        Self {
            features,
            king_buckets: shape.features.table().copied().map_or(number, KingBuckets::Table),
            l1: shape.l1,
            activation: shape.activation,
            layers: if is_usual { Layers::Usual } else { layers },
            psqt: shape.psqt > 0,
            buckets: shape.buckets,
            attacks: shape.attacks,
            ..self
        }
    }

    /// Returns the shape of the net.
    ///
    /// # Errors
    /// Fails if no such net can be trained; the message names the setting and its possible values.
    pub fn architecture(&self) -> Result<Architecture> {
        let of = Architecture::of_settings;
        let (features, psqt) = (self.king_features()?, self.psqt);
        if !shapes::widths().any(|l1| l1 == self.l1) {
            bail!("l1 is {}, but must be {}", self.l1, shapes::width_names());
        }
        let hidden = self.layers.hidden(self.activation);
        let error = match of(features, self.l1, self.activation, hidden, self.buckets, psqt) {
            Ok(architecture) => return self.with_attacks(architecture),
            Err(error) => error,
        };
        let (activation, layers) = (self.activation, Layers::of(hidden));
        let with = format!("{features}, activation {activation} and layers {layers}");
        match error.what {
            "first layer" | "second layer" => {
                let is_possible = |&hidden: &[usize; 2]| {
                    [(8, true), (1, false)]
                        .iter()
                        .any(|&(n, psqt)| of(features, self.l1, activation, hidden, n, psqt).is_ok())
                };
                let outputs = || [0, 8, 16, 32].into_iter();
                let all = outputs().flat_map(|first| outputs().map(move |second| [first, second]));
                let choices: Vec<Layers> = all.filter(is_possible).map(Layers::of).collect();
                let choices = choices.iter().map(|layers| layers.to_string()).collect::<Vec<_>>().join(" or ");
                bail!("layers is {layers}, but must be {choices} with {features} and activation {activation}")
            }
            "piece-square values" => bail!("psqt is {psqt}, but must be {} with {with}", !psqt),
            "buckets" if psqt => bail!("buckets is {}, but must be 8 with {with}, and psqt", self.buckets),
            "buckets" => bail!("buckets is {}, but must be 1 to 16 with {with}", self.buckets),
            _ => Err(error.into()),
        }
    }

    /// Returns a shape with the configured attack inputs.
    fn with_attacks(&self, architecture: Architecture) -> Result<Architecture> {
        architecture.with_attacks(self.attacks).with_context(|| {
            format!(
                "attacks is {}, which is not supported for {}: use --features half-kav2-hm, or none",
                self.attacks, architecture.features
            )
        })
    }

    /// Returns the features with the configured king buckets.
    fn king_features(&self) -> Result<Features> {
        let features = self.features;
        let kings = match self.king_buckets {
            KingBuckets::Number(0) => return Ok(features),
            KingBuckets::Number(kings) => kings,
            KingBuckets::Table(table) => return features.with_table(&table).context("king-buckets has a wrong table"),
        };
        let Some(found) = features.with_king_buckets(kings) else {
            let mut choices = features.king_buckets();
            choices.reverse();
            let choices = shapes::list(&choices);
            bail!("king-buckets is {kings}, but must be {choices} with {features}");
        };
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRESETS: [Preset; 5] = [Preset::Default, Preset::Small, Preset::Wide, Preset::Sf12, Preset::Sf15_1];

    #[test]
    fn default_preset_has_the_shape_of_the_embedded_net() {
        assert_eq!(Some(Preset::Default.architecture()), Network::embedded().architecture().trained());
    }

    #[test]
    fn presets_are_different_trainable_shapes() {
        let shapes = PRESETS.map(Preset::architecture);
        for (index, shape) in shapes.iter().enumerate() {
            assert!(!shapes[..index].contains(shape), "{shape}");
            assert_eq!(shape.trained(), Some(*shape));
            // The settings describe the shape completely.
            assert_eq!(Config::default().with_shape(*shape).architecture().ok(), Some(*shape));
        }
    }

    #[test]
    fn refusals_name_the_part_that_cannot_be_trained() {
        let reasons: Vec<String> =
            Architecture::published().filter(|shape| shape.trained().is_none()).map(|shape| obstacle(&shape)).collect();
        assert_eq!(
            reasons,
            [
                "its features, HalfKAv2, are not mirrored",
                "it has piece-square values with layers 8,32",
                "it has threat inputs (FullThreats)",
                "it has threat inputs (FullThreats + PP_3Wide)",
                "its second layer has no squares of the first one's outputs",
            ]
        );
    }

    #[test]
    fn king_buckets_are_a_number_a_table_or_a_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("kings.txt");
        let table: [u8; 64] = std::array::from_fn(|square| (square / 32) as u8);
        let lines: Vec<String> =
            table.chunks(8).map(|rank| format!("{rank:?}").replace(['[', ']', ','], " ")).collect();
        std::fs::write(&path, lines.join("\n")).expect("the file is written");
        let list = table.map(|bucket| bucket.to_string()).join(",");
        assert_eq!(list.parse(), Ok(KingBuckets::Table(table)));
        assert_eq!(path.to_str().expect("a name").parse(), Ok(KingBuckets::Table(table)));
        assert_eq!("8".parse(), Ok(KingBuckets::Number(8)));
        assert_eq!(KingBuckets::Table(table).to_string(), list);
        let error = |text: &str| text.parse::<KingBuckets>().expect_err("no king buckets");
        assert_eq!(error("0,1,2"), "a table of king buckets has 64 numbers, but this one has 3");
        assert_eq!(error("0,300"), "\"300\" is not a king bucket from 0 to 63");
        assert!(error("no-such-file").starts_with("neither a number, a table of 64 numbers, nor a file"));
        // In a settings file and in a checkpoint.
        let settings = format!("features = 'chess768'\nking-buckets = [{list}]");
        let settings: Overrides = toml::from_str(&settings).expect("settings");
        let config = settings.resolved(Preset::Sf12.architecture());
        let shape = config.architecture().expect("a shape");
        assert_eq!((shape.features.set().kings, shape.features.table()), (2, Some(&table)));
        let json = serde_json::to_string(&config).expect("JSON");
        assert_eq!(serde_json::from_str::<Config>(&json).expect("settings"), config);
        assert_eq!(Config::default().with_shape(shape).architecture().ok(), Some(shape));
        assert_eq!(shape.trained(), Some(shape));
        let mirrored = settings.or(Overrides { features: Some(Features::HalfKav2Hm), ..Overrides::default() });
        assert_eq!(mirrored.king_buckets, Some(KingBuckets::Table(table)));
    }

    #[test]
    fn asymmetric_table_is_refused_for_mirrored_features() {
        let settings = |features: &str| {
            let table = (0..64).map(|square| if square == 3 { "1" } else { "0" }).collect::<Vec<_>>().join(",");
            toml::from_str::<Overrides>(&format!("features = '{features}'\nking-buckets = '{table}'"))
                .expect("settings")
        };
        let shape_of = |features| settings(features).resolved(Preset::Sf12.architecture()).architecture();
        assert!(shape_of("chess768").is_ok());
        let error = format!("{:#}", shape_of("half-kav2-hm").expect_err("an asymmetric table"));
        assert!(error.starts_with("king-buckets has a wrong table: d1 has king bucket 1 and e1 has 0"), "{error}");
    }

    #[test]
    fn parts_change_the_shape_and_a_shape_replaces_all_parts_of_the_file() {
        let parsed = |text: &str| toml::from_str::<Overrides>(text).expect("settings");
        let shape_of = |settings: Overrides| {
            let base = base(&settings, false, None).expect("a shape");
            settings.resolved(base).architecture().map_err(|error| error.to_string())
        };
        assert_eq!(shape_of(Overrides::default()), Ok(Preset::Default.architecture()));
        assert_eq!(shape_of(parsed("shape = 'sf15.1'")), Ok(Preset::Sf15_1.architecture()));
        assert_eq!(shape_of(parsed("features = 'half-kp'")), Ok(Preset::Sf12.architecture()));
        assert_eq!(shape_of(parsed("l1 = 256")), Ok(Preset::Small.architecture()));
        assert_eq!(shape_of(parsed("shape = 'small'\nking-buckets = 4")).map(|shape| shape.features.code().1), Ok(4));
        let both = parsed("shape = 'sf12'").or(parsed("l1 = 1536\nactivation = 'pairwise'\npsqt = true"));
        assert_eq!(shape_of(both), Ok(Preset::Sf12.architecture()));
    }
}
