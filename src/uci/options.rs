//! The options and their values. Each option is one row of [`OPTIONS`]: name, type with default and range, help, the
//! setting, and what the engine does after a change. The handshake, the checks of values, `help` and the table of the
//! manual are derived from the rows. Net, level and opening book are read and checked here before they are used.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use crate::board::{CastlingMode, Position};
use crate::book::{Book, BookMove};
use crate::level::strength::{ELO_MAX, SKILL_MAX, elo_of_skill};
use crate::level::{ELO_MIN, Level};
use crate::nnue::Network;
use crate::search::Limits;
#[cfg(feature = "tune")]
use crate::search::rules;
use crate::search::{SearchOptions, params};
use crate::util::reason;
use crate::util::rng::{self, SplitMix64};
use crate::util::text::{Shown as _, excerpt};

/// One option.
pub struct UciOption {
    /// The name. GUIs match it exactly; the engine ignores letter case.
    pub name: &'static str,
    /// Description for `help` and the manual.
    pub help: &'static str,
    /// Type, default, range and setting.
    pub kind: Kind,
    /// Other spellings in use by users and servers.
    aliases: &'static [&'static str],
    /// Whether the option changes the moves of a search, so that it can also be set for a player of a match.
    pub in_matches: bool,
    /// What the engine does after the setting has changed.
    pub action: Option<Action>,
}

