//! Makes a smaller model from a larger one: keeps the units of the first layer that change its outputs most, and merges
//! king buckets. Training restores what the other units did.
//!
//! A *unit* is a column of the transformer, or with pairwise products the two columns that are multiplied. It is an
//! input of the first dense layer twice, once for each perspective.

use rayon::prelude::*;

use super::Model;
use super::parameters::{DenseParameters, RowLayout};
use crate::data::Record;
use crate::nnue::Architecture;

/// For each king bucket of `from`, that of `to` that contains it. `None` unless `to` is a narrower shape: the same but
/// for a smaller width, and for king buckets that are unions of those of `from`.
pub(in crate::train) fn narrowing(from: Architecture, to: Architecture) -> Option<Vec<usize>> {
    let same = from.with_features_and_width(to.features, to.l1)?;
    let factors = [from, to].map(|shape| RowLayout::weights(shape).has_factor);
    if same != to || to.l1 > from.l1 || factors[0] != factors[1] {
        return None;
    }
    from.features.set().buckets_in(to.features.set())
}

impl Model {
    /// Returns a model of a narrower shape. Its units are those whose outputs in the positions of `records` change the
    /// sums of the first dense layer most. The mean outputs of the others are added to the biases of that layer. Each
    /// row of a king bucket is the mean of those that it contains.
    ///
    /// # Panics
    /// Panics if `to` is not narrower ([`narrowing`]).
    pub fn narrowed(&self, to: Architecture, records: &[Record]) -> Self {
        let from = self.architecture;
        let kings = narrowing(from, to).expect("a narrower shape");
        let means = Means::of(self, records);
        let units = means.strongest_units(self, to);
        let half = |width: usize| if from.activation.is_pairwise() { width / 2 } else { width };
        let columns = both(&units, half(from.l1), from.activation.is_pairwise());
        let inputs = both(&units, half(from.l1), true);

        let mut model = Self::zeros(to);
        let weights = Rows { layout: RowLayout::weights(from), table: &self.transformer, kings: &kings };
        weights.narrow(RowLayout::weights(to), &columns, &mut model.transformer);
        let stacks: Vec<usize> = (0..from.psqt).collect();
        let values = Rows { layout: RowLayout::psqt(from), table: &self.dense.psqt, kings: &kings };
        values.narrow(RowLayout::psqt(to), &stacks, &mut model.dense.psqt);
        self.narrow_dense(&columns, &inputs, &means, &mut model.dense);
        model
    }

    /// Fills `out` with the dense parameters of the kept `columns` of the transformer and `inputs` of the first layer.
    fn narrow_dense(&self, columns: &[usize], inputs: &[usize], means: &Means, out: &mut DenseParameters) {
        let dense = &self.dense;
        out.l2_weight.clone_from(&dense.l2_weight);
        out.l2_bias.clone_from(&dense.l2_bias);
        out.output_weight.clone_from(&dense.output_weight);
        out.output_bias.clone_from(&dense.output_bias);
        out.l1_bias.clone_from(&dense.l1_bias);
        out.transformer_bias = columns.iter().map(|&column| dense.transformer_bias[column]).collect();
        let all = self.architecture.inputs();
        let (weights, biases) = first_layer_mut(self.architecture, out);
        *weights = self.first_layer().chunks_exact(all).flat_map(|row| inputs.iter().map(|&n| row[n])).collect();

        let mut is_dropped = vec![true; all];
        inputs.iter().for_each(|&input| is_dropped[input] = false);
        let outputs = biases.len() / self.architecture.buckets;
        for (number, (row, bias)) in self.first_layer().chunks_exact(all).zip(biases).enumerate() {
            let mean = &means.mean[number / outputs];
            let dropped = row.iter().zip(mean).zip(&is_dropped).filter(|&(_, &is_dropped)| is_dropped);
            *bias += dropped.map(|((weight, mean), _)| weight * mean).sum::<f32>();
        }
    }

    /// The weights of the first dense layer, which is the output layer in a model without hidden layers.
    fn first_layer(&self) -> &[f32] {
        if self.architecture.is_direct() { &self.dense.output_weight } else { &self.dense.l1_weight }
    }
}

/// The weights and biases of the first dense layer.
fn first_layer_mut(architecture: Architecture, dense: &mut DenseParameters) -> (&mut Vec<f32>, &mut [f32]) {
    if architecture.is_direct() {
        (&mut dense.output_weight, &mut dense.output_bias)
    } else {
        (&mut dense.l1_weight, &mut dense.l1_bias)
    }
}

/// The units, then, if `twice`, the same units `distance` further.
fn both(units: &[usize], distance: usize, twice: bool) -> Vec<usize> {
    let second = units.iter().map(|unit| unit + distance).filter(|_| twice);
    units.iter().copied().chain(second).collect()
}

/// Mean and variance of the inputs of the first dense layer, by stack and input.
struct Means {
    mean: Vec<Vec<f32>>,
    /// Multiplied by the stack's share of the positions.
    variance: Vec<Vec<f32>>,
}

