//! Parser of a line of text into a [`Command`].
//!
//! The protocol requires a tolerant parser: any white space, any letter case, and unknown words before a command are
//! skipped (`joho debug on` must work). Parsing has no side effects and never blocks, so the reader thread can do it.

use std::str::FromStr;

use super::go::{GoCommand, Words};
use super::options::{self, Action};
use crate::util::text::excerpt;

/// A parsed line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// `uci`
    Uci,
    /// `debug on` or `debug off`
    Debug(bool),
    /// `isready`
    IsReady,
    /// `setoption name NAME [value VALUE]`
    SetOption {
        /// The words between `name` and `value`, joined by one space.
        name: String,
        /// Everything after `value`, trimmed; `None` without the word `value`.
        value: Option<String>,
    },
    /// `register ...`, which needs no reply.
    Register,
    /// `ucinewgame`
    UciNewGame,
    /// `position ...`
    Position(PositionCommand),
    /// `go ...`
    Go(GoCommand),
    /// `stop`
    Stop,
    /// `ponderhit`
    PonderHit,
    /// `quit`
    Quit,
    /// A command beyond UCI, with its arguments.
    NonUci(NonUciCommand, Vec<String>),
}

impl Command {
    /// Whether the command writes a file. The process must not exit before the file is complete.
    pub fn writes_file(&self) -> bool {
        match self {
            Self::SetOption { name, .. } => {
                options::find(name).is_some_and(|option| option.action == Some(Action::SaveHash))
            }
            Self::NonUci(command, _) => *command == NonUciCommand::ExportNet,
            _ => false,
        }
    }

    /// Whether the command ends a running search.
    pub fn ends_search(&self) -> bool {
        matches!(self, Self::Go(_) | Self::NonUci(NonUciCommand::Bench | NonUciCommand::GenFens, _))
    }
}

/// The commands beyond UCI. They are recognised only as the first word of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NonUciCommand {
    /// Shows the board.
    Display,
    /// Explains the static evaluation.
    Eval,
    /// Runs the bench positions.
    Bench,
    /// Counts move paths.
    Perft,
    /// Swaps the colours of the position.
    Flip,
    /// Lists the commands.
    Help,
    /// Shows the processor's features and the kernel in use.
    Cpu,
    /// Writes the network in use to a file.
    ExportNet,
    /// Generates opening positions for OpenBench.
    GenFens,
}

/// The names of [`NonUciCommand`], and their one-line help.
pub const NON_UCI_COMMANDS: [(&str, NonUciCommand, &str); 9] = [
    ("d", NonUciCommand::Display, "show the board, its FEN and its key"),
    ("eval", NonUciCommand::Eval, "explain the static evaluation"),
    ("bench", NonUciCommand::Bench, "[depth] [threads] [hash]: search the bench positions"),
    ("perft", NonUciCommand::Perft, "DEPTH: count the move paths of that depth"),
    ("flip", NonUciCommand::Flip, "swap the colours of the position"),
    ("cpu", NonUciCommand::Cpu, "show the processor's features and the kernel in use"),
    ("genfens", NonUciCommand::GenFens, "N seed S book FILE|None: generate opening positions for OpenBench"),
    ("export_net", NonUciCommand::ExportNet, "[FILE]: write the network in use, unchanged, to a file"),
    ("help", NonUciCommand::Help, "show this list"),
];

/// A `position` line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PositionCommand {
    /// The FEN; `None` means `startpos`.
    pub fen: Option<String>,
    /// The moves as given.
    pub moves: Vec<String>,
}

/// Reason why a line is not a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandError {
    /// Only white space.
    Empty,
    /// No word of the line is a command.
    Unknown(String),
    /// An incomplete or invalid command, with a description of the fault.
    Malformed(String),
}

impl FromStr for Command {
    type Err = CommandError;

