//! What an evaluation costs: `cargo bench --bench nnue`.
//!
//! The positions are a random game from a fixed seed with many captures and king moves, evaluated
//! with the embedded network: the forward pass alone, one update and forward per move, and a
//! rebuild from the refresh cache.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use zoothera::board::{DirtyPieces, Position};
use zoothera::nnue::{AccumulatorStack, Kernel, Kernels, Network};
use zoothera::util::rng::SplitMix64;

/// Games of random legal moves: for every ply what changed, and the position reached.
fn random_games(count: usize) -> Vec<Vec<(DirtyPieces, Position)>> {
    let mut rng = SplitMix64::new(1);
    let game = |_| {
        let mut position = Position::startpos();
        let mut plies = vec![(DirtyPieces::none(), position.clone())];
        for _ in 0..120 {
            let moves = position.legal_moves();
            if moves.is_empty() {
                break;
            }
            let dirty = position.do_move(moves[rng.below(moves.len())]);
            plies.push((dirty, position.clone()));
        }
        plies
    };
    (0..count).map(game).collect()
}

fn forward(c: &mut Criterion) {
    let network = Network::embedded();
    let transformer = network.transformer();
    let (empty, rows) = (transformer.empty::<256, 0>(), transformer.rows());
    let mut group = c.benchmark_group("forward");
    for kernel in Kernel::available() {
        let kernels = Kernels::new(kernel).expect("an available kernel");
        let mut sums = [empty.clone(), empty.clone()];
        let pieces: Vec<u16> = (0..28).map(|i| 4 * 641 + 23 * i).collect();
        sums.iter_mut()
            .for_each(|to| kernels.update(rows, &empty, to, &pieces, &[]));
        group.bench_function(BenchmarkId::from_parameter(kernel), |b| {
            let [own, other] = &sums;
            let (own, other) = (&own.neurons, &other.neurons);
            b.iter(|| {
                let head = &network.heads()[0];
                kernels.clipped::<256, 32>(head, black_box(own), black_box(other))
            });
        });
    }
}

fn games(
    c: &mut Criterion,
    name: &str,
    run: fn(&mut AccumulatorStack, &[(DirtyPieces, Position)]),
) {
    let games = random_games(8);
    let network: Arc<Network> = Network::embedded();
    let mut group = c.benchmark_group(name);
    group.throughput(Throughput::Elements(
        games.iter().map(|game| game.len() as u64).sum(),
    ));
    for kernel in Kernel::available() {
        let mut stack = AccumulatorStack::with_kernel(network.clone(), kernel);
        group.bench_function(BenchmarkId::from_parameter(kernel), |b| {
            b.iter(|| games.iter().for_each(|game| run(&mut stack, game)));
        });
    }
}

fn incremental(c: &mut Criterion) {
    games(c, "update and forward", |stack, game| {
        stack.reset();
        for (dirty, position) in game {
            stack.push(dirty);
            black_box(stack.evaluate(position));
        }
    });
}

fn refresh(c: &mut Criterion) {
    games(c, "refresh and forward", |stack, game| {
        for (_, position) in game {
            stack.reset();
            black_box(stack.evaluate(position));
        }
    });
}

criterion_group!(benches, forward, incremental, refresh);
criterion_main!(benches);
