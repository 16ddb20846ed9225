//! `setoption name EvalFile`: find the file, read it, check it, and only then offer it.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::options::EMBEDDED_NET;
use crate::nnue::Network;
use crate::util::reason;
use crate::util::text::excerpt;

/// A net that was read and checked.
pub struct LoadedNet {
    /// The net itself.
    pub network: Arc<Network>,
    /// What to call it, in few words.
    pub name: String,
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
pub fn load(value: &str) -> Result<LoadedNet, String> {
    let Some(name) = wanted_file(value) else {
        let network = Network::embedded();
        let summary = format!("EvalFile: {EMBEDDED_NAME}, {}", describe(&network));
        return Ok(LoadedNet {
            network,
            name: EMBEDDED_NAME.to_owned(),
            summary,
        });
    };
    let path = find(Path::new(name), &folders()).ok_or_else(|| not_found(name))?;
    let failed = |error: &dyn Display| reason::plain(&format!("'{}': {error}", path.display()));
    if !path.is_file() {
        // A pipe or a device might never answer.
        return Err(failed(&"not a regular file"));
    }
    let network = Network::from_file(&path).map_err(|error| failed(&error))?;
    let name = path.file_name().map_or_else(
        || path.display().to_string(),
        |name| name.to_string_lossy().into_owned(),
    );
    let summary = format!("EvalFile: {name}, {}", describe(&network));
    Ok(LoadedNet {
        network: Arc::new(network),
        name,
        summary,
    })
}

/// What the net inside the binary is called.
pub const EMBEDDED_NAME: &str = "the net inside the binary";

/// Shape, description, size and hash of a net: a GUI may show no more than the beginning.
fn describe(network: &Network) -> String {
    let info = network.info();
    format!(
        "{}, \"{}\", {} bytes, sha256 {}",
        info.architecture,
        excerpt(&info.description),
        info.size,
        info.sha256
    )
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
        "'{}' was not found in the working directory, next to the program, or in a 'nets' folder of either",
        excerpt(name)
    )
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
        let _ = std::fs::remove_dir_all(&root);
        assert_eq!(found, Some(nets.join("a b.nnue")));
        assert_eq!(absent, None);
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
