//! Inspects, verifies and writes network files.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::load_network;
use super::net_numbers::{NumberFormat, export_numbers, summary};
#[cfg(feature = "full")]
use super::net_picture;
use crate::nnue::{AttackInputs, KIND, NetInfo, Network, ThreatInputs, hex_sha256};
use crate::util::atomic::write_over;
use crate::util::files::check_distinct;
use crate::util::text::Shown as _;

/// Hexadecimal digits of the SHA-256 in a name like `nn-<12 digits>.nnue`.
const NAME_DIGITS: usize = 12;

/// The subcommands of `net`.
#[derive(clap::Subcommand, Debug)]
pub enum NetCommand {
    /// Show architecture, description, hashes, size and parameter ranges; of a checkpoint, its progress and settings
    Info {
        /// Network file, or checkpoint of a training run
        file: PathBuf,
    },
    /// Verify a network file; exits with code 1 and the reason if a check fails
    Verify {
        /// Network file
        file: PathBuf,
    },
    /// Write a network to a file, compressed or not as its own file was
    Export {
        /// File to write
        file: PathBuf,
        /// Network to export instead of the embedded one
        #[arg(long, value_name = "FILE")]
        net: Option<PathBuf>,
        /// Compress the feature transformer (LEB128)
        #[arg(long)]
        compress: bool,
        /// Write every number uncompressed
        #[arg(long, conflicts_with = "compress")]
        decompress: bool,
        /// Form of the file; all but nnue are plain little-endian numbers, and their layout is printed
        #[arg(long, value_enum, default_value = "nnue", conflicts_with_all = ["compress", "decompress"])]
        format: NumberFormat,
    },
    /// Draw the first layer as a picture: for each unit a board for each kind of piece
    #[cfg(feature = "full")]
    Picture {
        /// PNG file to write
        file: PathBuf,
        /// Network to draw instead of the embedded one
        #[arg(long, value_name = "FILE")]
        net: Option<PathBuf>,
    },
}

/// Runs the commands of `net`.
///
/// # Errors
/// Fails if a file is not a valid network, cannot be written, or is both read and written.
pub fn run(command: &NetCommand, out: &mut dyn Write) -> Result<()> {
    match command {
        NetCommand::Info { file } => info(file, out),
        NetCommand::Verify { file } => verify(file, out),
        #[cfg(feature = "full")]
        NetCommand::Picture { file, net } => {
            check_distinct(&[file], &net.as_deref().into_iter().collect::<Vec<_>>())?;
            let network = load_network(net.as_deref())?;
            let limit = net_picture::write(&network, file)?;
            let architecture = network.architecture();
            Ok(writeln!(out, "{}: {architecture}, full colour at a weight of {limit:.0}", file.shown())?)
        }
        NetCommand::Export { file, net, format, .. } if *format != NumberFormat::Nnue => {
            check_distinct(&[file], &net.as_deref().into_iter().collect::<Vec<_>>())?;
            let network = load_network(net.as_deref())?;
            let layout = export_numbers(&network, *format, file)?;
            Ok(writeln!(out, "{}", summary(&network, file, &layout))?)
        }
        NetCommand::Export { file, net, compress, decompress, .. } => {
            let compression = match (compress, decompress) {
                (true, _) => Compression::Leb128,
                (_, true) => Compression::None,
                _ => Compression::AsRead,
            };
            let inputs: Vec<&Path> = net.as_deref().into_iter().collect();
            check_distinct(&[file], &inputs)?;
            let network = load_network(net.as_deref())?;
            Ok(writeln!(out, "{}", export(&network, compression, file)?)?)
        }
    }
}

