//! The loops that the trainer spends its time in, for AVX-512, AVX2, and any machine.
//!
//! The portable functions are the specification; the AVX2 ones are the same code compiled for the wider machine, and
//! the AVX-512 ones are written out only where the compiler will not keep a row of 256 sums in registers.
#![allow(unsafe_code)]

use super::quantised::{HIDDEN, L1};
use super::transformer::{BLOCK_ROWS, FACTOR};

/// A row of the transformer.
pub type Row = [f32; L1];
/// Weights of the first layer, one row per input, so that inputs of zero are skipped.
pub type InputMajor = [[f32; HIDDEN]; 2 * L1];

/// Adam's constants at one step.
#[derive(Clone, Copy, Debug)]
pub struct AdamStep {
    /// Learning rate, bias corrections folded in.
    pub rate: f32,
    /// Decay of the first moment.
    pub beta1: f32,
    /// Decay of the second moment.
    pub beta2: f32,
    /// Keeps the quotient finite; already scaled for the bias correction.
    pub epsilon: f32,
    /// Share of a weight that a step takes away.
    pub decay: f32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

/// The kernels that this machine runs. A value other than the portable one is the proof that the CPU has the feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernels(Level);

/// Calls the version of a kernel that `self` stands for.
macro_rules! dispatch {
    ($self:ident, $name:ident($($argument:expr),*)) => {
        match $self.0 {
            Level::Portable => portable::$name::<false>($($argument),*),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the level is only made by `detect`, after the CPU said that it has AVX2 and FMA.
            Level::Avx2 => unsafe { avx2::$name($($argument),*) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the level is only made by `detect`, after the CPU said that it has AVX-512 F, BW, VL and DQ.
            Level::Avx512 => unsafe { avx512::$name($($argument),*) },
        }
    };
}

impl Kernels {
    /// The best kernels for this CPU.
    pub fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
            let avx512 = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512dq");
            match (avx512, avx2) {
                (true, true) => return Self(Level::Avx512),
                (false, true) => return Self(Level::Avx2),
                _ => {}
            }
        }
        Self::portable()
    }

    /// The kernels that run anywhere.
    pub fn portable() -> Self {
        Self(Level::Portable)
    }

    /// `out = clamp(bias + sum of real and factor rows, 0, 1)` for the active `rows` of a transformer `table`.
    #[inline]
    pub fn accumulate(self, bias: &Row, table: &[f32], rows: &[u16], out: &mut Row) {
        dispatch!(self, accumulate(bias, table, rows, out));
    }

    /// `bias + weights * inputs`, inputs of zero skipped.
    #[inline]
    pub fn first_layer(
        self,
        inputs: &[f32; 2 * L1],
        weights: &InputMajor,
        bias: &[f32; HIDDEN],
    ) -> [f32; HIDDEN] {
        dispatch!(self, first_layer(inputs, weights, bias))
    }

    /// The way back through the first layer: adds `slopes x inputs` to `gradient` and puts the slopes of the inputs
    /// that were not clipped into `out`, in bfloat16. `weights` and `gradient` are row by output.
    #[inline]
    pub fn first_layer_back(
        self,
        inputs: &[f32; 2 * L1],
        slopes: &[f32; HIDDEN],
        weights: &[f32],
        gradient: &mut [f32],
        out: &mut [u16; 2 * L1],
    ) {
        dispatch!(
            self,
            first_layer_back(inputs, slopes, weights, gradient, out)
        );
    }

    /// `out` = the sum of the rows `picks` of a table of bfloat16 rows.
    #[inline]
    pub fn sum_rows(self, table: &[u16], picks: &[u32], out: &mut Row) {
        dispatch!(self, sum_rows(table, picks, out));
    }

    /// One Adam step on a run of weights.
    #[inline]
    pub fn adam(
        self,
        step: &AdamStep,
        weights: &mut [f32],
        first: &mut [f32],
        second: &mut [f32],
        gradient: &[f32],
    ) {
        dispatch!(self, adam(step, weights, first, second, gradient));
    }
}

/// Where a real row and its factor row begin in a transformer table.
#[inline(always)]
fn row_offsets(row: u16) -> (usize, usize) {
    let block = usize::from(row >> 6) * BLOCK_ROWS;
    ((block + usize::from(row & 63)) * L1, (block + FACTOR) * L1)
}

/// The kernels in plain Rust. `FMA` is set where the target multiplies and adds in one instruction; elsewhere that
/// would be a call into the maths library.
mod portable {
    use super::*;

