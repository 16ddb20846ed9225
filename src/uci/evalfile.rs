//! `setoption name EvalFile`: finds, reads and checks a net before it is used.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::options::EMBEDDED_NET;
use crate::nnue::Network;
use crate::util::reason;
use crate::util::text::{Shown as _, excerpt};

/// A net that was read and checked.
pub struct LoadedNet {
    /// The net itself.
    pub network: Arc<Network>,
    /// Short name of the net.
    pub name: String,
    /// Description of the net for the user.
    pub summary: String,
}

/// The value of the option without surrounding quotes; `None` for the embedded net.
pub fn file_name(value: &str) -> Option<&str> {
    let value = value.trim();
    let unquoted = ['"', '\''].iter().find_map(|&quote| value.strip_prefix(quote)?.strip_suffix(quote));
    let name = unquoted.unwrap_or(value).trim();
    let is_embedded =
        name.is_empty() || name.eq_ignore_ascii_case(EMBEDDED_NET) || name.eq_ignore_ascii_case("<empty>");
    (!is_embedded).then_some(name)
}

/// Loads the net named by the option's value. The error states the problem and the folders that were searched.
pub fn load(value: &str) -> Result<LoadedNet, String> {
    let Some(name) = file_name(value) else {
        let network = Network::embedded();
        let summary = format!("EvalFile: {EMBEDDED_NAME}, {}", describe(&network));
        return Ok(LoadedNet { network, name: EMBEDDED_NAME.to_owned(), summary });
    };
    let path = find(Path::new(name), &folders()).ok_or_else(|| not_found(name))?;
    if !path.is_file() {
        // Reading a pipe or a device might block forever.
        return Err(format!("'{}': not a regular file", path.shown()));
    }
    let failed = |error| format!("'{}': {}", path.shown(), reason::of(&error));
    let network = Network::from_file(&path).map_err(failed)?;
    let name = path.file_name().map_or_else(|| path.shown(), |name| name.shown());
    let summary = format!("EvalFile: {name}, {}", describe(&network));
    Ok(LoadedNet { network: Arc::new(network), name, summary })
}

/// Name of the embedded net.
pub const EMBEDDED_NAME: &str = "the embedded net";

/// Shape, description, size and hash of a net, in this order, because a GUI may show only the beginning.
fn describe(network: &Network) -> String {
    let info = network.info();
    format!("{}, \"{}\", {} bytes, sha256 {}", info.architecture, excerpt(&info.description), info.size, info.sha256)
}

/// Folders in which a relative path is searched, in this order. GUIs start engines in folders of their own choice.
fn folders() -> Vec<PathBuf> {
    let mut folders = vec![PathBuf::new(), PathBuf::from("nets")];
    if let Some(folder) = std::env::current_exe().ok().as_deref().and_then(Path::parent) {
        folders.push(folder.to_owned());
        folders.push(folder.join("nets"));
    }
    folders
}

/// Path of the file in the first folder that contains it. (Joining an absolute path yields that path.)
fn find(name: &Path, folders: &[PathBuf]) -> Option<PathBuf> {
    folders.iter().map(|folder| folder.join(name)).find(|path| path.exists())
}

fn not_found(name: &str) -> String {
    format!(
        "'{}' not found in the working directory, in the program's folder, or in a 'nets' folder of either",
        excerpt(name)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_and_default_values_select_the_embedded_net() {
        for value in ["", "<default>", "<empty>", " <DEFAULT> ", "\"\""] {
            assert_eq!(file_name(value), None, "{value}");
        }
        assert_eq!(file_name(" \"my nets/a b.nnue\" "), Some("my nets/a b.nnue"));
        assert_eq!(file_name("'x.nnue'"), Some("x.nnue"));
        assert_eq!(file_name("it's.nnue"), Some("it's.nnue"));
    }

    #[test]
    fn find_searches_every_folder() {
        let root = std::env::temp_dir().join(format!("zoothera-evalfile-{}.tmp", std::process::id()));
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
    fn error_for_missing_net_names_the_folders() {
        let error = load("no such net.nnue").err().unwrap_or_default();
        assert!(error.contains("no such net.nnue") && error.contains("nets"), "{error}");
    }
}
