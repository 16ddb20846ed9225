//! The commands beyond UCI: thin wrappers of [`crate::tools`] and [`crate::board`].

use std::io::Write;
use std::sync::Arc;

use anyhow::Result;

use super::command::{NON_UCI_COMMANDS, NonUciCommand};
use super::options::{Kind, OPTIONS};
use super::output::Output;
use super::{command, go};
use crate::board::Position;
use crate::nnue::Network;
use crate::tools::perft::divide;
use crate::tools::{bench, genfens};
use crate::util::quantity::{nodes_per_second, short_number};

/// Maximum depth of perft in plies. No perft deeper than 10 ends in practice.
const MAX_PERFT_DEPTH: i64 = 64;

/// Commands and options, one per line.
pub fn help() -> String {
    let mut lines = vec![
        format!("UCI: {}", command::protocol_words().collect::<Vec<_>>().join(" ")),
        format!("  go  {}", go::keywords().collect::<Vec<_>>().join(" ")),
        String::from("Beyond UCI:"),
    ];
    lines.extend(NON_UCI_COMMANDS.iter().map(|(name, _, doc)| format!("  {name:<10} {doc}")));
    lines.push("Options (setoption name NAME value VALUE):".into());
    lines.extend(OPTIONS.iter().map(|option| {
        let range = match &option.kind {
            Kind::Spin(default, range, _) => format!("{default}, {} to {}", range.start(), range.end()),
            Kind::Check(default, _) => default.to_string(),
            Kind::Button => "button".into(),
            Kind::Text("", _) => "text".into(),
            Kind::Text(default, _) if default.len() > 20 => "text".into(),
            Kind::Text(default, _) => (*default).into(),
        };
        format!("  {:<18} {} ({range})", option.name, option.help)
    }));
    lines.join("\n")
}

/// Runs a tool that prints lines.
pub fn tool(tool: NonUciCommand, arguments: &[String], network: Arc<Network>, output: &Output) -> Result<()> {
    let mut out = Lines { output, rest: Vec::new() };
    if tool == NonUciCommand::GenFens {
        let request = genfens::Request::parse(&arguments.join(" "))?;
        genfens::generate(&request, network, &mut out)
    } else {
        let options = bench::BenchOptions::from_words(arguments)?;
        bench::bench(options, network, &mut out, &mut std::io::stderr()).map(drop)
    }
}

/// Writer for the tools that splits text into lines and sends them to the output.
struct Lines<'a> {
    output: &'a Output,
    rest: Vec<u8>,
}

impl Write for Lines<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.rest.extend_from_slice(bytes);
        while let Some(end) = self.rest.iter().position(|&byte| byte == b'\n') {
            let line: Vec<u8> = self.rest.drain(..=end).collect();
            self.output.line(String::from_utf8_lossy(&line[..end]));
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Counts the move paths below each move, until `is_stopped` returns true.
pub fn perft(position: &mut Position, depth: i64, chess960: bool, output: &Output, is_stopped: &dyn Fn() -> bool) {
    let start = std::time::Instant::now();
    let depth = depth.clamp(1, MAX_PERFT_DEPTH) as u32;
    let mut lines = Lines { output, rest: Vec::new() };
    let counted = divide(position, depth, chess960, is_stopped, &mut lines);
    let Ok(Some(total)) = counted else {
        return output.info("perft: stopped");
    };
    let speed = nodes_per_second(total, start.elapsed());
    output.line(format!("\nNodes searched: {total}\n"));
    output.info(&format!("{} nodes per second", short_number(speed as f64)));
}

/// The FEN with the colours exchanged and the ranks reversed.
pub fn flipped(fen: &str) -> String {
    let swap = |c: char| {
        if c.is_ascii_uppercase() { c.to_ascii_lowercase() } else { c.to_ascii_uppercase() }
    };
    let mut fields: Vec<String> = fen.split(' ').map(String::from).collect();
    if let Some(board) = fields.first_mut() {
        *board =
            board.split('/').rev().map(|rank| rank.chars().map(swap).collect::<String>()).collect::<Vec<_>>().join("/");
    }
    if let Some(turn) = fields.get_mut(1) {
        *turn = if turn == "w" { "b".into() } else { "w".into() };
    }
    if let Some(castling) = fields.get_mut(2) {
        // White's rights are first in a FEN.
        let swapped: String = castling.chars().map(swap).collect();
        let (white, black): (String, String) = swapped.chars().partition(char::is_ascii_uppercase);
        *castling = white + &black;
    }
    if let Some(square) = fields.get_mut(3) {
        *square = square.replace('3', "#").replace('6', "3").replace('#', "6");
    }
    fields.join(" ")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::output::tests::Page;
    use super::*;

    #[test]
    fn flip_exchanges_the_colours() {
        let fen = "rnbqkbnr/pppp1ppp/8/8/4pP2/8/PPPPP1PP/RNBQKBNR b KQk f3 0 3";
        let flip = "rnbqkbnr/ppppp1pp/8/4Pp2/8/8/PPPP1PPP/RNBQKBNR w Kkq f6 0 3";
        assert_eq!(flipped(fen), flip);
        assert_eq!(flipped(flip), fen);
        assert_eq!(flipped("4k3/8/8/8/8/8/8/4K3 w - - 0 1"), "4k3/8/8/8/8/8/8/4K3 b - - 0 1");
    }

    #[test]
    fn perft_prints_each_move_and_total_and_stops() {
        let page = Page::default();
        let output = Output::new(page.clone(), || {});
        perft(&mut Position::startpos(), 3, false, &output, &|| false);
        perft(&mut Position::startpos(), 60, false, &output, &|| true);
        output.flush(Duration::from_secs(5));
        let text = page.text();
        assert!(text.contains("e2e4: 600\n") && text.contains("Nodes searched: 8902\n"), "{text}");
        assert!(text.contains("perft: stopped"));
    }

    #[test]
    fn help_lists_every_command_and_option() {
        let help = help();
        assert!(NON_UCI_COMMANDS.iter().all(|(name, ..)| help.contains(name)));
        assert!(OPTIONS.iter().all(|option| help.contains(option.name)));
    }
}
