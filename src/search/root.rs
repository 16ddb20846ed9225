//! The root: iterative deepening, MultiPV, the aspiration window, the end of the search, and report lines.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use super::limits::{self, IterationSummary};
use super::negamax::{Node, NodeType, Root};
use super::request::{Exact, RootMove, SearchRequest};
use super::score::{self, INFINITE, Line, MAX_PLY, NONE, Progress, ScoreBound, Value};
use super::worker::{Searched, Worker};
use super::{evaluate, params, tablebases};
use crate::board::Move;

/// Milliseconds before bounds and current moves are reported; earlier reports would change too fast to be read.
const REPORT_DELAY_MS: f64 = 3000.0;

/// Worker 0's record of the previous iterations, for the time management.
struct Trend {
    /// Values of the last four iterations, by the lower bits of the depth.
    values: [Value; 4],
    /// Iterations since the best move last changed.
    stable: i32,
    /// Changes of the best move, halved at each iteration; the mean over the threads.
    changes: f64,
    /// Best move of the last iteration.
    best: Option<Move>,
}

impl Trend {
    /// The place of an iteration's value. Before it is written, it holds the value of four iterations earlier.
    fn value_at(&mut self, depth: i32) -> &mut Value {
        &mut self.values[(depth & 3) as usize]
    }
}

impl Worker {
    /// Searches with increasing depth until a limit is reached or the pool stops the search.
    pub fn iterate(&mut self) {
        let first = self.request.previous_value.unwrap_or(0);
        let mut trend = Trend { values: [first; 4], stable: 0, changes: 0.0, best: None };
        let lines = self.lines();
        let deepest = self.request.limits.depth.unwrap_or(MAX_PLY as i32 - 1).clamp(1, MAX_PLY as i32 - 1);
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
                self.group = self.group_of(line);
                self.seldepth = 0;
                self.recall_values();
                if self.aspire(depth).is_err() {
                    aborted = true;
                    break;
                }
                self.root_moves[self.group.start..=line].sort_by_key(|root| Reverse(root.value));
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
        self.value_unsearched(self.request.options.multi_pv);
        self.publish();
    }

    /// The root moves of the same rank as that of `line`. A line is the best of the remaining moves of its rank.
    fn group_of(&self, line: usize) -> Range<usize> {
        let rank = self.root_moves[line].rank;
        let start = self.root_moves.partition_point(|root| root.rank > rank);
        start..self.root_moves.partition_point(|root| root.rank >= rank)
    }

    /// Number of lines to search. A level searches one.
    fn lines(&self) -> usize {
        let lines = if self.request.handicap.is_some() { 1 } else { self.request.options.multi_pv };
        lines.clamp(1, self.root_moves.len().max(1))
    }

    /// Prepares a later line of MultiPV. Moves ranked below the previous line get their values of the previous
    /// iteration, at most that line's value. If the search ends within this line, these values rank the moves.
    fn recall_values(&mut self) {
        let (above, below) = self.root_moves[self.group.clone()].split_at_mut(self.line - self.group.start);
        let Some(max_value) = above.last().map(|root| root.value) else {
            return;
        };
        for root in below.iter_mut().filter(|root| root.value == -INFINITE) {
            root.value = root.previous.min(max_value);
        }
    }

