//! A game at the terminal against a level of the engine, or its full strength, with its clocks.
//!
//! * [`prompt`]: the typed lines, and the board as text

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use chrono::{DateTime, Utc};
use prompt::{HELP, Look, Prompt, Request, SUMMARY, Typed, drawn, parse};

use super::args::{self, SelectionArgs, positions_help};
use super::game_record::{Ending, GAMES, GameRecord, Kept, movetext};
use super::load_network;
use crate::board::{Color, Move, Position};
use crate::level::{ELO_MAX, ELO_MIN, Level};
use crate::notation::position_from_fen;
use crate::search::{Limits, Score, SearchOptions, SideClock, Silent, ThreadPool};
use crate::util::atomic::AtomicFile;
use crate::util::console::{EXIT_CODE, Interrupt, Interrupted, Printable, use_colour};
use crate::util::sync::Mutex;
use crate::util::text::{Shown as _, printable};
use crate::util::{reason, rng};

pub mod prompt;

/// Nodes of a search at full strength, and of a hint.
const FULL_NODES: u64 = 500_000;
/// Size of the transposition table in MiB.
const HASH_MB: usize = 16;

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
    /// Clocks of both sides: minutes, and seconds added for each move, such as 5+3; no clocks if absent
    #[arg(long, value_name = "MINUTES[+SECONDS]")]
    pub clock: Option<Control>,
    /// Your name in the PGN
    #[arg(long, value_name = "NAME", default_value = "Player")]
    pub name: String,
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
    /// The user's name.
    name: String,
    control: Option<Control>,
    /// The initial position.
    start: Position,
    /// File to which the game is appended when it ends.
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
            None => args::read_one(&args.position, args.selection)?.position,
        };
        let (name, control, pgn) = (printable(&args.name).trim().to_owned(), args.clock, args.pgn.clone());
        Ok(Self { elo: args.elo, seed, colour, name, control, start, pgn })
    }
}

