//! Paths of test data: files of `tests/data`, and larger ones that are not part of the repository.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Where the notices are gathered: `make test` shows this file after all tests. It lies in cargo's folder for tests.
const NOTICES: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/skipped");

/// A file or directory of `tests/data`, which every checkout has.
#[allow(dead_code, reason = "not every test program uses it")]
pub fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(name)
}

/// A file or directory of the shared folder. Without it the test does without, and says so.
#[allow(dead_code, reason = "not every test program uses it")]
pub fn shared(name: &str) -> Option<PathBuf> {
    let root = std::env::var_os("ZOOTHERA_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"),
        PathBuf::from,
    );
    let path = root.join(name);
    if !path.exists() {
        notice(name);
    }
    path.exists().then_some(path)
}

/// Says that the running test lacks a file or a program.
pub fn notice(file: &str) {
    let program = module_path!().split("::").next().unwrap_or_default();
    let thread = std::thread::current();
    let line = format!("{program}::{} lacks {file}\n", thread.name().unwrap_or("?"));
    // Not `eprintln!`: what that prints is only shown of tests that fail.
    let _ = write!(std::io::stderr(), "SKIPPED: {line}");
    // One write, so that lines of several processes do not mix.
    let notices = OpenOptions::new().create(true).append(true).open(NOTICES);
    let _ = notices.and_then(|mut file| file.write_all(line.as_bytes()));
}
