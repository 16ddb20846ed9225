//! The terminal of a game: typed lines (with editing and a history at a terminal, plain lines otherwise), the requests
//! in them, and the board as text.

use std::io;
use std::io::{BufRead, Write};

use anyhow::Result;

use crate::board::{Move, Position, Role, Square};

/// The answer to a prompt.
#[derive(Debug, PartialEq, Eq)]
pub enum Typed {
    /// A line, without its end.
    Line(String),
    /// The end of the input.
    End,
    /// Ctrl-C.
    #[cfg_attr(target_family = "wasm", allow(dead_code, reason = "without line editing, Ctrl-C ends the program"))]
    Interrupt,
}

/// Source of typed lines.
pub trait Prompt {
    /// Shows `prompt` and returns the next line.
    ///
    /// # Errors
    /// Fails on an I/O error.
    fn ask(&mut self, prompt: &str) -> io::Result<Typed>;

    /// Whether a user reads the prompts, so that the program can ask questions.
    fn is_interactive(&self) -> bool;
}

/// Lines of any input. The prompts are written to `out`.
pub struct PlainPrompt<R, W> {
    input: io::Lines<R>,
    out: W,
}

impl<R: BufRead, W: Write> PlainPrompt<R, W> {
    /// The lines of `input`, with prompts on `out`.
    pub fn new(input: R, out: W) -> Self {
        Self { input: input.lines(), out }
    }
}

impl<R: BufRead, W: Write> Prompt for PlainPrompt<R, W> {
    fn ask(&mut self, prompt: &str) -> io::Result<Typed> {
        write!(self.out, "{prompt}")?;
        self.out.flush()?;
        match self.input.next() {
            Some(line) => Ok(Typed::Line(line?)),
            None => {
                writeln!(self.out)?;
                Ok(Typed::End)
            }
        }
    }

    fn is_interactive(&self) -> bool {
        false
    }
}

/// Lines that are edited at the terminal, with a history.
#[cfg(not(target_family = "wasm"))]
pub struct LineEditor(rustyline::DefaultEditor);

#[cfg(not(target_family = "wasm"))]
impl LineEditor {
    /// The editor, if standard input and output are a terminal.
    pub fn at_terminal() -> Option<Self> {
        use std::io::IsTerminal as _;
        let terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
        terminal.then(|| rustyline::DefaultEditor::new().ok().map(Self)).flatten()
    }
}

#[cfg(not(target_family = "wasm"))]
impl Prompt for LineEditor {
    fn ask(&mut self, prompt: &str) -> io::Result<Typed> {
        use rustyline::error::ReadlineError;
        match self.0.readline(prompt) {
            Ok(line) => {
                // A full or disabled history does not matter.
                let _ = self.0.add_history_entry(&line);
                Ok(Typed::Line(line))
            }
            Err(ReadlineError::Eof) => Ok(Typed::End),
            Err(ReadlineError::Interrupted) => Ok(Typed::Interrupt),
            Err(ReadlineError::Io(error)) => Err(error),
            Err(error) => Err(io::Error::other(error)),
        }
    }

    fn is_interactive(&self) -> bool {
        true
    }
}

/// The editor at a terminal, plain lines of standard input otherwise.
pub fn standard() -> Box<dyn Prompt> {
    #[cfg(not(target_family = "wasm"))]
    if let Some(editor) = LineEditor::at_terminal() {
        return Box::new(editor);
    }
    Box::new(PlainPrompt::new(io::stdin().lock(), io::stdout()))
}

// The lines that the user types: a move, or a command.

/// The line that introduces the commands.
pub(super) const SUMMARY: &str =
    "Type a move (Nf3, g1f3) or: back, hint, draw, resign, board, flip, moves, fen, clock, help, quit";

/// The answer to `help`.
pub(super) const HELP: &str = "\
Moves: Nf3 or g1f3; exd5 or e4d5; O-O castles; e8=Q promotes.
  back     take back your last move and the reply (also: undo)
  hint     show the move that the engine would play at full strength
  draw     offer a draw; accepted if 30 moves have been played and the last ten were level
  resign   lose the game
  board    show the board (also: an empty line)
  flip     show the board from the other side
  moves    list the moves of the game
  fen      print the position as FEN
  clock    show both clocks
  quit     end the game unfinished and save it (also: exit, Ctrl-D)";

/// A parsed line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Request {
    Move(Move),
    Back,
    Hint,
    Draw,
    Resign,
    Board,
    Flip,
    Moves,
    Fen,
    Clock,
    Help,
    Quit,
}

/// Parses a line in `position`.
pub(super) fn parse(position: &Position, line: &str) -> Result<Request> {
    Ok(match line.to_ascii_lowercase().as_str() {
        "back" | "undo" => Request::Back,
        "hint" => Request::Hint,
        "draw" => Request::Draw,
        "resign" => Request::Resign,
        "" | "board" => Request::Board,
        "flip" => Request::Flip,
        "moves" => Request::Moves,
        "fen" => Request::Fen,
        "clock" | "time" => Request::Clock,
        "help" | "?" | "h" => Request::Help,
        "quit" | "exit" | "q" => Request::Quit,
        _ => Request::Move(position.parse_move(line)?),
    })
}

// The board as text: letters, or figures on coloured squares with the last move and a check, if the terminal can show
// them.

/// How the board is drawn.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Look {
    /// Whether Black is at the bottom.
    pub flipped: bool,
    /// Whether the terminal has colours.
    pub colour: bool,
    /// Whether the terminal has the figures of Unicode.
    pub figures: bool,
}

