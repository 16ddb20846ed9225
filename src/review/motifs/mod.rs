//! Tactical motifs that can be proved on the board. Each motif is a predicate on a position and a searched line: its
//! squares and pieces can be checked on the board, and the line must gain from the motif.
//!
//! * `walk`: a line with all of its positions, and the attack queries that the predicates share
//! * `motif`: the kinds of motifs, and the data of one motif
//! * `hanging`, `fork`, `pin`, `skewer`, `discovered` (discovered attack, double check): attacks
//! * `trapped`, `defender` (overloaded defender, removal of a defender), `zwischenzug`, `sacrifice`: move orders
//! * `back_rank`, `promotion`, `stalemate`: ends of a line

mod back_rank;
mod defender;
mod discovered;
mod fork;
mod hanging;
mod motif;
mod pin;
mod promotion;
mod sacrifice;
mod skewer;
mod stalemate;
mod trapped;
mod walk;
mod zwischenzug;

pub(crate) use motif::{Kind, Man, Motif, role_name};
pub(crate) use sacrifice::sacrifice;
pub(crate) use walk::Walk;

/// A predicate on a line.
type Predicate = fn(&Walk) -> Option<Motif>;

/// The predicates in order of preference: if two motifs start at the same ply, the first is named.
const PREDICATES: [Predicate; 13] = [
    hanging::hanging,
    back_rank::back_rank,
    discovered::double_check,
    stalemate::stalemate_trick,
    promotion::promotion,
    fork::fork,
    skewer::skewer,
    discovered::discovered_attack,
    trapped::trapped_piece,
    pin::pin,
    defender::removal,
    defender::overloaded,
    zwischenzug::zwischenzug,
];

/// The motifs of a line, in descending order of how well they explain it: by ply, then by preference. Sacrifices are
/// not included, because they require a score; see [`sacrifice()`].
pub(crate) fn motifs(walk: &Walk) -> Vec<Motif> {
    let mut found: Vec<Motif> = PREDICATES.iter().filter_map(|predicate| predicate(walk)).collect();
    found.sort_by_key(|motif| motif.ply);
    found
}

#[cfg(test)]
mod tests;
