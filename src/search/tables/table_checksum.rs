//! Checksums of tablebase files. A file ends with the checksum of everything before it.
// CITE: the format of R. de Man's tables: CityHashCrc256 of each chunk of 16 MiB, and CityHashCrc128 of these hashes.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::util::{city, reason};

/// Length of the checksum in bytes.
pub const LENGTH: usize = 16;

/// Bytes that are hashed together.
const CHUNK: u64 = 1 << 24;
/// The length of a table without its checksum is a multiple of this.
const ALIGNMENT: u64 = 64;

/// The checksum of a table without the 16 bytes of the checksum at its end.
///
/// # Errors
/// Fails on an I/O error, and if there is no data.
pub fn checksum(mut table: impl Read) -> io::Result<[u8; LENGTH]> {
    let mut hashes = Vec::new();
    let mut chunk = Vec::new();
    loop {
        chunk.clear();
        if table.by_ref().take(CHUNK).read_to_end(&mut chunk)? == 0 {
            break;
        }
        hashes.extend(city::crc_256(&chunk).into_iter().flat_map(u64::to_le_bytes));
    }
    if hashes.is_empty() {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let mut sum = [0; LENGTH];
    for (bytes, word) in sum.chunks_exact_mut(8).zip(city::crc_128(&hashes)) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    Ok(sum)
}

/// Whether a file of this length can be a table with a checksum.
pub(super) fn has_checksum(length: u64) -> bool {
    length % ALIGNMENT == LENGTH as u64 && length > ALIGNMENT
}

/// Compares the checksum of a table with its content. The error states why the file is not a valid table.
pub(super) fn check(path: &Path) -> Result<(), String> {
    let found = || {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        if !has_checksum(length) {
            return Ok(None);
        }
        let computed = checksum(file.by_ref().take(length - LENGTH as u64))?;
        let mut stored = [0; LENGTH];
        file.read_exact(&mut stored)?;
        Ok(Some(stored == computed))
    };
    match found().map_err(|error: io::Error| reason::of(&error))? {
        Some(true) => Ok(()),
        Some(false) => Err("damaged (the checksum does not match); download it again".to_owned()),
        None => Err("wrong size for a table; download it again".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_flipped_bit_anywhere_is_detected() {
        let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/syzygy/KRvK.rtbw");
        let good = std::fs::read(&table).expect("a table");
        assert_eq!(check(&table), Ok(()));
        let copy = tempfile::NamedTempFile::new().expect("a file");
        for byte in 0..good.len() {
            let mut bad = good.clone();
            bad[byte] ^= 1 << (byte % 8);
            std::fs::write(copy.path(), bad).expect("room");
            assert!(check(copy.path()).is_err_and(|why| why.contains("checksum")), "byte {byte}");
        }
        std::fs::write(copy.path(), &good[1..]).expect("room");
        assert!(check(copy.path()).is_err_and(|why| why.contains("wrong size")));
    }

    #[test]
    fn checksum_of_nothing_is_an_error() {
        assert!(checksum(io::empty()).is_err());
        // Two chunks.
        assert!(checksum(io::repeat(1).take(CHUNK + 64)).is_ok());
    }
}
