//! Catches panics without printing their message to standard error.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// Whether panics of this thread are silenced.
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Calls `work` and returns `None` if it panics, without printing the panic. For libraries that panic on damaged input.
pub fn catch_quietly<T>(work: impl FnOnce() -> T) -> Option<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let previous = take_hook();
        set_hook(Box::new(move |panic| {
            if !QUIET.get() {
                previous(panic);
            }
        }));
    });
    let before = QUIET.replace(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    QUIET.set(before);
    done.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn catch_quietly_returns_none_on_panic_and_restores_the_hook() {
        assert_eq!(catch_quietly(|| 3), Some(3));
        assert!(!QUIET.get());
        let empty: [u8; 0] = [];
        let index = std::hint::black_box(1);
        assert_eq!(catch_quietly(|| empty[index..].len()), None);
        assert!(!QUIET.get());
    }
}
