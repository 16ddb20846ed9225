//! Attack inputs: features of our own nets that say which pieces the other side attacks, and with what.
//!
//! An attack of a piece on an enemy activates a row that depends on the attacker's kind (a role of the own or of the
//! other side) and on the role and the square of the attacked piece, but not on the attacker's square. Both sides'
//! attacks count for both perspectives. Two rooks that attack a pawn activate the row twice. Kings attack. Pins, x-rays
//! and the side to move do not matter.
//!
//! The rows follow those of pieces on squares in the same table, once for all king buckets. Squares and colours are
//! relative to the perspective, in the orientation of the pieces on squares. So both perspectives have the same number
//! of active rows.
// CITE: inputs of attacked pieces: Monty, and the threat inputs of Stockfish 18. The set is ours, from the trials in
// `docs/experiments.md`.

use std::fmt;
use std::iter::zip;

use serde::{Deserialize, Serialize};
use shakmaty::Color;

use super::InputChanges;
use super::View;
use super::threats::attacks_of;
use crate::board::{AttackChange, AttackKinds};
use crate::nnue::Board;

/// The attack inputs of a net, by name. A file contains the number of the variant.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AttackInputs {
    /// No attack inputs.
    #[default]
    None,
    /// Attacks on enemies.
    ToEnemy,
}

/// Number of roles.
const ROLES: usize = 6;
/// Number of kinds of attackers: the own roles from pawn to king, then the other side's.
const KINDS: usize = 2 * ROLES;
/// Number of squares.
const SQUARES: usize = 64;

impl AttackInputs {
    /// All sets.
    pub const ALL: &[Self] = &[Self::None, Self::ToEnemy];

    /// The name in settings.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::ToEnemy => "to-enemy",
        }
    }

    /// Number of rows.
    pub const fn rows(self) -> usize {
        match self {
            Self::None => 0,
            Self::ToEnemy => KINDS * ROLES * SQUARES,
        }
    }

    /// The attacks that activate a row.
    pub(crate) const fn kinds(self) -> AttackKinds {
        match self {
            Self::None => AttackKinds::NONE,
            Self::ToEnemy => AttackKinds::ON_ENEMIES,
        }
    }

    /// Calls `each` with the rows of every attack of a board, one row for each of the perspectives.
    pub(crate) fn active<const N: usize>(
        self,
        board: &Board,
        perspectives: [AttackView; N],
        mut each: impl FnMut([u16; N]),
    ) {
        if self != Self::None {
            attacks_of(board, self.kinds(), |attack| each(perspectives.map(|view| view.row(attack))));
        }
    }
}

impl fmt::Display for AttackInputs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Writes the rows that the `attacks` of a move change to `changes`, for each of the `views`.
///
/// An attack that was removed and one that was added can have the same row, because a row does not depend on the
/// attacker's square. Such rows are left out, for all views alike.
#[inline]
pub(crate) fn changes<const N: usize>(
    attacks: &[AttackChange],
    views: [AttackView; N],
    changes: &mut [InputChanges; 2],
) {
    changes.iter_mut().for_each(InputChanges::clear);
    for &attack in attacks {
        let rows = views.map(|view| u32::from(view.row(attack)));
        let opposite = changes[0].list(!attack.added()).iter().position(|&row| row == rows[0]);
        for (changes, row) in zip(changes.iter_mut(), rows) {
            match opposite {
                Some(at) => changes.list(!attack.added()).swap_remove(at),
                None => changes.list(attack.added()).push(row),
            }
        }
    }
}

/// The orientation of squares and colours for a perspective: a mask that is combined with the bits of an attack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AttackView(u32);

impl AttackView {
    /// The orientation for a colour and the view of its king.
    #[inline]
    pub fn new(perspective: Color, view: View) -> Self {
        Self(AttackChange::mask(view.turn().into(), perspective.is_black()))
    }

    /// The row of an attack on an enemy, below [`AttackInputs::rows`].
    #[inline]
    pub fn row(self, attack: AttackChange) -> u16 {
        let bits = (attack.bits() ^ self.0) as usize;
        let (to, pieces) = (bits >> 6 & 63, bits >> 12 & 0xFF);
        FIRST_ROWS[pieces] + to as u16
    }
}

/// The row of an attack on the square a1, by the codes of both pieces: the attacker's in the lower four bits, the
/// attacked piece's in the upper four.
static FIRST_ROWS: [u16; 256] = {
    let mut rows = [0; 256];
    let mut pieces = 0;
    while pieces < 256 {
        // A code is twice the role, plus 1 for a piece of the other side.
        let (attacker, attacked) = (pieces & 15, pieces >> 4);
        if attacker < KINDS && attacked < KINDS {
            let kind = attacker % 2 * ROLES + attacker / 2;
            rows[pieces] = ((kind * ROLES + attacked / 2) * SQUARES) as u16;
        }
        pieces += 1;
    }
    rows
};

#[cfg(test)]
mod tests {
    use shakmaty::{Chess, Piece, Position as _, Role, Square};

