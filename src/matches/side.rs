//! A player: net and options, and the engine that plays with them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, anyhow, bail, ensure};
use serde::Serialize;

use crate::board::{Move, Position};
use crate::nnue::Network;
use crate::search::Controller;
use crate::search::{Limits, Score, Silent, ThreadPool};
use crate::tools::load_network;
use crate::uci::options::{self, Id, OptionValue};
use crate::uci::settings::Settings;
use crate::util::text::Shown as _;

/// Names of the embedded net.
const EMBEDDED: [&str; 2] = ["default", "<default>"];
/// The largest seed of a level.
const SEEDS: u64 = 2_147_483_647;

/// What a player plays with.
#[derive(Clone, Serialize)]
pub struct Side {
    /// Name in reports and games.
    pub name: String,
    /// Net as the command line names it.
    pub net: String,
    /// SHA-256 of the net.
    pub sha256: String,
    /// Options other than the defaults, as `NAME=VALUE`.
    pub options: Vec<String>,
    #[serde(skip)]
    network: Arc<Network>,
    #[serde(skip)]
    settings: Settings,
    #[serde(skip)]
    hash: usize,
    #[serde(skip)]
    threads: usize,
    #[serde(skip)]
    tables: String,
    /// Whether the options fix the seed of a level.
    #[serde(skip)]
    seeded: bool,
}

impl Side {
    /// Reads the net and the options.
    ///
    /// # Errors
    /// When the net cannot be read, or an option does not exist, has a bad value or does nothing in a match.
    pub fn new(net: Option<&Path>, hash: u32, threads: u16, options: &[String]) -> Result<Self> {
        let path = net.filter(|path| !EMBEDDED.iter().any(|name| path == &Path::new(name)));
        let network = load_network(path)?;
        let net = path.map_or_else(|| EMBEDDED[0].into(), |path| path.shown());
        let short = path.and_then(Path::file_name);
        let mut side = Self {
            name: short.map_or_else(|| net.clone(), |name| name.shown()),
            net,
            sha256: network.info().sha256,
            options: Vec::new(),
            network,
            settings: Settings::new(),
            hash: hash as usize,
            threads: threads.into(),
            tables: String::new(),
            seeded: false,
        };
        for option in options {
            side.set(option)?;
        }
        Ok(side)
    }

    /// Sets an option, `NAME=VALUE` as UCI has it.
    fn set(&mut self, text: &str) -> Result<()> {
        let Some((name, value)) = text.split_once('=') else {
            bail!("--option {text}: the form is NAME=VALUE");
        };
        let Some(spec) = options::find(name.trim()) else {
            bail!("--option {text}: there is no option '{}'", name.trim());
        };
        let value =
            spec.parse(Some(value)).map_err(|error| anyhow!("--option {}", error.trim_start_matches("setoption ")))?;
        match spec.id {
            Id::Hash => self.hash = value.int() as usize,
            Id::Threads => self.threads = value.int() as usize,
            Id::SyzygyPath => value.text().clone_into(&mut self.tables),
            Id::EvalFile => bail!("--option {text}: give the net with --net"),
            Id::MultiPv
            | Id::MoveOverhead
            | Id::SyzygyProbeDepth
            | Id::SyzygyProbeLimit
            | Id::Syzygy50MoveRule
            | Id::AnalyseMode
            | Id::LimitStrength
            | Id::Elo
            | Id::SkillLevel
            | Id::LevelSeed => {
                self.seeded |= spec.id == Id::LevelSeed && value.int() != 0;
                self.settings.apply(spec.id, &value);
            }
            _ => bail!("--option {text}: {} does nothing in a match", spec.name),
        }
        let shown = |value: &OptionValue| match value {
            OptionValue::Int(number) => number.to_string(),
            OptionValue::Flag(flag) => flag.to_string(),
            other => other.text().to_owned(),
        };
        let name = format!("{}=", spec.name);
        self.options.retain(|set| !set.starts_with(&name));
        self.options.push(format!("{name}{}", shown(&value)));
        Ok(())
    }

    /// Search threads.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Whether a game with the same nodes is the same game.
    pub fn is_deterministic(&self) -> bool {
        self.threads == 1
    }

