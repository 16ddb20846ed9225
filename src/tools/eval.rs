//! Explanation of the static evaluation, and raw network outputs for comparison with other programs.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};

use super::args::{self, SelectionArgs, positions_help};
use super::load_network;
use crate::board::{Position, Role, Square};
use crate::nnue::{AccumulatorStack, AttackInputs, Board, Kernel, NetOutput, Network};
use crate::notation::position_from_fen;
use crate::notation::positions::is_blank;
use crate::search::evaluate::{self, scaled};
use crate::util::files::check_distinct;
use crate::util::quantity::counted;
use crate::util::reason;
use crate::util::text::{Shown as _, read_text};

/// The board without the piece on a square. The result may be illegal (a removed piece can expose a king to check), but
/// the network evaluates it anyway.
fn without(position: &Position, square: Square) -> Board {
    let mut board = Board::from(position);
    if let Some(piece) = position.piece_at(square) {
        board.remove(piece, square);
    }
    board
}

/// Evaluates boards from scratch, in internal units.
struct Evaluator(AccumulatorStack);

impl Evaluator {
    /// Evaluates from the view of the side to move.
    fn value(&mut self, board: &Board) -> i32 {
        self.0.reset();
        self.0.evaluate(board).value()
    }

    /// Evaluates from White's view.
    fn white_value(&mut self, board: &Board) -> i32 {
        let value = self.value(board);
        board.turn().fold_wb(value, -value)
    }
}

/// Converts a value to centipawns, with the scaling of search scores.
fn centipawns(position: &Position, value: i32) -> i32 {
    evaluate::centipawns(scaled(position, value), evaluate::material(position))
}

/// Formats a value in pawns with White's win, draw and loss probabilities.
fn chances(position: &Position, white: i32) -> String {
    let [win, draw, loss] =
        evaluate::wdl(scaled(position, white), evaluate::material(position)).map(|permill| f64::from(permill) / 10.0);
    let pawns = f64::from(centipawns(position, white)) / 100.0;
    format!("{pawns:+.2} pawns (White's view): White wins {win:.1} %, draws {draw:.1} %, loses {loss:.1} %")
}

/// Contribution of the piece on each square: the evaluation minus the evaluation without the piece, in centipawns from
/// White's view. `None` for empty squares and kings, because a king cannot be removed.
pub(crate) fn contributions(position: &Position, network: &Arc<Network>) -> [Option<i32>; 64] {
    let mut evaluator = Evaluator(AccumulatorStack::new(network.clone()));
    let whole = evaluator.white_value(&position.into());
    let mut contribution = |square: Square| match position.role_at(square) {
        None | Some(Role::King) => None,
        Some(_) => {
            let without = evaluator.white_value(&without(position, square));
            Some(centipawns(position, whole - without))
        }
    };
    std::array::from_fn(|i| contribution(Square::new(i as u32)))
}

/// Returns a board with the contribution of each piece in pawns from White's view (see [`contributions`]), then the
/// evaluation in pawns, probabilities, what the attack inputs contribute if the net has them, and internal units. The
/// last line is in the format that trainers parse.
pub fn explain(position: &Position, network: &Arc<Network>) -> String {
    let mut evaluator = Evaluator(AccumulatorStack::new(network.clone()));
    let whole = evaluator.white_value(&position.into());
    let contributions = contributions(position, network);
    let mut contribution = |square: Square| {
        contributions[square as usize]
            .map_or(String::new(), |centipawns| format!("{:+.2}", f64::from(centipawns) / 100.0))
    };
    let mut text = String::from(" Contribution of each piece (pawns, White's view):\n\n");
    let border = format!(" {}+\n", "+-------".repeat(8));
    for rank in (0..8).rev() {
        text += &border;
        let row = |cell: &mut dyn FnMut(Square) -> String| {
            let cells = (0..8).map(|file| cell(Square::new(rank * 8 + file)));
            format!(" {}|\n", cells.map(|text| format!("|{text:^7}")).collect::<String>())
        };
        text += &row(&mut |s| position.piece_at(s).map_or(String::new(), |p| p.char().to_string()));
        text += &row(&mut contribution);
    }
    text += &border;
    let value = evaluator.value(&position.into());
    let (shape, kernel) = (network.architecture(), Kernel::active());
    text += &format!("\n Evaluation  {}\n", chances(position, whole));
    if network.architecture().attacks != AttackInputs::None {
        let without = network.trace_without_attacks(position).value();
        let attacks = centipawns(position, whole - position.turn().fold_wb(without, -without));
        let pawns = f64::from(attacks) / 100.0;
        text += &format!(
            " Attack inputs  {pawns:+.2} pawns (White's view), the difference to an evaluation without them\n"
        );
    }
    text += &format!(" Network {shape}, kernel {kernel}\n");
    text += &format!(" NNUE evaluation  {whole} (White's view, internal units)\n");
    text += &format!(" NNUE evaluation  {value} (side to move, internal units)\n");
    text
}

