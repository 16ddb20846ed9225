//! The options and their values. Each option is one row of [`OPTIONS`]: name, type with default and range, help, and
//! the effect of a new value. The handshake, the checks of values, `help` and the table of the manual are derived from
//! the rows.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use Effect::{Action, Nothing, Resource, Search, Session};

use super::engine::Engine;
use super::player::{BookChoice, LevelChoice};
use crate::board::CastlingMode;
use crate::level::strength::{ELO_MAX, ELO_MIN, SKILL_MAX};
use crate::search::SearchOptions;
use crate::util::text::excerpt;

/// One option.
pub struct UciOption {
    /// The name. GUIs match it exactly; the engine ignores letter case.
    pub name: &'static str,
    /// Description for `help` and the manual.
    pub help: &'static str,
    /// Type, default, range and effect.
    pub kind: Kind,
    /// Other spellings in use by users and servers.
    aliases: &'static [&'static str],
    /// Whether setting it writes a file. The process must not exit before the file is complete.
    pub writes_file: bool,
}

/// The type of an option with its default, its range, and the effect of a new value.
pub enum Kind {
    /// An integer. All numbers fit 31 bits, because test programs parse them as signed 32-bit integers.
    Spin(u32, RangeInclusive<u32>, Effect<u32>),
    /// True or false.
    Check(bool, Effect<bool>),
    /// An action without a value.
    Button(Effect<()>),
    /// Text; the empty string is printed as `<empty>`.
    Text(&'static str, Effect<String>),
}

/// Effect of a new value.
pub enum Effect<T> {
    /// Changes the moves of a search; it can also be set for a player of a match.
    Search(fn(&mut Settings, T)),
    /// Changes the communication with a GUI, or the use of its clock and files.
    Session(fn(&mut Settings, T)),
    /// Changes resources of a search; it can also be set for a player of a match.
    Resource(fn(&mut dyn Resources, T)),
    /// Acts on the engine.
    Action(fn(&mut Engine, T) -> Result<(), String>),
    /// Nothing: the option informs the GUI.
    Nothing,
}

/// Owner of the resources of a search: the engine, or a player of a match.
pub trait Resources {
    /// Sets the size of the transposition table in MiB.
    fn set_hash(&mut self, mib: usize);
    /// Sets the number of search threads.
    fn set_threads(&mut self, threads: usize);
    /// Sets the directories of Syzygy tablebases.
    fn set_syzygy_path(&mut self, path: String);
}

/// A checked value together with its effect.
pub struct Assignment {
    /// The value as text.
    pub value: String,
    /// The effect.
    pub change: Change,
}

/// An effect with its value; see [`Effect`].
#[allow(missing_docs)] // As in `Effect`.
pub enum Change {
    Search(Call<Settings>),
    Session(Call<Settings>),
    Resource(Call<dyn Resources>),
    Action(Call<Engine, Result<(), String>>),
    Nothing,
}

/// A call with everything but its target.
type Call<T, R = ()> = Box<dyn FnOnce(&mut T) -> R>;

/// The default of `EvalFile`: the embedded net.
pub const EMBEDDED_NET: &str = "<default>";
/// The default of `Hash` in MiB.
pub const HASH: u32 = 16;
/// The default of `Threads`.
pub const THREADS: u32 = 1;
/// The defaults of the options that the search reads.
const SEARCH: SearchOptions = SearchOptions::DEFAULT;
/// The largest seed. 0 means a new one for each game.
pub const SEED_MAX: u32 = i32::MAX as u32;

const ABOUT: &str = concat!(
    "Zoothera ",
    env!("CARGO_PKG_VERSION"),
    " - a chess engine with an efficiently updatable neural network (GPL-3.0-or-later)"
);

/// Every option, in the order in which GUIs show them.
#[rustfmt::skip]
pub const OPTIONS: &[UciOption] = &[
    spin("Hash", HASH, 1..=1 << 25, "size of the transposition table in MiB; if that does not fit into memory, the \
        largest size that does", Resource(|resources, mib| resources.set_hash(mib as usize))),
    spin("Threads", THREADS, 1..=1024, "number of search threads",
        Resource(|resources, threads| resources.set_threads(threads as usize))),
    spin("MultiPV", SEARCH.multi_pv as u32, 1..=256, "number of best lines to report",
        Search(|settings, lines| settings.search.multi_pv = lines as usize)),
    check("Ponder", SEARCH.ponder, "set by GUIs that use `go ponder`; time management counts on it",
        Session(|settings, on| settings.search.ponder = on)),
    spin("Move Overhead", SEARCH.move_overhead as u32, 0..=5000, "milliseconds per move reserved for the GUI and the \
        network", Search(|settings, ms| settings.search.move_overhead = ms.into()))
        .or(&["MoveOverhead", "Move_Overhead"]),
    text("EvalFile", EMBEDDED_NET, "network file (`.nnue`) to use in place of the embedded one",
        Action(Engine::set_net)),
    button("Clear Hash", "clear the transposition table and the histories", Action(Engine::clear_hash))
        .or(&["ClearHash"]),
    text("Hash File", "", "file for `Save Hash` and `Load Hash`", Session(|settings, name| settings.hash_file = name)),
    button("Save Hash", "write the transposition table to `Hash File`", Action(Engine::save_hash)).writing_a_file(),
    button("Load Hash", "read the transposition table from `Hash File`", Action(Engine::load_hash)),
    check("OwnBook", false, "play moves from `Book File` without a search",
        Session(|settings, on| settings.book.own = on)),
    text("Book File", "", "opening book in the Polyglot format (`.bin`)", Action(Engine::set_book)).or(&["BookFile"]),
    spin("Book Depth", 20, 1..=255, "last move number at which the book is used",
        Session(|settings, depth| settings.book.depth = depth)),
    spin("Book Seed", 0, 0..=SEED_MAX, "seed for the choice among a book's moves; 0 chooses a new one for each game",
        Session(|settings, seed| settings.book.set_seed(seed.into()))),
    check("UCI_Chess960", false, "castling is sent as king takes rook", Session(|settings, on| settings.chess960 = on)),
    check("UCI_ShowWDL", false, "add win, draw and loss in permill to the score", Session(Settings::show_wdl)),
    check("UCI_AnalyseMode", SEARCH.analyse_mode, "the GUI analyses rather than plays: draws score exactly 0, levels \
        and books are off", Search(|settings, on| settings.search.analyse_mode = on)),
    check("UCI_LimitStrength", false, "play at the level of `UCI_Elo`",
        Search(|settings, on| settings.level.limit_strength = on)),
    spin("UCI_Elo", 1500, ELO_MIN as u32..=ELO_MAX as u32, "the level, in Elo of engines",
        Search(|settings, elo| settings.level.elo = elo as i32)),
    spin("Skill Level", SKILL_MAX as u32, 0..=SKILL_MAX as u32, "a level by number, unless `UCI_LimitStrength` is set; \
        20 is full strength", Search(|settings, skill| settings.level.skill = skill as i32)),
    spin("Level Seed", 0, 0..=SEED_MAX, "seed for a level's misjudgements and missed moves; 0 chooses a new one for \
        each game", Search(|settings, seed| settings.level.set_seed(seed.into()))),
    text("SyzygyPath", "", "directories of Syzygy tablebases",
        Resource(|resources, path| resources.set_syzygy_path(path))),
    spin("SyzygyProbeDepth", SEARCH.syzygy_probe_depth as u32, 1..=100, "minimum depth at which tablebases are probed",
        Search(|settings, depth| settings.search.syzygy_probe_depth = depth as i32)),
    spin("SyzygyProbeLimit", SEARCH.syzygy_probe_limit as u32, 0..=7, "maximum number of men for which tablebases are \
        probed", Search(|settings, men| settings.search.syzygy_probe_limit = men as usize)),
    check("Syzygy50MoveRule", SEARCH.syzygy_50_move_rule, "tablebase wins respect the 50-move rule",
        Search(|settings, on| settings.search.syzygy_50_move_rule = on)),
    spin("nodestime", SEARCH.nodes_time as u32, 0..=10_000, "nodes per millisecond when the clock counts nodes; 0 uses \
        real time", Session(|settings, nodes| settings.search.nodes_time = nodes.into())),
    text("Debug Log File", "", "file that records the UCI conversation", Action(Engine::set_log)).or(&["DebugLogFile"]),
    text("UCI_EngineAbout", ABOUT, "information about the program", Nothing),
];

const fn spin(
    name: &'static str,
    default: u32,
    range: RangeInclusive<u32>,
    help: &'static str,
    effect: Effect<u32>,
) -> UciOption {
    UciOption::new(name, help, Kind::Spin(default, range, effect))
}

const fn check(name: &'static str, default: bool, help: &'static str, effect: Effect<bool>) -> UciOption {
    UciOption::new(name, help, Kind::Check(default, effect))
}

const fn button(name: &'static str, help: &'static str, effect: Effect<()>) -> UciOption {
    UciOption::new(name, help, Kind::Button(effect))
}

const fn text(name: &'static str, default: &'static str, help: &'static str, effect: Effect<String>) -> UciOption {
    UciOption::new(name, help, Kind::Text(default, effect))
}

/// The option with this name, in any letter case.
pub fn find(name: &str) -> Option<&'static UciOption> {
    let is_named = |option: &&UciOption| {
        let mut names = [&option.name].into_iter().chain(option.aliases);
        names.any(|known| known.eq_ignore_ascii_case(name))
    };
    OPTIONS.iter().find(is_named)
}

