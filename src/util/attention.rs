//! Input during a search on a system without threads.
//!
//! With threads, the reader thread hears `stop` at once. Without threads, the search asks for input itself, every few
//! milliseconds, if the host provides it: see `crate::uci::session`.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use super::sync::Mutex;
use super::threads;

/// How the host passes input to a running search.
struct Host {
    /// Whether input arrives during a search. Otherwise the host ends the instance instead.
    is_heard: bool,
    /// Reads the input that has arrived.
    read: Box<dyn Fn() + Send + Sync>,
    /// Time of the last question.
    last: Mutex<Instant>,
}

static HOST: OnceLock<Host> = OnceLock::new();

/// How often a search asks for input, and how long it waits between two questions when it has nothing to do.
pub const PERIOD: Duration = Duration::from_millis(10);

/// Announces a host that can end a search. `read` reads the input that has arrived; `is_heard` says whether any can
/// arrive during a search. Only the first call counts.
pub fn serve(is_heard: bool, read: impl Fn() + Send + Sync + 'static) {
    let _ = HOST.set(Host { is_heard, read: Box::new(read), last: Mutex::new(Instant::now()) });
}

/// Whether something can end a search that has no limit.
pub fn can_stop() -> bool {
    threads::EXIST || HOST.get().is_some()
}

/// Whether `stop` reaches a running search.
pub fn is_heard() -> bool {
    threads::EXIST || HOST.get().is_some_and(|host| host.is_heard)
}

/// Lets the host deliver input, and reads it, if the last time was [`PERIOD`] ago. Does nothing on a system with
/// threads.
pub fn heed() {
    if threads::EXIST {
        return;
    }
    let Some(host) = HOST.get().filter(|host| host.is_heard) else {
        return;
    };
    if host.last.lock().elapsed() >= PERIOD {
        // A host without threads delivers input while the module yields.
        std::thread::yield_now();
        (host.read)();
        *host.last.lock() = Instant::now();
    }
}
