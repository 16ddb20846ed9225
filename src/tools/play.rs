//! A game at the terminal against a level of the engine, or its full strength.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, bail};
use chrono::{DateTime, Utc};

use super::args::{SelectionArgs, positions_help};
use super::game_record::{Ending, GAMES, GameRecord, movetext};
use super::prompt::{Prompt, Typed};
use super::{load_network, subjects};
use crate::board::{Color, Move, Position, Square};
use crate::level::{ELO_MAX, ELO_MIN, Level};
use crate::notation::position_from_fen;
use crate::search::{Limits, Score, SearchOptions, Silent, ThreadPool};
use crate::util::atomic::AtomicFile;
use crate::util::console::Printable;
use crate::util::interrupt::{EXIT_CODE, Interrupt, Interrupted};
use crate::util::sync::Mutex;
use crate::util::text::Shown as _;
use crate::util::{reason, rng};

/// Nodes of a search at full strength, and of a hint.
const FULL_NODES: u64 = 500_000;
/// Size of the transposition table in MiB.
const HASH_MB: usize = 16;
/// Maximum score, in hundredths of a pawn, at which the engine accepts a draw.
const MAX_DRAW_SCORE: i32 = 20;
/// The commands of a game.
const HELP: &str = "Type a move (Nf3, g1f3) or: back, hint, draw, resign, board, flip, moves, fen, help, quit";

/// Arguments of `play`.
#[derive(clap::Args, Debug)]
#[command(after_help = positions_help!())]
pub struct PlayArgs {
    /// Starting position; the initial position if absent
    #[arg(value_name = "POSITION|FILE", conflicts_with = "fen")]
    pub position: Vec<String>,
    /// Games and moves of PGN files.
    #[command(flatten)]
    pub selection: SelectionArgs,
    /// Playing strength of the engine in Elo (engine scale); full strength if absent
    #[arg(
        long,
        value_name = "ELO",
        value_parser = clap::value_parser!(i32).range(i64::from(ELO_MIN)..=i64::from(ELO_MAX)),
    )]
    pub elo: Option<i32>,
    /// Your colour
    #[arg(long, visible_alias = "color", value_name = "COLOUR", default_value = "white")]
    pub colour: ColourChoice,
    /// Starting position as FEN
    #[arg(long, value_name = "FEN")]
    pub fen: Option<String>,
    /// Seed for the level's mistakes and for a random colour; differs from run to run if absent
    #[arg(long, value_name = "SEED")]
    pub seed: Option<u64>,
    /// File to append the game to when it ends
    #[arg(long, value_name = "FILE")]
    pub pgn: Option<PathBuf>,
    /// Network to use instead of the embedded one
    #[arg(long, value_name = "FILE")]
    pub net: Option<PathBuf>,
}

/// The player's colour.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColourChoice {
    /// You play White
    White,
    /// You play Black
    Black,
    /// The colour is chosen at random
    Random,
}

/// Options of a game, from the arguments.
struct PlayOptions {
    /// The engine's level in Elo; `None` for full strength.
    elo: Option<i32>,
    /// Seed of the level's errors.
    seed: u64,
    /// The user's colour.
    colour: Color,
    /// The initial position.
    start: Position,
    /// File to which the game is appended when it ends for any reason.
    pgn: Option<PathBuf>,
}

impl PlayOptions {
    fn of(args: &PlayArgs) -> Result<Self> {
        let seed = args.seed.unwrap_or_else(|| rng::arbitrary() >> 33);
        let colour = match args.colour {
            ColourChoice::White => Color::White,
            ColourChoice::Black => Color::Black,
            ColourChoice::Random => Color::from_white(rng::SplitMix64::new(seed).below(2) == 0),
        };
        let start = match &args.fen {
            Some(fen) => position_from_fen(fen)?,
            None => subjects::read_one(&args.position, args.selection)?.position,
        };
        Ok(Self { elo: args.elo, seed, colour, start, pgn: args.pgn.clone() })
    }
}