/// Prints the properties of a network file.
///
/// # Errors
/// Fails if the file is not a valid network or a write fails.
fn info(path: &Path, out: &mut dyn Write) -> Result<()> {
    #[cfg(feature = "full")]
    if crate::train::run::outputs::is_checkpoint(path)? {
        return crate::train::run::outputs::describe(path, out);
    }
    let info = load(path)?;
    writeln!(out, "File          {}", path.shown())?;
    writeln!(out, "Architecture  {}", info.architecture)?;
    let shape = info.architecture;
    let features = shape.features.set();
    let (name, count) = (features.name, features.count());
    writeln!(out, "Features      {name}, {count} per side")?;
    let kings = features.kings;
    if let Some(table) = shape.features.table() {
        writeln!(out, "King buckets  {kings}, by this table from rank 8 to rank 1")?;
        for rank in table.chunks(8).rev() {
            writeln!(out, "              {}", rank.iter().map(|bucket| format!("{bucket:>3}")).collect::<String>())?;
        }
    } else if features.is_by_table() {
        writeln!(out, "King buckets  {kings}, from a mirrored table")?;
    }
    if shape.threat_inputs != ThreatInputs::None {
        let (name, count) = (shape.threat_inputs, shape.threat_inputs.set().count());
        writeln!(out, "Relations     {name}, {count} per side")?;
    }
    if shape.attacks != AttackInputs::None {
        writeln!(out, "Attacks       {}, {} per side", shape.attacks, shape.attacks.rows())?;
    }
    writeln!(out, "Accumulator   {} per side", shape.l1)?;
    writeln!(out, "Activation    {}", shape.activations())?;
    for layer in shape.layers().into_iter().filter(|layer| layer.outputs > 0) {
        writeln!(out, "Layer         {} -> {}", layer.inputs, layer.outputs)?;
    }
    match shape.buckets {
        1 => writeln!(out, "Buckets       none: one stack of layers")?,
        n => writeln!(out, "Buckets       {n} stacks of layers, by number of pieces")?,
    }
    match shape.psqt {
        0 => writeln!(out, "PSQT          none")?,
        n => writeln!(out, "PSQT          {n} values per feature, one for each bucket")?,
    }
    let form = if info.compressed { "LEB128" } else { "none" };
    writeln!(out, "Compression   {form}")?;
    writeln!(out, "Description   {}", info.description.escape_debug())?;
    let (file, transformer) = (shape.file_hash(), shape.transformer_hash());
    let layers = shape.network_hash();
    writeln!(out, "Version       {:#010x}", shape.version)?;
    writeln!(out, "Hashes        {file:#010x} (file) {transformer:#010x} (transformer) {layers:#010x} (layers)")?;
    writeln!(out, "Size          {} bytes", info.size)?;
    writeln!(out, "SHA-256       {}", info.sha256)?;
    for range in &info.ranges {
        writeln!(out, "Range         {} {} to {}", range.name, range.min, range.max)?;
    }
    Ok(())
}

/// Verifies a network file: container, hashes, length, and the file name if it contains a hash. Prints each result.
///
/// # Errors
/// Fails at the first failed check, or if a write fails.
fn verify(path: &Path, out: &mut dyn Write) -> Result<()> {
    let info = load(path)?;
    writeln!(out, "ok  version {:#010x}, known architecture {}", info.architecture.version, info.architecture)?;
    writeln!(out, "ok  hashes of the file, the transformer and the layers")?;
    writeln!(out, "ok  length {} bytes, no trailing data", info.size)?;
    writeln!(out, "ok  sha256 {}", info.sha256)?;
    match named_digits(path) {
        None => writeln!(out, "--  the name is not nn-<{NAME_DIGITS} hex digits>.nnue, so it is not checked")?,
        Some(digits) if info.sha256.starts_with(&digits) => writeln!(out, "ok  name matches the sha256")?,
        Some(digits) => bail!(
            "{}: the name contains the hash {digits}, but the sha256 begins with {}",
            path.shown(),
            info.sha256.get(..NAME_DIGITS).unwrap_or(&info.sha256)
        ),
    }
    writeln!(out, "{} is valid", path.shown())?;
    Ok(())
}

