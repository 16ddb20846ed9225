//! Distances to mate with three pieces: king and queen, rook or pawn against king.
//!
//! A search with few pieces at its root ends at such a position with the exact value, so a conversion shows its mate as
//! soon as the search reaches the ending. The tables are computed on first use, by retrograde analysis.
// CITE: retrograde analysis: Ströhlein (1970), Thompson (1986).

use std::sync::LazyLock;

use shakmaty::Rank;

use super::score::{self, Value};
use crate::board::attacks::attacks;
use crate::board::{Bitboard, Color, Move, Piece, Position, Role, Square};

/// Most pieces at the root of a search that uses the tables. With more, three pieces are far away.
const MAX_ROOT_PIECES: usize = 8;

/// Most pieces at the root of a search during which another thread computes the tables, so that a later search does
/// not wait for them.
// MEASURED: the computation takes 0.1 s.
#[cfg(not(target_family = "wasm"))]
const MAX_PIECES_TO_PREPARE: usize = 12;

/// Placements of three pieces on the board, whether possible or not.
const PLACEMENTS: usize = 1 << 18;

/// Longest line to mate, in plies: longer than any of king and pawn against king (28 moves).
const MAX_PLIES: usize = 64;

static TABLES: LazyLock<MateTables> = LazyLock::new(MateTables::compute);

/// Whether the search of a position with `pieces` pieces uses the tables. Begins to compute them when there are few.
pub fn are_used_with(pieces: usize) -> bool {
    #[cfg(not(target_family = "wasm"))]
    if pieces <= MAX_PIECES_TO_PREPARE {
        static PREPARED: std::sync::Once = std::sync::Once::new();
        // If the system refuses a thread, the first search that needs the tables computes them.
        PREPARED.call_once(|| drop(std::thread::Builder::new().spawn(|| LazyLock::force(&TABLES))));
    }
    pieces <= MAX_ROOT_PIECES
}

/// The tables of all three endings.
struct MateTables {
    queen: Table,
    rook: Table,
    pawn: Table,
}

/// Plies to mate plus 1, for each placement of the strong king, the lone king and the piece, with White as the strong
/// side; 0 for draws and impossible placements.
struct Table {
    role: Role,
    /// The strong side is to move.
    strong: Vec<u8>,
    /// The lone king is to move.
    lone: Vec<u8>,
}

/// Squares of the three pieces.
#[derive(Clone, Copy)]
struct Placement {
    king: Square,
    lone: Square,
    piece: Square,
}

impl Placement {
    fn index(self) -> usize {
        usize::from(self.king) << 12 | usize::from(self.lone) << 6 | usize::from(self.piece)
    }

    fn from_index(index: usize) -> Self {
        let square = |shift: usize| Square::new((index >> shift & 63) as u32);
        Self { king: square(12), lone: square(6), piece: square(0) }
    }

    fn occupied(self) -> Bitboard {
        Bitboard::from(self.king) | self.lone | self.piece
    }

    /// Whether three pieces can stand like this, whoever is to move.
    fn is_possible(self) -> bool {
        self.occupied().count() == 3 && !king_zone(self.king).contains(self.lone)
    }
}

fn king_zone(square: Square) -> Bitboard {
    attacks(square, Piece { color: Color::White, role: Role::King }, Bitboard::EMPTY)
}

impl MateTables {
    fn compute() -> Self {
        let queen = Table::solve(Role::Queen, Vec::new());
        let rook = Table::solve(Role::Rook, Vec::new());
        let pawn = Table::solve(Role::Pawn, promotions(&[&queen, &rook]));
        Self { queen, rook, pawn }
    }

    fn of(&self, role: Role) -> Option<&Table> {
        match role {
            Role::Queen => Some(&self.queen),
            Role::Rook => Some(&self.rook),
            Role::Pawn => Some(&self.pawn),
            _ => None,
        }
    }
}

/// The placements, by plies to mate, in which a pawn promotes to a piece that wins.
fn promotions(promoted: &[&Table]) -> Vec<Vec<Placement>> {
    let mut by_plies = vec![Vec::new(); MAX_PLIES];
    for index in 0..PLACEMENTS {
        let at = Placement::from_index(index);
        if at.piece.rank() != Rank::Seventh || !at.is_possible() {
            continue;
        }
        let Some(square) = at.piece.offset(8).filter(|&square| !at.occupied().contains(square)) else {
            continue;
        };
        let after = Placement { piece: square, ..at }.index();
        let best = promoted.iter().map(|table| table.lone[after]).filter(|&plies| plies > 0).min();
        if let Some(plies) = best {
            by_plies[usize::from(plies)].push(at);
        }
    }
    by_plies
}

