//! Outcomes of material claims: the line is played on by searches, with the defender's best replies in turn.

use serde_json::Value;
use zoothera::board::{CastlingMode, Color, Move, Position, Role};
use zoothera::nnue::Network;
use zoothera::search::{Limits, STACK_BYTES, Solo};

/// Replies of the defender that are tried at each move.
const REPLIES: usize = 3;
/// Engine units for each pawn won by which a reply must be worse than the best one to count as losing more: about three
/// quarters of a pawn.
const WORSE: i32 = 150;
/// Numerator and denominator of the share of the material that must be left.
const MOST: (i32, i32) = (2, 3);
/// Factor of the nodes with which a claim is decided again that seems false.
// MEASURED: 28 November 2026: of 7 claims of 60 games at 5,000 nodes that seemed false at 10,000, Stockfish 15.1
// confirms at least five.
const LONGER: u64 = 8;
/// Plies that are played on after a line, and maximum number from there until a quiet position has the material: a
/// pinned or trapped piece may be won later.
const PLAYED_ON: usize = 6;
const UNTIL_QUIET: usize = 10;

/// False material claims of the reviews, and the number of claims that were checked.
pub fn outcomes(reviews: Vec<Value>, nodes: u64) -> (usize, Vec<String>) {
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
    let check = move || {
        let mut judge = Judge { solo: Solo::new(Network::embedded(), 16), nodes };
        let (mut checked, mut wrong) = (0, Vec::new());
        for review in &reviews {
            for played in review["moves"].as_array().into_iter().flatten() {
                for reason in played["reasons"].as_array().into_iter().flatten() {
                    let Some(verdict) = judge.verdict(reason) else { continue };
                    checked += 1;
                    if let Err(line) = verdict {
                        let place = format!("game {} {} {}", review["number"], played["number"], played["san"]);
                        let claim = &reason["claim"];
                        let kind = &reason["kind"];
                        wrong.push(format!("{place}: {kind} {} ({}): {line}", reason["text"], claim["fen"]));
                    }
                }
            }
        }
        (checked, wrong)
    };
    thread.spawn(check).expect("a thread").join().expect("the claims are checked")
}

/// Searches that decide about claims.
struct Judge {
    solo: Solo,
    nodes: u64,
}

impl Judge {
    /// Decides about a material claim: an error has the line that shows it false. `None` if the reason claims no
    /// material.
    fn verdict(&mut self, reason: &Value) -> Option<Result<(), String>> {
        let claim = &reason["claim"];
        let pieces = |key: &str| -> i32 {
            let list = claim[key].as_array().into_iter().flatten();
            list.filter_map(|name| Some(value(name.as_str()?))).sum()
        };
        let points = pieces("wins") - pieces("gives");
        if points <= 0 || reason["kind"] == "refutation" {
            return None;
        }
        let start = Position::from_fen(claim["fen"].as_str()?, CastlingMode::Standard).ok()?;
        let side = if claim["side"] == "white" { Color::White } else { Color::Black };
        let mut position = start.clone();
        let mut moves = Vec::new();
        for uci in claim["uci"].as_array()?.iter().filter_map(Value::as_str) {
            let m = position.parse_uci(uci).ok()?;
            position.do_move(m);
            moves.push(m);
        }
        // The first move of a claim that starts with the defender was played in the game.
        let given = usize::from(start.turn() != side);
        let goal = Goal { start: &start, side, points };
        Some(self.survives(&goal, &moves, given).map_err(|line| san_moves(&start, &line)))
    }

    /// Whether the line and the best other replies of the defender win the material. If not, longer searches decide
    /// once more: in a won position, a short search gives a pawn back that it could keep, and takes a reply for a good
    /// one that loses more.
    fn survives(&mut self, goal: &Goal, moves: &[Move], given: usize) -> Result<(), Vec<Move>> {
        self.holds(goal, moves, given, self.nodes).or_else(|_| self.holds(goal, moves, given, LONGER * self.nodes))
    }

    fn holds(&mut self, goal: &Goal, moves: &[Move], given: usize, nodes: u64) -> Result<(), Vec<Move>> {
        self.plays_out(goal, moves, nodes)?;
        let mut position = goal.start.clone();
        for (ply, &m) in moves.iter().enumerate() {
            if position.turn() != goal.side && ply >= given {
                for reply in self.replies(&position, goal, nodes).into_iter().filter(|reply| *reply != m) {
                    self.plays_out(goal, &[&moves[..ply], &[reply]].concat(), nodes)?;
                }
            }
            position.do_move(m);
        }
        Ok(())
    }

    /// The best replies of the defender, without those that lose more.
    fn replies(&mut self, position: &Position, goal: &Goal, nodes: u64) -> Vec<Move> {
        let (mut best, mut tried, mut good) = (None, Vec::new(), Vec::new());
        for _ in 0..REPLIES.min(position.legal_moves().len()) {
            let limits = Limits { nodes: Some(nodes), exclude_moves: tried.clone(), ..Limits::default() };
            let Some(found) = self.solo.search(position, &limits) else { break };
            tried.push(found.m);
            if found.value > *best.get_or_insert(found.value) - WORSE * goal.points {
                good.push(found.m);
            }
        }
        good
    }

    /// Whether the side has won most of the material, or mates, when the line has been played on. An error has the line
    /// with its continuation.
    fn plays_out(&mut self, goal: &Goal, moves: &[Move], nodes: u64) -> Result<(), Vec<Move>> {
        let mut position = goal.start.clone();
        let mut line = moves.to_vec();
        moves.iter().for_each(|m| {
            position.do_move(*m);
        });
        for ply in 0..=PLAYED_ON + UNTIL_QUIET {
            if position.legal_moves().is_empty() {
                let mates = position.in_check() && position.turn() != goal.side;
                return if mates { Ok(()) } else { Err(line) };
            }
            let wins = |m: &Move| m.promotion().is_some() || position.is_capture(*m) && position.see_ge(*m, 100);
            let quiet = !position.in_check() && !position.legal_moves().iter().any(wins);
            let won = goal.balance(&position) - goal.balance(goal.start);
            let is_last = ply == PLAYED_ON + UNTIL_QUIET;
            if (ply >= PLAYED_ON && quiet || is_last) && MOST.1 * won >= MOST.0 * goal.points {
                return Ok(());
            }
            let limits = Limits { nodes: Some(nodes), ..Limits::default() };
            let Some(found) = self.solo.search(&position, &limits).filter(|_| !is_last) else { break };
            position.do_move(found.m);
            line.push(found.m);
        }
        Err(line)
    }
}

/// A line in SAN.
fn san_moves(start: &Position, line: &[Move]) -> String {
    let mut position = start.clone();
    let mut words = Vec::new();
    for &m in line {
        words.push(position.san(m));
        position.do_move(m);
    }
    words.join(" ")
}

/// What a claim says.
struct Goal<'a> {
    start: &'a Position,
    side: Color,
    points: i32,
}

impl Goal<'_> {
    fn balance(&self, position: &Position) -> i32 {
        let of = |color| -> i32 {
            let roles = [Role::Pawn, Role::Knight, Role::Bishop, Role::Rook, Role::Queen];
            let count = |role| position.pieces(color, role).count() as i32;
            roles.iter().zip([1, 3, 3, 5, 9]).map(|(&role, worth)| worth * count(role)).sum()
        };
        of(self.side) - of(!self.side)
    }
}

fn value(name: &str) -> i32 {
    match name {
        "queen" => 9,
        "rook" => 5,
        "bishop" | "knight" => 3,
        _ => 1,
    }
}
