//! Benchmarks of the evaluation: `cargo bench --bench nnue`.
//!
//! The positions come from random games with a fixed seed, which have many captures and king moves. They are evaluated
//! with the embedded network, and with published networks from `ZOOTHERA_NETS` or the shared folder if they exist.
//! Measured are the forward pass alone, a move on the board with update and forward pass, and a refresh from the cache
//! with forward pass.

use std::hint::black_box;
use std::path::PathBuf;
use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use zoothera::board::{Move, Position};
use zoothera::nnue::{AccumulatorStack, Kernel, Network};
use zoothera::util::rng::SplitMix64;

/// A game: for every ply, the move and the position after it.
type Game = Vec<(Option<Move>, Position)>;

/// Games of random legal moves.
fn random_games(count: usize) -> Vec<Game> {
    let mut rng = SplitMix64::new(1);
    let game = |_| {
        let mut position = Position::startpos();
        let mut plies = vec![(None, position.clone())];
        for _ in 0..120 {
            let moves = position.legal_moves();
            if moves.is_empty() {
                break;
            }
            let m = moves[rng.below(moves.len())];
            position.do_move(m);
            plies.push((Some(m), position.clone()));
        }
        plies
    };
    (0..count).map(game).collect()
}

/// The embedded network, and the published networks that can be found.
fn networks() -> Vec<(&'static str, Arc<Network>)> {
    let default = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared");
    let shared = std::env::var_os("ZOOTHERA_SHARED").map_or_else(default, PathBuf::from);
    let nets = std::env::var_os("ZOOTHERA_NETS").map_or_else(|| shared.join("nets"), PathBuf::from);
    let file = |name: &'static str| {
        let network =
            Network::from_file(nets.join(name)).or_else(|_| Network::from_file(shared.join("nets").join(name)));
        Some((name, Arc::new(network.ok()?)))
    };
    let published = ["nn-26abeed38351.nnue", "nn-ad9b42354671.nnue", "nn-c288c895ea92.nnue", "nn-1a298aa575a0.nnue"];
    let embedded = ("embedded", Network::embedded());
    std::iter::once(embedded).chain(published.into_iter().filter_map(file)).collect()
}

/// Measures `run` on every game, with every network and kernel.
fn measure(c: &mut Criterion, name: &str, run: fn(&mut AccumulatorStack, &Game)) {
    let games = random_games(8);
    let plies = games.iter().map(|game| game.len() as u64).sum();
    for (net, network) in networks() {
        let mut group = c.benchmark_group(format!("{name}, {net}"));
        group.throughput(Throughput::Elements(plies));
        for kernel in Kernel::available() {
            let mut stack = AccumulatorStack::with_kernel(network.clone(), kernel);
            group.bench_function(BenchmarkId::from_parameter(kernel), |b| {
                b.iter(|| games.iter().for_each(|game| run(&mut stack, game)));
            });
        }
    }
}

/// The dense layers alone: the accumulators are up to date.
fn forward(c: &mut Criterion) {
    measure(c, "forward", |stack, game| {
        stack.reset();
        let (_, position) = &game[game.len() / 2];
        for _ in game {
            black_box(stack.evaluate(black_box(position)));
        }
    });
}

/// Each ply updates the accumulators of the ply before.
fn incremental(c: &mut Criterion) {
    measure(c, "update and forward", |stack, game| {
        stack.reset();
        let mut position = game[0].1.clone();
        for m in game.iter().filter_map(|ply| ply.0) {
            stack.make(&mut position, m);
            black_box(stack.evaluate(&position));
        }
    });
}

/// Each ply rebuilds the accumulators from the refresh cache.
fn refresh(c: &mut Criterion) {
    measure(c, "refresh and forward", |stack, game| {
        for (_, position) in game {
            stack.reset();
            black_box(stack.evaluate(position));
        }
    });
}

criterion_group!(benches, forward, incremental, refresh);
criterion_main!(benches);
