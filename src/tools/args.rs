//! Arguments that several commands share: limits of a search, resources of the engine, and positions, from the command
//! line, from files of positions and games, and from standard input.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::load_network;
use crate::board::{Move, Position};
use crate::notation::pgn::tags::begins_tag;
use crate::notation::pgn::{Game, Games, Place};
use crate::notation::position_from_fen;
use crate::notation::positions::{EpdRecord, begins_position, is_blank, position_with_moves};
use crate::search::{Limits, ThreadPool};
use crate::util::quantity::{counted, parse_count, parse_time};
use crate::util::text::{Lines, printable, read_text_from};

/// Limits of a search.
#[derive(clap::Args, Debug, Default)]
pub struct LimitArgs {
    /// Search to this depth in plies
    #[arg(long, value_name = "PLIES", value_parser = clap::value_parser!(i32).range(1..=245))]
    pub depth: Option<i32>,
    /// Search this many nodes: digits, or a number with k, M or G
    #[arg(long, value_name = "N", value_parser = parse_count)]
    pub nodes: Option<u64>,
    /// Search for this time: milliseconds, or a number with a unit (30s, 10m, 1h30m)
    #[arg(long, visible_alias = "time", value_name = "TIME", value_parser = parse_time)]
    pub movetime: Option<Duration>,
}

impl LimitArgs {
    /// Returns the limits, or a search time of `default` if no limit is given.
    pub fn limits(&self, default: Duration) -> Limits {
        let unlimited = self.depth.is_none() && self.nodes.is_none() && self.movetime.is_none();
        Limits {
            depth: self.depth,
            nodes: self.nodes,
            move_time: self.movetime.or(unlimited.then_some(default)),
            ..Limits::default()
        }
    }
}

/// Help on the positions of the command line.
macro_rules! positions_help {
    () => {
        "A POSITION is a FEN with or without quotation marks, `startpos`, either of them followed by \
         `moves e2e4 e5 ...`, or the moves of a game (`1. e4 e5 2. Nf3`). A FILE is a PGN, or a list of FEN or EPD \
         lines; - is standard input."
    };
}
pub(crate) use positions_help;

/// The position of a game in a PGN file.
#[derive(clap::Args, Clone, Copy, Debug, Default)]
pub struct SelectionArgs {
    /// In PGN files, use this game only, counted from 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub game: Option<u32>,
    /// In PGN files, use the position before this move: 15 or 15w for White's, 15b for Black's; the final position if
    /// absent
    #[arg(long, value_name = "MOVE")]
    pub at: Option<Place>,
}

/// Resources of the engine.
#[derive(clap::Args, Clone, Debug)]
pub struct EngineArgs {
    /// Search threads
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: u16,
    /// Size of the transposition table in MiB
    #[arg(long, value_name = "MIB", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=1 << 25))]
    pub hash: u32,
    /// Directories of Syzygy tablebases, separated like the directories in PATH
    #[arg(long, value_name = "DIRECTORIES")]
    pub syzygy: Option<String>,
    /// Network to use instead of the embedded one
    #[arg(long, value_name = "FILE")]
    pub net: Option<PathBuf>,
}

impl EngineArgs {
    /// Returns search threads with the network and the tablebases. Reports problems with single directories on `err`.
    ///
    /// # Errors
    /// Fails if the network cannot be loaded, no directory contains tablebases, or `err` fails.
    pub fn pool(&self, err: &mut dyn Write) -> Result<ThreadPool> {
        let network = load_network(self.net.as_deref())?;
        let mut pool = ThreadPool::new(network, self.threads.into(), self.hash as usize);
        if let Some(path) = &self.syzygy {
            for problem in pool.set_syzygy_path(path).context("--syzygy")?.problems {
                writeln!(err, "--syzygy: {problem}")?;
            }
        }
        Ok(pool)
    }
}

// The positions for a command: from the command line, from files of positions and games, and from standard input.

/// The name of standard input.
const STANDARD_INPUT: &str = "-";

/// A position and its title.
pub struct Subject {
    /// Empty if the argument was a position.
    pub title: String,
    /// The position, with the preceding moves of its game if they are known.
    pub position: Position,
    /// The move that was played in the position, if it comes from a game and is not its last position.
    pub played: Option<Move>,
}

