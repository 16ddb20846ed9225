//! Tactical motifs that can be proved on the board. Each motif is a predicate on a position and a searched line: its
//! squares and pieces can be checked on the board, and the line must gain from the motif.
//!
//! * `walk`: a line with all of its positions, and the attack queries that the predicates share
//! * `motif`: the kinds of motifs, and the data of one motif
//! * `attacks`: hanging piece, fork, pin, skewer, discovered attack, double check
//! * `defenders`: trapped piece, overloaded defender, removal of a defender, in-between move
//! * `ends`: back rank, promotion, stalemate trick, sound sacrifice

mod attacks;
mod defenders;
mod ends;
mod motif;
mod walk;

pub(crate) use ends::sacrifice;
pub(crate) use motif::{Kind, Man, Motif, role_name};
pub(crate) use walk::Walk;

/// A predicate on a line.
type Predicate = fn(&Walk) -> Option<Motif>;

/// The predicates in order of preference: if two motifs start at the same ply, the first is named.
const PREDICATES: [Predicate; 13] = [
    attacks::hanging,
    ends::back_rank,
    attacks::double_check,
    ends::stalemate_trick,
    ends::promotion,
    attacks::fork,
    attacks::skewer,
    attacks::discovered_attack,
    defenders::trapped_piece,
    attacks::pin,
    defenders::removal,
    defenders::overloaded,
    defenders::zwischenzug,
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