/// The moves of a game in progress, and the clocks of their sides after them, in seconds.
#[derive(Clone, Default)]
struct Moves {
    moves: Vec<Move>,
    clocks: Vec<f64>,
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
/// instead. After Ctrl-C at the prompt, the game is saved, or printed if it has no file, and the error is
/// [`Interrupted`]. A signal ends the process and leaves the file of games as it is: the game stays in a file next to
/// it.
pub fn run(args: &PlayArgs, input: &mut dyn Prompt, out: &mut impl Write) -> Result<PlayedGame> {
    let (options, network) = (PlayOptions::of(args)?, load_network(args.net.as_deref())?);
    let began = Utc::now();
    let mut game = TerminalGame {
        pool: ThreadPool::new(network, 1, HASH_MB),
        position: options.start.clone(),
        start: options.start.clone(),
        played: Arc::new(Mutex::new(Some(Moves::default()))),
        look: Look {
            flipped: options.colour.is_black(),
            colour: anstyle_query::clicolor_force() || (input.is_interactive() && use_colour(&io::stdout())),
            figures: prompt::has_figures(),
        },
        level: options.elo.map(|elo| Level::of(elo, options.seed)),
        colour: options.colour,
        clocks: options.control.map(Clocks::new),
        turn_began: Instant::now(),
        interrupted: false,
    };
    if let Some(path) = &options.pgn {
        // Reports an unwritable file before the game, not after it.
        drop(AtomicFile::create_over(path, &GAMES)?);
    }
    let options = Arc::new(options);
    let kept = Arc::new(options.pgn.as_deref().map(Kept::next_to));
    keep_on_interrupt(&options, &game.played, &kept, began);
    writeln!(out, "{}", introduction(&options))?;
    let keep_part = |moves: &Moves| {
        if let Some(kept) = &*kept {
            kept.write(&record(&options, moves, began, Ending::Unfinished).pgn());
        }
    };
    let played = game.play(input, out, &keep_part);
    let Some(moves) = game.played.lock().take() else {
        // The interrupt handler is saving the game and then ends the process.
        loop {
            std::thread::park();
        }
    };
    let ending = *played.as_ref().unwrap_or(&Ending::Unfinished);
    let record = record(&options, &moves, began, ending);
    let place = keep(&record, options.pgn.as_deref(), out);
    if let Some(kept) = &*kept {
        kept.remove();
    }
    let place = place?;
    played?;
    if game.interrupted {
        return Err(Interrupted::error(format!("interrupted: the game was {place}")));
    }
    Ok(PlayedGame { pgn: record.pgn(), plies: moves.moves.len() })
}

/// Prints the result, and saves the game to its file, or prints it if it has none. Returns the place of the game. A
/// game without moves is not saved.
fn keep(record: &GameRecord, path: Option<&Path>, out: &mut impl Write) -> Result<String> {
    let printed = writeln!(out, "{}", record.summary());
    if record.moves.is_empty() {
        printed?;
        return Ok("not saved, because it has no moves".to_owned());
    }
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

/// The first line: the sides, the level and its seed, the clocks.
fn introduction(options: &PlayOptions) -> String {
    let colour = options.colour.fold_wb("White", "Black");
    let clock = options.control.map(|control| format!(" Each side has {}.", control.in_words())).unwrap_or_default();
    let sides = match options.elo {
        Some(elo) => format!(
            "You play {colour} against level {elo}. Its seed is {seed}: --seed {seed} repeats its choices.",
            seed = options.seed
        ),
        None => format!("You play {colour} against the engine at full strength."),
    };
    sides + &clock
}

/// The moves of a game in progress; `None` once they are being saved.
type SharedMoves = Arc<Mutex<Option<Moves>>>;

/// On a signal, leaves the unfinished game in the file next to the file of games, or prints it if there is none, and
/// exits. The file of games stays as it is.
fn keep_on_interrupt(options: &Arc<PlayOptions>, played: &SharedMoves, kept: &Arc<Option<Kept>>, began: DateTime<Utc>) {
    let (options, played, kept) = (options.clone(), played.clone(), kept.clone());
    Interrupt::listen(move || {
        // Locked until the process exits, so that the game is kept first.
        let mut held = played.lock();
        let Some(moves) = held.take() else {
            return;
        };
        let pgn = record(&options, &moves, began, Ending::Unfinished).pgn();
        let mut err = Printable(io::stderr());
        let _ = match &*kept {
            _ if moves.moves.is_empty() => writeln!(err, "\ninterrupted before the first move"),
            Some(kept) if kept.write(&pgn) => {
                writeln!(err, "\ninterrupted: the unfinished game is in {}", kept.path().shown())
            }
            _ => writeln!(io::stdout(), "\n\n{pgn}"),
        };
        std::process::exit(EXIT_CODE.into());
    });
}

fn record<'a>(options: &'a PlayOptions, played: &'a Moves, began: DateTime<Utc>, ending: Ending) -> GameRecord<'a> {
    GameRecord {
        start: &options.start,
        moves: &played.moves,
        clocks: &played.clocks,
        control: options.control.map(|control| control.tag()),
        person: options.colour,
        name: &options.name,
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
    played: SharedMoves,
    look: Look,
    level: Option<Level>,
    colour: Color,
    clocks: Option<Clocks>,
    /// Start of the turn of the side to move.
    turn_began: Instant,
    /// Whether Ctrl-C ended the game.
    interrupted: bool,
}

impl TerminalGame {
    fn play(&mut self, input: &mut dyn Prompt, out: &mut impl Write, keep_part: &dyn Fn(&Moves)) -> Result<Ending> {
        writeln!(out, "{SUMMARY}")?;
        self.show(out)?;
        self.turn_began = Instant::now();
        let mut plies = 0;
        loop {
            if self.moves().len() != plies {
                plies = self.moves().len();
                if let Some(moves) = &*self.played.lock() {
                    keep_part(moves);
                }
            }
            if let Some(ending) = self.ending_by_rule() {
                return Ok(ending);
            }
            let ending = match self.position.turn() == self.colour {
                true => self.turn_of_user(input, out)?,
                false => self.engine_move(out)?,
            };
            if let Some(ending) = ending {
                return Ok(ending);
            }
        }
    }

    /// Reads and executes one line of the user. Returns the ending if the game is over.
    fn turn_of_user(&mut self, input: &mut dyn Prompt, out: &mut impl Write) -> Result<Option<Ending>> {
        out.flush()?;
        let prompt = match &self.clocks {
            Some(clocks) => format!("{} [{}]> ", self.number(), clocks.shown(self.colour)),
            None => format!("{}> ", self.number()),
        };
        let typed = input.ask(&prompt)?;
        if self.time_is_up() {
            return Ok(Some(self.lost_on_time()));
        }
        let line = match typed {
            Typed::Line(line) => line,
            Typed::End => return Ok(Some(Ending::Unfinished)),
            Typed::Interrupt => {
                self.interrupted = true;
                return Ok(Some(Ending::Unfinished));
            }
        };
        match parse(&self.position, line.trim()) {
            Ok(input) => self.execute(&input, out),
            Err(error) => {
                writeln!(out, "{}. Type 'help' for the list of commands.", reason::chain(&error))?;
                Ok(None)
            }
        }
    }

    /// Executes a request. Returns the ending if it ends the game.
    fn execute(&mut self, input: &Request, out: &mut impl Write) -> Result<Option<Ending>> {
        match input {
            Request::Move(m) => self.make(*m),
            Request::Back => self.take_back(out)?,
            Request::Hint => {
                let san = self.search(None).map(|m| self.position.san(m)).unwrap_or_default();
                writeln!(out, "Try {san}")?;
            }
            Request::Draw => {
                let plies = self.moves().len();
                if is_accepted(&mut self.pool, &self.position, plies) {
                    return Ok(Some(Ending::Agreed));
                }
                writeln!(out, "The engine declines the draw: {}", RULE)?;
            }
            Request::Resign => return Ok(Some(Ending::Resigned(self.colour))),
            Request::Board => self.show(out)?,
            Request::Flip => {
                self.look.flipped = !self.look.flipped;
                self.show(out)?;
            }
            Request::Moves => writeln!(out, "{}", movetext(&self.start, &self.moves()))?,
            Request::Fen => writeln!(out, "{}", self.position.fen())?,
            Request::Clock => match &self.clocks {
                Some(clocks) => writeln!(out, "{}", clocks.both(self.colour, self.turn_began.elapsed()))?,
                None => writeln!(out, "There are no clocks; start with --clock 5+3, for example")?,
            },
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

    /// Whether the side to move has no time left.
    fn time_is_up(&self) -> bool {
        let elapsed = self.turn_began.elapsed();
        self.clocks.as_ref().is_some_and(|clocks| clocks.is_up(self.position.turn(), elapsed))
    }

    /// The side to move loses, unless the other side has only its king.
    fn lost_on_time(&self) -> Ending {
        let loser = self.position.turn();
        let can_mate = self.position.by_color(!loser).count() > 1;
        if can_mate { Ending::Time(loser) } else { Ending::TimeAgainstKing }
    }

    fn make(&mut self, m: Move) {
        let mover = self.position.turn();
        self.position.do_move(m);
        let left = self.clocks.as_mut().map(|clocks| clocks.press(mover, self.turn_began.elapsed()));
        self.turn_began = Instant::now();
        if let Some(played) = &mut *self.played.lock() {
            played.moves.push(m);
            played.clocks.extend(left);
        }
    }

    fn moves(&self) -> Vec<Move> {
        self.played.lock().as_ref().map(|played| played.moves.clone()).unwrap_or_default()
    }

    /// Plays the engine's move. Returns the ending if its time is up.
    fn engine_move(&mut self, out: &mut impl Write) -> Result<Option<Ending>> {
        let number = self.number();
        let Some(best) = self.search(self.level) else {
            bail!("internal error: the engine found no move in {}", self.position.fen());
        };
        if self.time_is_up() {
            return Ok(Some(self.lost_on_time()));
        }
        let san = self.position.san(best);
        self.make(best);
        match &self.clocks {
            Some(clocks) => writeln!(out, "{number} {san} [{}]", clocks.shown(!self.colour))?,
            None => writeln!(out, "{number} {san}")?,
        }
        self.show(out)?;
        Ok(None)
    }

    /// The best move. A hint, and a game without clocks, have a fixed number of nodes.
    fn search(&mut self, level: Option<Level>) -> Option<Move> {
        let engine_moves = self.position.turn() != self.colour;
        let limits = match self.clocks.as_ref().filter(|_| engine_moves) {
            Some(clocks) => clocks.limits(),
            None => Limits { nodes: Some(FULL_NODES), ..Limits::default() },
        };
        let options = SearchOptions { level, ..SearchOptions::default() };
        self.pool.search(self.position.clone(), limits, options, Arc::new(Silent)).best
    }

    /// Takes back the user's last move and the reply to it.
    fn take_back(&mut self, out: &mut impl Write) -> Result<()> {
        if self.moves().len() < 2 {
            writeln!(out, "There is no move to take back")?;
            return Ok(());
        }
        for _ in 0..2 {
            self.position.undo_move();
            if let Some(played) = &mut *self.played.lock() {
                played.moves.pop();
                played.clocks.pop();
            }
            if let Some(clocks) = &mut self.clocks {
                clocks.take_back();
            }
        }
        self.turn_began = Instant::now();
        self.show(out)
    }

    /// `12.` or `12...`
    fn number(&self) -> String {
        let dots = self.position.turn().fold_wb(".", "...");
        format!("{}{dots}", self.position.fullmoves())
    }

    fn show(&self, out: &mut impl Write) -> Result<()> {
        let last = self.moves().last().copied();
        Ok(write!(out, "{}", drawn(&self.position, last, self.look))?)
    }
}

// The engine's answer to a draw offer.

/// The condition in words.
pub(super) const RULE: &str = "it accepts when 30 moves have been played and the last ten were level";
/// Number of moves of both sides before which no offer is accepted.
const MIN_MOVES: usize = 30;
/// Number of moves during which the value must have been level.
const LEVEL_MOVES: usize = 10;
/// Maximum distance of a level value from 0, in hundredths of a pawn.
const MAX_SCORE: i32 = 20;
/// Nodes of the search of each position, at full strength whatever the level.
const NODES: u64 = 20_000;

/// Whether the engine accepts a draw in `position`, after `plies` moves from the initial position of the game.
pub(super) fn is_accepted(pool: &mut ThreadPool, position: &Position, plies: usize) -> bool {
    let before = position.fullmoves().saturating_sub(1) as usize;
    if before.max(plies / 2) < MIN_MOVES || plies < 2 * LEVEL_MOVES {
        return false;
    }
    let mut position = position.clone();
    for number in 0..LEVEL_MOVES {
        if number > 0 {
            position.undo_move();
            position.undo_move();
        }
        if !is_level(pool, &position) {
            return false;
        }
    }
    true
}

fn is_level(pool: &mut ThreadPool, position: &Position) -> bool {
    let limits = Limits { nodes: Some(NODES), ..Limits::default() };
    let outcome = pool.search(position.clone(), limits, SearchOptions::default(), Arc::new(Silent));
    outcome.line.is_some_and(|line| matches!(line.score, Score::Centipawns(value) if value.abs() <= MAX_SCORE))
}

// Clocks.

/// Maximum number of minutes and of seconds for each move.
const MAX_MINUTES: f64 = 600.0;
const MAX_INCREMENT: u64 = 600;

/// A time control: `5+3` is five minutes and three seconds for each move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Control {
    base: Duration,
    increment: Duration,
}

impl FromStr for Control {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let (minutes, seconds) = text.trim().split_once('+').unwrap_or((text.trim(), "0"));
        let (Ok(minutes), Ok(seconds)) = (minutes.trim().parse::<f64>(), seconds.trim().parse::<u64>()) else {
            bail!("expected minutes and seconds for each move, such as 5+3");
        };
        if !(minutes > 0.0 && minutes <= MAX_MINUTES && seconds <= MAX_INCREMENT) {
            bail!("expected more than 0 and at most 600 minutes, and at most 600 seconds for each move");
        }
        Ok(Self { base: Duration::from_secs_f64(60.0 * minutes), increment: Duration::from_secs(seconds) })
    }
}

impl Control {
    /// The value of the tag `TimeControl`: `300+3`.
    pub(super) fn tag(self) -> String {
        match self.increment.as_secs() {
            0 => self.base.as_secs().to_string(),
            increment => format!("{}+{increment}", self.base.as_secs()),
        }
    }

    /// `5:00 and 3 s for each move`
    pub(super) fn in_words(self) -> String {
        match self.increment.as_secs() {
            0 => shown(self.base),
            increment => format!("{} and {increment} s for each move", shown(self.base)),
        }
    }
}

/// The clocks of both sides, and those before each move.
pub(super) struct Clocks {
    increment: Duration,
    /// White's and Black's time.
    left: [Duration; 2],
    before: Vec<[Duration; 2]>,
}

impl Clocks {
    pub(super) fn new(control: Control) -> Self {
        Self { increment: control.increment, left: [control.base; 2], before: Vec::new() }
    }

    /// Ends a turn. Returns the seconds left.
    pub(super) fn press(&mut self, color: Color, used: Duration) -> f64 {
        self.before.push(self.left);
        let left = &mut self.left[color.fold_wb(0, 1)];
        *left = left.saturating_sub(used) + self.increment;
        left.as_secs_f64()
    }

    /// Restores the clocks before the last move.
    pub(super) fn take_back(&mut self) {
        if let Some(before) = self.before.pop() {
            self.left = before;
        }
    }

    fn left(&self, color: Color) -> Duration {
        self.left[color.fold_wb(0, 1)]
    }

    /// Whether this side's time is up after this time of its turn.
    pub(super) fn is_up(&self, color: Color, used: Duration) -> bool {
        used >= self.left(color)
    }

    /// A side's time at the start of its turn.
    pub(super) fn shown(&self, color: Color) -> String {
        shown(self.left(color))
    }

    /// Both clocks during the user's turn.
    pub(super) fn both(&self, user: Color, used: Duration) -> String {
        let yours = shown(self.left(user).saturating_sub(used));
        format!("You have {yours}, the engine has {}", self.shown(!user))
    }

    /// Limits of the engine's search.
    pub(super) fn limits(&self) -> Limits {
        let side = |color: Color| SideClock {
            time: Some(self.left(color).as_millis() as i64),
            increment: self.increment.as_millis() as i64,
        };
        Limits { white: side(Color::White), black: side(Color::Black), ..Limits::default() }
    }
}

/// `4:58`, or `0:09.3` in the last twenty seconds.
fn shown(time: Duration) -> String {
    let seconds = time.as_secs();
    if seconds < 20 {
        return format!("0:{:02}.{}", seconds, time.subsec_millis() / 100);
    }
    match seconds / 3600 {
        0 => format!("{}:{:02}", seconds / 60, seconds % 60),
        hours => format!("{hours}:{:02}:{:02}", seconds / 60 % 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_accepts_minutes_and_seconds() {
        let tag = |text: &str| text.parse::<Control>().map(Control::tag).ok();
        for (text, expected) in [("5+3", "300+3"), ("5", "300"), ("0.5+0", "30"), (" 90 + 30 ", "5400+30")] {
            assert_eq!(tag(text).as_deref(), Some(expected), "{text}");
        }
        for text in ["", "x", "5+x", "-1", "0", "601", "5+601", "nan", "inf", "5+3+1"] {
            assert_eq!(tag(text), None, "{text}");
        }
    }

    #[test]
    fn clocks_add_the_increment_and_restore_a_move() {
        let mut clocks = Clocks::new("1+2".parse().expect("a control"));
        assert_eq!(clocks.press(Color::White, Duration::from_secs(12)), 50.0);
        assert_eq!((clocks.shown(Color::White), clocks.shown(Color::Black)), ("0:50".into(), "1:00".into()));
        assert!(!clocks.is_up(Color::White, Duration::from_secs(49)));
        assert!(clocks.is_up(Color::White, Duration::from_secs(50)));
        assert_eq!(clocks.both(Color::White, Duration::from_millis(40_700)), "You have 0:09.3, the engine has 1:00");
        clocks.take_back();
        assert_eq!(clocks.shown(Color::White), "1:00");
    }
}
