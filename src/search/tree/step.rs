//! Results of a step of the search: continue the node, cut it off with a value, or abort the search.
//!
//! A step returns [`Step`], so a node is a list of steps, each with a `?`. A whole node returns [`Searched`], which
//! has no cutoff: a cutoff in a child is the child's value and does not end the parent. The types guarantee this.
//! [`settle`] converts a [`Step`] into a [`Searched`].

use crate::search::score::Value;

/// The search is aborted; there is no value.
#[derive(Clone, Copy, Debug)]
pub struct Abort;

/// Reason why a node ends before its next step.
#[derive(Clone, Copy, Debug)]
pub enum Exit {
    /// The node has this value.
    Cut(Value),
    /// The search is aborted.
    Abort,
}

impl From<Abort> for Exit {
    #[inline]
    fn from(Abort: Abort) -> Self {
        Self::Abort
    }
}

/// Result of a step of a node: continue with a `T`, or end the node.
pub type Step<T = ()> = Result<T, Exit>;

/// Result of the search of a whole node.
pub type Searched<T = Value> = Result<T, Abort>;

/// Ends the node with `value` if `settled`; otherwise the node continues.
#[inline]
pub(super) fn cut_if(settled: bool, value: Value) -> Step {
    if settled { Err(Exit::Cut(value)) } else { Ok(()) }
}

/// Value of a node whose steps are done.
#[inline]
pub(super) fn settle(steps: Step<Value>) -> Searched {
    match steps {
        Ok(value) | Err(Exit::Cut(value)) => Ok(value),
        Err(Exit::Abort) => Err(Abort),
    }
}
