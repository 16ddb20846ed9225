//! Files that are not part of the repository: where they are, and a notice where they are not.

use std::io::Write;
use std::path::{Path, PathBuf};

/// A file or directory of the shared folder. Without it the test does nothing, and says so.
pub fn shared(name: &str) -> Option<PathBuf> {
    let root = std::env::var_os("ZOOTHERA_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"),
        PathBuf::from,
    );
    let path = root.join(name);
    if !path.exists() {
        // Not `eprintln!`: what that prints is only shown of tests that fail.
        let _ = writeln!(std::io::stderr(), "SKIPPED: no {}", path.display());
    }
    path.exists().then_some(path)
}