    #[inline(always)]
    fn multiply_add<const FMA: bool>(a: f32, b: f32, c: f32) -> f32 {
        if FMA { a.mul_add(b, c) } else { a * b + c }
    }

    /// Rounds to bfloat16, half up; gradients need no better.
    #[inline(always)]
    fn to_bf16(value: f32) -> u16 {
        (value.to_bits().wrapping_add(0x8000) >> 16) as u16
    }

    #[inline(always)]
    pub fn accumulate<const FMA: bool>(bias: &Row, table: &[f32], rows: &[u16], out: &mut Row) {
        *out = *bias;
        for &row in rows {
            let (real, factor) = row_offsets(row);
            let (real, factor) = (&table[real..][..L1], &table[factor..][..L1]);
            for ((sum, a), b) in out.iter_mut().zip(real).zip(factor) {
                *sum += a + b;
            }
        }
        for sum in out {
            *sum = sum.clamp(0.0, 1.0);
        }
    }

    #[inline(always)]
    pub fn first_layer<const FMA: bool>(
        inputs: &[f32; 2 * L1],
        weights: &InputMajor,
        bias: &[f32; HIDDEN],
    ) -> [f32; HIDDEN] {
        let mut sums = *bias;
        for (&input, weights) in inputs.iter().zip(weights) {
            if input != 0.0 {
                for (sum, &weight) in sums.iter_mut().zip(weights) {
                    *sum = multiply_add::<FMA>(input, weight, *sum);
                }
            }
        }
        sums
    }

    #[inline(always)]
    pub fn first_layer_back<const FMA: bool>(
        inputs: &[f32; 2 * L1],
        slopes: &[f32; HIDDEN],
        weights: &[f32],
        gradient: &mut [f32],
        out: &mut [u16; 2 * L1],
    ) {
        let mut input_slopes = [0.0; 2 * L1];
        let rows = weights
            .chunks_exact(2 * L1)
            .zip(gradient.chunks_exact_mut(2 * L1));
        for (&slope, (weights, gradient)) in slopes.iter().zip(rows) {
            if slope == 0.0 {
                continue;
            }
            for (sum, &weight) in input_slopes.iter_mut().zip(weights) {
                *sum = multiply_add::<FMA>(slope, weight, *sum);
            }
            for (sum, &input) in gradient.iter_mut().zip(inputs) {
                *sum = multiply_add::<FMA>(slope, input, *sum);
            }
        }
        for ((out, &slope), &input) in out.iter_mut().zip(&input_slopes).zip(inputs) {
            let open = input > 0.0 && input < 1.0;
            *out = if open { to_bf16(slope) } else { 0 };
        }
    }

    #[inline(always)]
    pub fn sum_rows<const FMA: bool>(table: &[u16], picks: &[u32], out: &mut Row) {
        out.fill(0.0);
        for &pick in picks {
            let row = &table[pick as usize * L1..][..L1];
            for (sum, &half) in out.iter_mut().zip(row) {
                *sum += f32::from_bits(u32::from(half) << 16);
            }
        }
    }

    #[inline(always)]
    pub fn adam<const FMA: bool>(
        step: &AdamStep,
        weights: &mut [f32],
        first: &mut [f32],
        second: &mut [f32],
        gradient: &[f32],
    ) {
        let moments = first.iter_mut().zip(second);
        for ((weight, (first, second)), &slope) in weights.iter_mut().zip(moments).zip(gradient) {
            *first = step.beta1 * *first + (1.0 - step.beta1) * slope;
            *second = step.beta2 * *second + (1.0 - step.beta2) * slope * slope;
            let change = step.rate * *first / (second.sqrt() + step.epsilon);
            *weight -= change + step.decay * *weight;
        }
    }
}