    fn from_str(line: &str) -> Result<Self, CommandError> {
        let mut words = Words::new(line);
        let first = words.peek().ok_or(CommandError::Empty)?;
        if let Some((_, command, _)) = NON_UCI_COMMANDS.iter().find(|(name, ..)| first.eq_ignore_ascii_case(name)) {
            return Ok(Self::NonUci(*command, words.skip(1).map(String::from).collect()));
        }
        while let Some(word) = words.next() {
            if let Some(command) = parse_protocol(word, &mut words) {
                return command;
            }
        }
        Err(CommandError::Unknown(excerpt(line)))
    }
}

/// Reads the words after a keyword.
type Parser = fn(&mut Words) -> Result<Command, CommandError>;

/// The keywords of the protocol, and the parser of the words after each.
const PROTOCOL: [(&str, Parser); 11] = [
    ("uci", |_| Ok(Command::Uci)),
    ("debug", parse_debug),
    ("isready", |_| Ok(Command::IsReady)),
    ("setoption", parse_set_option),
    ("register", |_| Ok(Command::Register)),
    ("ucinewgame", |_| Ok(Command::UciNewGame)),
    ("position", parse_position),
    ("go", |words| Ok(Command::Go(GoCommand::parse(words)))),
    ("stop", |_| Ok(Command::Stop)),
    ("ponderhit", |_| Ok(Command::PonderHit)),
    ("quit", |_| Ok(Command::Quit)),
];

/// The keywords of the protocol.
pub fn protocol_words() -> impl Iterator<Item = &'static str> {
    PROTOCOL.iter().map(|&(name, _)| name)
}

/// All keywords that begin a command, in UCI and beyond it.
pub fn words() -> impl Iterator<Item = &'static str> {
    protocol_words().chain(NON_UCI_COMMANDS.iter().map(|&(name, ..)| name))
}

/// The command that starts with `keyword`, or `None` if that is not a keyword of the protocol.
fn parse_protocol(keyword: &str, words: &mut Words) -> Option<Result<Command, CommandError>> {
    let (_, parse) = PROTOCOL.iter().find(|(name, _)| keyword.eq_ignore_ascii_case(name))?;
    Some(parse(words))
}

fn parse_debug(words: &mut Words) -> Result<Command, CommandError> {
    for word in words {
        if word.eq_ignore_ascii_case("on") {
            return Ok(Command::Debug(true));
        } else if word.eq_ignore_ascii_case("off") {
            return Ok(Command::Debug(false));
        }
    }
    Err(malformed("debug: expected 'on' or 'off'"))
}

fn parse_set_option(words: &mut Words) -> Result<Command, CommandError> {
    if !words.any(|word| word.eq_ignore_ascii_case("name")) {
        return Err(malformed("setoption: missing word 'name'"));
    }
    let mut name = Vec::new();
    let mut value = None;
    while let Some(word) = words.next() {
        if word.eq_ignore_ascii_case("value") {
            value = Some(words.rest().to_owned());
            break;
        }
        name.push(word);
    }
    if name.is_empty() {
        return Err(malformed("setoption: missing option name"));
    }
    Ok(Command::SetOption { name: name.join(" "), value })
}

fn parse_position(words: &mut Words) -> Result<Command, CommandError> {
    let is_start = |word: &str| word.eq_ignore_ascii_case("startpos") || word.eq_ignore_ascii_case("fen");
    let start = words.find(|word| is_start(word));
    let start = start.ok_or_else(|| malformed("position: expected 'startpos' or 'fen'"))?;
    let before_moves: Vec<&str> = words.take_while(|word| !word.eq_ignore_ascii_case("moves")).collect();
    let moves = words.map(String::from).collect();
    if start.eq_ignore_ascii_case("fen") {
        if before_moves.is_empty() {
            return Err(malformed("position: missing FEN after 'fen'"));
        }
        return Ok(Command::Position(PositionCommand { fen: Some(before_moves.join(" ")), moves }));
    }
    match before_moves.first() {
        // If this word were ignored, GUI and engine would have different positions.
        Some(word) => Err(malformed(&format!("position: unexpected '{}'; expected the word 'moves'", excerpt(word)))),
        None => Ok(Command::Position(PositionCommand { fen: None, moves })),
    }
}

