//! Commands beyond UCI: thin wrappers of [`crate::tools`] and [`crate::board`].

use std::io::Write;
use std::sync::Arc;

use anyhow::Result;

use super::Engine;
use crate::board::Position;
use crate::nnue::Network;
use crate::tools::perft::divide;
use crate::tools::{self, bench, genfens};
use crate::uci::command::{self, NON_UCI_COMMANDS, NonUciCommand};
use crate::uci::options::{Kind, OPTIONS, unquoted};
use crate::uci::output::Output;
use crate::util::quantity::{nodes_per_second, short_number};
use crate::util::{reason, sync};

impl Engine {
    /// Executes a command beyond UCI.
    pub(super) fn non_uci(&mut self, number: u64, command: NonUciCommand, arguments: &[String]) {
        match command {
            NonUciCommand::Display => self.output.line(self.position.diagram().trim_end()),
            NonUciCommand::Help => self.output.line(help()),
            NonUciCommand::Cpu => self.output.line(tools::cpu::report().trim_end()),
            NonUciCommand::Eval => {
                let network = self.pool().network();
                self.output.line(tools::eval::explain(&self.position, &network).trim_end());
            }
            NonUciCommand::Flip => {
                let flipped = flipped(&self.position.fen());
                match Position::from_fen(&flipped, self.position.castling_mode()) {
                    Ok(position) => self.position = position,
                    Err(error) => {
                        self.output.error(&format!("flip: {}; the position is unchanged", reason::chain(&error)))
                    }
                }
            }
            NonUciCommand::Perft => match arguments.first().and_then(|text| text.parse().ok()) {
                Some(depth) => self.perft(number, depth),
                None => self.output.error("perft: missing depth; expected a number of plies"),
            },
            NonUciCommand::ExportNet => {
                let network = self.pool().network();
                match tools::net::export_named(&network, unquoted(&arguments.join(" "))) {
                    Ok(summary) => self.output.info(&format!("network saved to {summary}")),
                    Err(error) => self.output.error(&format!("export_net: {}", reason::chain(&error))),
                }
                self.mailbox.write_done();
            }
            NonUciCommand::Bench | NonUciCommand::GenFens => self.tool(command, arguments),
        }
    }

    /// Counts the move paths below each move, for `perft` and `go perft`.
    pub(super) fn perft(&mut self, number: u64, depth: i64) {
        let (mailbox, output) = (&self.mailbox, &self.output);
        let chess960 = self.settings.chess960;
        mailbox.set_long_job(true);
        let counted = perft(&mut self.position.clone(), depth, chess960, output, &|| {
            sync::poll();
            mailbox.is_stopped(number)
        });
        // Before the last lines: to an `isready` after them, the commands in between must have been executed.
        mailbox.set_long_job(false);
        report_perft(counted, output);
    }

    /// Runs tools that search with their own threads.
    fn tool(&mut self, tool: NonUciCommand, arguments: &[String]) {
        self.finish_search();
        let network = self.pool().network();
        self.mailbox.set_long_job(true);
        let result = run_tool(tool, arguments, network, &self.output);
        self.mailbox.set_long_job(false);
        if let Err(error) = result {
            self.output.error(&reason::chain(&error));
        }
    }
}

/// Maximum depth of perft in plies. No perft deeper than 10 ends in practice.
const MAX_PERFT_DEPTH: i64 = 64;

/// Commands and options, one per line.
fn help() -> String {
    let mut lines = vec![
        format!("UCI: {}", command::protocol_words().collect::<Vec<_>>().join(" ")),
        format!("  go  {}", command::keywords().collect::<Vec<_>>().join(" ")),
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
fn run_tool(tool: NonUciCommand, arguments: &[String], network: Arc<Network>, output: &Output) -> Result<()> {
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

/// Counts the move paths below each move and prints them, until `is_stopped` returns true. Returns the total and
/// the nodes per second, or `None` if it was stopped.
fn perft(
    position: &mut Position,
    depth: i64,
    chess960: bool,
    output: &Output,
    is_stopped: &dyn Fn() -> bool,
) -> Option<(u64, f64)> {
    let start = std::time::Instant::now();
    let depth = depth.clamp(1, MAX_PERFT_DEPTH) as u32;
    let mut lines = Lines { output, rest: Vec::new() };
    let total = divide(position, depth, chess960, is_stopped, &mut lines).ok()??;
    Some((total, nodes_per_second(total, start.elapsed()) as f64))
}

/// Prints the result of [`perft`].
fn report_perft(counted: Option<(u64, f64)>, output: &Output) {
    let Some((total, speed)) = counted else {
        return output.info("perft: stopped");
    };
    output.line(format!("\nNodes searched: {total}\n"));
    output.info(&format!("{} nodes per second", short_number(speed)));
}

/// The FEN with the colours exchanged and the ranks reversed.
fn flipped(fen: &str) -> String {
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

    use super::*;
    use crate::uci::output::tests::Page;

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
        report_perft(perft(&mut Position::startpos(), 3, false, &output, &|| false), &output);
        report_perft(perft(&mut Position::startpos(), 60, false, &output, &|| true), &output);
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
