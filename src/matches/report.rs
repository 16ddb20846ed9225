//! The result of a match, as text and as JSON.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

use super::plan::Plan;
use super::score::{Decision, Elo, Estimate, Score, Sprt};
use super::side::Side;
use super::state::State;
use crate::game::ending::Cause;
use crate::game::referee::Tally;

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

    #[test]
    fn undetermined_estimates_are_named() {
        let text = |value, error| estimate(Estimate { value, error });
        assert_eq!(text(1.25, 10.0), "+1.2 +- 10.0");
        assert_eq!(text(f64::INFINITY, f64::NAN), "not determined");
        assert!(text(3.0, f64::NAN).contains("too few games"));
        assert_eq!(percent(f64::NAN), "unknown probability");
    }
}