/// Backgrounds of a light and a dark square, in the palette of 256 colours.
const PLAIN: [u8; 2] = [180, 137];
/// Backgrounds of the last move's squares.
const LAST: [u8; 2] = [186, 143];
/// Background of a king in check.
const CHECK: u8 = 203;

/// Whether the environment says that text is in UTF-8.
pub(super) fn has_figures() -> bool {
    // CITE: POSIX: the first of these that is set and not empty counts.
    let set = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(std::env::var_os).find(|value| !value.is_empty());
    let name = set.unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    name.contains("utf-8") || name.contains("utf8")
}

/// The board with its coordinates.
pub(super) fn drawn(position: &Position, last: Option<Move>, look: Look) -> String {
    let mut text = String::from("\n");
    for rank in 0..8 {
        let rank = if look.flipped { rank } else { 7 - rank };
        text.push_str(&format!(" {}{}", rank + 1, if look.colour { " " } else { "" }));
        for file in 0..8 {
            let file = if look.flipped { 7 - file } else { file };
            let square = Square::new(8 * rank + file);
            if look.colour {
                text.push_str(&coloured(position, square, last, look.figures));
            } else {
                text.push(' ');
                text.push(position.piece_at(square).map_or('.', |piece| piece.char()));
            }
        }
        text.push_str(if look.colour { "\x1b[0m\n" } else { "\n" });
    }
    text.push_str(if look.flipped { "   h g f e d c b a\n\n" } else { "   a b c d e f g h\n\n" });
    text
}

/// A square with its background: two columns.
fn coloured(position: &Position, square: Square, last: Option<Move>, figures: bool) -> String {
    let shade = usize::from((u32::from(square.file()) + u32::from(square.rank())).is_multiple_of(2));
    let in_check = position.in_check() && square == position.king(position.turn());
    let moved = last.is_some_and(|m| square == m.from() || square == m.to());
    let background = match (in_check, moved) {
        (true, _) => CHECK,
        (false, true) => LAST[shade],
        (false, false) => PLAIN[shade],
    };
    let Some(piece) = position.piece_at(square) else {
        return format!("\x1b[48;5;{background}m  ");
    };
    let glyph = if figures { figure(piece.role) } else { piece.char() };
    let foreground = piece.color.fold_wb("1;38;5;231", "22;38;5;16");
    format!("\x1b[{foreground};48;5;{background}m{glyph} ")
}

/// The filled figure; the colour of the text distinguishes the sides.
fn figure(role: Role) -> char {
    match role {
        Role::Pawn => '♟',
        Role::Knight => '♞',
        Role::Bishop => '♝',
        Role::Rook => '♜',
        Role::Queen => '♛',
        Role::King => '♚',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_prompt_gives_lines_then_the_end() {
        let mut shown = Vec::new();
        let mut prompt = PlainPrompt::new("e4\n\nd4".as_bytes(), &mut shown);
        let mut ask = || prompt.ask("> ").expect("readable");
        let line = |text: &str| Typed::Line(text.to_owned());
        assert_eq!([ask(), ask(), ask(), ask()], [line("e4"), line(""), line("d4"), Typed::End]);
        assert_eq!(String::from_utf8_lossy(&shown), "> > > > \n");
    }
}

#[cfg(test)]
mod request_tests {
    use super::*;

    #[test]
    fn every_command_of_the_summary_is_accepted_and_explained() {
        let position = Position::startpos();
        let (_, names) = SUMMARY.split_once("or: ").expect("a list");
        for name in names.split(", ") {
            assert!(!matches!(parse(&position, name), Ok(Request::Move(_)) | Err(_)), "{name}");
            assert!(name == "help" || HELP.contains(&format!("\n  {name} ")), "{name}");
        }
    }
}

#[cfg(test)]
mod board_tests {
    use super::*;

    fn after(moves: &[&str]) -> (Position, Option<Move>) {
        let mut position = Position::startpos();
        let mut last = None;
        for san in moves {
            let m = position.parse_san(san).expect(san);
            position.do_move(m);
            last = Some(m);
        }
        (position, last)
    }

    #[test]
    fn plain_board_has_letters_only() {
        let (position, last) = after(&["e4"]);
        let text = drawn(&position, last, Look { flipped: true, ..Look::default() });
        assert!(text.starts_with("\n 1 R N B K Q B N R\n 2 P P P . P P P P\n"), "{text}");
        assert!(text.ends_with(" 8 r n b k q b n r\n   h g f e d c b a\n\n"), "{text}");
    }

    #[test]
    fn coloured_board_shows_last_move_and_check() {
        let (position, last) = after(&["f3", "e5", "g4", "Qh4#"]);
        let text = drawn(&position, last, Look { colour: true, figures: true, flipped: false });
        let lines: Vec<&str> = text.lines().collect();
        // The queen came from d8 to h4; the king on e1 is in check.
        assert!(lines[1].contains("\x1b[48;5;143m  "), "{text}");
        assert!(lines[5].contains("\x1b[22;38;5;16;48;5;143m♛ "), "{text}");
        assert!(lines[8].contains("\x1b[1;38;5;231;48;5;203m♚ "), "{text}");
        assert_eq!(text.matches(";203m").count(), 1);
        assert_eq!(text.matches(";143m").count() + text.matches(";186m").count(), 2);
        assert!(lines[1..9].iter().all(|line| line.ends_with("\x1b[0m")), "{text}");
    }
}
