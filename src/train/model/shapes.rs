//! The shapes of nets that can be trained: those of nets of our own with two hidden layers of 32.
//!
//! What holds a model for longer than a step (the model, the moments, checkpoints, the integer net) has the size that
//! it was made with. What computes on it (backend, snapshot, shards, trainer) has the width as a parameter, so that the
//! compiler knows every trip count; a run chooses among them once, when it begins.

use clap::ValueEnum;

use crate::nnue::{Architecture, Features};

/// The function of the width of an architecture, out of the engine's list of compiled sizes; returns an error from
/// the caller where nets of our own have no such size.
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

/// Every architecture that can be trained.
pub fn all() -> impl Iterator<Item = Architecture> {
    let mut all: Vec<Architecture> = Architecture::own()
        .filter_map(|own| own.trained())
        .collect();
    all.dedup();
    all.into_iter()
}

/// The widths that can be trained with features of this kind.
fn widths(features: Features) -> Vec<usize> {
    let kind = |features: Features| features.set().code;
    let with = all().filter(|shape| kind(shape.features) == kind(features));
    let mut widths: Vec<usize> = with.map(|shape| shape.l1).collect();
    widths.sort_unstable();
    widths.dedup();
    widths
}

/// What can be trained, in words: `HalfKP of width 128, 256 or 512; ...`.
pub fn names() -> String {
    let sets = Features::value_variants()
        .iter()
        .map(|&features| (features, widths(features)));
    let name = |(features, widths): (Features, Vec<usize>)| {
        format!("{features} of width {}", list(&widths))
    };
    sets.map(name).collect::<Vec<_>>().join("; ")
}

/// Choices as `1, 2 or 3`.
pub fn list(choices: &[impl ToString]) -> String {
    let choices: Vec<String> = choices.iter().map(ToString::to_string).collect();
    match choices.split_last() {
        None => String::new(),
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
    }
}

/// Shapes for tests: every width and activation once, with few king buckets, because the trainer's code depends on
/// the width alone.
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
    fn the_command_line_offers_what_can_be_trained() {
        let offered = Features::value_variants();
        for &features in offered {
            assert!(all().any(|shape| shape.features == features));
        }
        // Fewer king buckets are offered by a number.
        let kind = |features: Features| features.set().code;
        assert!(all().all(|shape| offered.iter().any(|&of| kind(of) == kind(shape.features))));
        assert!(all().any(|shape| shape.activation == Activation::Screlu));
        assert!(all().all(|shape| Activation::value_variants().contains(&shape.activation)));
        assert_eq!(
            names(),
            "HalfKP of width 256; HalfKAv2_hm of width 256, 1024 or 1536"
        );
    }
}
