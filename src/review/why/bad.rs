//! Reasons that show how a bad move is punished.

use super::words::{Form, harm, line, motif_phrase, name, stands};
use super::{Claim, Gain, Reason, ReasonWriter, SHOWN, is_complete, mate_for, motifs, rank, standing};
use crate::board::attacks::attacks;
use crate::board::{Move, Position};
use crate::game::ending::Cause;
use crate::review::analyst;
use crate::review::analyst::cut_at_end;
use crate::review::facts::PIECE;
use crate::review::features::{Feature, attack, harms, promotion};
use crate::review::mark::opposite;
use crate::review::material::{
    Balance, Swing, ends_in_exchange, explains, is_most, is_nearly_at_rest, list, rough_swing, swing,
};
use crate::review::motifs::{Kind, Motif, Walk};
use crate::search::score::Score;

/// Kinds of sentences that state the standing after the move.
const REFUTES: [&str; 3] = ["refutation", "no_single_reason", "draws"];
/// Maximum number of plies after the move that show an attack on the king.
const LONGEST_ATTACK: usize = 7;
/// Maximum number of plies after the move that show a promotion.
const LONGEST_RUN: usize = 9;
/// Maximum loss in centipawns that an uneven trade explains, and that each pawn of a sacrifice explains.
const TRADE: i32 = 300;
/// Maximum number of plies, the move played included, until the line is quiet in which the reply captures a piece.
const TAKEN_WITHIN: usize = 6;
/// Minimum number of pawns that a piece costs its side if the reply captures it: a bishop for a pawn.
const GIVEN: i32 = 2;
/// Maximum number of plies by which a line is longer so that it does not end in the middle of an exchange.
const EXCHANGED: usize = 2;
/// Maximum loss in centipawns that each pawn of a threat explains.
const THREATENED: i32 = 100;
/// Maximum number of harms in a sentence.
const HARMS: usize = 2;

/// Changes on the board that explain a loss.
struct Changes {
    /// Plies after the move until all changes are on the board.
    plies: usize,
    features: Vec<Feature>,
    trade: Option<Swing>,
}

