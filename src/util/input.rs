//! Reads small files up to a limit, because devices and pipes may be endless.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Reads a file of at most `limit` bytes.
///
/// # Errors
/// Fails on an I/O error and on a larger file. The error does not name the file.
pub fn read_bytes(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        let (size, unit) = match limit >> 20 {
            0 => (limit >> 10, "KiB"),
            mib => (mib, "MiB"),
        };
        return Err(io::Error::other(format!("it is longer than {size} {unit}, or endless")));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reader_stops_at_its_limit() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a");
        std::fs::write(&path, [b'a'; 2048]).expect("room");
        assert_eq!(read_bytes(&path, 2048).expect("within").len(), 2048);
        let error = read_bytes(&path, 2047).expect_err("too long").to_string();
        assert!(error.contains("longer than 1 KiB"), "{error}");
        #[cfg(target_os = "linux")]
        assert!(read_bytes(Path::new("/dev/zero"), 1 << 20).is_err());
    }
}
