//! Sentences about the effects of a good move.

use super::bad::{rest, threat_claim, threat_words};
use super::claim::Claim;
use super::words::{Form, motif_phrase, purpose};
use super::{Gain, Reason, ReasonWriter, mate_for, motifs};
use crate::board::Move;
use crate::review::chance::opposite;
use crate::review::features::purposes;
use crate::review::material::list;
use crate::review::motifs::{Kind, Walk, role_name, sacrifice};

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
        self.sacrifices().into_iter().chain(self.wins_material()).collect()
    }

    fn sacrifices(&self) -> Option<Reason> {
        let motif = sacrifice(&self.better, self.before)?;
        let claim = Claim::new(&self.facts.position, self.best_line, self.mover());
        let role = role_name(motif.piece.role);
        Some(Reason {
            kind: "sacrifice",
            text: format!("It is a sound sacrifice of the {role}."),
            claim: Some(claim.with_motifs(&[motif], 0)),
        })
    }

    fn wins_material(&self) -> Option<Reason> {
        let position = &self.facts.position;
        let won = self.facts.won?;
        let moves: &[Move] = &self.best_line[..won.plies];
        let found = motifs(&Walk::new(position, moves));
        let claim = Claim::new(position, moves, self.mover()).winning(&won).with_motifs(&found, 0);
        let what = self.what_is_won(&won);
        let rest = rest(position, moves, 1);
        let text = match found.first().filter(|motif| motif.ply == 0) {
            _ if won.promotes => format!("It promotes a pawn{rest}."),
            Some(motif) if motif.kind != Kind::Hanging => {
                format!("It {}, winning {what}{rest}.", motif_phrase(motif, Form::Third))
            }
            _ => format!("It wins {what}{rest}."),
        };
        Some(Reason { kind: "wins_material", text, claim: Some(claim) })
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