impl Subject {
    fn new(title: String, position: Position) -> Self {
        Self { title, position, played: None }
    }

    /// The selected position of a game.
    fn of_game(game: &Game, selection: SelectionArgs) -> Result<Self> {
        let (position, played) = match selection.at {
            Some(place) => game.at(place)?,
            None => (game.end(), None),
        };
        Ok(Self { title: game.title(), position, played })
    }
}

/// Reads the positions that the arguments name. An argument is a FEN with or without quotation marks, `startpos`,
/// either of them followed by `moves` and moves, the moves of a game (`1. e4 e5`), a file, or `-` for standard input.
/// A PGN file gives the selected position of each selected game, another file each of its positions. Without
/// arguments, the result is the initial position. Errors in a file are added to `problems`, and the rest of the file
/// is used.
///
/// # Errors
/// Fails if an argument is neither a position nor a file, a position or move is invalid, no position was read, or a
/// selection is made without a PGN file.
pub fn read(arguments: &[String], selection: SelectionArgs, problems: &mut Vec<String>) -> Result<Vec<Subject>> {
    let mut reader = SubjectReader { selection, games: false, problems, subjects: Vec::new() };
    let mut open: Vec<&str> = Vec::new();
    for argument in arguments {
        let argument = argument.trim();
        let is_file = is_file(argument, open.is_empty());
        if is_file || begins_position(argument) {
            reader.add_position(&mut open)?;
        } else if open.is_empty() {
            bail!("'{argument}' is neither a position nor a file");
        }
        if is_file {
            reader.add_file(argument)?;
        } else {
            open.push(argument);
        }
    }
    reader.add_position(&mut open)?;
    if arguments.iter().all(|argument| argument.trim().is_empty()) {
        reader.subjects.push(Subject::new(String::new(), Position::startpos()));
    }
    reader.finish()
}

/// As [`read`], for a command that needs exactly one position.
///
/// # Errors
/// As for [`read`], and if there is more than one position or a file has errors.
pub fn read_one(arguments: &[String], selection: SelectionArgs) -> Result<Subject> {
    let mut problems = Vec::new();
    let mut subjects = read(arguments, selection, &mut problems)?;
    if let Some(problem) = problems.first() {
        bail!("{problem}");
    }
    if subjects.len() > 1 {
        bail!("there are {} positions, but only one can be used; --game N selects a game", subjects.len());
    }
    Ok(subjects.remove(0))
}

/// Prints the problems found in files of positions and games.
///
/// # Errors
/// Fails if a write fails.
pub fn report(problems: &[String], err: &mut dyn Write) -> Result<()> {
    for problem in problems {
        writeln!(err, "skipped: {problem}")?;
    }
    Ok(())
}

/// Fails if anything was skipped.
///
/// # Errors
/// Names the number of problems.
pub fn fail_with(problems: &[String]) -> Result<()> {
    if !problems.is_empty() {
        let count = counted(problems.len(), "game or position was", "games or positions were");
        bail!("{count} skipped or cut");
    }
    Ok(())
}

/// Whether a word names a file. Inside a position only the extension counts, because a file may be called `w` or `b`.
fn is_file(word: &str, first: bool) -> bool {
    let path = Path::new(word);
    let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
    let known = ["pgn", "epd", "fen", "txt"].iter().any(|name| extension == *name);
    !word.is_empty() && (known || (first && (word == STANDARD_INPUT || path.exists())))
}

/// The positions that were read so far.
struct SubjectReader<'a> {
    selection: SelectionArgs,
    /// Whether a PGN file was among the arguments.
    games: bool,
    problems: &'a mut Vec<String>,
    subjects: Vec<Subject>,
}

