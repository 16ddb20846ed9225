//! How much room a disk has.

use std::path::Path;

/// Bytes that can still be written in `folder`, where the system tells.
#[cfg(not(target_family = "wasm"))]
pub fn free_bytes(folder: &Path) -> Option<u64> {
    fs4::available_space(folder).ok()
}

/// WASI has no such call.
#[cfg(target_family = "wasm")]
pub fn free_bytes(_folder: &Path) -> Option<u64> {
    None
}

#[cfg(all(test, not(target_family = "wasm")))]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_room_and_a_missing_one_has_none() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(free_bytes(folder.path()).is_some_and(|bytes| bytes > 0));
        assert_eq!(free_bytes(&folder.path().join("missing")), None);
    }
}
