//! Interrupts: Ctrl-C, and on Unix SIGTERM and SIGHUP. The first interrupt requests an orderly shutdown, which saves
//! the results so far. A later interrupt ends the process immediately.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Signals within this time after the first are ignored, so that the process does not lose its work: a closed terminal
/// sends SIGHUP more than once, and service managers send SIGTERM and SIGHUP together.
const GRACE_PERIOD: Duration = Duration::from_millis(500);

/// Error of a job that an interrupt ended early. The process then exits with [`EXIT_CODE`].
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Interrupted(String);

impl Interrupted {
    /// The error with this message.
    pub fn error(message: impl Into<String>) -> anyhow::Error {
        Self(message.into()).into()
    }
}

/// Exit code of a process that was ended by an interrupt, equal to the code that shells use for Ctrl-C.
pub const EXIT_CODE: u8 = 130;

/// Flag that is set by the first interrupt.
#[derive(Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Installs the process's signal handler, which calls `then` at the first interrupt. May be called once in a
    /// process. The flag is never set on WebAssembly, which has no signals.
    pub fn listen(then: impl Fn() + Send + 'static) -> Self {
        let interrupt = Self::default();
        let flag = interrupt.clone();
        let mut first = None;
        set_handler(move || {
            let since = first.get_or_insert_with(Instant::now).elapsed();
            if !flag.0.swap(true, SeqCst) {
                then();
            } else if since > GRACE_PERIOD {
                std::process::exit(EXIT_CODE.into());
            }
        });
        interrupt
    }

    /// The process's interrupt flag, without a callback. The first call installs the signal handler.
    pub fn shared() -> Self {
        static SHARED: OnceLock<Interrupt> = OnceLock::new();
        SHARED.get_or_init(|| Self::listen(|| ())).clone()
    }

    /// Whether an interrupt has been received.
    pub fn is_set(&self) -> bool {
        self.0.load(SeqCst)
    }
}

/// Installs a handler for the signals, unless one is already installed. SIGHUP stays ignored under `nohup`.
#[cfg(unix)]
#[allow(unsafe_code)]
fn set_handler(handler: impl FnMut() + Send + 'static) {
    // SAFETY: `signal` has no precondition, and `SIG_IGN` runs no code of ours.
    let before = unsafe { libc::signal(libc::SIGHUP, libc::SIG_IGN) };
    let failed = ctrlc::set_handler(handler).is_err();
    if failed || before == libc::SIG_IGN {
        // SAFETY: as above; restores the previous handler.
        unsafe { libc::signal(libc::SIGHUP, before) };
    }
}

#[cfg(windows)]
fn set_handler(handler: impl FnMut() + Send + 'static) {
    // Fails if a handler is already installed, which then stays in effect.
    let _ = ctrlc::set_handler(handler);
}

#[cfg(target_family = "wasm")]
fn set_handler(_handler: impl FnMut() + Send + 'static) {}
