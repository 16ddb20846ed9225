//! Inspects, verifies and writes network files, also as plain numbers for engines without a reader of `.nnue` files.

use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use super::load_network;
#[cfg(feature = "full")]
use super::net_picture;
use crate::nnue::features::chess768::row_in_bullet;
use crate::nnue::layers::Direct;
use crate::nnue::{Activation, AttackInputs, Features, KIND, NetInfo, Network, ThreatInputs, hex_sha256};
use crate::util::atomic::write_over;
use crate::util::identity::{Kind, check_distinct};
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

// Export of a network as plain numbers, for engines without a reader of `.nnue` files.

/// Form of an exported network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum NumberFormat {
    /// A network file.
    Nnue,
    /// The integers of the network file without headers and padding: biases before weights, a row for each feature and
    /// for each output of a layer
    Raw,
    /// As raw, as 32-bit floats in which 1.0 is the largest activation and the output is in engine units
    Float,
    /// The integers in bullet's order: weights before biases, a column for each input of a layer, padded to a multiple
    /// of 64 bytes
    Bullet,
    /// A net without hidden layers with the scales of bullet's example `simple`, rounded to them: 255 for activations,
    /// 64 for the output's weights, 400 engine units for an output of 1.0
    BulletSimple,
}

impl NumberFormat {
    /// Whether rows, weights and padding have bullet's order.
    fn is_for_bullet(self) -> bool {
        matches!(self, Self::Bullet | Self::BulletSimple)
    }
}

/// Numbers of a part of a network.
struct Block {
    name: String,
    numbers: Numbers,
    /// Length of the dimensions, the slowest first.
    dimensions: Vec<usize>,
    /// The integer that stands for 1.0.
    one: f32,
}

enum Numbers {
    I8(Vec<i8>),
    I16(Vec<i16>),
    I32(Vec<i32>),
}

impl Numbers {
    fn name(&self) -> &'static str {
        match self {
            Self::I8(_) => "i8",
            Self::I16(_) => "i16",
            Self::I32(_) => "i32",
        }
    }

    fn bytes(&self) -> Vec<u8> {
        match self {
            Self::I8(numbers) => numbers.iter().map(|&number| number as u8).collect(),
            Self::I16(numbers) => numbers.iter().flat_map(|number| number.to_le_bytes()).collect(),
            Self::I32(numbers) => numbers.iter().flat_map(|number| number.to_le_bytes()).collect(),
        }
    }

    fn floats(&self, one: f32) -> Vec<u8> {
        let of = |number: f32| (number / one).to_le_bytes();
        match self {
            Self::I8(numbers) => numbers.iter().flat_map(|&number| of(number.into())).collect(),
            Self::I16(numbers) => numbers.iter().flat_map(|&number| of(number.into())).collect(),
            Self::I32(numbers) => numbers.iter().flat_map(|&number| of(number as f32)).collect(),
        }
    }
}

/// Description of an exported file: a line for each block.
pub struct Layout(Vec<(usize, String, &'static str, Vec<usize>)>);

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>10}  {:<4}  {:<22}  block", "byte", "type", "dimensions")?;
        for (at, name, kind, dimensions) in &self.0 {
            let dimensions: Vec<String> = dimensions.iter().map(usize::to_string).collect();
            write!(f, "\n{at:>10}  {kind:<4}  {:<22}  {name}", dimensions.join(" x "))?;
        }
        Ok(())
    }
}

/// Writes the numbers of a network to a new file and returns the layout of the file.
///
/// # Errors
/// Fails if the network has threat inputs, whose numbers have other scales, or if the file exists or cannot be written.
pub fn export_numbers(network: &Network, format: NumberFormat, path: &Path) -> Result<Layout> {
    let (bytes, layout) = numbers(network, format)?;
    // Plain numbers have no mark by which a file could be recognised.
    const NOTHING: Kind = Kind { name: "empty", is: |_| false };
    write_over(path, &NOTHING, |file| file.write_all(&bytes))?;
    Ok(layout)
}