/// Arguments of `eval`.
#[derive(clap::Args, Debug)]
#[command(after_help = positions_help!())]
pub struct EvalArgs {
    /// Positions or files; the initial position if absent
    #[arg(value_name = "POSITION|FILE", conflicts_with = "raw")]
    pub positions: Vec<String>,
    /// Games and moves of PGN files.
    #[command(flatten)]
    pub selection: SelectionArgs,
    /// Print `FEN<TAB>raw output` for each line of a file, or `FEN<TAB>psqt<TAB>positional<TAB>bucket` for networks
    /// with buckets
    #[arg(long, requires = "file")]
    pub raw: bool,
    /// File with one FEN per line (further columns after a tab are ignored)
    #[arg(long, value_name = "FENS", requires = "raw")]
    pub file: Option<PathBuf>,
    /// Network to use instead of the embedded one
    #[arg(long, value_name = "FILE")]
    pub net: Option<PathBuf>,
    /// Kernel for the raw outputs (`zoothera cpu` lists the available ones)
    #[arg(long, value_name = "NAME", requires = "raw")]
    pub kernel: Option<Kernel>,
}

/// Runs the command `eval`.
///
/// # Errors
/// Fails if the position is invalid, the network cannot be loaded, the processor cannot run the kernel, a write fails,
/// or lines of the file are not valid positions.
pub fn run(args: &EvalArgs, out: &mut dyn Write, err: &mut dyn Write) -> Result<()> {
    let network = load_network(args.net.as_deref())?;
    let Some(file) = &args.file else {
        let mut problems = Vec::new();
        let positions = args::read(&args.positions, args.selection, &mut problems)?;
        args::report(&problems, err)?;
        for subject in positions {
            if !subject.title.is_empty() {
                writeln!(out, "{}\n", subject.title)?;
            }
            write!(out, "{}", explain(&subject.position, &network))?;
        }
        return args::fail_with(&problems);
    };
    check_distinct(&[Path::new("-")], &[file])?;
    let kernel = args.kernel.unwrap_or_else(Kernel::active);
    if !kernel.is_available() {
        bail!("this processor cannot run the kernel {kernel}");
    }
    raw(file, network, kernel, &mut BufWriter::new(out), err)
}

/// Joins the parts of an output with tabs.
fn columns(output: NetOutput, bucketed: bool) -> String {
    let NetOutput { psqt, positional, bucket } = output;
    if bucketed { format!("{psqt}\t{positional}\t{bucket}") } else { positional.to_string() }
}