/// Compression of the feature transformer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Compression {
    /// As in the network's own file.
    #[default]
    AsRead,
    /// LEB128.
    Leb128,
    /// Uncompressed.
    None,
}

/// Writes `network` to a file atomically and returns a summary line.
///
/// # Errors
/// Fails if the file cannot be written; an existing file is then unchanged.
pub fn export(network: &Network, compression: Compression, path: &Path) -> Result<String> {
    let compressed = match compression {
        Compression::AsRead => network.is_compressed(),
        Compression::Leb128 => true,
        Compression::None => false,
    };
    let bytes = network.to_bytes_as(compressed);
    write(path, &bytes)?;
    let form = if compressed { "compressed (LEB128)" } else { "not compressed" };
    let sha256 = hex_sha256(&bytes);
    Ok(format!("{}: {}, {} bytes, {form}, sha256 {sha256}", path.shown(), network.architecture(), bytes.len()))
}

/// Writes the bytes of a network atomically.
///
/// # Errors
/// Fails on an I/O error, or if the file exists and is not a network; the old file is then unchanged.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    write_over(path, &KIND, |file| file.write_all(bytes))
}

/// Writes `network` to the file `name`, compressed or not as it was read. An empty name stands for the canonical name.
///
/// # Errors
/// Fails as [`export`] does.
pub fn export_named(network: &Network, name: &str) -> Result<String> {
    let name = match name {
        "" => canonical_name(network),
        name => name.to_owned(),
    };
    export(network, Compression::AsRead, Path::new(&name))
}

/// Returns the name that published networks use, which contains a part of the SHA-256: `nn-<12 digits>.nnue`.
fn canonical_name(network: &Network) -> String {
    let sha256 = network.info().sha256;
    format!("nn-{}.nnue", sha256.get(..NAME_DIGITS).unwrap_or(&sha256))
}

fn load(path: &Path) -> Result<NetInfo> {
    let network = Network::from_file(path).with_context(|| path.shown())?;
    Ok(network.info())
}

/// Returns the hash contained in a file name, in lower case.
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
    fn only_canonical_name_contains_hash() {
        let digits = |name: &str| named_digits(Path::new(name));
        assert_eq!(digits("nets/nn-82215d0fd0df.nnue").as_deref(), Some("82215d0fd0df"));
        assert_eq!(digits("default.nnue"), None);
        assert_eq!(digits("nn-82215d0fd0.nnue"), None);
        assert_eq!(digits("nn-82215d0fd0xx.nnue"), None);
    }

    #[test]
    fn export_reproduces_file_and_canonical_name() {
        let network = Network::embedded();
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("export.nnue");
        let summary = export(&network, Compression::AsRead, &path);
        let written = std::fs::read(&path);
        assert!(summary.is_ok_and(|text| text.contains("compressed")));
        assert!(written.is_ok_and(|bytes| bytes == network.to_bytes()));
        let name = canonical_name(&network);
        assert!(network.info().sha256.starts_with(&named_digits(Path::new(&name)).unwrap()));
        let nowhere = Path::new("no such folder/x.nnue");
        assert!(export(&network, Compression::AsRead, nowhere).is_err());
        assert!(export(&network, Compression::AsRead, Path::new("..")).is_err());
    }

    #[test]
    fn export_does_not_overwrite_other_files() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("games.pgn");
        std::fs::write(&path, "[Event \"?\"]\n").expect("the file is written");
        let network = Network::embedded();
        let refused = export(&network, Compression::AsRead, &path);
        let error = format!("{:#}", refused.expect_err("games are not a network"));
        assert!(error.contains("games.pgn exists and is not a network"), "{error}");
        let text = std::fs::read_to_string(&path).expect("the games");
        assert_eq!(text, "[Event \"?\"]\n");
    }

    #[test]
    fn error_names_missing_file() {
        let error = verify(Path::new("no-such-net.nnue"), &mut Vec::new()).err();
        assert!(error.is_some_and(|e| format!("{e:#}").contains("no-such-net.nnue")));
    }
}
