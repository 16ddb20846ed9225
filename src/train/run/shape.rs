//! The shape of the net that a run trains: a preset, or the shape of the checkpoint or net that the run starts from.
//!
//! Settings for single parts override it.

use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::checkpoint;
use super::config::{Config, Overrides};
use super::outputs::beside;
use crate::nnue::{Activation, Architecture, Features, Network};
use crate::train::model::shapes;
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

impl Preset {
    /// Returns the shape.
    pub fn architecture(self) -> Architecture {
        let pairwise = |features, l1| Architecture::of_settings(features, l1, Activation::Pairwise, 8, true);
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
    let trained = net.architecture().trained().filter(|trained| shapes::WIDTHS.contains(&trained.l1));
    let Some(architecture) = trained else {
        bail!(
            "{} is {}, which cannot be trained; trainable shapes: {}",
            path.shown(),
            net.architecture(),
            shapes::names()
        );
    };
    Ok((net, architecture))
}

impl Overrides {
    /// Removes the shape and all its parts.
    pub fn clear_shape(&mut self) {
        let Self { shape, features, king_buckets, l1, activation, psqt, buckets, attacks, .. } = self;
        (*shape, *features, *king_buckets, *l1) = (None, None, None, None);
        (*activation, *psqt, *buckets, *attacks) = (None, None, None, None);
    }
}

impl Config {
    /// Returns these settings with another shape.
    pub fn with_shape(self, shape: Architecture) -> Self {
        let features = shapes::kind(shape.features);
        let (_, king_buckets) = shape.features.code();
        Self {
            features,
            king_buckets: king_buckets as usize,
            l1: shape.l1,
            activation: shape.activation,
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
        if !shapes::WIDTHS.contains(&self.l1) {
            bail!("l1 is {}, but must be {}", self.l1, shapes::list(&shapes::WIDTHS));
        }
        let error = match of(features, self.l1, self.activation, self.buckets, psqt) {
            Ok(architecture) => return self.with_attacks(architecture),
            Err(error) => error,
        };
        let activation = self.activation;
        let (setting, found) = match error.what {
            "features" => ("features", features.to_string()),
            "activation" => ("activation", activation.to_string()),
            "piece-square values" => bail!(
                "psqt is {psqt}, which is not supported for {features} with l1 {} and activation {activation}",
                self.l1
            ),
            what => (what, error.found.to_string()),
        };
        let name = |&code: &u32| match error.what {
            "activation" => shapes::ACTIVATIONS
                .iter()
                .find(|&&(_, activation)| activation as u32 == code)
                .map_or(code.to_string(), |(name, _)| (*name).to_owned()),
            _ => code.to_string(),
        };
        let supported: Vec<String> = error.supported.iter().map(name).collect();
        let supported = shapes::list(&supported);
        let psqt = if psqt && setting == "buckets" { " and psqt" } else { "" };
        bail!("{setting} is {found}, but must be {supported} with {features}{psqt}")
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
        let (features, kings) = (self.features, self.king_buckets);
        if kings == 0 {
            return Ok(features);
        }
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
