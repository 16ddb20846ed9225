//! Running the engine, and checks of the result.

use std::fs;
use std::path::PathBuf;
use std::process::{Output, Stdio};

use crate::common::engine::engine;

/// Output and exit code of a run.
pub struct Run {
    pub out: String,
    pub err: String,
    pub code: Option<i32>,
}

impl Run {
    pub fn of(output: Output) -> Self {
        Self {
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
            code: output.status.code(),
        }
    }

    /// Asserts that the run succeeded.
    pub fn ok(self) -> Self {
        assert_eq!(self.code, Some(0), "stdout:\n{}\nstderr:\n{}", self.out, self.err);
        self
    }

    /// Asserts that the run failed with a message that contains `reason`, and without a panic.
    pub fn fails_with(self, reason: &str) -> Self {
        assert!(self.code.is_some_and(|code| code != 0), "code {:?}\n{}", self.code, self.out);
        assert!(self.err.contains("error:"), "no error message:\n{}", self.err);
        assert!(self.err.contains(reason), "'{reason}' is not in:\n{}", self.err);
        assert!(!self.err.contains("panicked"), "{}", self.err);
        self
    }

    /// Asserts that the run ended by an interrupt, with the message that contains `reason`.
    #[cfg(unix)]
    pub fn interrupted_with(self, reason: &str) -> Self {
        assert_eq!(self.code, Some(130), "{}\n{}", self.out, self.err);
        assert!(self.err.contains(reason), "'{reason}' is not in:\n{}", self.err);
        self
    }

    pub fn last_line(&self) -> &str {
        self.out.lines().last().unwrap_or_default()
    }
}

pub fn zoothera(arguments: &[&str]) -> Run {
    let mut command = engine();
    command.args(arguments).stdin(Stdio::null());
    Run::of(command.output().expect("the engine starts"))
}

/// Writes a file of this test run and returns its path; `name` must be unique among the tests.
pub fn file(name: &str, text: &str) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, text).expect("the directory for tests is writable");
    path.to_string_lossy().into_owned()
}

/// Returns the number before a word, as in `123 nodes 456 nps`.
pub fn number_before(text: &str, word: &str) -> Option<u64> {
    let words: Vec<_> = text.split_whitespace().collect();
    let place = words.iter().position(|w| *w == word)?;
    words.get(place.checked_sub(1)?)?.parse().ok()
}