fn numbers(network: &Network, format: NumberFormat) -> Result<(Vec<u8>, Layout)> {
    let shape = network.architecture();
    ensure!(
        shape.threat_inputs == ThreatInputs::None && shape.activation != Activation::WidePairwise,
        "{shape} has threat inputs, so its layers have other scales: --format {} is for networks without them",
        if format == NumberFormat::Float { "float" } else { "raw or bullet" }
    );
    if format == NumberFormat::BulletSimple {
        ensure!(shape.is_direct(), "{shape} has hidden layers: --format bullet-simple is for nets without them");
    }
    let mut blocks = transformer(network, format.is_for_bullet());
    for stack in 0..network.heads().len() {
        if shape.is_direct() {
            blocks.extend(direct(network, stack));
        } else {
            blocks.extend(dense(network, stack, format.is_for_bullet()));
        }
    }
    if format.is_for_bullet() {
        blocks = weights_first(blocks);
    }
    if format == NumberFormat::BulletSimple {
        blocks = with_simple_scales(blocks);
    }
    let (mut bytes, mut layout) = (Vec::new(), Vec::new());
    for block in blocks {
        let is_float = format == NumberFormat::Float;
        let kind = if is_float { "f32" } else { block.numbers.name() };
        layout.push((bytes.len(), block.name, kind, block.dimensions));
        bytes.extend(if is_float { block.numbers.floats(block.one) } else { block.numbers.bytes() });
    }
    if format.is_for_bullet() {
        // CITE: bullet pads with its name.
        let padding = bytes.len().next_multiple_of(64) - bytes.len();
        bytes.extend(b"bullet".iter().cycle().take(padding));
    }
    Ok((bytes, Layout(layout)))
}

/// The blocks of the first layer. An activation of 1.0 is 127. The rows of bullet's own set are in its order.
fn transformer(network: &Network, is_for_bullet: bool) -> Vec<Block> {
    let (shape, transformer) = (network.architecture(), network.transformer());
    // The rows of attack inputs follow those of the pieces.
    let (features, rows) = (shape.features.set().count(), transformer.weights().len() / shape.l1);
    let mut weights = transformer.weights().to_vec();
    if is_for_bullet && shape.features.set().code == Features::Chess768.set().code {
        let bucket = Features::Chess768.set().count();
        for (row, from) in transformer.weights().chunks_exact(shape.l1).enumerate() {
            let to = row - row % bucket + row_in_bullet(row % bucket);
            weights[to * shape.l1..][..shape.l1].copy_from_slice(from);
        }
    }
    let block = |name: &str, numbers, dimensions, one| Block { name: name.to_owned(), numbers, dimensions, one };
    let mut blocks = vec![
        block("accumulator biases", Numbers::I16(transformer.biases().to_vec()), vec![shape.l1], 127.0),
        block("accumulator weights", Numbers::I16(weights), vec![rows, shape.l1], 127.0),
    ];
    if shape.psqt > 0 {
        let psqt = Numbers::I32(transformer.psqt().to_vec());
        blocks.push(block("piece-square values", psqt, vec![features, shape.psqt], 16.0));
    }
    blocks
}

/// The blocks of the layers of a stack, without the padding of their rows. Weights of 1.0 are 64; sums of the last
/// layer are sixteenths of engine units.
fn dense(network: &Network, stack: usize, is_by_input: bool) -> Vec<Block> {
    let layers = network.heads()[stack].layers();
    let mut blocks = Vec::new();
    for (index, layer) in layers.into_iter().enumerate() {
        let (shape, weights) = (layer.shape(), layer.weights());
        let (inputs, outputs, row) = (shape.inputs, shape.outputs, shape.row());
        let weight = |output: usize, input: usize| weights[output * row + input];
        let (ordered, dimensions): (Vec<i8>, _) = if is_by_input {
            let of_input = |input| (0..outputs).map(move |output| weight(output, input));
            ((0..inputs).flat_map(of_input).collect(), vec![inputs, outputs])
        } else {
            let of_output = |output| (0..inputs).map(move |input| weight(output, input));
            ((0..outputs).flat_map(of_output).collect(), vec![outputs, inputs])
        };
        let (bias_one, weight_one) = if index == 2 { (16.0, 16.0 / 127.0) } else { (127.0 * 64.0, 64.0) };
        let name = |what: &str| format!("stack {stack}, layer {} {what}", index + 1);
        let biases = Numbers::I32(layer.biases().to_vec());
        blocks.push(Block { name: name("biases"), numbers: biases, dimensions: vec![outputs], one: bias_one });
        blocks.push(Block { name: name("weights"), numbers: Numbers::I8(ordered), dimensions, one: weight_one });
    }
    blocks
}

/// The blocks of a stack without hidden layers. Units of 1.0 are 127, or its square if they are squares or products.
fn direct(network: &Network, stack: usize) -> Vec<Block> {
    let (activation, direct) = (network.architecture().activation, &network.heads()[stack].direct);
    let unit = if activation == Activation::Crelu { 127.0 } else { 127.0 * 127.0 };
    let sum_one = 16.0 * (1 << Direct::shift(activation)) as f32;
    let name = |what: &str| format!("stack {stack}, output {what}");
    let (bias, weights) = (Numbers::I32(vec![direct.bias()]), Numbers::I16(direct.weights().to_vec()));
    let dimensions = vec![1, direct.weights().len()];
    vec![
        Block { name: name("biases"), numbers: bias, dimensions: vec![1], one: sum_one },
        Block { name: name("weights"), numbers: weights, dimensions, one: sum_one / unit },
    ]
}

