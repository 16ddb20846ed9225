//! Settings of a run. Each is declared once: its name on the command line and in a TOML file, its default, its help.
//!
//! The command line overrides the file, and the file overrides the default. The shape of the net is a setting of its
//! own, see [`architecture`](super::architecture).

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use super::shape::{KingBuckets, Layers, Preset};
use crate::nnue::features::attack_inputs::AttackInputs;
use crate::nnue::{Activation, Architecture, Features};
use crate::train::model::shapes;
use crate::train::step::layers::{Loss, LossKind};
use crate::util::quantity::in_digits;
use crate::util::text::{Shown as _, read_text};

/// Schedule of the learning rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum ScheduleKind {
    /// Half a cosine, from `rate` to `final-rate` times it.
    Cosine,
    /// A straight line, from `rate` to `final-rate` times it.
    Linear,
    /// A constant factor for every position, from `rate` to `final-rate` times it.
    Exponential,
    /// Multiplied by `step-factor` after every `step-every` million positions.
    Step,
    /// Constant.
    Constant,
}

/// Log in addition to the `.tsv`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum LogKind {
    /// None.
    None,
    /// Comma-separated values: `.csv`.
    Csv,
    /// Event file of TensorBoard: `.tfevents`.
    Tensorboard,
}

/// Headings of `--help`. Settings under a heading are for special cases; `-h` does not list them.
const MAIN: Option<&str> = None;
const SHAPE: Option<&str> = Some("Parts of the shape");
const RATE: Option<&str> = Some("Steps and learning rate");
const OVERFITTING: Option<&str> = Some("Overfitting and rounding");
const LOSS: Option<&str> = Some("Loss");
const POSITIONS: Option<&str> = Some("Choice of positions");
const REPORTS: Option<&str> = Some("Validations and checkpoints");