impl UciOption {
    const fn new(name: &'static str, help: &'static str, kind: Kind) -> Self {
        Self { name, help, kind, aliases: &[], writes_file: false }
    }

    const fn or(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }

    const fn writing_a_file(self) -> Self {
        Self { writes_file: true, ..self }
    }

    /// The `option` line of the handshake.
    pub fn declaration(&self) -> String {
        let kind = match &self.kind {
            Kind::Spin(default, range, _) => {
                format!("spin default {default} min {} max {}", range.start(), range.end())
            }
            Kind::Check(default, _) => format!("check default {default}"),
            Kind::Button(_) => String::from("button"),
            Kind::Text("", _) => String::from("string default <empty>"),
            Kind::Text(default, _) => format!("string default {default}"),
        };
        format!("option name {} type {kind}", self.name)
    }

    /// Checks a value. The error names the option, the value and the allowed values.
    pub fn assign(&self, value: Option<&str>) -> Result<Assignment, String> {
        let name = self.name;
        let text = value.unwrap_or("").trim();
        let refusal = |allowed: &str| match value {
            Some(_) => format!("setoption {name}: expected {allowed}, found '{}'", excerpt(text)),
            None => format!("setoption {name}: missing value; expected {allowed}"),
        };
        match &self.kind {
            Kind::Button(effect) => Ok(effect.with(String::new(), ())),
            Kind::Text(_, effect) => {
                let text = if text.eq_ignore_ascii_case("<empty>") { "" } else { text };
                Ok(effect.with(text.to_owned(), text.to_owned()))
            }
            Kind::Check(_, effect) => {
                let on = text.to_ascii_lowercase().parse().map_err(|_| refusal("true or false"))?;
                Ok(effect.with(text.to_ascii_lowercase(), on))
            }
            Kind::Spin(_, range, effect) => match text.parse() {
                Ok(number) if range.contains(&number) => Ok(effect.with(number.to_string(), number)),
                _ => Err(refusal(&format!("an integer from {} to {}", range.start(), range.end()))),
            },
        }
    }

