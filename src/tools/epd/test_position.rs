//! The meaning of a test position: which moves solve it and what each is worth.

use anyhow::{Result, bail};

use super::record::EpdRecord;
use crate::board::{Move, Position};
use crate::tools::position_from_fen;

/// A position with what a good engine should play.
pub struct TestPosition {
    /// The position.
    pub position: Position,
    /// The name in the suite, if it has one.
    pub id: Option<String>,
    /// Moves that solve it (`bm`).
    pub best: Vec<Move>,
    /// Moves that fail it (`am`).
    pub avoid: Vec<Move>,
    /// What moves are worth (`c0 "f5=10, Be5+=2"`); empty if the suite does not say.
    pub points: Vec<(Move, u32)>,
    /// Moves that the suite names but the position does not have.
    pub warnings: Vec<String>,
}

impl TestPosition {
    /// Understands a line of a suite. Fails when the position is bad or nothing says what to play.
    pub fn parse(line: &str) -> Result<Self> {
        let record = EpdRecord::parse(line)?;
        let position = position_from_fen(&record.fen)?;
        let mut warnings = Vec::new();
        let best = named_moves(&position, &record, "bm", &mut warnings);
        let avoid = named_moves(&position, &record, "am", &mut warnings);
        let points = scored_moves(&position, record.text("c0").unwrap_or(""), &mut warnings);
        if best.is_empty() && avoid.is_empty() && points.is_empty() {
            match warnings.first() {
                Some(warning) => bail!("{warning}"),
                None => bail!("neither bm nor am nor scored moves"),
            }
        }
        let id = record.text("id").map(str::to_owned);
        Ok(Self {
            position,
            id,
            best,
            avoid,
            points,
            warnings,
        })
    }

    /// Whether playing `m` solves the task.
    pub fn is_solved_by(&self, m: Move) -> bool {
        if self.avoid.contains(&m) {
            return false;
        }
        if !self.best.is_empty() {
            return self.best.contains(&m);
        }
        self.points.is_empty() || self.points_of(m) == self.max_points()
    }

    /// What playing `m` is worth.
    pub fn points_of(&self, m: Move) -> u32 {
        let found = self.points.iter().find(|(scored, _)| *scored == m);
        found.map_or(0, |(_, points)| *points)
    }

    /// What the best move is worth; 0 for a task without points.
    pub fn max_points(&self) -> u32 {
        self.points
            .iter()
            .map(|(_, points)| *points)
            .max()
            .unwrap_or(0)
    }

    /// What was wanted, as the suite says it: `bm Qg6` or `am Kb1`.
    pub fn goal(&self) -> String {
        let list = |opcode: &str, moves: &[Move]| {
            let names: Vec<_> = moves.iter().map(|&m| self.position.san(m)).collect();
            if names.is_empty() {
                String::new()
            } else {
                format!("{opcode} {}", names.join(" "))
            }
        };
        let goals = [list("bm", &self.best), list("am", &self.avoid)];
        goals
            .iter()
            .filter(|goal| !goal.is_empty())
            .cloned()
            .collect::<Vec<_>>()
            .join(", ")
    }
}

/// A move in SAN or in coordinates; suites decorate both.
pub(crate) fn parse_move(position: &Position, text: &str) -> Result<Move> {
    let plain = text.trim().trim_end_matches(['+', '#', '!', '?', ',']);
    position
        .parse_san(plain)
        .or_else(|error| position.parse_uci(plain).map_err(|_| error))
}

/// The moves of `bm` or `am`.
fn named_moves(
    position: &Position,
    record: &EpdRecord,
    opcode: &str,
    warnings: &mut Vec<String>,
) -> Vec<Move> {
    let operands = record.operands(opcode).unwrap_or_default();
    let parse = |text: &String| {
        parse_move(position, text)
            .map_err(|error| warnings.push(format!("{opcode} {text}: {error:#}")))
            .ok()
    };
    operands.iter().filter_map(parse).collect()
}

/// The moves of `f5=10, Be5+=2`. Any other comment says nothing about points.
fn scored_moves(
    position: &Position,
    comment: &str,
    warnings: &mut Vec<String>,
) -> Vec<(Move, u32)> {
    let entries: Option<Vec<(&str, u32)>> = comment
        .split(',')
        .map(|entry| {
            // The last `=`, since a promotion has one of its own.
            let (name, points) = entry.rsplit_once('=')?;
            Some((name.trim(), points.trim().parse().ok()?))
        })
        .collect();
    let mut scored = Vec::new();
    for (name, points) in entries.unwrap_or_default() {
        match parse_move(position, name) {
            Ok(m) => scored.push((m, points)),
            Err(error) => warnings.push(format!("c0 {name}: {error:#}")),
        }
    }
    scored
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scored_position() {
        let line = "1kr5/3n4/q3p2p/p2n2p1/PppB1P2/5BP1/1P2Q2P/3R2K1 w - - bm f5; id \"Undermine.001\"; \
                    c0 \"f5=10, Be5+=2, Bf2=3, Bg4=2\";";
        let task = TestPosition::parse(line).expect("a task");
        let m = |uci| task.position.parse_uci(uci).expect("a legal move");
        assert_eq!(task.id.as_deref(), Some("Undermine.001"));
        assert!(task.is_solved_by(m("f4f5")) && !task.is_solved_by(m("d4e5")));
        assert_eq!((task.points_of(m("d4e5")), task.max_points()), (2, 10));
        assert_eq!(task.points_of(m("h2h3")), 0);
        assert_eq!(task.goal(), "bm f5");
        assert!(task.warnings.is_empty());
    }

    #[test]
    fn moves_to_avoid() {
        let task = TestPosition::parse("8/8/4k3/8/8/8/8/4K3 w - - am Ke2; c0 \"a comment, x=y\";")
            .expect("a task");
        let m = |uci| task.position.parse_uci(uci).expect("a legal move");
        assert!(!task.is_solved_by(m("e1e2")) && task.is_solved_by(m("e1d2")));
        assert_eq!(task.max_points(), 0);
    }

    #[test]
    fn bad_lines_say_why() {
        let error = |line| {
            TestPosition::parse(line)
                .err()
                .map(|e| format!("{e:#}"))
                .unwrap_or_default()
        };
        assert!(error("8/8/4k3/8/8/8/8/4K3 w - - id \"x\";").contains("neither bm nor am"));
        assert!(error("8/8/4k3/8/8/8/8/4K3 w - - bm Qh5;").contains("Qh5"));
        assert!(error("8/8/8/8 w - -").contains("bad FEN"));
        let task =
            TestPosition::parse("8/8/4k3/8/8/8/8/4K3 w - - bm Qh5 Ke2;").expect("one good move");
        assert_eq!(task.warnings.len(), 1);
    }
}
