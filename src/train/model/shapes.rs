//! The shapes of nets that can be trained: those of nets of our own with two hidden layers of 32.
//!
//! What holds a model for longer than a step (the model, the moments, checkpoints, the integer net) has the size that it
//! was made with. What computes on it (backend, snapshot, shards, trainer) has the width as a parameter, so that the
//! compiler knows every trip count; a run chooses among them once, when it begins.

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
            $($name:ident: $features:ident, $relations:ident, $other:literal, $psqt:literal, $pass:ident;)+
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

/// The widths that can be trained with these features.
fn widths(features: Features) -> Vec<usize> {
    let with = all().filter(|shape| shape.features == features);
    let mut widths: Vec<usize> = with.map(|shape| shape.l1).collect();
    widths.sort_unstable();
    widths.dedup();
    widths
}

/// What can be trained, in words: `HalfKP of width 128, 256 or 512; ...`.
pub fn names() -> String {
    let sets = Features::ALL
        .iter()
        .map(|&features| (features, widths(features)));
    let sets = sets.filter(|(_, widths)| !widths.is_empty());
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nnue::Activation;
    use clap::ValueEnum;

    #[test]
    fn the_command_line_offers_what_can_be_trained() {
        let mut features: Vec<Features> = all().map(|shape| shape.features).collect();
        features.dedup();
        assert_eq!(features, Features::value_variants());
        assert!(all().any(|shape| shape.activation == Activation::Screlu));
        assert!(all().all(|shape| Activation::value_variants().contains(&shape.activation)));
        assert_eq!(
            names(),
            "HalfKP of width 128, 256 or 512; HalfKAv2_hm of width 256, 512, 768 or 1024"
        );
    }
}
