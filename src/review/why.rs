//! Sentences about a move. Each is made from a claim: a line from a position, with facts about it that the board
//! proves.
//!
//! | kind | condition |
//! |---|---|
//! | `throws_away_win`, `throws_away_draw`, `turns_win_into_loss` | the standing changed by the move |
//! | `missed_mate` | the search mates before the move, and does not after it |
//! | `allows_mate` | the opponent mates after the move, and would not have after the best one |
//! | `stalemate` | the move stalemates although more than a draw was possible |
//! | `loses_material` | the refutation ends with material lost that the best line keeps |
//! | `lets_promote` | the opponent promotes in that line |
//! | `refutation` | none of these: the opponent's line, the standing after it, and what it changes on the board |
//! | `no_single_reason` | the same line if no change on the board explains the loss |
//! | `overlooks_threat` | the opponent carries out a threat after the move, and could not after the best one |
//! | `best_mates`, `best_wins`, `best_promotes`, `best_threatens`, `best_keeps` | effect of the better move |
//! | `as_good` | the move scores about as much as the best one, or more in a deeper search |
//! | `only_move` | without the best move the search finds a mistake or worse |
//! | `game_over` | the rules had ended the game before the move |
//! | `draws` | the move ends the game as a draw by rule |
//! | `best`, `mates`, `wins_material`, `sacrifice`, `meets_threat`, `threatens`, `purpose` | effect of a good move |
//!
//! * `bad`: the punishment of a move; `better`: the better move, and the effect of a good move; `words`: English
//!
//! If a line does not become quiet within the horizon, no sentence mentions material.

mod bad;
mod better;
#[cfg(test)]
mod tests;
mod words;

use serde::Serialize;
use words::line;

use super::analyst::Look;
use super::facts::Passed;
pub(crate) use super::facts::{Depth, Facts};
use super::features::Feature;
use super::mark::Eval;
use super::mark::{bad_mark, centipawns, opposite, rank, winning};
use super::material::{Swing, swing};
use super::motifs::{Motif, Walk, motifs, role_name};
use crate::board::{CastlingMode, Color, Move, Position, Role};
use crate::game::ending::Cause;
use crate::search::report::Score;
use crate::tools::variation::san_moves;

/// Plies of a line that a sentence shows.
const SHOWN: usize = 5;

/// Minimum number of centipawns that a threat gains for each pawn that it wins.
const GAINED: i32 = 40;

/// A sentence with its kind and data.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Reason {
    /// Kind of the sentence, from the table of this file.
    pub kind: &'static str,
    /// The sentence.
    pub text: String,
    /// The content of the sentence as data; `None` if it only compares scores.
    pub claim: Option<Claim>,
}

/// The sentence about a move of a game that was over.
pub(crate) fn game_was_over(cause: Cause) -> Reason {
    let text = format!("The game was over before this move: {}.", cause.draw_in_words());
    Reason { kind: "game_over", text, claim: None }
}

/// Reasons why a move is bad: first its punishment, then the better move.
pub(crate) fn reasons(facts: &Facts) -> Vec<Reason> {
    let writer = ReasonWriter::new(facts);
    let mut found = Vec::new();
    if facts.is_best() {
        found.extend(writer.good_move());
        found.extend(writer.only_move());
        return found;
    }
    let punishment = writer.punishment();
    found.extend(writer.result(punishment.as_ref()));
    found.extend(writer.missed_mate());
    found.extend(punishment);
    found.extend(writer.overlooks_threat());
    found.extend(writer.better_move());
    found.extend(writer.only_move());
    found
}

/// The reasons, and for a move that loses nothing also its effect.
pub(crate) fn explanation(facts: &Facts) -> Vec<Reason> {
    let writer = ReasonWriter::new(facts);
    let mut found = Vec::new();
    if facts.is_best() {
        found.extend(writer.best_by_search());
    }
    found.extend(reasons(facts));
    if !writer.is_bad() || facts.is_best() {
        found.extend(writer.draws());
        found.extend(writer.intentions());
    }
    found
}

/// Facts with values derived from them.
struct ReasonWriter<'a> {
    facts: &'a Facts,
    /// Scores from the mover's view.
    before: Score,
    after: Score,
    /// Moves from the position on: the move with its refutation, and the best line.
    played: Vec<Move>,
    best_line: &'a [Move],
    /// Effects of both lines on the mover's material.
    lost: Option<Swing>,
    kept: Option<Swing>,
    /// The refutation, and the best line.
    refutation: Walk,
    better: Walk,
}

impl<'a> ReasonWriter<'a> {
    fn new(facts: &'a Facts) -> Self {
        let played = facts.played_line();
        let best_line = facts.before.pv();
        let swing = |line: &[Move]| swing(&facts.position, line, facts.mover());
        Self {
            before: facts.before.score,
            after: facts.score_after(),
            lost: swing(&played),
            kept: swing(best_line),
            refutation: Walk::new(&facts.reached(), facts.after.pv()),
            better: Walk::new(&facts.position, best_line),
            played,
            best_line,
            facts,
        }
    }

    /// Whether the scores give the move a bad mark.
    fn is_bad(&self) -> bool {
        bad_mark(self.before, self.after).is_some()
    }

    /// Centipawns that the move loses; a mate counts as 10.00.
    fn loss(&self) -> i32 {
        centipawns(self.before) - centipawns(self.after)
    }

    fn mover(&self) -> Color {
        self.facts.mover()
    }

    fn opponent(&self) -> &'static str {
        words::name(!self.mover())
    }

    /// The best move with its number.
    fn best(&self) -> String {
        line(&self.facts.position, &[self.facts.best()])
    }

    /// The opponent's reply and the moves after it, up to this number of plies after the move.
    fn answer(&self, plies: usize) -> String {
        let moves = self.facts.after.pv();
        line(&self.facts.reached(), &moves[..plies.min(moves.len())])
    }

    /// A score of the mover in the form of the page: from White's view.
    fn shown(&self, score: Score) -> String {
        let score = self.mover().fold_wb(score, opposite(score));
        Eval::from(score).to_string()
    }
}

