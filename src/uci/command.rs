//! Parser of a line of text into a [`Command`], with the parameters of `go`.
//!
//! The protocol requires a tolerant parser: any white space, any letter case, and unknown words before a command are
//! skipped (`joho debug on` must work). Parsing has no side effects and never blocks, so the reader thread can do it.
//!
//! The parameters of `go` come in any order. Each malformed one is reported, and no mistake makes a search endless. A
//! typing error must not lose a game: if a limit was given but none is usable, the search gets [`FALLBACK_TIME`] and
//! returns a move.

use std::str::FromStr;
use std::time::Duration;

use super::options::{self, Action};
use crate::board::{Color, Move, Position};
use crate::search::{Limits, SideClock};
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

// The parameters of `go`.

/// Time of a search whose limits were all malformed.
pub const FALLBACK_TIME: Duration = Duration::from_millis(100);

/// Depth in plies of a search that would last until `stop` because of a mistake in the line.
const FALLBACK_DEPTH: i32 = 8;

/// Maximum time on a clock: about 31 years in milliseconds. It keeps the arithmetic of clocks far from overflow.
const MAX_CLOCK: i64 = 1_000_000_000_000;
/// Maximum value of `go depth`.
const MAX_DEPTH: i64 = 10_000;

/// A parsed `go` line. Moves are stored as text, because the parser has no position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GoCommand {
    /// Clocks in milliseconds, White's first, as given.
    pub time: [Option<i64>; 2],
    /// Increments in milliseconds, White's first.
    pub increment: [Option<i64>; 2],
    /// Moves to the next time control.
    pub moves_to_go: Option<i64>,
    /// Exact time in milliseconds.
    pub move_time: Option<i64>,
    /// Depth in plies.
    pub depth: Option<i64>,
    /// Number of nodes.
    pub nodes: Option<i64>,
    /// Moves to mate.
    pub mate: Option<i64>,
    /// Whether `infinite` was given.
    pub infinite: bool,
    /// Whether `ponder` was given.
    pub ponder: bool,
    /// Depth of `go perft`.
    pub perft: Option<i64>,
    /// Moves after `searchmoves`.
    pub search_moves: Option<Vec<String>>,
    /// Moves after `excludemoves`.
    pub exclude_moves: Vec<String>,
    /// Whether the line contains a limit, well formed or not.
    pub mentions_limit: bool,
    /// Error messages for the line.
    pub problems: Vec<String>,
}

/// A word of `go` that determines the meaning of the next words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keyword {
    SearchMoves,
    ExcludeMoves,
    Ponder,
    Infinite,
    /// A number follows.
    Number(Quantity),
}

/// Meaning of a number after a keyword of `go`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quantity {
    Time(usize),
    Increment(usize),
    MovesToGo,
    MoveTime,
    Depth,
    Nodes,
    Mate,
    Perft,
}

/// Every keyword of `go`, in the order of the help text.
const KEYWORDS: [(&str, Keyword); 14] = [
    ("wtime", Keyword::Number(Quantity::Time(0))),
    ("btime", Keyword::Number(Quantity::Time(1))),
    ("winc", Keyword::Number(Quantity::Increment(0))),
    ("binc", Keyword::Number(Quantity::Increment(1))),
    ("movestogo", Keyword::Number(Quantity::MovesToGo)),
    ("movetime", Keyword::Number(Quantity::MoveTime)),
    ("depth", Keyword::Number(Quantity::Depth)),
    ("nodes", Keyword::Number(Quantity::Nodes)),
    ("mate", Keyword::Number(Quantity::Mate)),
    ("perft", Keyword::Number(Quantity::Perft)),
    ("infinite", Keyword::Infinite),
    ("ponder", Keyword::Ponder),
    ("searchmoves", Keyword::SearchMoves),
    ("excludemoves", Keyword::ExcludeMoves),
];

/// The keywords of `go`.
pub fn keywords() -> impl Iterator<Item = &'static str> {
    KEYWORDS.iter().map(|&(name, _)| name)
}

