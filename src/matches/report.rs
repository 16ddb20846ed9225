//! The results of a match so far: the file from which the match is resumed, and the result as text and as JSON.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use super::plan::Plan;
use super::score::{Decision, Elo, Estimate, Score, Sprt};
use super::side::Side;
use super::table::PlayedGame;
use crate::game::ending::Cause;
use crate::game::play::Tally;
use crate::util::atomic::AtomicFile;
use crate::util::text::{Shown as _, read_bytes};

// The state file.

/// Maximum size of a state file in bytes.
const LARGEST: u64 = 1 << 20;

/// Results so far, in the order of the games' numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Settings that the games depend on, by name.
    pub settings: BTreeMap<String, String>,
    /// Date of the first game, in the format of PGN.
    pub date: String,
    /// Number of finished games, which is also the number of the next game.
    pub games: u64,
    /// Player A's results.
    pub score: Score,
    /// Number of games by the cause of their end.
    pub endings: BTreeMap<Cause, u32>,
    /// Games lost on time by A and B.
    pub late: [u32; 2],
    /// Size of the PGN file in bytes.
    pub pgn_bytes: u64,
    /// CRC-32 of these bytes.
    pub pgn_crc: Option<u32>,
    /// Playing time in seconds.
    pub seconds: f64,
}

impl State {
    /// The state of a new match.
    pub fn new(settings: BTreeMap<String, String>, date: String) -> Self {
        Self { settings, date, ..Self::default() }
    }

    /// Counts the next game. Returns whether it completes a pair.
    pub fn count(&mut self, game: &PlayedGame) -> bool {
        self.games += 1;
        *self.endings.entry(game.ending.cause).or_default() += 1;
        if let Some(side) = game.late {
            self.late[side] += 1;
        }
        self.score.count(game.result)
    }

    /// Reads a state file; `None` if it does not exist.
    ///
    /// # Errors
    /// Fails if the file cannot be read, is not a state file, or belongs to a match with other settings.
    pub fn load(path: &Path, settings: &BTreeMap<String, String>) -> Result<Option<Self>> {
        if !path.exists() {
            return Ok(None);
        }
        let bytes = read_bytes(path, LARGEST);
        let bytes = bytes.with_context(|| format!("cannot read {}", path.shown()))?;
        let state: Self =
            serde_json::from_slice(&bytes).with_context(|| format!("{} is not the state of a match", path.shown()))?;
        let differences = differences(&state.settings, settings);
        if !differences.is_empty() {
            bail!(
                "{} belongs to a match with other settings: {}. Use the same settings, or another --state",
                path.shown(),
                differences.join("; ")
            );
        }
        Ok(Some(state))
    }

    /// Replaces the file atomically.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<()> {
        let mut file = AtomicFile::create(path)?;
        let written = file.write_all(&serde_json::to_vec_pretty(self)?);
        written.with_context(|| format!("cannot write {}", path.shown()))?;
        file.commit_without_sync()
    }
}

/// Each setting that differs, with both values.
pub fn differences(there: &BTreeMap<String, String>, here: &BTreeMap<String, String>) -> Vec<String> {
    let names = there.keys().chain(here.keys());
    let mut names: Vec<&String> = names.collect();
    names.sort();
    names.dedup();
    let value = |map: &BTreeMap<String, String>, name: &String| {
        map.get(name).map_or_else(|| "unknown".to_owned(), Clone::clone)
    };
    let differing = names.into_iter().filter(|name| there.get(*name) != here.get(*name));
    differing
        .map(|name| {
            let (there, here) = (value(there, name), value(here, name));
            format!("{name} was {there} and is now {here}")
        })
        .collect()
}

// The report.

/// The result of a match for player A.
#[derive(Serialize)]
pub struct Report<'a> {
    /// Players A and B.
    players: &'a [Side; 2],
    /// Limit of a move.
    limit: String,
    /// Number of games played and requested.
    played: u64,
    wanted: u64,
    /// Results of A.
    games: Tally,
    /// Share of the points.
    score: f64,
    /// Elo from pairs, and from games taken as independent. Numbers that the results do not determine are null.
    elo_by_pairs: Elo,
    elo_by_games: Elo,
    /// Pairs by A's half points, from 0 to 4.
    pairs: [u32; 5],
    /// The sequential test.
    sprt: Option<TestReport>,
    /// Causes of the games' ends.
    endings: &'a BTreeMap<Cause, u32>,
    /// Games that A and B lost on time.
    lost_on_time: [u32; 2],
    /// Playing time in seconds.
    seconds: f64,
    /// Whether an interrupt ended the match.
    interrupted: bool,
}

/// State of a sequential test.
#[derive(Serialize)]
struct TestReport {
    #[serde(flatten)]
    test: Sprt,
    llr: f64,
    limits: [f64; 2],
    accepted: Option<Decision>,
}

impl<'a> Report<'a> {
    /// The result so far.
    pub fn new(plan: &'a Plan, state: &'a State, interrupted: bool) -> Self {
        let score = &state.score;
        Self {
            players: &plan.sides,
            limit: plan.limit(),
            played: state.games,
            wanted: plan.games,
            games: score.games,
            score: score.share(),
            elo_by_pairs: score.by_pairs(),
            elo_by_games: score.by_games(),
            pairs: score.pairs,
            sprt: plan.sprt.map(|test| TestReport {
                test,
                llr: test.llr(score.pairs),
                limits: Sprt::limits(),
                accepted: Sprt::decision(test.llr(score.pairs)),
            }),
            endings: &state.endings,
            lost_on_time: state.late,
            seconds: state.seconds,
            interrupted,
        }
    }

