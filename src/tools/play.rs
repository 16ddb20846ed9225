//! A game at the terminal against a level of the engine, or its full strength.

use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, bail};
use chrono::{DateTime, Utc};
use parking_lot::Mutex;

use super::game_record::{Ending, GAMES, GameRecord, movetext};
use crate::board::{Color, Move, Position, Square};
use crate::level::Level;
use crate::nnue::Network;
use crate::search::{Limits, Score, SearchOptions, Silent, ThreadPool};
use crate::util::atomic::AtomicFile;
use crate::util::interrupt::Interrupt;
use crate::util::reason;

/// Nodes of a move at full strength, and of a hint.
const FULL_NODES: u64 = 500_000;
/// Size of the transposition table in MiB.
const HASH_MB: usize = 16;
/// The engine agrees to a draw where it does not stand better than this, in hundredths of a pawn.
const DRAWN: i32 = 20;
/// What can be typed.
const HELP: &str =
    "A move (Nf3, g1f3), or: back, hint, draw, resign, board, flip, moves, fen, help, quit";

/// How a game is to be played.
pub struct PlayOptions {
    /// The engine's level in Elo; `None` for full strength.
    pub elo: Option<i32>,
    /// Decides what the level misjudges and overlooks.
    pub seed: u64,
    /// The person's colour.
    pub colour: Color,
    /// Where the game begins.
    pub start: Position,
    /// The file that the game is added to when it ends, however it ends.
    pub pgn: Option<PathBuf>,
}

/// What was typed.
#[derive(Debug, PartialEq, Eq)]
enum Request {
    Move(Move),
    Back,
    Hint,
    Draw,
    Resign,
    Board,
    Flip,
    Moves,
    Fen,
    Help,
    Quit,
}

/// Plays a game with whoever types at `input`; the end of the input is as `quit`.
///
/// # Errors
/// Fails if `out` does, if the file of games cannot be written before the game, and if the game is saved elsewhere.
pub fn run(
    options: PlayOptions,
    network: Arc<Network>,
    input: impl BufRead,
    out: &mut impl Write,
) -> Result<()> {
    let began = Utc::now();
    let mut game = TerminalGame {
        pool: ThreadPool::new(network, 1, HASH_MB),
        position: options.start.clone(),
        start: options.start.clone(),
        moves: Arc::new(Mutex::new(Some(Vec::new()))),
        flipped: options.colour.is_black(),
        level: options.elo.map(|elo| Level::of(elo, options.seed)),
        colour: options.colour,
        score: 0,
    };
    if let Some(path) = &options.pgn {
        // What cannot be written is told before the game rather than after it.
        drop(AtomicFile::create_over(path, &GAMES)?);
    }
    let options = Arc::new(options);
    save_at_request_to_end(&options, &game.moves, began);
    let played = game.play(input, out);
    // Whoever has taken the moves saves them.
    let Some(moves) = game.moves.lock().take() else {
        return played.map(drop);
    };
    let ending = *played.as_ref().unwrap_or(&Ending::Unfinished);
    let record = record(&options, &moves, began, ending);
    let told = writeln!(out, "{}", record.summary());
    if let Some(path) = &options.pgn {
        record.save(path)?;
        told?;
        writeln!(out, "Saved to {}", path.display())?;
    }
    played.map(drop)
}

/// The moves of a game in progress; `None` once they are being saved.
type SharedMoves = Arc<Mutex<Option<Vec<Move>>>>;

/// Saves the unfinished game when the process is asked to end, and ends it.
fn save_at_request_to_end(options: &Arc<PlayOptions>, moves: &SharedMoves, began: DateTime<Utc>) {
    let (options, moves) = (options.clone(), moves.clone());
    let Some(path) = options.pgn.clone() else {
        return;
    };
    Interrupt::listen(move || {
        // Held to the end of the process, which does not come before the game is saved.
        let mut held = moves.lock();
        let Some(moves) = held.take() else {
            return;
        };
        let record = record(&options, &moves, began, Ending::Unfinished);
        let mut err = io::stderr();
        let _ = match record.save(&path) {
            Ok(()) => writeln!(
                err,
                "\ninterrupted: the game was saved to {}",
                path.display()
            ),
            Err(error) => writeln!(err, "\ninterrupted: {}", reason::chain(&error)),
        };
        std::process::exit(130);
    });
}

fn record<'a>(
    options: &'a PlayOptions,
    moves: &'a [Move],
    began: DateTime<Utc>,
    ending: Ending,
) -> GameRecord<'a> {
    GameRecord {
        start: &options.start,
        moves,
        person: options.colour,
        elo: options.elo,
        seed: options.seed,
        began,
        ending,
    }
}

/// A game in progress.
struct TerminalGame {
    pool: ThreadPool,
    start: Position,
    position: Position,
    moves: SharedMoves,
    flipped: bool,
    level: Option<Level>,
    colour: Color,
    /// What the engine last thought of its own position, in hundredths of a pawn.
    score: i32,
}

impl TerminalGame {
    fn play(&mut self, input: impl BufRead, out: &mut impl Write) -> Result<Ending> {
        writeln!(out, "{HELP}")?;
        self.show(out)?;
        let mut lines = input.lines();
        loop {
            if let Some(ending) = self.over() {
                return Ok(ending);
            }
            if self.position.turn() != self.colour {
                self.answer(out)?;
                continue;
            }
            write!(out, "{}> ", self.number())?;
            out.flush()?;
            let Some(line) = lines.next() else {
                writeln!(out)?;
                return Ok(Ending::Unfinished);
            };
            match understand(&self.position, line?.trim()) {
                Ok(input) => {
                    if let Some(ending) = self.obey(&input, out)? {
                        return Ok(ending);
                    }
                }
                Err(error) => writeln!(
                    out,
                    "{}. Type help to see what can be typed.",
                    reason::chain(&error)
                )?,
            }
        }
    }

