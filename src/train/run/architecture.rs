//! The shape of the net that a run trains: a preset, or the shape of the checkpoint or net that the run starts from.
//!
//! Settings for single parts override it.

use std::path::Path;

use anyhow::{Context, Result, bail};

use super::checkpoint;
use super::config::{Config, Overrides};
use super::outputs::beside;
use super::shape::{KingBuckets, Layers, Preset};
use crate::nnue::{Architecture, Features, Network, Shape, ThreatInputs, Topology};
use crate::train::model::shapes;
use crate::util::text::Shown as _;

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