/// A parsed input line.
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

/// A game that was played.
pub struct PlayedGame {
    /// The game as PGN.
    pub pgn: String,
    /// The number of moves of both sides.
    pub plies: usize,
}

/// Plays a game against the user at `input`, and returns it. The end of the input counts as `quit`.
///
/// # Errors
/// Fails if the position is invalid, the network cannot be loaded, `out` fails, or the PGN file cannot be written. This
/// is checked before the game. If writing fails after the game, the error names the file to which the game was saved
/// instead. After Ctrl-C, the game is saved, or printed if it has no file, and the error is [`Interrupted`].
pub fn run(args: &PlayArgs, input: &mut dyn Prompt, out: &mut impl Write) -> Result<PlayedGame> {
    let (options, network) = (PlayOptions::of(args)?, load_network(args.net.as_deref())?);
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
        interrupted: false,
    };
    if let Some(path) = &options.pgn {
        // Reports an unwritable file before the game, not after it.
        drop(AtomicFile::create_over(path, &GAMES)?);
    }
    let options = Arc::new(options);
    save_on_interrupt(&options, &game.moves, began);
    writeln!(out, "{}", introduction(&options))?;
    let played = game.play(input, out);
    let Some(moves) = game.moves.lock().take() else {
        // The interrupt handler is saving the game and then ends the process.
        loop {
            std::thread::park();
        }
    };
    let ending = *played.as_ref().unwrap_or(&Ending::Unfinished);
    let record = record(&options, &moves, began, ending);
    let place = keep(&record, options.pgn.as_deref(), out)?;
    played?;
    if game.interrupted {
        return Err(Interrupted::error(format!("interrupted: the game was {place}")));
    }
    Ok(PlayedGame { pgn: record.pgn(), plies: moves.len() })
}

/// Prints the result, and saves the game to its file, or prints it if it has none. Returns the place of the game.
fn keep(record: &GameRecord, path: Option<&Path>, out: &mut impl Write) -> Result<String> {
    let printed = writeln!(out, "{}", record.summary());
    let Some(path) = path else {
        printed?;
        writeln!(out, "\n{}", record.pgn())?;
        return Ok("printed above".to_owned());
    };
    record.save(path)?;
    printed?;
    let place = format!("saved to {}", path.shown());
    writeln!(out, "{place}")?;
    Ok(place)
}

/// The first line: the sides, the level and its seed.
fn introduction(options: &PlayOptions) -> String {
    let colour = options.colour.fold_wb("White", "Black");
    match options.elo {
        Some(elo) => format!(
            "You play {colour} against level {elo}. Its seed is {seed}: --seed {seed} repeats its choices.",
            seed = options.seed
        ),
        None => format!("You play {colour} against the engine at full strength."),
    }
}

/// The moves of a game in progress; `None` once they are being saved.
type SharedMoves = Arc<Mutex<Option<Vec<Move>>>>;

/// On an interrupt, saves the unfinished game, or prints it if it has no file, and exits.
fn save_on_interrupt(options: &Arc<PlayOptions>, moves: &SharedMoves, began: DateTime<Utc>) {
    let (options, moves) = (options.clone(), moves.clone());
    Interrupt::listen(move || {
        // Locked until the process exits, so that the game is saved first.
        let mut held = moves.lock();
        let Some(moves) = held.take() else {
            return;
        };
        let record = record(&options, &moves, began, Ending::Unfinished);
        let mut err = Printable(io::stderr());
        let _ = match options.pgn.as_ref().map(|path| (path, record.save(path))) {
            Some((path, Ok(()))) => writeln!(err, "\ninterrupted: the game was saved to {}", path.shown()),
            Some((_, Err(error))) => writeln!(err, "\ninterrupted: {}", reason::chain(&error)),
            None => writeln!(io::stdout(), "\n\n{}", record.pgn()),
        };
        std::process::exit(EXIT_CODE.into());
    });
}

