//! Plain sentences about a move. Each is made of facts that were searched, and says no more than they do:
//!
//! | kind | it is said when |
//! |---|---|
//! | `missed_mate` | the search mates before the move, and no longer after it |
//! | `allows_mate` | the opponent mates after the move, and would not have after the best one |
//! | `stalemate` | the move stalemates where more than a draw was there |
//! | `loses_material` | the refutation comes to rest with material lost that the best line keeps |
//! | `lets_promote` | the opponent promotes on that way |
//! | `overlooks_threat` | the opponent's refutation is what a pass would have let him do, and wins by it |
//! | `best_mates`, `best_wins`, `best_promotes`, `best_threatens`, `best_keeps` | what the better move does instead |
//! | `as_good` | the move scores about as much as the best one, or more on the deeper look |
//! | `only_move` | without the best move the search finds a mistake or worse |
//! | `mates`, `wins_material` | what a good move does |
//! | `piece` | nothing is lost by force, and the network values one piece clearly less than after the best move |
//!
//! Where a line does not come to rest within its horizon, nothing is said of its material.

use serde::Serialize;

use super::analyst::Look;
use super::chance::{opposite, winning};
use super::eval::Eval;
use super::facts::PieceChange;
use super::mark::{INACCURACY, MISTAKE};
use super::material::{HORIZON, Swing, first_gain, swing, worth};
use crate::board::{Color, Move, Position, Role};
use crate::search::report::Score;
use crate::tools::variation::numbered;

pub(crate) use super::facts::Facts;

/// Centipawns by which the network must value a piece less before that is said.
const PIECE_MATTERS: i32 = 40;
/// Centipawns between two moves that are about as good as one another.
const EVEN: i32 = 20;

/// A sentence, and its kind for programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Reason {
    /// As in the table of this file.
    pub kind: &'static str,
    /// For people.
    pub text: String,
}

/// Why a move is bad, or good: what it does, then what was better, then the rest.
pub(crate) fn reasons(facts: &Facts) -> Vec<Reason> {
    let teller = Teller::new(facts);
    let mut told = Vec::new();
    let mut say = |reason: Option<Reason>| {
        told.extend(reason);
    };
    if facts.is_best() {
        say(teller.good_move());
        say(teller.only_move());
        return told;
    }
    say(teller.missed_mate());
    say(teller.allows_mate().or_else(|| teller.stalemate()));
    say(teller.loses_material());
    say(teller.overlooks_threat());
    say(teller.better_move());
    say(teller.only_move());
    say(teller.piece());
    told
}

/// Facts with what follows from them by counting.
struct Teller<'a> {
    facts: &'a Facts,
    /// From the mover's view.
    before: Score,
    after: Score,
    /// The moves from the position on: the move and its refutation, and the best line.
    refutation: Vec<Move>,
    best_line: &'a [Move],
    /// What both do to the mover's material.
    lost: Option<Swing>,
    kept: Option<Swing>,
}

impl<'a> Teller<'a> {
    fn new(facts: &'a Facts) -> Self {
        let mut refutation = vec![facts.m];
        refutation.extend_from_slice(facts.after.pv());
        let best_line = facts.before.pv();
        let swing = |line: &[Move]| swing(&facts.position, line, facts.mover());
        Self {
            before: facts.before.score,
            after: match facts.after.score {
                Score::Mate(0) => Score::Mate(1),
                score => opposite(score),
            },
            lost: swing(&refutation),
            kept: swing(best_line),
            refutation,
            best_line,
            facts,
        }
    }

    /// Points of winning chance lost.
    fn loss(&self) -> f64 {
        winning(self.before) - winning(self.after)
    }