    /// Does what was typed; the ending, if that ends the game.
    fn obey(&mut self, input: &Request, out: &mut impl Write) -> Result<Option<Ending>> {
        match input {
            Request::Move(m) => self.make(*m),
            Request::Back => self.take_back(out)?,
            Request::Hint => {
                let (best, _) = self.search(None);
                let san = best.map(|m| self.position.san(m)).unwrap_or_default();
                writeln!(out, "Try {san}")?;
            }
            Request::Draw if self.score <= DRAWN && !self.moves().is_empty() => {
                return Ok(Some(Ending::Agreed));
            }
            Request::Draw => writeln!(out, "No draw: I want to play on")?,
            Request::Resign => return Ok(Some(Ending::Resigned(self.colour))),
            Request::Board => self.show(out)?,
            Request::Flip => {
                self.flipped = !self.flipped;
                self.show(out)?;
            }
            Request::Moves => writeln!(out, "{}", movetext(&self.start, &self.moves()))?,
            Request::Fen => writeln!(out, "{}", self.position.fen())?,
            Request::Help => writeln!(out, "{HELP}")?,
            Request::Quit => return Ok(Some(Ending::Unfinished)),
        }
        Ok(None)
    }

    /// How the rules have ended the game, if they have.
    fn over(&self) -> Option<Ending> {
        if self.position.legal_moves().is_empty() {
            return Some(if self.position.in_check() {
                Ending::Mate(!self.position.turn())
            } else {
                Ending::Stalemate
            });
        }
        self.position.is_draw(0).then_some(Ending::DrawByRule)
    }

    fn make(&mut self, m: Move) {
        self.position.do_move(m);
        if let Some(moves) = &mut *self.moves.lock() {
            moves.push(m);
        }
    }

    fn moves(&self) -> Vec<Move> {
        self.moves.lock().clone().unwrap_or_default()
    }

    /// The engine's move.
    fn answer(&mut self, out: &mut impl Write) -> Result<()> {
        let number = self.number();
        let (best, score) = self.search(self.level);
        let Some(best) = best else {
            bail!("the engine found no move in {}", self.position.fen());
        };
        self.score = score.unwrap_or(self.score);
        writeln!(out, "{number} {}", self.position.san(best))?;
        self.make(best);
        self.show(out)
    }

    /// The best move of a search, and its value for the side to move.
    fn search(&mut self, level: Option<Level>) -> (Option<Move>, Option<i32>) {
        let limits = Limits {
            nodes: Some(FULL_NODES),
            ..Limits::default()
        };
        let options = SearchOptions {
            level,
            ..SearchOptions::default()
        };
        let outcome = self
            .pool
            .search(self.position.clone(), limits, options, Arc::new(Silent));
        let score = outcome.line.map(|line| hundredths(line.score));
        (outcome.best, score)
    }

    /// Takes the person's last move back, and the answer to it.
    fn take_back(&mut self, out: &mut impl Write) -> Result<()> {
        if self.moves().len() < 2 {
            writeln!(out, "There is no move of yours to take back")?;
            return Ok(());
        }
        for _ in 0..2 {
            self.position.undo_move();
            self.moves.lock().as_mut().map(Vec::pop);
        }
        self.show(out)
    }

    /// `12.` or `12...`
    fn number(&self) -> String {
        let dots = self.position.turn().fold_wb(".", "...");
        format!("{}{dots}", self.position.fullmoves())
    }

    fn show(&self, out: &mut impl Write) -> Result<()> {
        Ok(write!(out, "{}", board(&self.position, self.flipped))?)
    }
}

/// A score in hundredths of a pawn; a mate is beyond all of them.
fn hundredths(score: Score) -> i32 {
    match score {
        Score::Centipawns(value) => value,
        Score::Mate(moves) => moves.signum() * i32::MAX,
    }
}

/// What a line means in `position`.
fn understand(position: &Position, line: &str) -> Result<Request> {
    Ok(match line.to_ascii_lowercase().as_str() {
        "back" | "undo" => Request::Back,
        "hint" => Request::Hint,
        "draw" => Request::Draw,
        "resign" => Request::Resign,
        "" | "board" => Request::Board,
        "flip" => Request::Flip,
        "moves" => Request::Moves,
        "fen" => Request::Fen,
        "help" | "?" => Request::Help,
        "quit" | "exit" => Request::Quit,
        _ => Request::Move(position.parse_move(line)?),
    })
}

/// The board in letters, capital for White, seen from White's side or from Black's.
fn board(position: &Position, flipped: bool) -> String {
    let mut text = String::from("\n");
    for rank in 0..8 {
        let rank = if flipped { rank } else { 7 - rank };
        text.push_str(&format!(" {}", rank + 1));
        for file in 0..8 {
            let file = if flipped { 7 - file } else { file };
            let square = Square::new(8 * rank + file);
            text.push(' ');
            text.push(position.piece_at(square).map_or('.', |piece| piece.char()));
        }
        text.push('\n');
    }
    text.push_str(if flipped {
        "   h g f e d c b a\n\n"
    } else {
        "   a b c d e f g h\n\n"
    });
    text
}