    /// The value at start-up with its effect.
    pub fn initial(&self) -> Assignment {
        match &self.kind {
            Kind::Spin(default, _, effect) => effect.with(default.to_string(), *default),
            Kind::Check(default, effect) => effect.with(default.to_string(), *default),
            Kind::Button(effect) => effect.with(String::new(), ()),
            Kind::Text(default, effect) => effect.with((*default).to_owned(), (*default).to_owned()),
        }
    }
}

impl<T: 'static> Effect<T> {
    /// This effect with a value.
    fn with(&self, text: String, value: T) -> Assignment {
        let change = match *self {
            Search(set) => Change::Search(Box::new(move |settings| set(settings, value))),
            Session(set) => Change::Session(Box::new(move |settings| set(settings, value))),
            Resource(set) => Change::Resource(Box::new(move |resources| set(resources, value))),
            Action(act) => Change::Action(Box::new(move |engine| act(engine, value))),
            Nothing => Change::Nothing,
        };
        Assignment { value: text, change }
    }
}

// The values of the options that the search threads do not store.

/// Settings of the engine. Each `go` copies the settings that the search reads.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Settings that the search reads.
    pub search: SearchOptions,
    /// `UCI_Chess960`
    pub chess960: bool,
    /// `UCI_ShowWDL`; shared with the printer, so that a change applies at once.
    pub show_wdl: Arc<AtomicBool>,
    /// Level set by the user.
    pub level: LevelChoice,
    /// The opening book, and whether to probe it.
    pub book: BookChoice,
    /// `Hash File`
    pub hash_file: String,
}

