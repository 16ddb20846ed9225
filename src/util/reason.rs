//! Error messages for users, in place of messages of the standard library that are meant for programmers; and panics
//! without messages.

use std::cell::Cell;
use std::error::Error;
use std::io;
use std::num::{IntErrorKind, ParseFloatError, ParseIntError};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::str::ParseBoolError;
use std::sync::Once;

/// The message of a single error, in plain words, also where it repeats its causes.
pub fn of(error: &(dyn Error + 'static)) -> String {
    if let Some(message) = of_library(error) {
        return message;
    }
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        if let Some(message) = of_library(inner) {
            text = text.replace(&inner.to_string(), &message);
        }
        cause = inner.source();
    }
    text
}

/// The messages of an error and all its causes, in plain words, without repetitions.
pub fn chain(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain() {
        let part = of(cause);
        if text.is_empty() {
            text = part;
        } else if !text.ends_with(&part) {
            text = format!("{text}: {part}");
        }
    }
    text
}

/// The replacement for the message of an error of the standard library; `None` for other errors.
fn of_library(error: &(dyn Error + 'static)) -> Option<String> {
    let message = if let Some(number) = error.downcast_ref::<ParseIntError>() {
        match number.kind() {
            IntErrorKind::Empty => "the number is missing",
            IntErrorKind::InvalidDigit => "not a whole number",
            IntErrorKind::PosOverflow => "the number is too large",
            IntErrorKind::NegOverflow => "the number is too small",
            _ => return None,
        }
    } else if let Some(number) = error.downcast_ref::<ParseFloatError>() {
        let is_missing = "".parse::<f64>().is_err_and(|missing| missing == *number);
        if is_missing { "the number is missing" } else { "not a number" }
    } else if error.is::<ParseBoolError>() {
        "neither true nor false"
    } else if let Some(error) = error.downcast_ref::<io::Error>() {
        return of_io(error);
    } else {
        return None;
    };
    Some(message.to_owned())
}

/// The message of an I/O error without the operating system's number; `None` if it has a message of its own.
fn of_io(error: &io::Error) -> Option<String> {
    if let Some(code) = error.raw_os_error() {
        let text = error.to_string();
        return text.strip_suffix(&format!(" (os error {code})")).map(str::to_owned);
    }
    if let Some(inner) = error.get_ref() {
        return of_library(inner);
    }
    let message = match error.kind() {
        io::ErrorKind::InvalidData => "not a text file",
        io::ErrorKind::NotFound => "not found",
        io::ErrorKind::UnexpectedEof => "it ends too early",
        _ => return None,
    };
    Some(message.to_owned())
}

// Catches panics without printing their message to standard error.

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
    use std::io::Read as _;

    #[test]
    fn messages_of_the_library_are_replaced() {
        let of_number = |text: &str| of(&text.parse::<u8>().expect_err("not a number"));
        assert_eq!(of_number("x"), "not a whole number");
        assert_eq!(of_number(""), "the number is missing");
        assert_eq!(of_number("256"), "the number is too large");
        assert_eq!(of(&"-200".parse::<i8>().expect_err("too small")), "the number is too small");
        assert_eq!(of(&"x".parse::<f32>().expect_err("not a number")), "not a number");
        assert_eq!(of(&"".parse::<f32>().expect_err("not a number")), "the number is missing");
        assert_eq!(of(&"x".parse::<bool>().expect_err("no truth value")), "neither true nor false");
        let ended = [0; 3].as_slice().read_exact(&mut [0; 4]).expect_err("too short");
        assert_eq!(of(&ended), "it ends too early");
        let binary = [255].as_slice().read_to_string(&mut String::new()).expect_err("not UTF-8");
        assert_eq!(of(&binary), "not a text file");
        let missing = io::Error::from_raw_os_error(2);
        assert!(missing.to_string().starts_with(&of(&missing)) && !of(&missing).contains("os error"), "{missing}");
    }

    #[test]
    fn own_messages_are_kept_and_their_causes_replaced() {
        #[derive(Debug, thiserror::Error)]
        #[error("line 3: {0}; expected a depth")]
        struct Outer(#[source] ParseIntError);

        let outer = Outer("x".parse::<u32>().expect_err("not a number"));
        assert_eq!(of(&outer), "line 3: not a whole number; expected a depth");
        assert_eq!(of(&io::Error::other("(os error 2) is my name")), "(os error 2) is my name");
        let nested = io::Error::other("x".parse::<u32>().expect_err("not a number"));
        assert_eq!(of(&nested), "not a whole number");
    }

    #[test]
    fn chain_does_not_repeat_causes() {
        let inner = anyhow::Error::new(io::Error::other("it is a directory"));
        let repeated = inner.context("cannot read: it is a directory").context("net x");
        assert_eq!(chain(&repeated), "net x: cannot read: it is a directory");
        let missing = anyhow::Error::new(io::Error::from_raw_os_error(2)).context("cannot read x");
        assert!(!chain(&missing).contains("os error"));
    }
}

#[cfg(test)]
mod quiet_tests {
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
