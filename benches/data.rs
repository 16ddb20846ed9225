//! Benchmarks of reading training data: `cargo bench --bench data`.
//!
//! Reads random games from a file in each format, without a filter and with a strict one.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use zoothera::board::Position;
use zoothera::board::openings::random_walk;
use zoothera::data::reader::EntryWriter;
use zoothera::data::reader::{Format, read_records};
use zoothera::data::{Entry, Filter};
use zoothera::util::rng::SplitMix64;

/// Minimum number of positions in a file.
const COUNT: usize = 100_000;

/// Positions of random games with random scores.
fn entries() -> Vec<Entry> {
    let mut rng = SplitMix64::new(1);
    let mut entries = Vec::new();
    while entries.len() < COUNT {
        let Some(mut position) = random_walk(&Position::startpos(), 8, &mut rng) else {
            continue;
        };
        for _ in 0..100 {
            let moves = position.legal_moves();
            if moves.is_empty() {
                break;
            }
            let m = moves[rng.below(moves.len())];
            entries.push(Entry { m: Some(m), score: rng.below(6000) as i16 - 3000, ..Entry::of(&position) });
            position.do_move(m);
        }
    }
    entries
}

fn reading(c: &mut Criterion) {
    let entries = entries();
    let folder = tempfile::tempdir().expect("a folder");
    let mut group = c.benchmark_group("read");
    group.throughput(Throughput::Elements(entries.len() as u64));
    let strict = Filter { quiet: true, max_score: 1000, ..Filter::default() };
    for (name, format) in [("a.bin", Format::Bin), ("a.binpack", Format::Binpack), ("a.plain", Format::Plain)] {
        let mut writer = EntryWriter::new(format, Vec::new()).expect("a writer");
        for entry in &entries {
            writer.write(entry).expect("a valid entry");
        }
        let path = folder.path().join(name);
        let bytes = writer.finish().expect("a vector");
        std::fs::write(&path, bytes).expect("a file");
        for (what, filter) in [("no filter", Filter::default()), ("strict filter", strict)] {
            group.bench_function(format!("{name}, {what}"), |b| {
                b.iter(|| black_box(read_records(&path, &filter)).expect("a valid file"));
            });
        }
    }
}

criterion_group!(benches, reading);
criterion_main!(benches);
