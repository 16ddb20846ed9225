//! Sound sacrifice: the first move loses two pawns or more by exchanges on its square, and the side stands well all the
//! same: it mates, wins the material back, or the search prefers its position.

use super::walk::{Walk, can_capture};
use super::{Kind, Motif};
use crate::review::chance::winning;
use crate::search::report::Score;

/// Centipawns that a sacrifice offers at least.
const OFFER: i32 = 200;
/// Winning chance in percent from which on a sacrifice is sound.
const SOUND: f64 = 50.0;

/// The sacrifice with which a line begins; `score` is from the view of the side that begins it.
pub(crate) fn sacrifice(walk: &Walk, score: Score) -> Option<Motif> {
    let (m, before) = (walk.mv(0)?, walk.before(0));
    let offers = !before.see_ge(m, 1 - OFFER) && can_capture(walk.after(0), m.to());
    let ends = walk.after(0).legal_moves().is_empty();
    let sound = walk.mates() || winning(score) >= SOUND;
    (offers && sound && !ends && m.promotion().is_none()).then_some(())?;
    Some(Motif { kind: Kind::SoundSacrifice, ply: 0, piece: walk.mover(0)?, targets: Vec::new() })
}
