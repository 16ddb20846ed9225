//! Every setting of a run, declared once: its name on the command line and in a TOML file, its default, its help.
//!
//! What the command line says goes before what the file says, and that before the default.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use crate::nnue::{Activation, Architecture, Features};
use crate::train::model::shapes;
use crate::train::step::loss::{Loss, LossKind};
use crate::util::encoding::read_text;

/// How the learning rate falls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum ScheduleKind {
    /// Half a cosine, from `rate` to `final-rate` times it.
    Cosine,
    /// `step-factor` times less after every `step-every` million positions.
    Step,
    /// Not at all.
    Constant,
}

/// Declares the settings as `Overrides`, where each may be absent, and `Config`, where each has a value.
macro_rules! settings {
    ($(
        $(#[doc = $help:literal])+ $(#[arg($($extra:tt)*)])? $name:ident: $kind:ty = $default:expr $(, $shown:literal)?;
    )*) => {
        /// Settings that were given; the others are absent.
        #[derive(Clone, Debug, Default, clap::Args, Deserialize)]
        #[serde(rename_all = "kebab-case", deny_unknown_fields)]
        pub struct Overrides {
            /// Files of positions to learn from: `.bin`, `.binpack` or `.plain`
            #[serde(default)]
            pub files: Vec<PathBuf>,
            /// File of positions whose score alone is the label, met inside a search as `datagen sample` writes them:
            /// any position is learned from, and the result is not looked at. May be given several times
            #[arg(long = "sampled", value_name = "FILE")]
            #[serde(default)]
            pub sampled: Vec<PathBuf>,
            $(
                $(#[doc = $help])+
                #[arg(long, help = help(concat!($($help),+), shown!($default $(, $shown)?)))]
                $(#[arg($($extra)*)])?
                pub $name: Option<$kind>,
            )*
        }

        /// The settings of a run.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case", default)]
        pub struct Config {
            $($(#[doc = $help])+ pub $name: $kind,)*
        }

        impl Default for Config {
            /// Also what a checkpoint means that is older than a setting.
            fn default() -> Self {
                Overrides::default().resolved()
            }
        }

        impl Overrides {
            /// These settings, and those of `other` that are absent here.
            pub fn or(self, other: Self) -> Self {
                let or = |mine: Vec<PathBuf>, theirs| if mine.is_empty() { theirs } else { mine };
                let files = or(self.files, other.files);
                let sampled = or(self.sampled, other.sampled);
                Self { files, sampled, $($name: self.$name.or(other.$name),)* }
            }

            /// These settings, and defaults.
            pub fn resolved(&self) -> Config {
                Config { $($name: self.$name.clone().unwrap_or($default),)* }
            }
        }
    };
}

/// How a default looks in the help.
macro_rules! shown {
    ($default:expr) => {
        serde_json::to_string(&$default).unwrap_or_default()
    };
    ($default:expr, $shown:literal) => {
        $shown.to_owned()
    };
}

/// The help of a setting, and its default as JSON has it.
fn help(text: &str, default: String) -> String {
    let default = default.trim_matches('"');
    let default = default.strip_suffix(".0").unwrap_or(default);
    format!("{} [default: {default}]", text.trim())
}

settings! {
    /// Where the net goes; written at every validation. Checkpoint, log and plot go beside it
    out: PathBuf = PathBuf::from("trained.nnue");
    /// Activation of the accumulators: clipped, its square, or with half-kav2-hm products of their halves, behind which
    /// one output of the first layer skips the others; a net with one of the latter is of our own kind, which no other
    /// engine reads
    activation: Activation = Activation::Crelu;
    /// Width of an accumulator; a net of a width other than 256 is of our own kind as well
    #[arg(help = width_help())]
    l1: usize = Architecture::HALF_KP.l1;
    /// What the net sees of a position; with half-kav2-hm it is of our own kind as well
    features: Features = Features::HalfKp;
    /// Buckets of own king squares with half-kav2-hm: 1, 4, 8 or 16 by a mirrored table, or 32 for one each. Fewer rows
    /// are met more often and make a smaller file; such a net is of our own kind
    king_buckets: usize = 0, "one for each square, or each two that mirror each other";
    /// Give every feature piece-square values beside its row, which go past the layers to the output, one for each of
    /// eight stacks; with half-kav2-hm, and with pairs 1024 wide the net is one of Stockfish 15.1's
    #[arg(num_args = 0..=1, default_missing_value = "true")]
    psqt: bool = false;
    /// Stacks of layers after the accumulators, by the number of pieces: 1 or 8; with 8 the net is of our own kind as
    /// well
    buckets: usize = 1;
    /// Positions to show, in millions, repetitions counted
    millions: f64 = 100.0;
    /// End after so many minutes at the latest; the schedules then follow the clock (and resuming is not exact); 0 for
    /// no end
    minutes: f64 = 0.0;
    /// Positions of a step
    batch: usize = 16_384;
    /// Learning rate at the start
    rate: f32 = 0.004;
    /// How the learning rate falls
    schedule: ScheduleKind = ScheduleKind::Cosine;
    /// Share of the learning rate at which the cosine ends
    final_rate: f32 = 0.01;
    /// Millions of positions after which the step schedule steps
    step_every: f64 = 100.0;
    /// What the step schedule multiplies the learning rate by
    step_factor: f32 = 0.3;
    /// Millions of positions over which the learning rate rises from nothing
    warm_up: f64 = 0.0;
    /// Learning rate of the king-dependent rows, relative to the rest
    real_rate: f32 = 1.0;
    /// Weight decay of the king-dependent rows, relative to the learning rate
    real_decay: f32 = 0.0;
    /// Weight decay of the rows that all kings share, relative to the learning rate
    factor_decay: f32 = 0.0;
    /// Weight decay of the dense layers, relative to the learning rate
    decay: f32 = 0.0;
    /// Share of the run, at its end, whose mean weights are the net: a hundred moments of it count alike. What is held
    /// out is then measured on the mean
    average: f64 = 0.0;
    /// Share of the run, at its end, in which the net is seen as its file will have it, weights and products rounded:
    /// what still learns takes that into account
    rounded: f64 = 0.0;
    /// What the mean activation of the accumulators' units counts beside the loss: more makes units silent
    sparsity: f32 = 0.0;
    /// What is minimised
    loss: LossKind = LossKind::Mse;
    /// The power of `--loss power`
    loss_exponent: f32 = 2.5;
    /// Weight of the score against the game's result, at the start
    lambda: f32 = 0.8;
    /// The same at the end, reached in a straight line; negative for no change
    #[arg(allow_negative_numbers = true)]
    lambda_end: f32 = -1.0;
    /// Engine units of score at which the expected result is 73 %
    scale: f32 = 361.0;
    /// Multiplies what the written net says, where the labels' units are not the engine's
    output_scale: f32 = 1.0;
    /// Largest |score| to learn from, in engine units
    max_score: i16 = 3000;
    /// Plies of a game that are left out at its beginning
    min_ply: u16 = 0;
    /// Learn also from positions in check and those whose best move captures or promotes: for static labels
    #[arg(num_args = 0..=1, default_missing_value = "true")]
    any_position: bool = false;
    /// Learn from one in two positions beyond this |score|
    thin_beyond: i16 = i16::MAX;
    /// Share of every file, at its end, that is held out for validation (300,000 positions in all at most)
    holdout: f64 = 0.02;
    /// Millions of positions between validations
    every: f64 = 5.0;
    /// Millions of positions between checkpoints, beside those after the first batch, at Ctrl-C and at the end; 0 for
    /// none between
    checkpoint_every: f64 = 25.0;
    /// Memory for the run in GB; what the model leaves of it holds positions, which are shown in random order while the
    /// next ones come in from the files
    memory: f64 = default_memory();
    /// Threads
    threads: usize = default_threads(), "all cores";
    /// Seed of everything random
    seed: u64 = 1;
}

/// The help of `l1`, which says what there is.
fn width_help() -> String {
    let (names, published) = (shapes::names(), Architecture::HALF_KP.l1);
    format!(
        "Width of an accumulator ({names}); a net of a width other than {published} is of our own kind as well \
         [default: {published}]"
    )
}

fn default_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Gigabytes: enough to mix a hundred million positions, where there can be so much.
fn default_memory() -> f64 {
    if cfg!(target_pointer_width = "64") {
        4.0
    } else {
        0.75
    }
}

/// Settings that may change when a run is taken up again, because they do not change what it learns.
const FREE: &[&str] = &["out", "every", "checkpoint-every", "minutes"];

impl Overrides {
    /// The settings of a TOML file.
    ///
    /// # Errors
    /// When the file cannot be read or holds something that is no setting; the message names the line.
    pub fn from_file(path: &Path) -> Result<Self> {
        let text = read_text(path).with_context(|| format!("cannot read {}", path.display()))?;
        toml::from_str(&text).with_context(|| format!("{} is no configuration", path.display()))
    }
}

impl Config {
    /// The shape of the net.
    ///
    /// # Errors
    /// When there is no such net, naming the setting and what it can be.
    pub fn architecture(&self) -> Result<Architecture> {
        let of = Architecture::of_settings;
        let (features, psqt) = (self.king_features()?, self.psqt);
        let error = match of(features, self.l1, self.activation, self.buckets, psqt) {
            Ok(architecture) => return Ok(architecture),
            Err(error) => error,
        };
        let activation = self.activation;
        let (setting, found) = match error.what {
            "features" => ("features", features.to_string()),
            "width" => ("l1", self.l1.to_string()),
            "activation" => ("activation", activation.to_string()),
            "piece-square values" => bail!(
                "psqt is {psqt}, but there are no such nets of {features} with l1 {} and activation {activation}",
                self.l1
            ),
            what => (what, error.found.to_string()),
        };
        let name = |&code: &u32| match error.what {
            "activation" => Activation::value_variants()
                .iter()
                .find(|&&activation| activation as u32 == code)
                .map_or(code.to_string(), Activation::to_string),
            _ => code.to_string(),
        };
        let supported: Vec<String> = error.supported.iter().map(name).collect();
        let supported = shapes::list(&supported);
        let psqt = if psqt && setting == "buckets" {
            " and psqt"
        } else {
            ""
        };
        bail!("{setting} is {found}, but must be {supported} with {features}{psqt}")
    }

    /// The features with the king buckets that were asked for.
    fn king_features(&self) -> Result<Features> {
        let (features, kings) = (self.features, self.king_buckets);
        if kings == 0 {
            return Ok(features);
        }
        let Some(found) = features.with_king_buckets(kings) else {
            let mut there = features.king_buckets();
            there.reverse();
            let there = shapes::list(&there);
            bail!("king-buckets is {kings}, but must be {there} with {features}");
        };
        Ok(found)
    }

    /// Refuses values that cannot be meant.
    ///
    /// # Errors
    /// The first setting that is out of its range.
    pub fn check(&self) -> Result<()> {
        self.architecture()?;
        let positive = [
            ("batch", self.batch as f64),
            ("threads", self.threads as f64),
            ("millions", self.millions),
            ("rate", f64::from(self.rate)),
            ("scale", f64::from(self.scale)),
            ("output-scale", f64::from(self.output_scale)),
            ("every", self.every),
            ("step-every", self.step_every),
            ("memory", self.memory),
        ];
        for (name, value) in positive {
            if !(value > 0.0 && value.is_finite()) {
                bail!("{name} is {value}, but must be more than 0");
            }
        }
        let at_most = [
            ("batch", self.batch as f64, f64::from(1 << 24)),
            ("threads", self.threads as f64, 1024.0),
            ("millions", self.millions, 1e9),
        ];
        for (name, value, most) in at_most {
            if value > most {
                bail!("{name} is {value}, but must be {most} at most");
            }
        }
        for (name, value) in [("lambda", self.lambda), ("lambda-end", self.lambda_end)] {
            if value > 1.0 || value.is_nan() || (name == "lambda" && value < 0.0) {
                bail!("{name} is {value}, but must be from 0 to 1");
            }
        }
        for (name, share) in [("holdout", self.holdout), ("average", self.average)] {
            if !(0.0..1.0).contains(&share) {
                bail!("{name} is {share}, but must be from 0 to below 1");
            }
        }
        if !(0.0..=1.0).contains(&self.rounded) {
            bail!("rounded is {}, but must be from 0 to 1", self.rounded);
        }
        let at_least = [
            ("warm-up", self.warm_up, 0.0),
            ("decay", self.decay.into(), 0.0),
            ("real-decay", self.real_decay.into(), 0.0),
            ("factor-decay", self.factor_decay.into(), 0.0),
            ("sparsity", self.sparsity.into(), 0.0),
            ("loss-exponent", self.loss_exponent.into(), 1.0),
        ];
        for (name, value, least) in at_least {
            if !(value >= least && value.is_finite()) {
                bail!("{name} is {value}, but must be {least} or more");
            }
        }
        Ok(())
    }

    /// The weight of the score at the end: what validation uses all the time, so that its losses compare.
    pub fn last_lambda(&self) -> f32 {
        if self.lambda_end < 0.0 {
            self.lambda
        } else {
            self.lambda_end
        }
    }

    /// What is minimised at the end.
    pub fn last_loss(&self) -> Loss {
        Loss {
            kind: self.loss,
            lambda: self.last_lambda(),
            scale: self.scale,
            exponent: self.loss_exponent,
            sparsity: self.sparsity,
        }
    }

    /// The setting by which a run with these settings would go on otherwise than one with `other`: its name and both
    /// values.
    pub fn difference(&self, other: &Self) -> Option<String> {
        let values = |config: &Self| match serde_json::to_value(config) {
            Ok(serde_json::Value::Object(values)) => values,
            _ => serde_json::Map::new(),
        };
        let theirs = values(other);
        values(self)
            .into_iter()
            .filter(|(name, _)| !FREE.contains(&name.as_str()))
            .find(|(name, value)| theirs.get(name) != Some(value))
            .map(|(name, value)| {
                let other = theirs
                    .get(&name)
                    .map_or("absent".into(), ToString::to_string);
                format!("{name} is {value} in one and {other} in the other")
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_goes_before_the_file_and_the_file_before_the_default() {
        let file: Overrides = toml::from_str(
            "files = ['a.bin']\nsampled = ['b.bin']\nmillions = 7\nlambda = 0.5\nloss = 'bce'\nany-position = true",
        )
        .unwrap();
        let line = Overrides {
            lambda: Some(0.9),
            ..Overrides::default()
        };
        let both = line.or(file);
        let config = both.resolved();
        assert_eq!(both.files, [PathBuf::from("a.bin")]);
        assert_eq!(both.sampled, [PathBuf::from("b.bin")]);
        assert_eq!((config.millions, config.lambda), (7.0, 0.9));
        assert_eq!((config.loss, config.any_position), (LossKind::Bce, true));
        assert_eq!(config.batch, 16_384);
        assert!(config.check().is_ok());
    }

    #[test]
    fn what_is_no_setting_is_refused() {
        let error = toml::from_str::<Overrides>("milions = 7").unwrap_err();
        assert!(error.to_string().contains("milions"), "{error}");
        for (name, text) in [
            ("batch", "batch = 0"),
            ("batch", "batch = 9223372036854775807"),
            ("threads", "threads = 9223372036854775807"),
            ("millions", "millions = 1e300"),
            ("lambda", "lambda = 1.5"),
            ("holdout", "holdout = 1.0"),
            ("rate", "rate = nan"),
            ("average", "average = 1.0"),
            ("rounded", "rounded = 1.5"),
            ("decay", "decay = -1"),
            ("real-decay", "real-decay = nan"),
            ("factor-decay", "factor-decay = -1"),
            ("loss-exponent", "loss-exponent = 0.5"),
            ("l1", "l1 = 300"),
            ("king-buckets is 5, but must be 64", "king-buckets = 5"),
            (
                "king-buckets is 5, but must be 1, 4, 8, 16 or 32",
                "features = 'half-kav2-hm'\nking-buckets = 5",
            ),
            ("psqt is true", "psqt = true"),
            (
                "buckets is 1, but must be 8 with HalfKAv2_hm and psqt",
                "features = 'half-kav2-hm'\nl1 = 1024\nactivation = 'pairwise'\npsqt = true",
            ),
        ] {
            let config = toml::from_str::<Overrides>(text).unwrap().resolved();
            let error = config.check().unwrap_err().to_string();
            assert!(error.starts_with(name), "{error}");
        }
    }

    #[test]
    fn a_difference_is_named() {
        let config = Overrides::default().resolved();
        let mut other = config.clone();
        other.every = 1.0;
        assert_eq!(config.difference(&other), None);
        other.seed = 9;
        assert!(config.difference(&other).unwrap().contains("seed is 1"));
    }
}
