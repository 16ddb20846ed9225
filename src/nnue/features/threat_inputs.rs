//! Threat inputs: features of two pieces, threats and pairs of pawns, with consecutive indices. Newer nets have them in
//! addition to single pieces on squares.

use std::fmt;

use arrayvec::ArrayVec;
use shakmaty::{Bitboard, ByColor, Color, Role, Square};

use super::pawn_pairs;
use super::threats::{self, HASH_V10, HASH_V16, Orientation, THREATS_V10, THREATS_V16, Threats};
use crate::board::{AttackChange, AttackKinds, DirtyPieces};
use crate::nnue::BoardView;
use crate::nnue::paired::Paired;
use crate::nnue::rows::{Changes, Rows};

/// Maximum number of threat inputs of a board: no piece attacks more than 8 others, and pawns on all 48 squares form
/// 372 pairs.
pub(crate) const MAX_THREAT_INPUTS: usize = 1024;

/// Maximum number of threat inputs that one move adds or removes: 128 attacks of any kinds, and three pawns with at
/// most 17 neighbouring squares each.
pub(crate) const MAX_THREAT_INPUTS_CHANGED: usize = 192;

/// The threat inputs of a board.
pub(crate) type ThreatInputList = ArrayVec<u32, MAX_THREAT_INPUTS>;

/// The threat inputs that a net has, by name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ThreatInputs {
    /// None: a net up to SFNNv9, or one of our own.
    None,
    /// SFNNv10's.
    Threats,
    /// SFNNv16's.
    ThreatsAndPawnPairs,
}

/// What a set of threat inputs is.
#[derive(Clone, Copy)]
pub struct ThreatInputSet {
    /// The threats, if there are any.
    threats: Option<&'static Threats>,
    /// Whether pairs of pawns come behind the threats.
    pub pawn_pairs: bool,
}

impl ThreatInputs {
    /// What it is.
    #[inline(always)]
    pub const fn set(self) -> ThreatInputSet {
        match self {
            Self::None => ThreatInputSet {
                threats: None,
                pawn_pairs: false,
            },
            Self::Threats => ThreatInputSet {
                threats: Some(&THREATS_V10),
                pawn_pairs: false,
            },
            Self::ThreatsAndPawnPairs => ThreatInputSet {
                threats: Some(&THREATS_V16),
                pawn_pairs: true,
            },
        }
    }

    /// The transformer hash of a net that has these threat inputs beside a feature set with the hash `features`, before
    /// the width is mixed in.
    pub const fn hash(self, features: u32) -> u32 {
        match self {
            Self::None => features,
            Self::Threats => HASH_V10,
            Self::ThreatsAndPawnPairs => {
                let threats = HASH_V16.rotate_left(1) ^ pawn_pairs::HASH;
                threats.rotate_left(1) ^ features
            }
        }
    }
}

impl fmt::Display for ThreatInputs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::None => "none",
            Self::Threats => "FullThreats",
            Self::ThreatsAndPawnPairs => "FullThreats + PP_3Wide",
        })
    }
}

/// Threat inputs that the compiler knows.
pub(crate) trait StaticThreatInputs: Copy + Send + Sync + 'static {
    /// Which.
    const THREAT_INPUTS: ThreatInputs;
    /// What they are.
    const SET: ThreatInputSet = Self::THREAT_INPUTS.set();
}

/// The sets as types without values, which only carry [`StaticThreatInputs::THREAT_INPUTS`].
pub(crate) mod types {
    use super::{StaticThreatInputs, ThreatInputs};

    macro_rules! types {
        ($($name:ident)+) => {
            $(
                #[derive(Clone, Copy, Debug)]
                pub enum $name {}

                impl StaticThreatInputs for $name {
                    const THREAT_INPUTS: ThreatInputs = ThreatInputs::$name;
                }
            )+
        };
    }

    types! { None Threats ThreatsAndPawnPairs }
}

impl ThreatInputSet {
    /// Whether there are any.
    #[inline(always)]
    pub const fn is_any(&self) -> bool {
        self.threats.is_some()
    }

    /// Number of features of one perspective.
    pub const fn count(&self) -> usize {
        let pairs = if self.pawn_pairs {
            pawn_pairs::COUNT
        } else {
            0
        };
        self.threat_count() + pairs
    }

    /// Number of threats among them; those come first.
    #[inline(always)]
    pub const fn threat_count(&self) -> usize {
        match self.threats {
            Some(threats) => threats.count(),
            None => 0,
        }
    }

    /// What a board must tell of attacks that come and go.
    pub(crate) const fn kinds(&self) -> AttackKinds {
        match self.threats {
            Some(threats) => threats.kinds(),
            None => AttackKinds::NONE,
        }
    }

    /// Calls `each` with the index of every threat input of a board that `perspective` sees.
    pub fn active(&self, board: &impl BoardView, perspective: Color, mut each: impl FnMut(u32)) {
        let orientation = Orientation::new(perspective, board.king(perspective));
        if let Some(threats) = self.threats {
            threats::attacks_of(board, threats.kinds(), |attack| {
                let index = threats.index(attack, orientation);
                if index < threats::NONE {
                    each(index);
                }
            });
        }
        if self.pawn_pairs {
            let first = self.threat_count() as u32;
            pawn_pairs::pairs_of(pawns(board), perspective, orientation, |index| {
                each(first + index);
            });
        }
    }