impl ReasonWriter<'_> {
    /// The result that the move gives away, such as a win. `next` is the sentence that follows.
    pub(super) fn result(&self, next: Option<&Reason>) -> Option<Reason> {
        if !self.is_bad() {
            return None;
        }
        let (had, has) = (standing(rank(self.before)), standing(rank(self.after)));
        let side = self.mover();
        let draw = self.drawn_after().is_some();
        let (kind, text) = match (had, has) {
            // The sentence of the draw or of the refutation also states the new standing.
            (3, 0) if next.is_some_and(|next| REFUTES.contains(&next.kind)) => {
                ("throws_away_win", "It throws away the win.")
            }
            (3, 0) if draw => ("throws_away_win", "It throws away the win: now a draw."),
            (3, 0) => ("throws_away_win", "It throws away the win: the game is level now."),
            (3, -3) => ("turns_win_into_loss", "It turns a win into a loss."),
            (0, -3) if !matches!(self.after, Score::Mate(_)) => {
                ("throws_away_draw", "It turns a level game into a loss.")
            }
            _ => return None,
        };
        let claim = Claim::new(&self.facts.position, &self.played, !side);
        // Only a draw by the rules can be proved on the board.
        let claim = draw.then_some(claim);
        Some(Reason { kind, text: text.to_owned(), claim })
    }

    /// The draw by the rules in which the line after the move ends, if its score is 0.
    fn drawn_after(&self) -> Option<Cause> {
        let mut line = self.played.clone();
        cut_at_end(&self.facts.position, &mut line).filter(|_| self.after == Score::Centipawns(0))
    }

    /// The end of the game by a draw, if the move causes it.
    pub(super) fn draws(&self) -> Option<Reason> {
        // A bad move that stalemates has its own sentence.
        let is_known = |cause: &Cause| *cause == Cause::Stalemate && self.is_bad();
        let cause = analyst::draw(&self.facts.reached()).filter(|cause| !is_known(cause))?;
        let text = format!("It ends the game: {}.", cause.draw_in_words());
        let claim = Claim::new(&self.facts.position, &[self.facts.m], self.mover());
        Some(Reason { kind: "draws", text, claim: Some(claim) })
    }

    pub(super) fn missed_mate(&self) -> Option<Reason> {
        let mate = mate_for(self.before).filter(|_| mate_for(self.after).is_none())?;
        let position = &self.facts.position;
        let shown = self.mate_line(position, self.best_line, mate);
        let claim = Claim::new(position, self.best_line, self.mover()).mating(mate);
        Some(Reason {
            kind: "missed_mate",
            text: format!("It misses mate in {mate}: {shown}."),
            claim: Some(claim.with_motifs(&motifs(&self.better), 0)),
        })
    }

    /// A mating line: the whole line if it ends in mate, otherwise its first moves.
    pub(super) fn mate_line(&self, position: &crate::board::Position, moves: &[Move], mate: i32) -> String {
        if is_complete(position, moves, mate) {
            return line(position, moves);
        }
        format!("{} ...", line(position, &moves[..SHOWN.min(moves.len())]))
    }

    /// The opponent's punishment of the move: the first of these reasons that applies.
    pub(super) fn punishment(&self) -> Option<Reason> {
        let drawn = self.draws().filter(|_| self.is_bad());
        self.allows_mate()
            .or_else(|| self.stalemate())
            .or(drawn)
            .or_else(|| self.loses_material())
            .or_else(|| self.refutation())
    }

    fn allows_mate(&self) -> Option<Reason> {
        let mate = mate_for(opposite(self.after)).filter(|_| mate_for(opposite(self.before)).is_none())?;
        let (reached, moves) = (self.facts.reached(), self.facts.after.pv());
        let shown = self.mate_line(&reached, moves, mate);
        let found = motifs(&self.refutation);
        let place = match found.iter().find(|motif| motif.kind == Kind::BackRank) {
            Some(_) => " on the back rank",
            None => "",
        };
        let claim = Claim::new(&reached, moves, !self.mover()).mating(mate);
        Some(Reason {
            kind: "allows_mate",
            text: format!("It allows mate in {mate}{place}: {shown}."),
            claim: Some(claim.with_motifs(&found, 0)),
        })
    }

    fn stalemate(&self) -> Option<Reason> {
        let reached = self.facts.reached();
        let stalemate = reached.legal_moves().is_empty() && !reached.in_check();
        (stalemate && self.is_bad()).then_some(())?;
        let text = format!("It is stalemate: {} has no legal move.", self.opponent());
        let claim = Claim::new(&self.facts.position, &[self.facts.m], self.mover());
        Some(Reason { kind: "stalemate", text, claim: Some(claim) })
    }

    /// Material that the refutation wins by force and the best line does not lose, as the opponent's gain.
    pub(super) fn lost_by_force(&self) -> Option<Swing> {
        let kept = self.kept.map_or(0, |swing| swing.points);
        self.facts.lost.filter(|lost| kept > -lost.points && lost.plies > 1 && self.is_bad())
    }

    fn loses_material(&self) -> Option<Reason> {
        if mate_for(opposite(self.after)).is_some() {
            return None;
        }
        let missed = self.facts.won.map_or(0, |won| won.points);
        let lost = self.lost_by_force().filter(|lost| explains(lost.points + missed, self.loss()))?;
        let position = &self.facts.position;
        let moves = &self.played[..lost.plies];
        let walk = Walk::new(&self.facts.reached(), &moves[1..]);
        let found = motifs(&walk);
        let claim = Claim::new(position, moves, !self.mover()).winning(&lost).with_motifs(&found, 1);
        let (kind, text) = if lost.promotes {
            let shown = self.answer(lost.plies - 1);
            ("lets_promote", format!("It lets {} promote a pawn: {shown}.", self.opponent()))
        } else {
            ("loses_material", self.loss_sentence(&lost, found.first()))
        };
        Some(Reason { kind, text, claim: Some(claim) })
    }

    fn loss_sentence(&self, lost: &Swing, motif: Option<&Motif>) -> String {
        let reached = self.facts.reached();
        let moves = &self.played[1..lost.plies];
        let what = self.what_is_won(lost, !self.mover());
        if let Some(motif) = motif.filter(|motif| motif.kind == Kind::Hanging) {
            let target = motif.targets.first().map(ToString::to_string).unwrap_or_default();
            let shown = line(&reached, &moves[..1]);
            if motif.targets.first().is_some_and(|target| lost.is_only(target.role)) {
                return format!("It leaves {target} hanging: {shown}.");
            }
            let rest = rest(&reached, moves, 1);
            return format!("{shown} takes {target}, winning {what}{rest}.");
        }
        match motif {
            Some(motif) => {
                let subject = line(&reached, &moves[..=motif.ply]);
                let rest = rest(&reached, moves, motif.ply + 1);
                format!("{subject} {}, winning {what}{rest}.", motif_phrase(motif, Form::Third))
            }
            None => {
                let subject = line(&reached, &moves[..1]);
                format!("{subject} wins {what}{}.", rest(&reached, moves, 1))
            }
        }
    }

    /// The opponent's line if no material is lost by force: the standing after it, and the changes on the board that
    /// explain the loss.
    fn refutation(&self) -> Option<Reason> {
        let plies = self.facts.after.pv().len().min(SHOWN);
        if !self.is_bad() || plies == 0 || matches!(self.after, Score::Mate(_)) {
            return None;
        }
        let state = match self.drawn_after() {
            Some(cause) => format!("the game ends in {}", cause.draw_in_words()),
            None => stands(standing(rank(self.after)), self.mover()),
        };
        let Changes { plies, features, trade } = self.changes(plies);
        let answer = self.answer(1);
        let mut clauses: Vec<String> = features.iter().map(|feature| harm(feature, &answer, self.mover())).collect();
        let verb = if self.is_taken_at_once() { "gives" } else { "loses" };
        clauses.extend(trade.map(|trade| format!("{} {verb} {trade}", name(self.mover()))));
        let (score, shown) = (self.shown(self.after), self.answer(plies));
        let claim = Claim::new(&self.facts.position, &self.played[..=plies], !self.mover()).with_features(features);
        let claim = Some(trade.map_or(claim.clone(), |trade| claim.winning(&trade)));
        if !clauses.is_empty() {
            let text =
                format!("After {shown} {state} ({score}): {}.", list(&without_repetition(clauses, self.mover())));
            return Some(Reason { kind: "refutation", text, claim });
        }
        let is_explained = self.overlooks_threat().is_some() || self.reply_threatens().is_some();
        if self.drawn_after().is_some() || is_explained || self.best_is_reason() {
            return Some(Reason { kind: "refutation", text: format!("After {shown} {state} ({score})."), claim });
        }
        let text = format!("After {shown} {state} ({score}): there is no single reason; the line shows it.");
        Some(Reason { kind: "no_single_reason", text, claim })
    }

    /// The changes on the board that explain the loss: an attack on the king, an uneven trade, or smaller harms.
    fn changes(&self, plies: usize) -> Changes {
        let is_clear = standing(rank(self.after)) <= -2;
        let trade = self.trade();
        // A piece given at once explains more than the attack that follows, and a piece lost on the way more than the
        // attack that it leaves.
        let is_given = |attack: &Changes| trade.is_some_and(|trade| trade.plies <= attack.plies + 1);
        let costs = |attack: &Changes| self.material_lost(attack.plies + 1) >= PIECE;
        let attack = self.attack_on_king().filter(|attack| is_clear && !is_given(attack) && !costs(attack));
        if let Some(changes) = attack {
            return changes;
        }
        if let Some(trade) = trade {
            return Changes { plies: trade.plies - 1, features: Vec::new(), trade: Some(trade) };
        }
        let runs = promotion(&self.facts.position, &self.played, self.best_line);
        if let Some((ply, found)) = runs.filter(|(ply, _)| is_clear && *ply <= LONGEST_RUN) {
            return Changes { plies: ply, features: vec![found], trade: None };
        }
        let harms = self.small_harms().filter(|harms| !harms.features.is_empty());
        harms.unwrap_or(Changes { plies, features: Vec::new(), trade: None })
    }

    /// The attack on the mover's king, where it is on the board for the first time.
    fn attack_on_king(&self) -> Option<Changes> {
        let longest = self.facts.after.pv().len().min(LONGEST_ATTACK);
        (1..=longest).find_map(|plies| {
            let found = attack(&self.facts.position, &self.played[..=plies], self.best_line)?;
            Some(Changes { plies, features: vec![found], trade: None })
        })
    }

    /// A trade of the line played that favours the opponent, or a piece that the mover gives or loses in it.
    fn trade(&self) -> Option<Swing> {
        // A new queen is not a piece that the other side has lost.
        let promotes = |trade: &Swing| self.played[..trade.plies].iter().any(|m| m.promotion().is_some());
        let trade = self.uneven_trade().or_else(|| self.sacrifice()).or_else(|| self.piece_lost_at_once());
        trade.filter(|trade| !promotes(trade) && self.is_calm(trade.plies))
    }

    /// Smaller changes that explain the loss, where the line played is quiet.
    fn small_harms(&self) -> Option<Changes> {
        let plies = self.quiet_end(self.facts.after.pv().len(), |plies| self.is_settled(plies + 1))?;
        let (loss, lost) = (self.loss(), self.material_lost(plies + 1));
        // If material is lost too, smaller changes are not the reason. A pawn that is lost or passes may be both.
        let is_reason = |feature: &Feature| {
            let is_beside = lost <= 0 || lost < GIVEN && feature.kind.concerns_passers();
            is_beside && loss <= feature.kind.largest_loss()
        };
        let found = harms(&self.facts.position, &self.played[..=plies], self.best_line);
        let features = found.into_iter().filter(is_reason).take(HARMS).collect();
        Some(Changes { plies, features, trade: None })
    }

    /// A number of plies after the first move, at most `longest` and near [`SHOWN`], after which neither line ends in
    /// the middle of an exchange and the position is quiet.
    pub(super) fn quiet_end(&self, longest: usize, is_quiet: impl Fn(usize) -> bool) -> Option<usize> {
        let plies = longest.min(SHOWN);
        let is_whole = |plies: &usize| {
            let cut = |line: &[Move]| ends_in_exchange(&self.facts.position, &line[..line.len().min(plies + 1)]);
            !cut(&self.played) && !cut(self.best_line) && is_quiet(*plies)
        };
        (plies..=longest.min(plies + EXCHANGED)).chain((1..plies).rev()).find(is_whole)
    }

    /// Pawns that the mover has lost after this number of plies of the line played.
    fn material_lost(&self, plies: usize) -> i32 {
        let points = |position: &Position| Balance::of(position, self.mover()).points();
        points(&self.facts.position) - points(&self.after_plies(plies))
    }

    fn after_plies(&self, plies: usize) -> Position {
        let mut position = self.facts.position.clone();
        for &m in self.played.iter().take(plies) {
            position.do_move(m);
        }
        position
    }

    /// Whether neither side wins more than a pawn by a capture after this number of plies of the line played: the side
    /// to move can prevent what the other side attacks.
    fn is_settled(&self, plies: usize) -> bool {
        let position = self.after_plies(plies);
        let prevents = |m: &Move| {
            let mut next = position.recent();
            next.do_move(*m);
            is_nearly_at_rest(&next)
        };
        is_nearly_at_rest(&position) && position.legal_moves().iter().any(prevents)
    }

    /// Whether no piece hangs after this number of plies of the line played, whichever side is to move: a pinned piece
    /// that is attacked cannot be saved.
    fn is_calm(&self, plies: usize) -> bool {
        let mut position = self.after_plies(plies);
        if !is_nearly_at_rest(&position) {
            return false;
        }
        position.do_null_move();
        is_nearly_at_rest(&position)
    }

    /// A trade of the refutation that counts as even but favours the opponent, as the opponent's gain.
    fn uneven_trade(&self) -> Option<Swing> {
        let position = &self.facts.position;
        let trade = |line: &[Move]| swing(position, line, !self.mover()).filter(Swing::is_uneven);
        let found = trade(&self.played).filter(|found| trade(self.best_line).is_none() && found.plies > 1);
        found.filter(|_| self.loss() <= TRADE)
    }

    /// Whether the reply captures the piece that moved.
    fn is_taken_at_once(&self) -> bool {
        self.facts.after.best().is_some_and(|reply| reply.to() == self.facts.m.to())
    }

    /// A piece that the line gives for one or two pawns, or the exchange, as the opponent's gain.
    fn sacrifice(&self) -> Option<Swing> {
        let gain = |line: &[Move]| swing(&self.facts.position, line, !self.mover());
        let avoided = gain(self.best_line).is_none_or(|kept| kept.points <= 0);
        let found = gain(&self.played).filter(|found| found.is_sacrifice() && found.plies > 1 && avoided)?;
        (self.loss() <= TRADE * found.points && found.plies <= LONGEST_RUN).then_some(found)
    }

    /// A piece that the reply captures at once for something less, as the opponent's gain, if the line confirms it. The
    /// proof of [`Self::loses_material`] fails where the material is partly won back.
    fn piece_lost_at_once(&self) -> Option<Swing> {
        let gain = |line: &[Move]| rough_swing(&self.facts.position, line, !self.mover());
        let taken = self.facts.reached().captured(*self.played.get(1)?)?;
        let is_main = |won: &Swing| won.points >= GIVEN && won.roles()[0].first() == Some(&taken);
        let ends = 2..=TAKEN_WITHIN.min(self.played.len());
        let found =
            ends.filter_map(|plies| gain(&self.played[..plies]).filter(|won| won.plies == plies)).find(is_main)?;
        let [whole, kept] = [&self.played[..], self.best_line].map(|line| gain(line).map_or(0, |won| won.points));
        let is_confirmed = is_most(whole, found.points) && !is_most(kept, found.points);
        (is_confirmed && explains(found.points, self.loss())).then_some(found)
    }

    /// A threat that the opponent had before the move, can carry out after it, and could not after the best move.
    pub(super) fn overlooks_threat(&self) -> Option<Reason> {
        let passed = self.facts.threat.as_ref()?;
        let gain = Gain::real(passed, opposite(self.before))?;
        let threat = *gain.line.first()?;
        if self.facts.after.best() != Some(threat) {
            return None;
        }
        let happens = match gain.mate {
            Some(_) => mate_for(opposite(self.after)).is_some(),
            None => {
                let same = passed.position.captured(threat) == self.facts.reached().captured(threat);
                let taken = self.refutation.swing.map_or(0, |swing| swing.points);
                same && self.lost_by_force().is_some() && taken >= gain.points()
            }
        };
        let met = match gain.mate {
            Some(_) => mate_for(opposite(self.before)).is_none(),
            None => self.kept.is_some_and(|kept| -kept.points < gain.points()),
        };
        (happens && met).then_some(())?;
        // The sentence of the punishment has named the same gain.
        let is_named = |lost: Swing| gain.won.is_some_and(|won| won.to_string() == lost.to_string());
        let what = match self.loses_material().and(self.lost_by_force()) {
            Some(lost) if is_named(lost) => "this".to_owned(),
            _ => threat_words(passed, &gain),
        };
        let text = format!("{} was already threatening {what}, and the move does not prevent it.", self.opponent());
        Some(Reason { kind: "overlooks_threat", text, claim: Some(threat_claim(passed, &gain)) })
    }

    /// A threat of the opponent's reply that there was not before, and that is worth the loss.
    pub(super) fn reply_threatens(&self) -> Option<Reason> {
        let passed = self.facts.reply_idea.as_ref().filter(|_| self.is_bad())?;
        let [reply, rest @ ..] = self.facts.after.pv() else { return None };
        let gain = Gain::real(passed, self.facts.after.score)?;
        let first = *gain.line.first()?;
        let is_old = self.facts.threat.as_ref().is_some_and(|threat| threat.look.best() == Some(first));
        let is_taken = rest.first().is_some_and(|m| m.to() == reply.to());
        let is_same = self.best_line.get(1) == Some(reply);
        if is_old || is_taken || is_same || gain.mate.is_none() && offers_trade(passed, &gain) {
            return None;
        }
        let is_enough = gain.mate.is_some() || self.loss() <= THREATENED * gain.points();
        (is_enough && self.overlooks_threat().is_none()).then(|| Reason {
            kind: "reply_threatens",
            text: format!("{} threatens {}.", self.answer(1), threat_words(passed, &gain)),
            claim: Some(threat_claim(passed, &gain)),
        })
    }
}

