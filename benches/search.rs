//! Benchmarks of the search and the transposition table: `cargo bench --bench search`.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group};
use zoothera::board::Position;
use zoothera::nnue::Network;
use zoothera::search::tt::{Bound, TableEntry, TranspositionTable};
use zoothera::search::{Limits, STACK_BYTES, Solo};
use zoothera::tools::bench::BenchOptions;
use zoothera::util::rng::SplitMix64;

/// Node limit of each search.
const NODES: u64 = 20_000;
/// Number of entries that the benchmarks of the table store and probe.
const ENTRIES: u64 = 1 << 16;

/// The positions of `bench.epd`.
fn bench_positions() -> Vec<Position> {
    let positions = BenchOptions::default().positions();
    positions.expect("bench.epd is valid")
}

/// Random keys in a table much larger than the caches: measures cache misses, and the effect of prefetching.
fn table(c: &mut Criterion) {
    let table = TranspositionTable::new(256).expect("256 MiB");
    let mut group = c.benchmark_group("table");
    group.throughput(Throughput::Elements(ENTRIES));
    let entry = TableEntry { best: None, score: 17, eval: 5, depth: 7, bound: Bound::Lower, pv: false };
    group.bench_function("store", |b| {
        let mut rng = SplitMix64::new(1);
        b.iter(|| (0..ENTRIES).for_each(|_| table.store(rng.next_u64(), black_box(entry))));
    });
    group.bench_function("probe", |b| {
        let mut rng = SplitMix64::new(1);
        b.iter(|| {
            (0..ENTRIES).for_each(|_| {
                black_box(table.probe(rng.next_u64()));
            });
        });
    });
    group.bench_function("probe after a prefetch eight keys ahead", |b| {
        let mut rng = SplitMix64::new(1);
        let mut keys = [0; 8];
        b.iter(|| {
            for i in 0..ENTRIES as usize {
                let next = rng.next_u64();
                table.prefetch(next);
                black_box(table.probe(std::mem::replace(&mut keys[i % 8], next)));
            }
        });
    });
}

/// Short searches of every sixth position in `bench.epd` with the embedded net, in nodes per second.
fn search(c: &mut Criterion) {
    let positions: Vec<_> = bench_positions().into_iter().step_by(6).collect();
    let limits = Limits { nodes: Some(NODES), ..Limits::default() };
    let mut group = c.benchmark_group("search");
    group.throughput(Throughput::Elements(NODES * positions.len() as u64));
    group.sample_size(10);
    let mut solo = Solo::new(Network::embedded(), 16);
    group.bench_function("nodes", |b| {
        b.iter(|| {
            for position in &positions {
                solo.clear();
                black_box(solo.search(position, &limits));
            }
        });
    });
}

criterion_group!(benches, table, search);

/// As `criterion_main!`, on a thread with the stack size of a search.
fn main() {
    let run = || {
        benches();
        Criterion::default().configure_from_args().final_summary();
    };
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
    let joined = thread.spawn(run).map(|thread| thread.join());
    assert!(matches!(joined, Ok(Ok(()))), "a benchmark failed");
}
