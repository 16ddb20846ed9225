//! Polling for input during a search on a system without threads.
//!
//! With threads, a reader thread receives `stop` at once. Without threads, the search polls for input every few
//! milliseconds, if the host provides it: see `crate::uci::engine::Session`.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use super::sync::Mutex;
use super::threads;

/// How the host passes input to a running search.
struct Host {
    /// Whether input arrives during a search. Otherwise the host ends the instance instead.
    reaches_search: bool,
    /// Reads the input that has arrived.
    read: Box<dyn Fn() + Send + Sync>,
    /// Time of the last poll.
    last: Mutex<Instant>,
}

static HOST: OnceLock<Host> = OnceLock::new();

/// Time between two polls of a search, and of a finished search that waits for `stop`.
pub const PERIOD: Duration = Duration::from_millis(10);

/// Sets a host that can end a search. `read` reads the input that has arrived. `reaches_search` is whether input can
/// arrive during a search. Only the first call has an effect.
pub fn set_host(reaches_search: bool, read: impl Fn() + Send + Sync + 'static) {
    let _ = HOST.set(Host { reaches_search, read: Box::new(read), last: Mutex::new(Instant::now()) });
}

/// Whether something can end a search that has no limit.
pub fn can_stop() -> bool {
    threads::EXIST || HOST.get().is_some()
}

/// Whether `stop` reaches a running search.
pub fn reaches_search() -> bool {
    threads::EXIST || HOST.get().is_some_and(|host| host.reaches_search)
}

/// Yields to the host, which may deliver input, and reads the input, if [`PERIOD`] has passed since the last poll. Does
/// nothing on a system with threads.
pub fn poll() {
    if threads::EXIST {
        return;
    }
    let Some(host) = HOST.get().filter(|host| host.reaches_search) else {
        return;
    };
    if host.last.lock().elapsed() >= PERIOD {
        // A host without threads delivers input while the module yields.
        std::thread::yield_now();
        (host.read)();
        *host.last.lock() = Instant::now();
    }
}