    fn opponent(&self) -> &'static str {
        name(!self.facts.mover())
    }

    /// The best move with its number.
    fn best(&self) -> String {
        numbered(&self.facts.position, &[self.facts.best()])
    }

    /// The opponent's answer and what follows, up to so many plies from the move.
    fn answer(&self, plies: usize) -> String {
        let end = plies.clamp(2, HORIZON).min(self.refutation.len());
        numbered(&self.facts.reached(), &self.refutation[1..end])
    }

    fn best_line(&self, plies: usize) -> String {
        let end = plies.clamp(1, HORIZON).min(self.best_line.len());
        numbered(&self.facts.position, &self.best_line[..end])
    }

    /// What is won, or only won back where the opponent has just captured as much.
    fn wins(&self, won: Swing) -> String {
        let owed = self.facts.position.last_captured().map_or(0, worth);
        let back = if won.points <= owed { " back" } else { "" };
        format!("wins{back} {won}")
    }

    fn missed_mate(&self) -> Option<Reason> {
        let mate = mate_for(self.before).filter(|_| mate_for(self.after).is_none())?;
        let line = self.best_line(usize::MAX);
        reason("missed_mate", format!("It misses mate in {mate}: {line}."))
    }

    fn allows_mate(&self) -> Option<Reason> {
        let mate =
            mate_for(opposite(self.after)).filter(|_| mate_for(opposite(self.before)).is_none())?;
        let line = self.answer(usize::MAX);
        reason("allows_mate", format!("It allows mate in {mate}: {line}."))
    }

    fn stalemate(&self) -> Option<Reason> {
        let reached = self.facts.reached();
        let stalemate = reached.legal_moves().is_empty() && !reached.in_check();
        (stalemate && self.loss() >= INACCURACY).then_some(())?;
        let text = format!("It is stalemate: {} has no legal move.", self.opponent());
        reason("stalemate", text)
    }

    /// What the refutation loses that the best line does not.
    fn lost_by_force(&self) -> Option<Swing> {
        let kept = self.kept.map_or(0, |swing| swing.points);
        self.lost
            .filter(|lost| lost.points < 0 && kept > lost.points && self.loss() >= INACCURACY)
    }

    fn loses_material(&self) -> Option<Reason> {
        if mate_for(opposite(self.after)).is_some() {
            return None;
        }
        let lost = self.lost_by_force()?;
        let theirs = swing(&self.facts.position, &self.refutation, !self.facts.mover())?;
        let line = self.answer(lost.plies);
        if theirs.promotes {
            let text = format!("It lets {} promote a pawn: {line}.", self.opponent());
            return reason("lets_promote", text);
        }
        reason("loses_material", format!("It loses {lost}: {line}."))
    }

    /// The opponent's answer is what he would have done anyway, and it wins something now as it would have then.
    fn overlooks_threat(&self) -> Option<Reason> {
        let (passed, look) = self.facts.threat.as_ref()?;
        let threat = look.best()?;
        let punished = self.lost_by_force().is_some() || mate_for(opposite(self.after)).is_some();
        if self.facts.after.best() != Some(threat) || !punished {
            return None;
        }
        let what = gain(passed, look.score, look.pv())?;
        let (opponent, threat) = (self.opponent(), numbered(passed, &[threat]));
        let text = format!(
            "{opponent} was already threatening {threat}, which {what}, and the move does not prevent it."
        );
        reason("overlooks_threat", text)
    }

    fn better_move(&self) -> Option<Reason> {
        if let Some(mate) = mate_for(self.before) {
            return self.mates_too(mate);
        }
        if let Some(as_good) = self.as_good() {
            return Some(as_good);
        }
        let best = self.best();
        let won = self.kept.filter(|kept| {
            kept.points > 0 && self.lost.is_some_and(|lost| lost.points < kept.points)
        });
        if let Some(won) = won {
            // A line of one move has just been said.
            let line = match won.plies {
                1 => String::new(),
                plies => format!(": {}", self.best_line(plies)),
            };
            if won.promotes {
                let text = format!("Better is {best}, which promotes a pawn{line}.");
                return reason("best_promotes", text);
            }
            let wins = self.wins(won);
            return reason(
                "best_wins",
                format!("Better is {best}, which {wins}{line}."),
            );
        }
        if let Some(what) = self.idea() {
            let text = format!("Better is {best}, which {what}.");
            return reason("best_threatens", text);
        }
        reason("best_keeps", self.keeps())
    }

    /// Where the best move mates and the move played does too. If it does not, it has been said that a mate was missed.
    fn mates_too(&self, fastest: i32) -> Option<Reason> {
        let mate = self.mates_after()?;
        if mate > fastest {
            let line = self.best_line(usize::MAX);
            return reason(
                "best_mates",
                format!("Mate in {fastest} was there: {line}."),
            );
        }
        let line = numbered(&self.facts.position, &self.refutation);
        reason("mates", mating(mate, &line))
    }

    /// In how many moves the mover mates by the move played, which is the first of them.
    fn mates_after(&self) -> Option<i32> {
        match self.facts.after.score {
            Score::Mate(moves) if moves <= 0 => Some(1 - moves),
            _ => None,
        }
    }

    /// The move played is as good, as far as scores tell.
    fn as_good(&self) -> Option<Reason> {
        let (before, after) = (rank(self.before), rank(self.after));
        let least = match (self.before, self.after) {
            (Score::Mate(_), _) => before,
            (_, Score::Mate(_)) => return None,
            _ => before - EVEN,
        };
        if after < least {
            return None;
        }
        let best = self.best();
        let [before_text, after_text] = [self.before, self.after].map(|score| self.shown(score));
        let text = if after > before + EVEN {
            format!(
                "On a closer look it is better than {best}, the engine's choice ({after_text} against {before_text})."
            )
        } else if matches!(self.before, Score::Mate(_)) {
            format!("It holds out as long as {best}.")
        } else {
            format!(
                "It is about as good as {best}, the engine's choice ({after_text} against {before_text})."
            )
        };
        reason("as_good", text)
    }

    /// What the best move threatens, where that is a mate or material.
    fn idea(&self) -> Option<String> {
        let (passed, look) = self.facts.idea.as_ref()?;
        let what = gain(passed, look.score, look.pv())?;
        Some(format!(
            "threatens {}, which {what}",
            numbered(passed, &look.pv()[..1])
        ))
    }

    /// What the best move comes to, in words and as a score.
    fn keeps(&self) -> String {
        let best = self.best();
        if let (Score::Mate(longer), Score::Mate(sooner)) = (self.before, self.after) {
            let (longer, sooner) = (longer.abs(), sooner.abs());
            return format!(
                "Better is {best}, which holds out longer (mate in {longer} instead of {sooner})."
            );
        }
        let before = self.shown(self.before);
        let after = match self.after {
            Score::Mate(moves) => format!("mate in {}", moves.abs()),
            score @ Score::Centipawns(_) => self.shown(score),
        };
        match keeping(rank(self.before), rank(self.after)) {
            Some(what) => format!("Better is {best}, which {what} ({before} instead of {after})."),
            None => format!("Slightly better is {best} ({before} instead of {after})."),
        }
    }

    /// A score of the mover as the page shows scores: from White's view.
    fn shown(&self, score: Score) -> String {
        let score = self.facts.mover().fold_wb(score, opposite(score));
        Eval::from(score).to_string()
    }

    fn only_move(&self) -> Option<Reason> {
        let second = self.facts.second.as_ref()?;
        if winning(self.before) - winning(second.score) < MISTAKE {
            return None;
        }
        if self.facts.is_best() {
            let next = self.next_best(second);
            return reason(
                "only_move",
                format!("Every other move is clearly worse: {next}."),
            );
        }
        // Where a closer look has shown the move played to be good, there are two.
        (self.loss() >= INACCURACY).then_some(())?;
        let next = if second.best() == Some(self.facts.m) {
            "the move played is the next best".to_owned()
        } else {
            self.next_best(second)
        };
        reason(
            "only_move",
            format!("No other move is nearly as good: {next}."),
        )
    }

    /// What there is without the best move.
    fn next_best(&self, second: &Look) -> String {
        let other = numbered(&self.facts.position, &second.pv()[..1]);
        match second.score {
            Score::Mate(moves) => format!("the next best, {other}, allows mate in {}", moves.abs()),
            score @ Score::Centipawns(_) => {
                format!("the next best, {other}, comes to {}", self.shown(score))
            }
        }
    }

    fn good_move(&self) -> Option<Reason> {
        if let Some(mate) = mate_for(self.before) {
            return reason("mates", mating(mate, &self.best_line(usize::MAX)));
        }
        let won = self.kept.filter(|won| won.points > 0)?;
        let text = match won.plies {
            1 => format!("It {}.", self.wins(won)),
            plies => format!("It {}: {}.", self.wins(won), self.best_line(plies)),
        };
        reason("wins_material", text)
    }

    /// The piece of which the network thinks less than after the best move: only where nothing is lost or won by force,
    /// because a static value says little in the middle of a fight.
    fn piece(&self) -> Option<Reason> {
        let forced = [self.lost, self.kept]
            .iter()
            .flatten()
            .any(|swing| swing.points != 0);
        let mates = [self.before, self.after]
            .iter()
            .any(|score| matches!(score, Score::Mate(_)));
        if forced || mates || self.loss() < INACCURACY {
            return None;
        }
        let worst = self
            .facts
            .pieces
            .iter()
            .min_by_key(|change| change.played - change.best)?;
        let less = worst.best - worst.played;
        (less >= PIECE_MATTERS).then(|| self.piece_sentence(*worst, less))?
    }

    fn piece_sentence(&self, change: PieceChange, less: i32) -> Option<Reason> {
        let role = role_name(self.facts.reached().role_at(change.square)?);
        let (square, best) = (change.square, self.best());
        let pawns = f64::from(less) / 100.0;
        let text = format!(
            "According to the network, the {role} on {square} is worth {pawns:.1} pawns less \
             than it would be after {best}."
        );
        reason("piece", text)
    }
}

