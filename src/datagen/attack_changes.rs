//! Rows of the first layer that change with a move of the search, for the choice of attack inputs. Tests only.

use std::sync::Arc;

use shakmaty::Color;

use crate::board::{CastlingMode, Position};
use crate::nnue::features::Features;
use crate::nnue::features::attack_inputs::AttackInputs;
use crate::nnue::{Board, Network};
use crate::search::score::Value;
use crate::search::solo::Sampler;
use crate::search::{Limits, Solo};
use crate::util::sync::Mutex;

const FEATURES: Features = Features::HalfKav2Hm8;

/// Sums over moves and perspectives without a change of the view.
#[derive(Clone, Copy, Default, Debug)]
struct Sums {
    perspectives: usize,
    active: usize,
    changed: usize,
}

/// Counts the rows of each set in evaluated positions and in the positions before the last move.
struct Counter(Arc<Mutex<Vec<Sums>>>);

/// The active attack inputs of a perspective in ascending order.
fn rows(inputs: AttackInputs, position: &Position, color: Color) -> Vec<u16> {
    let board = Board::from(position);
    let view = FEATURES.set().view(color, board.king(color));
    let mut rows = Vec::new();
    inputs.active(&board, [(color, view); 2], |side, row| rows.extend((side == 0).then_some(row)));
    rows.sort_unstable();
    rows
}

/// Number of elements of two ascending lists that are not in the other one.
fn difference(a: &[u16], b: &[u16]) -> usize {
    let (mut i, mut j, mut common) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        common += usize::from(a[i] == b[j]);
        let (x, y) = (a[i], b[j]);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    a.len() + b.len() - 2 * common
}

impl Sampler for Counter {
    fn evaluated(&mut self, position: &Position, _: Value) {
        if position.last_move().is_none() {
            return;
        }
        let mut before = position.clone();
        before.undo_move();
        for color in Color::ALL {
            let view = |position: &Position| FEATURES.set().view(color, Board::from(position).king(color));
            if view(position) != view(&before) {
                continue;
            }
            for (&inputs, sums) in AttackInputs::ALL.iter().zip(self.0.lock().iter_mut()) {
                let after = rows(inputs, position, color);
                sums.perspectives += 1;
                sums.active += after.len();
                sums.changed += difference(&after, &rows(inputs, &before, color));
            }
        }
    }
}

#[test]
fn moves_of_the_search_change_few_attacks_on_enemies() {
    let sums = Arc::new(Mutex::new(vec![Sums::default(); AttackInputs::ALL.len()]));
    let mut solo = Solo::new(Network::embedded(), 1);
    solo.set_sampler(Some(Box::new(Counter(sums.clone()))));
    let limits = Limits { nodes: Some(1000), ..Limits::default() };
    // Every fourth position, to save time.
    let positions = include_str!("../../bench.epd").lines().step_by(4).filter_map(|line| {
        let fen: Vec<&str> = line.split_whitespace().take(4).collect();
        Position::from_fen(&format!("{} 0 1", fen.join(" ")), CastlingMode::Standard).ok()
    });
    for position in positions {
        solo.search(&position, &limits);
    }
    let found: Vec<(AttackInputs, f64, f64)> = AttackInputs::ALL
        .iter()
        .zip(sums.lock().iter())
        .map(|(&inputs, sums)| {
            let mean = |sum: usize| sum as f64 / sums.perspectives as f64;
            (inputs, mean(sums.active), mean(sums.changed))
        })
        .collect();
    for (inputs, active, changed) in &found {
        eprintln!("{inputs}: {active:.2} active, {changed:.2} changed by a move, for a perspective");
    }
    let of = |wanted: AttackInputs| found.iter().find(|(inputs, ..)| *inputs == wanted).expect("a set").2;
    assert!((1.0..3.0).contains(&of(AttackInputs::ToEnemy)));
    assert!((3.0..8.0).contains(&of(AttackInputs::To)));
    assert!(of(AttackInputs::Attacked) < of(AttackInputs::States));
}
