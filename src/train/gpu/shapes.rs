//! The nets that a card can train: those with pairwise products, a skip connection and piece-square values.

use anyhow::{Result, bail};

use crate::nnue::architecture::Topology;
use crate::nnue::features::attack_inputs::AttackInputs;
use crate::nnue::{Activation, Architecture};
use crate::train::model::scales::HIDDEN;
use crate::train::model::shapes::{all, list};
use crate::train::model::topology::SKIP;

/// Accumulator widths must be multiples of this number to fill the shaders' workgroups.
const COLUMNS: usize = 128;

/// Whether a card can train nets of this shape.
fn is_supported(shape: &Architecture) -> bool {
    matches!(shape.topology, Topology::Skip { squares: true })
        && shape.activation == Activation::Pairwise
        && shape.hidden == [SKIP + 1, HIDDEN]
        && shape.psqt == shape.buckets
        && shape.l1.is_multiple_of(COLUMNS)
        && shape.attacks == AttackInputs::None
}

/// Returns every shape that a card can train.
pub fn supported() -> impl Iterator<Item = Architecture> {
    all().filter(is_supported)
}

/// Checks that a card can train nets of this shape.
///
/// # Errors
/// The error names the shapes that the card can train.
pub fn check(architecture: Architecture) -> Result<()> {
    if is_supported(&architecture) {
        return Ok(());
    }
    bail!(
        "a graphics card cannot train nets of the shape {architecture}: use --device cpu, or one of these shapes with \
         --features half-kav2-hm, --activation pairwise, --psqt, --buckets 8 and --attacks none: {}",
        names()
    )
}

/// Returns the shapes as text: `l1 256 with 1, 4, 8 or 16 king buckets; ...`.
fn names() -> String {
    let mut widths: Vec<usize> = supported().map(|shape| shape.l1).collect();
    widths.sort_unstable();
    widths.dedup();
    let of_width = |&l1: &usize| {
        let with = supported().filter(|shape| shape.l1 == l1);
        let mut kings: Vec<usize> = with.map(|shape| shape.features.set().kings).collect();
        kings.sort_unstable();
        format!("l1 {l1} with {} king buckets", list(&kings))
    };
    widths.iter().map(of_width).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusal_lists_supported_shapes() {
        let error = check(Architecture::HALF_KP).expect_err("HalfKP is not supported").to_string();
        assert!(error.contains("--device cpu") && error.contains("l1 1024 with 1, 4, 8, 16 or 32"), "{error}");
        assert!(supported().all(|shape| check(shape).is_ok()));
    }
}
