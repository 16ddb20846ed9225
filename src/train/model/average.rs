//! Weight averaging over the last part of a run. The steps scatter around a minimum, and the mean of the weights is
//! closer to it than the weights after any single step.
// CITE: P. Izmailov et al., "Averaging Weights Leads to Wider Optima and Better Generalization" (2018).

use rayon::prelude::*;

use super::Model;

/// Floats per parallel task.
const RUN: usize = 1 << 14;

/// Unweighted mean of models at several steps of a run.
pub struct Average {
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
        let share = 1.0 / self.count as f32;
        let towards = |means: &mut [f32], values: &[f32]| {
            for (mean, value) in means.iter_mut().zip(values) {
                *mean += share * (value - *mean);
            }
        };
        let table = self.model.transformer.par_chunks_mut(RUN);
        table.zip(model.transformer.par_chunks(RUN)).for_each(|(means, values)| towards(means, values));
        let dense = self.model.dense.tensors_mut().into_iter();
        dense.zip(model.dense.tensors()).for_each(|(means, values)| towards(means, values));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nnue::Architecture;
    use crate::util::rng::SplitMix64;

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
