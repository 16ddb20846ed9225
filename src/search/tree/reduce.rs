//! Step 14. Amounts of late move reductions, as pure functions of node and move.
// CITE: terms and figures: SF-2026-08 where no other source is named.

use std::sync::LazyLock;

use super::node::{Candidate, Node, NodeType};
use crate::search::params;
use crate::search::rules;
use crate::search::score::NONE;

/// Logarithm of a depth or a move count, scaled so that the product of two gives the base in 1024ths of a ply.
fn log(i: i32) -> i32 {
    static LOGS: LazyLock<[i32; 256]> = LazyLock::new(|| std::array::from_fn(scaled_log));
    let i = i.clamp(0, 255) as usize;
    // The factor can change in a tuning build, so there is no lookup table.
    if cfg!(feature = "tune") { scaled_log(i) } else { LOGS[i] }
}

fn scaled_log(i: usize) -> i32 {
    let factor = f64::from(params::red_factor()) / 128.0;
    (factor * (i.max(1) as f64).ln()) as i32
}

/// Reduction by depth and move count, in 1024ths of a ply. `window_share` is in 1024ths.
// CITE: the product of two logarithms: Stockfish; less near the width of the root's window: Stockfish (2021). Figures:
// SF-2026-08, except `red_factor`, from our screenings. The cap on the window's term: origin not recorded.
pub fn base(improving: bool, depth: i32, count: i32, window_share: i32) -> i32 {
    let product = log(depth) * log(count);
    product - window_share.min(params::red_delta_max()) * params::red_delta() / 1024
        + i32::from(!improving) * product * params::red_not_improving() / 1024
        + params::red_base()
}

/// Inputs of the reduction.
pub(super) struct ReductionFacts<'a, N: NodeType> {
    pub node: &'a Node<N>,
    pub candidate: &'a Candidate,
    pub tt_pv: bool,
    /// Cutoffs in the children searched so far.
    pub child_cutoffs: i32,
    pub stat_score: i32,
}

/// The total reduction in 1024ths of a ply; a negative one extends.
pub(super) fn reduction<N: NodeType>(f: &ReductionFacts<N>) -> i32 {
    let (node, c) = (f.node, f.candidate);
    let flag = i32::from;
    let mut r = c.reduction;
    // A node that is or was on a principal variation needs the full depth more often.
    // CITE: Stockfish (2019). There, part of this term (929) applies before shallow pruning; here no part does.
    if rules::reduce_pv() && f.tt_pv {
        r -= params::red_ttpv()
            + flag(N::PV) * params::red_ttpv_pv()
            + flag(node.tt_score != NONE && node.tt_score > node.alpha) * params::red_ttpv_score()
            + flag(node.tt_depth() >= node.depth)
                * (params::red_ttpv_depth() + flag(node.cut_node) * params::red_ttpv_cut());
    }
    r += params::red_offset() - c.count * params::red_count();
    // Where the static evaluation was wrong before, reductions are less safe.
    r -= node.correction.abs() * params::red_corr() / 1024;
    // A node that is expected to fail high usually does so with its first moves.
    if rules::reduce_cut_node() && node.cut_node {
        r += params::red_cut() + params::red_cut_no_tt() * flag(node.tt_move.is_none());
    }
    // If the table's move is noisy, other moves are rarely better.
    if rules::reduce_noisy() && node.tt_noisy {
        r += params::red_tt_noisy();
    }
    // Many cutoffs among the children: the opponent refutes moves easily.
    // CITE: Stockfish (2022).
    let min_cutoffs = params::red_cutoffs_min();
    if rules::reduce_child_cutoffs() && f.child_cutoffs > min_cutoffs {
        r += params::red_cutoffs()
            + flag(f.child_cutoffs > min_cutoffs + 1) * params::red_cutoffs_more()
            + flag(node.all_node()) * params::red_cutoffs_all();
    } else if Some(c.m) == node.tt_move {
        r -= params::red_tt_move();
    }
    // Moves with a good history are reduced less, moves with a bad one more.
    if rules::reduce_history() {
        r -= f.stat_score * params::red_history() / 16_384;
    }
    r + all_node_reduction(node, r)
}

