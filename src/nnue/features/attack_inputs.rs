//! Attack inputs: features of our own nets that say which pieces are attacked, and by what.
//!
//! Their rows follow those of pieces on squares in the same table, once for all king buckets. Squares and colours are
//! relative to the perspective, in the orientation of the pieces on squares. A set consists of one part or of two, with
//! consecutive indices:
//!
//! | part | a row for | rows |
//! |---|---|---|
//! | attacks on enemies | the kind of the attacker, of either side, and kind and square of the attacked enemy | 4,608 |
//! | attacks on all | the same, and protected pieces of the own side | 9,216 |
//! | states | a piece on a square, the kind of its cheapest attacker, and whether it is protected | 10,752 |
//! | states under attack | the same, for attacked pieces only | 9,216 |
//! | pairs of squares | kinds and squares of attacker and attacked piece: FullThreats of Stockfish 19 | 59,808 |
//!
//! The first two parts and the last one have a row for each attack, so two rooks that attack a pawn add the row twice.
//! Kings attack and protect. Pins do not matter.
// CITE: inputs of attacked and protected pieces: Monty, and the threat inputs of Stockfish 18. The sets are ours, from
// the trials in `docs/experiments.md`.

use std::fmt;

use arrayvec::ArrayVec;
use serde::{Deserialize, Serialize};
use shakmaty::{Bitboard, Color, Piece, Role, Square};

use super::View;
use super::threats::{self, Orientation, THREATS_V16};
use crate::board::{AttackChange, attacks};
use crate::nnue::Board;

/// The attack inputs of a net, by name.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AttackInputs {
    /// No attack inputs.
    #[default]
    None,
    /// Attacks on enemies.
    ToEnemy,
    /// Attacks on all pieces.
    To,
    /// States of all pieces.
    States,
    /// States of attacked pieces.
    Attacked,
    /// Attacks on enemies, and states of all pieces.
    ToEnemyStates,
    /// Attacks on enemies, and states of attacked pieces.
    ToEnemyAttacked,
    /// Pairs of squares.
    Pairs,
}

/// A part of a set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Part {
    AttacksOnEnemies,
    AttacksOnAll,
    States,
    StatesUnderAttack,
    Pairs,
}

/// Kinds of pieces for a perspective: the own ones from pawn to king, then the other side's.
const KINDS: usize = 12;
/// Number of roles.
const ROLES: usize = 6;
const SQUARES: usize = 64;

/// The maximum number of attacks on a board: no piece attacks more than 8 others.
const MAX_ATTACKS: usize = 8 * SQUARES;

impl AttackInputs {
    /// All sets.
    pub const ALL: &[Self] = &[
        Self::None,
        Self::ToEnemy,
        Self::To,
        Self::States,
        Self::Attacked,
        Self::ToEnemyStates,
        Self::ToEnemyAttacked,
        Self::Pairs,
    ];

    /// The name in settings.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::ToEnemy => "to-enemy",
            Self::To => "to",
            Self::States => "states",
            Self::Attacked => "attacked",
            Self::ToEnemyStates => "to-enemy-states",
            Self::ToEnemyAttacked => "to-enemy-attacked",
            Self::Pairs => "pairs",
        }
    }

    /// The parts of the set, in the order of their rows.
    const fn parts(self) -> &'static [Part] {
        match self {
            Self::None => &[],
            Self::ToEnemy => &[Part::AttacksOnEnemies],
            Self::To => &[Part::AttacksOnAll],
            Self::States => &[Part::States],
            Self::Attacked => &[Part::StatesUnderAttack],
            Self::ToEnemyStates => &[Part::AttacksOnEnemies, Part::States],
            Self::ToEnemyAttacked => &[Part::AttacksOnEnemies, Part::StatesUnderAttack],
            Self::Pairs => &[Part::Pairs],
        }
    }

    /// Number of rows.
    pub const fn rows(self) -> usize {
        let (parts, mut sum, mut part) = (self.parts(), 0, 0);
        while part < parts.len() {
            sum += parts[part].rows();
            part += 1;
        }
        sum
    }

    /// Calls `each` with the index of a perspective (0 or 1) and a row, for every active row of both perspectives. A
    /// perspective is a colour and the view of its king. Both have the same number of active rows.
    pub fn active(self, board: &Board, perspectives: [(Color, View); 2], mut each: impl FnMut(usize, u16)) {
        let parts = self.parts();
        if parts.is_empty() {
            return;
        }
        let attacks = Attacks::of(board);
        for (number, &(color, view)) in perspectives.iter().enumerate() {
            let mut first = 0;
            for part in parts {
                part.active(&attacks, board, color, view, |row| each(number, (first + row) as u16));
                first += part.rows();
            }
        }
    }
}

