//! Requests to end: Ctrl-C, and on Unix SIGTERM and SIGHUP. The first one asks for an orderly end, with what there is
//! by then; a later one ends the process.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Signals this soon after the first belong to it: a closed terminal sends SIGHUP more than once, service managers
/// send SIGTERM and SIGHUP together, and neither wants the process to lose its work.
const ONE_REQUEST: Duration = Duration::from_millis(500);

/// The error of work that Ctrl-C or a request to terminate ended early: the exit code is [`EXIT_CODE`].
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Interrupted(String);

impl Interrupted {
    /// An error with this message.
    pub fn error(message: impl Into<String>) -> anyhow::Error {
        Self(message.into()).into()
    }
}

/// Exit code of a process that an interrupt ended, as a shell reports it.
pub const EXIT_CODE: u8 = 130;

/// Whether somebody has asked for the end.
#[derive(Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Listens from now on, once in a process, and calls `then` at the first request. Without signals, as on
    /// WebAssembly, there are no requests.
    pub fn listen(then: impl Fn() + Send + 'static) -> Self {
        let interrupt = Self::default();
        let heard = interrupt.clone();
        let mut first = None;
        set_handler(move || {
            let since = first.get_or_insert_with(Instant::now).elapsed();
            if !heard.0.swap(true, SeqCst) {
                then();
            } else if since > ONE_REQUEST {
                std::process::exit(EXIT_CODE.into());
            }
        });
        interrupt
    }

    /// The requests to a process that does nothing at the first but notice it. Listens from the first call on.
    pub fn noticed() -> Self {
        static NOTICED: OnceLock<Interrupt> = OnceLock::new();
        NOTICED.get_or_init(|| Self::listen(|| ())).clone()
    }

    /// Whether the end was asked for.
    pub fn is_heard(&self) -> bool {
        self.0.load(SeqCst)
    }
}

/// A handler of Ctrl-C and its relatives; a second one is not installed. What `nohup` has the process ignore, it goes
/// on ignoring.
#[cfg(unix)]
#[allow(unsafe_code)]
fn set_handler(handler: impl FnMut() + Send + 'static) {
    // SAFETY: `signal` has no precondition, and `SIG_IGN` runs no code of ours.
    let before = unsafe { libc::signal(libc::SIGHUP, libc::SIG_IGN) };
    let refused = ctrlc::set_handler(handler).is_err();
    if refused || before == libc::SIG_IGN {
        // SAFETY: as above; what is put back was in force before.
        unsafe { libc::signal(libc::SIGHUP, before) };
    }
}

#[cfg(windows)]
fn set_handler(handler: impl FnMut() + Send + 'static) {
    // Fails when there is a handler already: then that one decides.
    let _ = ctrlc::set_handler(handler);
}

#[cfg(target_family = "wasm")]
fn set_handler(_handler: impl FnMut() + Send + 'static) {}