fn record<'a>(options: &'a PlayOptions, moves: &'a [Move], began: DateTime<Utc>, ending: Ending) -> GameRecord<'a> {
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
    /// The engine's last evaluation of its position, in hundredths of a pawn.
    score: i32,
    /// Whether Ctrl-C ended the game.
    interrupted: bool,
}

impl TerminalGame {
    fn play(&mut self, input: &mut dyn Prompt, out: &mut impl Write) -> Result<Ending> {
        writeln!(out, "{HELP}")?;
        self.show(out)?;
        loop {
            if let Some(ending) = self.ending_by_rule() {
                return Ok(ending);
            }
            if self.position.turn() != self.colour {
                self.engine_move(out)?;
                continue;
            }
            out.flush()?;
            let line = match input.ask(&format!("{}> ", self.number()))? {
                Typed::Line(line) => line,
                Typed::End => return Ok(Ending::Unfinished),
                Typed::Interrupt => {
                    self.interrupted = true;
                    return Ok(Ending::Unfinished);
                }
            };
            match parse(&self.position, line.trim()) {
                Ok(input) => {
                    if let Some(ending) = self.execute(&input, out)? {
                        return Ok(ending);
                    }
                }
                Err(error) => writeln!(out, "{}. Type 'help' for the list of commands.", reason::chain(&error))?,
            }
        }
    }

    /// Executes a request. Returns the ending if it ends the game.
    fn execute(&mut self, input: &Request, out: &mut impl Write) -> Result<Option<Ending>> {
        match input {
            Request::Move(m) => self.make(*m),
            Request::Back => self.take_back(out)?,
            Request::Hint => {
                let best = self.search(None).best;
                let san = best.map(|m| self.position.san(m)).unwrap_or_default();
                writeln!(out, "Try {san}")?;
            }
            Request::Draw if self.score <= MAX_DRAW_SCORE && !self.moves().is_empty() => {
                return Ok(Some(Ending::Agreed));
            }
            Request::Draw => writeln!(out, "The engine declines the draw")?,
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

    /// The ending by the rules, if the game is over.
    fn ending_by_rule(&self) -> Option<Ending> {
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

    /// Plays the engine's move.
    fn engine_move(&mut self, out: &mut impl Write) -> Result<()> {
        let number = self.number();
        let Found { best, score } = self.search(self.level);
        let Some(best) = best else {
            bail!("internal error: the engine found no move in {}", self.position.fen());
        };
        self.score = score.unwrap_or(self.score);
        writeln!(out, "{number} {}", self.position.san(best))?;
        self.make(best);
        self.show(out)
    }

    /// Searches the position.
    fn search(&mut self, level: Option<Level>) -> Found {
        let limits = Limits { nodes: Some(FULL_NODES), ..Limits::default() };
        let options = SearchOptions { level, ..SearchOptions::default() };
        let outcome = self.pool.search(self.position.clone(), limits, options, Arc::new(Silent));
        let score = outcome.line.map(|line| hundredths(line.score));
        Found { best: outcome.best, score }
    }

    /// Takes back the user's last move and the reply to it.
    fn take_back(&mut self, out: &mut impl Write) -> Result<()> {
        if self.moves().len() < 2 {
            writeln!(out, "There is no move to take back")?;
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

/// The result of a search.
struct Found {
    best: Option<Move>,
    /// Value for the side to move in hundredths of a pawn.
    score: Option<i32>,
}

/// A score in hundredths of a pawn; a mate is larger than any other score.
fn hundredths(score: Score) -> i32 {
    match score {
        Score::Centipawns(value) => value,
        Score::Mate(moves) => moves.signum() * i32::MAX,
    }
}

/// Parses a line in `position`.
fn parse(position: &Position, line: &str) -> Result<Request> {
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

/// The board in letters, upper case for White, from White's side or from Black's.
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
    text.push_str(if flipped { "   h g f e d c b a\n\n" } else { "   a b c d e f g h\n\n" });
    text
}
