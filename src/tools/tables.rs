//! Verifies tablebase files.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::search::syzygy::{table_files_in, verify_file};
use crate::util::quantity::counted;
use crate::util::text::Shown as _;

/// The subcommands of `tables`.
#[derive(clap::Subcommand, Debug)]
pub enum TablesCommand {
    /// Compare the checksum of every table with its content, and name the damaged ones
    Verify {
        /// Directories with tables (*.rtbw, *.rtbz), or tables
        #[arg(required = true, value_name = "DIRECTORY|FILE")]
        paths: Vec<PathBuf>,
    },
}

/// Runs the commands of `tables`.
///
/// # Errors
/// As [`verify`].
pub fn run(command: &TablesCommand, out: &mut dyn Write, err: &mut dyn Write) -> Result<()> {
    let TablesCommand::Verify { paths } = command;
    verify(paths, out, err)
}

/// Verifies the checksum of every table in files and directories, and names each bad one on `err`.
///
/// # Errors
/// Fails if a table is damaged or cannot be read, if a directory has no tables, or if a write fails.
fn verify(paths: &[PathBuf], out: &mut dyn Write, err: &mut dyn Write) -> Result<()> {
    let (mut files, mut bad) = (0, 0);
    for path in paths {
        for file in files_of(path)? {
            files += 1;
            if let Err(why) = verify_file(&file) {
                bad += 1;
                writeln!(err, "{}: {why}", file.shown())?;
            }
        }
    }
    if bad > 0 {
        bail!("{bad} of {} cannot be used", counted(files, "table", "tables"));
    }
    Ok(writeln!(out, "{} verified", counted(files, "table", "tables"))?)
}

/// The tables in a directory, or the file itself.
fn files_of(path: &Path) -> Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_path_buf()]);
    }
    let files = table_files_in(path).with_context(|| format!("cannot read the directory {}", path.shown()))?;
    if files.is_empty() {
        bail!("no tables (*.rtbw, *.rtbz) in {}", path.shown());
    }
    Ok(files)
}