    /// Ranks root moves that have no value by their static evaluations. This is needed if a limit ended the search
    /// before the first `lines` moves had a value, and for the further lines of a level.
    fn value_unsearched(&mut self, lines: usize) {
        let is_unsearched = |root: &RootMove| root.shown == -INFINITE;
        if !self.root_moves.iter().take(lines).any(is_unsearched) {
            return;
        }
        // These evaluations are not part of the search: they are neither counted nor sampled.
        let (nodes, sampler) = (self.nodes, self.sampler.take());
        let unsearched: Vec<Move> =
            self.root_moves.iter().filter(|root| is_unsearched(root)).map(|root| root.m).collect();
        for &m in &unsearched {
            let value = -self.child(m, Self::static_value);
            if let Some(root) = self.root_moves.iter_mut().find(|root| root.m == m) {
                (root.value, root.shown, root.depth) = (value, value, 1);
            }
        }
        self.root_moves.sort_by_key(|root| {
            let late = unsearched.contains(&root.m);
            (Reverse(root.rank), late, Reverse(if late { root.value } else { 0 }))
        });
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
            if self.id == 0 && self.elapsed() > REPORT_DELAY_MS && self.lines() == 1 {
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

    /// Sorts the root moves that this line has searched by value. Moves that did not become the best keep the order of
    /// the previous iteration.
    fn sort_line(&mut self) {
        self.recall_mates();
        let rest = self.line..self.group.end;
        self.root_moves[rest].sort_by_key(|root| Reverse((root.value, root.previous)));
    }

    /// Restores the mates found before, by any thread, of moves that this iteration values lower. A deeper search that
    /// lost the mate's entries in the table often misses it, but does not refute it. A level, which overlooks moves,
    /// proves nothing.
    // CITE: a mate outlasts later iterations: Stockfish, where it replaces the final line (SF-2026-08).
    fn recall_mates(&mut self) {
        if self.request.handicap.is_some() {
            return;
        }
        let depth = self.root_depth;
        let open = &mut self.root_moves[self.line..self.group.end];
        if let Some((m, mate)) = self.signals.shared_mate()
            && let Some(root) = open.iter_mut().find(|root| root.m == m)
        {
            root.learn_mate(&mate);
        }
        open.iter_mut().for_each(|root| root.recall_mate(depth));
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
                let exact = Exact { depth, value, seldepth, pv: root.pv.clone() };
                if value >= score::MATE_IN_MAX_PLY {
                    root.learn_mate(&exact);
                    self.signals.share_mate(m, &exact);
                }
                root.exact = Some(exact);
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
        if let Some(moves) = self.request.limits.mate
            && score::is_mate(value)
            && score::MATE - value.abs() <= 2 * moves
        {
            return true;
        }
        if self.mates_are_settled() {
            return true;
        }
        if self.request.limits.soft_nodes.is_some_and(|limit| self.signals.nodes() >= limit) {
            return true;
        }
        let done = self.soft_limit_passed(trend);
        *trend.value_at(self.completed_depth) = value;
        done
    }

    /// Whether every line is a mate, and the completed depth exceeds twice its length by a margin. Deeper iterations
    /// then repeat the lines within milliseconds each. A search to a given depth, or for a shorter mate, continues.
    fn mates_are_settled(&self) -> bool {
        const MARGIN: i32 = 20;
        let limits = &self.request.limits;
        let is_settled = |root: &RootMove| {
            score::is_mate(root.value) && self.completed_depth >= 2 * (score::MATE - root.value.abs()) + MARGIN
        };
        limits.depth.is_none() && limits.mate.is_none() && self.root_moves.iter().take(self.lines()).all(is_settled)
    }

    fn soft_limit_passed(&mut self, trend: &mut Trend) -> bool {
        let (Some(budget), best) = (self.request.budget, &self.root_moves[0]) else {
            return false;
        };
        if self.request.limits.infinite {
            return false;
        }
        let threads = self.signals.counters.len() as f64;
        let changes: u64 = self.signals.counters.iter().map(|c| c.best_move_changes.swap(0, Relaxed)).sum();
        trend.changes += changes as f64 / 1024.0 / threads;
        let before = self.request.previous_value.unwrap_or(best.value);
        let fall = f64::from(params::time_falling_previous()) / 1000.0 * f64::from(before - best.average)
            + f64::from(*trend.value_at(self.completed_depth) - best.value);
        let summary = IterationSummary {
            score_fall: if score::is_decisive(best.value) { 0.0 } else { fall },
            stable_iterations: trend.stable,
            best_move_changes: trend.changes,
            effort: best.nodes as f64 / self.nodes.max(1) as f64,
            forced: self.request.root_moves.len() == 1,
        };
        let soft =
            if budget.adjustable { (budget.soft * limits::stretch(&summary)).min(budget.hard) } else { budget.soft };
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
        self.request.progress(&self.signals)
    }

    fn report_lines(&self, lines: usize) {
        if !self.request.reporter.wants_lines() {
            return;
        }
        let progress = self.progress();
        for rank in 0..lines {
            let root = &self.root_moves[rank];
            if root.value == -INFINITE {
                continue;
            }
            let line = latest_line(&self.request, root, rank + 1);
            self.request.reporter.line(&line, &progress);
        }
    }

    /// Reports the root move that is being searched, with the iteration's depth. After a fail-high the depth of the
    /// search is lower, and GUIs would start a new line for another depth.
    pub fn report_current_move(&self, m: Move, count: i32) {
        // The clock is read last, because that costs more than the other conditions.
        if self.id == 0 && self.request.reporter.wants_lines() && self.elapsed() > REPORT_DELAY_MS {
            let number = count as usize + self.line;
            self.request.reporter.current_move(self.root_depth, m, number);
        }
    }
}

// Aspiration window: the narrow window around the expected value of a root move.
//
// CITE: Baudet (1978). Form: Stockfish: initial width by the mean squared value (October 2024), a term by thread
// (August 2025). Figures: see the parameters.

/// The window of a search of the root.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    pub alpha: Value,
    pub beta: Value,
    /// Distance between a value outside the window and the next bound on its side.
    delta: Value,
}

impl Window {
    /// The window around the average value of `root`, wider if its values varied. It is open at low depth, for a move
    /// without a value, and for one that wins or loses by force: a window beside a mate lies among values that no
    /// search returns. Threads have slightly different windows.
    pub fn around(root: &RootMove, depth: i32, thread: usize) -> Self {
        let variance = root.mean_squared.min(i64::from(params::asp_variance_max()));
        let by_variance = (variance / i64::from(params::asp_variance_div())) as Value;
        let delta = params::asp_delta() + by_variance + (thread % 8) as Value;
        let unclear = root.average == NONE || score::is_decisive(root.average);
        if depth < params::asp_depth() || unclear {
            return Self { alpha: -INFINITE, beta: INFINITE, delta };
        }
        Self { alpha: (root.average - delta).max(-INFINITE), beta: (root.average + delta).min(INFINITE), delta }
    }

