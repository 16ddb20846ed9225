//! Outcomes of material claims: the line is played on by searches, with the defender's best replies in turn.

use serde_json::Value;
use zoothera::board::{CastlingMode, Color, Move, Position, Role};
use zoothera::nnue::Network;
use zoothera::search::{Limits, Solo, solo};

/// Replies of the defender that are tried at each move.
const REPLIES: usize = 3;
/// Engine units for each pawn won by which a reply must be worse than the best one to count as losing more: about three
/// quarters of a pawn.
const WORSE: i32 = 150;
/// Numerator and denominator of the share of the material that must be left.
const MOST: (i32, i32) = (2, 3);
/// Factor of the nodes with which a line is played out again that seems to lose the material.
// MEASURED: 28 November 2026: of 7 claims of 60 games at 5,000 nodes that seemed false at 10,000, Stockfish 15.1
// confirms at least five.
const LONGER: u64 = 8;
/// Plies that are played on after a line, and from there until the position is quiet.
const PLAYED_ON: usize = 6;
const UNTIL_QUIET: usize = 10;

/// False material claims of the reviews, and the number of claims that were checked.
pub fn outcomes(reviews: Vec<Value>, nodes: u64) -> (usize, Vec<String>) {
    let thread = std::thread::Builder::new().stack_size(solo::STACK_BYTES);
    let check = move || {
        let mut judge = Judge { solo: Solo::new(Network::embedded(), 16), nodes };
        let (mut checked, mut wrong) = (0, Vec::new());
        for review in &reviews {
            for played in review["moves"].as_array().into_iter().flatten() {
                for reason in played["reasons"].as_array().into_iter().flatten() {
                    let Some(holds) = judge.holds(reason) else { continue };
                    checked += 1;
                    if !holds {
                        let place = format!("game {} {} {}", review["number"], played["number"], played["san"]);
                        wrong.push(format!("{place}: {} ({})", reason["text"], reason["claim"]["fen"]));
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
    /// Whether a material claim holds; `None` if the reason claims no material.
    fn holds(&mut self, reason: &Value) -> Option<bool> {
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
        Some(self.survives(&goal, &moves, given))
    }

    fn survives(&mut self, goal: &Goal, moves: &[Move], given: usize) -> bool {
        if !self.wins(goal, moves) {
            return false;
        }
        let mut position = goal.start.clone();
        for (ply, &m) in moves.iter().enumerate() {
            if position.turn() != goal.side && ply >= given {
                let mut best = None;
                let mut tried = Vec::new();
                for _ in 0..REPLIES.min(position.legal_moves().len()) {
                    let limits = Limits { nodes: Some(self.nodes), exclude_moves: tried.clone(), ..Limits::default() };
                    let Some(found) = self.solo.search(&position, &limits) else { break };
                    tried.push(found.m);
                    let score = found.value;
                    let loses_more = *best.get_or_insert(score) - WORSE * goal.points >= score;
                    let line = [&moves[..ply], &[found.m]].concat();
                    if found.m != m && !loses_more && !self.wins(goal, &line) {
                        return false;
                    }
                }
            }
            position.do_move(m);
        }
        true
    }

    /// Whether the side has won most of the material, or mates, when the line has been played on. If not, longer
    /// searches decide: in a won position, a short search gives a pawn back that it could keep.
    fn wins(&mut self, goal: &Goal, moves: &[Move]) -> bool {
        self.plays_out(goal, moves, self.nodes) || self.plays_out(goal, moves, LONGER * self.nodes)
    }

    fn plays_out(&mut self, goal: &Goal, moves: &[Move], nodes: u64) -> bool {
        let mut position = goal.start.clone();
        moves.iter().for_each(|m| {
            position.do_move(*m);
        });
        for ply in 0..PLAYED_ON + UNTIL_QUIET {
            if position.legal_moves().is_empty() {
                return position.in_check() && position.turn() != goal.side;
            }
            let wins = |m: &Move| m.promotion().is_some() || position.is_capture(*m) && position.see_ge(*m, 100);
            let quiet = !position.in_check() && !position.legal_moves().iter().any(wins);
            if ply >= PLAYED_ON && quiet {
                break;
            }
            let limits = Limits { nodes: Some(nodes), ..Limits::default() };
            let Some(found) = self.solo.search(&position, &limits) else { break };
            position.do_move(found.m);
        }
        MOST.1 * (goal.balance(&position) - goal.balance(goal.start)) >= MOST.0 * goal.points
    }
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
