//! Build script: selects the network to embed (`EVALFILE`, or else `nets/default.nnue`) and the revision that
//! `--version` prints.

use std::env::var_os;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

#[path = "src/nnue/version.rs"]
mod version;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let root = PathBuf::from(var_os("CARGO_MANIFEST_DIR").expect("cargo sets this"));
    if var_os("CARGO_FEATURE_EMBEDDED_NET").is_some() {
        embed_net(&root);
    }
    println!("cargo:rerun-if-env-changed=ZOOTHERA_REVISION");
    println!("cargo:rustc-env=ZOOTHERA_REVISION={}", revision(&root));
    let target = std::env::var("TARGET").expect("cargo sets this");
    println!("cargo:rustc-env=ZOOTHERA_TARGET={target}");
    // The stable compiler tells a crate nothing about the threads of WebAssembly.
    println!("cargo:rustc-check-cfg=cfg(has_threads)");
    if !target.starts_with("wasm") || target.ends_with("-threads") {
        println!("cargo:rustc-cfg=has_threads");
    }
}

/// Checks the header of the network to embed, and passes its path to the compiler.
fn embed_net(root: &Path) {
    println!("cargo:rerun-if-env-changed=EVALFILE");
    let chosen = var_os("EVALFILE").filter(|path| !path.is_empty());
    // A relative EVALFILE is relative to the package, where make and cargo run.
    let net = root.join(chosen.unwrap_or_else(|| "nets/default.nnue".into()));
    if !net.is_file() {
        eprintln!("error: cannot embed {}: not a file", net.display());
        eprintln!("       set EVALFILE=path to embed another network");
        std::process::exit(1);
    }
    if let Some(reason) = refusal(&net) {
        eprintln!("error: cannot embed {}: {reason}", net.display());
        std::process::exit(1);
    }
    println!("cargo:rerun-if-changed={}", net.display());
    println!("cargo:rustc-env=ZOOTHERA_NET={}", net.display());
}

/// The reason why a file is not a network, with the loader's messages; `None` if its header is valid. Only the loader
/// checks the rest of the file.
fn refusal(net: &Path) -> Option<String> {
    let file = match fs::read(net) {
        Ok(file) => file,
        Err(error) => return Some(error.to_string()),
    };
    let Some(header) = file.first_chunk::<{ version::HEADER_SIZE }>() else {
        return Some(version::too_short(file.len()));
    };
    let found = u32::from_le_bytes([header[0], header[1], header[2], header[3]]);
    (!version::KNOWN_VERSIONS.contains(&found)).then(|| version::unknown(found))
}

/// The commit being built, from the environment, from a source package, or from git. Other profiles than release use
/// "unknown", because every new commit would otherwise recompile the crate.
fn revision(root: &Path) -> String {
    if let Ok(given) = std::env::var("ZOOTHERA_REVISION") {
        return given;
    }
    if std::env::var("PROFILE").is_ok_and(|profile| profile != "release") {
        return "unknown".to_owned();
    }
    packaged(root).or_else(|| committed(root)).unwrap_or_else(|| "unknown".to_owned())
}

/// The commit recorded by `cargo package`.
fn packaged(root: &Path) -> Option<String> {
    let info = fs::read_to_string(root.join(".cargo_vcs_info.json")).ok()?;
    let (_, rest) = info.split_once("\"sha1\": \"")?;
    rest.get(..12).map(str::to_owned)
}

/// The commit checked out in the git repository of this package.
fn committed(root: &Path) -> Option<String> {
    // If the source lies inside another repository, that repository's commit is irrelevant.
    if !root.join(".git").exists() {
        return None;
    }
    let git = |arguments: &[&str]| {
        let run = Command::new("git").args(arguments).current_dir(root).output();
        let run = run.ok().filter(|run| run.status.success())?;
        Some(String::from_utf8(run.stdout).ok()?.trim().to_owned())
    };
    let log = root.join(git(&["rev-parse", "--git-path", "logs/HEAD"])?);
    if log.exists() {
        println!("cargo:rerun-if-changed={}", log.display());
    }
    git(&["rev-parse", "--short=12", "HEAD"])
}
