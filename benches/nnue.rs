//! What an evaluation costs: `cargo bench --bench nnue`.
//!
//! The positions are random games from a fixed seed with many captures and king moves, evaluated
//! with the embedded network and with those of the shared folder, if there is one: the forward pass
//! alone, one update and forward per move, and a rebuild from the refresh cache.

use std::hint::black_box;
use std::path::PathBuf;
use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use zoothera::board::{DirtyPieces, Position};
use zoothera::nnue::{AccumulatorStack, Kernel, Network};
use zoothera::util::rng::SplitMix64;

/// A random game: for every ply what changed, and the position reached.
type Game = Vec<(DirtyPieces, Position)>;

/// Games of random legal moves.
fn random_games(count: usize) -> Vec<Game> {
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

/// The embedded network, and the newest of the shared folder.
fn networks() -> Vec<(&'static str, Arc<Network>)> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared");
    let shared = std::env::var_os("ZOOTHERA_SHARED").map_or_else(beside, PathBuf::from);
    let file = |name: &'static str| {
        let network = Network::from_file(shared.join("nets").join(name));
        Some((name, Arc::new(network.ok()?)))
    };
    let published = ["nn-26abeed38351.nnue", "nn-ad9b42354671.nnue"];
    let embedded = ("embedded", Network::embedded());
    std::iter::once(embedded)
        .chain(published.into_iter().filter_map(file))
        .collect()
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

/// The sums are up to date: only the dense layers work.
fn forward(c: &mut Criterion) {
    measure(c, "forward", |stack, game| {
        stack.reset();
        let (_, position) = &game[game.len() / 2];
        for _ in game {
            black_box(stack.evaluate(black_box(position)));
        }
    });
}

/// Every ply changes the sums of the one before.
fn incremental(c: &mut Criterion) {
    measure(c, "update and forward", |stack, game| {
        stack.reset();
        for (dirty, position) in game {
            stack.push(dirty);
            black_box(stack.evaluate(position));
        }
    });
}

/// Every ply is built from the refresh cache.
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