/// The type of an option with its default, its range, and its setting.
pub enum Kind {
    /// An integer. All numbers fit 31 bits, because test programs parse them as signed 32-bit integers.
    Spin(u32, RangeInclusive<u32>, fn(&mut Settings, u32)),
    /// True or false.
    Check(bool, fn(&mut Settings, bool)),
    /// An action without a value.
    Button,
    /// Text; the empty string is printed as `<empty>`. Some texts are not stored.
    Text(&'static str, Option<fn(&mut Settings, String)>),
}

/// What the engine does with a new value, or at a button.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // By the options' names.
pub enum Action {
    Hash,
    Threads,
    EvalFile,
    ClearHash,
    SaveHash,
    LoadHash,
    BookFile,
    SyzygyPath,
    LogFile,
}

/// The default of `Hash` in MiB.
pub const HASH: u32 = 16;
/// The default of `Threads`.
pub const THREADS: u32 = 1;
/// The defaults of the options that the search reads.
const SEARCH: SearchOptions = SearchOptions::DEFAULT;

const ABOUT: &str = concat!(
    "Zoothera ",
    env!("CARGO_PKG_VERSION"),
    " - a chess engine with an efficiently updatable neural network (GPL-3.0-or-later)"
);

/// Every option, in the order in which GUIs show them.
#[rustfmt::skip]
pub const OPTIONS: &[UciOption] = &[
    spin("Hash", HASH, 1..=1 << 25, "size of the transposition table in MiB; if that does not fit into memory, the \
        largest size that does", |settings, mib| settings.hash = mib as usize).in_matches().then(Action::Hash),
    spin("Threads", THREADS, 1..=1024, "number of search threads", |settings, threads| {
        settings.threads = threads as usize;
    }).in_matches().then(Action::Threads),
    spin("MultiPV", SEARCH.multi_pv as u32, 1..=256, "number of best lines to report",
        |settings, lines| settings.search.multi_pv = lines as usize).in_matches(),
    check("Ponder", SEARCH.ponder, "set by GUIs that use `go ponder`; time management counts on it",
        |settings, on| settings.search.ponder = on),
    spin("Move Overhead", SEARCH.move_overhead as u32, 0..=5000, "milliseconds per move reserved for the GUI and the \
        network", |settings, ms| settings.search.move_overhead = ms.into()).in_matches()
        .or(&["MoveOverhead", "Move_Overhead"]),
    text("EvalFile", EMBEDDED_NET, "network file (`.nnue`) to use in place of the embedded one", None)
        .then(Action::EvalFile),
    button("Clear Hash", "clear the transposition table and the histories", Action::ClearHash).or(&["ClearHash"]),
    text("Hash File", "", "file for `Save Hash` and `Load Hash`", Some(|settings, name| settings.hash_file = name)),
    button("Save Hash", "write the transposition table to `Hash File`", Action::SaveHash),
    button("Load Hash", "read the transposition table from `Hash File`", Action::LoadHash),
    check("OwnBook", false, "play moves from `Book File` without a search", |settings, on| settings.book.own = on),
    text("Book File", "", "opening book in the Polyglot format (`.bin`)", None).then(Action::BookFile)
        .or(&["BookFile"]),
    spin("Book Depth", 20, 1..=255, "last move number at which the book is used",
        |settings, depth| settings.book.depth = depth),
    spin("Book Seed", 0, 0..=SEED_MAX, "seed for the choice among a book's moves; 0 chooses a new one for each game",
        |settings, seed| settings.book.set_seed(seed.into())),
    check("UCI_Chess960", false, "castling is sent as king takes rook", |settings, on| settings.chess960 = on),
    check("UCI_ShowWDL", false, "add win, draw and loss in permill to the score", Settings::show_wdl),
    check("UCI_AnalyseMode", SEARCH.analyse_mode, "the GUI analyses rather than plays: draws score exactly 0, levels \
        and books are off", |settings, on| settings.search.analyse_mode = on).in_matches(),
    check("UCI_LimitStrength", false, "play at the level of `UCI_Elo`",
        |settings, on| settings.level.limit_strength = on).in_matches(),
    spin("UCI_Elo", 1500, ELO_MIN as u32..=ELO_MAX as u32, "the level, in Elo of engines",
        |settings, elo| settings.level.elo = elo as i32).in_matches(),
    spin("Skill Level", SKILL_MAX as u32, 0..=SKILL_MAX as u32, "a level by number, unless `UCI_LimitStrength` is set; \
        20 is full strength", |settings, skill| settings.level.skill = skill as i32).in_matches(),
    spin("Level Seed", 0, 0..=SEED_MAX, "seed for a level's misjudgements and missed moves; 0 chooses a new one for \
        each game", |settings, seed| settings.level.set_seed(seed.into())).in_matches(),
    text("SyzygyPath", "", "directories of Syzygy tablebases", Some(|settings, path| settings.syzygy_path = path))
        .in_matches().then(Action::SyzygyPath),
    spin("SyzygyProbeDepth", SEARCH.syzygy_probe_depth as u32, 1..=100, "minimum depth at which tablebases are probed",
        |settings, depth| settings.search.syzygy_probe_depth = depth as i32).in_matches(),
    spin("SyzygyProbeLimit", SEARCH.syzygy_probe_limit as u32, 0..=7, "maximum number of pieces for which tablebases \
        are probed", |settings, pieces| settings.search.syzygy_probe_limit = pieces as usize).in_matches(),
    check("Syzygy50MoveRule", SEARCH.syzygy_50_move_rule, "tablebase wins respect the 50-move rule",
        |settings, on| settings.search.syzygy_50_move_rule = on).in_matches(),
    spin("nodestime", SEARCH.nodes_time as u32, 0..=10_000, "nodes per millisecond when the clock counts nodes; 0 uses \
        real time", |settings, nodes| settings.search.nodes_time = nodes.into()).in_matches(),
    text("Debug Log File", "", "file that records the UCI conversation", None).then(Action::LogFile)
        .or(&["DebugLogFile"]),
    text("UCI_EngineAbout", ABOUT, "information about the program", None),
];

const fn spin(
    name: &'static str,
    default: u32,
    range: RangeInclusive<u32>,
    help: &'static str,
    set: fn(&mut Settings, u32),
) -> UciOption {
    UciOption::new(name, help, Kind::Spin(default, range, set))
}

const fn check(name: &'static str, default: bool, help: &'static str, set: fn(&mut Settings, bool)) -> UciOption {
    UciOption::new(name, help, Kind::Check(default, set))
}

const fn button(name: &'static str, help: &'static str, action: Action) -> UciOption {
    UciOption::new(name, help, Kind::Button).then(action)
}

const fn text(
    name: &'static str,
    default: &'static str,
    help: &'static str,
    set: Option<fn(&mut Settings, String)>,
) -> UciOption {
    UciOption::new(name, help, Kind::Text(default, set))
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
        Self { name, help, kind, aliases: &[], in_matches: false, action: None }
    }