impl fmt::Display for AttackInputs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Part {
    const fn rows(self) -> usize {
        match self {
            Self::AttacksOnEnemies => KINDS * ROLES * SQUARES,
            Self::AttacksOnAll => KINDS * KINDS * SQUARES,
            Self::States => KINDS * SQUARES * 2 * (ROLES + 1),
            Self::StatesUnderAttack => KINDS * SQUARES * 2 * ROLES,
            Self::Pairs => THREATS_V16.count(),
        }
    }

    /// Calls `each` with every active row of a perspective.
    #[inline]
    fn active(self, attacks: &Attacks, board: &Board, color: Color, view: View, mut each: impl FnMut(usize)) {
        match self {
            Self::AttacksOnEnemies | Self::AttacksOnAll => {
                for attack in &attacks.list {
                    let is_enemy = attack.attacker.color != attack.attacked.color;
                    let attacker = kind(attack.attacker, color);
                    let square = usize::from(view.orient(attack.to));
                    if self == Self::AttacksOnAll {
                        each((attacker * KINDS + kind(attack.attacked, color)) * SQUARES + square);
                    } else if is_enemy {
                        each((attacker * ROLES + role(attack.attacked)) * SQUARES + square);
                    }
                }
            }
            Self::States | Self::StatesUnderAttack => {
                let states = if self == Self::States { ROLES + 1 } else { ROLES };
                for &(square, piece) in &attacks.pieces {
                    let cheapest = usize::from(attacks.cheapest[square as usize]);
                    if cheapest < states {
                        let place = kind(piece, color) * SQUARES + usize::from(view.orient(square));
                        let protected = usize::from(attacks.protected.contains(square));
                        each((place * states + cheapest) * 2 + protected);
                    }
                }
            }
            Self::Pairs => {
                let orientation = Orientation::new(color, board.king(color));
                for attack in attacks.list.iter().filter(|attack| attack.is_threat()) {
                    let index = THREATS_V16.index(attack.change(), orientation);
                    if index < threats::NONE {
                        each(index as usize);
                    }
                }
            }
        }
    }
}

/// An attack of a piece on another, of either side.
#[derive(Clone, Copy)]
struct Attack {
    attacker: Piece,
    from: Square,
    attacked: Piece,
    to: Square,
}

impl Attack {
    fn is_threat(&self) -> bool {
        THREATS_V16.kinds().contains(self.attacker.role, self.attacked.role)
    }

    fn change(&self) -> AttackChange {
        AttackChange::new(self.attacker, self.from, self.attacked, self.to, true)
    }
}

/// The pieces of a board and their attacks on each other.
struct Attacks {
    pieces: ArrayVec<(Square, Piece), SQUARES>,
    list: ArrayVec<Attack, MAX_ATTACKS>,
    /// For each square, the number of the cheapest enemy role that attacks its piece (0 pawn to 5 king), or [`ROLES`].
    cheapest: [u8; SQUARES],
    /// The pieces that a piece of their own side protects.
    protected: Bitboard,
}

