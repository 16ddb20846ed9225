//! Export of a network as plain numbers, for engines without a reader of `.nnue` files.

use std::fmt;
use std::io::Write as _;
use std::path::Path;

use anyhow::{Result, ensure};

use crate::nnue::features::set::row_in_bullet;
use crate::nnue::layers::Direct;
use crate::nnue::{Activation, Features, Network, ThreatInputs};
use crate::util::atomic::write_over;
use crate::util::files::Kind;
use crate::util::text::Shown as _;

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
    use crate::nnue::{Architecture, synthetic};

    /// A network of Stockfish 12's shape with different numbers everywhere.
    fn halfkp() -> Network {
        Network::from_bytes(&synthetic::halfkp(&synthetic::A)).expect("a network")
    }

    #[test]
    fn raw_numbers_are_those_of_the_network_file() {
        let network = halfkp();
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
        let network = halfkp();
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
        let with_layers = numbers(&halfkp(), NumberFormat::BulletSimple);
        assert!(with_layers.is_err_and(|error| error.to_string().contains("has hidden layers")));
    }

    #[test]
    fn floats_are_in_units_of_the_largest_activation() {
        let network = halfkp();
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