impl SubjectReader<'_> {
    /// Adds the position made of the collected words, if there are any.
    fn add_position(&mut self, words: &mut Vec<&str>) -> Result<()> {
        if !words.is_empty() {
            let position = position_with_moves(&std::mem::take(words).join(" "))?;
            self.subjects.push(Subject::new(String::new(), position));
        }
        Ok(())
    }

    /// Adds the positions of a file, which is a PGN or a list of positions.
    fn add_file(&mut self, name: &str) -> Result<()> {
        let unreadable = || format!("cannot read {}", title_of(name));
        let source = Source::open(name).with_context(unreadable)?;
        let before = (self.subjects.len(), self.problems.len());
        if source.is_pgn().with_context(unreadable)? {
            self.add_games(&source).with_context(unreadable)?;
        } else {
            let text = read_text_from(source.reader().with_context(unreadable)?).with_context(unreadable)?;
            self.add_lines(&source.title, &text);
        }
        if before == (self.subjects.len(), self.problems.len()) {
            self.problems.push(format!("{} is empty", source.title));
        }
        Ok(())
    }

    fn add_games(&mut self, source: &Source) -> io::Result<()> {
        self.games = true;
        let name = &source.title;
        let mut games = Games::new(source.reader()?);
        let mut last = 0;
        while let Some(game) = games.next_game()? {
            last += 1;
            if self.selection.game.is_some_and(|number| number != last) {
                continue;
            }
            match game {
                Ok(game) => {
                    self.problems.extend(game.cut.iter().map(|cut| format!("{name}: {cut}")));
                    match Subject::of_game(&game, self.selection) {
                        Ok(subject) => self.subjects.push(subject),
                        Err(error) => self.problems.push(format!("{name}: {error:#}")),
                    }
                }
                Err(broken) => self.problems.push(format!("{name}: {broken}")),
            }
        }
        if let Some(number) = self.selection.game.filter(|&number| number > last) {
            self.problems.push(format!("{name} has no game {number}; its last game is {last}"));
        }
        Ok(())
    }

    fn add_lines(&mut self, name: &str, text: &str) {
        for (i, line) in text.lines().enumerate().filter(|(_, line)| !is_blank(line)) {
            let place = format!("{name}:{}", i + 1);
            match position_of_line(line, &place) {
                Ok(subject) => self.subjects.push(subject),
                Err(error) => self.problems.push(format!("{place}: {error:#}")),
            }
        }
    }

    fn finish(self) -> Result<Vec<Subject>> {
        if !self.games && (self.selection.game.is_some() || self.selection.at.is_some()) {
            bail!("--game and --at select a position of a game; give a PGN file");
        }
        if self.subjects.is_empty() {
            bail!("no position: {}", self.problems.join("; "));
        }
        Ok(self.subjects)
    }
}

/// The position of a line: FEN, EPD, or `startpos` with moves.
fn position_of_line(line: &str, place: &str) -> Result<Subject> {
    let first = line.split_whitespace().next().unwrap_or_default();
    if first.eq_ignore_ascii_case("startpos") {
        return Ok(Subject::new(place.to_owned(), position_with_moves(line)?));
    }
    let record = EpdRecord::parse(line)?;
    let title = printable(record.text("id").unwrap_or(place)).into_owned();
    Ok(Subject::new(title, position_from_fen(&record.fen)?))
}

fn title_of(name: &str) -> &str {
    if name == STANDARD_INPUT { "standard input" } else { name }
}

/// A file, or standard input, which is kept in memory because it can be read only once.
struct Source {
    name: String,
    title: String,
    standard_input: Option<Vec<u8>>,
}

impl Source {
    fn open(name: &str) -> io::Result<Self> {
        let mut standard_input = None;
        if name == STANDARD_INPUT {
            io::stdin().read_to_end(standard_input.insert(Vec::new()))?;
        }
        Ok(Self { name: name.to_owned(), title: title_of(name).to_owned(), standard_input })
    }

    /// The content, from its start.
    fn reader(&self) -> io::Result<Box<dyn Read + '_>> {
        Ok(match &self.standard_input {
            Some(bytes) => Box::new(&bytes[..]),
            None => Box::new(File::open(&self.name)?),
        })
    }

    /// Whether this is a PGN: by its extension, or because its first line is a tag or begins with the first move.
    fn is_pgn(&self) -> io::Result<bool> {
        if Path::new(&self.name).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("pgn")) {
            return Ok(true);
        }
        let mut lines = Lines::new(self.reader()?);
        while let Some(line) = lines.next_line()? {
            if !line.trim().is_empty() {
                return Ok(begins_tag(&line) || line.trim_start().starts_with("1."));
            }
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_time_applies_only_without_limits() {
        let second = Duration::from_secs(1);
        let none = LimitArgs { depth: None, nodes: None, movetime: None };
        assert_eq!(none.limits(second).move_time, Some(second));
        let depth = LimitArgs { depth: Some(5), ..none };
        assert_eq!(depth.limits(second).move_time, None);
    }
}

