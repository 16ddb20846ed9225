//! What plays: the net of `EvalFile`, the level, and the opening book, read and checked before they are used.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::board::Position;
use crate::book::{Book, BookMove};
use crate::level::strength::{SKILL_MAX, elo_of_skill};
use crate::level::{ELO_MIN, Level};
use crate::nnue::Network;
use crate::search::limits::Limits;
use crate::util::rng::SplitMix64;
use crate::util::text::{Shown as _, excerpt};
use crate::util::{reason, rng};

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

/// The value of the option without surrounding quotes; `None` for the embedded net.
pub fn file_name(value: &str) -> Option<&str> {
    let value = value.trim();
    let unquoted = ['"', '\''].iter().find_map(|&quote| value.strip_prefix(quote)?.strip_suffix(quote));
    let name = unquoted.unwrap_or(value).trim();
    let is_embedded =
        name.is_empty() || name.eq_ignore_ascii_case(EMBEDDED_NET) || name.eq_ignore_ascii_case("<empty>");
    (!is_embedded).then_some(name)
}

/// Loads the net named by the option's value. The error states the problem and the folders that were searched.
pub fn load(value: &str) -> Result<LoadedNet, String> {
    let Some(name) = file_name(value) else {
        let network = Network::embedded();
        let summary = format!("EvalFile: {EMBEDDED_NAME}, {}", describe(&network));
        return Ok(LoadedNet { network, name: EMBEDDED_NAME.to_owned(), summary });
    };
    let path = find(Path::new(name), &folders()).ok_or_else(|| not_found(name))?;
    if !path.is_file() {
        // Reading a pipe or a device might block forever.
        return Err(format!("'{}': not a regular file", path.shown()));
    }
    let failed = |error| format!("'{}': {}", path.shown(), reason::of(&error));
    let network = Network::from_file(&path).map_err(failed)?;
    let name = path.file_name().map_or_else(|| path.shown(), |name| name.shown());
    let summary = format!("EvalFile: {name}, {}", describe(&network));
    Ok(LoadedNet { network: Arc::new(network), name, summary })
}

/// Name of the embedded net.
pub const EMBEDDED_NAME: &str = "the embedded net";

/// Shape, description, size and hash of a net, in this order, because a GUI may show only the beginning.
fn describe(network: &Network) -> String {
    let info = network.info();
    format!("{}, \"{}\", {} bytes, sha256 {}", info.architecture, excerpt(&info.description), info.size, info.sha256)
}

/// Folders in which a relative path is searched, in this order. GUIs start engines in folders of their own choice.
fn folders() -> Vec<PathBuf> {
    let mut folders = vec![PathBuf::new(), PathBuf::from("nets")];
    if let Some(folder) = std::env::current_exe().ok().as_deref().and_then(Path::parent) {
        folders.push(folder.to_owned());
        folders.push(folder.join("nets"));
    }
    folders
}

/// Path of the file in the first folder that contains it. (Joining an absolute path yields that path.)
fn find(name: &Path, folders: &[PathBuf]) -> Option<PathBuf> {
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

    #[test]
    fn empty_and_default_values_select_the_embedded_net() {
        for value in ["", "<default>", "<empty>", " <DEFAULT> ", "\"\""] {
            assert_eq!(file_name(value), None, "{value}");
        }
        assert_eq!(file_name(" \"my nets/a b.nnue\" "), Some("my nets/a b.nnue"));
        assert_eq!(file_name("'x.nnue'"), Some("x.nnue"));
        assert_eq!(file_name("it's.nnue"), Some("it's.nnue"));
    }

    #[test]
    fn find_searches_every_folder() {
        let root = std::env::temp_dir().join(format!("zoothera-evalfile-{}.tmp", std::process::id()));
        let nets = root.join("nets");
        std::fs::create_dir_all(&nets).expect("a temporary folder");
        std::fs::write(nets.join("a b.nnue"), b"x").expect("a temporary file");
        let folders = [root.clone(), nets.clone()];
        let found = find(Path::new("a b.nnue"), &folders);
        let absent = find(Path::new("c.nnue"), &folders);
        let _ = std::fs::remove_dir_all(&root);
        assert_eq!(found, Some(nets.join("a b.nnue")));
        assert_eq!(absent, None);
    }

    #[test]
    fn error_for_missing_net_names_the_folders() {
        let error = load("no such net.nnue").err().unwrap_or_default();
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
