//! Printer of a search's reports: pure UCI for a GUI, a readable table for a person.
//!
//! The printer also ensures the guarantees of the protocol. The last line before `bestmove` starts with the best move
//! and has the final counters. A principal variation contains only legal moves. `bestmove` is printed exactly once.

use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, OnceLock};

use super::output;
use super::output::{Audience, Output};
use super::reader::{Mailbox, Message};
use crate::board::{Move, Position};
use crate::search::score::{Line, Outcome, Progress, Reporter, Score, ScoreBound};
use crate::util::quantity::nodes_per_second;
use crate::util::sync::Mutex;

/// Inputs of the printer of one search.
pub struct PrintOptions {
    /// Line number of the `go`.
    pub number: u64,
    /// Root position.
    pub root: Position,
    /// Whether castling is printed as king takes rook.
    pub chess960: bool,
    /// Whether to print win, draw and loss after the score. It is read for each line, so it may change during a
    /// search.
    pub show_wdl: Arc<AtomicBool>,
    /// Reader of the output.
    pub audience: Audience,
}

/// The lines that were printed last.
#[derive(Default)]
struct Printed {
    /// By rank, from the first.
    lines: Vec<Line>,
    /// Node count of the latest line.
    nodes: u64,
}

/// Prints the reports of one search.
pub struct Printer {
    options: PrintOptions,
    output: Output,
    mailbox: Mailbox,
    /// Scratch board for writing and checking variations.
    board: Mutex<Position>,
    /// The lines that were printed last.
    last: Mutex<Printed>,
    /// Whether the root has no legal move, which is then already reported.
    is_over: bool,
    done: OnceLock<()>,
}

impl Printer {
    /// A printer for one search. If the game is over, reports the result at once, because the search reports no line.
    pub fn new(options: PrintOptions, output: Output, mailbox: Mailbox) -> Self {
        let is_over = options.root.legal_moves().is_empty();
        if is_over {
            let score = if options.root.in_check() { "mate 0" } else { "cp 0" };
            output.line(format!("info depth 0 score {score}"));
        }
        let board = Mutex::new(options.root.clone());
        Self { options, output, mailbox, board, last: Mutex::default(), is_over, done: OnceLock::new() }
    }

    /// Prints `bestmove` with any legal move if `done` was not called because the search failed.
    pub fn rescue(&self) {
        let best = self.options.root.legal_moves().first().copied();
        self.finish(&Outcome::without_search(best));
    }

    fn finish(&self, outcome: &Outcome) {
        if self.done.set(()).is_err() {
            return;
        }
        self.final_lines(outcome);
        // The message is sent before the move. A GUI may send `isready` as soon as it receives the move, and the
        // reply must follow the changes that were postponed until the end of this search.
        self.mailbox.send(Message::SearchEnded(self.options.number), 0);
        self.output.line(self.best_move(outcome));
    }

    /// Prints the lines of all ranks, unless the same lines were printed last and no node was searched since.
    fn final_lines(&self, outcome: &Outcome) {
        let Some(best) = outcome.best else {
            if !self.is_over {
                self.output.line("info depth 0 score cp 0"); // None of `searchmoves` is legal.
            }
            return;
        };
        let mut line = outcome.line.clone().unwrap_or_else(|| Line {
            depth: 1,
            seldepth: 1,
            multipv: 1,
            score: Score::Centipawns(0),
            bound: ScoreBound::Exact,
            wdl: [0, 1000, 0],
            pv: Vec::new(),
        });
        if line.pv.first() != Some(&best) {
            line.pv = vec![best];
        }
        line.multipv = 1;
        let mut lines = vec![line];
        lines.extend(outcome.others.iter().cloned());
        let printed = std::mem::take(&mut *self.last.lock());
        if printed.lines != lines || printed.nodes < outcome.progress.nodes {
            lines.iter().for_each(|line| self.line(line, &outcome.progress));
        }
    }

    fn best_move(&self, outcome: &Outcome) -> String {
        let moves: Vec<Move> = outcome.best.into_iter().chain(outcome.ponder).collect();
        let written = self.write_moves(&moves, |board, m| board.uci(m, self.options.chess960));
        let mut written = written.split(' ').filter(|text| !text.is_empty());
        let mut line = format!("bestmove {}", written.next().unwrap_or("(none)"));
        if let Some(ponder) = written.next() {
            let _ = write!(line, " ponder {ponder}");
        }
        line
    }