impl Table {
    /// Computes the table of a piece: from each position that is lost in `n` plies back to those won in `n + 1`, and
    /// from there to the ones lost in `n + 2`. `promotions` are wins by promotion, by their number of plies.
    fn solve(role: Role, mut promotions: Vec<Vec<Placement>>) -> Self {
        let mut table = Self { role, strong: vec![0; PLACEMENTS], lone: vec![0; PLACEMENTS] };
        promotions.resize(MAX_PLIES, Vec::new());
        let mut lost = table.mates();
        for plies in (0..MAX_PLIES - 2).step_by(2) {
            let mut won = Vec::new();
            for at in std::mem::take(&mut promotions[plies + 1]) {
                table.add_win(at, plies + 1, &mut won);
            }
            for at in lost {
                table.add_wins_before(at, plies + 1, &mut won);
            }
            lost = Vec::new();
            for at in won {
                table.add_losses_before(at, plies + 2, &mut lost);
            }
        }
        table
    }

    /// Enters a win for the strong side to move, unless a shorter one is known or the lone king could be taken.
    fn add_win(&mut self, at: Placement, plies: usize, won: &mut Vec<Placement>) {
        if self.strong[at.index()] == 0 && !self.gives_check(at) {
            self.strong[at.index()] = plies as u8 + 1;
            won.push(at);
        }
    }

    /// Enters the wins by a move of the strong side to `at`.
    fn add_wins_before(&mut self, at: Placement, plies: usize, won: &mut Vec<Placement>) {
        for king in king_zone(at.king) & !king_zone(at.lone) & !at.occupied() {
            self.add_win(Placement { king, ..at }, plies, won);
        }
        for piece in self.origins(at) {
            self.add_win(Placement { piece, ..at }, plies, won);
        }
    }

    /// Enters the losses in which every move of the lone king leads to a win, one of them `at`.
    fn add_losses_before(&mut self, at: Placement, plies: usize, lost: &mut Vec<Placement>) {
        for lone in king_zone(at.lone) & !king_zone(at.king) & !at.occupied() {
            let before = Placement { lone, ..at };
            if self.lone[before.index()] == 0 && self.is_lost(before) {
                self.lone[before.index()] = plies as u8 + 1;
                lost.push(before);
            }
        }
    }

    /// Enters and returns all checkmates.
    fn mates(&mut self) -> Vec<Placement> {
        let all = (0..PLACEMENTS).map(Placement::from_index);
        let mates: Vec<Placement> = all
            .filter(|at| at.is_possible() && self.has_place(at.piece) && self.gives_check(*at))
            .filter(|&at| self.escapes(at).is_empty())
            .collect();
        mates.iter().for_each(|at| self.lone[at.index()] = 1);
        mates
    }

    /// Whether every move of the lone king leads to a position that is known to be won. There must be a move.
    fn is_lost(&self, at: Placement) -> bool {
        let escapes = self.escapes(at);
        let is_won = |lone: Square| lone != at.piece && self.strong[Placement { lone, ..at }.index()] > 0;
        escapes.any() && escapes.into_iter().all(is_won)
    }

    /// Squares to which the lone king can move, including the capture of the piece.
    fn escapes(&self, at: Placement) -> Bitboard {
        // The lone king does not shield the squares behind it.
        let attacked = attacks(at.piece, self.piece(), Bitboard::from(at.king) | at.piece);
        king_zone(at.lone) & !king_zone(at.king) & !attacked & !Bitboard::from(at.king)
    }

    fn piece(&self) -> Piece {
        Piece { color: Color::White, role: self.role }
    }

    fn gives_check(&self, at: Placement) -> bool {
        attacks(at.piece, self.piece(), at.occupied()).contains(at.lone)
    }

    /// Whether the piece can stand on this square.
    fn has_place(&self, square: Square) -> bool {
        self.role != Role::Pawn || !matches!(square.rank(), Rank::First | Rank::Eighth)
    }

    /// Squares from which the piece can have moved to its square.
    fn origins(&self, at: Placement) -> Bitboard {
        if self.role != Role::Pawn {
            return attacks(at.piece, self.piece(), at.occupied()) & !at.occupied();
        }
        // A step from the square below, or two steps from the second rank.
        let is_free = |square: &Square| self.has_place(*square) && !at.occupied().contains(*square);
        let below = at.piece.offset(-8).filter(is_free);
        let twice = below.filter(|_| at.piece.rank() == Rank::Fourth).and_then(|square| square.offset(-8));
        below.into_iter().chain(twice.filter(is_free)).fold(Bitboard::EMPTY, |all, square| all | square)
    }
}

/// What the tables know about a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KnownEnding {
    Draw,
    /// The side to move mates in this number of plies.
    Win(usize),
    /// The side to move is mated in this number of plies.
    Loss(usize),
}

