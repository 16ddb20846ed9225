//! Adam, dense for the small tensors and sparse for the transformer: a row that no position of the batch used keeps its
//! weights and its moments, so that a step costs what the batch touched and not ten million parameters.
// CITE: Adam, Kingma and Ba, 2015.

use std::sync::Mutex;

use super::dense::Dense;
use super::features::{Active, KINGS, PIECE_ROWS};
use super::model::Model;
use super::quantised::L1;
use super::simd::{AdamStep, Kernels};
use super::transformer::{self, BLOCK, FACTOR, Table};

/// What stays the same from step to step.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Learning rate of the real rows, relative to everything else's.
    pub real_rate: f32,
    /// Decoupled weight decay of the real rows, relative to the learning rate.
    pub real_decay: f32,
}

const BETA1: f32 = 0.9;
const BETA2: f32 = 0.999;
const EPSILON: f32 = 1e-8;

/// First and second moments of every parameter, and the step counter.
pub struct Optimiser {
    settings: Settings,
    first: (Table, Dense),
    second: (Table, Dense),
    steps: i32,
}

impl Optimiser {
    /// Moments of zero.
    pub fn new(settings: Settings) -> Self {
        let zeros = || (transformer::zeros(), Dense::zeros());
        Self {
            settings,
            first: zeros(),
            second: zeros(),
            steps: 0,
        }
    }

    /// One step along a batch's gradient: `dense`, and for the transformer the slopes of the accumulators (`rows`, two
    /// bfloat16 rows a position) with the index of who used which row.
    pub fn step(
        &mut self,
        (kernels, threads): (Kernels, usize),
        model: &mut Model,
        rate: f32,
        dense: &Dense,
        (index, rows): (&RowIndex, &[u16]),
    ) {
        self.steps += 1;
        let step = adam_step(self.steps, rate, 0.0);
        let tensors = model.dense.tensors_mut().into_iter().zip(dense.tensors());
        let moments = self
            .first
            .1
            .tensors_mut()
            .into_iter()
            .zip(self.second.1.tensors_mut());
        for ((weights, gradient), (first, second)) in tensors.zip(moments) {
            kernels.adam(&step, weights, first, second, gradient);
        }
        model.dense.clip();
        model.refresh();

        let real_rate = rate * self.settings.real_rate;
        let real_step = adam_step(self.steps, real_rate, real_rate * self.settings.real_decay);
        let blocks = model
            .transformer
            .chunks_exact_mut(BLOCK)
            .zip(self.first.0.chunks_exact_mut(BLOCK))
            .zip(self.second.0.chunks_exact_mut(BLOCK))
            .enumerate();
        // Who takes a block does not matter: a row's sum has one order.
        let blocks = Mutex::new(blocks);
        let work = || {
            loop {
                let next = blocks.lock().map_or(None, |mut blocks| blocks.next());
                let Some((piece_row, ((weights, first), second))) = next else {
                    return;
                };
                let block = BlockStep {
                    kernels,
                    real: &real_step,
                    factor: &step,
                    index,
                    rows,
                };
                block.run(piece_row, weights, first, second);
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(work);
            }
            work();
        });
    }
}

/// The step of the rows that share a factor row.
struct BlockStep<'a> {
    kernels: Kernels,
    real: &'a AdamStep,
    factor: &'a AdamStep,
    index: &'a RowIndex,
    rows: &'a [u16],
}

impl BlockStep<'_> {
    fn run(&self, piece_row: usize, weights: &mut [f32], first: &mut [f32], second: &mut [f32]) {
        let (mut total, mut gradient) = ([0.0; L1], [0.0; L1]);
        let mut touched = false;
        let mut adam = |step: &AdamStep, row: usize, gradient: &[f32; L1]| {
            let range = row * L1..(row + 1) * L1;
            let moments = (&mut first[range.clone()], &mut second[range.clone()]);
            self.kernels
                .adam(step, &mut weights[range], moments.0, moments.1, gradient);
        };
        for king in 0..KINGS {
            let users = self.index.users(KINGS * piece_row + king);
            if users.is_empty() {
                continue;
            }
            touched = true;
            self.kernels.sum_rows(self.rows, users, &mut gradient);
            adam(self.real, king, &gradient);
            total
                .iter_mut()
                .zip(&gradient)
                .for_each(|(sum, term)| *sum += term);
        }
        if touched {
            adam(self.factor, FACTOR, &total);
        }
    }
}

/// The constants of step `steps`, with Adam's bias corrections folded into rate and epsilon.
fn adam_step(steps: i32, rate: f32, decay: f32) -> AdamStep {
    let root = (1.0 - BETA2.powi(steps)).sqrt();
    AdamStep {
        rate: rate * root / (1.0 - BETA1.powi(steps)),
        beta1: BETA1,
        beta2: BETA2,
        epsilon: EPSILON * root,
        decay,
    }
}

/// For every transformer row, the accumulators of a batch that used it.
pub struct RowIndex {
    starts: Vec<u32>,
    users: Vec<u32>,
}

impl RowIndex {
    /// Sorts a batch's accumulators (`2 * position + side`) by the rows that they used.
    pub fn of(batch: &[Active]) -> Self {
        let mut starts = vec![0_u32; PIECE_ROWS * KINGS + 1];
        for row in all_rows(batch).map(|(_, row)| row) {
            starts[row + 1] += 1;
        }
        for row in 1..starts.len() {
            starts[row] += starts[row - 1];
        }
        let mut next = starts.clone();
        let mut users = vec![0; starts[starts.len() - 1] as usize];
        for (user, row) in all_rows(batch) {
            users[next[row] as usize] = user;
            next[row] += 1;
        }
        Self { starts, users }
    }

    /// The accumulators that used a row, in order.
    pub fn users(&self, row: usize) -> &[u32] {
        &self.users[self.starts[row] as usize..self.starts[row + 1] as usize]
    }
}

/// Every use of a row in a batch: the accumulator and the row.
fn all_rows(batch: &[Active]) -> impl Iterator<Item = (u32, usize)> + '_ {
    batch.iter().enumerate().flat_map(|(position, active)| {
        (0..2).flat_map(move |side| {
            let user = (2 * position + side) as u32;
            active
                .side(side)
                .iter()
                .map(move |&row| (user, usize::from(row)))
        })
    })
}