impl Means {
    /// Those of a model in the positions of `records`; all zero in a stack without positions.
    fn of(model: &Model, records: &[Record]) -> Self {
        let (buckets, width) = (model.architecture.buckets, model.architecture.inputs());
        let outputs: Vec<(usize, Vec<f32>)> = records
            .par_iter()
            .map(|record| {
                let stack = model.architecture.bucket(record.piece_count() as usize);
                (stack, model.inputs(&model.dense.transformer_bias, record))
            })
            .collect();
        let mut sums = vec![(0.0, vec![0.0; width], vec![0.0; width]); buckets];
        for (stack, outputs) in &outputs {
            let (count, sum, squares) = &mut sums[*stack];
            *count += 1.0;
            for ((sum, square), &output) in sum.iter_mut().zip(squares).zip(outputs) {
                *sum += output;
                *square += output * output;
            }
        }
        let all = (records.len() as f32).max(1.0);
        let mean = |(count, sum, _): &(f32, Vec<f32>, Vec<f32>)| sum.iter().map(|sum| sum / count.max(1.0)).collect();
        let variance = |(count, sum, squares): &(f32, Vec<f32>, Vec<f32>)| {
            let of = |(sum, square): (&f32, &f32)| (square - sum * sum / count.max(1.0)).max(0.0) / all;
            sum.iter().zip(squares).map(of).collect()
        };
        Self { mean: sums.iter().map(mean).collect(), variance: sums.iter().map(variance).collect() }
    }

    /// The numbers of as many units as `to` has, ascending: those that contribute most to the variances of the first
    /// layer's sums.
    fn strongest_units(&self, model: &Model, to: Architecture) -> Vec<usize> {
        let inputs = model.architecture.inputs();
        let outputs = model.first_layer().len() / inputs / model.architecture.buckets;
        let mut strength = vec![0.0_f32; inputs / 2];
        for (number, row) in model.first_layer().chunks_exact(inputs).enumerate() {
            let variance = &self.variance[number / outputs];
            for (input, (weight, variance)) in row.iter().zip(variance).enumerate() {
                strength[input % (inputs / 2)] += weight * weight * variance;
            }
        }
        let mut units: Vec<usize> = (0..strength.len()).collect();
        units.sort_by(|&a, &b| strength[b].total_cmp(&strength[a]));
        units.truncate(to.inputs() / 2);
        units.sort_unstable();
        units
    }
}

/// A table with an entry for each row of the first layer, and for each of its king buckets that of the narrower model.
struct Rows<'a> {
    layout: RowLayout,
    table: &'a [f32],
    kings: &'a [usize],
}

