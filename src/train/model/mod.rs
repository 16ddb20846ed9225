//! The float model and its reference forward pass; the optimised passes of a step approximate it.

pub(super) mod narrow;
pub(super) mod parameters;
pub(super) mod shapes;

use std::borrow::Cow;

use rayon::prelude::*;

use crate::data::Record;
use crate::nnue::architecture::{LayerShape, Topology};
use crate::nnue::features::attack_inputs::AttackInputs;
use crate::nnue::{Activation, Architecture};
use crate::train::samples::ActiveRows;
use crate::util::rng::SplitMix64;
use parameters::{DenseParameters, RowLayout, Table};
use shapes::{HIDDEN, Rounding, SKIP, squared_and_clipped};

/// All parameters. An activation of 1.0 corresponds to 127 in the integer net, an output of 1.0 to 600 engine units.
pub(super) struct Model {
    /// The shape of the net.
    pub architecture: Architecture,
    /// Real and factor rows of the feature transformer.
    pub transformer: Table,
    /// All other parameters.
    pub dense: DenseParameters,
    /// Rounding applied to the parameters when they are read; the stored values stay exact.
    pub rounding: Option<Rounding>,
}

impl Model {
    /// Returns an untrained model with factor rows uniform within `span`.
    pub fn initial(rng: &mut SplitMix64, architecture: Architecture, span: f32) -> Self {
        Self {
            architecture,
            transformer: parameters::initial(rng, architecture, span),
            dense: DenseParameters::initial(rng, architecture),
            rounding: None,
        }
    }

    /// Returns a model of zeros.
    pub fn zeros(architecture: Architecture) -> Self {
        Self {
            architecture,
            transformer: parameters::zeros(architecture),
            dense: DenseParameters::zeros(architecture),
            rounding: None,
        }
    }

