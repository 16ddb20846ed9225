//! The options, declared once in a table. The table is used for the handshake, the checks of values, and the handlers.

use std::fmt::Write as _;

use crate::level::strength::{ELO_MAX, ELO_MIN, SKILL_MAX};
use crate::util::text::excerpt;

/// Identifier of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // The table below documents each of them.
pub enum Id {
    Hash,
    Threads,
    MultiPv,
    Ponder,
    MoveOverhead,
    EvalFile,
    ClearHash,
    HashFile,
    SaveHash,
    LoadHash,
    OwnBook,
    BookFile,
    BookDepth,
    BookSeed,
    Chess960,
    ShowWdl,
    AnalyseMode,
    LimitStrength,
    Elo,
    SkillLevel,
    LevelSeed,
    SyzygyPath,
    SyzygyProbeDepth,
    SyzygyProbeLimit,
    Syzygy50MoveRule,
    NodesTime,
    DebugLogFile,
    EngineAbout,
}

/// The type of an option with its default and range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionKind {
    /// An integer: default, minimum, maximum. All fit 32 bits, because test programs parse them as such.
    Spin(i64, i64, i64),
    /// True or false.
    Check(bool),
    /// An action.
    Button,
    /// Text; the empty string is printed as `<empty>`.
    Text(&'static str),
}

/// One option.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// Identifier for the handler.
    pub id: Id,
    /// The name. GUIs match it exactly; the engine ignores letter case.
    pub name: &'static str,
    /// Type, default, range.
    pub kind: OptionKind,
    /// Description for `help` and the manual.
    pub doc: &'static str,
}

/// A checked value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionValue {
    /// For [`OptionKind::Spin`].
    Int(i64),
    /// For [`OptionKind::Check`].
    Flag(bool),
    /// For [`OptionKind::Button`].
    Press,
    /// For [`OptionKind::Text`]; `<empty>` is stored as the empty string.
    Text(String),
}

impl OptionValue {
    /// The integer, or 0 for another type.
    pub fn int(&self) -> i64 {
        if let Self::Int(value) = self { *value } else { 0 }
    }
    /// The flag, or false for another type.
    pub fn flag(&self) -> bool {
        matches!(self, Self::Flag(true))
    }
    /// The text, or an empty string for another type.
    pub fn text(&self) -> &str {
        if let Self::Text(text) = self { text } else { "" }
    }
}

const ABOUT: &str = concat!(
    "Zoothera ",
    env!("CARGO_PKG_VERSION"),
    " - a chess engine with an efficiently updatable neural network (GPL-3.0-or-later)"
);

/// The default of `EvalFile`: the embedded net.
pub const EMBEDDED_NET: &str = "<default>";

const fn spec(id: Id, name: &'static str, kind: OptionKind, doc: &'static str) -> Spec {
    Spec { id, name, kind, doc }
}