/// The clauses, without the subject and verb of the second if they repeat those of the first.
fn without_repetition(mut clauses: Vec<String>, side: crate::board::Color) -> Vec<String> {
    for color in [side, !side] {
        let start = format!("{} gets ", super::words::name(color));
        if clauses.len() == 2 && clauses.iter().all(|clause| clause.starts_with(&start)) {
            clauses[1] = clauses[1][start.len()..].to_owned();
        }
    }
    clauses
}

/// `27...Nxd5, winning the exchange`; `4.Qxf7#`
pub(super) fn threat_words(super::Passed { position, .. }: &super::Passed, gain: &Gain) -> String {
    let first = line(position, &gain.line[..1]);
    match (gain.mate, gain.won) {
        (Some(1), _) => first,
        (Some(mate), _) => format!("{first} and mate in {mate}"),
        (None, Some(won)) => {
            // A recapture needs no line.
            let rest = if won.plies > 2 { rest(position, &gain.line[..won.plies], 1) } else { String::new() };
            if won.promotes {
                format!("{first}, promoting a pawn{rest}")
            } else {
                format!("{first}, winning {won}{rest}")
            }
        }
        (None, None) => first,
    }
}

/// Whether a threat captures a piece of the same kind that could capture the attacker itself.
pub(super) fn offers_trade(super::Passed { position, .. }: &super::Passed, gain: &Gain) -> bool {
    let Some(&m) = gain.line.first() else { return false };
    let same = position.captured(m).is_some_and(|role| position.role_at(m.from()) == Some(role));
    let target = position.piece_at(m.to());
    same && target.is_some_and(|piece| attacks(m.to(), piece, position.occupied()).contains(m.from()))
}