    /// Returns an active row of the transformer as in the exported net: real plus factor.
    pub fn row(&self, row: usize) -> impl Iterator<Item = f32> + '_ {
        let is_rounded = self.rounding.is_some();
        let folded = RowLayout::weights(self.architecture).folded(&self.transformer, row);
        folded.map(move |weight| if is_rounded { shapes::row_weight(weight) } else { weight })
    }

    /// Returns this model with other attack inputs. New ones have weights of zero, so the model computes the same
    /// values.
    ///
    /// # Panics
    /// Panics if this model has attack inputs of another kind, or `architecture` differs in anything else.
    pub fn with_attacks(self, architecture: Architecture) -> Self {
        if self.architecture == architecture {
            return self;
        }
        assert_eq!(self.architecture.attacks, AttackInputs::None, "the model has attack inputs of another kind");
        let same = self.architecture.with_attacks(architecture.attacks);
        assert_eq!(same, Some(architecture), "the shapes differ in more than the attack inputs");
        let mut model = Self::zeros(architecture);
        model.transformer[..self.transformer.len()].copy_from_slice(&self.transformer);
        for (new, old) in model.dense.tensors_mut().into_iter().zip(self.dense.tensors()) {
            new[..old.len()].copy_from_slice(old);
        }
        model
    }

    /// Returns the dense parameters, rounded if `rounding` is set.
    pub fn read_dense(&self) -> Cow<'_, DenseParameters> {
        match self.rounding {
            Some(rounding) => Cow::Owned(self.dense.rounded(self.architecture, rounding)),
            None => Cow::Borrowed(&self.dense),
        }
    }

    /// Returns the net's output from the view of the side to move, computed in floats. `dense` is the result of
    /// [`Self::read_dense`], which is reusable for many positions.
    pub fn output(&self, dense: &DenseParameters, record: &Record) -> f32 {
        self.sums(dense, record).output + self.psqt(record)
    }

    /// Returns the piece-square output: half the difference of both sides' values for the position's bucket.
    pub fn psqt(&self, record: &Record) -> f32 {
        let architecture = self.architecture;
        if architecture.psqt == 0 {
            return 0.0;
        }
        let stack = architecture.bucket(record.piece_count() as usize);
        let active = ActiveRows::of(architecture, record);
        let layout = RowLayout::psqt(architecture);
        let side = |side: usize| -> f32 {
            let value = |&row: &u16| layout.folded(&self.dense.psqt, row.into()).nth(stack).unwrap_or_default();
            active.get(0).side(side).iter().map(value).sum()
        };
        (side(0) - side(1)) / 2.0
    }

    /// Returns the sums of the layers after the transformer. `dense` is the result of [`Self::read_dense`].
    pub fn sums(&self, dense: &DenseParameters, record: &Record) -> LayerSums {
        let inputs = self.inputs(&dense.transformer_bias, record);
        let stack = self.architecture.bucket(record.piece_count() as usize);
        let [first, second, last] = self.architecture.layers();
        if self.architecture.is_direct() {
            let output = affine(last, stack, &dense.output_weight, &dense.output_bias, &inputs)[0];
            return LayerSums { hidden1: Vec::new(), hidden2: Vec::new(), output };
        }
        let hidden1 = affine(first, stack, &dense.l1_weight, &dense.l1_bias, &inputs);
        let (inputs2, skip) = self.second_inputs(&hidden1);
        let hidden2 = affine(second, stack, &dense.l2_weight, &dense.l2_bias, &inputs2);
        let output = affine(last, stack, &dense.output_weight, &dense.output_bias, &clipped(&hidden2))[0] + skip;
        LayerSums { hidden1, hidden2, output }
    }

    /// Returns the inputs of the second layer and the skip output, from the sums of the first layer.
    fn second_inputs(&self, sums: &[f32]) -> (Vec<f32>, f32) {
        let Topology::Skip { .. } = self.architecture.topology else {
            return (clipped(sums), 0.0);
        };
        let mut all = [0.0; HIDDEN];
        all[..sums.len()].copy_from_slice(sums);
        (squared_and_clipped(&all)[..2 * SKIP].to_vec(), all[SKIP])
    }

    /// Returns the inputs of the first dense layer: both activated accumulators, the side to move's first. `bias` is
    /// the initial value of an accumulator.
    pub fn inputs(&self, bias: &[f32], record: &Record) -> Vec<f32> {
        let active = ActiveRows::of(self.architecture, record);
        let mut inputs = self.accumulator(bias, active.get(0).side(0));
        inputs.extend(self.accumulator(bias, active.get(0).side(1)));
        if self.rounding.is_some() && shapes::truncates_products(self.architecture) {
            inputs.iter_mut().for_each(|x| *x = shapes::product(*x));
        }
        inputs
    }

    /// Returns one perspective's activated accumulator.
    /// Moves every weight by `share` of its distance to that of `other`, a model of the same architecture, in the
    /// current thread pool.
    pub(in crate::train) fn move_towards(&mut self, other: &Self, share: f32) {
        let move_all = |weights: &mut [f32], targets: &[f32]| {
            for (weight, target) in weights.iter_mut().zip(targets) {
                *weight += share * (target - *weight);
            }
        };
        let table = self.transformer.par_chunks_mut(RUN);
        table.zip(other.transformer.par_chunks(RUN)).for_each(|(weights, targets)| move_all(weights, targets));
        let dense = self.dense.tensors_mut().into_iter();
        dense.zip(other.dense.tensors()).for_each(|(weights, targets)| move_all(weights, targets));
    }

    fn accumulator(&self, bias: &[f32], rows: &[u16]) -> Vec<f32> {
        let mut sums = bias.to_vec();
        for &row in rows {
            for (sum, weight) in sums.iter_mut().zip(self.row(row.into())) {
                *sum += weight;
            }
        }
        activated(self.architecture.activation, &sums)
    }
}

/// Sums of the layers after the transformer for one position, before clipping.
#[derive(Clone, Debug)]
pub(super) struct LayerSums {
    /// First hidden layer.
    pub hidden1: Vec<f32>,
    /// Second hidden layer.
    pub hidden2: Vec<f32>,
    /// Output of the layers, without the piece-square values.
    pub output: f32,
}

