//! Output for a person at a terminal, until `uci` shows that a GUI is connected: a greeting, and search lines in
//! columns.

use std::io::IsTerminal;

use crate::search::report::{Line, Progress, Score, ScoreBound};
use crate::util::console::use_colour;
use crate::util::quantity::{nodes_per_second, short_number};

/// Reader of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// A program, which receives only UCI output.
    Gui,
    /// A person at a terminal.
    Person {
        /// Whether the output is coloured.
        colour: bool,
    },
}

/// The audience at standard input and output.
pub fn audience() -> Audience {
    if std::io::stdin().is_terminal() && std::io::stdout().is_terminal() {
        Audience::Person { colour: use_colour(&std::io::stdout()) }
    } else {
        Audience::Gui
    }
}

/// The first line for a person.
pub fn greeting() -> String {
    format!("Zoothera {}, a UCI chess engine. Type 'help' for the commands.", env!("CARGO_PKG_VERSION"))
}

/// One line of a search: depth, score, chances, time, nodes, speed, moves.
pub fn report(line: &Line, progress: &Progress, moves: &str, colour: bool) -> String {
    let bound = match line.bound {
        ScoreBound::Exact => ' ',
        ScoreBound::Lower => '+',
        ScoreBound::Upper => '-',
    };
    let (score, sign) = match line.score {
        Score::Centipawns(value) => (format!("{:+.2}", f64::from(value) / 100.0), value.signum()),
        Score::Mate(moves) => (format!("#{moves:+}"), if moves > 0 { 1 } else { -1 }),
    };
    let [win, draw, loss] = line.wdl.map(|permill| (u32::from(permill) + 5) / 10);
    let depth = format!("{:>3}/{:<3}", line.depth, line.seldepth);
    let score = format!("{score:>7}{bound}");
    let chances = format!("{win:>3}/{draw}/{loss}%");
    let seconds = progress.time.as_secs_f64();
    let nodes = short_number(progress.nodes as f64);
    let speed = short_number(nodes_per_second(progress.nodes, progress.time) as f64);
    let effort = format!("{seconds:>8.2}s {nodes:>7} {speed:>7}/s");
    let hue = match sign {
        1 => "32",
        -1 => "31",
        _ => "33",
    };
    let rank = if line.multipv > 1 { format!("({}) ", line.multipv) } else { String::new() };
    format!(
        "{} {} {} {}  {rank}{moves}",
        paint(&depth, "1", colour),
        paint(&score, hue, colour),
        paint(&format!("{chances:<12}"), "2", colour),
        paint(&effort, "2", colour),
    )
}

/// Sets `text` in an ANSI style.
fn paint(text: &str, style: &str, colour: bool) -> String {
    if colour { format!("\x1b[{style}m{text}\x1b[0m") } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn report_has_columns_with_and_without_colour() {
        let line = Line {
            depth: 12,
            seldepth: 20,
            multipv: 1,
            score: Score::Centipawns(34),
            bound: ScoreBound::Exact,
            wdl: [504, 300, 196],
            pv: Vec::new(),
        };
        let progress = Progress { nodes: 1_234_567, time: Duration::from_millis(800), hashfull: None, tb_hits: 0 };
        let plain = report(&line, &progress, "e4 e5", false);
        assert_eq!(plain, " 12/20    +0.34   50/30/20%       0.80s  1.23 M  1.54 M/s  e4 e5");
        let coloured = report(&line, &progress, "e4 e5", true);
        assert!(coloured.contains("\x1b[32m"));
    }
}