fn keyword(word: &str) -> Option<Keyword> {
    KEYWORDS.iter().find(|(name, _)| word.eq_ignore_ascii_case(name)).map(|&(_, keyword)| keyword)
}

impl GoCommand {
    /// Reads the words after `go`.
    pub fn parse(words: &mut Words) -> Self {
        let mut go = Self::default();
        let mut unknown = Vec::new();
        while let Some(word) = words.next() {
            match keyword(word) {
                Some(Keyword::Infinite) => go.infinite = true,
                Some(Keyword::Ponder) => go.ponder = true,
                Some(Keyword::SearchMoves) => {
                    go.search_moves.get_or_insert_default().extend(moves(words));
                }
                Some(Keyword::ExcludeMoves) => go.exclude_moves.extend(moves(words)),
                Some(Keyword::Number(quantity)) => go.number(word, quantity, words),
                None => unknown.push(excerpt(word)),
            }
        }
        if !unknown.is_empty() {
            let problem = format!("go: ignored unknown words: {}", some_of(&unknown));
            go.problems.push(problem);
        }
        go
    }

    /// Reads the number after the word `name`.
    fn number(&mut self, name: &str, quantity: Quantity, words: &mut Words) {
        self.mentions_limit = true;
        let name = name.to_ascii_lowercase();
        let text = words.peek().filter(|word| keyword(word).is_none());
        let Some(text) = text else {
            self.problems.push(format!("go {name}: missing value"));
            return;
        };
        words.next();
        let Some(value) = integer(text) else {
            self.problems.push(format!("go {name}: expected an integer, found '{}'", excerpt(text)));
            return;
        };
        let place = match quantity {
            Quantity::Time(side) => &mut self.time[side],
            Quantity::Increment(side) => &mut self.increment[side],
            Quantity::MovesToGo => &mut self.moves_to_go,
            Quantity::MoveTime => &mut self.move_time,
            Quantity::Depth => &mut self.depth,
            Quantity::Nodes => &mut self.nodes,
            Quantity::Mate => &mut self.mate,
            Quantity::Perft => &mut self.perft,
        };
        *place = Some(value);
    }

    /// The limits for a search from `position`, and the error messages for the line.
    pub fn limits(&self, position: &Position) -> (Limits, Vec<String>) {
        let mut problems = self.problems.clone();
        let [white, black] = self.clocks(position.turn());
        let mut limits = Limits {
            white,
            black,
            moves_to_go: self.moves_to_go.filter(|&moves| moves > 0),
            move_time: self.move_time.map(milliseconds),
            depth: self.depth.map(|depth| depth.clamp(1, MAX_DEPTH) as i32),
            nodes: self.nodes.map(|nodes| nodes.max(1) as u64),
            mate: self.mate.filter(|&moves| moves > 0).map(|moves| moves.min(MAX_DEPTH) as i32),
            infinite: self.infinite,
            ponder: self.ponder,
            search_moves: self.chosen_moves(position, &mut problems),
            exclude_moves: resolve("excludemoves", &self.exclude_moves, position, &mut problems),
            ..Limits::default()
        };
        // A mate takes at least one move, so a search for a mate in 0 moves cannot succeed.
        if self.mate.is_some() && !self.infinite && !has_end(&limits) {
            limits.depth = Some(1);
        }
        // The mistake in the line may have been meant as a limit.
        if (self.mentions_limit || !problems.is_empty()) && !has_end(&limits) {
            if !self.infinite {
                limits.move_time = Some(FALLBACK_TIME);
            } else if self.search_moves.is_some() && limits.search_moves.is_none() {
                limits.depth = Some(FALLBACK_DEPTH);
            }
        }
        (limits, problems)
    }

    /// Messages about limits that no search can satisfy, with the values used instead.
    pub fn notes(&self) -> Vec<String> {
        let raised = |name: &str, value: Option<i64>, unit: &str| {
            let value = value.filter(|&value| value < 1)?;
            Some(format!("go {name} {value}: using {unit}"))
        };
        let notes = [
            raised("depth", self.depth, "1 ply"),
            raised("nodes", self.nodes, "1 node"),
            raised("movetime", self.move_time, "1 ms"),
            self.mate
                .filter(|&moves| moves < 1)
                .map(|moves| format!("go mate {moves}: ignored, a mate takes at least 1 move")),
        ];
        notes.into_iter().flatten().collect()
    }

