//! Sentences about the better move, and about the effects of a good move.

use super::bad::{offers_trade, rest, threat_claim, threat_words};
use super::words::{Form, harm, line, motif_phrase, purpose};
use super::{Claim, Gain, Look, Reason, ReasonWriter, mate_for, motifs, rank, standing};
use crate::board::{Color, Move, Position, Role, piece_value};
use crate::review::facts::PIECE;
use crate::review::features::{Feature, Prevention, gains, own_attack, prevention, purposes, queen_trade};
use crate::review::mark::{MISTAKE, opposite, winning};
use crate::review::material::{Balance, Swing, explains, is_nearly_at_rest, list};
use crate::review::motifs::{Kind, Man, Motif, Walk, role_name, sacrifice};
use crate::search::score::Score;

/// Maximum difference in centipawns between two moves that are about equally good.
const EVEN: i32 = 20;
/// Divisor of the winning chance that a move loses: at most this part is still lost where the reply that punishes it is
/// excluded.
const PREVENTED: f64 = 2.0;
/// Plies of a double attack: the attack, the reply, the capture.
const DOUBLE_ATTACK: usize = 3;

impl ReasonWriter<'_> {
    pub(super) fn better_move(&self) -> Option<Reason> {
        if let Some(mate) = mate_for(self.before) {
            return self.mates_too(mate);
        }
        self.as_good()
            .or_else(|| self.best_wins())
            .or_else(|| self.best_attacks())
            .or_else(|| self.best_threatens())
            .or_else(|| self.best_prevents())
            .or_else(|| self.best_gains())
            .or_else(|| Some(self.best_keeps()))
    }

    /// Whether the better move wins, threatens, prevents or changes more than the move played, so that its sentence is
    /// the reason.
    pub(super) fn best_is_reason(&self) -> bool {
        let gains = || self.best_wins().or_else(|| self.best_attacks()).or_else(|| self.best_threatens());
        let changes = || self.best_prevents().or_else(|| self.best_gains());
        mate_for(self.before).is_some() || gains().or_else(changes).is_some()
    }

    /// The only reply that punishes the move played, if the best move prevents it.
    fn best_prevents(&self) -> Option<Reason> {
        let second = opposite(self.facts.second_reply.as_ref()?.score);
        let (position, m, best) = (&self.facts.position, self.facts.m, self.facts.best());
        let reply = self.facts.after.best().filter(|_| self.is_bad())?;
        let found = prevention(position, m, best, reply)?;
        // Without the reply, most of the loss is gone.
        let rest = winning(self.before) - winning(second);
        if PREVENTED * rest > winning(self.before) - winning(self.after) {
            return None;
        }
        let answer = self.answer(1);
        let does = match found {
            Prevention::Prevents => format!("it prevents {answer}"),
            Prevention::Evades => {
                let evader = Man { role: position.role_at(best.from())?, square: best.from() };
                format!("it moves {evader} away from {answer}")
            }
            Prevention::DoesNotAllow => format!("it does not allow {answer}"),
        };
        let claim = Claim::new(position, &[best], self.mover()).with_features(vec![Feature::prevents(reply)]);
        let text = format!("{} was better: {does} ({}).", self.best(), self.instead());
        Some(Reason { kind: "best_prevents", text, claim: Some(claim) })
    }

    /// The scores of the best move and of the move played: `+0.30 instead of -1.20`.
    fn instead(&self) -> String {
        let after = match self.after {
            Score::Mate(moves) => format!("mate in {}", moves.abs()),
            score @ Score::Centipawns(_) => self.shown(score),
        };
        format!("{} instead of {after}", self.shown(self.before))
    }

    /// What the best line does to the opponent: an attack on the king, or smaller changes that explain the loss. The
    /// line gives nothing for it.
    fn best_gains(&self) -> Option<Reason> {
        if !self.is_bad() || matches!(self.before, Score::Mate(_)) || matches!(self.after, Score::Mate(_)) {
            return None;
        }
        let (position, loss) = (&self.facts.position, self.loss());
        let longest = self.best_line.len().checked_sub(1)?;
        let plies = self.quiet_end(longest, |plies| self.gives_nothing(&self.best_line[..=plies]))?;
        let line = &self.best_line[..=plies];
        let attack = own_attack(position, &self.played, line).filter(|_| standing(rank(self.before)) >= 2);
        let small = || gains(position, &self.played, line).into_iter();
        let small = || small().filter(|feature| loss <= feature.kind.largest_loss() && feature.kind.is_gain());
        let features: Vec<Feature> = match attack {
            Some(attack) => vec![attack],
            None => small().take(1).collect(),
        };
        let side = !self.mover();
        let best = self.best();
        let clauses: Vec<String> = features.iter().map(|feature| harm(feature, "it", side)).collect();
        if clauses.is_empty() {
            return None;
        }
        let rest = rest(position, line, 1);
        let text = format!("{best} was better{rest}: {} ({}).", list(&clauses), self.instead());
        let claim = Claim::new(position, line, self.mover()).with_features(features);
        Some(Reason { kind: "best_gains", text, claim: Some(claim) })
    }

    /// Whether the mover has no less material after this line than before, and neither side wins a piece next.
    fn gives_nothing(&self, line: &[Move]) -> bool {
        let mut end = self.facts.position.recent();
        for &m in line {
            end.do_move(m);
        }
        let points = |position: &Position| Balance::of(position, self.mover()).points();
        points(&end) >= points(&self.facts.position) && is_nearly_at_rest(&end)
    }

    /// Material that the best line wins by force and the move played does not.
    fn best_wins(&self) -> Option<Reason> {
        if !self.is_bad() {
            return None;
        }
        let (best, position) = (self.best(), &self.facts.position);
        let got = self.lost.map(|lost| lost.points)?;
        let lost = self.facts.lost.map_or(0, |lost| lost.points);
        let won = self.facts.won.filter(|won| won.points > got && explains(won.points + lost, self.loss()))?;
        let moves = &self.best_line[..won.plies];
        let found = motifs(&Walk::new(position, moves));
        let claim = Claim::new(position, moves, self.mover()).winning(&won).with_motifs(&found, 0);
        let (kind, text) = if won.promotes {
            let rest = rest(position, moves, 1);
            ("best_promotes", format!("{best} was better, promoting a pawn{rest}."))
        } else {
            let what = self.what_is_won(&won, self.mover());
            let text = match found.first() {
                Some(motif) if motif.ply == 0 => {
                    let phrase = motif_phrase(motif, Form::Gerund);
                    let rest = rest(position, moves, 1);
                    let is_all = motif.targets.first().is_some_and(|target| won.is_only(target.role));
                    match motif.kind {
                        Kind::Hanging if is_all => format!("{best} was better, {phrase}{rest}."),
                        Kind::Zwischenzug => format!("{best} was better, {phrase}, winning {what}{rest}."),
                        _ => format!("{best} was better, {phrase} and winning {what}{rest}."),
                    }
                }
                Some(motif) => {
                    let mut after = position.clone();
                    after.do_move(moves[0]);
                    let start = line(&after, &moves[1..=motif.ply]);
                    let phrase = motif_phrase(motif, Form::Third);
                    let rest = rest(position, moves, motif.ply + 1);
                    format!("{best} was better: {start} {phrase}, winning {what}{rest}.")
                }
                None => {
                    let rest = rest(position, moves, 1);
                    format!("{best} was better, winning {what}{rest}.")
                }
            };
            ("best_wins", text)
        };
        Some(Reason { kind, text, claim: Some(claim) })
    }

    /// A fork or skewer of the king by the best move, which captures the other piece next. The material is not claimed:
    /// in the proof the opponent wins a pawn back, or gets something else for it.
    fn best_attacks(&self) -> Option<Reason> {
        let position = &self.facts.position;
        let gained = self.kept?.points - self.lost.map_or(0, |lost| lost.points);
        let moves = self.best_line.get(..DOUBLE_ATTACK).filter(|_| self.is_bad() && explains(gained, self.loss()))?;
        let is_double = |motif: &Motif| {
            let has_king = motif.targets.iter().any(|target| target.role == Role::King);
            motif.ply == 0 && matches!(motif.kind, Kind::Fork | Kind::Skewer) && has_king
        };
        let found: Vec<Motif> = motifs(&self.better).into_iter().filter(is_double).take(1).collect();
        let phrase = motif_phrase(found.first()?, Form::Gerund);
        let text = format!("{} was better, {phrase}{}.", self.best(), rest(position, moves, 1));
        let claim = Claim::new(position, moves, self.mover()).with_motifs(&found, 0);
        Some(Reason { kind: "best_attacks", text, claim: Some(claim) })
    }

    /// The material that a side wins, or "back" and the material if the other side has just captured as much or is
    /// ahead by just as much.
    pub(super) fn what_is_won(&self, won: &Swing, side: Color) -> String {
        let position = &self.facts.position;
        let captured = position.last_captured().filter(|_| side == self.mover());
        let behind = -Balance::of(position, side).points();
        if won.points <= captured.map_or(0, piece_value) || won.points == behind {
            return format!("back {won}");
        }
        won.to_string()
    }

    /// A threat of the best move that the move played does not make.
    fn best_threatens(&self) -> Option<Reason> {
        let passed = self.facts.idea.as_ref()?;
        let gain = Gain::real(passed, self.before).filter(|_| self.is_bad() && !self.best_is_traded())?;
        // A threat to make the move played explains nothing.
        let is_played = gain.line.first() == Some(&self.facts.m);
        if is_played || gain.mate.is_none() && offers_trade(passed, &gain) {
            return None;
        }
        let own = self.facts.own_idea.as_ref().and_then(Gain::of);
        if own.is_some_and(|own| own.covers(&gain)) {
            return None;
        }
        let mut what = threat_words(passed, &gain);
        let back = self.facts.position.last_move().zip(self.facts.position.last_captured());
        if back.is_some_and(|(last, role)| last.to() == gain.line[0].to() && gain.points() <= piece_value(role)) {
            what = what.replacen("winning ", "winning back ", 1);
        }
        Some(Reason {
            kind: "best_threatens",
            text: format!("{} was better, threatening {what}.", self.best()),
            claim: Some(threat_claim(passed, &gain)),
        })
    }

    /// Whether the best move is a capture that the opponent answers with a recapture: then nothing is threatened.
    fn best_is_traded(&self) -> bool {
        let [m, reply, ..] = *self.best_line else { return false };
        self.facts.position.is_capture(m) && reply.to() == m.to()
    }

    /// A sentence if both the best move and the move played mate.
    fn mates_too(&self, fastest: i32) -> Option<Reason> {
        let mate = self.mates_after()?;
        let position = &self.facts.position;
        if mate > fastest {
            let shown = self.mate_line(position, self.best_line, fastest);
            let claim = Claim::new(position, self.best_line, self.mover()).mating(fastest);
            return Some(Reason {
                kind: "best_mates",
                text: format!("There was mate in {fastest}: {shown}."),
                claim: Some(claim),
            });
        }
        let claim = Claim::new(position, &self.played, self.mover()).mating(mate);
        let text = self.mating(mate, &self.played);
        Some(Reason { kind: "mates", text, claim: Some(claim) })
    }

    /// A mate by the mover. The last move needs no further line.
    pub(super) fn mating(&self, mate: i32, moves: &[crate::board::Move]) -> String {
        match mate {
            1 => "It is mate.".to_owned(),
            mate => {
                let shown = self.mate_line(&self.facts.position, moves, mate);
                format!("It mates in {mate}: {shown}.")
            }
        }
    }

    /// Number of moves in which the mover mates, the move played included.
    pub(super) fn mates_after(&self) -> Option<i32> {
        match self.facts.after.score {
            Score::Mate(moves) if moves <= 0 => Some(1 - moves),
            _ => None,
        }
    }

    /// The move played is as good according to the scores.
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
        let [first, second] = [self.after, self.before].map(|score| self.shown(score));
        let text = if matches!(self.before, Score::Mate(_)) {
            format!("It holds out as long as {best}.")
        } else if after > before + EVEN {
            format!("A deeper search prefers it to {best} ({first} against {second}).")
        } else {
            format!("It is about as good as {best} ({first} against {second}).")
        };
        Some(Reason { kind: "as_good", text, claim: None })
    }

    /// The advantage that the best move keeps, in words and as a score.
    fn best_keeps(&self) -> Reason {
        let (best, position) = (self.best(), &self.facts.position);
        let trade = queen_trade(position, self.best_line).filter(|_| queen_trade(position, &self.played).is_none());
        let text = if let (Score::Mate(longer), Score::Mate(sooner)) = (self.before, self.after) {
            let (longer, sooner) = (longer.abs(), sooner.abs());
            format!("{best} was better and held out longer (mate in {longer} instead of {sooner}).")
        } else {
            let scores = self.instead();
            let trade = if trade.is_some() { ", trading queens," } else { "" };
            match keeping(rank(self.before), rank(self.after)) {
                Some(what) => format!("{best} was better{trade} and {what} ({scores})."),
                None => format!("{best} was slightly better{trade} ({scores}).").replace(", (", " ("),
            }
        };
        let claim = trade.map(|plies| {
            let claim = Claim::new(position, &self.best_line[..plies], self.mover());
            claim.with_features(vec![Feature::queens_traded()])
        });
        Reason { kind: "best_keeps", text, claim }
    }

    pub(super) fn only_move(&self) -> Option<Reason> {
        let second = self.facts.second.as_ref()?;
        // For the move played, the lower of the two values counts: the search after it is the deeper one.
        let value =
            if self.facts.is_best() { winning(self.before).min(winning(self.after)) } else { winning(self.before) };
        if value - winning(second.score) < MISTAKE {
            return None;
        }
        // If a deeper search showed that the move played is good, there are two good moves.
        let played = !self.facts.is_best();
        if played && !self.is_bad() {
            return None;
        }
        // The sentences before this one compare the second-best move with the best one.
        if played && second.best() == Some(self.facts.m) {
            return None;
        }
        let next = self.next_best(second);
        let was = if played { "was" } else { "is" };
        let what = only(standing(rank(self.before)), standing(rank(second.score)), played);
        Some(Reason { kind: "only_move", text: format!("It {was} {what}: {next}."), claim: None })
    }

    /// The result without the best move.
    fn next_best(&self, second: &Look) -> String {
        let other = line(&self.facts.position, &second.pv()[..1.min(second.pv().len())]);
        match second.score {
            Score::Mate(moves) => format!("the next best, {other}, allows mate in {}", moves.abs()),
            score @ Score::Centipawns(_) => {
                format!("the next best, {other}, leads to {}", self.shown(score))
            }
        }
    }
}