    /// The result as text of several lines.
    pub fn text(&self) -> String {
        let [a, b] = self.players;
        let Tally { won, drawn, lost } = self.games;
        let mut text = format!("{} against {}, {}\n", a.name, b.name, self.limit);
        let share = 100.0 * self.score;
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{} games: +{won} ={drawn} -{lost}, {share:.1} %", self.played);
        let [ll, ld, dd, wd, ww] = self.pairs;
        let _ = writeln!(text, "pairs, 0 to 2 points: {ll} {ld} {dd} {wd} {ww}");
        for (name, elo) in [("pairs", &self.elo_by_pairs), ("games", &self.elo_by_games)] {
            let _ = writeln!(
                text,
                "Elo from {name}: {}, normalised {}, stronger with {}",
                estimate(elo.elo),
                estimate(elo.normalised),
                percent(elo.superiority)
            );
        }
        if let Some(test) = &self.sprt {
            let _ = writeln!(text, "{}", test.line());
        }
        let endings: Vec<String> =
            self.endings.iter().map(|(cause, count)| format!("{count} {}", words(*cause))).collect();
        let _ = writeln!(text, "ended by: {}", endings.join(", "));
        if self.lost_on_time != [0, 0] {
            let [a_late, b_late] = self.lost_on_time;
            let _ = writeln!(text, "lost on time: {} {a_late}, {} {b_late}", a.name, b.name);
        }
        text
    }
}

impl TestReport {
    fn line(&self) -> String {
        let [low, high] = self.limits;
        let (elo0, elo1) = (self.test.bounds.elo0, self.test.bounds.elo1);
        let decision = match self.accepted {
            Some(Decision::H0) => format!("at most {elo0} Elo (H0 accepted)"),
            Some(Decision::H1) => format!("at least {elo1} Elo (H1 accepted)"),
            None => "not decided".to_owned(),
        };
        format!("sequential test {elo0} to {elo1}: LLR {:.2} of {low:.2} to {high:.2}, {decision}", self.llr)
    }
}

/// Formats an estimate as `+13.9 +- 12.1`. Without an estimate or its error, returns a text that explains why.
fn estimate(estimate: Estimate) -> String {
    let Estimate { value, error } = estimate;
    if value.is_finite() && error.is_finite() {
        format!("{value:+.1} +- {error:.1}")
    } else if value.is_finite() {
        format!("{value:+.1}, too few games for an error")
    } else {
        "not determined".to_owned()
    }
}

fn percent(share: f64) -> String {
    if share.is_finite() { format!("{:.1} %", 100.0 * share) } else { "unknown probability".to_owned() }
}

fn words(cause: Cause) -> &'static str {
    match cause {
        Cause::Mate => "mate",
        Cause::Stalemate => "stalemate",
        Cause::Repetition => "repetition",
        Cause::FiftyMoves => "fifty-move rule",
        Cause::Material => "insufficient material",
        Cause::Time => "time",
        Cause::WinningScore => "winning score",
        Cause::DrawnScore => "drawn score",
        Cause::Length => "number of moves",
    }
}

/// The result so far in one short line.
pub fn short(score: &Score, sprt: Option<Sprt>) -> String {
    let Tally { won, drawn, lost } = score.games;
    let elo = estimate(score.by_pairs().elo);
    let llr = sprt.map(|test| format!(", LLR {:.2}", test.llr(score.pairs)));
    format!("+{won} ={drawn} -{lost}, Elo {elo}{}", llr.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Color;
    use crate::game::ending::Ending;

    fn settings(nodes: &str) -> BTreeMap<String, String> {
        [("nodes".to_owned(), nodes.to_owned())].into()
    }

    #[test]
    fn state_round_trips_and_rejects_other_settings_by_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("state.json");
        let load = |nodes| State::load(&path, &settings(nodes));
        assert_eq!(load("5").expect("no file"), None);
        let mut state = State::new(settings("5"), "2026.11.26".into());
        let game = PlayedGame { ending: Ending::win(Color::White, Cause::Time), result: -1, late: Some(0), pgn: None };
        assert!(!state.count(&game) && state.count(&game));
        state.save(&path).expect("room");
        assert_eq!(load("5").expect("a state"), Some(state));
        let error = load("6").expect_err("other settings").to_string();
        assert!(error.contains("nodes was 5 and is now 6"), "{error}");
        std::fs::write(&path, "{}").expect("room");
        let error = load("5").expect_err("no state").to_string();
        assert!(error.contains("is not the state of a match"), "{error}");
    }
}

#[cfg(test)]
mod report_tests {
    use super::*;

    #[test]
    fn undetermined_estimates_are_named() {
        let text = |value, error| estimate(Estimate { value, error });
        assert_eq!(text(1.25, 10.0), "+1.2 +- 10.0");
        assert_eq!(text(f64::INFINITY, f64::NAN), "not determined");
        assert!(text(3.0, f64::NAN).contains("too few games"));
        assert_eq!(percent(f64::NAN), "unknown probability");
    }
}
