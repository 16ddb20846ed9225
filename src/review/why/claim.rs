//! The data of a sentence: a line from a position, and what can be proved about it on the board.

use serde::Serialize;

use crate::board::{CastlingMode, Color, Move, Position, Role};
use crate::review::features::Feature;
use crate::review::material::Swing;
use crate::review::motifs::{Motif, role_name};
use crate::tools::variation::san_moves;

/// How a line ends by the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum End {
    /// The side to move is mated.
    Checkmate,
    /// The side to move has no legal move.
    Stalemate,
    /// Neither side can mate any more, or the position has occurred before.
    Draw,
}

/// The content of a sentence as data. Everything in it can be checked by playing the line.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Claim {
    /// The position where the line begins. After a null move, it is the position with the other side to move.
    pub fen: String,
    /// The side that mates, wins material, and makes the motifs: `white` or `black`.
    pub side: &'static str,
    /// The line.
    pub san: Vec<String>,
    pub uci: Vec<String>,
    /// Number of moves in which `side` mates, by the search.
    pub mate: Option<i32>,
    /// The end of the game, if the line ends it.
    pub end: Option<End>,
    /// Pieces that the line wins for `side`, and pieces given for them.
    pub wins: Vec<&'static str>,
    pub gives: Vec<&'static str>,
    /// Motifs of the line, the best explanation first.
    pub motifs: Vec<Motif>,
    /// Facts at the end of the line.
    pub features: Vec<Feature>,
}

impl Claim {
    /// A claim about a line for a side, without any facts yet.
    pub(super) fn new(position: &Position, moves: &[Move], side: Color) -> Self {
        let chess960 = position.castling_mode() == CastlingMode::Chess960;
        let mut end = position.clone();
        let mut uci = Vec::new();
        for &m in moves {
            uci.push(end.uci(m, chess960));
            end.do_move(m);
        }
        Self {
            fen: position.fen(),
            side: side.fold_wb("white", "black"),
            san: san_moves(position, moves),
            uci,
            mate: None,
            end: end_of(&end),
            wins: Vec::new(),
            gives: Vec::new(),
            motifs: Vec::new(),
            features: Vec::new(),
        }
    }

    /// Adds that the side mates in this number of moves.
    pub(super) fn mating(mut self, moves: i32) -> Self {
        self.mate = Some(moves);
        self
    }

    /// Adds the material that the line wins. A swing from the opponent's view has the same pieces.
    pub(super) fn winning(mut self, swing: &Swing) -> Self {
        let words = |roles: Vec<Role>| roles.into_iter().map(role_name).collect();
        let [wins, gives] = swing.roles().map(words);
        (self.wins, self.gives) = (wins, gives);
        self
    }

    /// Adds the motifs of a line that begins `offset` plies into this line, if the motifs lie within this line.
    pub(super) fn with_motifs(mut self, motifs: &[Motif], offset: usize) -> Self {
        let moved = motifs.iter().map(|motif| Motif { ply: motif.ply + offset, ..motif.clone() });
        self.motifs = moved.filter(|motif| motif.ply < self.san.len()).collect();
        self
    }

    /// Adds facts at the end of the line.
    pub(super) fn with_features(mut self, features: Vec<Feature>) -> Self {
        self.features = features;
        self
    }
}

fn end_of(position: &Position) -> Option<End> {
    match (position.legal_moves().is_empty(), position.in_check()) {
        (true, true) => Some(End::Checkmate),
        (true, false) => Some(End::Stalemate),
        (false, _) if position.is_draw(0) => Some(End::Draw),
        _ => None,
    }
}