/// Extra reduction in nodes where every move is expected to fail low, largest at shallow depth.
// CITE: SF-2026-08. Its gain is within the error of our matches: see `docs/experiments.md`.
fn all_node_reduction<N: NodeType>(node: &Node<N>, r: i32) -> i32 {
    if !rules::reduce_all_node() || !node.all_node() {
        return 0;
    }
    r * params::red_all() / (params::red_all_depth() * node.depth + params::red_all_offset())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::{Color, Move, Piece, Role, Square};
    use crate::search::tree::node::{NullWindow, Pv};

    #[test]
    fn base_reduction_rises_with_move_count_and_depth() {
        for improving in [false, true] {
            for window_share in [0, 16, 1024, 100_000] {
                for depth in 1..=60 {
                    for count in 1..=255 {
                        let r = base(improving, depth, count, window_share);
                        assert!(base(improving, depth, count + 1, window_share) >= r, "depth {depth}, move {count}");
                        assert!(base(improving, depth + 1, count, window_share) >= r, "depth {depth}, move {count}");
                    }
                }
            }
        }
        assert!(base(true, 10, 20, 0) > base(true, 10, 2, 0) + 1024);
        assert!(base(true, 20, 10, 0) > base(true, 2, 10, 0) + 1024);
    }

    #[test]
    fn base_reduction_is_smaller_in_wide_windows_and_if_improving() {
        for depth in 2..=60 {
            for count in 2..=100 {
                assert!(base(true, depth, count, 512) < base(true, depth, count, 0));
                assert!(base(true, depth, count, 0) < base(false, depth, count, 0));
            }
        }
    }

    /// A quiet move in a null-window node of depth 8 that is expected to fail low.
    struct Case {
        node: Node<NullWindow>,
        candidate: Candidate,
        tt_pv: bool,
        child_cutoffs: i32,
        stat_score: i32,
    }

    /// The reduction after `change` of one fact.
    fn reduction_with(change: impl FnOnce(&mut Case)) -> i32 {
        let candidate = Candidate {
            m: Move::new(Square::E2, Square::E4).expect("not a1a1"),
            piece: Piece { color: Color::White, role: Role::Pawn },
            captured: None,
            noisy: false,
            gives_check: false,
            count: 5,
            depth: 7,
            reduction: base(false, 8, 5, 0),
        };
        let node = Node::new(0, 1, 8, false);
        let mut case = Case { node, candidate, tt_pv: false, child_cutoffs: 0, stat_score: 0 };
        change(&mut case);
        let Case { node, candidate, tt_pv, child_cutoffs, stat_score } = &case;
        let (tt_pv, child_cutoffs, stat_score) = (*tt_pv, *child_cutoffs, *stat_score);
        reduction(&ReductionFacts { node, candidate, tt_pv, child_cutoffs, stat_score })
    }

    #[test]
    fn reduction_falls_with_history_and_rises_with_child_cutoffs() {
        let by_history = |score| reduction_with(|case| case.stat_score = score);
        assert!((-60_000..60_000).step_by(1000).all(|score| by_history(score) >= by_history(score + 1000)));
        assert!(by_history(-30_000) > by_history(30_000) + 1024);
        let by_cutoffs = |cutoffs| reduction_with(|case| case.child_cutoffs = cutoffs);
        assert!((0..6).all(|cutoffs| by_cutoffs(cutoffs) <= by_cutoffs(cutoffs + 1)));
        assert!(by_cutoffs(4) > by_cutoffs(0) + 1024);
    }

    #[test]
    fn reduction_depends_on_the_type_of_node() {
        let cut_node = |tt_pv| {
            reduction_with(|case| {
                case.node.cut_node = true;
                case.tt_pv = tt_pv;
            })
        };
        assert!(cut_node(false) > reduction_with(|_| {}));
        assert!(cut_node(true) < cut_node(false));
        // In a node that is expected to fail low, the same terms count more.
        let scaled = all_node_reduction(&Node::<NullWindow>::new(0, 1, 8, false), 1000);
        assert!(scaled > 0 && scaled < 1000);
        assert_eq!(all_node_reduction(&Node::<Pv>::new(0, 9, 8, false), 1000), 0);
    }

    #[test]
    fn table_move_is_reduced_less_and_other_moves_more_if_it_is_noisy() {
        let quiet = reduction_with(|_| {});
        let of_table = reduction_with(|case| case.node.tt_move = Some(case.candidate.m));
        let beside_noisy = reduction_with(|case| case.node.tt_noisy = true);
        assert!(of_table < quiet && quiet < beside_noisy);
        let unreliable = reduction_with(|case| case.node.correction = -150);
        assert!(unreliable < quiet);
    }
}