impl Settings {
    /// Settings with the default values of the option table.
    pub fn new() -> Self {
        let mut settings = Self::default();
        for option in OPTIONS {
            if let Change::Search(set) | Change::Session(set) = option.initial().change {
                set(&mut settings);
            }
        }
        settings
    }

    /// Sets `UCI_ShowWDL`.
    pub fn show_wdl(&mut self, on: bool) {
        self.show_wdl.store(on, Relaxed);
    }

    /// The settings of the next search.
    pub fn for_search(&self) -> SearchOptions {
        SearchOptions { level: self.level.level().filter(|_| !self.search.analyse_mode), ..self.search.clone() }
    }

    /// Castling mode for parsing FENs.
    pub fn castling_mode(&self) -> CastlingMode {
        if self.chess960 { CastlingMode::Chess960 } else { CastlingMode::Standard }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With this variable set, the test of the manual writes its table instead of comparing it.
    const WRITE: &str = "ZOOTHERA_WRITE_DOCS";

    #[test]
    fn declarations_conform_to_uci() {
        const RESERVED: [&str; 7] = ["name", "type", "default", "min", "max", "var", "value"];
        for option in OPTIONS {
            assert!(option.name.split(' ').all(|word| !RESERVED.contains(&word)), "{}", option.name);
            match &option.kind {
                Kind::Spin(default, range, _) => {
                    assert!(range.contains(default) && i32::try_from(*range.end()).is_ok(), "{}", option.name);
                }
                Kind::Text(text, _) => assert!(text.split(' ').all(|word| !RESERVED.contains(&word))),
                Kind::Check(..) | Kind::Button(_) => {}
            }
        }
        let line = |name| find(name).map(UciOption::declaration).unwrap_or_default();
        assert_eq!(line("hash"), "option name Hash type spin default 16 min 1 max 33554432");
        assert_eq!(line("clear hash"), "option name Clear Hash type button");
        assert_eq!(line("SyzygyPath"), "option name SyzygyPath type string default <empty>");
        assert_eq!(line("evalfile"), "option name EvalFile type string default <default>");
        assert_eq!(line("UCI_CHESS960"), "option name UCI_Chess960 type check default false");
    }

    /// The table of the manual.
    fn manual_table() -> String {
        let row = |option: &UciOption| {
            let (default, range) = match &option.kind {
                Kind::Spin(default, range, _) => (default.to_string(), format!("{} to {}", range.start(), range.end())),
                Kind::Check(default, _) => (default.to_string(), String::new()),
                Kind::Button(_) => ("button".into(), String::new()),
                Kind::Text("", _) => ("empty".into(), String::new()),
                Kind::Text(_, Nothing) => (String::new(), String::new()),
                Kind::Text(default, _) => (format!("`{default}`"), String::new()),
            };
            let cells = [format!("`{}`", option.name), default, range, option.help.to_owned()];
            let line = cells.map(|cell| if cell.is_empty() { "| ".into() } else { format!("| {cell} ") }).concat();
            format!("{line}|\n")
        };
        let rows: String = OPTIONS.iter().map(row).collect();
        format!("| option | default | range | what it does |\n|---|---|---|---|\n{rows}")
    }

    #[test]
    fn manual_has_the_table_of_options() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/options.md");
        let chapter = std::fs::read_to_string(path).expect("docs/options.md is readable");
        let (before, rest) = chapter.split_once("## Table\n\n").expect("a section Table");
        let (found, after) = rest.split_once("\n\n").expect("text after the table");
        let table = manual_table();
        if std::env::var_os(WRITE).is_some() {
            std::fs::write(path, format!("{before}## Table\n\n{table}\n{after}")).expect("docs/options.md is writable");
            return;
        }
        let differs = found.lines().zip(table.lines()).find(|(found, row)| found != row);
        assert!(
            found == table.trim_end(),
            "the table of docs/options.md is not that of the engine: {differs:?}; write it with: {WRITE}=1 cargo test \
             --lib manual_has_the_table_of_options"
        );
    }