    use super::*;
    use crate::nnue::features::Features;
    use crate::util::rng::SplitMix64;

    const VIEWS: Features = Features::HalfKav2Hm8;

    fn board_of(board: &shakmaty::Board) -> Board {
        let mut copy = Board::empty(Color::White);
        board.iter().for_each(|(square, piece)| copy.add(piece, square));
        copy
    }

    /// The active rows of both perspectives, White's first, in ascending order.
    fn rows(board: &shakmaty::Board) -> [Vec<u16>; 2] {
        let board = board_of(board);
        let views = [Color::White, Color::Black]
            .map(|color| AttackView::new(color, VIEWS.set().view(color, board.king(color))));
        let mut rows = [Vec::new(), Vec::new()];
        AttackInputs::ToEnemy.active(&board, views, |[white, black]| {
            rows[0].push(white);
            rows[1].push(black);
        });
        rows.iter_mut().for_each(|rows| rows.sort_unstable());
        rows
    }

    /// A square as seen by a perspective: rank and file, counted from its own side, and with its king on files e to h.
    fn seen(square: Square, color: Color, king: Square) -> usize {
        let (rank, file) = (square.rank() as usize, square.file() as usize);
        let rank = if color == Color::White { rank } else { 7 - rank };
        let file = if king.file() as usize > 3 { file } else { 7 - file };
        8 * rank + file
    }

    /// The rows of one perspective, from shakmaty's attacks of each pair of squares.
    fn naive(board: &shakmaty::Board, color: Color) -> Vec<u16> {
        let king = board.king_of(color).expect("a king");
        let number = |piece: Piece| {
            let order = [Role::Pawn, Role::Knight, Role::Bishop, Role::Rook, Role::Queen, Role::King];
            order.iter().position(|&role| role == piece.role).expect("a role")
        };
        let mut found = Vec::new();
        for (to, attacked) in board {
            for (from, attacker) in board {
                if attacker.color != attacked.color && board.attacks_from(from).contains(to) {
                    let kind = if attacker.color == color { number(attacker) } else { 6 + number(attacker) };
                    let row = kind * 384 + number(attacked) * 64 + seen(to, color, king);
                    found.push(u16::try_from(row).expect("a row"));
                }
            }
        }
        found.sort_unstable();
        found
    }

    /// Calls `check` with positions of random games.
    fn for_each_position(count: usize, mut check: impl FnMut(&shakmaty::Board)) {
        let mut rng = SplitMix64::new(31);
        let mut game = Chess::default();
        for _ in 0..count {
            let moves = game.legal_moves();
            if moves.is_empty() || game.fullmoves().get() > 80 {
                game = Chess::default();
                continue;
            }
            game.play_unchecked(moves[rng.below(moves.len())]);
            check(game.board());
        }
    }

    #[test]
    fn active_rows_equal_naive_recomputation() {
        for_each_position(1000, |board| {
            for (color, found) in [Color::White, Color::Black].into_iter().zip(rows(board)) {
                assert!(found.iter().all(|&row| usize::from(row) < AttackInputs::ToEnemy.rows()), "{board}");
                assert_eq!(found, naive(board, color), "{color} {board}");
            }
        });
    }

    #[test]
    fn indices_of_all_rows_fit_16_bits() {
        assert_eq!(AttackInputs::ToEnemy.rows(), 4608);
        for &features in Features::ALL {
            assert!(features.set().count() + AttackInputs::ToEnemy.rows() <= 1 << 16, "{features}");
        }
    }

    #[test]
    fn mirrored_and_turned_boards_have_the_same_rows() {
        for_each_position(200, |board| {
            let mut mirrored = board.clone();
            mirrored.flip_horizontal();
            let mut turned = shakmaty::Board::empty();
            for (square, piece) in board {
                turned.set_piece_at(square.flip_vertical(), Piece { color: !piece.color, role: piece.role });
            }
            let [white, black] = rows(board);
            assert_eq!(rows(&mirrored), [white.clone(), black.clone()], "{board}");
            assert_eq!(rows(&turned), [black, white], "{board}");
        });
    }

    #[test]
    fn rows_follow_the_rules_in_an_example() {
        // A rook and the king attack the knight, which a pawn protects. The knight attacks the other rook.
        let board = "6k1/8/3p4/4n3/2R2K2/8/6P1/4R3";
        let board = shakmaty::Board::from_ascii_board_fen(board.as_bytes()).expect("a board");
        let (knight, rook, king) = (1, 3, 5);
        let row = |attacker: usize, attacked: usize, to: Square| ((6 * attacker + attacked) * 64 + to as usize) as u16;
        let [white, black] = rows(&board);
        let of_white =
            [row(rook, knight, Square::E5), row(king, knight, Square::E5), row(6 + knight, rook, Square::C4)];
        assert_eq!(white, of_white);
        let of_black =
            [row(knight, rook, Square::C5), row(6 + rook, knight, Square::E4), row(6 + king, knight, Square::E4)];
        assert_eq!(black, of_black);
    }
}