    /// Everything that the moves depend on but the limits, in words.
    pub fn description(&self) -> String {
        format!(
            "net {}, hash {}, threads {}, options [{}]",
            self.sha256,
            self.hash,
            self.threads,
            self.options.join(", ")
        )
    }

    /// The file of the net; `None` for the embedded one.
    pub fn file(&self) -> Option<PathBuf> {
        (!EMBEDDED.contains(&self.net.as_str())).then(|| PathBuf::from(&self.net))
    }
}

/// Gives both sides names that differ, made of net and options.
pub fn name_apart(sides: &mut [Side; 2]) {
    if sides[0].name == sides[1].name {
        let own: [Vec<String>; 2] = [(0, 1), (1, 0)].map(|(side, other)| {
            let theirs = &sides[other].options;
            let own = sides[side].options.iter();
            own.filter(|option| !theirs.contains(option)).cloned().collect()
        });
        for (side, own) in sides.iter_mut().zip(own) {
            if !own.is_empty() {
                side.name = format!("{} ({})", side.name, own.join(", "));
            }
        }
    }
    if sides[0].name == sides[1].name {
        for (side, letter) in sides.iter_mut().zip(["A", "B"]) {
            side.name = format!("{} {letter}", side.name);
        }
    }
}

/// What a search found.
pub struct FoundMove {
    /// The move.
    pub m: Move,
    /// Its score for the side to move.
    pub score: Score,
    /// Depth of the search in plies.
    pub depth: i32,
}

/// The engine of one player.
pub struct Engine {
    pool: ThreadPool,
    settings: Settings,
    seeded: bool,
}

impl Engine {
    /// An engine with its own threads and table.
    ///
    /// # Errors
    /// When memory for the table is missing, or tablebases cannot be opened.
    pub fn new(side: &Side) -> Result<Self> {
        let mut pool = ThreadPool::new(side.network.clone(), side.threads, side.hash);
        ensure!(
            pool.hash() >= side.hash,
            "there is no memory for a table of {} MiB for every player: give a smaller --hash or --concurrency",
            side.hash
        );
        if !side.tables.is_empty() {
            pool.set_syzygy_path(&side.tables)?;
        }
        Ok(Self { pool, settings: side.settings.clone(), seeded: side.seeded })
    }

    /// Clears table and histories. `seed` decides what a level misjudges in this game, if the options do not.
    pub fn begin(&mut self, seed: u64) {
        self.pool.clear();
        if !self.seeded {
            let seed = (seed % SEEDS + 1) as i64;
            self.settings.apply(Id::LevelSeed, &OptionValue::Int(seed));
        }
    }

    /// The best move of a search; `None` where there is none.
    pub fn search(&mut self, position: &Position, limits: Limits) -> Option<FoundMove> {
        let options = self.settings.for_search();
        let outcome = self.pool.search(position.clone(), limits, options, Arc::new(Silent));
        let line = outcome.line?;
        Some(FoundMove { m: outcome.best?, score: line.score, depth: line.depth })
    }

    /// Stops a search from another thread.
    pub fn controller(&self) -> Controller {
        self.pool.controller()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(options: &[&str]) -> Result<Side> {
        let options: Vec<String> = options.iter().map(|&text| text.to_owned()).collect();
        Side::new(None, 16, 1, &options)
    }

    #[test]
    fn options_are_checked_by_name_and_value() {
        let set = side(&["skill level=3", "Hash=32", "Skill Level=4"]).expect("options");
        assert_eq!(set.options, ["Hash=32", "Skill Level=4"]);
        assert!(set.description().contains("hash 32"));
        for (option, reason) in [
            ("Hash", "NAME=VALUE"),
            ("Contempt=3", "no option 'Contempt'"),
            ("Hash=0", "--option Hash: expected an integer from 1"),
            ("OwnBook=true", "does nothing in a match"),
            ("EvalFile=x", "--net"),
        ] {
            let error = side(&[option]).err().expect(option).to_string();
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn names_of_both_sides_differ() {
        let named = |a: &[&str], b: &[&str]| {
            let mut sides = [side(a).expect("a"), side(b).expect("b")];
            name_apart(&mut sides);
            sides.map(|side| side.name)
        };
        assert_eq!(named(&[], &[]), ["default A", "default B"]);
        assert_eq!(named(&["Hash=8", "Skill Level=4"], &["Hash=8"]), ["default (Skill Level=4)", "default"]);
    }
}