/// Declares the settings as `Overrides`, with optional values, and as `Config`, with a value for each.
macro_rules! settings {
    ($($heading:ident {$(
        $(#[doc = $help:literal])+ $(#[arg($($extra:tt)*)])? $name:ident: $kind:ty = $default:expr $(, $shown:literal)?;
    )*})*) => {
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
            /// Shape of the net [default: that of the resumed checkpoint or of `--init`, else the engine's own]
            #[arg(long, value_enum)]
            pub shape: Option<Preset>,
            $($(
                $(#[doc = $help])+
                #[arg(long, help_heading = $heading, hide_short_help = $heading.is_some())]
                #[arg(help = help(concat!($($help),+), shown!($default $(, $shown)?)))]
                $(#[arg($($extra)*)])?
                pub $name: Option<$kind>,
            )*)*
        }

        /// The settings of a run.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case", default)]
        pub struct Config {
            $($($(#[doc = $help])+ pub $name: $kind,)*)*
        }

        impl Default for Config {
            /// Returns the defaults, with the shape of Stockfish 12's nets. Settings missing from an older checkpoint
            /// also have these values.
            fn default() -> Self {
                Self { $($($name: $default,)*)* }
            }
        }

        impl Overrides {
            /// Returns these settings, and those of `other` where they are absent here. A shape given here replaces
            /// that of `other` with all its parts.
            pub fn or(self, mut other: Self) -> Self {
                if self.shape.is_some() {
                    other.clear_shape();
                }
                let or = |mine: Vec<PathBuf>, theirs| if mine.is_empty() { theirs } else { mine };
                let files = or(self.files, other.files);
                let sampled = or(self.sampled, other.sampled);
                let shape = self.shape.or(other.shape);
                Self { files, sampled, shape, $($($name: self.$name.or(other.$name),)*)* }
            }

            /// Returns these settings. Absent ones are the parts of `shape`, or else the defaults.
            pub fn resolved(&self, shape: Architecture) -> Config {
                let base = Config::default().with_shape(shape);
                Config { $($($name: self.$name.clone().unwrap_or(base.$name),)*)* }
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
    MAIN {
        /// Net file to write; updated at every validation. Checkpoint, log and plot are written next to it
        out: PathBuf = PathBuf::from("trained.nnue");
        /// Positions to train on, in millions; repetitions count
        millions: f64 = 100.0;
        /// Stop after this many minutes at the latest; the schedules then follow the clock, and resuming is not exact;
        /// 0 for no limit
        minutes: f64 = 0.0;
        /// Learning rate at the start
        rate: f32 = 0.004;
        /// Weight of the score relative to the game result, at the start
        lambda: f32 = 0.8;
        /// Engine units of score at which the expected result is 73 %
        scale: f32 = 361.0;
        /// Largest |score| of a training position, in engine units
        max_score: i16 = 3000;
        /// Memory for the run in GB; memory not needed for the model is the shuffle buffer, which is refilled from the
        /// files during training
        memory: f64 = default_memory();
        /// Threads
        threads: usize = default_threads(), "all cores";
        /// Seed of all random numbers
        seed: u64 = 1;
    }
    SHAPE {
        /// Feature set
        #[arg(value_parser = shapes::features())]
        features: Features = Features::HalfKp, "that of the shape";
        /// Buckets of own king squares with half-kav2-hm: 1, 4, 8 or 16 from a mirrored table, or 32, one for each
        /// mirrored pair. With any features: a table of 64 numbers from a1 to h8, as `0,0,1,...` or as a file. Fewer
        /// buckets train each row more often and give a smaller file
        #[arg(value_name = "BUCKETS")]
        king_buckets: KingBuckets = KingBuckets::Number(0), "that of the shape";
        /// Width of an accumulator
        #[arg(help = width_help())]
        l1: usize = Architecture::HALF_KP.l1;
        /// Activation of the accumulators: clipped ReLU, its square, or pairwise products with a skip connection from
        /// one output of the first layer
        #[arg(value_parser = shapes::activations())]
        activation: Activation = Activation::Crelu, "that of the shape";
        /// Outputs of the two hidden layers, 8, 16 or 32 each, such as 16,32; with pairwise products 16,32; or none,
        /// for weights of 16 bits from the accumulators to the output
        #[arg(value_name = "LAYERS")]
        layers: Layers = Layers::Usual, "that of the shape";
        /// Piece-square outputs that bypass the layers, one for each of eight buckets
        #[arg(num_args = 0..=1, default_missing_value = "true")]
        psqt: bool = false, "that of the shape";
        /// Layer stacks, selected by the number of pieces: 1 to 16; with piece-square outputs 8
        buckets: usize = 1, "that of the shape";
        /// Attack inputs with half-kav2-hm: `to-enemy` for the kind of each attacker, and the kind and square of the
        /// enemy piece that it attacks
        #[arg(value_parser = shapes::attacks())]
        attacks: AttackInputs = AttackInputs::None, "that of the shape";
    }
    RATE {
        /// Positions per step
        batch: usize = 16_384;
        /// Schedule of the learning rate
        schedule: ScheduleKind = ScheduleKind::Cosine;
        /// Share of the learning rate at which the schedules cosine, linear and exponential end
        final_rate: f32 = 0.01;
        /// Millions of positions after which the step schedule steps
        step_every: f64 = 100.0;
        /// Factor by which the step schedule multiplies the learning rate
        step_factor: f32 = 0.3;
        /// Millions of positions over which the learning rate rises from 0
        warm_up: f64 = 0.0;
        /// Learning rate of the king-dependent rows, relative to the other parameters
        real_rate: f32 = 1.0;
        /// Start with the optimiser's moments of the `--init` checkpoint too; without effect for a net file
        #[arg(num_args = 0..=1, default_missing_value = "true")]
        keep_moments: bool = false;
        /// Learning rate of the attack inputs, relative to the other parameters: more than 1 for a trained net that has
        /// just got them
        attack_rate: f32 = 1.0;
    }
    OVERFITTING {
        /// Weight decay of the dense layers, relative to the learning rate
        decay: f32 = 0.0;
        /// Weight decay of the rows that all kings share, relative to the learning rate
        factor_decay: f32 = 0.0;
        /// Weight decay of the king-dependent rows, relative to the learning rate
        real_decay: f32 = 0.0;
        /// Weight of the accumulators' mean activation in the loss: larger values make more units inactive
        sparsity: f32 = 0.0;
        /// Share of the run, at its end, over which the weights are averaged. The net is the unweighted mean of about
        /// 100 models, and the validation loss is measured on it
        average: f64 = 0.0;
        /// Share of the run, at its end, in which weights and products are rounded as in the net file
        /// (quantisation-aware training)
        rounded: f64 = 0.0;
    }
    LOSS {
        /// Loss function
        loss: LossKind = LossKind::Mse;
        /// Exponent of `--loss power`
        loss_exponent: f32 = 2.5;
        /// Weight of the score at the end; negative for no change
        #[arg(allow_negative_numbers = true)]
        lambda_end: f32 = -1.0;
        /// Number of equal steps in which the weight of the score changes; 0 for a straight line
        lambda_steps: u32 = 0;
        /// Factor for the outputs of the written net, if the labels' units are not the engine's
        output_scale: f32 = 1.0;
    }
    POSITIONS {
        /// Plies to skip at the start of each game
        min_ply: u16 = 0;
        /// Also train on positions in check and positions whose best move is a capture or promotion: for static labels
        #[arg(num_args = 0..=1, default_missing_value = "true")]
        any_position: bool = false;
        /// Use only one in two positions with a larger |score|
        thin_beyond: i16 = i16::MAX;
        /// Share of every file, at its end, that is held out for validation (at most 300,000 positions in total)
        holdout: f64 = 0.02;
    }
    REPORTS {
        /// Millions of positions between validations
        every: f64 = 5.0;
        /// Millions of positions between checkpoints, in addition to those after the first batch, on Ctrl-C and at the
        /// end; 0 for no others
        checkpoint_every: f64 = 25.0;
        /// Log next to the net in addition to the .tsv, written at every validation: csv (.csv), or tensorboard
        /// (.tfevents), which TensorBoard reads
        log: LogKind = LogKind::None;
    }
}

/// Returns the help of `l1`, with the trainable widths.
fn width_help() -> String {
    format!("Width of an accumulator: {} [default: that of the shape]", shapes::width_names())
}

fn default_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Default memory in GB. On 64-bit targets it is enough to shuffle a hundred million positions.
fn default_memory() -> f64 {
    if cfg!(target_pointer_width = "64") { 4.0 } else { 0.75 }
}

/// Settings that do not affect the training.
const FREE: &[&str] = &["out", "every", "checkpoint-every", "minutes", "log"];
/// Settings that cannot change on resumption: the shape of the net, and the order of the positions.
const FIXED: &[&str] = &[
    "features",
    "king-buckets",
    "l1",
    "activation",
    "layers",
    "psqt",
    "buckets",
    "seed",
    "memory",
    "thin-beyond",
    "holdout",
    "max-score",
    "min-ply",
    "any-position",
];

/// A setting that differs between a command and a checkpoint.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Name of the setting.
    pub name: String,
    /// Value in the checkpoint.
    pub before: String,
    /// Value in the command.
    pub now: String,
}

impl Change {
    /// Whether a resumed run cannot have this change.
    pub fn is_fixed(&self) -> bool {
        FIXED.contains(&self.name.as_str())
    }
}

impl Overrides {
    /// Reads the settings of a TOML file.
    ///
    /// # Errors
    /// Fails if the file cannot be read or contains an unknown setting or a wrong value; the message names the line.
    pub fn from_file(path: &Path) -> Result<Self> {
        let text = read_text(path).with_context(|| format!("cannot read {}", path.shown()))?;
        let settings = Self::from_toml(&text);
        settings.with_context(|| format!("cannot parse {} as a training configuration", path.shown()))
    }

    /// Reads the text of a TOML file. A number can be a string with a suffix: `batch = "16k"`.
    fn from_toml(text: &str) -> Result<Self, toml::de::Error> {
        toml::from_str(text).or_else(|error| Self::with_suffixes(text).ok_or(error))
    }

    /// The settings of a text with its suffixes written out; `None` if it has other faults.
    fn with_suffixes(text: &str) -> Option<Self> {
        let command = <Self as clap::Args>::augment_args(clap::Command::new(""));
        let mut table: toml::Table = text.parse().ok()?;
        for (name, value) in &mut table {
            let option = command.get_arguments().find(|option| option.get_long() == Some(name.as_str()));
            let Some(digits) = option.zip(value.as_str()).and_then(|(option, text)| in_digits(option, text)) else {
                continue;
            };
            // Settings that are integers take no other numbers.
            let whole = digits.parse().map(toml::Value::Integer);
            *value = whole.or_else(|_| digits.parse().map(toml::Value::Float)).ok()?;
        }
        table.try_into().ok()
    }
}

impl Config {
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
            ("attack-rate", self.attack_rate.into(), 0.0),
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

    /// The settings that differ from `other`, those of a checkpoint, and affect the training.
    pub fn changes(&self, other: &Self) -> Vec<Change> {
        let theirs = other.values();
        let changed = |(name, now): (String, String)| {
            let before = theirs.iter().find(|(other, _)| *other == name).map_or("absent", |(_, value)| value);
            let before = before.to_owned();
            (before != now && !FREE.contains(&name.as_str())).then_some(Change { name, before, now })
        };
        self.values().into_iter().filter_map(changed).collect()
    }

    /// Names and values of all settings, as the user types them. Settings can spell the same shape in two ways; the
    /// values have one of them.
    pub fn values(&self) -> Vec<(String, String)> {
        let config = self
            .architecture()
            .map_or(self.clone(), |shape| Self { layers: Layers::of(shape.hidden), ..self.clone().with_shape(shape) });
        // As text, because numbers of 32 bits get more digits as JSON values.
        let json = serde_json::to_string(&config).unwrap_or_default();
        let values: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&json).unwrap_or_default();
        let text = |value: serde_json::Value| match value {
            serde_json::Value::String(text) => text,
            value => value.to_string().trim_end_matches(".0").to_owned(),
        };
        values.into_iter().map(|(name, value)| (name, text(value))).collect()
    }

    /// The settings that affect the training, as JSON on one line.
    pub fn to_json(&self) -> String {
        let kept = |(name, _): &(String, String)| !FREE.contains(&name.as_str());
        let values: std::collections::BTreeMap<_, _> = self.values().into_iter().filter(kept).collect();
        serde_json::to_string(&values).unwrap_or_default()
    }

    /// All settings in lines of at most 100 characters, to be printed.
    pub fn lines(&self) -> String {
        let mut text = String::from("settings");
        let mut width = text.len();
        for (name, value) in self.values() {
            let part = format!(" {name} {value},");
            if width + part.len() > 100 {
                text += "\n        ";
                width = 8;
            }
            width += part.len();
            text += &part;
        }
        text.trim_end_matches(',').to_owned()
    }
}

impl Overrides {
    /// Checks that no given setting contradicts another one. `config` has the values of all settings, and `all_sampled`
    /// is whether the results of all positions are ignored.
    ///
    /// # Errors
    /// Names the two settings.
    pub fn check_contradictions(&self, config: &Config, all_sampled: bool) -> Result<()> {
        let Config { loss, schedule, warm_up, millions, minutes, .. } = config;
        if self.loss_exponent.is_some() && *loss != LossKind::Power {
            bail!("loss-exponent is for --loss power, but the loss is {}", value_of(*loss));
        }
        let falls = [ScheduleKind::Cosine, ScheduleKind::Linear, ScheduleKind::Exponential];
        let schedules = [
            ("final-rate", self.final_rate.is_some(), &falls[..]),
            ("step-every", self.step_every.is_some(), &[ScheduleKind::Step]),
            ("step-factor", self.step_factor.is_some(), &[ScheduleKind::Step]),
        ];
        for (name, given, allowed) in schedules {
            if given && !allowed.contains(schedule) {
                let allowed: Vec<String> = allowed.iter().copied().map(value_of).collect();
                bail!("{name} is for --schedule {}, but the schedule is {}", allowed.join(" or "), value_of(*schedule));
            }
        }
        if *schedule == ScheduleKind::Exponential && config.final_rate <= 0.0 {
            bail!("final-rate is {}, but must be more than 0 with --schedule exponential", config.final_rate);
        }
        if self.lambda_steps.is_some_and(|steps| steps > 0) && config.lambda_end < 0.0 {
            bail!("lambda-steps is for a weight that changes: add --lambda-end");
        }
        if *warm_up > *millions && *minutes <= 0.0 {
            bail!("warm-up is {warm_up} million positions, but the whole run has {millions}: use a smaller --warm-up");
        }
        let lambdas = [("lambda", self.lambda), ("lambda-end", self.lambda_end)];
        if all_sampled
            && let Some((name, value)) = lambdas.iter().find_map(|(name, lambda)| {
                lambda.filter(|lambda| (0.0..1.0).contains(lambda)).map(|lambda| (name, lambda))
            })
        {
            bail!(
                "{name} is {value}, but all positions are samples, whose results are no labels: leave out --{name}, or \
                 add positions of games"
            );
        }
        Ok(())
    }
}

/// The name of a choice on the command line.
fn value_of(choice: impl clap::ValueEnum) -> String {
    choice.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_a_file_can_have_suffixes() {
        let text = "batch = '16k'\nmillions = '2.5M'\nseed = '3'";
        let error = Overrides::from_toml(text).expect_err("a number as text").to_string();
        assert!(error.contains("batch"), "{error}");
        let settings = Overrides::from_toml(text.trim_end_matches("\nseed = '3'")).unwrap();
        assert_eq!((settings.batch, settings.millions), (Some(16_000), Some(2.5)));
    }

    #[test]
    fn command_line_overrides_file_and_file_overrides_default() {
        let file: Overrides = toml::from_str(
            "files = ['a.bin']\nsampled = ['b.bin']\nmillions = 7\nlambda = 0.5\nloss = 'bce'\nany-position = true",
        )
        .unwrap();
        let line = Overrides { lambda: Some(0.9), ..Overrides::default() };
        let both = line.or(file);
        let config = both.resolved(Preset::Small.architecture());
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
                "buckets is 1, but must be 8 with HalfKAv2_hm, activation pairwise and layers 16,32, and psqt",
                "features = 'half-kav2-hm'\nl1 = 1024\nactivation = 'pairwise'\npsqt = true",
            ),
        ] {
            let config = toml::from_str::<Overrides>(text).unwrap().resolved(Architecture::HALF_KP);
            let error = config.check().unwrap_err().to_string();
            assert!(error.starts_with(name), "{error}");
        }
    }

    #[test]
    fn difference_names_changed_setting() {
        let config = Config::default();
        let mut other = config.clone();
        other.every = 1.0;
        assert_eq!(config.changes(&other), []);
        (other.seed, other.rate) = (9, 0.0008);
        let changes = other.changes(&config);
        let texts: Vec<_> = changes.iter().map(|c| format!("{} {} {}", c.name, c.before, c.now)).collect();
        // Rates have the digits that the user typed.
        assert_eq!(texts, ["rate 0.004 0.0008", "seed 1 9"]);
        assert_eq!(changes.iter().map(Change::is_fixed).collect::<Vec<_>>(), [false, true]);
    }

    #[test]
    fn contradictory_settings_are_rejected_by_name() {
        let shape = Preset::Small.architecture();
        for (text, sampled, reason) in [
            ("loss = 'bce'\nloss-exponent = 2.6", false, "loss-exponent is for --loss power, but the loss is bce"),
            ("loss-exponent = 2.6", false, "loss-exponent is for --loss power"),
            (
                "schedule = 'constant'\nfinal-rate = 0.1",
                false,
                "final-rate is for --schedule cosine or linear or exponential",
            ),
            ("schedule = 'exponential'\nfinal-rate = 0.0", false, "final-rate is 0, but must be more than 0"),
            ("lambda-steps = 3", false, "lambda-steps is for a weight that changes"),
            ("step-every = 10", false, "step-every is for --schedule step, but the schedule is cosine"),
            ("step-factor = 0.1", false, "step-factor is for --schedule step"),
            ("millions = 5\nwarm-up = 6", false, "warm-up is 6 million positions, but the whole run has 5"),
            ("lambda = 0.5", true, "lambda is 0.5, but all positions are samples"),
            ("lambda-end = 0.0", true, "lambda-end is 0, but all positions are samples"),
        ] {
            let settings = toml::from_str::<Overrides>(text).unwrap();
            let error = settings.check_contradictions(&settings.resolved(shape), sampled).unwrap_err().to_string();
            assert!(error.starts_with(reason), "{error}");
        }
        for (text, sampled) in [
            ("loss = 'power'\nloss-exponent = 2.6", false),
            ("lambda = 0.5", false),
            ("lambda = 1.0", true),
            ("lambda-end = -1.0", true),
            ("minutes = 5\nmillions = 5\nwarm-up = 6", true),
        ] {
            let settings = toml::from_str::<Overrides>(text).unwrap();
            assert!(settings.check_contradictions(&settings.resolved(shape), sampled).is_ok(), "{text}");
        }
    }
}