    /// The legal moves of `searchmoves`. `None`, which means all moves, if the list contains no legal move: every
    /// search must return a move.
    fn chosen_moves(&self, position: &Position, problems: &mut Vec<String>) -> Option<Vec<Move>> {
        let list = self.search_moves.as_ref()?;
        let legal = resolve("searchmoves", list, position, problems);
        if legal.is_empty() {
            problems.push("go searchmoves: no legal move; searching all moves".to_owned());
            return None;
        }
        Some(legal)
    }

    /// Both clocks. The side to move has a usable clock if either side has one: a missing or malformed clock is
    /// replaced by the opponent's. An expired clock counts as one millisecond.
    fn clocks(&self, turn: Color) -> [SideClock; 2] {
        let (us, them) = if turn.is_white() { (0, 1) } else { (1, 0) };
        let mut time = self.time;
        time[us] = time[us].or(time[them]);
        // Without any clock but with an increment, the increment is the available time.
        let increment_alone = self.increment[us].or(self.increment[them]).filter(|&ms| ms > 0);
        time[us] = time[us].or(increment_alone);
        [0, 1].map(|side| SideClock {
            time: time[side].map(|ms| ms.clamp(1, MAX_CLOCK)),
            increment: self.increment[side].unwrap_or(0).clamp(0, MAX_CLOCK),
        })
    }
}

/// Whether a limit ends the search.
fn has_end(limits: &Limits) -> bool {
    limits.white.time.is_some()
        || limits.black.time.is_some()
        || limits.move_time.is_some()
        || limits.depth.is_some()
        || limits.nodes.is_some()
        || limits.mate.is_some()
}

/// Whether only `stop` ends the search, also after a `ponderhit`.
pub fn is_endless(limits: &Limits) -> bool {
    limits.infinite || !has_end(limits)
}

fn milliseconds(ms: i64) -> Duration {
    Duration::from_millis(ms.clamp(1, MAX_CLOCK) as u64)
}

/// A decimal integer, saturated at the limits of `i64`. A fraction is dropped: GUIs that compute clocks in floating
/// point send `60000.0`.
fn integer(text: &str) -> Option<i64> {
    use std::num::IntErrorKind::{NegOverflow, PosOverflow};
    let is_fraction = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    let whole = match text.split_once('.') {
        Some((whole, fraction)) if is_fraction(fraction) => whole,
        _ => text,
    };
    match whole.parse() {
        Ok(value) => Some(value),
        Err(error) => match error.kind() {
            PosOverflow => Some(i64::MAX),
            NegOverflow => Some(i64::MIN),
            _ => None,
        },
    }
}

/// The words up to the next keyword.
fn moves(words: &mut Words) -> Vec<String> {
    let mut list = Vec::new();
    while let Some(word) = words.peek().filter(|word| keyword(word).is_none()) {
        list.push(word.to_owned());
        words.next();
    }
    list
}

/// The legal moves of a list, without duplicates. Adds a message about the others to `problems`.
fn resolve(keyword: &str, list: &[String], position: &Position, problems: &mut Vec<String>) -> Vec<Move> {
    let mut legal = Vec::new();
    let mut illegal = Vec::new();
    for text in list {
        match position.parse_uci(&text.to_ascii_lowercase()) {
            Ok(m) if legal.contains(&m) => {}
            Ok(m) => legal.push(m),
            Err(_) => illegal.push(excerpt(text)),
        }
    }
    if !illegal.is_empty() {
        problems.push(format!("go {keyword}: ignored illegal moves: {}", some_of(&illegal)));
    }
    legal
}

/// The first four words of a list.
fn some_of(words: &[String]) -> String {
    const SHOWN: usize = 4;
    let more = if words.len() > SHOWN { " ..." } else { "" };
    format!("{}{more}", words[..words.len().min(SHOWN)].join(" "))
}