fn malformed(reason: &str) -> CommandError {
    CommandError::Malformed(reason.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Command, CommandError> {
        line.parse()
    }

    fn set(name: &str, value: Option<&str>) -> Result<Command, CommandError> {
        Ok(Command::SetOption { name: name.into(), value: value.map(Into::into) })
    }

    #[test]
    fn parser_accepts_any_case_and_spacing() {
        assert_eq!(parse("uci"), Ok(Command::Uci));
        assert_eq!(parse("  \tIsReady \r"), Ok(Command::IsReady));
        assert_eq!(parse("\u{feff}UCI"), Ok(Command::Uci));
        assert_eq!(parse("\0stop\0"), Ok(Command::Stop));
        assert_eq!(parse("ponderhit now"), Ok(Command::PonderHit));
        assert_eq!(parse("QUIT"), Ok(Command::Quit));
        assert_eq!(parse("register later"), Ok(Command::Register));
    }

    #[test]
    fn parser_skips_unknown_words_before_a_command() {
        assert_eq!(parse("joho debug on"), Ok(Command::Debug(true)));
        assert_eq!(parse("joho debug joho OFF"), Ok(Command::Debug(false)));
        assert!(matches!(parse("joho go depth 2"), Ok(Command::Go(_))));
        assert_eq!(parse("joho"), Err(CommandError::Unknown("joho".into())));
        assert_eq!(parse(" \r\t "), Err(CommandError::Empty));
        // Commands beyond UCI are too short to be recognised in the middle of a line.
        assert_eq!(parse("joho d"), Err(CommandError::Unknown("joho d".into())));
    }

    #[test]
    fn setoption_keeps_spaces_and_case_of_the_value() {
        assert_eq!(parse("setoption name Clear Hash"), set("Clear Hash", None));
        assert_eq!(parse("setoption NAME hash VALUE 32"), set("hash", Some("32")));
        assert_eq!(
            parse("setoption name Debug  Log File value  My  Log.txt "),
            set("Debug Log File", Some("My  Log.txt"))
        );
        assert_eq!(parse("setoption name EvalFile value"), set("EvalFile", Some("")));
    }

    #[test]
    fn parser_reads_position_commands() {
        let position = |fen: Option<&str>, moves: &[&str]| {
            let moves = moves.iter().map(|&m| m.into()).collect();
            Ok(Command::Position(PositionCommand { fen: fen.map(Into::into), moves }))
        };
        assert_eq!(parse("position startpos"), position(None, &[]));
        assert_eq!(parse("position startpos moves"), position(None, &[]));
        assert_eq!(parse("position startpos moves e2e4 e7e5"), position(None, &["e2e4", "e7e5"]));
        assert_eq!(parse("position fen 8/8/8 w - - moves a1a2"), position(Some("8/8/8 w - -"), &["a1a2"]));
    }

    #[test]
    fn malformed_lines_are_reported_as_such() {
        let lines = ["position", "position fen", "position fen moves e2e4", "position startpos e2e4", "setoption"];
        let more = ["setoption name", "setoption value 3", "setoption name value 3", "debug maybe", "debug"];
        for line in lines.into_iter().chain(more) {
            assert!(matches!(parse(line), Err(CommandError::Malformed(_))), "{line}");
        }
    }

    #[test]
    fn parser_reads_commands_beyond_uci() {
        assert_eq!(parse("d"), Ok(Command::NonUci(NonUciCommand::Display, vec![])));
        assert_eq!(
            parse("bench 5 1 16"),
            Ok(Command::NonUci(NonUciCommand::Bench, vec!["5".into(), "1".into(), "16".into()]))
        );
    }
}
