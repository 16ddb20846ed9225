//! Benchmarks of the board: `cargo bench --bench board`.
//!
//! The rates are per legal move of the positions in `bench.epd`. Measured are move generation, legality, checks, static
//! exchange evaluation, and making and undoing moves.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use zoothera::board::{CastlingMode, Move, MoveList, Position};
use zoothera::tools::bench::BenchOptions;

/// The positions of `bench.epd`.
fn bench_positions() -> Vec<Position> {
    let positions = BenchOptions::default().positions();
    positions.expect("bench.epd is valid")
}

/// The positions of standard chess with their legal moves.
fn boards() -> Vec<(Position, Vec<Move>)> {
    let of = |position: Position| {
        let moves = position.legal_moves().iter().copied().collect();
        (position, moves)
    };
    let standard = |position: &Position| position.castling_mode() == CastlingMode::Standard;
    bench_positions().into_iter().filter(standard).map(of).collect()
}

/// Measures `run` on every position, per move.
fn measure(c: &mut Criterion, name: &str, mut run: impl FnMut(&mut Position, &[Move])) {
    let mut boards = boards();
    let moves = boards.iter().map(|(_, moves)| moves.len() as u64).sum();
    let mut group = c.benchmark_group("board");
    group.throughput(Throughput::Elements(moves));
    group.bench_function(name, |b| {
        b.iter(|| boards.iter_mut().for_each(|(position, moves)| run(position, moves)));
    });
}

fn generation(c: &mut Criterion) {
    let mut list = MoveList::new();
    measure(c, "generate noisy", |position, _| {
        list.clear();
        position.generate_noisy(black_box(&mut list));
    });
    measure(c, "generate quiet", |position, _| {
        list.clear();
        position.generate_quiet(black_box(&mut list));
    });
}

fn move_tests(c: &mut Criterion) {
    measure(c, "pseudo_legal and legal", |position, moves| {
        for &m in moves {
            black_box(position.pseudo_legal(black_box(m)) && position.legal(m));
        }
    });
    measure(c, "gives_check", |position, moves| {
        let checks = position.check_info();
        for &m in moves {
            black_box(position.gives_check(&checks, black_box(m)));
        }
    });
    measure(c, "see_ge", |position, moves| {
        for &m in moves {
            black_box(position.see_ge(black_box(m), 0));
        }
    });
}

fn moves(c: &mut Criterion) {
    measure(c, "do_move and undo_move", |position, moves| {
        for &m in moves {
            black_box(position.do_move(black_box(m)));
            position.undo_move();
        }
    });
}

criterion_group!(benches, generation, move_tests, moves);
criterion_main!(benches);