/// What the better move keeps, by the centipawns of both for the side that moves; nothing where neither matters much.
fn keeping(before: i32, after: i32) -> Option<&'static str> {
    let (had, has) = (standing(before), standing(after));
    match had {
        0 if has == 0 => None,
        0 => Some("keeps the balance"),
        1.. if had == has => Some("keeps more of the advantage"),
        1 => Some("keeps the better chances"),
        2 => Some("keeps a clear advantage"),
        3.. => Some("keeps a winning advantage"),
        -1 if has < had => Some("keeps the disadvantage small"),
        _ => Some("limits the damage"),
    }
}

/// How a side stands that has so many centipawns: 0 even, 1 better, 2 clearly better, 3 winning; negative when worse.
fn standing(centipawns: i32) -> i32 {
    let bands = [50, 150, 300];
    let passed = bands.iter().filter(|&&least| centipawns.abs() >= least);
    centipawns.signum() * passed.count() as i32
}

/// Scores in their order: centipawns, and beyond them the mates.
fn rank(score: Score) -> i32 {
    const MATE: i32 = 1_000_000;
    match score {
        Score::Centipawns(cp) => cp,
        Score::Mate(moves) if moves > 0 => MATE - moves,
        Score::Mate(moves) => -MATE - moves,
    }
}

