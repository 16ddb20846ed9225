//! Positional changes of a line, and purposes of a move: facts that can be counted on the board.
//!
//! * `harm`: harms that a refutation causes; `king`: attacks on the king
//! * `purpose`: purposes of a move

mod harm;
mod king;
mod purpose;
#[cfg(test)]
mod tests;

use serde::{Serialize, Serializer};

use super::motifs::Man;
use crate::board::Square;

pub(crate) use harm::{attack, harms, queen_trade};
pub(crate) use purpose::purposes;

/// Kinds of features.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FeatureKind {
    /// The king can no longer castle and has not castled. `men`: the king.
    NoCastling,
    /// A less valuable piece attacks a piece, which moves away. `men`: attacker, attacked.
    DrivesAway,
    /// Both queens have been captured.
    QueensTraded,
    /// One side has lost a bishop of its pair, the other has both. `men`: the remaining pair.
    BishopPair,
    /// Two pawns of one colour on a file that had at most one. `men`: the pawns.
    DoubledPawns,
    /// A pawn without own pawns on the neighbouring files. `men`: the pawn.
    IsolatedPawn,
    /// A pawn that no enemy pawn can stop or capture. `men`: the pawn.
    PassedPawn,
    /// The file of the king has no pawn left, and the opponent has a rook or queen. `men`: the king.
    OpenKing,
    /// A piece that attacks no square to which it could move. `men`: the piece.
    NoMoves,
    /// Pieces attack squares next to the king that only the king defends. `men`: the king, the attackers.
    KingAttack,
    /// The move castles.
    Castles,
    /// The move captures. `men`: the captured piece.
    Takes,
    /// The moved piece attacks a more valuable or unprotected piece. `men`: attacker, attacked.
    Attacks,
    /// The move protects an attacked piece that had no protection. `men`: the protected piece.
    Protects,
    /// A knight or bishop moves from its initial square. `men`: the piece.
    Develops,
    /// The moved piece attacks these squares of the centre. `men`: the piece.
    Controls,
    /// Sliders have more squares than before. `men`: the sliders.
    OpensLines,
    /// A rook or queen is on a file without pawns. `men`: the piece.
    OpenFile,
    /// A passed pawn moves forward. `men`: the pawn.
    AdvancesPasser,
}

impl FeatureKind {
    /// Maximum loss in centipawns that a change of this kind explains.
    pub(crate) fn largest_loss(self) -> i32 {
        match self {
            Self::BishopPair | Self::DoubledPawns | Self::IsolatedPawn => 80,
            Self::DrivesAway | Self::NoMoves => 120,
            Self::QueensTraded => 150,
            Self::NoCastling => 200,
            Self::OpenKing | Self::PassedPawn => 250,
            _ => i32::MAX,
        }
    }
}

/// A fact that holds at the end of a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Feature {
    /// The kind of feature.
    pub kind: FeatureKind,
    /// The pieces concerned, on their squares at the end of the line. For a captured piece, and for an attacked piece
    /// that was driven away: the square on which it stood before.
    pub men: Vec<Man>,
    /// The squares concerned.
    #[serde(serialize_with = "square_words")]
    pub squares: Vec<Square>,
}

impl Feature {
    /// The queens are traded.
    pub(crate) fn queens_traded() -> Self {
        Self::of(FeatureKind::QueensTraded, Vec::new())
    }

    fn of(kind: FeatureKind, men: Vec<Man>) -> Self {
        Self { kind, men, squares: Vec::new() }
    }
}

fn square_words<S: Serializer>(squares: &[Square], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(squares.iter().map(ToString::to_string))
}
