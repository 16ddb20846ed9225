//! Looks into a network file, proves it sound, and writes one.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::nnue::{KIND, NetInfo, Network, ThreatInputs, hex_sha256};
use crate::util::atomic::write_over;

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
    let shape = info.architecture;
    let features = shape.features.set();
    let (name, count) = (features.name, features.count());
    writeln!(out, "Features      {name}, {count} per side")?;
    if features.is_by_table() {
        let kings = features.kings;
        writeln!(out, "King buckets  {kings}, by a mirrored table")?;
    }
    if shape.threat_inputs != ThreatInputs::None {
        let (name, count) = (shape.threat_inputs, shape.threat_inputs.set().count());
        writeln!(out, "Relations     {name}, {count} per side")?;
    }
    writeln!(out, "Accumulator   {} per side", shape.l1)?;
    writeln!(out, "Activation    {}", shape.activations())?;
    for layer in shape.layers() {
        writeln!(out, "Layer         {} -> {}", layer.inputs, layer.outputs)?;
    }
    match shape.buckets {
        1 => writeln!(out, "Buckets       none: one stack of layers")?,
        n => writeln!(
            out,
            "Buckets       {n} stacks of layers, by number of pieces"
        )?,
    }
    match shape.psqt {
        0 => writeln!(out, "PSQT          none")?,
        n => writeln!(
            out,
            "PSQT          {n} values per feature, one for each bucket"
        )?,
    }
    let form = if info.compressed { "LEB128" } else { "none" };
    writeln!(out, "Compression   {form}")?;
    writeln!(out, "Description   {}", info.description.escape_debug())?;
    let (file, transformer) = (shape.file_hash(), shape.transformer_hash());
    let layers = shape.network_hash();
    writeln!(out, "Version       {:#010x}", shape.version)?;
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
        info.architecture.version, info.architecture
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

/// How the transformer of a network is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Compression {
    /// As it was in its file.
    #[default]
    AsRead,
    /// Compressed.
    Leb128,
    /// With every number in full.
    None,
}

/// Writes `network` to a file, all of it or nothing, and says what was written.
///
/// # Errors
/// When the file cannot be written; one that was there before is untouched then.
pub fn export(network: &Network, compression: Compression, path: &Path) -> Result<String> {
    let compressed = match compression {
        Compression::AsRead => network.is_compressed(),
        Compression::Leb128 => true,
        Compression::None => false,
    };
    let bytes = network.to_bytes_as(compressed);
    write(path, &bytes)?;
    let form = if compressed {
        "compressed (LEB128)"
    } else {
        "not compressed"
    };
    let sha256 = hex_sha256(&bytes);
    Ok(format!(
        "{}: {}, {} bytes, {form}, sha256 {sha256}",
        path.display(),
        network.architecture(),
        bytes.len()
    ))
}

/// Writes the bytes of a network, all of them or nothing.
///
/// # Errors
/// Fails on an I/O error, and if the file exists and is not a network; the old file stays then.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    write_over(path, &KIND, |file| file.write_all(bytes))
}

/// Writes `network` as it was read to the file of this name; an empty one stands for a name that tells the hash.
///
/// # Errors
/// As [`export`].
pub fn export_named(network: &Network, name: &str) -> Result<String> {
    let name = match name {
        "" => canonical_name(network),
        name => name.to_owned(),
    };
    export(network, Compression::AsRead, Path::new(&name))
}

/// The name that says which network it is, as those of published networks do: `nn-<12 digits>.nnue`.
fn canonical_name(network: &Network) -> String {
    let sha256 = network.info().sha256;
    format!("nn-{}.nnue", sha256.get(..NAME_DIGITS).unwrap_or(&sha256))
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
    fn an_export_is_the_file_again_and_its_name_can_be_told() {
        let network = Network::embedded();
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("export.nnue");
        let summary = export(&network, Compression::AsRead, &path);
        let written = std::fs::read(&path);
        assert!(summary.is_ok_and(|text| text.contains("compressed")));
        assert!(written.is_ok_and(|bytes| bytes == network.to_bytes()));
        let name = canonical_name(&network);
        assert!(
            network
                .info()
                .sha256
                .starts_with(&named_digits(Path::new(&name)).unwrap())
        );
        let nowhere = Path::new("no such folder/x.nnue");
        assert!(export(&network, Compression::AsRead, nowhere).is_err());
        assert!(export(&network, Compression::AsRead, Path::new("..")).is_err());
    }

    #[test]
    fn other_files_are_not_replaced_by_a_network() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("games.pgn");
        std::fs::write(&path, "[Event \"?\"]\n").expect("room");
        let network = Network::embedded();
        let refused = export(&network, Compression::AsRead, &path);
        let error = format!("{:#}", refused.expect_err("games are no network"));
        assert!(
            error.contains("games.pgn exists and is not a network"),
            "{error}"
        );
        let text = std::fs::read_to_string(&path).expect("the games");
        assert_eq!(text, "[Event \"?\"]\n");
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = verify(Path::new("no-such-net.nnue"), &mut Vec::new()).err();
        assert!(error.is_some_and(|e| format!("{e:#}").contains("no-such-net.nnue")));
    }
}