/// Declares the portable kernels once more, compiled for a feature set.
#[cfg(target_arch = "x86_64")]
macro_rules! compiled_for {
    ($features:literal: $(fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)?;)*) => {
        $(
            #[target_feature(enable = $features)]
            pub fn $name($($argument: $type),*) $(-> $result)? {
                portable::$name::<true>($($argument),*)
            }
        )*
    };
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::*;

    compiled_for! { "avx2,fma":
        fn accumulate(bias: &Row, table: &[f32], rows: &[u16], out: &mut Row);
        fn first_layer(inputs: &[f32; 2 * L1], weights: &InputMajor, bias: &[f32; HIDDEN]) -> [f32; HIDDEN];
        fn first_layer_back(inputs: &[f32; 2 * L1], slopes: &[f32; HIDDEN], weights: &[f32],
            gradient: &mut [f32], out: &mut [u16; 2 * L1]);
        fn sum_rows(table: &[u16], picks: &[u32], out: &mut Row);
        fn adam(step: &AdamStep, weights: &mut [f32], first: &mut [f32], second: &mut [f32], gradient: &[f32]);
    }
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use std::arch::x86_64::*;

    use super::*;

    /// Floats in a register, and registers in a row.
    const LANES: usize = 16;
    const REGISTERS: usize = L1 / LANES;

    compiled_for! { "avx2,fma,avx512f,avx512bw,avx512vl,avx512dq":
        fn first_layer_back(inputs: &[f32; 2 * L1], slopes: &[f32; HIDDEN], weights: &[f32],
            gradient: &mut [f32], out: &mut [u16; 2 * L1]);
        fn adam(step: &AdamStep, weights: &mut [f32], first: &mut [f32], second: &mut [f32], gradient: &[f32]);
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn load(from: &[f32; LANES]) -> __m512 {
        // SAFETY: the reference covers the 64 bytes that are read; the load wants no alignment.
        unsafe { _mm512_loadu_ps(from.as_ptr()) }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn store(to: &mut [f32; LANES], value: __m512) {
        // SAFETY: the reference covers the 64 bytes that are written; the store wants no alignment.
        unsafe { _mm512_storeu_ps(to.as_mut_ptr(), value) }
    }

    /// Sixteen bfloat16 numbers, widened.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
    fn load_bf16(from: &[u16; LANES]) -> __m512 {
        // SAFETY: the reference covers the 32 bytes that are read; the load wants no alignment.
        let halves = unsafe { _mm256_loadu_si256(from.as_ptr().cast()) };
        _mm512_castsi512_ps(_mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(halves)))
    }

    /// Asks for a row that is about to be used.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn prefetch<T>(row: &[T]) {
        let line = 64 / size_of::<T>();
        for chunk in row.chunks(line) {
            _mm_prefetch::<_MM_HINT_T0>(chunk.as_ptr().cast());
        }
    }

    /// Rows asked for ahead of their use.
    const AHEAD: usize = 3;

    #[target_feature(enable = "avx512f")]
    pub fn accumulate(bias: &Row, table: &[f32], rows: &[u16], out: &mut Row) {
        let mut sums = [_mm512_setzero_ps(); REGISTERS];
        for (sum, bias) in sums.iter_mut().zip(bias.as_chunks().0) {
            *sum = load(bias);
        }
        for (at, &row) in rows.iter().enumerate() {
            if let Some(&next) = rows.get(at + AHEAD) {
                prefetch(&table[row_offsets(next).0..][..L1]);
            }
            let (real, factor) = row_offsets(row);
            let real = table[real..][..L1].as_chunks().0;
            let factor = table[factor..][..L1].as_chunks().0;
            for i in 0..REGISTERS {
                let pair = _mm512_add_ps(load(&real[i]), load(&factor[i]));
                sums[i] = _mm512_add_ps(sums[i], pair);
            }
        }
        let (zero, one) = (_mm512_setzero_ps(), _mm512_set1_ps(1.0));
        for (out, sum) in out.as_chunks_mut().0.iter_mut().zip(sums) {
            store(out, _mm512_min_ps(_mm512_max_ps(sum, zero), one));
        }
    }

    #[target_feature(enable = "avx512f")]
    pub fn first_layer(
        inputs: &[f32; 2 * L1],
        weights: &InputMajor,
        bias: &[f32; HIDDEN],
    ) -> [f32; HIDDEN] {
        let bias = bias.as_chunks().0;
        let zero = _mm512_setzero_ps();
        // Two pairs of sums, taken in turn, hide the latency of the multiply-add.
        let mut sums = [[load(&bias[0]), load(&bias[1])], [zero, zero]];
        for (inputs, weights) in inputs
            .as_chunks::<LANES>()
            .0
            .iter()
            .zip(weights.as_chunks::<LANES>().0)
        {
            let mut left = _mm512_cmp_ps_mask::<_CMP_NEQ_OQ>(load(inputs), zero);
            while left != 0 {
                let lane = left.trailing_zeros() as usize;
                left &= left - 1;
                let input = _mm512_set1_ps(inputs[lane]);
                let row = weights[lane].as_chunks().0;
                for half in 0..2 {
                    sums[0][half] = _mm512_fmadd_ps(input, load(&row[half]), sums[0][half]);
                }
                sums.swap(0, 1);
            }
        }
        let mut out = [0.0; HIDDEN];
        let [even, odd] = sums;
        for ((out, even), odd) in out.as_chunks_mut().0.iter_mut().zip(even).zip(odd) {
            store(out, _mm512_add_ps(even, odd));
        }
        out
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
    pub fn sum_rows(table: &[u16], picks: &[u32], out: &mut Row) {
        let mut sums = [_mm512_setzero_ps(); REGISTERS];
        for (at, &pick) in picks.iter().enumerate() {
            if let Some(&next) = picks.get(at + AHEAD) {
                prefetch(&table[next as usize * L1..][..L1]);
            }
            let row = table[pick as usize * L1..][..L1].as_chunks().0;
            for (sum, chunk) in sums.iter_mut().zip(row) {
                *sum = _mm512_add_ps(*sum, load_bf16(chunk));
            }
        }
        for (out, sum) in out.as_chunks_mut().0.iter_mut().zip(sums) {
            store(out, sum);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::util::rng::SplitMix64;

    fn noise(rng: &mut SplitMix64, count: usize, span: f32) -> Vec<f32> {
        (0..count)
            .map(|_| span * (rng.below(2001) as f32 / 1000.0 - 1.0))
            .collect()
    }

    fn close(a: &[f32], b: &[f32]) {
        for (a, b) in a.iter().zip(b) {
            assert!((a - b).abs() <= 1e-4 * (1.0 + a.abs()), "{a} {b}");
        }
    }

    #[test]
    fn all_levels_agree() {
        let mut rng = SplitMix64::new(3);
        let mut levels = vec![Kernels::portable()];
        let best = Kernels::detect();
        #[cfg(target_arch = "x86_64")]
        if best == Kernels(Level::Avx512) {
            levels.push(Kernels(Level::Avx2));
        }
        levels.push(best);

        let table = noise(&mut rng, 4 * BLOCK_ROWS * L1, 0.2);
        let bias: Row = noise(&mut rng, L1, 0.5).try_into().unwrap();
        let rows: Vec<u16> = (0..17).map(|_| rng.below(256) as u16).collect();
        let inputs: [f32; 2 * L1] = noise(&mut rng, 2 * L1, 1.5).try_into().unwrap();
        let inputs = inputs.map(|x| x.clamp(0.0, 1.0));
        let weights = noise(&mut rng, HIDDEN * 2 * L1, 0.3);
        let mut input_major = Box::new([[0.0; HIDDEN]; 2 * L1]);
        for (i, row) in weights.chunks_exact(2 * L1).enumerate() {
            row.iter()
                .zip(input_major.iter_mut())
                .for_each(|(w, m)| m[i] = *w);
        }
        let slopes: [f32; HIDDEN] = noise(&mut rng, HIDDEN, 1.0).try_into().unwrap();
        let halves: Vec<u16> = noise(&mut rng, 20 * L1, 1.0)
            .iter()
            .map(|x| (x.to_bits() >> 16) as u16)
            .collect();
        let step = AdamStep {
            rate: 0.01,
            beta1: 0.9,
            beta2: 0.999,
            epsilon: 1e-8,
            decay: 0.001,
        };

        let results: Vec<_> = levels
            .iter()
            .map(|kernels| {
                let mut all = Vec::new();
                let mut row = [0.0; L1];
                kernels.accumulate(&bias, &table, &rows, &mut row);
                all.extend(row);
                all.extend(kernels.first_layer(&inputs, &input_major, &[0.25; HIDDEN]));
                let (mut gradient, mut out) = (vec![0.0; weights.len()], [0; 2 * L1]);
                kernels.first_layer_back(&inputs, &slopes, &weights, &mut gradient, &mut out);
                all.extend(&gradient);
                // Coarse, because a last bit may round the other way.
                all.extend(out.map(|half| f32::from_bits(u32::from(half) << 16) / 100.0));
                kernels.sum_rows(&halves, &[3, 19, 0, 3, 7], &mut row);
                all.extend(row);
                let (mut w, mut m, mut v) = (
                    weights.clone(),
                    vec![0.1; weights.len()],
                    vec![0.2; weights.len()],
                );
                kernels.adam(&step, &mut w, &mut m, &mut v, &gradient);
                all.extend(w.iter().chain(&m).chain(&v));
                all
            })
            .collect();
        for other in &results[1..] {
            close(&results[0], other);
        }
    }
}
