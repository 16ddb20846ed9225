//! A search at a level below full strength: what it may not have.
//!
//! The search itself asks the level's mind at two places: for its judgement of an evaluation (`Worker::evaluate`) and
//! for the moves that it overlooks (`Worker::overlooks`). Everything else is prepared here.

use std::sync::Arc;
use std::time::Instant;

use super::job::Job;
use super::time::Budget;
use super::tt::TranspositionTable;
use crate::level::{Level, Mind, mating, pace};
use crate::util::threads;

/// Makes a search at full strength one of `level`, with an empty table of its own.
///
/// It is a function of the position with its history, of the level and its seed: it has one thread, one line, no
/// tablebases and nothing learnt before. The clock can still end it, but the nodes of a level hardly need one.
pub(super) fn apply(job: &mut Job, level: Level, table: Arc<TranspositionTable>) {
    let mind = Mind::new(level, &job.position);
    job.not_before = not_before(job, level);
    job.budget = job.budget.map(|budget| Budget {
        soft: budget.hard,
        adjustable: false,
        ..budget
    });
    job.options.multi_pv = 1;
    (job.syzygy, job.root_in_tb, job.previous_value) = (None, false, None);
    job.table = table;
    restrict_root(job, &mind);
    job.mind = Some(mind);
}

/// Leaves the root what the level sees: the move of an elementary ending, or all that it does not overlook, at least
/// one.
fn restrict_root(job: &mut Job, mind: &Mind) {
    let position = &job.position;
    let technical = mating::best_move(position);
    let is_wanted = |m| match technical {
        Some(best) => m == best,
        None => !mind.overlooks(position, m),
    };
    if job.root_moves.iter().any(|root| is_wanted(root.m)) {
        job.root_moves.retain(|root| is_wanted(root.m));
    }
}

/// When the move may come: later than it was found, where a clock runs and `stop` could end the wait.
fn not_before(job: &Job, level: Level) -> Option<Instant> {
    let is_clocked = job.limits.move_time.is_none() && threads::EXIST;
    let share = job.budget.filter(|_| is_clocked)?.soft;
    Some(job.start + pace::thinking_time(level, &job.position, share))
}