impl Attacks {
    fn of(board: &Board) -> Self {
        let mut attacks = Self {
            pieces: ArrayVec::new(),
            list: ArrayVec::new(),
            cheapest: [ROLES as u8; SQUARES],
            protected: Bitboard::EMPTY,
        };
        let mut on = [Role::Pawn.of(Color::White); SQUARES];
        let mut sides = [Bitboard::EMPTY; 2];
        for color in Color::ALL {
            for role in Role::ALL {
                for square in board.pieces(color, role) {
                    on[square as usize] = role.of(color);
                    sides[color as usize].add(square);
                    attacks.pieces.push((square, role.of(color)));
                }
            }
        }
        let occupied = sides[0] | sides[1];
        // From pawns to kings within a colour, so the first attacker of an enemy is the cheapest.
        for at in 0..attacks.pieces.len() {
            let (from, attacker) = attacks.pieces[at];
            let attacked = attacks::attacks(from, attacker, occupied) & occupied;
            attacks.protected |= attacked & sides[attacker.color as usize];
            for to in attacked {
                let cheapest = &mut attacks.cheapest[to as usize];
                let attacked = on[to as usize];
                if attacked.color != attacker.color {
                    *cheapest = (*cheapest).min(role(attacker) as u8);
                }
                attacks.list.push(Attack { attacker, from, attacked, to });
            }
        }
        attacks
    }
}

/// The number of a piece's role: 0 pawn to 5 king.
#[inline]
fn role(piece: Piece) -> usize {
    piece.role as usize - 1
}

/// The kind of a piece for a perspective.
#[inline]
fn kind(piece: Piece, perspective: Color) -> usize {
    role(piece) + if piece.color == perspective { 0 } else { ROLES }
}

