//! A player: net, options and clock, and the engine that plays with them.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, bail, ensure};
use serde::Serialize;

use crate::board::{Color, Move, Position};
use crate::nnue::Network;
use crate::search::{Controller, Limits, Score, SideClock, Silent, ThreadPool};
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
        let nodes_per_ms = options.nodes_time as f64;
        let started = Instant::now();
        let outcome = self.pool.search(position.clone(), limits, options, Arc::new(Silent));
        let time = if nodes_per_ms > 0.0 {
            Duration::from_secs_f64(outcome.progress.nodes as f64 / nodes_per_ms / 1000.0)
        } else {
            started.elapsed()
        };
        let line = outcome.line?;
        Some(FoundMove { m: outcome.best?, score: line.score, depth: line.depth, time })
    }

    /// The controller that stops a search from another thread.
    pub fn controller(&self) -> Controller {
        self.pool.controller()
    }
}

// Time controls, and the clock of a game.

/// A time control: `8+0.08`, `40/60+0.5`, `1:30+1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeControl {
    /// Moves for which the time is given; `None` for the whole game.
    moves: Option<u32>,
    /// Time in milliseconds.
    time: i64,
    /// Increment per move in milliseconds.
    increment: i64,
}

/// Milliseconds of `8`, `0.08` or `1:30`.
fn milliseconds(text: &str) -> Option<i64> {
    let (minutes, seconds) = text.split_once(':').unwrap_or(("0", text));
    let (minutes, seconds): (u32, f64) = (minutes.parse().ok()?, seconds.parse().ok()?);
    let time = 60_000.0 * f64::from(minutes) + 1000.0 * seconds;
    (seconds.is_sign_positive() && time < 1e9).then_some(time.round() as i64)
}

impl FromStr for TimeControl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = || {
            let (moves, rest) = match text.split_once('/') {
                Some((moves, rest)) => (Some(moves.parse().ok().filter(|&m| m > 0)?), rest),
                None => (None, text),
            };
            let (time, increment) = rest.split_once('+').unwrap_or((rest, "0"));
            Some(Self {
                moves,
                time: milliseconds(time).filter(|&time| time > 0)?,
                increment: milliseconds(increment)?,
            })
        };
        parsed().ok_or_else(|| "a time control is [MOVES/]SECONDS[+INCREMENT], as in 8+0.08, 40/60 or 1:30+1".into())
    }
}

/// Formats the control as in PGN's tag `TimeControl`.
impl fmt::Display for TimeControl {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let seconds = |ms: i64| ms as f64 / 1000.0;
        if let Some(moves) = self.moves {
            write!(f, "{moves}/")?;
        }
        write!(f, "{}", seconds(self.time))?;
        if self.increment > 0 {
            write!(f, "+{}", seconds(self.increment))?;
        }
        Ok(())
    }
}

/// The clock of both sides in one game.
#[derive(Clone, Debug)]
pub struct Clock {
    control: TimeControl,
    /// Microseconds left of White and Black.
    left: [i64; 2],
    /// Moves made by White and Black.
    moves: [u32; 2],
}

impl Clock {
    /// A clock that has not started.
    pub fn new(control: TimeControl) -> Self {
        Self { control, left: [1000 * control.time; 2], moves: [0; 2] }
    }

    /// The limits of the next move of `turn`.
    pub fn limits(&self, turn: Color, limits: &Limits) -> Limits {
        let side = |index: usize| SideClock { time: Some(self.left[index] / 1000), increment: self.control.increment };
        let made = self.moves[index(turn)];
        let to_go = |moves: u32| i64::from(moves - made % moves);
        Limits { white: side(0), black: side(1), moves_to_go: self.control.moves.map(to_go), ..limits.clone() }
    }

    /// Subtracts the time of a move by `turn`. Returns false if the time left plus `margin` was not enough.
    pub fn charge(&mut self, turn: Color, spent: Duration, margin: Duration) -> bool {
        let micros = |time: Duration| i64::try_from(time.as_micros()).unwrap_or(i64::MAX);
        let side = index(turn);
        self.left[side] -= micros(spent);
        if self.left[side] + micros(margin) < 0 {
            return false;
        }
        self.left[side] = self.left[side].max(0) + 1000 * self.control.increment;
        self.moves[side] += 1;
        if self.control.moves.is_some_and(|m| self.moves[side].is_multiple_of(m)) {
            self.left[side] += 1000 * self.control.time;
        }
        true
    }
}

fn index(color: Color) -> usize {
    usize::from(color.is_black())
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

#[cfg(test)]
mod clock_tests {
    use super::*;

    #[test]
    fn time_controls_are_read_and_written() {
        for (text, written) in [("8+0.08", "8+0.08"), ("40/60", "40/60"), ("1:30+1", "90+1"), ("0.5", "0.5")] {
            let control: TimeControl = text.parse().expect(text);
            assert_eq!(control.to_string(), written);
        }
        for text in ["", "0", "+1", "8+", "8-1", "-8", "0/60", "x", "8+0.08+1", "inf", "NaN"] {
            assert!(text.parse::<TimeControl>().is_err(), "{text}");
        }
    }

    #[test]
    fn clock_adds_increment_and_next_control_and_falls() {
        let mut clock = Clock::new("2/1+0.1".parse().expect("a control"));
        let white = |clock: &Clock| {
            let limits = clock.limits(Color::White, &Limits::default());
            (limits.white.time, limits.moves_to_go)
        };
        let seconds = Duration::from_millis;
        assert_eq!(white(&clock), (Some(1000), Some(2)));
        assert!(clock.charge(Color::White, seconds(300), Duration::ZERO));
        assert_eq!(white(&clock), (Some(800), Some(1)));
        assert!(clock.charge(Color::White, seconds(800), Duration::ZERO));
        assert_eq!(white(&clock), (Some(1100), Some(2)));
        assert!(!clock.clone().charge(Color::White, seconds(1101), Duration::ZERO));
        assert!(clock.charge(Color::White, seconds(1101), seconds(5)));
        let black = clock.limits(Color::Black, &Limits::default());
        assert_eq!(black.black.time, Some(1000));
    }
}