    const fn or(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }

    const fn in_matches(self) -> Self {
        Self { in_matches: true, ..self }
    }

    const fn then(self, action: Action) -> Self {
        Self { action: Some(action), ..self }
    }

    /// The `option` line of the handshake.
    pub fn declaration(&self) -> String {
        let kind = match &self.kind {
            Kind::Spin(default, range, _) => {
                format!("spin default {default} min {} max {}", range.start(), range.end())
            }
            Kind::Check(default, _) => format!("check default {default}"),
            Kind::Button => String::from("button"),
            Kind::Text("", _) => String::from("string default <empty>"),
            Kind::Text(default, _) => format!("string default {default}"),
        };
        format!("option name {} type {kind}", self.name)
    }

    /// Checks a value, stores it and returns it as text. The error names the option, the value and the allowed values.
    pub fn set(&self, value: Option<&str>, settings: &mut Settings) -> Result<String, String> {
        let name = self.name;
        let text = value.unwrap_or("").trim();
        let refusal = |allowed: &str| match value {
            Some(_) => format!("setoption {name}: expected {allowed}, found '{}'", excerpt(text)),
            None => format!("setoption {name}: missing value; expected {allowed}"),
        };
        match &self.kind {
            Kind::Button => Ok(String::new()),
            Kind::Text(_, set) => {
                let text = if text.eq_ignore_ascii_case("<empty>") { "" } else { text };
                if let Some(set) = set {
                    set(settings, text.to_owned());
                }
                Ok(text.to_owned())
            }
            Kind::Check(_, set) => {
                let on: bool = text.to_ascii_lowercase().parse().map_err(|_| refusal("true or false"))?;
                set(settings, on);
                Ok(on.to_string())
            }
            Kind::Spin(_, range, set) => match text.parse() {
                Ok(number) if range.contains(&number) => {
                    set(settings, number);
                    Ok(number.to_string())
                }
                _ => Err(refusal(&format!("an integer from {} to {}", range.start(), range.end()))),
            },
        }
    }

    /// Stores the value at start-up.
    fn reset(&self, settings: &mut Settings) {
        match &self.kind {
            Kind::Spin(default, _, set) => set(settings, *default),
            Kind::Check(default, set) => set(settings, *default),
            Kind::Text(default, Some(set)) => set(settings, (*default).to_owned()),
            Kind::Button | Kind::Text(_, None) => {}
        }
    }
}

/// The search parameters and the switches of rules.
#[cfg(feature = "tune")]
fn tuning_table() -> impl Iterator<Item = &'static params::Parameter> {
    params::TABLE.iter().chain(rules::SWITCHES)
}

/// The search parameters and the switches of rules as options; empty without the feature `tune`.
#[cfg(feature = "tune")]
pub(super) fn tuning_declarations() -> Vec<String> {
    let spin = |p: &params::Parameter| {
        format!("option name {} type spin default {} min {} max {}", p.name, p.default, p.min, p.max)
    };
    tuning_table().map(spin).collect()
}

#[cfg(not(feature = "tune"))]
pub(super) fn tuning_declarations() -> Vec<String> {
    Vec::new()
}

/// Sets a search parameter or a switch of a rule.
#[cfg(feature = "tune")]
pub(super) fn set_parameter(name: &str, value: Option<&str>) -> Result<(), String> {
    let parameter = tuning_table().find(|p| p.name.eq_ignore_ascii_case(name));
    let Some(p) = parameter else {
        return Err(unknown_option(name));
    };
    let number = value.and_then(|text| text.trim().parse().ok()).filter(|number| (p.min..=p.max).contains(number));
    let refusal = || format!("setoption {}: the value must be an integer from {} to {}", p.name, p.min, p.max);
    let number = number.ok_or_else(refusal)?;
    let _known = params::set(p.name, number) || rules::set(p.name, number);
    Ok(())
}

#[cfg(not(feature = "tune"))]
pub(super) fn set_parameter(name: &str, _value: Option<&str>) -> Result<(), String> {
    let parameter = params::TABLE.iter().find(|p| p.name.eq_ignore_ascii_case(name));
    Err(parameter.map_or_else(
        || unknown_option(name),
        |p| {
            let name = p.name;
            format!("setoption {name}: search parameters can only be set in a build with --features tune")
        },
    ))
}