#[cfg(test)]
mod tests {
    use shakmaty::{Chess, Position as _};

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
    fn rows(inputs: AttackInputs, board: &shakmaty::Board) -> [Vec<u16>; 2] {
        let board = board_of(board);
        let perspectives =
            [Color::White, Color::Black].map(|color| (color, VIEWS.set().view(color, board.king(color))));
        let mut rows = [Vec::new(), Vec::new()];
        inputs.active(&board, perspectives, |side, row| rows[side].push(row));
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
    fn naive(inputs: AttackInputs, board: &shakmaty::Board, color: Color) -> Vec<u16> {
        let king = board.king_of(color).expect("a king");
        let number = |piece: Piece| {
            let order = [Role::Pawn, Role::Knight, Role::Bishop, Role::Rook, Role::Queen, Role::King];
            order.iter().position(|&role| role == piece.role).expect("a role")
        };
        let kind = |piece: Piece| if piece.color == color { number(piece) } else { 6 + number(piece) };
        let mut found = Vec::new();
        let mut on_enemies = Vec::new();
        let mut on_all = Vec::new();
        let (mut states, mut attacked_states) = (Vec::new(), Vec::new());
        for (to, attacked) in board {
            let (mut cheapest, mut protected) = (6, 0);
            for (from, attacker) in board {
                if from == to || !board.attacks_from(from).contains(to) {
                    continue;
                }
                on_all.push(kind(attacker) * 768 + kind(attacked) * 64 + seen(to, color, king));
                if attacker.color == attacked.color {
                    protected = 1;
                } else {
                    cheapest = cheapest.min(number(attacker));
                    on_enemies.push(kind(attacker) * 384 + number(attacked) * 64 + seen(to, color, king));
                }
            }
            let place = kind(attacked) * 64 + seen(to, color, king);
            states.push(14 * place + 2 * cheapest + protected);
            if cheapest < 6 {
                attacked_states.push(12 * place + 2 * cheapest + protected);
            }
        }
        let shifted = |rows: &[usize]| rows.iter().map(|row| 4608 + row).collect::<Vec<_>>();
        match inputs {
            AttackInputs::None | AttackInputs::Pairs => unreachable!("has tests of its own"),
            AttackInputs::ToEnemy => found.extend(on_enemies),
            AttackInputs::To => found.extend(on_all),
            AttackInputs::States => found.extend(states),
            AttackInputs::Attacked => found.extend(attacked_states),
            AttackInputs::ToEnemyStates => found.extend([on_enemies, shifted(&states)].concat()),
            AttackInputs::ToEnemyAttacked => found.extend([on_enemies, shifted(&attacked_states)].concat()),
        }
        let mut found: Vec<u16> = found.into_iter().map(|row| u16::try_from(row).expect("a row")).collect();
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
        for_each_position(600, |board| {
            for &inputs in AttackInputs::ALL {
                if matches!(inputs, AttackInputs::None | AttackInputs::Pairs) {
                    continue;
                }
                let found = rows(inputs, board);
                for (color, found) in [Color::White, Color::Black].into_iter().zip(&found) {
                    assert_eq!(*found, naive(inputs, board, color), "{inputs} {color} {board}");
                }
            }
        });
    }

    #[test]
    fn rows_are_in_range_and_as_many_for_both_perspectives() {
        for_each_position(300, |board| {
            for &inputs in AttackInputs::ALL {
                let found = rows(inputs, board);
                assert_eq!(found[0].len(), found[1].len(), "{inputs} {board}");
                assert!(found.iter().flatten().all(|&row| usize::from(row) < inputs.rows()), "{inputs} {board}");
            }
        });
    }

    #[test]
    fn rows_of_sets_are_documented() {
        let rows: Vec<usize> = AttackInputs::ALL.iter().map(|inputs| inputs.rows()).collect();
        assert_eq!(rows, [0, 4608, 9216, 10_752, 9216, 15_360, 13_824, 59_808]);
        // 16-bit indices reach beyond the rows of pieces with eight king buckets.
        assert!(rows.iter().all(|rows| rows + VIEWS.set().active_rows() <= 1 << 16));
    }

    #[test]
    fn pairs_are_the_threats_of_stockfish_19() {
        for_each_position(200, |board| {
            let own = rows(AttackInputs::Pairs, board);
            let board = board_of(board);
            for (color, own) in [Color::White, Color::Black].into_iter().zip(own) {
                let orientation = Orientation::new(color, board.king(color));
                let mut expected = Vec::new();
                threats::attacks_of(&board, THREATS_V16.kinds(), |attack| {
                    let index = THREATS_V16.index(attack, orientation);
                    expected.extend((index < threats::NONE).then_some(index as u16));
                });
                expected.sort_unstable();
                assert_eq!(own, expected);
            }
        });
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
            for &inputs in AttackInputs::ALL {
                let [white, black] = rows(inputs, board);
                assert_eq!(rows(inputs, &mirrored), [white.clone(), black.clone()], "{inputs} {board}");
                assert_eq!(rows(inputs, &turned), [black, white], "{inputs} {board}");
            }
        });
    }

    #[test]
    fn rows_follow_the_rules_in_an_example() {
        // White's rook attacks the knight, which the pawn protects. The knight does not attack the rook.
        let board = "6k1/8/3p4/4n3/8/4R1P1/8/6K1";
        let board = shakmaty::Board::from_ascii_board_fen(board.as_bytes()).expect("a board");
        let square = |square: Square| square as usize;
        let (rook, knight) = (3, 1);
        let [white, black] = rows(AttackInputs::ToEnemy, &board);
        assert_eq!(white, [((rook * 6 + knight) * 64 + square(Square::E5)) as u16]);
        assert_eq!(black, [(((6 + rook) * 6 + knight) * 64 + square(Square::E4)) as u16]);
        let [white, _] = rows(AttackInputs::Attacked, &board);
        assert_eq!(white, [((((6 + knight) * 64 + square(Square::E5)) * 6 + rook) * 2 + 1) as u16]);
        let [white, _] = rows(AttackInputs::States, &board);
        assert_eq!(white.len(), 6);
    }
}
