//! `setoption name EvalFile`: find the file, read it, check it, and only then offer it.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::command::excerpt;
use super::options::EMBEDDED_NET;
use crate::nnue::Network;

/// No known net is a quarter of this; a larger file is not worth reading.
const LARGEST_FILE: u64 = 1 << 30;

/// A net that was read and checked.
pub struct Loaded {
    /// The net itself.
    pub network: Arc<Network>,
    /// What to tell the user about it.
    pub summary: String,
}

/// The value of the option without quotes around it; `None` for the net in the binary.
pub fn wanted_file(value: &str) -> Option<&str> {
    let value = value.trim();
    let unquoted = ['"', '\'']
        .iter()
        .find_map(|&quote| value.strip_prefix(quote)?.strip_suffix(quote));
    let name = unquoted.unwrap_or(value).trim();
    let is_embedded = name.is_empty()
        || name.eq_ignore_ascii_case(EMBEDDED_NET)
        || name.eq_ignore_ascii_case("<empty>");
    (!is_embedded).then_some(name)
}

/// Loads the net that the option's value names. The error says what was wrong, and where it was looked for.
pub fn load(value: &str) -> Result<Loaded, String> {
    let Some(name) = wanted_file(value) else {
        let network = Network::embedded();
        let summary = format!(
            "EvalFile: the net inside the binary, {}",
            describe(&network)
        );
        return Ok(Loaded { network, summary });
    };
    let path = find(Path::new(name), &folders()).ok_or_else(|| not_found(name))?;
    let bytes = read(&path).map_err(|error| format!("EvalFile {}: {error}", path.display()))?;
    let network = Network::from_bytes(&bytes)
        .map_err(|error| format!("EvalFile {}: {error}", path.display()))?;
    let summary = format!(
        "EvalFile: {}, {}, {} bytes, sha256 {}",
        path.display(),
        describe(&network),
        bytes.len(),
        hexadecimal(&Sha256::digest(&bytes)),
    );
    Ok(Loaded {
        network: Arc::new(network),
        summary,
    })
}

/// The net's own words about itself.
fn describe(_network: &Network) -> String {
    String::from("HalfKP")
}

/// Where a relative path is looked for, in this order: GUIs start engines in folders of their own choosing.
fn folders() -> Vec<PathBuf> {
    let mut folders = vec![PathBuf::new(), PathBuf::from("nets")];
    if let Some(folder) = std::env::current_exe()
        .ok()
        .as_deref()
        .and_then(Path::parent)
    {
        folders.push(folder.to_owned());
        folders.push(folder.join("nets"));
    }
    folders
}

/// The first of `folders` that has the file. (Joining an absolute path gives just that path.)
fn find(name: &Path, folders: &[PathBuf]) -> Option<PathBuf> {
    folders
        .iter()
        .map(|folder| folder.join(name))
        .find(|path| path.exists())
}

fn not_found(name: &str) -> String {
    format!(
        "EvalFile: '{}' was not found in the working directory, next to the program, or in a 'nets' folder of either",
        excerpt(name)
    )
}

/// The content of a regular file of sensible size: a device or a pipe might never end.
fn read(path: &Path) -> Result<Vec<u8>, String> {
    let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
    let metadata = file.metadata().map_err(|error| error.to_string())?;
    if !metadata.is_file() {
        return Err("not a regular file".into());
    }
    if metadata.len() > LARGEST_FILE {
        return Err(format!("{} bytes are too many for a net", metadata.len()));
    }
    let mut bytes = Vec::with_capacity(metadata.len() as usize);
    file.take(LARGEST_FILE)
        .read_to_end(&mut bytes)
        .map_err(|error| error.to_string())?;
    Ok(bytes)
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_mean_the_embedded_net() {
        for value in ["", "<default>", "<empty>", " <DEFAULT> ", "\"\""] {
            assert_eq!(wanted_file(value), None, "{value}");
        }
        assert_eq!(
            wanted_file(" \"my nets/a b.nnue\" "),
            Some("my nets/a b.nnue")
        );
        assert_eq!(wanted_file("'x.nnue'"), Some("x.nnue"));
        assert_eq!(wanted_file("it's.nnue"), Some("it's.nnue"));
    }

    #[test]
    fn relative_names_are_looked_for_in_every_folder() {
        let root =
            std::env::temp_dir().join(format!("zoothera-evalfile-{}.tmp", std::process::id()));
        let nets = root.join("nets");
        std::fs::create_dir_all(&nets).expect("a temporary folder");
        std::fs::write(nets.join("a b.nnue"), b"x").expect("a temporary file");
        let folders = [root.clone(), nets.clone()];
        let found = find(Path::new("a b.nnue"), &folders);
        let absent = find(Path::new("c.nnue"), &folders);
        let folder = read(&nets);
        let _ = std::fs::remove_dir_all(&root);
        assert_eq!(found, Some(nets.join("a b.nnue")));
        assert_eq!(absent, None);
        assert!(folder.is_err());
    }

    #[test]
    fn a_missing_file_says_where_it_was_looked_for() {
        let error = load("no such net.nnue").err().unwrap_or_default();
        assert!(
            error.contains("no such net.nnue") && error.contains("nets"),
            "{error}"
        );
    }
}