/// Prints `FEN<TAB>raw output` for every line of a file, or `FEN<TAB>psqt<TAB>positional<TAB>bucket` for networks
/// with buckets. Columns after a tab in the input are ignored.
///
/// # Errors
/// Fails if the file cannot be read or a write fails. Lines that are not valid positions are reported on `err`, and
/// the run fails at the end.
fn raw(file: &Path, network: Arc<Network>, kernel: Kernel, out: &mut dyn Write, err: &mut dyn Write) -> Result<()> {
    let text = read_text(file).with_context(|| format!("cannot read {}", file.shown()))?;
    let bucketed = network.architecture().buckets > 1;
    let mut stack = AccumulatorStack::with_kernel(network, kernel);
    let mut bad = 0;
    for (i, line) in text.lines().enumerate().filter(|(_, line)| !is_blank(line)) {
        let fen = line.split('\t').next().unwrap_or_default().trim();
        match position_from_fen(fen) {
            Ok(position) => {
                stack.reset();
                writeln!(out, "{fen}\t{}", columns(stack.evaluate(&position), bucketed))?;
            }
            Err(error) => {
                bad += 1;
                let why = reason::chain(&error);
                writeln!(err, "{}:{}: {why}", file.shown(), i + 1)?;
            }
        }
    }
    out.flush()?;
    if bad > 0 {
        let invalid = counted(bad, "invalid position", "invalid positions");
        bail!("{invalid} in {}", file.shown());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Color;
    use crate::nnue::{Architecture, synthetic};

    #[test]
    fn explanation_shows_every_piece_and_trainer_line() {
        let position = Position::startpos();
        let text = explain(&position, &Network::embedded());
        let values = text.split('|').filter(|cell| cell.trim().starts_with(['+', '-'])).count();
        assert!(values >= 30, "{values} values in\n{text}");
        let line = text.lines().find(|line| line.contains("(side to move, internal units)"));
        let number = line.and_then(|line| line.trim().strip_prefix("NNUE evaluation")?.trim().split(' ').next());
        assert!(number.is_some_and(|number| number.parse::<i32>().is_ok()), "{text}");
    }

    #[test]
    fn explanation_shows_the_part_of_attack_inputs() {
        let words = [2 + 256 + 65_536, 256, 2, 16, 32, 8 + 256 * 8];
        let architecture = Architecture::from_words(words).expect("a shape with attack inputs");
        let file = synthetic::network(architecture, &synthetic::A, false);
        let network = Arc::new(Network::from_bytes(&file).expect("a network"));
        let part = |moves: &[&str]| {
            let mut position = Position::startpos();
            for text in moves {
                let m = position.parse_uci(text).expect("a legal move");
                position.do_move(m);
            }
            let text = explain(&position, &network);
            let line =
                text.lines().find_map(|line| line.strip_prefix(" Attack inputs  ")).expect("the line").to_owned();
            line.split(' ').next().expect("a number").to_owned()
        };
        assert_eq!(part(&[]), "+0.00");
        let after = part(&["e2e4", "d7d5"]);
        assert!(after != "+0.00" && after.parse::<f64>().is_ok(), "{after}");
        assert!(!explain(&Position::startpos(), &halfkp()).contains("Attack inputs"));
    }

    /// A net without attack inputs.
    fn halfkp() -> Arc<Network> {
        Arc::new(Network::from_bytes(&synthetic::halfkp(&synthetic::A)).expect("a network"))
    }

    #[test]
    fn evaluation_uses_search_scale_and_wdl_model() {
        let mode = crate::board::CastlingMode::Standard;
        let fen = "rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1";
        let position = Position::from_fen(fen, mode).expect("a position");
        let text = explain(&position, &Network::embedded());
        let line = text.lines().find(|line| line.starts_with(" Evaluation ")).expect("the line");
        let pawns: f64 = line.split_whitespace().nth(1).and_then(|n| n.parse().ok()).expect("a number");
        assert!(pawns > 3.0, "a queen ahead: {line}");
        let chances: Vec<f64> = line.split_whitespace().filter_map(|n| n.parse().ok()).skip(1).collect();
        assert!(chances.len() == 3 && (chances.iter().sum::<f64>() - 100.0).abs() < 0.2, "{line}");
        assert!(chances[0] > 90.0, "{line}");
    }

    #[test]
    fn without_removes_exactly_one_piece() {
        let position = Position::startpos();
        let without = without(&position, Square::D1);
        assert!(without.pieces(Color::White, Role::Queen).is_empty());
        assert_eq!(without.pieces(Color::White, Role::Rook), position.pieces(Color::White, Role::Rook));
    }
}
