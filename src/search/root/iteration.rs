//! Iterative deepening, MultiPV, and the end of the search.

use std::cmp::Reverse;
use std::sync::atomic::Ordering::Relaxed;

use super::lines;
use super::root_move::{Exact, RootMove};
use super::time;
use super::window::Window;
use crate::board::Move;
use crate::search::params;
use crate::search::report::{Progress, ScoreBound};
use crate::search::score::{self, INFINITE, MAX_PLY, NONE, Value};
use crate::search::threads::worker::Worker;
use crate::search::tree::node::{Node, NodeType, Root};
use crate::search::tree::step::Searched;

/// Milliseconds before bounds and current moves are reported; earlier reports would change too fast to be read.
const REPORT_DELAY_MS: f64 = 3000.0;

/// Worker 0's record of the previous iterations, for the time management.
struct Trend {
    values: [Value; 4],
    stable: i32,
    changes: f64,
    best: Option<Move>,
}

impl Worker {
    /// Searches with increasing depth until a limit is reached or the pool stops the search.
    pub fn iterate(&mut self) {
        let first = self.job.previous_value.unwrap_or(0);
        let mut trend = Trend { values: [first; 4], stable: 0, changes: 0.0, best: None };
        let lines = self.job.options.multi_pv.clamp(1, self.root_moves.len().max(1));
        let deepest = self.job.limits.depth.unwrap_or(MAX_PLY as i32 - 1).clamp(1, MAX_PLY as i32 - 1);
        for depth in 1..=deepest {
            self.root_depth = depth;
            self.update_limit_in_reach();
            trend.changes /= 2.0;
            for root in &mut self.root_moves {
                root.previous = root.value;
            }
            let mut aborted = false;
            for line in 0..lines {
                self.line = line;
                self.seldepth = 0;
                self.recall_values();
                if self.aspire(depth).is_err() {
                    aborted = true;
                    break;
                }
                self.root_moves[..=line].sort_by_key(|root| Reverse(root.value));
            }
            self.publish();
            if aborted {
                break;
            }
            self.completed_depth = depth;
            if self.id == 0 {
                self.report_lines(lines);
                if self.finished(&mut trend) {
                    break;
                }
            }
            if self.signals.stop.load(Relaxed) {
                break;
            }
        }
        self.value_unsearched(lines);
        self.publish();
    }

    /// Prepares a later line of MultiPV. Moves ranked below the previous line get their values of the previous
    /// iteration, at most that line's value. If the search ends within this line, these values rank the moves.
    fn recall_values(&mut self) {
        let (above, below) = self.root_moves.split_at_mut(self.line);
        let Some(max_value) = above.last().map(|root| root.value) else {
            return;
        };
        for root in below.iter_mut().filter(|root| root.value == -INFINITE) {
            root.value = root.previous.min(max_value);
        }
    }

    /// Ranks root moves that have no value by their static evaluations. This is needed if a limit ended the search
    /// before the first `lines` moves had a value.
    fn value_unsearched(&mut self, lines: usize) {
        let is_unsearched = |root: &RootMove| root.shown == -INFINITE;
        if !self.root_moves.iter().take(lines).any(is_unsearched) {
            return;
        }
        // These evaluations are not part of the search: they are neither counted nor sampled.
        let (nodes, sampler) = (self.nodes, self.sampler.take());
        self.root_moves.sort_by_key(is_unsearched);
        let first = self.root_moves.partition_point(|root| !is_unsearched(root));
        for index in first..self.root_moves.len() {
            let m = self.root_moves[index].m;
            let value = -self.child(m, Self::static_value);
            let root = &mut self.root_moves[index];
            (root.value, root.shown, root.depth) = (value, value, 1);
        }
        self.root_moves[first..].sort_by_key(|root| Reverse(root.value));
        (self.nodes, self.sampler) = (nodes, sampler);
    }

    /// Searches one line at one depth, with an aspiration window around the expected value. The window widens when the
    /// value is outside it.
    fn aspire(&mut self, depth: i32) -> Searched<()> {
        let mut window = Window::around(&self.root_moves[self.line], depth, self.id);
        let mut fail_highs = 0;
        loop {
            self.root_delta = window.beta - window.alpha;
            // CITE: less depth after a fail-high: Stockfish.
            let adjusted = (depth - fail_highs).max(1);
            let result = self.negamax::<Root>(window.alpha, window.beta, adjusted, false);
            self.sort_line();
            let value = result?;
            if window.contains(value) {
                return Ok(());
            }
            if self.id == 0 && self.elapsed() > REPORT_DELAY_MS && self.job.options.multi_pv == 1 {
                self.report_lines(1);
            }
            if value <= window.alpha {
                // The position is worse than expected, so it is searched again at full depth.
                fail_highs = 0;
                if self.id == 0 {
                    self.stop_on_ponderhit = false;
                }
            } else {
                fail_highs += 1;
            }
            window.widen(value);
        }
    }