    /// Whether `value` lies inside the window, and is therefore exact.
    pub fn contains(&self, value: Value) -> bool {
        value > self.alpha && value < self.beta
    }

    /// Moves and widens the window after a search that failed low or high with `value`. It becomes open on the side of
    /// a win or loss by force: better ones often follow, each a few plies shorter, and the next search finds the last.
    pub fn widen(&mut self, value: Value) {
        if value <= self.alpha {
            self.beta = self.alpha;
            self.alpha = value - self.delta;
            if score::is_decisive(value) || score::is_loss(self.alpha) {
                self.alpha = -INFINITE;
            }
        } else {
            self.alpha = (self.beta - self.delta).max(self.alpha);
            self.beta = value + self.delta;
            if score::is_decisive(value) || score::is_win(self.beta) {
                self.beta = INFINITE;
            }
        }
        self.delta += self.delta / params::asp_grow_div();
    }
}

// Report lines of root moves: values, bounds and variations in UCI's terms.

/// Maximum time for extending a variation to mate.
const MAX_LINE_TIME: Duration = Duration::from_millis(100);

/// A result of a root move, and whether its value is exact.
struct Found {
    result: Exact,
    bound: ScoreBound,
}

impl Found {
    /// Last result of a root move that was the best of its search.
    fn latest(root: &RootMove) -> Self {
        let result = Exact { depth: root.depth, value: root.shown, seldepth: root.seldepth, pv: root.pv.clone() };
        Self { result, bound: root.bound }
    }

    /// This result, or the tablebases' result of the root if the search found no mate.
    fn with_tablebases(mut self, root: &RootMove) -> Self {
        if let Some(value) = root.tb_value.filter(|_| !score::is_mate(self.result.value)) {
            (self.result.value, self.bound) = (value, ScoreBound::Exact);
        }
        self
    }
}

/// Report line of a root move's last result: its value or a bound, with depth and moves.
pub fn latest_line(request: &SearchRequest, root: &RootMove, rank: usize) -> Line {
    let time_limit = (request.start.elapsed() / 16).min(MAX_LINE_TIME);
    line_of(request, Found::latest(root).with_tablebases(root), rank, Instant::now() + time_limit)
}

/// The lines reported with `bestmove`, one for each rank. Each has the exact result of its move, unless that is older
/// than the iteration `completed`. In that case an unfinished iteration found the move, and only a bound of its value
/// is known.
///
/// A move may have a higher value from an earlier iteration than the move ranked above it. The later iteration did not
/// find it better, so the value of the rank above is its upper bound.
pub fn final_lines(request: &SearchRequest, roots: &[RootMove], completed: i32) -> Vec<Line> {
    let half_overhead = Duration::from_millis(request.options.move_overhead.max(0) as u64 / 2);
    let time_limit = match request.budget {
        Some(_) => half_overhead.min(MAX_LINE_TIME),
        None => MAX_LINE_TIME,
    };
    let deadline = Instant::now() + time_limit;
    let mut max_value = INFINITE;
    let mut lines = Vec::new();
    for (index, root) in roots.iter().take(request.options.multi_pv.max(1)).enumerate() {
        let found = match &root.exact {
            Some(exact) if exact.depth >= completed => Found { result: exact.clone(), bound: ScoreBound::Exact },
            _ => Found::latest(root),
        };
        let mut found = found.with_tablebases(root);
        if found.result.value > max_value {
            (found.result.value, found.bound) = (max_value, ScoreBound::Upper);
        }
        max_value = found.result.value;
        lines.push(line_of(request, found, index + 1, deadline));
    }
    lines
}

/// A report line of `found`. Variations of tablebase wins are extended to mate until `deadline`.
fn line_of(request: &SearchRequest, found: Found, rank: usize, deadline: Instant) -> Line {
    let material = evaluate::material(&request.position);
    let Found { result, bound } = found;
    let (mut value, mut pv) = (result.value, result.pv);
    if value == -INFINITE {
        value = score::DRAW;
    }
    if let Some(tables) = &request.syzygy
        && bound == ScoreBound::Exact
        && score::is_decisive(value)
        && !score::is_mate(value)
    {
        tablebases::extend_to_mate(tables, &request.position, &request.options, &mut pv, deadline);
    }
    if bound == ScoreBound::Exact && score::is_mate(value) {
        request.mate_tables.extend_to_mate(&request.position, &mut pv);
    }
    Line {
        depth: result.depth.max(1),
        seldepth: result.seldepth as i32,
        multipv: rank,
        score: score::to_uci(value, |v| evaluate::centipawns(v, material)),
        bound,
        wdl: evaluate::wdl(value, material),
        pv,
    }
}

#[cfg(test)]
mod tests;
