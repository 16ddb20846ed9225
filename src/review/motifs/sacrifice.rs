//! Sound sacrifice: the first move gives up two pawns or more in exchanges on its square, yet the side stands well.
//! It mates, wins the material back, or the search prefers its position.

use super::walk::{Walk, can_capture};
use super::{Kind, Motif};
use crate::review::chance::winning;
use crate::search::report::Score;

/// Minimum number of centipawns that a sacrifice gives up.
const OFFER: i32 = 200;
/// Minimum winning chance, in percent, after a sound sacrifice.
const SOUND: f64 = 50.0;

/// The sacrifice at the start of a line; `score` is from the view of the side that moves first.
pub(crate) fn sacrifice(walk: &Walk, score: Score) -> Option<Motif> {
    let (m, before) = (walk.mv(0)?, walk.before(0));
    let offers = !before.see_ge(m, 1 - OFFER) && can_capture(walk.after(0), m.to());
    let ends = walk.after(0).legal_moves().is_empty();
    let sound = walk.mates() || winning(score) >= SOUND;
    (offers && sound && !ends && m.promotion().is_none()).then_some(())?;
    Some(Motif { kind: Kind::SoundSacrifice, ply: 0, piece: walk.mover(0)?, targets: Vec::new() })
}