    /// Sorts the root moves of this line by value. Moves that did not become the best keep the order of the previous
    /// iteration.
    fn sort_line(&mut self) {
        self.root_moves[self.line..].sort_by_key(|root| Reverse((root.value, root.previous)));
    }

    /// Records the result of the search of a root move.
    pub fn record_root_move<N: NodeType>(&mut self, m: Move, value: Value, count: i32, nodes: u64, node: &Node<N>) {
        let (seldepth, depth) = (self.seldepth, self.root_depth);
        let child_pv = std::mem::take(&mut self.pv[1]);
        let Some(root) = self.root_moves.iter_mut().find(|root| root.m == m) else {
            return;
        };
        self.has_value = true;
        root.nodes += nodes;
        let squared = i64::from(value) * i64::from(value.abs());
        if root.average == NONE {
            (root.average, root.mean_squared) = (value, squared.abs());
        } else {
            root.average = root.averaged(value, nodes);
            root.mean_squared = (squared.abs() + root.mean_squared) / 2;
        }
        if count == 1 || value > node.alpha {
            root.value = value;
            (root.seldepth, root.depth) = (seldepth, depth);
            (root.shown, root.bound) = if value >= node.beta {
                (node.beta, ScoreBound::Lower)
            } else if value <= node.alpha {
                (node.alpha, ScoreBound::Upper)
            } else {
                (value, ScoreBound::Exact)
            };
            root.pv.clear();
            root.pv.push(m);
            root.pv.extend_from_slice(&child_pv);
            if root.bound == ScoreBound::Exact {
                root.exact = Some(Exact { depth, value, seldepth, pv: root.pv.clone() });
            }
            if count > 1 && self.line == 0 {
                self.count_best_move_change();
            }
        } else {
            root.value = -INFINITE;
        }
        self.pv[1] = child_pv;
    }

    /// Whether the search should end. Called by worker 0 after a completed iteration.
    fn finished(&mut self, trend: &mut Trend) -> bool {
        let RootMove { m, value, .. } = self.root_moves[0];
        trend.stable = if trend.best == Some(m) { trend.stable + 1 } else { 0 };
        trend.best = Some(m);
        if let Some(moves) = self.job.limits.mate
            && score::is_mate(value)
            && score::MATE - value.abs() <= 2 * moves
        {
            return true;
        }
        if self.job.limits.soft_nodes.is_some_and(|limit| self.signals.nodes() >= limit) {
            return true;
        }
        let done = self.soft_limit_passed(trend);
        let slot = (self.completed_depth & 3) as usize;
        trend.values[slot] = value;
        done
    }

    fn soft_limit_passed(&mut self, trend: &mut Trend) -> bool {
        let (Some(budget), best) = (self.job.budget, &self.root_moves[0]) else {
            return false;
        };
        if self.job.limits.infinite {
            return false;
        }
        let threads = self.signals.counters.len() as f64;
        let changes: u64 = self.signals.counters.iter().map(|c| c.best_move_changes.swap(0, Relaxed)).sum();
        trend.changes += changes as f64 / 1024.0 / threads;
        let slot = (self.completed_depth & 3) as usize;
        let before = self.job.previous_value.unwrap_or(best.value);
        let fall = f64::from(params::time_falling_previous()) / 1000.0 * f64::from(before - best.average)
            + f64::from(trend.values[slot] - best.value);
        let summary = time::IterationSummary {
            score_fall: if score::is_decisive(best.value) { 0.0 } else { fall },
            stable_iterations: trend.stable,
            best_move_changes: trend.changes,
            effort: best.nodes as f64 / self.nodes.max(1) as f64,
            forced: self.job.root_moves.len() == 1,
        };
        let soft =
            if budget.adjustable { (budget.soft * time::stretch(&summary)).min(budget.hard) } else { budget.soft };
        if self.elapsed() < soft {
            return false;
        }
        if self.signals.pondering.load(Relaxed) {
            self.stop_on_ponderhit = true;
            return false;
        }
        true
    }

    // -- reports ---------------------------------------------------------------------------------------------

    /// Counters for a report.
    pub fn progress(&self) -> Progress {
        self.publish();
        self.job.progress(&self.signals)
    }

    fn report_lines(&self, lines: usize) {
        if !self.job.reporter.wants_lines() {
            return;
        }
        let progress = self.progress();
        for rank in 0..lines {
            let root = &self.root_moves[rank];
            if root.value == -INFINITE {
                continue;
            }
            let line = lines::latest_line(&self.job, root, rank + 1);
            self.job.reporter.line(&line, &progress);
        }
    }

    /// Reports the root move that is being searched, with the iteration's depth. After a fail-high the depth of the
    /// search is lower, and GUIs would start a new line for another depth.
    pub fn report_current_move(&self, m: Move, count: i32) {
        // The clock is read last, because that costs more than the other conditions.
        if self.id == 0 && self.job.reporter.wants_lines() && self.elapsed() > REPORT_DELAY_MS {
            let number = count as usize + self.line;
            self.job.reporter.current_move(self.root_depth, m, number);
        }
    }
}

#[cfg(test)]
mod tests;