/// Every option, in the order in which GUIs show them.
pub const OPTIONS: [Spec; 28] = [
    spec(Id::Hash, "Hash", OptionKind::Spin(16, 1, 33_554_432), "size of the transposition table in MiB"),
    spec(Id::Threads, "Threads", OptionKind::Spin(1, 1, 1024), "number of search threads"),
    spec(Id::MultiPv, "MultiPV", OptionKind::Spin(1, 1, 256), "number of best lines shown"),
    spec(
        Id::Ponder,
        "Ponder",
        OptionKind::Check(false),
        "allow the GUI to let the engine think on the opponent's time",
    ),
    spec(
        Id::MoveOverhead,
        "Move Overhead",
        OptionKind::Spin(10, 0, 5000),
        "ms reserved for the delays of GUI and network",
    ),
    spec(Id::EvalFile, "EvalFile", OptionKind::Text(EMBEDDED_NET), ".nnue file to use instead of the embedded net"),
    spec(Id::ClearHash, "Clear Hash", OptionKind::Button, "clear the transposition table and the histories"),
    spec(Id::HashFile, "Hash File", OptionKind::Text(""), "file for Save Hash and Load Hash"),
    spec(Id::SaveHash, "Save Hash", OptionKind::Button, "write the transposition table to Hash File"),
    spec(Id::LoadHash, "Load Hash", OptionKind::Button, "fill the transposition table from Hash File"),
    spec(Id::OwnBook, "OwnBook", OptionKind::Check(false), "play moves of Book File without a search"),
    spec(Id::BookFile, "Book File", OptionKind::Text(""), "opening book in the Polyglot format (.bin)"),
    spec(Id::BookDepth, "Book Depth", OptionKind::Spin(20, 1, 255), "last move number at which the book is probed"),
    spec(
        Id::BookSeed,
        "Book Seed",
        OptionKind::Spin(0, 0, 2_147_483_647),
        "seed for the choice between book moves; 0 means a new one for each game",
    ),
    spec(Id::Chess960, "UCI_Chess960", OptionKind::Check(false), "send castling as king takes rook"),
    spec(Id::ShowWdl, "UCI_ShowWDL", OptionKind::Check(false), "add win, draw and loss in permill to the score"),
    spec(
        Id::AnalyseMode,
        "UCI_AnalyseMode",
        OptionKind::Check(false),
        "analysis instead of a game: draws count exactly 0",
    ),
    spec(Id::LimitStrength, "UCI_LimitStrength", OptionKind::Check(false), "play at the level of UCI_Elo"),
    spec(
        Id::Elo,
        "UCI_Elo",
        OptionKind::Spin(1500, ELO_MIN as i64, ELO_MAX as i64),
        "level in Elo, on the scale of engine rating lists",
    ),
    spec(
        Id::SkillLevel,
        "Skill Level",
        OptionKind::Spin(SKILL_MAX as i64, 0, SKILL_MAX as i64),
        "level by number if UCI_LimitStrength is off; 20 is full strength",
    ),
    spec(
        Id::LevelSeed,
        "Level Seed",
        OptionKind::Spin(0, 0, 2_147_483_647),
        "seed for a level's errors; 0 means a new one for each game",
    ),
    spec(Id::SyzygyPath, "SyzygyPath", OptionKind::Text(""), "directories of Syzygy tablebases"),
    spec(Id::SyzygyProbeDepth, "SyzygyProbeDepth", OptionKind::Spin(1, 1, 100), "minimum depth of a tablebase probe"),
    spec(
        Id::SyzygyProbeLimit,
        "SyzygyProbeLimit",
        OptionKind::Spin(7, 0, 7),
        "maximum number of men for a tablebase probe",
    ),
    spec(Id::Syzygy50MoveRule, "Syzygy50MoveRule", OptionKind::Check(true), "tablebase wins respect the 50-move rule"),
    spec(
        Id::NodesTime,
        "nodestime",
        OptionKind::Spin(0, 0, 10_000),
        "nodes per ms if the clock counts nodes; 0 means real time",
    ),
    spec(Id::DebugLogFile, "Debug Log File", OptionKind::Text(""), "copy all input and output to this file"),
    spec(Id::EngineAbout, "UCI_EngineAbout", OptionKind::Text(ABOUT), "about this program"),
];

/// Other spellings in use by users and servers.
const ALIASES: [(&str, Id); 5] = [
    ("MoveOverhead", Id::MoveOverhead),
    ("Move_Overhead", Id::MoveOverhead),
    ("ClearHash", Id::ClearHash),
    ("DebugLogFile", Id::DebugLogFile),
    ("BookFile", Id::BookFile),
];

/// The option with this name, in any letter case.
pub fn find(name: &str) -> Option<&'static Spec> {
    let alias = ALIASES.iter().find(|(alias, _)| alias.eq_ignore_ascii_case(name)).map(|&(_, id)| id);
    OPTIONS.iter().find(|spec| alias == Some(spec.id) || spec.name.eq_ignore_ascii_case(name))
}

impl Spec {
    /// The `option` line of the handshake.
    pub fn declaration(&self) -> String {
        let mut line = format!("option name {} type ", self.name);
        // Writing to a string cannot fail.
        let _ = match self.kind {
            OptionKind::Spin(default, min, max) => {
                write!(line, "spin default {default} min {min} max {max}")
            }
            OptionKind::Check(default) => write!(line, "check default {default}"),
            OptionKind::Button => write!(line, "button"),
            OptionKind::Text("") => write!(line, "string default <empty>"),
            OptionKind::Text(default) => write!(line, "string default {default}"),
        };
        line
    }

    /// Checks a value. The error names the option, the value and the allowed values.
    pub fn parse(&self, value: Option<&str>) -> Result<OptionValue, String> {
        let name = self.name;
        let text = value.unwrap_or("").trim();
        let refusal = |allowed: &str| match value {
            Some(_) => Err(format!("setoption {name}: expected {allowed}, found '{}'", excerpt(text))),
            None => Err(format!("setoption {name}: missing value; expected {allowed}")),
        };
        match self.kind {
            OptionKind::Button => Ok(OptionValue::Press),
            OptionKind::Text(_) if text.eq_ignore_ascii_case("<empty>") => Ok(OptionValue::Text(String::new())),
            OptionKind::Text(_) => Ok(OptionValue::Text(text.to_owned())),
            OptionKind::Check(_) if text.eq_ignore_ascii_case("true") => Ok(OptionValue::Flag(true)),
            OptionKind::Check(_) if text.eq_ignore_ascii_case("false") => Ok(OptionValue::Flag(false)),
            OptionKind::Check(_) => refusal("true or false"),
            OptionKind::Spin(_, min, max) => match text.parse() {
                Ok(number) if (min..=max).contains(&number) => Ok(OptionValue::Int(number)),
                _ => refusal(&format!("an integer from {min} to {max}")),
            },
        }
    }