    /// The moves as text, each converted by `write`, up to the first illegal one.
    fn write_moves(&self, moves: &[Move], write: impl Fn(&Position, Move) -> String) -> String {
        let mut board = self.board.lock();
        let mut text = String::new();
        let mut made = 0;
        for &m in moves {
            if !(board.pseudo_legal(m) && board.legal(m)) {
                break;
            }
            if made > 0 {
                text.push(' ');
            }
            text.push_str(&write(&board, m));
            board.do_move(m);
            made += 1;
        }
        for _ in 0..made {
            board.undo_move();
        }
        text
    }

    fn uci_line(&self, line: &Line, progress: &Progress) -> String {
        let mut text = format!("info depth {} seldepth {} multipv {}", line.depth, line.seldepth, line.multipv);
        push_score(&mut text, line.score);
        // Writing to a string cannot fail, here and below.
        let _ = match line.bound {
            ScoreBound::Exact => Ok(()),
            ScoreBound::Lower => write!(text, " lowerbound"),
            ScoreBound::Upper => write!(text, " upperbound"),
        };
        if self.options.show_wdl.load(Relaxed) {
            let [win, draw, loss] = line.wdl;
            let _ = write!(text, " wdl {win} {draw} {loss}");
        }
        let _ = write!(text, " nodes {} nps {}", progress.nodes, nodes_per_second(progress.nodes, progress.time));
        if let Some(permill) = progress.hashfull {
            let _ = write!(text, " hashfull {permill}");
        }
        let _ = write!(text, " tbhits {} time {}", progress.tb_hits, progress.time.as_millis());
        let moves = self.write_moves(&line.pv, |board, m| board.uci(m, self.options.chess960));
        if !moves.is_empty() {
            let _ = write!(text, " pv {moves}");
        }
        text
    }
}

/// Appends `score cp X` or `score mate X`.
fn push_score(text: &mut String, score: Score) {
    let _ = match score {
        Score::Centipawns(value) => write!(text, " score cp {value}"),
        Score::Mate(moves) => write!(text, " score mate {moves}"),
    };
}

impl Reporter for Printer {
    fn line(&self, line: &Line, progress: &Progress) {
        let mut last = self.last.lock();
        last.lines.truncate(line.multipv.saturating_sub(1));
        last.lines.push(line.clone());
        last.nodes = progress.nodes;
        drop(last);
        match self.options.audience {
            Audience::Gui => self.output.line(self.uci_line(line, progress)),
            Audience::Person { colour } => {
                let moves = self.write_moves(&line.pv, Position::san);
                self.output.line(output::report(line, progress, &moves, colour));
            }
        }
    }

    fn current_move(&self, depth: i32, m: Move, number: usize) {
        if self.options.audience == Audience::Gui {
            let name = self.options.root.uci(m, self.options.chess960);
            self.output.line(format!("info depth {depth} currmove {name} currmovenumber {number}"));
        }
    }

    fn message(&self, text: &str) {
        self.output.info(text);
    }

