//! The data of a motif.

use serde::{Serialize, Serializer};

use crate::board::{Role, Square};

/// The kinds of motifs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// A piece can be captured and not recaptured, or by a piece worth two pawns less.
    Hanging,
    /// One piece attacks two.
    Fork,
    /// A piece cannot leave a line because of the piece behind it, and is captured.
    Pin,
    /// A piece protects a square, but cannot recapture on it because it is pinned to its king.
    PinnedDefender,
    /// A piece has to leave a line, and the piece behind it is captured.
    Skewer,
    /// A move opens the line of another piece.
    DiscoveredAttack,
    /// Two pieces give check.
    DoubleCheck,
    /// Mate on the first rank of the king, behind its own pawns.
    BackRank,
    /// An attacked piece has no safe square.
    TrappedPiece,
    /// A defender has two tasks and can fulfil one.
    OverloadedDefender,
    /// The only defender is captured.
    RemovalOfDefender,
    /// A pawn promotes, and the new piece survives.
    Promotion,
    /// The losing side forces stalemate.
    StalemateTrick,
    /// A forcing move comes before a recapture.
    Zwischenzug,
    /// Material is offered, and the offer does not cost the advantage.
    SoundSacrifice,
}

/// A piece and its square.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Man {
    /// The kind of piece.
    #[serde(serialize_with = "role_word")]
    pub role: Role,
    /// Its square.
    #[serde(serialize_with = "square_word")]
    pub square: Square,
}

impl std::fmt::Display for Man {
    /// `the knight on f5`
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the {} on {}", role_name(self.role), self.square)
    }
}

/// A motif in a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Motif {
    /// The kind of motif.
    pub kind: Kind,
    /// Index in the line, from 0, of the move that makes the motif. The side that starts the line makes this move.
    pub ply: usize,
    /// The acting piece, on its square after that move. For an overloaded defender: the defender before that move.
    pub piece: Man,
    /// The target pieces, on their squares at that time.
    pub targets: Vec<Man>,
}

/// A role in lower case.
pub(crate) fn role_name(role: Role) -> &'static str {
    match role {
        Role::Pawn => "pawn",
        Role::Knight => "knight",
        Role::Bishop => "bishop",
        Role::Rook => "rook",
        Role::Queen => "queen",
        Role::King => "king",
    }
}

fn role_word<S: Serializer>(role: &Role, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(role_name(*role))
}

fn square_word<S: Serializer>(square: &Square, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(square)
}