impl Rows<'_> {
    /// Fills the table `out` of the narrower model with these `columns`.
    fn narrow(&self, to: RowLayout, columns: &[usize], out: &mut [f32]) {
        if columns.is_empty() {
            return;
        }
        let (width, kings) = (self.layout.width, self.kings);
        let add = |out: &mut [f32], entry: &[f32], share: f32| {
            out.iter_mut().zip(columns).for_each(|(out, &column)| *out += share * entry[column]);
        };
        let (blocks, attacks) = self.table.split_at(self.layout.blocks());
        let (out_blocks, out_attacks) = out.split_at_mut(to.blocks());
        let parts = |king: usize| kings.iter().filter(|&&containing| containing == king).count() as f32;
        let shares: Vec<f32> = (0..to.kings).map(|king| 1.0 / parts(king)).collect();
        for (block, out) in blocks.chunks_exact(self.layout.block()).zip(out_blocks.chunks_exact_mut(to.block())) {
            let mut entries = block.chunks_exact(width);
            for (&king, entry) in kings.iter().zip(&mut entries) {
                add(&mut out[king * to.width..][..to.width], entry, shares[king]);
            }
            // The factor row, if there is one.
            if let Some(factor) = entries.next() {
                add(&mut out[to.kings * to.width..], factor, 1.0);
            }
        }
        for (entry, out) in attacks.chunks_exact(width).zip(out_attacks.chunks_exact_mut(to.width)) {
            add(out, entry, 1.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nnue::features::attack_inputs::AttackInputs;
    use crate::nnue::{Activation, Features};
    use crate::train::model::parameters::uniform;
    use crate::train::samples::record_of;
    use crate::util::rng::SplitMix64;

    fn records() -> Vec<Record> {
        [
            "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R",
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R",
            "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8",
            "4k3/8/8/3q4/8/8/4R3/4K3",
        ]
        .iter()
        .flat_map(|fen| {
            let board = shakmaty::Board::from_ascii_board_fen(fen.as_bytes()).expect("a board");
            [false, true].map(|black_to_move| record_of(&board, black_to_move))
        })
        .collect()
    }

    fn shape(features: Features, l1: usize, activation: Activation, hidden: [usize; 2]) -> Architecture {
        let psqt = activation == Activation::Pairwise && hidden == [16, 32];
        let buckets = if psqt { 8 } else { 2 };
        Architecture::of_settings(features, l1, activation, hidden, buckets, psqt).expect("a supported shape")
    }

    /// A random model in which only every `step`th unit is connected to the next layer.
    fn sparse(architecture: Architecture, step: usize) -> Model {
        let mut rng = SplitMix64::new(5);
        let mut model = Model::initial(&mut rng, architecture, 0.2);
        for tensor in model.dense.tensors_mut() {
            tensor.iter_mut().for_each(|weight| *weight += 0.1 * uniform(&mut rng));
        }
        model.transformer.iter_mut().for_each(|weight| *weight += 0.05 * uniform(&mut rng));
        let inputs = architecture.inputs();
        let (weights, _) = first_layer_mut(architecture, &mut model.dense);
        for row in weights.chunks_exact_mut(inputs) {
            let unused = row.iter_mut().enumerate().filter(|(input, _)| !(input % (inputs / 2)).is_multiple_of(step));
            unused.for_each(|(_, weight)| *weight = 0.0);
        }
        model
    }

    fn assert_same_outputs(model: &Model, narrow: &Model) {
        for record in records() {
            let [before, after] = [model, narrow].map(|model| model.output(&model.read_dense(), &record));
            assert!((before - after).abs() < 1e-4, "{before} {after}");
        }
    }

    #[test]
    fn outputs_stay_if_the_other_units_are_unused() {
        let with_attacks = shape(Features::HalfKav2Hm4, 128, Activation::Pairwise, [16, 32]);
        for from in [
            with_attacks.with_attacks(AttackInputs::ToEnemy).expect("a shape with attack inputs"),
            shape(Features::HalfKp, 128, Activation::Crelu, [32, 32]),
            shape(Features::Chess768, 128, Activation::Screlu, [0, 0]),
            shape(Features::HalfKav2Hm1, 128, Activation::Pairwise, [0, 0]),
        ] {
            let model = sparse(from, 4);
            let narrow =
                model.narrowed(from.with_features_and_width(from.features, 32).expect("a supported width"), &records());
            assert_same_outputs(&model, &narrow);
        }
    }

    #[test]
    fn constant_units_are_replaced_by_biases() {
        let from = shape(Features::HalfKav2Hm1, 128, Activation::Pairwise, [16, 32]);
        let mut model = sparse(from, 1);
        // All units but every fourth are constant and not zero.
        let layout = RowLayout::weights(from);
        for entry in model.transformer.chunks_exact_mut(layout.width) {
            let constant = entry.iter_mut().enumerate().filter(|(column, _)| column % 64 % 4 != 0);
            constant.for_each(|(_, weight)| *weight = 0.0);
        }
        model.dense.transformer_bias.fill(0.7);
        let narrow =
            model.narrowed(from.with_features_and_width(from.features, 32).expect("a supported width"), &records());
        assert_same_outputs(&model, &narrow);
    }

    #[test]
    fn merged_king_buckets_have_the_mean_rows() {
        let from = shape(Features::HalfKav2Hm8, 32, Activation::Pairwise, [16, 32]);
        let to = from.with_features(Features::HalfKav2Hm4).expect("a shape with fewer king buckets");
        let kings = narrowing(from, to).expect("a narrower shape");
        let model = sparse(from, 1);
        let narrow = model.narrowed(to, &records());
        let [wide_layout, layout] = [from, to].map(RowLayout::weights);
        let row = |layout: RowLayout, table: &[f32], king: usize| -> Vec<f32> {
            layout.folded(table, king * layout.piece_rows + 70).collect()
        };
        for king in 0..4 {
            let merged: Vec<usize> = (0..8).filter(|&part| kings[part] == king).collect();
            let rows: Vec<_> = merged.iter().map(|&part| row(wide_layout, &model.transformer, part)).collect();
            for (column, found) in row(layout, &narrow.transformer, king).into_iter().enumerate() {
                let mean = rows.iter().map(|row| row[column]).sum::<f32>() / rows.len() as f32;
                assert!((found - mean).abs() < 1e-5, "{king} {column}");
            }
        }
    }

    #[test]
    fn other_shapes_are_not_narrower() {
        let from = shape(Features::HalfKav2Hm4, 128, Activation::Pairwise, [16, 32]);
        assert!(narrowing(from, from).is_some());
        for other in [
            from.with_features_and_width(from.features, 160),
            from.with_features(Features::HalfKav2Hm8),
            from.with_attacks(AttackInputs::ToEnemy),
            Some(shape(Features::HalfKav2Hm4, 64, Activation::Screlu, [16, 32])),
            Some(shape(Features::Chess768, 64, Activation::Screlu, [0, 0])),
        ] {
            let other = other.expect("a supported shape");
            assert_eq!(narrowing(from, other), None, "{other}");
        }
    }
}
