//! Compares every instruction set with the portable kernels.

use super::*;
use crate::util::rng::SplitMix64;

fn noise<const N: usize>(rng: &mut SplitMix64, span: f32) -> [f32; N] {
    std::array::from_fn(|_| span * (rng.below(2001) as f32 / 1000.0 - 1.0))
}

fn group<const N: usize>(rng: &mut SplitMix64, span: f32) -> [[f32; N]; GROUP] {
    std::array::from_fn(|_| noise(rng, span))
}

fn close(a: &[f32], b: &[f32]) {
    assert_eq!(a.len(), b.len());
    for (a, b) in a.iter().zip(b) {
        assert!((a - b).abs() <= 1e-4 * (1.0 + a.abs()), "{a} {b}");
    }
}

/// Runs `kernel` with every instruction set and compares the numbers that it returns.
fn compare(kernel: impl Fn(Kernels) -> Vec<f32>) {
    let kernels = Kernels::all();
    let expected = kernel(kernels[0]);
    for &kernels in &kernels[1..] {
        close(&expected, &kernel(kernels));
    }
}

/// Widths with different divisions into registers.
const WIDTHS: [usize; 8] = [32, 64, 96, 128, 192, 448, 1024, 1536];

/// Returns random numbers.
fn numbers(rng: &mut SplitMix64, count: usize, span: f32) -> Vec<f32> {
    (0..count).flat_map(|_| noise::<1>(rng, span)).collect()
}

#[test]
fn transformer_kernels_equal_portable_ones() {
    WIDTHS.into_iter().for_each(check_transformer);
}

fn check_transformer(width: usize) {
    let mut rng = SplitMix64::new(3);
    let (real, factor) = (numbers(&mut rng, width, 3.0), numbers(&mut rng, width, 15.0));
    let table: Vec<i16> = (0..20 * width).map(|_| rng.below(9001) as i16 - 4500).collect();
    let bias: Vec<i16> = (0..width).map(|_| rng.below(2001) as i16 - 1000).collect();
    let rows: Vec<u16> = (0..17).map(|_| rng.below(20) as u16).collect();
    compare(|kernels| {
        let mut fixed = vec![0; width];
        kernels.fold(&real, &factor, &mut fixed);
        let mut all: Vec<f32> = fixed.into_iter().map(f32::from).collect();
        let mut row = vec![0.0; width];
        for activation in [Activation::Crelu, Activation::Screlu] {
            kernels.accumulate(activation, &bias, &table, &rows, &mut row);
            all.extend(&row);
        }
        all
    });
}

#[test]
fn packed_deltas_are_added_with_precision_of_bfloat16() {
    let mut rng = SplitMix64::new(6);
    let rows: Vec<[f32; COLUMNS]> = (0..20).map(|_| noise(&mut rng, 1.0)).collect();
    let picks = [3, 19, 0, 3, 7, 11];
    for kernels in Kernels::all() {
        let mut packed = [PackedColumns::ZERO; 20];
        rows.iter().zip(&mut packed).for_each(|(row, packed)| kernels.pack(row, packed));
        let mut sums = [0.5; COLUMNS];
        kernels.add_rows(&packed, &picks, &mut sums);
        for (column, sum) in sums.into_iter().enumerate() {
            let terms = picks.iter().map(|&pick| rows[pick as usize][column]);
            let allowed: f32 = terms.clone().map(|term| term.abs() / 256.0).sum();
            let expected = 0.5 + terms.sum::<f32>();
            assert!((sum - expected).abs() <= allowed + 1e-6, "{kernels:?}, column {column}: {sum} for {expected}");
        }
    }
}

#[test]
fn first_layer_kernels_equal_portable_ones() {
    WIDTHS.into_iter().for_each(check_first_layer);
}

fn check_first_layer(width: usize) {
    let mut rng = SplitMix64::new(4);
    let inputs = numbers(&mut rng, GROUP * 2 * width, 1.5);
    let inputs: Vec<f32> = inputs.into_iter().map(|x| x.clamp(0.0, 1.0)).collect();
    let mut deltas: [Hidden; GROUP] = group(&mut rng, 1.0);
    // The last entry of the group is unused.
    deltas[GROUP - 1] = [0.0; HIDDEN];
    let weights: Vec<Hidden> = (0..2 * width).map(|_| noise(&mut rng, 0.3)).collect();
    let tile = |_| Tile(std::array::from_fn(|_| noise(&mut rng, 0.3)));
    let tiles: Vec<Tile> = (0..Tile::count(2 * width)).map(tile).collect();
    for outputs in [HIDDEN, 16, 1] {
        deltas.iter_mut().for_each(|deltas| deltas[outputs..].fill(0.0));
        check_outputs(outputs, &inputs, &deltas, &weights, &tiles);
    }
}