/// A mate that the mover gives: the last move needs no line.
fn mating(mate: i32, line: &str) -> String {
    match mate {
        1 => "It is mate.".to_owned(),
        mate => format!("It mates in {mate}: {line}."),
    }
}

/// What a line gains for the side to move: a mate, or two pawns at least.
fn gain(position: &Position, score: Score, line: &[Move]) -> Option<String> {
    if let Some(mate) = mate_for(score) {
        return Some(match mate {
            1 => "is mate".to_owned(),
            mate => format!("mates in {mate}"),
        });
    }
    let won = first_gain(position, line)?;
    let good = winning(score) > 50.0;
    let what = if won.promotes {
        "promotes a pawn".to_owned()
    } else {
        format!("wins {won}")
    };
    good.then_some(what)
}

/// Moves to a mate that the side gives whose view the score has.
fn mate_for(score: Score) -> Option<i32> {
    match score {
        Score::Mate(moves) if moves > 0 => Some(moves),
        _ => None,
    }
}

fn reason(kind: &'static str, text: String) -> Option<Reason> {
    Some(Reason { kind, text })
}

fn name(color: Color) -> &'static str {
    color.fold_wb("White", "Black")
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::Pawn => "pawn",
        Role::Knight => "knight",
        Role::Bishop => "bishop",
        Role::Rook => "rook",
        Role::Queen => "queen",
        Role::King => "king",
    }
}

#[cfg(test)]
mod tests;