/// A threat as data.
pub(super) fn threat_claim(super::Passed { position, .. }: &super::Passed, gain: &Gain) -> Claim {
    let side = position.turn();
    if let Some(mate) = gain.mate {
        return Claim::new(position, &gain.line, side).mating(mate);
    }
    let plies = gain.won.map_or(1, |won| won.plies);
    let line = &gain.line[..plies];
    let claim = Claim::new(position, line, side).with_motifs(&motifs(&Walk::new(position, line)), 0);
    match gain.won {
        Some(won) => claim.winning(&won),
        None => claim,
    }
}

/// The moves of a line from index `first` on, in parentheses, up to the maximum number shown.
pub(super) fn rest(start: &crate::board::Position, moves: &[Move], first: usize) -> String {
    if first >= moves.len() {
        return String::new();
    }
    let mut position = start.clone();
    for &m in &moves[..first] {
        position.do_move(m);
    }
    let end = SHOWN.max(first + 1).min(moves.len());
    let dots = if end < moves.len() { " ..." } else { "" };
    format!(" ({}{dots})", line(&position, &moves[first..end]))
}

#[cfg(test)]
mod tests {
    use super::super::reasons;
    use super::*;
    use crate::review::analyst::Look;
    use crate::review::analyst::tests::position;
    use crate::review::facts::{Facts, Passed};
    use crate::search::score::{Line, ScoreBound};

