//! A mutex without poisoning, and its condition variable. A panic in a search thread is caught and reported; the data
//! that the thread had locked remain usable.
//!
//! `parking_lot` has both. On WebAssembly with threads it panics when it must wait for a lock, so the standard
//! library's types are used there.

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