/// Gain of a line for the side that begins it: a mate, or material.
#[derive(Clone, Debug)]
struct Gain {
    mate: Option<i32>,
    won: Option<Swing>,
    line: Vec<Move>,
}

impl Gain {
    /// Threat found by a search after a pass: a mate, or a gain of at least two pawns by force.
    fn of(Passed { look, gain, .. }: &Passed) -> Option<Self> {
        let (mate, line) = (mate_for(look.score), look.pv().to_vec());
        let won = gain.filter(|won| won.points >= 2 && winning(look.score) > 50.0);
        (mate.is_some() || won.is_some()).then_some(Self { mate, won, line })
    }

    /// The same, if the material also improves the score. `without` is the score without the pass, from the view of the
    /// side that threatens.
    fn real(passed: &Passed, without: Score) -> Option<Self> {
        let gained = rank(passed.look.score) - rank(without);
        Self::of(passed).filter(|gain| gain.mate.is_some() || gained >= GAINED * gain.points())
    }

    fn points(&self) -> i32 {
        self.won.map_or(0, |won| won.points)
    }

    /// Whether this gain is worth at least as much as `other`.
    fn covers(&self, other: &Self) -> bool {
        self.mate.is_some() || other.mate.is_none() && self.points() >= other.points()
    }
}

/// Standing of a side with this many centipawns: 0 even, 1 better, 2 clearly better, 3 winning; negative if worse.
fn standing(centipawns: i32) -> i32 {
    let bands = [50, 150, 300];
    let passed = bands.iter().filter(|&&least| centipawns.abs() >= least);
    centipawns.signum() * passed.count() as i32
}

/// Moves to a mate by the side from whose view the score is; `None` for other scores.
fn mate_for(score: Score) -> Option<i32> {
    match score {
        Score::Mate(moves) if moves > 0 => Some(moves),
        _ => None,
    }
}

/// Whether a mate line ends in mate after this number of moves.
fn is_complete(position: &Position, line: &[Move], mate: i32) -> bool {
    let mut end = position.clone();
    for &m in line {
        end.do_move(m);
    }
    i32::try_from(line.len()) == Ok(2 * mate - 1) && end.in_check() && end.legal_moves().is_empty()
}

// The data of a sentence: a line from a position, and what can be proved about it on the board.

/// How a line ends by the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum End {
    /// The side to move is mated.
    Checkmate,
    /// The side to move has no legal move.
    Stalemate,
    /// Neither side can mate any more, or the position has occurred before.
    Draw,
}

/// The content of a sentence as data. Everything in it can be checked by playing the line.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Claim {
    /// The position where the line begins. After a null move, it is the position with the other side to move.
    pub fen: String,
    /// The side that mates, wins material, and makes the motifs: `white` or `black`.
    pub side: &'static str,
    /// The line.
    pub san: Vec<String>,
    pub uci: Vec<String>,
    /// Number of moves in which `side` mates, by the search.
    pub mate: Option<i32>,
    /// The end of the game, if the line ends it.
    pub end: Option<End>,
    /// Pieces that the line wins for `side`, and pieces given for them.
    pub wins: Vec<&'static str>,
    pub gives: Vec<&'static str>,
    /// Motifs of the line, the best explanation first.
    pub motifs: Vec<Motif>,
    /// Facts at the end of the line.
    pub features: Vec<Feature>,
}

impl Claim {
    /// A claim about a line for a side, without any facts yet.
    pub(super) fn new(position: &Position, moves: &[Move], side: Color) -> Self {
        let chess960 = position.castling_mode() == CastlingMode::Chess960;
        let mut end = position.clone();
        let mut uci = Vec::new();
        for &m in moves {
            uci.push(end.uci(m, chess960));
            end.do_move(m);
        }
        Self {
            fen: position.fen(),
            side: side.fold_wb("white", "black"),
            san: san_moves(position, moves),
            uci,
            mate: None,
            end: end_of(&end),
            wins: Vec::new(),
            gives: Vec::new(),
            motifs: Vec::new(),
            features: Vec::new(),
        }
    }

    /// Adds that the side mates in this number of moves.
    pub(super) fn mating(mut self, moves: i32) -> Self {
        self.mate = Some(moves);
        self
    }

    /// Adds the material that the line wins. A swing from the opponent's view has the same pieces.
    pub(super) fn winning(mut self, swing: &Swing) -> Self {
        let words = |roles: Vec<Role>| roles.into_iter().map(role_name).collect();
        let [wins, gives] = swing.roles().map(words);
        (self.wins, self.gives) = (wins, gives);
        self
    }

    /// Adds the motifs of a line that begins `offset` plies into this line, if the motifs lie within this line.
    pub(super) fn with_motifs(mut self, motifs: &[Motif], offset: usize) -> Self {
        let moved = motifs.iter().map(|motif| Motif { ply: motif.ply + offset, ..motif.clone() });
        self.motifs = moved.filter(|motif| motif.ply < self.san.len()).collect();
        self
    }

    /// Adds facts at the end of the line.
    pub(super) fn with_features(mut self, features: Vec<Feature>) -> Self {
        self.features = features;
        self
    }
}

fn end_of(position: &Position) -> Option<End> {
    match (position.legal_moves().is_empty(), position.in_check()) {
        (true, true) => Some(End::Checkmate),
        (true, false) => Some(End::Stalemate),
        (false, _) if position.is_draw(0) => Some(End::Draw),
        _ => None,
    }
}
