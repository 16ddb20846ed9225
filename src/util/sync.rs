//! A mutex without poisoning, and its condition variable; and what replaces threads where there are none. A panic in a
//! search thread is caught and reported; the data that the thread had locked remain usable.
//!
//! `parking_lot` has both. On WebAssembly with threads it panics when it must wait for a lock, so the standard
//! library's types are used there.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

#[cfg(not(target_family = "wasm"))]
pub use native::{Condvar, Mutex};
#[cfg(target_family = "wasm")]
pub use wasm::{Condvar, Mutex};

#[cfg(not(target_family = "wasm"))]
mod native {
    use std::time::Instant;

    pub use parking_lot::{Mutex, MutexGuard};

    /// A condition variable for [`Mutex`].
    #[derive(Default, Debug)]
    pub struct Condvar(parking_lot::Condvar);

    impl Condvar {
        /// A condition variable without waiting threads.
        pub const fn new() -> Self {
            Self(parking_lot::Condvar::new())
        }

        /// Wakes all threads that wait.
        pub fn notify_all(&self) {
            self.0.notify_all();
        }

        /// Unlocks, waits for a notification, and locks again. May also return without one.
        pub fn wait<'a, T>(&self, mut guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
            self.0.wait(&mut guard);
            guard
        }

        /// As [`Self::wait`], but at most until `deadline`.
        pub fn wait_until<'a, T>(&self, mut guard: MutexGuard<'a, T>, deadline: Instant) -> MutexGuard<'a, T> {
            self.0.wait_until(&mut guard, deadline);
            guard
        }
    }
}

#[cfg(target_family = "wasm")]
mod wasm {
    use std::sync::PoisonError;
    use std::time::Instant;

    pub use std::sync::MutexGuard;

    /// A mutex without poisoning.
    #[derive(Default, Debug)]
    pub struct Mutex<T>(std::sync::Mutex<T>);

    impl<T> Mutex<T> {
        /// A mutex that protects `value`.
        pub const fn new(value: T) -> Self {
            Self(std::sync::Mutex::new(value))
        }

        /// Waits for the lock.
        pub fn lock(&self) -> MutexGuard<'_, T> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner)
        }
    }

    /// A condition variable for [`Mutex`].
    #[derive(Default, Debug)]
    pub struct Condvar(std::sync::Condvar);

    impl Condvar {
        /// A condition variable without waiting threads.
        pub const fn new() -> Self {
            Self(std::sync::Condvar::new())
        }

        /// Wakes all threads that wait.
        pub fn notify_all(&self) {
            self.0.notify_all();
        }

        /// Unlocks, waits for a notification, and locks again. May also return without one.
        pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
            self.0.wait(guard).unwrap_or_else(PoisonError::into_inner)
        }

        /// As [`Self::wait`], but at most until `deadline`.
        pub fn wait_until<'a, T>(&self, guard: MutexGuard<'a, T>, deadline: Instant) -> MutexGuard<'a, T> {
            let left = deadline.saturating_duration_since(Instant::now());
            self.0.wait_timeout(guard, left).unwrap_or_else(PoisonError::into_inner).0
        }
    }
}

// Polling for input during a search on a system without threads.
//
// With threads, a reader thread receives `stop` at once. Without threads, the search polls for input every few
// milliseconds, if the host provides it: see `crate::uci::Session`.

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
pub const POLL_PERIOD: Duration = Duration::from_millis(10);

/// Sets a host that can end a search. `read` reads the input that has arrived. `reaches_search` is whether input can
/// arrive during a search. Only the first call has an effect.
pub fn set_host(reaches_search: bool, read: impl Fn() + Send + Sync + 'static) {
    let _ = HOST.set(Host { reaches_search, read: Box::new(read), last: Mutex::new(Instant::now()) });
}

/// Whether something can end a search that has no limit.
pub fn can_stop() -> bool {
    THREADS_EXIST || HOST.get().is_some()
}

/// Whether `stop` reaches a running search.
pub fn reaches_search() -> bool {
    THREADS_EXIST || HOST.get().is_some_and(|host| host.reaches_search)
}

/// Yields to the host, which may deliver input, and reads the input, if [`POLL_PERIOD`] has passed since the last poll.
/// Does nothing on a system with threads.
pub fn poll() {
    if THREADS_EXIST {
        return;
    }
    let Some(host) = HOST.get().filter(|host| host.reaches_search) else {
        return;
    };
    if host.last.lock().elapsed() >= POLL_PERIOD {
        // A host without threads delivers input while the module yields.
        std::thread::yield_now();
        (host.read)();
        *host.last.lock() = Instant::now();
    }
}

// Support for threads.

/// Whether the target supports threads. WebAssembly supports them only as `wasm32-wasip1-threads`. Without
/// threads, searches, output and training run in the caller's thread.
pub const THREADS_EXIST: bool = cfg!(has_threads);

/// Runs jobs in threads of their own and returns their results in order. A panic in a job is passed on.
#[cfg(feature = "full")]
pub fn in_parallel<T: Send, Job: FnOnce() -> Vec<T> + Send>(jobs: impl Iterator<Item = Job>) -> Vec<T> {
    if !THREADS_EXIST {
        return jobs.flat_map(|job| job()).collect();
    }
    std::thread::scope(|scope| {
        let running: Vec<_> = jobs.map(|job| scope.spawn(job)).collect();
        let results = running.into_iter().flat_map(|job| match job.join() {
            Ok(results) => results,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        results.collect()
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn mutex_stays_usable_after_a_panic() {
        let shared = Arc::new(Mutex::new(1));
        let other = shared.clone();
        let panicked = std::thread::spawn(move || {
            *other.lock() = 2;
            let _guard = other.lock();
            panic!("expected by this test");
        });
        assert!(panicked.join().is_err());
        assert_eq!(*shared.lock(), 2);
    }
}