    /// The facts about a move without any search: the lines after it and in its place, with their scores for the mover.
    fn given(fen: &str, san: &str, after: (&str, i32), before: (&str, i32)) -> Facts {
        let look = |position: &Position, (moves, cp): (&str, i32)| {
            let mut now = position.clone();
            let pv = moves.split(' ').map(|san| {
                let m = now.parse_san(san).expect(san);
                now.do_move(m);
                m
            });
            let (pv, score) = (pv.collect(), Score::Centipawns(cp));
            let line = Line { depth: 10, seldepth: 10, multipv: 1, score, bound: ScoreBound::Exact, wdl: [0; 3], pv };
            Look { score, depth: 10, lines: vec![line] }
        };
        let position = position(fen);
        let m = position.parse_san(san).expect(san);
        let mut reached = position.clone();
        reached.do_move(m);
        let (after, before) = (look(&reached, (after.0, -after.1)), look(&position, before));
        let (second, threat, idea, own_idea) = (None, None, None, None);
        let (lost, won, reply_idea, second_reply) = (None, None, None, None);
        Facts { position, m, before, after, second, threat, idea, own_idea, lost, won, reply_idea, second_reply }
    }

    #[test]
    fn material_that_is_lost_explains_more_than_an_attack_or_a_small_change() {
        let first = |reasons: Vec<Reason>| reasons.into_iter().next().map(|reason| reason.text).unwrap_or_default();
        for (fen, san, after, before, said) in [
            // The fork wins a rook; pieces near the king are not the reason.
            (
                "4r3/p4k2/1p4n1/2r1bNB1/8/8/PP1P3P/1K1RR3 b - - 0 30",
                "Ke6",
                ("Ng7+ Kf7 Nxe8 Bxh2 Be3", -618),
                ("Bf4 Bxf4 Rxe1 Nd6+ Kg7 Rxe1 Nxf4 Re7+", -324),
                "After 31.Ng7+ Kf7 32.Nxe8 Bxh2 33.Be3 White is winning (+6.18): there is no single reason",
            ),
            // The reply takes the queen.
            (
                "q5k1/3rbbpp/pp1pQn2/8/1PP5/P5PP/1B1R4/4R1K1 w - - 4 31",
                "Bxf6",
                ("Bxe6 Bxe7 Rxe7 a4 Qf3", -637),
                ("Qf5 Rc7 g4 Qd8 Rf2 h6 h4", -245),
                "After 31...Bxe6 32.Bxe7 Rxe7 Black is winning (-6.37): White loses the queen for a ",
            ),
            // The bishop is given; the attack that follows is not the reason.
            (
                "r3r1k1/ppp2ppp/1b4q1/1P2p3/2B1n3/2P4b/P3QPP1/RNB2RK1 w - - 0 16",
                "Bxf7+",
                ("Kxf7 Qf3+ Bf5 Nd2 Ng5", -728),
                ("Qf3 Be6 Bxe6 Rxe6 Be3", -496),
                "After 16...Kxf7 Black is winning (-7.28): White gives a bishop for a pawn.",
            ),
            // A knight is given for a pawn, but the rook that is pinned on f2 is lost too.
            (
                "r1bqk2r/pppp1ppp/2n2n2/2b1p3/2B1P3/2P2N2/PP1P1PPP/RNBQ1RK1 b kq - 0 5",
                "O-O",
                ("d4 Bb6 dxe5 Nxe4 Bd5 Nxf2 Rxf2 d6", -69),
                ("Nxe4 d3 d5 Bb5 Nd6", 51),
                "After 6.d4 Bb6 7.dxe5 Nxe4 8.Bd5 White is slightly better (+0.69): 6.d4 drives the bishop on c5 away.",
            ),
            // White's bishop is captured next, so he has no pair.
            (
                "r1bk1b1r/3ppppp/p7/3n4/8/3B1N2/PPP2PPP/R1B1K2R b KQ - 1 11",
                "Bb7",
                ("Be4 Rb8 c4 Nb4 Bxb7", -19),
                ("Nb4 Bc4 d5 Bb3 a5", 46),
                "After 12.Be4 Rb8 13.c4 Nb4 14.Bxb7 the game is level (+0.19): there is no single reason",
            ),
            // The pawn that gets past the others is captured next.
            (
                "rn1qkb1r/ppp1pppp/8/3n4/3P4/2N2P2/PP3PPP/R1BQKB1R w KQkq - 0 7",
                "Bc4",
                ("Nb6 Bb3 e6 d5 exd5", 82),
                ("Qb3 Nb6 d5 e6 dxe6", 161),
                "After 7...Nb6 8.Bb3 e6 9.d5 exd5 White is slightly better (+0.82): there is no single reason",
            ),
            // A pawn is lost; that the other one is isolated is not the reason.
            (
                "4k3/8/2p5/3p4/8/8/8/2R1K3 b - - 0 1",
                "Kf7",
                ("Rxc6 Ke7", -80),
                ("Kd7 Kd2 Ke6", 0),
                "After 2.Rxc6 Ke7 White is slightly better (+0.80): there is no single reason",
            ),
        ] {
            let text = first(reasons(&given(fen, san, after, before)));
            assert!(text.starts_with(said), "{san}: {text}");
        }
    }

