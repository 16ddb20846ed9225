//! Free disk space, and whether files may be written.

use std::fs::Metadata;
use std::path::Path;

/// Whether a file is read-only. Always `false` under WASI, which has no permissions of files.
pub fn is_read_only(file: &Metadata) -> bool {
    !cfg!(target_family = "wasm") && file.permissions().readonly()
}

/// Free space for files in `folder`, in bytes; `None` if it cannot be determined.
#[cfg(not(target_family = "wasm"))]
pub fn free_bytes(folder: &Path) -> Option<u64> {
    fs4::available_space(folder).ok()
}

/// Always `None`, because WASI has no such call.
#[cfg(target_family = "wasm")]
pub fn free_bytes(_folder: &Path) -> Option<u64> {
    None
}

#[cfg(all(test, not(target_family = "wasm")))]
mod tests {
    use super::*;

    #[test]
    fn free_bytes_is_positive_for_folder_and_none_for_missing_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(free_bytes(folder.path()).is_some_and(|bytes| bytes > 0));
        assert_eq!(free_bytes(&folder.path().join("missing")), None);
    }
}
