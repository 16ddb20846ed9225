//! Files that are there whole or not at all.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result};

/// Writes a file beside its name and gives it the name when all of it has reached the disk, so that a reader never
/// sees half of it, and what was there before is lost only when the new one is safe. A failure leaves nothing behind.
///
/// # Errors
/// When `fill` fails, or the disk does.
pub fn write_atomically(
    path: &Path,
    fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<()> {
    let mut beside = OsString::from(path);
    beside.push(".tmp");
    let write = || -> io::Result<()> {
        let mut file = BufWriter::with_capacity(1 << 20, File::create(&beside)?);
        fill(&mut file)?;
        file.flush()?;
        file.get_ref().sync_all()?;
        std::fs::rename(&beside, path)
    };
    let written = write().inspect_err(|_| drop(std::fs::remove_file(&beside)));
    written.with_context(|| format!("cannot write {}", path.display()))
}
