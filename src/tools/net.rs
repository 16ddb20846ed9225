//! Looks into a network file and proves it sound.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::nnue::{NetInfo, Network};

/// Hexadecimal digits of the SHA-256 in a name like `nn-<12 digits>.nnue`.
const NAME_DIGITS: usize = 12;

/// Prints what a file says about its network.
///
/// # Errors
/// When the file is no sound network, or the sink fails.
pub fn info(path: &Path, out: &mut dyn Write) -> Result<()> {
    let info = load(path)?;
    writeln!(out, "File          {}", path.display())?;
    writeln!(out, "Architecture  {}", info.architecture)?;
    writeln!(out, "Features      {} per side", info.features)?;
    writeln!(out, "Accumulator   {} per side", info.l1)?;
    for layer in &info.layers {
        writeln!(out, "Layer         {} -> {}", layer.inputs, layer.outputs)?;
    }
    writeln!(out, "Description   {}", info.description.escape_debug())?;
    let [file, transformer, layers] = info.hashes;
    writeln!(out, "Version       {:#010x}", info.version)?;
    writeln!(
        out,
        "Hashes        {file:#010x} (file) {transformer:#010x} (transformer) {layers:#010x} (layers)"
    )?;
    writeln!(out, "Size          {} bytes", info.size)?;
    writeln!(out, "SHA-256       {}", info.sha256)?;
    for (name, low, high) in &info.ranges {
        writeln!(out, "Range         {name} {low} to {high}")?;
    }
    Ok(())
}

/// Checks a file in every way there is: the container, its hashes, its length, and its name if that names
/// a hash. Prints each result.
///
/// # Errors
/// The first check that fails, or a failure of the sink.
pub fn verify(path: &Path, out: &mut dyn Write) -> Result<()> {
    let info = load(path)?;
    writeln!(
        out,
        "ok  version {:#010x}, known architecture {}",
        info.version, info.architecture
    )?;
    writeln!(
        out,
        "ok  hashes of the file, the transformer and the layers"
    )?;
    writeln!(
        out,
        "ok  length {} bytes, nothing behind the end",
        info.size
    )?;
    writeln!(out, "ok  sha256 {}", info.sha256)?;
    match named_digits(path) {
        None => writeln!(
            out,
            "--  the name is not nn-<{NAME_DIGITS} hex digits>.nnue, so it claims nothing"
        )?,
        Some(digits) if info.sha256.starts_with(&digits) => {
            writeln!(out, "ok  name agrees with the sha256")?
        }
        Some(digits) => bail!(
            "{}: the name says {digits}, but the sha256 begins with {}",
            path.display(),
            info.sha256.get(..NAME_DIGITS).unwrap_or(&info.sha256)
        ),
    }
    writeln!(out, "{} is sound", path.display())?;
    Ok(())
}

fn load(path: &Path) -> Result<NetInfo> {
    let network = Network::from_file(path).with_context(|| path.display().to_string())?;
    Ok(network.info())
}

/// The hash that the name of a file claims, in lower case.
fn named_digits(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    let digits = name.strip_prefix("nn-")?.strip_suffix(".nnue")?;
    let is_hash = digits.len() == NAME_DIGITS && digits.chars().all(|c| c.is_ascii_hexdigit());
    is_hash.then(|| digits.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_hash_in_the_name_is_a_claim() {
        let claim = |name: &str| named_digits(Path::new(name));
        assert_eq!(
            claim("nets/nn-82215d0fd0df.nnue").as_deref(),
            Some("82215d0fd0df")
        );
        assert_eq!(claim("default.nnue"), None);
        assert_eq!(claim("nn-82215d0fd0.nnue"), None);
        assert_eq!(claim("nn-82215d0fd0xx.nnue"), None);
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = verify(Path::new("no-such-net.nnue"), &mut Vec::new()).err();
        assert!(error.is_some_and(|e| format!("{e:#}").contains("no-such-net.nnue")));
    }
}
