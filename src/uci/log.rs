//! The file of the option `Debug Log File`.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::util::disk::is_read_only;
use crate::util::kind::Kind;

/// Marks of input and output lines, after the time.
pub const INPUT: &str = ">>";
pub const OUTPUT: &str = "<<";
/// File kind of a log, recognised by its first line.
const KIND: Kind = Kind { name: "a debug log", is: begins_as_log };

/// Opens a log for appending.
///
/// # Errors
/// Fails if the file cannot be created or written, is a device, a pipe or a folder, or is not a log.
pub fn open(path: &Path) -> Result<File> {
    match path.metadata() {
        // Opening a pipe would block until its other end is open.
        Ok(found) if !found.is_file() => bail!("it is not a regular file"),
        Ok(found) if is_read_only(&found) => bail!("it is read-only"),
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
        _ => {}
    }
    KIND.check(path)?;
    let file = OpenOptions::new().create(true).append(true).open(path);
    file.context("cannot open the file")
}

/// Whether the first line has the form of a log line: seconds, direction, text.
fn begins_as_log(head: &[u8]) -> bool {
    let mut words = head.splitn(3, |&byte| byte == b' ');
    let [Some(seconds), Some(direction)] = [words.next(), words.next()] else {
        return false;
    };
    let is_number = seconds.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
    is_number && [INPUT, OUTPUT].contains(&String::from_utf8_lossy(direction).as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn open_accepts_only_logs_and_keeps_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a");
        for (text, is_log) in [
            ("", true),
            ("0.000123 >> uci\n", true),
            ("12.000123 << readyok\n", true),
            ("[Event \"?\"]\n", false),
            ("0.5\n", false),
        ] {
            fs::write(&path, text).expect("room");
            assert_eq!(open(&path).is_ok(), is_log, "{text}");
            assert_eq!(fs::read_to_string(&path).expect("a file"), text);
        }
        assert!(open(&folder.path().join("new")).is_ok());
        assert!(open(folder.path()).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn open_rejects_pipe_without_blocking() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.expect("there is a mkfifo").success());
        let error = open(&path).expect_err("a pipe").to_string();
        assert!(error.contains("not a regular file"), "{error}");
    }
}