    fn says(facts: &Facts, kind: &str) -> Option<String> {
        reasons(facts).into_iter().find(|reason| reason.kind == kind).map(|reason| reason.text)
    }

    #[test]
    fn better_move_prevents_the_only_reply_that_punishes() {
        let fen = "4k3/8/8/8/4q3/8/6PP/5RK1 w - - 0 1";
        let mut facts = given(fen, "Rf3", ("Qe1+ Rf1 Qe3+ Kh1", -300), ("h3 Kd7 Kh2", 0));
        assert_eq!(says(&facts, "best_prevents"), None);
        facts.second_reply = Some(Look { score: Score::Centipawns(250), ..facts.after.clone() });
        assert_eq!(says(&facts, "best_prevents"), None, "other replies punish the move too");
        facts.second_reply = Some(Look { score: Score::Centipawns(0), ..facts.after.clone() });
        let text = "1.h3 was better: it does not allow 1...Qe1+ (+0.00 instead of -3.00).";
        assert_eq!(says(&facts, "best_prevents").as_deref(), Some(text));
        assert_eq!(says(&facts, "no_single_reason"), None);
    }

    #[test]
    fn better_line_drives_a_piece_away_if_that_is_worth_the_loss() {
        let fen = "4k3/8/8/5b2/8/8/6P1/4K3 w - - 0 1";
        let facts = |cp| given(fen, "Kd2", ("Kd7 Kc3 Kc6 Kd4", 0), ("g4 Be6 Kd2 Kd7", cp));
        let text = "1.g4 was better (1...Be6 2.Kd2 Kd7): it drives the bishop on f5 away (+0.90 instead of +0.00).";
        assert_eq!(says(&facts(90), "best_gains").as_deref(), Some(text));
        assert_eq!(says(&facts(190), "best_gains"), None);
    }

