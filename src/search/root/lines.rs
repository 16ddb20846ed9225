//! Report lines of root moves: values, bounds and variations in UCI's terms.

use std::time::{Duration, Instant};

use super::root_move::{Exact, RootMove};
use super::tb_line;
use crate::search::report::{Line, ScoreBound};
use crate::search::score::{self, INFINITE};
use crate::search::threads::job::Job;
use crate::search::wdl;

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
pub fn latest_line(job: &Job, root: &RootMove, rank: usize) -> Line {
    let time_limit = (job.start.elapsed() / 16).min(MAX_LINE_TIME);
    line_of(job, Found::latest(root).with_tablebases(root), rank, Instant::now() + time_limit)
}

/// The lines reported with `bestmove`, one for each rank. Each has the exact result of its move, unless that is older
/// than the iteration `completed`. In that case an unfinished iteration found the move, and only a bound of its value
/// is known.
///
/// A move may have a higher value from an earlier iteration than the move ranked above it. The later iteration did not
/// find it better, so the value of the rank above is its upper bound.
pub fn final_lines(job: &Job, roots: &[RootMove], completed: i32) -> Vec<Line> {
    let half_overhead = Duration::from_millis(job.options.move_overhead.max(0) as u64 / 2);
    let time_limit = match job.budget {
        Some(_) => half_overhead.min(MAX_LINE_TIME),
        None => MAX_LINE_TIME,
    };
    let deadline = Instant::now() + time_limit;
    let mut max_value = INFINITE;
    let mut lines = Vec::new();
    for (index, root) in roots.iter().take(job.options.multi_pv.max(1)).enumerate() {
        let found = match &root.exact {
            Some(exact) if exact.depth >= completed => Found { result: exact.clone(), bound: ScoreBound::Exact },
            _ => Found::latest(root),
        };
        let mut found = found.with_tablebases(root);
        if found.result.value > max_value {
            (found.result.value, found.bound) = (max_value, ScoreBound::Upper);
        }
        max_value = found.result.value;
        lines.push(line_of(job, found, index + 1, deadline));
    }
    lines
}

/// A report line of `found`. Variations of tablebase wins are extended to mate until `deadline`.
fn line_of(job: &Job, found: Found, rank: usize, deadline: Instant) -> Line {
    let material = wdl::material(&job.position);
    let Found { result, bound } = found;
    let (mut value, mut pv) = (result.value, result.pv);
    if value == -INFINITE {
        value = score::DRAW;
    }
    if let Some(tables) = &job.syzygy
        && bound == ScoreBound::Exact
        && score::is_decisive(value)
        && !score::is_mate(value)
    {
        tb_line::extend(tables, &job.position, &job.options, &mut pv, deadline);
    }
    Line {
        depth: result.depth.max(1),
        seldepth: result.seldepth as i32,
        multipv: rank,
        score: score::to_uci(value, |v| wdl::centipawns(v, material)),
        bound,
        wdl: wdl::wdl(value, material),
        pv,
    }
}