/// The blocks of a net without hidden layers with the scales of bullet's example `simple`, all as numbers of 16 bits;
/// the weights of all stacks come before their biases.
// CITE: QA 255, QB 64, SCALE 400 and the order: bullet, `examples/simple.rs` at cebc78a0.
fn with_simple_scales(blocks: Vec<Block>) -> Vec<Block> {
    const ACTIVATION_ONE: f32 = 255.0;
    const WEIGHT_ONE: f32 = 64.0;
    const SCALE: f32 = 400.0;
    let scaled = |mut block: Block| {
        let is_bias = block.name.ends_with("biases");
        // Outputs are in engine units.
        let one = match block.name.starts_with("stack") {
            true if is_bias => ACTIVATION_ONE * WEIGHT_ONE / SCALE,
            true => WEIGHT_ONE / SCALE,
            false => ACTIVATION_ONE,
        };
        // The conversion saturates.
        let of = |number: f32| (number / block.one * one).round() as i16;
        block.numbers = Numbers::I16(match &block.numbers {
            Numbers::I8(numbers) => numbers.iter().map(|&number| of(number.into())).collect(),
            Numbers::I16(numbers) => numbers.iter().map(|&number| of(number.into())).collect(),
            Numbers::I32(numbers) => numbers.iter().map(|&number| of(number as f32)).collect(),
        });
        block
    };
    let (biases, mut blocks): (Vec<Block>, Vec<Block>) = blocks
        .into_iter()
        .map(scaled)
        .partition(|block| block.name.starts_with("stack") && block.name.ends_with("biases"));
    blocks.extend(biases);
    blocks
}

/// The blocks with the weights of each layer before its biases.
fn weights_first(mut blocks: Vec<Block>) -> Vec<Block> {
    let mut index = 0;
    while index + 1 < blocks.len() {
        let is_pair = blocks[index].name.ends_with("biases");
        if is_pair {
            blocks.swap(index, index + 1);
        }
        index += if is_pair { 2 } else { 1 };
    }
    blocks
}

