//! Ctrl-C: the first one asks for the end, with what there is by then; the second one ends the process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

/// Whether somebody has asked for the end.
#[derive(Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Hears Ctrl-C from now on, once in a process, and does `then` at the first. Without signals, as on WebAssembly,
    /// nothing is ever heard.
    pub fn listen(then: impl Fn() + Send + 'static) -> Self {
        let interrupt = Self::default();
        let heard = interrupt.clone();
        set_handler(move || {
            if heard.0.swap(true, SeqCst) {
                // As a shell says it of a process that Ctrl-C has ended.
                std::process::exit(130);
            }
            then();
        });
        interrupt
    }

    /// Whether Ctrl-C was heard.
    pub fn is_heard(&self) -> bool {
        self.0.load(SeqCst)
    }
}

#[cfg(not(target_family = "wasm"))]
fn set_handler(handler: impl FnMut() + Send + 'static) {
    // Fails when there is a handler already: then that one decides.
    let _ = ctrlc::set_handler(handler);
}

#[cfg(target_family = "wasm")]
fn set_handler(_handler: impl FnMut() + Send + 'static) {}