    fn done(&self, outcome: &Outcome) {
        self.finish(outcome);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::output::tests::Page;
    use super::*;
    use crate::board::CastlingMode;

    struct Bench {
        page: Page,
        output: Output,
        printer: Printer,
    }

    fn printer(fen: &str, chess960: bool) -> Bench {
        let page = Page::default();
        let output = Output::new(page.clone(), || {});
        let mode = if chess960 { CastlingMode::Chess960 } else { CastlingMode::Standard };
        let options = PrintOptions {
            number: 1,
            root: Position::from_fen(fen, mode).expect("a valid FEN"),
            chess960,
            show_wdl: Arc::new(AtomicBool::new(true)),
            audience: Audience::Gui,
        };
        let printer = Printer::new(options, output.clone(), Mailbox::new().0);
        Bench { page, output, printer }
    }

    impl Bench {
        fn text(&self) -> String {
            self.output.flush(Duration::from_secs(5));
            self.page.text()
        }
        fn moves(&self, list: &str) -> Vec<Move> {
            let mut board = self.printer.options.root.clone();
            let mut moves = Vec::new();
            for text in list.split(' ') {
                let m = board.parse_uci(text).expect("a legal move");
                board.do_move(m);
                moves.push(m);
            }
            moves
        }
    }

    fn line(depth: i32, score: Score, pv: Vec<Move>) -> Line {
        Line { depth, seldepth: depth + 2, multipv: 1, score, bound: ScoreBound::Exact, wdl: [500, 300, 200], pv }
    }

    const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

    fn progress() -> Progress {
        Progress { nodes: 2000, time: Duration::from_millis(10), hashfull: Some(3), tb_hits: 0 }
    }

    #[test]
    fn line_has_every_field_and_the_castling_notation_of_the_gui() {
        for (chess960, castle) in [(false, "e1g1"), (true, "e1h1")] {
            let bench = printer("4k3/8/8/8/8/8/8/4K2R w K - 0 1", chess960);
            let pv = bench.moves("e1h1 e8e7");
            bench.printer.line(&line(3, Score::Centipawns(-12), pv), &progress());
            let expected = "info depth 3 seldepth 5 multipv 1 score cp -12 wdl 500 300 200 nodes 2000 nps 200000 \
                            hashfull 3 tbhits 0 time 10 pv";
            assert_eq!(bench.text(), format!("{expected} {castle} e8e7\n"));
        }
    }

    #[test]
    fn last_line_starts_with_the_best_move() {
        let bench = printer(START, false);
        let good = line(4, Score::Centipawns(20), bench.moves("e2e4 e7e5"));
        bench.printer.line(&good, &progress());
        let low = Line { bound: ScoreBound::Upper, depth: 5, ..good.clone() };
        bench.printer.line(&low, &progress());
        let (best, ponder) = (Some(good.pv[0]), Some(good.pv[1]));
        let outcome = Outcome { best, ponder, line: Some(good), others: Vec::new(), progress: progress() };
        bench.printer.done(&outcome);
        bench.printer.done(&outcome);
        bench.printer.rescue();
        let text = bench.text();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 4, "{text}");
        assert!(lines[1].contains("upperbound") && lines[2].contains(" pv e2e4 e7e5") && !lines[2].contains("bound"));
        assert_eq!(lines[3], "bestmove e2e4 ponder e7e5");
    }

    /// Output of a search that ends `more` nodes after the last line it printed.
    fn ended_after(more: u64) -> Vec<String> {
        let bench = printer(START, false);
        let good = line(4, Score::Centipawns(20), bench.moves("e2e4 e7e5"));
        bench.printer.line(&good, &progress());
        let mut last = progress();
        last.nodes += more;
        bench.printer.done(&Outcome {
            best: good.pv.first().copied(),
            ponder: None,
            line: Some(good),
            others: Vec::new(),
            progress: last,
        });
        bench.text().lines().map(String::from).collect()
    }

    #[test]
    fn last_line_is_repeated_only_with_new_counters() {
        assert_eq!(ended_after(0).len(), 2);
        let lines = ended_after(500);
        assert_eq!(lines.len(), 3);
        assert!(lines[1].contains("depth 4 ") && lines[1].contains(" nodes 2500 "));
    }

    #[test]
    fn final_line_keeps_its_bound() {
        let bench = printer(START, false);
        let found = Line { bound: ScoreBound::Lower, ..line(5, Score::Centipawns(70), bench.moves("d2d4")) };
        bench.printer.done(&Outcome {
            best: found.pv.first().copied(),
            ponder: None,
            line: Some(found),
            others: Vec::new(),
            progress: progress(),
        });
        let text = bench.text();
        assert!(text.starts_with("info depth 5 ") && text.contains(" score cp 70 lowerbound "), "{text}");
    }

    #[test]
    fn variation_ends_before_illegal_move() {
        let bench = printer(START, false);
        let mut pv = bench.moves("e2e4");
        pv.push(pv[0]);
        bench.printer.line(&line(1, Score::Mate(2), pv), &progress());
        assert!(bench.text().contains("score mate 2") && bench.text().ends_with(" pv e2e4\n"));
    }

    #[test]
    fn finished_game_is_reported_at_once() {
        let nothing = Outcome::without_search(None);
        for (fen, score) in [("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "cp 0"), ("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1", "mate 0")] {
            let bench = printer(fen, false);
            assert_eq!(bench.text(), format!("info depth 0 score {score}\n"));
            bench.printer.done(&nothing);
            assert!(bench.text().ends_with("bestmove (none)\n"));
        }
    }
}
