//! Tells the compiler which network to embed (`EVALFILE`, or else `nets/default.nnue`) and what `--version` says.

use std::env::var_os;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

#[path = "src/nnue/version.rs"]
mod version;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let root = PathBuf::from(var_os("CARGO_MANIFEST_DIR").expect("cargo sets this"));
    embed_net(&root);
    println!("cargo:rerun-if-env-changed=ZOOTHERA_REVISION");
    println!("cargo:rustc-env=ZOOTHERA_REVISION={}", revision(&root));
    let target = std::env::var("TARGET").expect("cargo sets this");
    println!("cargo:rustc-env=ZOOTHERA_TARGET={target}");
}

fn embed_net(root: &Path) {
    println!("cargo:rerun-if-env-changed=EVALFILE");
    let chosen = var_os("EVALFILE").filter(|path| !path.is_empty());
    // A relative EVALFILE is relative to the package, where make and cargo are run.
    let net = root.join(chosen.unwrap_or_else(|| "nets/default.nnue".into()));
    if !net.is_file() {
        eprintln!(
            "error: the network to embed is not a file: {}",
            net.display()
        );
        eprintln!("       EVALFILE=path chooses another one");
        std::process::exit(1);
    }
    if let Some(reason) = refusal(&net) {
        eprintln!("error: {}: {reason}", net.display());
        std::process::exit(1);
    }
    println!("cargo:rerun-if-changed={}", net.display());
    println!("cargo:rustc-env=ZOOTHERA_NET={}", net.display());
}

/// Why a file is no network at all, in the loader's words; whether it is a sound one, only the loader can tell.
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

/// The commit that is built: from the environment, from a package of the source, or from git. Builds for tests do not
/// ask: a commit would compile everything once more.
fn revision(root: &Path) -> String {
    if let Ok(told) = std::env::var("ZOOTHERA_REVISION") {
        return told;
    }
    if std::env::var("PROFILE").is_ok_and(|profile| profile != "release") {
        return "unknown".to_owned();
    }
    packaged(root)
        .or_else(|| committed(root))
        .unwrap_or_else(|| "unknown".to_owned())
}

/// The commit that `cargo package` noted.
fn packaged(root: &Path) -> Option<String> {
    let note = fs::read_to_string(root.join(".cargo_vcs_info.json")).ok()?;
    let (_, rest) = note.split_once("\"sha1\": \"")?;
    rest.get(..12).map(str::to_owned)
}

/// The commit that git has checked out here.
fn committed(root: &Path) -> Option<String> {
    // A folder of another repository that holds this source says nothing about it.
    if !root.join(".git").exists() {
        return None;
    }
    let git = |arguments: &[&str]| {
        let run = Command::new("git")
            .args(arguments)
            .current_dir(root)
            .output();
        let run = run.ok().filter(|run| run.status.success())?;
        Some(String::from_utf8(run.stdout).ok()?.trim().to_owned())
    };
    let log = root.join(git(&["rev-parse", "--git-path", "logs/HEAD"])?);
    if log.exists() {
        println!("cargo:rerun-if-changed={}", log.display());
    }
    git(&["rev-parse", "--short=12", "HEAD"])
}
