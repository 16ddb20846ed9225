//! Settings of a run. Each is declared once: its name on the command line and in a TOML file, its default, its help.
//!
//! The command line overrides the file, and the file overrides the default.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use crate::nnue::{Activation, Architecture, Features};
use crate::train::model::shapes;
use crate::train::step::loss::{Loss, LossKind};
use crate::util::encoding::read_text;

/// Schedule of the learning rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum ScheduleKind {
    /// Half a cosine, from `rate` to `final-rate` times it.
    Cosine,
    /// Multiplied by `step-factor` after every `step-every` million positions.
    Step,
    /// Constant.
    Constant,
}

/// Declares the settings as `Overrides`, with optional values, and as `Config`, with a value for each.
macro_rules! settings {
    ($(
        $(#[doc = $help:literal])+ $(#[arg($($extra:tt)*)])? $name:ident: $kind:ty = $default:expr $(, $shown:literal)?;
    )*) => {
        /// The settings that were given; the others are `None`.
        #[derive(Clone, Debug, Default, clap::Args, Deserialize)]
        #[serde(rename_all = "kebab-case", deny_unknown_fields)]
        pub struct Overrides {
            /// Files of training positions: `.bin`, `.binpack` or `.plain`
            #[serde(default)]
            pub files: Vec<PathBuf>,
            /// File of positions sampled from search trees, as written by `datagen sample`: every position is used;
            /// game results are ignored. Can be given several times
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
            /// Returns the defaults. Settings missing from an older checkpoint also have these values.
            fn default() -> Self {
                Overrides::default().resolved()
            }
        }

        impl Overrides {
            /// Returns these settings, and those of `other` where they are absent here.
            pub fn or(self, other: Self) -> Self {
                let or = |mine: Vec<PathBuf>, theirs| if mine.is_empty() { theirs } else { mine };
                let files = or(self.files, other.files);
                let sampled = or(self.sampled, other.sampled);
                Self { files, sampled, $($name: self.$name.or(other.$name),)* }
            }

            /// Returns these settings, and the defaults where they are absent.
            pub fn resolved(&self) -> Config {
                Config { $($name: self.$name.clone().unwrap_or($default),)* }
            }
        }
    };
}

/// Formats a default for the help text.
macro_rules! shown {
    ($default:expr) => {
        serde_json::to_string(&$default).unwrap_or_default()
    };
    ($default:expr, $shown:literal) => {
        $shown.to_owned()
    };
}

/// Returns the help text of a setting with its default, which is in JSON.
fn help(text: &str, default: String) -> String {
    let default = default.trim_matches('"');
    let default = default.strip_suffix(".0").unwrap_or(default);
    format!("{} [default: {default}]", text.trim())
}

settings! {
    /// Net file to write; updated at every validation. Checkpoint, log and plot are written next to it
    out: PathBuf = PathBuf::from("trained.nnue");
    /// Activation of the accumulators: clipped ReLU, its square, or (with half-kav2-hm) pairwise products with a skip
    /// connection from one output of the first layer. A net with either of the last two has an architecture of
    /// Zoothera's own, which no other engine reads (but see `--psqt`)
    activation: Activation = Activation::Crelu;
    /// Width of an accumulator; a width other than 256 gives an architecture of Zoothera's own (but see `--psqt`)
    #[arg(help = width_help())]
    l1: usize = Architecture::HALF_KP.l1;
    /// Feature set of the net; half-kav2-hm gives an architecture of Zoothera's own (but see `--psqt`)
    features: Features = Features::HalfKp;
    /// Buckets of own king squares with half-kav2-hm: 1, 4, 8 or 16 from a mirrored table, or 32, one for each mirrored
    /// pair. Fewer buckets train each row more often and give a smaller file, but an architecture of Zoothera's own
    king_buckets: usize = 0, "one for each square or mirrored pair of squares";
    /// Add piece-square outputs that bypass the layers, one for each of eight buckets. Requires half-kav2-hm; with
    /// pairwise products and width 1024 the net has the architecture of Stockfish 15.1's
    #[arg(num_args = 0..=1, default_missing_value = "true")]
    psqt: bool = false;
    /// Layer stacks, selected by the number of pieces: 1 or 8; 8 gives an architecture of Zoothera's own (but
    /// see `--psqt`)
    buckets: usize = 1;
    /// Positions to train on, in millions; repetitions count
    millions: f64 = 100.0;
    /// Stop after this many minutes at the latest; the schedules then follow the clock, and resuming is not exact; 0
    /// for no limit
    minutes: f64 = 0.0;
    /// Positions per step
    batch: usize = 16_384;
    /// Learning rate at the start
    rate: f32 = 0.004;
    /// Schedule of the learning rate
    schedule: ScheduleKind = ScheduleKind::Cosine;
    /// Share of the learning rate at which the cosine ends
    final_rate: f32 = 0.01;
    /// Millions of positions after which the step schedule steps
    step_every: f64 = 100.0;
    /// Factor by which the step schedule multiplies the learning rate
    step_factor: f32 = 0.3;
    /// Millions of positions over which the learning rate rises from 0
    warm_up: f64 = 0.0;
    /// Learning rate of the king-dependent rows, relative to the other parameters
    real_rate: f32 = 1.0;
    /// Weight decay of the king-dependent rows, relative to the learning rate
    real_decay: f32 = 0.0;
    /// Weight decay of the rows that all kings share, relative to the learning rate
    factor_decay: f32 = 0.0;
    /// Weight decay of the dense layers, relative to the learning rate
    decay: f32 = 0.0;
    /// Share of the run, at its end, over which the weights are averaged. The net is the unweighted mean of about 100
    /// models, and the validation loss is measured on it
    average: f64 = 0.0;
    /// Share of the run, at its end, in which weights and products are rounded as in the net file (quantisation-aware
    /// training)
    rounded: f64 = 0.0;
    /// Weight of the accumulators' mean activation in the loss: larger values make more units inactive
    sparsity: f32 = 0.0;
    /// Loss function
    loss: LossKind = LossKind::Mse;
    /// Exponent of `--loss power`
    loss_exponent: f32 = 2.5;
    /// Weight of the score relative to the game result, at the start
    lambda: f32 = 0.8;
    /// Weight of the score at the end, reached linearly; negative for no change
    #[arg(allow_negative_numbers = true)]
    lambda_end: f32 = -1.0;
    /// Engine units of score at which the expected result is 73 %
    scale: f32 = 361.0;
    /// Factor for the outputs of the written net, if the labels' units are not the engine's
    output_scale: f32 = 1.0;
    /// Largest |score| of a training position, in engine units
    max_score: i16 = 3000;
    /// Plies to skip at the start of each game
    min_ply: u16 = 0;
    /// Also train on positions in check and positions whose best move is a capture or promotion: for static labels
    #[arg(num_args = 0..=1, default_missing_value = "true")]
    any_position: bool = false;
    /// Use only one in two positions with a larger |score|
    thin_beyond: i16 = i16::MAX;
    /// Share of every file, at its end, that is held out for validation (at most 300,000 positions in total)
    holdout: f64 = 0.02;
    /// Millions of positions between validations
    every: f64 = 5.0;
    /// Millions of positions between checkpoints, in addition to those after the first batch, on Ctrl-C and at the end;
    /// 0 for no others
    checkpoint_every: f64 = 25.0;
    /// Memory for the run in GB; memory not needed for the model is the shuffle buffer, which is refilled from the
    /// files during training
    memory: f64 = default_memory();
    /// Threads
    threads: usize = default_threads(), "all cores";
    /// Seed of all random numbers
    seed: u64 = 1;
}

/// Returns the help of `l1`, with the trainable widths.
fn width_help() -> String {
    let (names, published) = (shapes::names(), Architecture::HALF_KP.l1);
    format!(
        "Width of an accumulator ({names}); a width other than {published} gives an architecture of Zoothera's own \
         (but see `--psqt`) [default: {published}]"
    )
}

fn default_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Default memory in GB. On 64-bit targets it is enough to shuffle a hundred million positions.
fn default_memory() -> f64 {
    if cfg!(target_pointer_width = "64") { 4.0 } else { 0.75 }
}

/// Settings that may change on resumption, because they do not affect the training.
const FREE: &[&str] = &["out", "every", "checkpoint-every", "minutes"];

impl Overrides {
    /// Reads the settings of a TOML file.
    ///
    /// # Errors
    /// Fails if the file cannot be read or contains an unknown setting or a wrong value; the message names the line.
    pub fn from_file(path: &Path) -> Result<Self> {
        let text = read_text(path).with_context(|| format!("cannot read {}", path.display()))?;
        toml::from_str(&text).with_context(|| format!("cannot parse {} as a training configuration", path.display()))
    }
}

impl Config {
    /// Returns the shape of the net.
    ///
    /// # Errors
    /// Fails if no such net can be trained; the message names the setting and its possible values.
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
                "psqt is {psqt}, which is not supported for {features} with l1 {} and activation {activation}",
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
        let psqt = if psqt && setting == "buckets" { " and psqt" } else { "" };
        bail!("{setting} is {found}, but must be {supported} with {features}{psqt}")
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

    /// Checks that every setting is within its range.
    ///
    /// # Errors
    /// Names the first setting that is out of its range.
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
        for (name, value, max) in at_most {
            if value > max {
                bail!("{name} is {value}, but must be at most {max}");
            }
        }
        for (name, value) in [("lambda", self.lambda), ("lambda-end", self.lambda_end)] {
            if value > 1.0 || value.is_nan() || (name == "lambda" && value < 0.0) {
                bail!("{name} is {value}, but must be between 0 and 1");
            }
        }
        for (name, share) in [("holdout", self.holdout), ("average", self.average)] {
            if !(0.0..1.0).contains(&share) {
                bail!("{name} is {share}, but must be at least 0 and less than 1");
            }
        }
        if !(0.0..=1.0).contains(&self.rounded) {
            bail!("rounded is {}, but must be between 0 and 1", self.rounded);
        }
        let at_least = [
            ("warm-up", self.warm_up, 0.0),
            ("decay", self.decay.into(), 0.0),
            ("real-decay", self.real_decay.into(), 0.0),
            ("factor-decay", self.factor_decay.into(), 0.0),
            ("sparsity", self.sparsity.into(), 0.0),
            ("loss-exponent", self.loss_exponent.into(), 1.0),
        ];
        for (name, value, min) in at_least {
            if !(value >= min && value.is_finite()) {
                bail!("{name} is {value}, but must be at least {min}");
            }
        }
        Ok(())
    }

    /// Returns the weight of the score at the end. Every validation uses it, so that validation losses are comparable.
    pub fn last_lambda(&self) -> f32 {
        if self.lambda_end < 0.0 { self.lambda } else { self.lambda_end }
    }

    /// Returns the loss function at the end.
    pub fn last_loss(&self) -> Loss {
        Loss {
            kind: self.loss,
            lambda: self.last_lambda(),
            scale: self.scale,
            exponent: self.loss_exponent,
            sparsity: self.sparsity,
        }
    }

    /// Describes the first setting that differs from `other`, the settings of a checkpoint, and affects the training.
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
                let other = theirs.get(&name).map_or("absent".into(), ToString::to_string);
                format!("{name} is {value} in the settings and {other} in the checkpoint")
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_line_overrides_file_and_file_overrides_default() {
        let file: Overrides = toml::from_str(
            "files = ['a.bin']\nsampled = ['b.bin']\nmillions = 7\nlambda = 0.5\nloss = 'bce'\nany-position = true",
        )
        .unwrap();
        let line = Overrides { lambda: Some(0.9), ..Overrides::default() };
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
    fn unknown_or_invalid_settings_are_rejected() {
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
            ("king-buckets is 5, but must be 1, 4, 8, 16 or 32", "features = 'half-kav2-hm'\nking-buckets = 5"),
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
    fn difference_names_changed_setting() {
        let config = Overrides::default().resolved();
        let mut other = config.clone();
        other.every = 1.0;
        assert_eq!(config.difference(&other), None);
        other.seed = 9;
        assert!(config.difference(&other).unwrap().contains("seed is 1"));
    }
}
