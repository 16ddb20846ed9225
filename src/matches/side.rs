//! A player: net and options, and the engine that plays with them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, bail, ensure};
use serde::Serialize;

use crate::board::{Move, Position};
use crate::game::clock::time_of_nodes;
use crate::nnue::Network;
use crate::search::{Controller, Limits, Score, Silent, ThreadPool};
use crate::tools::load_network;
use crate::uci::options::{self, Action, SEED_MAX, Settings};
use crate::util::text::Shown as _;

/// Names of the embedded net on the command line.
const EMBEDDED: [&str; 2] = ["default", "<default>"];

/// Net and options of a player.
#[derive(Clone, Serialize)]
pub struct Side {
    /// Name in reports and games.
    pub name: String,
    /// Net as on the command line.
    pub net: String,
    /// SHA-256 of the net.
    pub sha256: String,
    /// Options that were given, as `NAME=VALUE`.
    pub options: Vec<String>,
    #[serde(skip)]
    network: Arc<Network>,
    #[serde(skip)]
    settings: Settings,
}

impl Side {
    /// Reads the net and the options.
    ///
    /// # Errors
    /// Fails if the net cannot be read, or an option does not exist, has an invalid value or has no effect in a match.
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
            settings: Settings { hash: hash as usize, threads: threads.into(), ..Settings::new() },
        };
        for option in options {
            side.set(option)?;
        }
        Ok(side)
    }

    /// Sets a UCI option, given as `NAME=VALUE`.
    fn set(&mut self, text: &str) -> Result<()> {
        let Some((name, value)) = text.split_once('=') else {
            bail!("--option {text}: expected NAME=VALUE");
        };
        let Some(option) = options::find(name.trim()) else {
            bail!("--option {text}: there is no option '{}'", name.trim());
        };
        match option.action {
            Some(Action::EvalFile) => bail!("--option {text}: give the net with --net"),
            _ if !option.in_matches => bail!("--option {text}: {} does nothing in a match", option.name),
            _ => {}
        }
        let value = option
            .set(Some(value), &mut self.settings)
            .map_err(|error| anyhow!("--option {}", error.trim_start_matches("setoption ")))?;
        let name = format!("{}=", option.name);
        self.options.retain(|set| !set.starts_with(&name));
        self.options.push(format!("{name}{value}"));
        Ok(())
    }

    /// Search threads.
    pub fn threads(&self) -> usize {
        self.settings.threads
    }

    /// Whether games with node limits are reproducible.
    pub fn is_deterministic(&self) -> bool {
        self.settings.threads == 1
    }

    /// Whether the player's clock measures time. Otherwise it counts nodes.
    pub fn has_real_clock(&self) -> bool {
        self.settings.search.nodes_time == 0
    }

    /// Description of all settings that the moves depend on, except the limits.
    pub fn description(&self) -> String {
        format!(
            "net {}, hash {}, threads {}, options [{}]",
            self.sha256,
            self.settings.hash,
            self.settings.threads,
            self.options.join(", ")
        )
    }

    /// The file of the net; `None` for the embedded one.
    pub fn file(&self) -> Option<PathBuf> {
        (!EMBEDDED.contains(&self.net.as_str())).then(|| PathBuf::from(&self.net))
    }
}

/// Makes the names of both sides different, by their options or a letter.
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

/// Result of a search.
pub struct FoundMove {
    /// The move.
    pub m: Move,
    /// Its score for the side to move.
    pub score: Score,
    /// Depth of the search in plies.
    pub depth: i32,
    /// Time that the move took on the player's clock.
    pub time: Duration,
}

/// The engine of one player.
pub struct Engine {
    pool: ThreadPool,
    settings: Settings,
}

impl Engine {
    /// An engine with its own threads and table.
    ///
    /// # Errors
    /// Fails if there is not enough memory for the table, or tablebases cannot be opened.
    pub fn new(side: &Side) -> Result<Self> {
        let mut pool = ThreadPool::new(side.network.clone(), side.settings.threads, side.settings.hash);
        ensure!(
            pool.hash() >= side.settings.hash,
            "not enough memory for a table of {} MiB for each player: reduce --hash or --concurrency",
            side.settings.hash
        );
        if !side.settings.syzygy_path.is_empty() {
            pool.set_syzygy_path(&side.settings.syzygy_path)?;
        }
        Ok(Self { pool, settings: side.settings.clone() })
    }

    /// Clears table and histories. `seed` is the seed of a level in this game, unless the options fix one.
    pub fn begin(&mut self, seed: u64) {
        self.pool.clear();
        self.settings.level.new_game_with(seed % u64::from(SEED_MAX) + 1);
    }

    /// Searches a position; `None` if there is no legal move.
    pub fn search(&mut self, position: &Position, limits: Limits) -> Option<FoundMove> {
        let options = self.settings.for_search();
        let nodes_per_ms = options.nodes_time;
        let started = Instant::now();
        let outcome = self.pool.search(position.clone(), limits, options, Arc::new(Silent));
        let time = match nodes_per_ms {
            0 => started.elapsed(),
            _ => time_of_nodes(outcome.progress.nodes, nodes_per_ms),
        };
        let line = outcome.line?;
        Some(FoundMove { m: outcome.best?, score: line.score, depth: line.depth, time })
    }

    /// The controller that stops a search from another thread.
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
