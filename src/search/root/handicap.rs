//! Restrictions of a search at a level below full strength.
//!
//! The search applies the level's handicap in two places: noise on evaluations (`Worker::evaluate`) and missed moves
//! (`Worker::misses`). This module sets up the rest.

use std::sync::Arc;
use std::time::Instant;

use super::time::Budget;
use crate::level::{Level, TurnHandicap, habits, mating, pace, theory};
use crate::search::tables::tt::TranspositionTable;
use crate::search::threads::job::Job;
use crate::util::threads;

/// Turns a search at full strength into a search at `level`, with an empty table of its own.
///
/// The result depends only on the position with its history, the level and the seed. There is one thread and one line,
/// and no tablebases or results of earlier searches. The clock can still end the search, but levels search few nodes.
pub fn apply(job: &mut Job, level: Level, table: Arc<TranspositionTable>) {
    let handicap = TurnHandicap::new(level, &job.position);
    job.not_before = not_before(job, level);
    job.budget = job.budget.map(|budget| Budget { soft: budget.hard, adjustable: false, ..budget });
    job.options.multi_pv = 1;
    (job.syzygy, job.root_in_tb, job.previous_value) = (None, false, None);
    job.table = table;
    restrict_root(job, level, &handicap);
    job.handicap = Some(handicap);
}

/// Restricts the root moves to the move of the mating technique or of opening theory, or else to the moves that the
/// level considers and does not miss. At least one move remains.
fn restrict_root(job: &mut Job, level: Level, handicap: &TurnHandicap) {
    let position = &job.position;
    let fixed_move = mating::best_move(position).or_else(|| theory::move_of(level, position));
    let is_allowed = |m| match fixed_move {
        Some(best) => m == best,
        None => {
            !handicap.misses(position, m)
                && theory::considers(level, position, m)
                && habits::considers(level, position, m)
        }
    };
    if job.root_moves.iter().any(|root| is_allowed(root.m)) {
        job.root_moves.retain(|root| is_allowed(root.m));
    }
}

/// Earliest time of the answer. A level delays its move where a clock runs and `stop` can end the wait.
fn not_before(job: &Job, level: Level) -> Option<Instant> {
    let is_clocked = job.limits.move_time.is_none() && threads::EXIST;
    let share = job.budget.filter(|_| is_clocked)?.soft;
    Some(job.start + pace::thinking_time(level, &job.position, share))
}
