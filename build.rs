//! Tells the compiler which network to embed: `EVALFILE`, or else `nets/default.nnue`.

use std::path::PathBuf;

fn main() {
    println!("cargo:rerun-if-env-changed=EVALFILE");
    println!("cargo:rerun-if-changed=build.rs");
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets this"));
    let chosen = std::env::var_os("EVALFILE").filter(|path| !path.is_empty());
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
    println!("cargo:rerun-if-changed={}", net.display());
    println!("cargo:rustc-env=ZOOTHERA_NET={}", net.display());
}