/// The result of a position with three pieces, if the tables contain it.
fn known(position: &Position) -> Option<KnownEnding> {
    if position.occupied().count() != 3 || position.has_castling_rights() {
        return None;
    }
    let strong = if position.by_color(Color::White).count() == 2 { Color::White } else { Color::Black };
    let king = position.king(strong);
    let piece = (position.by_color(strong) & !Bitboard::from(king)).first()?;
    let table = TABLES.of(position.role_at(piece)?)?;
    let seen = |square: Square| if strong == Color::White { square } else { square.flip_vertical() };
    let at = Placement { king: seen(king), lone: seen(position.king(!strong)), piece: seen(piece) }.index();
    let is_strong = position.turn() == strong;
    let entry = usize::from(if is_strong { table.strong[at] } else { table.lone[at] });
    Some(match entry {
        0 => KnownEnding::Draw,
        _ if is_strong => KnownEnding::Win(entry - 1),
        _ => KnownEnding::Loss(entry - 1),
    })
}

/// Exact value of a position with three pieces at `ply`, or `None` if the tables do not contain it or the 50-move rule
/// may end the game first.
pub fn value(position: &Position, ply: usize) -> Option<Value> {
    let in_time = |plies: usize| position.halfmoves() as usize + plies <= 100;
    match known(position)? {
        KnownEnding::Draw => Some(score::DRAW),
        KnownEnding::Win(plies) if in_time(plies) => Some(score::mate_in(ply + plies)),
        KnownEnding::Loss(plies) if in_time(plies) => Some(score::mated_in(ply + plies)),
        _ => None,
    }
}

/// Extends a variation that ends at a decided position of the tables to the mate, with the best moves of both sides.
pub fn extend_to_mate(root: &Position, pv: &mut Vec<Move>) {
    let mut position = root.clone();
    for &m in pv.iter() {
        if !(position.pseudo_legal(m) && position.legal(m)) {
            return;
        }
        position.do_move(m);
    }
    while let Some(m) = best_move(&mut position) {
        position.do_move(m);
        pv.push(m);
    }
}

/// The move of the shortest win or the longest defence; `None` if the position is mate, drawn or not in the tables.
fn best_move(position: &mut Position) -> Option<Move> {
    let (KnownEnding::Win(plies) | KnownEnding::Loss(plies)) = known(position)? else {
        return None;
    };
    let moves = position.legal_moves();
    moves.iter().copied().find(|&m| {
        position.do_move(m);
        let after = known(position);
        position.undo_move();
        matches!(after, Some(KnownEnding::Win(left) | KnownEnding::Loss(left)) if left + 1 == plies)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::tests::position;

    /// The longest win of the strong side, in moves.
    fn longest(table: &Table) -> usize {
        let plies = table.strong.iter().map(|&entry| usize::from(entry)).max().unwrap_or_default() - 1;
        plies.div_ceil(2)
    }

    #[test]
    fn longest_mates_are_the_known_ones() {
        // CITE: known since the first tables (Thompson): queen 10 moves, rook 16, pawn 28.
        assert_eq!([&TABLES.queen, &TABLES.rook, &TABLES.pawn].map(longest), [10, 16, 28]);
    }

    #[test]
    fn lines_end_in_mate_after_the_stated_plies() {
        for fen in [
            "8/8/8/3k4/8/8/8/KR6 w - - 0 1",
            "8/8/8/3k4/8/8/8/KQ6 b - - 0 1",
            "8/8/8/1k6/8/8/1K1P4/8 w - - 0 1",
            "8/3p1k2/8/8/8/6K1/8/8 b - - 0 1",
        ] {
            let root = position(fen);
            let (KnownEnding::Win(found) | KnownEnding::Loss(found)) = known(&root).expect("three pieces") else {
                panic!("{fen} is decided");
            };
            let mut pv = Vec::new();
            extend_to_mate(&root, &mut pv);
            assert_eq!(pv.len(), found, "{fen}");
            let mut end = root.clone();
            for &m in &pv {
                end.do_move(m);
            }
            assert!(end.in_check() && end.legal_moves().is_empty(), "{fen}");
        }
    }

    #[test]
    fn draws_and_the_fifty_move_rule_are_known() {
        for (fen, expected) in [
            ("8/8/8/4k3/4P3/4K3/8/8 b - - 0 1", Some(score::DRAW)),
            ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", Some(score::DRAW)),
            ("8/8/8/3k4/8/8/8/KR6 w - - 71 100", Some(score::mate_in(4 + 29))),
            ("8/8/8/3k4/8/8/8/KR6 w - - 72 100", None),
            ("4k3/8/8/8/8/8/8/4K2R w K - 0 1", None),
            ("8/8/8/3k4/8/8/8/KB6 w - - 0 1", None),
            ("7k/6Q1/6K1/8/8/8/8/8 b - - 99 120", Some(score::mated_in(4))),
        ] {
            assert_eq!(value(&position(fen), 4), expected, "{fen}");
        }
    }
}