#[cfg(test)]
mod subjects_tests {
    use super::*;

    const BARE: &str = "8/8/4k3/8/8/8/8/4K3 w - - 0 1";

    fn fens(arguments: &[&str]) -> Result<Vec<String>> {
        let arguments: Vec<String> = arguments.iter().map(|&text| text.into()).collect();
        let subjects = read(&arguments, SelectionArgs::default(), &mut Vec::new())?;
        Ok(subjects.iter().map(|s| s.position.fen()).collect())
    }

    #[test]
    fn positions_parse_with_and_without_quotation_marks() {
        let start = Position::startpos().fen();
        assert_eq!(fens(&[]).ok(), Some(vec![start.clone()]));
        let words: Vec<&str> = BARE.split(' ').collect();
        assert_eq!(fens(&words).ok(), Some(vec![BARE.to_owned()]));
        let both = [BARE, "startpos"];
        assert_eq!(fens(&both).ok(), Some(vec![BARE.to_owned(), start]));
        let twice = [&words[..], &words[..]].concat();
        assert_eq!(fens(&twice).map(|list| list.len()).ok(), Some(2));
    }

    #[test]
    fn moves_parse_in_coordinates_and_san() {
        let after = |text: &[&str]| fens(text).map(|list| list[0].clone()).unwrap_or_default();
        let expected = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2";
        assert_eq!(after(&["startpos", "moves", "e2e4", "e7e5"]), expected);
        assert_eq!(after(&["startpos moves e4 e5"]), expected);
        assert_eq!(after(&["1. e4 e5"]), expected);
        assert_eq!(after(&["1.", "e4", "e5"]), expected);
        assert_eq!(after(&[BARE, "moves", "Kd2"]), "8/8/4k3/8/8/8/3K4/8 b - - 1 1");
    }

    #[test]
    fn error_names_the_wrong_argument() {
        let error = |text: &[&str]| fens(text).err().map(|e| format!("{e:#}")).unwrap_or_default();
        assert!(error(&["1.", "e4", "e5", "2.", "Ke3"]).contains("'Ke3' is not a legal move"));
        assert!(error(&["startpos", "e2e4"]).contains("expected the word 'moves'"));
        assert!(error(&["startpos", "moves", "e2e5"]).contains("e2e5"));
        assert!(error(&["rubbish"]).contains("'rubbish' is neither a position nor a file"));
        assert!(error(&["no-such.pgn"]).contains("no-such.pgn"));
        assert!(error(&["8/8/8/8 w"]).contains("bad FEN"));
    }

    #[test]
    fn selection_picks_game_and_move() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("two.pgn");
        std::fs::write(&path, "1. e4 e5 2. Nf3 *\n\n1. d4 d5 *\n").expect("written");
        let name = [path.to_str().expect("a name").to_owned()];
        let select = |game, at: Option<&str>| {
            let mut problems = Vec::new();
            let at = at.map(|text| text.parse().expect(text));
            let subjects = read(&name, SelectionArgs { game, at }, &mut problems);
            let moves = subjects.map(|list| {
                list.iter().map(|s| s.played.map(|m| s.position.san(m)).unwrap_or_default()).collect::<Vec<_>>()
            });
            (moves.map_err(|error| format!("{error:#}")), problems)
        };
        let played = |moves: &[&str]| Ok(moves.iter().map(|&san| san.to_owned()).collect::<Vec<_>>());
        assert_eq!(select(None, Some("1b")).0, played(&["e5", "d5"]));
        assert_eq!(select(Some(2), Some("1")).0, played(&["d4"]));
        assert_eq!(select(Some(1), None).0, played(&[""]));
        let (found, problems) = select(None, Some("2b"));
        assert_eq!(found, played(&[""]));
        assert!(problems[0].ends_with("game 2 does not reach move 2b; its last position is that of move 2w"));
        assert!(select(Some(3), None).0.is_err_and(|error| error.contains("has no game 3; its last game is 2")));
        let at = SelectionArgs { at: "3b".parse().ok(), game: None };
        let error = read(&["startpos".to_owned()], at, &mut Vec::new()).err().map(|error| error.to_string());
        assert_eq!(error.as_deref(), Some("--game and --at select a position of a game; give a PGN file"));
    }
}
