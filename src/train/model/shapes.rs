//! Trainable net shapes: Zoothera's own architectures with two hidden layers of 32.
//!
//! Types that keep a model for longer than a step (the model, the moments, checkpoints, the integer net) have their
//! size at run time. Types that compute on it (backend, snapshot, shards, trainer) have the width as a const
//! parameter, so that every trip count is a compile-time constant. A run selects the width once, at its start.

use clap::ValueEnum;

use crate::nnue::{Architecture, Features};

/// Selects the instance of a function for the width of an architecture, from the engine's list of compiled sizes.
/// Returns an error from the caller if nets of that size cannot be trained.
macro_rules! of_width {
    ($function:ident, $architecture:ident) => {
        $crate::nnue::architecture::compiled!(of_width, $function, $architecture)
    };
    (
        ($function:ident $architecture:ident)
        own { $($own:ident: $own_features:ident, $l1:literal, $own_psqt:literal, $own_pass:ident;)+ }
        published {
            $($name:ident: $features:ident, $threat_inputs:ident, $other:literal, $psqt:literal, $pass:ident;)+
        }
    ) => {{
        use $crate::nnue::architecture::Compiled;
        match $architecture.compiled() {
            $(Compiled::$own => $function::<$l1>,)+
            $(Compiled::$name)|+ => anyhow::bail!("{} cannot be trained", $architecture),
        }
    }};
}
pub(in crate::train) use of_width;

/// Returns every architecture that can be trained.
pub fn all() -> impl Iterator<Item = Architecture> {
    let mut all: Vec<Architecture> = Architecture::own().filter_map(|own| own.trained()).collect();
    all.dedup();
    all.into_iter()
}

/// Returns the trainable widths with features of this kind.
fn widths(features: Features) -> Vec<usize> {
    let kind = |features: Features| features.set().code;
    let with = all().filter(|shape| kind(shape.features) == kind(features));
    let mut widths: Vec<usize> = with.map(|shape| shape.l1).collect();
    widths.sort_unstable();
    widths.dedup();
    widths
}

/// Returns the trainable shapes as text: `HalfKP of width 128, 256 or 512; ...`.
pub fn names() -> String {
    let sets = Features::value_variants().iter().map(|&features| (features, widths(features)));
    let name = |(features, widths): (Features, Vec<usize>)| format!("{features} of width {}", list(&widths));
    sets.map(name).collect::<Vec<_>>().join("; ")
}

/// Formats choices as `1, 2 or 3`.
pub fn list(choices: &[impl ToString]) -> String {
    let choices: Vec<String> = choices.iter().map(ToString::to_string).collect();
    match choices.split_last() {
        None => String::new(),
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
    }
}

/// Returns shapes for tests: every width and activation once, with few king buckets to save time. The trainer's code
/// depends only on the width.
#[cfg(test)]
pub fn for_tests() -> impl Iterator<Item = Architecture> {
    use crate::nnue::Activation;
    all().filter(|shape| match (shape.l1, shape.activation) {
        (256, Activation::Crelu) => shape.buckets == 8,
        (256, Activation::Screlu) => shape.buckets == 1,
        (256, _) => shape.features.set().kings == 4,
        (1024, _) => shape.features.set().kings == 8,
        _ => shape.features.set().kings == 1,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nnue::Activation;

    #[test]
    fn command_line_offers_trainable_shapes() {
        let offered = Features::value_variants();
        for &features in offered {
            assert!(all().any(|shape| shape.features == features));
        }
        // Sets with fewer king buckets are selected by `--king-buckets`.
        let kind = |features: Features| features.set().code;
        assert!(all().all(|shape| offered.iter().any(|&of| kind(of) == kind(shape.features))));
        assert!(all().any(|shape| shape.activation == Activation::Screlu));
        assert!(all().all(|shape| Activation::value_variants().contains(&shape.activation)));
        assert_eq!(names(), "HalfKP of width 256; HalfKAv2_hm of width 256, 1024 or 1536");
    }
}