    /// Writes to `changes` those of one move for some views: perspectives, and squares of their kings, which stand on
    /// the same half of the board before and after it.
    ///
    /// `pawns` are those before the move, and become those after it.
    #[inline]
    pub(crate) fn changes<const N: usize>(
        &self,
        (dirty, deltas): (&DirtyPieces, &[AttackChange]),
        pawns: &mut ByColor<Bitboard>,
        views: [(Color, Square); N],
        changes: &mut [ThreatInputChanges; 2],
    ) {
        changes.iter_mut().for_each(ThreatInputChanges::clear);
        let views = views.map(|(color, king)| (color, Orientation::new(color, king)));
        if let Some(threats) = self.threats {
            for &attack in deltas {
                for (changes, (_, as_seen)) in changes.iter_mut().zip(views) {
                    let index = threats.index(attack, as_seen);
                    changes
                        .list(attack.came())
                        .push_if(index < threats::NONE, index);
                }
            }
        }
        if self.pawn_pairs {
            let first = self.threat_count() as u32;
            let moved = || {
                dirty
                    .iter()
                    .filter(|change| change.piece.role == Role::Pawn)
            };
            // A pawn that is gone leaves the others before its pairs are told, so that two are told of once.
            for change in moved() {
                if let Some(from) = change.from {
                    let pawn = (change.piece.color, from);
                    pawns.get_mut(pawn.0).discard(from);
                    pawn_pairs::pairs_with(pawn, pawns, views, |n, index| {
                        changes[n].removed.push(first + index);
                    });
                }
            }
            for change in moved() {
                if let Some(to) = change.to {
                    let pawn = (change.piece.color, to);
                    pawn_pairs::pairs_with(pawn, pawns, views, |n, index| {
                        changes[n].added.push(first + index);
                    });
                    pawns.get_mut(pawn.0).add(to);
                }
            }
        }
    }
}

/// The threat inputs that one move changed, of one kind.
#[derive(Debug)]
pub(crate) struct ChangedList {
    items: [u32; MAX_THREAT_INPUTS_CHANGED],
    len: usize,
}

impl ChangedList {
    const fn new() -> Self {
        Self {
            items: [0; MAX_THREAT_INPUTS_CHANGED],
            len: 0,
        }
    }

    #[inline]
    fn push(&mut self, index: u32) {
        self.items[self.len] = index;
        self.len += 1;
    }

    /// Adds an index that `counts`: without a branch, which nobody could predict.
    #[inline]
    fn push_if(&mut self, counts: bool, index: u32) {
        self.items[self.len] = index;
        self.len += usize::from(counts);
    }
}

impl std::ops::Deref for ChangedList {
    type Target = [u32];
    #[inline]
    fn deref(&self) -> &[u32] {
        &self.items[..self.len]
    }
}

/// The threat inputs that one move changed.
#[derive(Debug)]
pub(crate) struct ThreatInputChanges {
    pub added: ChangedList,
    pub removed: ChangedList,
}

impl ThreatInputChanges {
    /// No changes.
    pub const fn none() -> Self {
        Self {
            added: ChangedList::new(),
            removed: ChangedList::new(),
        }
    }

    #[inline]
    fn clear(&mut self) {
        (self.added.len, self.removed.len) = (0, 0);
    }

    /// Prefetches their rows.
    #[inline(always)]
    pub fn prefetch<const L1: usize, const P: usize>(&self, rows: &Rows<'_, Paired, L1, P>) {
        for &threat_input in self.added.iter().chain(self.removed.iter()) {
            rows.prefetch(threat_input);
        }
    }

    /// These beside the pieces that came and went.
    #[inline]
    pub fn beside<'a>(&'a self, added: &'a [u16], removed: &'a [u16]) -> Changes<'a> {
        Changes {
            added,
            removed,
            threat_inputs_added: &self.added,
            threat_inputs_removed: &self.removed,
        }
    }

    #[inline]
    fn list(&mut self, added: bool) -> &mut ChangedList {
        if added {
            &mut self.added
        } else {
            &mut self.removed
        }
    }
}

/// The pawns of a board.
pub(crate) fn pawns(board: &impl BoardView) -> ByColor<Bitboard> {
    ByColor::new_with(|color| board.pieces(color, Role::Pawn))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hashes_of_the_published_nets() {
        let half_kav2_hm = 0x7F23_4CB8;
        let wide = 2 * 1024;
        assert_eq!(ThreatInputs::None.hash(half_kav2_hm) ^ wide, 0x7F23_44B8);
        assert_eq!(ThreatInputs::Threats.hash(half_kav2_hm) ^ wide, 0x8F23_44B8);
        assert_eq!(
            ThreatInputs::ThreatsAndPawnPairs.hash(half_kav2_hm) ^ wide,
            0xCB68_5313
        );
    }

    #[test]
    fn as_many_as_the_files_have() {
        assert_eq!(ThreatInputs::None.set().count(), 0);
        assert_eq!(ThreatInputs::Threats.set().count(), 79_856);
        assert_eq!(
            ThreatInputs::ThreatsAndPawnPairs.set().count(),
            59_808 + 4_560
        );
    }
}