    /// The value at start-up.
    pub fn default_value(&self) -> OptionValue {
        match self.kind {
            OptionKind::Spin(default, ..) => OptionValue::Int(default),
            OptionKind::Check(default) => OptionValue::Flag(default),
            OptionKind::Button => OptionValue::Press,
            OptionKind::Text(default) => OptionValue::Text(default.to_owned()),
        }
    }
}

/// The integer default of a spin option.
pub fn default_int(id: Id) -> i64 {
    OPTIONS.iter().find(|spec| spec.id == id).map_or(0, |spec| spec.default_value().int())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_conform_to_uci() {
        const RESERVED: [&str; 7] = ["name", "type", "default", "min", "max", "var", "value"];
        for spec in &OPTIONS {
            assert!(spec.name.split(' ').all(|word| !RESERVED.contains(&word)), "{}", spec.name);
            match spec.kind {
                OptionKind::Spin(default, min, max) => {
                    assert!((min..=max).contains(&default) && i32::try_from(min).is_ok() && i32::try_from(max).is_ok());
                }
                OptionKind::Text(text) => {
                    assert!(text.split(' ').all(|word| !RESERVED.contains(&word)))
                }
                OptionKind::Check(_) | OptionKind::Button => {}
            }
        }
        let line = |name| find(name).map(Spec::declaration).unwrap_or_default();
        assert_eq!(line("hash"), "option name Hash type spin default 16 min 1 max 33554432");
        assert_eq!(line("clear hash"), "option name Clear Hash type button");
        assert_eq!(line("SyzygyPath"), "option name SyzygyPath type string default <empty>");
        assert_eq!(line("evalfile"), "option name EvalFile type string default <default>");
        assert_eq!(line("UCI_CHESS960"), "option name UCI_Chess960 type check default false");
    }

    #[test]
    fn manual_lists_every_option_with_its_default_and_range() {
        let manual = include_str!("../../docs/options.md");
        for spec in &OPTIONS {
            let start = match spec.kind {
                OptionKind::Spin(default, min, max) => {
                    format!("| `{}` | {default} | {min} to {max} |", spec.name)
                }
                OptionKind::Check(default) => format!("| `{}` | {default} | |", spec.name),
                OptionKind::Button => format!("| `{}` | button | |", spec.name),
                OptionKind::Text("") => format!("| `{}` | empty | |", spec.name),
                OptionKind::Text(EMBEDDED_NET) => {
                    format!("| `{}` | `{EMBEDDED_NET}` | |", spec.name)
                }
                // Text that only informs.
                OptionKind::Text(_) => format!("| `{}` | | |", spec.name),
            };
            assert!(
                manual.lines().any(|line| line.starts_with(&start)),
                "the table of docs/options.md needs a line that starts with: {start}"
            );
        }
    }

    #[test]
    fn parser_accepts_every_default() {
        for spec in &OPTIONS {
            let text = spec.declaration();
            let default = text.split_once(" default ").map(|(_, rest)| rest.split(" min ").next().unwrap_or(""));
            let value = spec.parse(default);
            match spec.kind {
                OptionKind::Text("") => assert_eq!(value, Ok(OptionValue::Text(String::new()))),
                _ => assert_eq!(value, Ok(spec.default_value()), "{}", spec.name),
            }
        }
    }

    #[test]
    fn find_ignores_case_and_accepts_aliases() {
        for name in ["Move Overhead", "move overhead", "MoveOverhead", "Move_Overhead"] {
            assert_eq!(find(name).map(|spec| spec.id), Some(Id::MoveOverhead), "{name}");
        }
        assert!(find("Contempt").is_none());
    }

    #[test]
    fn errors_of_bad_values_name_option_value_and_range() {
        let parse = |name, value| find(name).map(|spec| spec.parse(value)).unwrap_or(Err(String::new()));
        for (name, value) in [
            ("Hash", "abc"),
            ("Hash", "0"),
            ("Hash", "999999999"),
            ("Hash", "-1"),
            ("Hash", "1.5"),
            ("MultiPV", "0"),
            ("MultiPV", "99999999999999999999"),
            ("Threads", ""),
            ("Ponder", "maybe"),
        ] {
            let error = parse(name, Some(value)).expect_err(value);
            assert!(error.contains(name) && error.contains(value), "{error}");
        }
        assert!(parse("Hash", Some("0")).is_err_and(|e| e.contains("from 1 to 33554432")));
        assert!(parse("Hash", None).is_err_and(|e| e.contains("missing")));
        assert_eq!(parse("Hash", Some(" 33 ")), Ok(OptionValue::Int(33)));
        assert_eq!(parse("Ponder", Some("TRUE")), Ok(OptionValue::Flag(true)));
    }
}