/// What a move is that no other comes near, by the standings after it and after the next best one. A move after which
/// the side is clearly worse is not good, and one after which it is clearly better is.
fn only(best: i32, second: i32, played: bool) -> &'static str {
    match (best, second) {
        (..=-2, _) if played => "the only move that limited the damage",
        (..=-2, _) => "the only move that limits the damage",
        (_, 2..) => "by far the best move",
        _ => "the only good move",
    }
}

/// Effect of the better move, from the mover's centipawns with each move; `None` if both positions are even.
pub(super) fn keeping(before: i32, after: i32) -> Option<&'static str> {
    let (had, has) = (standing(before), standing(after));
    match had {
        0 if has == 0 => None,
        0 => Some("kept the balance"),
        1.. if had == has => Some("kept more of the advantage"),
        1 => Some("kept a slight advantage"),
        2 => Some("kept a clear advantage"),
        3.. => Some("kept a winning advantage"),
        -1 if has < had => Some("kept the disadvantage small"),
        _ => Some("limited the damage"),
    }
}

// Sentences about the effects of a good move.

/// Maximum number of purposes that a sentence names.
const PURPOSES: usize = 3;

impl ReasonWriter<'_> {
    /// The gains that the best move forces.
    pub(super) fn good_move(&self) -> Vec<Reason> {
        if let Some(mate) = mate_for(self.before) {
            let position = &self.facts.position;
            let found = motifs(&self.better);
            let claim = Claim::new(position, self.best_line, self.mover()).mating(mate);
            let text = self.mating(mate, self.best_line);
            let claim = Some(claim.with_motifs(&found, 0));
            let mut found = vec![Reason { kind: "mates", text, claim }];
            found.extend(self.sacrifices());
            return found;
        }
        // What the opponent loses if he declines a sacrifice is beside the point, unless it is a piece.
        let given = self.sacrifices();
        let won = self.facts.won.filter(|won| given.is_none() || won.points >= PIECE);
        let won = won.map(|won| self.wins_material(&won));
        given.into_iter().chain(won).collect()
    }

    fn sacrifices(&self) -> Option<Reason> {
        let motif = sacrifice(&self.better, self.before)?;
        let claim = Claim::new(&self.facts.position, self.best_line, self.mover());
        let role = role_name(motif.piece.role);
        let captured = self.better.captured(0).filter(|man| piece_value(man.role) > 1);
        let captured = captured.map(|man| format!(" for a {}", role_name(man.role)));
        Some(Reason {
            kind: "sacrifice",
            text: format!("It is a sound sacrifice of the {role}{}.", captured.unwrap_or_default()),
            claim: Some(claim.with_motifs(&[motif], 0)),
        })
    }

    fn wins_material(&self, won: &Swing) -> Reason {
        let position = &self.facts.position;
        let moves: &[Move] = &self.best_line[..won.plies];
        let found = motifs(&Walk::new(position, moves));
        let claim = Claim::new(position, moves, self.mover()).winning(won).with_motifs(&found, 0);
        let what = self.what_is_won(won, self.mover());
        let rest = rest(position, moves, 1);
        let text = match found.first().filter(|motif| motif.ply == 0) {
            _ if won.promotes => format!("It promotes a pawn{rest}."),
            Some(motif) if motif.kind != Kind::Hanging => {
                format!("It {}, winning {what}{rest}.", motif_phrase(motif, Form::Third))
            }
            _ => format!("It wins {what}{rest}."),
        };
        Reason { kind: "wins_material", text, claim: Some(claim) }
    }

    /// Sentence for a move that the search would also have played.
    pub(super) fn best_by_search(&self) -> Option<Reason> {
        let depth = self.facts.before.depth;
        let score = self.shown(self.before);
        let text = match self.facts.position.legal_moves().len() {
            1 => "It is the only legal move.".to_owned(),
            _ => format!("It is the best move by the search ({score} at depth {depth})."),
        };
        Some(Reason { kind: "best", text, claim: None })
    }

    /// Effects of a move that loses nothing: the threat that it parries, the threat that it makes, and its purposes.
    pub(super) fn intentions(&self) -> Vec<Reason> {
        let mut found = Vec::new();
        if self.mates_after().is_some() {
            return found;
        }
        found.extend(self.meets_threat());
        found.extend(self.threatens());
        found.extend(self.purpose());
        found
    }

    /// A threat of the opponent that the line after the move no longer contains.
    fn meets_threat(&self) -> Option<Reason> {
        let passed = self.facts.threat.as_ref()?;
        let gain = Gain::real(passed, opposite(self.before))?;
        let meets = match gain.mate {
            Some(_) => mate_for(opposite(self.after)).is_none(),
            None => {
                mate_for(opposite(self.after)).is_none() && self.lost.is_some_and(|lost| -lost.points < gain.points())
            }
        };
        meets.then(|| Reason {
            kind: "meets_threat",
            text: format!("It meets the threat {}.", threat_words(passed, &gain)),
            claim: Some(threat_claim(passed, &gain)),
        })
    }

    fn threatens(&self) -> Option<Reason> {
        let passed = self.facts.own_idea.as_ref()?;
        let gain = Gain::real(passed, self.after)?;
        Some(Reason {
            kind: "threatens",
            text: format!("It threatens {}.", threat_words(passed, &gain)),
            claim: Some(threat_claim(passed, &gain)),
        })
    }

    fn purpose(&self) -> Option<Reason> {
        let (position, m) = (&self.facts.position, self.facts.m);
        let features: Vec<_> = purposes(position, m).into_iter().take(PURPOSES).collect();
        if features.is_empty() {
            return None;
        }
        let clauses: Vec<String> = features.iter().map(purpose).collect();
        let claim = Claim::new(position, &[m], self.mover()).with_features(features);
        Some(Reason { kind: "purpose", text: format!("It {}.", list(&clauses)), claim: Some(claim) })
    }
}

#[cfg(test)]
mod tests {
    use super::only;

    #[test]
    fn move_is_called_the_only_good_one_only_if_it_is_good_and_the_next_is_not() {
        for (best, second, played, words) in [
            (0, -2, false, "the only good move"),
            (3, 1, true, "the only good move"),
            (3, 3, true, "by far the best move"),
            (-2, -3, true, "the only move that limited the damage"),
            (-2, -3, false, "the only move that limits the damage"),
        ] {
            assert_eq!(only(best, second, played), words, "{best} {second}");
        }
    }
}