    #[test]
    fn reply_threatens_mate() {
        let fen = "6k1/1b1q1ppp/8/8/8/8/5P1P/1N4K1 w - - 0 1";
        let mut facts = given(fen, "Nc3", ("Qh3 f3 Bxf3 Na4", -500), ("f3 Bxf3 Nd2", -250));
        assert_eq!(says(&facts, "reply_threatens"), None);
        let mut position = facts.reached();
        position.do_move(facts.after.best().expect("a reply"));
        position.do_null_move();
        let mut look = facts.after.clone();
        (look.score, look.lines[0].pv) = (Score::Mate(1), vec![position.parse_san("Qg2#").expect("legal")]);
        facts.reply_idea = Some(Passed { position, look, gain: None });
        assert_eq!(says(&facts, "reply_threatens").as_deref(), Some("1...Qh3 threatens 2...Qg2#."));
    }

    #[test]
    fn side_that_was_a_pawn_down_wins_it_back() {
        for (fen, words) in [
            ("1r2k3/p7/6p1/8/8/6P1/R7/4K3 b - - 0 1", "back a pawn"),
            ("1r2k3/p7/6p1/8/8/6P1/R6P/4K3 b - - 0 1", "a pawn"),
        ] {
            let facts = given(fen, "Kd7", ("Rxa7+ Kd6", 0), ("Ra8 Kd2", 120));
            let lost = swing(&facts.position, &facts.played_line(), !facts.mover()).expect("quiet");
            assert_eq!(ReasonWriter::new(&facts).what_is_won(&lost, !facts.mover()), words, "{fen}");
        }
    }
}