/// Description of the limits for the user.
pub fn describe(limits: &Limits) -> String {
    let mut parts = Vec::new();
    for (side, clock) in [("White", &limits.white), ("Black", &limits.black)] {
        if let Some(time) = clock.time {
            parts.push(format!("{side} has {time} ms and {} ms a move", clock.increment));
        }
    }
    let mut note = |text: Option<String>| parts.extend(text);
    note(limits.moves_to_go.map(|n| format!("{n} moves to the next control")));
    note(limits.move_time.map(|time| format!("{} ms", time.as_millis())));
    note(limits.depth.map(|depth| format!("depth {depth}")));
    note(limits.nodes.map(|nodes| format!("{nodes} nodes")));
    note(limits.mate.map(|moves| format!("mate in {moves}")));
    note(limits.search_moves.as_ref().map(|list| format!("only {} root moves", list.len())));
    let excluded = limits.exclude_moves.len();
    note((excluded > 0).then(|| format!("without {excluded} root moves")));
    note(limits.infinite.then(|| "until stop".to_owned()));
    note(limits.ponder.then(|| "from ponderhit on".to_owned()));
    if parts.is_empty() {
        parts.push("until stop".to_owned());
    }
    parts.join(", ")
}

// Splits a line into words.

/// Iterator over the words of a line.
#[derive(Clone)]
pub struct Words<'a> {
    rest: &'a str,
}

/// Whether `c` separates words: white space, a control character (such as NUL) or a byte order mark.
fn is_separator(c: char) -> bool {
    c.is_whitespace() || c.is_control() || c == '\u{feff}'
}

impl<'a> Words<'a> {
    /// The words of `line`.
    pub fn new(line: &'a str) -> Self {
        Self { rest: line.trim_matches(is_separator) }
    }

    /// The rest of the line, trimmed.
    pub fn rest(&self) -> &'a str {
        self.rest
    }

    /// The next word, without consuming it.
    pub fn peek(&self) -> Option<&'a str> {
        self.clone().next()
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        if self.rest.is_empty() {
            return None;
        }
        let end = self.rest.find(is_separator).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start_matches(is_separator);
        Some(word)
    }
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

#[cfg(test)]
mod go_tests {
    use super::*;

    fn go(text: &str) -> GoCommand {
        GoCommand::parse(&mut Words::new(text))
    }

    fn limits(text: &str) -> (Limits, usize) {
        let (limits, problems) = go(text).limits(&Position::startpos());
        (limits, problems.len())
    }

    #[test]
    fn parser_accepts_parameters_in_any_order() {
        let go = go("binc 4 depth 9 searchmoves e2e4 d2d4 WTIME 1 infinite btime 2 winc 3 movestogo 5 nodes 6 \
             mate 7 movetime 8 ponder excludemoves a2a3");
        assert_eq!(go.time, [Some(1), Some(2)]);
        assert_eq!(go.increment, [Some(3), Some(4)]);
        assert_eq!((go.moves_to_go, go.nodes, go.mate, go.move_time), (Some(5), Some(6), Some(7), Some(8)));
        assert!(go.infinite && go.ponder && go.problems.is_empty());
        assert_eq!(go.search_moves, Some(vec!["e2e4".into(), "d2d4".into()]));
        assert_eq!(go.exclude_moves, ["a2a3"]);
        assert_eq!(go.depth, Some(9));
    }

    #[test]
    fn missing_value_does_not_consume_the_next_keyword() {
        let go = go("wtime btime 1000 movetime");
        assert_eq!(go.time, [None, Some(1000)]);
        assert_eq!(go.problems.len(), 2);
    }

    #[test]
    fn integers_saturate_at_64_bits() {
        assert_eq!(integer("99999999999999999999999"), Some(i64::MAX));
        assert_eq!(integer("-99999999999999999999999"), Some(i64::MIN));
        assert_eq!(integer("-50"), Some(-50));
        assert_eq!(integer("12abc"), None);
        assert_eq!(integer("1.5.2"), None);
        assert_eq!(integer("1.5e3"), None);
        assert_eq!(integer("."), None);
    }