fn check_outputs(outputs: usize, inputs: &[f32], deltas: &[Hidden; GROUP], weights: &[Hidden], tiles: &[Tile]) {
    let (row, width) = (weights.len(), weights.len() / 2);
    let column: Vec<f32> = weights.iter().map(|weights| weights[0]).collect();
    compare(|kernels| {
        let mut sums = [[0.0; HIDDEN]; GROUP];
        kernels.first_layer(outputs, inputs, weights, &[0.25; HIDDEN], &mut sums);
        let mut all: Vec<f32> = sums.iter().flat_map(|sums| sums[..outputs].to_vec()).collect();
        kernels.first_layer(outputs, inputs, &weights[..width], &[0.25; HIDDEN], &mut sums);
        all.extend(sums.iter().flat_map(|sums| &sums[..outputs]));
        all.push(kernels.dot(&inputs[..row], &column));
        all.push(kernels.dot(&inputs[row..][..width], &column[..width]));
        for activation in [Activation::Crelu, Activation::Screlu] {
            let mut gradient = vec![Tile([[0.5; LANES]; HIDDEN]); tiles.len()];
            let (mut bias, mut out) = (vec![0.25; row], vec![0.0; (GROUP - 1) * row]);
            let sums = FirstLayerGradient { weights: &mut gradient, accumulators: &mut bias };
            let units = Units { activation, outputs, penalty: 0.125 };
            kernels.first_layer_backward(units, inputs, deltas, tiles, sums, &mut out);
            all.extend(gradient.iter().flat_map(|tile| tile.0.as_flattened()));
            all.extend(bias);
            all.extend(out);
        }
        // The first layer above products.
        let mut gradient = vec![Tile([[0.5; LANES]; HIDDEN]); Tile::count(width)];
        let mut products = vec![0.0; GROUP * width];
        let tiles = &tiles[..gradient.len()];
        let units = Units { activation: Activation::Pairwise, outputs, penalty: 0.125 };
        kernels.first_layer_deltas(units, inputs, deltas, tiles, &mut gradient, &mut products);
        all.extend(gradient.iter().flat_map(|tile| tile.0.as_flattened()));
        all.extend(&products);
        let (mut bias, mut out) = (vec![0.25; row], vec![0.0; row]);
        let position = &inputs[3 * row..][..row];
        kernels.products_backward(position, &products[3 * width..][..width], &mut bias, &mut out);
        all.extend(bias);
        all.extend(out);
        for truncate in [false, true] {
            kernels.products(position, truncate, &mut products[..width]);
            all.extend(&products[..width]);
        }
        all
    });
}

#[test]
fn upper_layer_and_adam_kernels_equal_portable_ones() {
    let mut rng = SplitMix64::new(5);
    let weights = UpperWeights {
        l2_weight: std::array::from_fn(|_| noise(&mut rng, 0.3)),
        l2_input_major: std::array::from_fn(|_| noise(&mut rng, 0.3)),
        l2_bias: noise(&mut rng, 0.3),
        output_weight: noise(&mut rng, 0.3),
        output_bias: 0.1,
    };
    let sums: [Hidden; GROUP] = group(&mut rng, 1.5);
    let deltas: [f32; GROUP] = noise(&mut rng, 1.0);
    let step = AdamStep { rate: 0.01, beta1: 0.9, beta2: 0.999, epsilon: 1e-8, decay: 0.001 };
    compare(|kernels| {
        let mut passes = [UpperActivations::default(); GROUP];
        kernels.upper(&weights, &sums, &mut passes);
        let mut all: Vec<f32> = passes.iter().map(|pass| pass.output).collect();
        let (mut gradient, mut out) = (UpperGradient::default(), [[0.0; HIDDEN]; GROUP]);
        kernels.upper_backward(&weights, &passes, &deltas, &mut gradient, &mut out);
        all.extend(out.as_flattened());
        all.extend(gradient.l2_weight.as_flattened());
        all.extend(gradient.l1_bias.iter().chain(&gradient.l2_bias));
        all.extend(gradient.output_weight);
        kernels.upper_skip(&weights, &sums, &mut passes);
        all.extend(passes.iter().map(|pass| pass.output));
        all.extend(passes.iter().flat_map(|pass| pass.hidden1));
        kernels.upper_skip_backward(&weights, &passes, &deltas, &mut gradient, &mut out);
        all.extend(out.as_flattened());
        all.extend(gradient.l1_bias);
        let (mut w, mut m, mut v) = (sums, [[0.1; HIDDEN]; GROUP], [[0.2; HIDDEN]; GROUP]);
        kernels.adam(&step, w.as_flattened_mut(), m.as_flattened_mut(), v.as_flattened_mut(), out.as_flattened());
        for table in [w, m, v] {
            all.extend(table.as_flattened());
        }
        all
    });
}
