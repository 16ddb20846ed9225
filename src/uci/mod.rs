//! UCI: see the issue.
