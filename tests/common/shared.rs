//! Paths of test data: files in `tests/data`, and larger ones outside the repository.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

/// File with the notices of skipped tests, in cargo's temporary folder for tests. `make test` prints it at the end.
const NOTICES: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/skipped");

/// A file or directory of `tests/data`, which every checkout has.
pub fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// A file or directory of the shared folder. If it is missing, prints a notice and returns `None`, and the test must
/// skip.
pub fn shared(name: &str) -> Option<PathBuf> {
    let root = std::env::var_os("ZOOTHERA_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"), PathBuf::from);
    let path = root.join(name);
    if !path.exists() {
        notice(name);
    }
    path.exists().then_some(path)
}

/// Prints and records that the running test is skipped because a file or a program is missing.
pub fn notice(file: &str) {
    let program = module_path!().split("::").next().unwrap_or_default();
    let thread = std::thread::current();
    let line = format!("{program}::{} lacks {file}\n", thread.name().unwrap_or("?"));
    // The output of `eprintln!` would be shown for failed tests only.
    let _ = write!(std::io::stderr(), "SKIPPED: {line}");
    // A single write, so that lines of several processes do not interleave.
    let notices = OpenOptions::new().create(true).append(true).open(NOTICES);
    let _ = notices.and_then(|mut file| file.write_all(line.as_bytes()));
}