    #[test]
    fn every_default_is_accepted_as_value() {
        for option in OPTIONS {
            let text = option.declaration();
            let default = text.split_once(" default ").map(|(_, rest)| rest.split(" min ").next().unwrap_or(""));
            let assigned = option.assign(default).map(|assigned| assigned.value);
            assert_eq!(assigned, Ok(option.initial().value), "{}", option.name);
        }
    }

    #[test]
    fn find_ignores_case_and_accepts_aliases() {
        for name in ["Move Overhead", "move overhead", "MoveOverhead", "Move_Overhead"] {
            assert_eq!(find(name).map(|option| option.name), Some("Move Overhead"), "{name}");
        }
        assert!(find("Contempt").is_none());
    }

    #[test]
    fn errors_of_bad_values_name_option_value_and_range() {
        let assign = |name, value| {
            let option = find(name).expect("an option");
            option.assign(value).map(|assigned| assigned.value)
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
            let error = assign(name, Some(value)).expect_err(value);
            assert!(error.contains(name) && error.contains(value), "{error}");
        }
        assert!(assign("Hash", Some("0")).is_err_and(|e| e.contains("from 1 to 33554432")));
        assert!(assign("Hash", None).is_err_and(|e| e.contains("missing")));
        assert_eq!(assign("Hash", Some(" 33 ")), Ok("33".into()));
        assert_eq!(assign("Ponder", Some("TRUE")), Ok("true".into()));
    }

    #[test]
    fn every_setting_changes_with_its_option() {
        let shown = |settings: &Settings| format!("{settings:?}");
        for option in OPTIONS {
            let other = match &option.kind {
                Kind::Spin(default, range, _) => {
                    if default == range.end() { range.start() } else { range.end() }.to_string()
                }
                Kind::Check(default, _) => (!default).to_string(),
                Kind::Button(_) => String::new(),
                Kind::Text(..) => "other".into(),
            };
            let mut settings = Settings::new();
            let before = shown(&settings);
            match option.assign(Some(&other)).expect("a valid value").change {
                Change::Search(set) | Change::Session(set) => {
                    set(&mut settings);
                    assert_ne!(before, shown(&settings), "{}", option.name);
                }
                Change::Resource(_) | Change::Action(_) | Change::Nothing => {}
            }
        }
    }
}

#[cfg(test)]
mod settings_tests {
    use super::*;

    #[test]
    fn table_and_search_have_equal_defaults() {
        let (ours, theirs) = (Settings::new().search, SearchOptions::default());
        assert_eq!(format!("{ours:?}"), format!("{theirs:?}"));
    }
}
