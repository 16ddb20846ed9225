//! Error messages for users. Replaces messages of the standard library that are meant for programmers.

use std::fmt::Display;

/// Messages of the standard library, and their replacements.
const PLAIN: [(&str, &str); 10] = [
    ("invalid digit found in string", "not a whole number"),
    ("cannot parse integer from empty string", "the number is missing"),
    ("number too large to fit in target type", "the number is too large"),
    ("number too small to fit in target type", "the number is too small"),
    ("invalid float literal", "not a number"),
    ("cannot parse float from empty string", "the number is missing"),
    ("provided string was not `true` or `false`", "neither true nor false"),
    ("stream did not contain valid UTF-8", "not a text file"),
    ("entity not found", "not found"),
    ("failed to fill whole buffer", "it ends too early"),
];

/// Replaces the library's phrases in a message, and removes error codes of the operating system.
pub fn plain(message: &str) -> String {
    let mut text = message.to_owned();
    for (raw, plain) in PLAIN {
        text = text.replace(raw, plain);
    }
    while let Some(start) = text.find(" (os error ") {
        let Some(length) = text[start..].find(')') else {
            break;
        };
        text.replace_range(start..=start + length, "");
    }
    text
}

/// The message of a single error, in plain words.
pub fn of(error: &impl Display) -> String {
    plain(&error.to_string())
}

/// The messages of an error and all its causes, in plain words, without repetitions.
pub fn chain(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain() {
        let part = of(&cause);
        if text.is_empty() {
            text = part;
        } else if !text.ends_with(&part) {
            text = format!("{text}: {part}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_plain_and_not_repeated() {
        let number = "x".parse::<u32>().expect_err("not a number");
        assert_eq!(of(&number), "not a whole number");
        let missing = std::io::Error::from_raw_os_error(2);
        assert!(!of(&missing).contains("os error"), "{missing}");
        let inner = anyhow::Error::new(std::io::Error::other("it is a directory"));
        let repeated = inner.context("cannot read: it is a directory").context("net x");
        assert_eq!(chain(&repeated), "net x: cannot read: it is a directory");
    }
}