/// Returns the line for a written file.
pub fn summary(network: &Network, path: &Path, layout: &Layout) -> String {
    format!("{}: the numbers of {}\n{layout}", path.shown(), network.architecture())
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

#[cfg(test)]
mod net_numbers_tests {
    use super::*;
    use crate::nnue::{Architecture, synthetic};

    /// A network of Stockfish 12's shape with different numbers everywhere.
    fn network() -> Network {
        Network::from_bytes(&synthetic::halfkp(&synthetic::A)).expect("a network")
    }

    #[test]
    fn raw_numbers_are_those_of_the_network_file() {
        let network = network();
        let (bytes, layout) = numbers(&network, NumberFormat::Raw).expect("numbers");
        let file = network.to_bytes_as(false);
        let first = 2 * 256 * (1 + 64 * 641);
        // The layers follow a hash of four bytes, and their rows have no padding.
        let layers = 4 * 32 + 32 * 512 + 4 * 32 + 32 * 32 + 4 + 32;
        assert_eq!(bytes.len(), first + layers);
        assert!(file[file.len() - layers..] == bytes[first..]);
        assert!(file[file.len() - layers - 4 - first..][..first] == bytes[..first]);
        let text = layout.to_string();
        assert!(text.contains("41024 x 256") && text.lines().count() == 9, "{text}");
    }

    #[test]
    fn bullet_order_has_weights_first_and_columns() {
        let network = network();
        let (bytes, _) = numbers(&network, NumberFormat::Bullet).expect("numbers");
        let transformer = network.transformer();
        assert_eq!(bytes[..2], transformer.weights()[0].to_le_bytes());
        let biases = 2 * 256 * 64 * 641;
        assert_eq!(bytes[biases..][..2], transformer.biases()[0].to_le_bytes());
        // The second output of the first input follows the first output.
        let first = &network.heads()[0].layers()[0];
        assert_eq!(bytes[biases + 512 + 1] as i8, first.weights()[first.shape().row()]);
        assert!(bytes.len().is_multiple_of(64) && bytes[bytes.len() - 4..].iter().all(|byte| b"bullet".contains(byte)));
    }

    #[test]
    fn nets_without_hidden_layers_have_bullets_rows_and_two_blocks_for_each_stack() {
        let shape = Architecture::from_words([3, 64, 1, 0, 0, 2]).expect("a supported shape");
        let network = Network::from_bytes(&synthetic::network(shape, &synthetic::A, false)).expect("a network");
        let (raw, layout) = numbers(&network, NumberFormat::Raw).expect("numbers");
        let (bullet, _) = numbers(&network, NumberFormat::Bullet).expect("numbers");
        let (first, stack) = (2 * 64 * 769, 4 + 2 * 128);
        assert_eq!(raw.len(), first + 2 * stack);
        assert_eq!(layout.to_string().lines().count(), 7, "{layout}");
        let short = |bytes: &[u8], at: usize| i16::from_le_bytes([bytes[at], bytes[at + 1]]);
        // An enemy pawn on e7: the second plane here, the seventh in bullet.
        let (row, row_in_bullet) = (64 + 52, 384 + 52);
        assert_eq!(short(&raw, 2 * 64 * (1 + row)), short(&bullet, 2 * 64 * row_in_bullet));
        let direct = &network.heads()[1].direct;
        assert_eq!(raw[first + stack..][..4], direct.bias().to_le_bytes());
        assert_eq!(short(&raw, raw.len() - 2), direct.weights()[127]);
        assert_eq!(short(&bullet, first + stack), direct.weights()[0]);
        let (floats, _) = numbers(&network, NumberFormat::Float).expect("numbers");
        let last = f32::from_le_bytes(floats[floats.len() - 4..].try_into().expect("four bytes"));
        assert_eq!(last, f32::from(direct.weights()[127]) / (16.0 * 512.0 / 16_129.0));
    }

    #[test]
    fn nets_with_bullets_own_scales_have_nearly_the_same_output() {
        let shape = Architecture::from_words([3, 32, 1, 0, 0, 1]).expect("a supported shape");
        let network = Network::from_bytes(&synthetic::network(shape, &synthetic::A, false)).expect("a network");
        let (bytes, layout) = numbers(&network, NumberFormat::BulletSimple).expect("numbers");
        assert_eq!(layout.to_string().lines().count(), 5, "{layout}");
        let (words, _) = bytes.as_chunks::<2>();
        let words: Vec<f64> = words.iter().map(|&bytes| f64::from(i16::from_le_bytes(bytes))).collect();
        let (first, output) = (32 * 768, 32 * 769);
        // The start position is the same for both sides.
        let mut sums = words[first..output].to_vec();
        for (square, piece) in shakmaty::Board::new() {
            let row = 384 * usize::from(piece.color.is_black()) + 64 * (piece.role as usize - 1) + square as usize;
            sums.iter_mut().zip(&words[32 * row..]).for_each(|(sum, weight)| *sum += weight);
        }
        let units: Vec<f64> = sums.iter().map(|sum| sum.clamp(0.0, 255.0).powi(2)).collect();
        let weights = words[output..][..64].iter();
        let sum: f64 = units.iter().chain(&units).zip(weights).map(|(unit, weight)| unit * weight).sum();
        let value = (sum / 255.0 + words[output + 64]) * 400.0 / (255.0 * 64.0);
        let expected = f64::from(network.trace(&crate::board::Position::startpos()).raw()) / 16.0;
        // Each weight is rounded by up to half of 400 / 64 units.
        let allowed = units.iter().sum::<f64>() * 2.0 / 255.0_f64.powi(2) * 200.0 / 64.0 + 20.0;
        assert!((value - expected).abs() < allowed && expected.abs() > 2.0 * allowed, "{value} {expected} {allowed}");
        assert_eq!(words[output], (f64::from(network.heads()[0].direct.weights()[0]) * 0.315_02).round());
        let with_layers = numbers(&super::net_numbers_tests::network(), NumberFormat::BulletSimple);
        assert!(with_layers.is_err_and(|error| error.to_string().contains("has hidden layers")));
    }

    #[test]
    fn floats_are_in_units_of_the_largest_activation() {
        let network = network();
        let (bytes, _) = numbers(&network, NumberFormat::Float).expect("numbers");
        let float = |at: usize| f32::from_le_bytes(bytes[4 * at..][..4].try_into().expect("four bytes"));
        let transformer = network.transformer();
        assert_eq!(float(0), f32::from(transformer.biases()[0]) / 127.0);
        let output = &network.heads()[0].layers()[2];
        let last = bytes.len() / 4 - 1;
        assert_eq!(float(last), f32::from(output.weights()[31]) / (16.0 / 127.0));
        assert_eq!(float(last - 32), output.biases()[0] as f32 / 16.0);
    }
}
