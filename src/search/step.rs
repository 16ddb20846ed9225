//! How a step of the search ends its node: it lets the node go on, cuts it off with a value, or aborts the search.
//!
//! A step answers [`Step`], so that a node reads as the list of its steps, each with a `?`. A whole node answers
//! [`Searched`], which has no cut-off: one of a child is the child's value and ends nothing at the parent, and the
//! types see to it. [`settle`] is the boundary between the two.

use super::score::Value;

/// The search is to end; nothing was found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Abort;

/// Why a node ends before its next step.
#[derive(Clone, Copy, Debug)]
pub(super) enum Exit {
    /// The node is worth this.
    Cut(Value),
    /// The search is to end.
    Abort,
}

impl From<Abort> for Exit {
    #[inline]
    fn from(Abort: Abort) -> Self {
        Self::Abort
    }
}

/// What a step of a node answers: go on, with a `T`, or end the node.
pub(super) type Step<T = ()> = Result<T, Exit>;

/// What the search of a whole node answers.
pub(super) type Searched<T = Value> = Result<T, Abort>;

/// Ends the node with `value` if `settled`, and lets it go on otherwise.
#[inline]
pub(super) fn cut_if(settled: bool, value: Value) -> Step {
    if settled {
        Err(Exit::Cut(value))
    } else {
        Ok(())
    }
}

/// The value of a node whose steps are done.
#[inline]
pub(super) fn settle(steps: Step<Value>) -> Searched {
    match steps {
        Ok(value) | Err(Exit::Cut(value)) => Ok(value),
        Err(Exit::Abort) => Err(Abort),
    }
}