/// Applies the affine layer of stack `stack`; `weights` and `biases` contain all stacks.
fn affine(layer: LayerShape, stack: usize, weights: &[f32], biases: &[f32], inputs: &[f32]) -> Vec<f32> {
    let dot = |row: &[f32]| -> f32 { row.iter().zip(inputs).map(|(w, x)| w * x).sum() };
    let first = stack * layer.outputs;
    let rows = weights.chunks_exact(layer.inputs).skip(first);
    let rows = rows.zip(&biases[first..]).take(layer.outputs);
    rows.map(|(row, bias)| bias + dot(row)).collect()
}

/// Applies the activation to an accumulator's sums.
fn activated(activation: Activation, sums: &[f32]) -> Vec<f32> {
    let clipped = clipped(sums);
    match activation {
        Activation::Crelu => clipped,
        Activation::Screlu => clipped.into_iter().map(|x| x * x).collect(),
        Activation::Pairwise | Activation::WidePairwise => {
            let (first, second) = clipped.split_at(clipped.len() / 2);
            first.iter().zip(second).map(|(a, b)| a * b).collect()
        }
    }
}

fn clipped(sums: &[f32]) -> Vec<f32> {
    sums.iter().map(|sum| sum.clamp(0.0, 1.0)).collect()
}

// Weight averaging over the last part of a run. The steps scatter around a minimum, and the mean of the weights is
// closer to it than the weights after any single step.

// CITE: P. Izmailov et al., "Averaging Weights Leads to Wider Optima and Better Generalization" (2018).

/// Floats per parallel task.
const RUN: usize = 1 << 14;

/// Unweighted mean of models at several steps of a run.
pub(in crate::train) struct Average {
    /// The mean.
    pub model: Model,
    /// Number of averaged models.
    pub count: u32,
}

impl Average {
    /// Starts a mean with one model.
    pub fn of(model: &Model) -> Self {
        let mut average = Self { model: Model::zeros(model.architecture), count: 0 };
        average.add(model);
        average
    }

    /// Adds a model to the mean, in the current thread pool.
    pub fn add(&mut self, model: &Model) {
        self.count += 1;
        self.model.rounding = model.rounding;
        self.model.move_towards(model, 1.0 / self.count as f32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nnue::Architecture;
    use crate::train::samples::positions;
    use crate::util::rng::SplitMix64;

    #[test]
    fn new_attack_inputs_do_not_change_outputs() {
        let with = shapes::for_tests().filter(|shape| shape.attacks != AttackInputs::None);
        for architecture in with {
            let plain = architecture.with_attacks(AttackInputs::None).and_then(|plain| plain.trained());
            let model = Model::initial(&mut SplitMix64::new(3), plain.expect("the shape without attacks"), 0.2);
            let records = positions(20);
            let outputs = |model: &Model| -> Vec<f32> {
                records.iter().map(|record| model.output(&model.read_dense(), record)).collect()
            };
            let before = outputs(&model);
            let mut model = model.with_attacks(architecture);
            assert_eq!(outputs(&model), before, "{architecture}");
            let last = model.transformer.len() - RowLayout::weights(architecture).attack_rows * architecture.l1;
            model.transformer[last..].fill(0.1);
            assert_ne!(outputs(&model), before, "{architecture}");
        }
    }

    #[test]
    fn averaged_models_have_equal_weight() {
        let mut rng = SplitMix64::new(8);
        let models: Vec<Model> = (0..3).map(|_| Model::initial(&mut rng, Architecture::HALF_KP, 0.1)).collect();
        let mut average = Average::of(&models[0]);
        models[1..].iter().for_each(|model| average.add(model));
        assert_eq!(average.count, 3);
        let mean = |of: &dyn Fn(&Model) -> f32| models.iter().map(of).sum::<f32>() / 3.0;
        let last = models[0].transformer.len() - 1;
        for at in [last, last - 77, last - 250] {
            let expected = mean(&|model| model.transformer[at]);
            assert!(expected != 0.0 && (average.model.transformer[at] - expected).abs() < 1e-7);
        }
        let expected = mean(&|model| model.dense.l2_weight[9]);
        assert!((average.model.dense.l2_weight[9] - expected).abs() < 1e-7);
    }
}
