//! The mean of a model over the last part of a run: it lies nearer to the middle of where the steps lead about than any
//! single moment does.
// CITE: P. Izmailov et al., "Averaging Weights Leads to Wider Optima and Better Generalization" (2018).

use rayon::prelude::*;

use super::Model;

/// Floats that a thread takes at a time.
const RUN: usize = 1 << 14;

/// A mean of moments that count alike.
pub struct Average {
    /// The mean.
    pub model: Model,
    /// How many moments it is of.
    pub count: u32,
}

impl Average {
    /// That of a single moment.
    pub fn of(model: &Model) -> Self {
        let mut average = Self {
            model: Model::zeros(model.architecture),
            count: 0,
        };
        average.add(model);
        average
    }

    /// Takes one more moment in, in the current thread pool.
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
        table
            .zip(model.transformer.par_chunks(RUN))
            .for_each(|(means, values)| towards(means, values));
        let dense = self.model.dense.tensors_mut().into_iter();
        dense
            .zip(model.dense.tensors())
            .for_each(|(means, values)| towards(means, values));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nnue::Architecture;
    use crate::util::rng::SplitMix64;

    #[test]
    fn moments_count_alike() {
        let mut rng = SplitMix64::new(8);
        let moments: Vec<Model> = (0..3)
            .map(|_| Model::initial(&mut rng, Architecture::HALF_KP, 0.1))
            .collect();
        let mut average = Average::of(&moments[0]);
        moments[1..].iter().for_each(|moment| average.add(moment));
        assert_eq!(average.count, 3);
        let mean = |of: &dyn Fn(&Model) -> f32| moments.iter().map(of).sum::<f32>() / 3.0;
        let last = moments[0].transformer.len() - 1;
        for at in [last, last - 77, last - 250] {
            let wanted = mean(&|model| model.transformer[at]);
            assert!(wanted != 0.0 && (average.model.transformer[at] - wanted).abs() < 1e-7);
        }
        let wanted = mean(&|model| model.dense.l2_weight[9]);
        assert!((average.model.dense.l2_weight[9] - wanted).abs() < 1e-7);
    }
}