    #[test]
    fn fractions_of_numbers_are_dropped() {
        assert_eq!(integer("60000.0"), Some(60_000));
        assert_eq!(integer("-12.75"), Some(-12));
        assert_eq!(integer("7."), Some(7));
        let (limits, problems) = limits("wtime 60000.0 btime 59999.9 winc 1000.5");
        assert_eq!((limits.white.time, limits.white.increment, problems), (Some(60_000), 1000, 0));
    }

    #[test]
    fn search_with_malformed_limits_has_an_end() {
        for text in [
            "depth abc",
            "movetime",
            "wtime btime",
            "nodes x",
            "mate",
            "movestogo 5",
            "winc 0",
            "wtime abc",
            "dept 5",
            "searchmoves 0000",
            "joho",
        ] {
            assert_eq!(limits(text).0.move_time, Some(FALLBACK_TIME), "{text}");
        }
        assert_eq!(limits("infinite depth abc").0.move_time, None);
        assert_eq!(limits(""), (Limits::default(), 0));
    }

    #[test]
    fn limits_below_one_are_raised_to_one() {
        assert_eq!(limits("depth 0").0.depth, Some(1));
        assert_eq!(limits("nodes 0").0.nodes, Some(1));
        for mate in ["mate 0", "mate -5", "mate 0 ponder"] {
            let (limits, problems) = limits(mate);
            assert_eq!((limits.mate, limits.depth), (None, Some(1)), "{mate}");
            assert_eq!((problems, go(mate).notes().len()), (0, 1), "{mate}");
        }
        assert_eq!(limits("mate 0 nodes 7").0.depth, None);
        assert_eq!(limits("mate 0 infinite").0.depth, None);
        let notes = go("depth 0 nodes -3 movetime 0 mate 2").notes();
        assert_eq!(notes.len(), 3);
        assert_eq!(notes[1], "go nodes -3: using 1 node");
        assert!(go("depth 1 nodes 1 movetime 1 mate 1").notes().is_empty());
        assert_eq!(limits("movetime -5").0.move_time, Some(Duration::from_millis(1)));
        assert_eq!(limits("wtime -50 btime 1000").0.white.time, Some(1));
        assert_eq!(limits("wtime abc btime 1000").0.white.time, Some(1000));
        assert_eq!(limits("wtime abc btime 1000").1, 1);
        assert_eq!(limits("btime 70").0.white.time, Some(70));
        assert_eq!(limits("winc 70").0.white.time, Some(70));
        assert_eq!(limits("wtime 100 movestogo 0").0.moves_to_go, None);
    }

    #[test]
    fn searchmoves_ends_at_the_next_keyword_and_drops_illegal_moves() {
        let (limits, problems) = limits("searchmoves a2a3 E2E4 a2a3 depth 5");
        assert_eq!(limits.search_moves.map(|list| list.len()), Some(2));
        assert_eq!((limits.depth, problems), (Some(5), 0));
    }

    #[test]
    fn searchmoves_without_legal_move_searches_all() {
        let (limits, problems) = self::limits("depth 3 searchmoves 0000");
        assert_eq!((limits.search_moves, limits.depth), (None, Some(3)));
        assert_eq!(problems, 2);
        let (limits, _) = self::limits("infinite searchmoves e2e5");
        assert!(limits.infinite && limits.depth == Some(FALLBACK_DEPTH));
    }

    #[test]
    fn describe_lists_every_limit() {
        let text_of = |text: &str| describe(&limits(text).0);
        assert_eq!(text_of(""), "until stop");
        assert_eq!(text_of("depth 5 nodes 100 searchmoves e2e4"), "depth 5, 100 nodes, only 1 root moves");
        assert_eq!(
            text_of("wtime 1000 winc 10 btime 900 ponder"),
            "White has 1000 ms and 10 ms a move, Black has 900 ms and 0 ms a move, from ponderhit on"
        );
        assert!(!text_of("movetime 5 mate 3 infinite").contains(['{', '(']));
    }
}
