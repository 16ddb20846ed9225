//! The options, declared once: the table prints them, checks values, and names their handlers.

use std::fmt::Write as _;

use crate::level::strength::{ELO_MAX, ELO_MIN, SKILL_MAX};
use crate::util::text::excerpt;

/// Which option a value is for.
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
    /// An integer: default, least, greatest. All fit 32 bits, because test programs parse them so.
    Spin(i64, i64, i64),
    /// True or false.
    Check(bool),
    /// An action.
    Button,
    /// Text; the empty string is written `<empty>`.
    Text(&'static str),
}

/// One option.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// Its handler.
    pub id: Id,
    /// Its name; GUIs match it exactly, we do not care about letter case.
    pub name: &'static str,
    /// Type, default, range.
    pub kind: OptionKind,
    /// What it does, for `help` and the manual.
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
    /// For [`OptionKind::Text`]; `<empty>` has become the empty string.
    Text(String),
}

impl OptionValue {
    /// The integer, or 0 of another type.
    pub fn int(&self) -> i64 {
        if let Self::Int(value) = self {
            *value
        } else {
            0
        }
    }
    /// The flag, or false of another type.
    pub fn flag(&self) -> bool {
        matches!(self, Self::Flag(true))
    }
    /// The text, or nothing of another type.
    pub fn text(&self) -> &str {
        if let Self::Text(text) = self {
            text
        } else {
            ""
        }
    }
}

const ABOUT: &str = concat!(
    "Zoothera ",
    env!("CARGO_PKG_VERSION"),
    " - a chess engine with an efficiently updatable neural network (GPL-3.0-or-later)"
);

/// The default of `EvalFile`: the net inside the binary.
pub const EMBEDDED_NET: &str = "<default>";

const fn spec(id: Id, name: &'static str, kind: OptionKind, doc: &'static str) -> Spec {
    Spec {
        id,
        name,
        kind,
        doc,
    }
}

/// Every option, in the order GUIs show them.
pub const OPTIONS: [Spec; 28] = [
    spec(
        Id::Hash,
        "Hash",
        OptionKind::Spin(16, 1, 33_554_432),
        "MiB for the transposition table",
    ),
    spec(
        Id::Threads,
        "Threads",
        OptionKind::Spin(1, 1, 1024),
        "search threads",
    ),
    spec(
        Id::MultiPv,
        "MultiPV",
        OptionKind::Spin(1, 1, 256),
        "number of best lines shown",
    ),
    spec(
        Id::Ponder,
        "Ponder",
        OptionKind::Check(false),
        "the GUI may let the engine think on the opponent's time",
    ),
    spec(
        Id::MoveOverhead,
        "Move Overhead",
        OptionKind::Spin(10, 0, 5000),
        "ms kept back for the GUI and the network",
    ),
    spec(
        Id::EvalFile,
        "EvalFile",
        OptionKind::Text(EMBEDDED_NET),
        "a .nnue file instead of the net inside the binary",
    ),
    spec(
        Id::ClearHash,
        "Clear Hash",
        OptionKind::Button,
        "forget everything learnt by searching",
    ),
    spec(
        Id::HashFile,
        "Hash File",
        OptionKind::Text(""),
        "the file of Save Hash and Load Hash",
    ),
    spec(
        Id::SaveHash,
        "Save Hash",
        OptionKind::Button,
        "write the transposition table to Hash File",
    ),
    spec(
        Id::LoadHash,
        "Load Hash",
        OptionKind::Button,
        "fill the transposition table from Hash File",
    ),
    spec(
        Id::OwnBook,
        "OwnBook",
        OptionKind::Check(false),
        "play moves of Book File without a search",
    ),
    spec(
        Id::BookFile,
        "Book File",
        OptionKind::Text(""),
        "an opening book in the Polyglot format (.bin)",
    ),
    spec(
        Id::BookDepth,
        "Book Depth",
        OptionKind::Spin(20, 1, 255),
        "last move number at which the book is asked",
    ),
    spec(
        Id::BookSeed,
        "Book Seed",
        OptionKind::Spin(0, 0, 2_147_483_647),
        "decides between a book's moves; 0 is another one each game",
    ),
    spec(
        Id::Chess960,
        "UCI_Chess960",
        OptionKind::Check(false),
        "castling is sent as king takes rook",
    ),
    spec(
        Id::ShowWdl,
        "UCI_ShowWDL",
        OptionKind::Check(false),
        "add win, draw and loss in permill to the score",
    ),
    spec(
        Id::AnalyseMode,
        "UCI_AnalyseMode",
        OptionKind::Check(false),
        "the GUI analyses rather than plays: draws count exactly 0",
    ),
    spec(
        Id::LimitStrength,
        "UCI_LimitStrength",
        OptionKind::Check(false),
        "play at the level of UCI_Elo",
    ),
    spec(
        Id::Elo,
        "UCI_Elo",
        OptionKind::Spin(1500, ELO_MIN as i64, ELO_MAX as i64),
        "the level, in Elo of engines",
    ),
    spec(
        Id::SkillLevel,
        "Skill Level",
        OptionKind::Spin(SKILL_MAX as i64, 0, SKILL_MAX as i64),
        "a level by number, unless UCI_LimitStrength; 20 is full strength",
    ),
    spec(
        Id::LevelSeed,
        "Level Seed",
        OptionKind::Spin(0, 0, 2_147_483_647),
        "decides what a level misjudges and overlooks; 0 is another one each game",
    ),
    spec(
        Id::SyzygyPath,
        "SyzygyPath",
        OptionKind::Text(""),
        "directories of Syzygy tablebases",
    ),
    spec(
        Id::SyzygyProbeDepth,
        "SyzygyProbeDepth",
        OptionKind::Spin(1, 1, 100),
        "least depth at which tablebases are probed",
    ),
    spec(
        Id::SyzygyProbeLimit,
        "SyzygyProbeLimit",
        OptionKind::Spin(7, 0, 7),
        "most men for which tablebases are probed",
    ),
    spec(
        Id::Syzygy50MoveRule,
        "Syzygy50MoveRule",
        OptionKind::Check(true),
        "tablebase wins respect the 50-move rule",
    ),
    spec(
        Id::NodesTime,
        "nodestime",
        OptionKind::Spin(0, 0, 10_000),
        "nodes per ms when the clock counts nodes; 0 is real time",
    ),
    spec(
        Id::DebugLogFile,
        "Debug Log File",
        OptionKind::Text(""),
        "copy all input and output to this file",
    ),
    spec(
        Id::EngineAbout,
        "UCI_EngineAbout",
        OptionKind::Text(ABOUT),
        "about this program",
    ),
];