fn unknown_option(name: &str) -> String {
    format!("setoption: unknown option '{}'; type 'help' for the list", excerpt(name))
}

// The values of the options.

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
    /// `Hash`: size of the transposition table in MiB.
    pub hash: usize,
    /// `Threads`
    pub threads: usize,
    /// `SyzygyPath`
    pub syzygy_path: String,
    /// `Hash File`
    pub hash_file: String,
}

impl Settings {
    /// Settings with the default values of the option table.
    pub fn new() -> Self {
        let mut settings = Self::default();
        OPTIONS.iter().for_each(|option| option.reset(&mut settings));
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

// The net of `EvalFile`.

/// The default of `EvalFile`: the embedded net.
pub const EMBEDDED_NET: &str = "<default>";
/// The largest seed. 0 means a new one for each game.
pub const SEED_MAX: u32 = i32::MAX as u32;

/// A net that was read and checked.
pub struct LoadedNet {
    /// The net itself.
    pub network: Arc<Network>,
    /// Short name of the net.
    pub name: String,
    /// Description of the net for the user.
    pub summary: String,
}

/// A path without surrounding quotes.
pub fn unquoted(path: &str) -> &str {
    let path = path.trim();
    let inner = ['"', '\''].iter().find_map(|&quote| path.strip_prefix(quote)?.strip_suffix(quote));
    inner.unwrap_or(path).trim()
}

/// The file that `EvalFile` names; `None` for the embedded net.
fn net_file(value: &str) -> Option<&str> {
    let name = unquoted(value);
    let is_embedded =
        name.is_empty() || name.eq_ignore_ascii_case(EMBEDDED_NET) || name.eq_ignore_ascii_case("<empty>");
    (!is_embedded).then_some(name)
}

/// Loads the net named by the option's value. The error states the problem and the folders that were searched.
pub fn load_net(value: &str) -> Result<LoadedNet, String> {
    let Some(name) = net_file(value) else {
        let network = Network::embedded();
        let summary = format!("EvalFile: {EMBEDDED_NAME}, {}", describe_net(&network));
        return Ok(LoadedNet { network, name: EMBEDDED_NAME.to_owned(), summary });
    };
    let path = find_in(Path::new(name), &net_folders()).ok_or_else(|| not_found(name))?;
    if !path.is_file() {
        // Reading a pipe or a device might block forever.
        return Err(format!("'{}': not a regular file", path.shown()));
    }
    let failed = |error| format!("'{}': {}", path.shown(), reason::of(&error));
    let network = Network::from_file(&path).map_err(failed)?;
    let name = path.file_name().map_or_else(|| path.shown(), |name| name.shown());
    let summary = format!("EvalFile: {name}, {}", describe_net(&network));
    Ok(LoadedNet { network: Arc::new(network), name, summary })
}

/// Name of the embedded net.
pub const EMBEDDED_NAME: &str = "the embedded net";

/// Shape, description, size and hash of a net, in this order, because a GUI may show only the beginning.
fn describe_net(network: &Network) -> String {
    let info = network.info();
    format!("{}, \"{}\", {} bytes, sha256 {}", info.architecture, excerpt(&info.description), info.size, info.sha256)
}

/// Folders in which a relative path is searched, in this order. GUIs start engines in folders of their own choice.
fn net_folders() -> Vec<PathBuf> {
    let mut folders = vec![PathBuf::new(), PathBuf::from("nets")];
    if let Some(folder) = std::env::current_exe().ok().as_deref().and_then(Path::parent) {
        folders.push(folder.to_owned());
        folders.push(folder.join("nets"));
    }
    folders
}

/// Path of the file in the first folder that contains it. (Joining an absolute path yields that path.)
fn find_in(name: &Path, folders: &[PathBuf]) -> Option<PathBuf> {
    folders.iter().map(|folder| folder.join(name)).find(|path| path.exists())
}

fn not_found(name: &str) -> String {
    format!(
        "'{}' not found in the working directory, in the program's folder, or in a 'nets' folder of either",
        excerpt(name)
    )
}

// UCI options for levels: the current level and the seed of the game.

/// `UCI_LimitStrength`, `UCI_Elo`, `Skill Level` and `Level Seed`.
#[derive(Clone, Debug)]
pub struct LevelChoice {
    /// `UCI_LimitStrength`
    pub limit_strength: bool,
    /// `UCI_Elo`
    pub elo: i32,
    /// `Skill Level`
    pub skill: i32,
    /// `Level Seed`; 0 means a new random seed for each game.
    fixed_seed: u64,
    /// The seed of this game.
    seed: u64,
    /// The level that was last reported.
    reported: Option<Level>,
}

impl Default for LevelChoice {
    fn default() -> Self {
        Self {
            limit_strength: false,
            elo: ELO_MIN,
            skill: SKILL_MAX,
            fixed_seed: 0,
            seed: fresh_seed(),
            reported: None,
        }
    }
}

impl LevelChoice {
    /// The Elo of the current level; `UCI_LimitStrength` has priority over `Skill Level`.
    fn elo_in_force(&self) -> Option<i32> {
        if self.limit_strength { Some(self.elo) } else { elo_of_skill(self.skill) }
    }

    /// The level to play at; `None` for full strength.
    pub fn level(&self) -> Option<Level> {
        self.elo_in_force().map(|elo| Level::of(elo, self.seed))
    }

    /// Sets `Level Seed`; it applies at once, also to the current game.
    pub fn set_seed(&mut self, seed: u64) {
        self.fixed_seed = seed;
        self.new_game();
    }

    /// Chooses a new seed for the next game, unless the seed is fixed.
    pub fn new_game(&mut self) {
        self.new_game_with(fresh_seed());
    }

    /// Uses `seed` for the next game, unless the seed is fixed.
    pub fn new_game_with(&mut self, seed: u64) {
        self.seed = match self.fixed_seed {
            0 => seed,
            fixed => fixed,
        };
        self.reported = None;
    }

    /// Message about the level, if it changed since the last report. It contains the seed, with which the game can be
    /// repeated.
    pub fn change_message(&mut self) -> Option<String> {
        let (elo, level) = (self.elo_in_force()?, self.level()?);
        let reported = self.reported.replace(level);
        (reported != Some(level)).then(|| format!("Level: Elo {elo}, Level Seed {}", self.seed))
    }
}

/// A random seed in the range of the option, but not 0.
fn fresh_seed() -> u64 {
    rng::arbitrary() % u64::from(SEED_MAX) + 1
}

// UCI options of the opening book: use of the book, its depth, and the seed of the game.

/// `OwnBook`, `Book File`, `Book Depth` and `Book Seed`.
#[derive(Clone, Debug)]
pub struct BookChoice {
    /// `OwnBook`
    pub own: bool,
    /// `Book Depth`: the last move number at which the book is probed.
    pub depth: u32,
    /// The book that `Book File` names.
    pub book: Option<Arc<Book>>,
    /// `Book Seed`; 0 means a new random seed for each game.
    fixed_seed: u64,
    /// The seed of this game.
    seed: u64,
}

impl Default for BookChoice {
    fn default() -> Self {
        Self { own: false, depth: 0, book: None, fixed_seed: 0, seed: rng::arbitrary() }
    }
}

impl BookChoice {
    /// Sets `Book Seed`; it applies at once, also to the current game.
    pub fn set_seed(&mut self, seed: u64) {
        self.fixed_seed = seed;
        self.new_game();
    }

    /// Chooses a new seed for the next game, unless the seed is fixed.
    pub fn new_game(&mut self) {
        self.seed = match self.fixed_seed {
            0 => rng::arbitrary(),
            fixed => fixed,
        };
    }

    /// The book's move. Returns `None` for analysis, pondering, mate searches and searches restricted to root moves.
    /// The same seed and position give the same move.
    pub fn probe(&self, position: &Position, limits: &Limits) -> Option<BookMove> {
        let is_plain_search = !limits.infinite
            && !limits.ponder
            && limits.mate.is_none()
            && limits.search_moves.is_none()
            && limits.exclude_moves.is_empty();
        if !self.own || !is_plain_search || position.fullmoves() > self.depth {
            return None;
        }
        let mut rng = SplitMix64::new(self.seed ^ position.key());
        self.book.as_ref()?.choose(position, &mut rng)
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
                Kind::Check(..) | Kind::Button => {}
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
                Kind::Button => ("button".into(), String::new()),
                Kind::Text("", _) => ("empty".into(), String::new()),
                Kind::Text(_, None) if option.action.is_none() => (String::new(), String::new()),
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
            let (before, mut settings) = (Settings::new(), Settings::new());
            (settings.level, settings.book) = (before.level.clone(), before.book.clone());
            let value = option.set(default, &mut settings);
            assert!(value.is_ok_and(|value| value == default.unwrap_or("").replace("<empty>", "")), "{}", option.name);
            if !option.name.ends_with("Seed") {
                assert_eq!(format!("{before:?}"), format!("{settings:?}"), "{}", option.name);
            }
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
        let assign = |name, value| find(name).expect("an option").set(value, &mut Settings::new());
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
                Kind::Button => String::new(),
                Kind::Text(..) => "other".into(),
            };
            let mut settings = Settings::new();
            let before = shown(&settings);
            option.set(Some(&other), &mut settings).expect("a valid value");
            let is_stored = !matches!(option.kind, Kind::Button | Kind::Text(_, None));
            assert_eq!(before != shown(&settings), is_stored, "{}", option.name);
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

#[cfg(test)]
mod player_tests {
    use super::*;

    #[test]
    fn empty_and_default_values_select_the_embedded_net() {
        for value in ["", "<default>", "<empty>", " <DEFAULT> ", "\"\""] {
            assert_eq!(net_file(value), None, "{value}");
        }
        assert_eq!(net_file(" \"my nets/a b.nnue\" "), Some("my nets/a b.nnue"));
        assert_eq!(net_file("'x.nnue'"), Some("x.nnue"));
        assert_eq!(net_file("it's.nnue"), Some("it's.nnue"));
    }

    #[test]
    fn find_searches_every_folder() {
        let root = std::env::temp_dir().join(format!("zoothera-evalfile-{}.tmp", std::process::id()));
        let nets = root.join("nets");
        std::fs::create_dir_all(&nets).expect("a temporary folder");
        std::fs::write(nets.join("a b.nnue"), b"x").expect("a temporary file");
        let folders = [root.clone(), nets.clone()];
        let found = find_in(Path::new("a b.nnue"), &folders);
        let absent = find_in(Path::new("c.nnue"), &folders);
        let _ = std::fs::remove_dir_all(&root);
        assert_eq!(found, Some(nets.join("a b.nnue")));
        assert_eq!(absent, None);
    }

    #[test]
    fn error_for_missing_net_names_the_folders() {
        let error = load_net("no such net.nnue").err().unwrap_or_default();
        assert!(error.contains("no such net.nnue") && error.contains("nets"), "{error}");
    }
}

#[cfg(test)]
mod level_tests {
    use super::*;

    #[test]
    fn limit_strength_overrides_skill() {
        let mut choice = LevelChoice::default();
        assert_eq!(choice.level(), None);
        choice.skill = 0;
        assert_eq!(choice.level(), Some(Level::of(ELO_MIN, choice.seed)));
        (choice.limit_strength, choice.elo) = (true, 1234);
        assert_eq!(choice.level(), Some(Level::of(1234, choice.seed)));
    }

    #[test]
    fn new_game_changes_seed_unless_fixed() {
        let mut choice = LevelChoice { skill: 3, ..LevelChoice::default() };
        let seeds: Vec<u64> = (0..8)
            .map(|_| {
                choice.new_game();
                choice.level().map_or(0, |level| level.seed)
            })
            .collect();
        assert!(seeds.iter().any(|&seed| seed != seeds[0]), "{seeds:?}");
        choice.set_seed(7);
        choice.new_game();
        assert_eq!(choice.level().map(|level| level.seed), Some(7));
        assert!(choice.change_message().is_some_and(|text| text.ends_with("Seed 7")));
        assert_eq!(choice.change_message(), None);
    }
}