/// Other spellings that users and servers write.
const ALIASES: [(&str, Id); 5] = [
    ("MoveOverhead", Id::MoveOverhead),
    ("Move_Overhead", Id::MoveOverhead),
    ("ClearHash", Id::ClearHash),
    ("DebugLogFile", Id::DebugLogFile),
    ("BookFile", Id::BookFile),
];

/// The option with this name, in any letter case.
pub fn find(name: &str) -> Option<&'static Spec> {
    let alias = ALIASES
        .iter()
        .find(|(alias, _)| alias.eq_ignore_ascii_case(name))
        .map(|&(_, id)| id);
    OPTIONS
        .iter()
        .find(|spec| alias == Some(spec.id) || spec.name.eq_ignore_ascii_case(name))
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

    /// Checks a value; the error names the option, the value and what is allowed.
    pub fn parse(&self, value: Option<&str>) -> Result<OptionValue, String> {
        let name = self.name;
        let text = value.unwrap_or("").trim();
        let refusal = |allowed: &str| match value {
            Some(_) => Err(format!(
                "setoption {name}: '{}' is not {allowed}",
                excerpt(text)
            )),
            None => Err(format!(
                "setoption {name}: the value is missing; it must be {allowed}"
            )),
        };
        match self.kind {
            OptionKind::Button => Ok(OptionValue::Press),
            OptionKind::Text(_) if text.eq_ignore_ascii_case("<empty>") => {
                Ok(OptionValue::Text(String::new()))
            }
            OptionKind::Text(_) => Ok(OptionValue::Text(text.to_owned())),
            OptionKind::Check(_) if text.eq_ignore_ascii_case("true") => {
                Ok(OptionValue::Flag(true))
            }
            OptionKind::Check(_) if text.eq_ignore_ascii_case("false") => {
                Ok(OptionValue::Flag(false))
            }
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
    OPTIONS
        .iter()
        .find(|spec| spec.id == id)
        .map_or(0, |spec| spec.default_value().int())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_obey_the_protocol() {
        const RESERVED: [&str; 7] = ["name", "type", "default", "min", "max", "var", "value"];
        for spec in &OPTIONS {
            assert!(
                spec.name.split(' ').all(|word| !RESERVED.contains(&word)),
                "{}",
                spec.name
            );
            match spec.kind {
                OptionKind::Spin(default, min, max) => {
                    assert!(
                        (min..=max).contains(&default)
                            && i32::try_from(min).is_ok()
                            && i32::try_from(max).is_ok()
                    );
                }
                OptionKind::Text(text) => {
                    assert!(text.split(' ').all(|word| !RESERVED.contains(&word)))
                }
                OptionKind::Check(_) | OptionKind::Button => {}
            }
        }
        let line = |name| find(name).map(Spec::declaration).unwrap_or_default();
        assert_eq!(
            line("hash"),
            "option name Hash type spin default 16 min 1 max 33554432"
        );
        assert_eq!(line("clear hash"), "option name Clear Hash type button");
        assert_eq!(
            line("SyzygyPath"),
            "option name SyzygyPath type string default <empty>"
        );
        assert_eq!(
            line("evalfile"),
            "option name EvalFile type string default <default>"
        );
        assert_eq!(
            line("UCI_CHESS960"),
            "option name UCI_Chess960 type check default false"
        );
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
                // A text that only informs.
                OptionKind::Text(_) => format!("| `{}` | | |", spec.name),
            };
            assert!(
                manual.lines().any(|line| line.starts_with(&start)),
                "the table of docs/options.md has no line that starts with: {start}"
            );
        }
    }

    #[test]
    fn every_default_is_accepted() {
        for spec in &OPTIONS {
            let text = spec.declaration();
            let default = text
                .split_once(" default ")
                .map(|(_, rest)| rest.split(" min ").next().unwrap_or(""));
            let value = spec.parse(default);
            match spec.kind {
                OptionKind::Text("") => assert_eq!(value, Ok(OptionValue::Text(String::new()))),
                _ => assert_eq!(value, Ok(spec.default_value()), "{}", spec.name),
            }
        }
    }

    #[test]
    fn names_in_any_case_and_aliases() {
        for name in [
            "Move Overhead",
            "move overhead",
            "MoveOverhead",
            "Move_Overhead",
        ] {
            assert_eq!(
                find(name).map(|spec| spec.id),
                Some(Id::MoveOverhead),
                "{name}"
            );
        }
        assert!(find("Contempt").is_none());
    }

    #[test]
    fn bad_values_are_refused_with_name_value_and_range() {
        let parse = |name, value| {
            find(name)
                .map(|spec| spec.parse(value))
                .unwrap_or(Err(String::new()))
        };
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
