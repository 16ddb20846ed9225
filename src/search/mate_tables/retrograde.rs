//! Retrograde analysis of one ending: a king with one or two pieces against a lone king.
//!
//! From the checkmates back: positions that are lost in `n` plies give those won in `n + 1`, and these the ones lost in
//! `n + 2`. A table without pawns stores one of eight placements that differ by a symmetry of the board.
// CITE: retrograde analysis: Ströhlein (1970), Thompson (1986).

use shakmaty::Rank;

use crate::board::attacks::{attacks, king_attacks};
use crate::board::{Bitboard, Color, Piece, Role, Square};

/// Longest line to mate, in plies: longer than any with bishop and knight (33 moves).
const MAX_PLIES: usize = 70;

/// The triangle a1-d1-d4: one square for each class of squares under the symmetries of the board, in the order of
/// [`slot_of`].
const TRIANGLE: [Square; 10] = [
    Square::A1,
    Square::B1,
    Square::B2,
    Square::C1,
    Square::C2,
    Square::C3,
    Square::D1,
    Square::D2,
    Square::D3,
    Square::D4,
];

/// Each square under the symmetries of the board: bit 0 exchanges left and right, bit 1 top and bottom, and then bit 2
/// the files and the ranks.
static SYMMETRIC: [[Square; 64]; 8] = {
    let mut squares = [[Square::A1; 64]; 8];
    let mut index = 0;
    while index < 8 * 64 {
        let (symmetry, square) = (index / 64, Square::new((index % 64) as u32));
        let square = if symmetry & 1 != 0 { square.flip_horizontal() } else { square };
        let square = if symmetry & 2 != 0 { square.flip_vertical() } else { square };
        let square = if symmetry & 4 != 0 { square.flip_diagonal() } else { square };
        squares[symmetry][index % 64] = square;
        index += 1;
    }
    squares
};

/// The symmetry that moves each square into the triangle.
static TO_TRIANGLE: [u8; 64] = {
    let mut symmetries = [0; 64];
    let mut square = 0;
    while square < 64 {
        let mut symmetry = 0;
        while !in_triangle(SYMMETRIC[symmetry][square]) {
            symmetry += 1;
        }
        symmetries[square] = symmetry as u8;
        square += 1;
    }
    symmetries
};

const fn in_triangle(square: Square) -> bool {
    let (file, rank) = (square as u32 % 8, square as u32 / 8);
    file < 4 && rank <= file
}

/// Plies to mate plus 1 for each placement, with White as the strong side; 0 for draws and impossible placements.
/// `N` is the number of pieces beside the kings.
pub struct Table<const N: usize> {
    roles: [Role; N],
    has_pawn: bool,
    /// Whether both pieces have one role. Exchanging their squares then changes nothing.
    has_equal_pieces: bool,
    /// The strong side is to move.
    strong: Vec<u8>,
    /// The lone king is to move.
    lone: Vec<u8>,
}

/// Squares of the kings and of the pieces, in the order of the table's roles.
#[derive(Clone, Copy, Debug)]
pub struct Placement<const N: usize> {
    pub king: Square,
    pub lone: Square,
    pub pieces: [Square; N],
}

impl<const N: usize> Placement<N> {
    /// The placement with each square replaced.
    pub fn map(self, replace: impl Fn(Square) -> Square) -> Self {
        Self { king: replace(self.king), lone: replace(self.lone), pieces: self.pieces.map(replace) }
    }

    fn squares_of_pieces(self) -> Bitboard {
        self.pieces.into_iter().collect()
    }

    fn occupied(self) -> Bitboard {
        self.squares_of_pieces() | self.king | self.lone
    }

    /// Whether the pieces can stand like this, whoever is to move.
    fn is_possible(self) -> bool {
        self.occupied().count() == N + 2 && !king_attacks(self.king).contains(self.lone)
    }

    fn with_piece(mut self, index: usize, square: Square) -> Self {
        self.pieces[index] = square;
        self
    }
}

/// The index of a square in [`TRIANGLE`].
fn slot_of(square: Square) -> usize {
    let (file, rank) = (square.file() as usize, square.rank() as usize);
    file * (file + 1) / 2 + rank
}

impl Table<1> {
    /// The placements, by plies to mate, in which a pawn promotes to the piece of one of these tables and wins.
    pub fn promotions(promoted: &[&Self]) -> Vec<Vec<Placement<1>>> {
        let mut by_plies = vec![Vec::new(); MAX_PLIES];
        let pawns = (0..64).map(Square::new).filter(|square| square.rank() == Rank::Seventh);
        let pairs = (0..64).flat_map(|king| (0..64).map(move |lone| (Square::new(king), Square::new(lone))));
        for (pawn, (king, lone)) in pawns.flat_map(|pawn| pairs.clone().map(move |kings| (pawn, kings))) {
            let at = Placement { king, lone, pieces: [pawn] };
            let Some(square) = pawn.offset(8).filter(|&square| !at.occupied().contains(square)) else {
                continue;
            };
            let after = promoted.iter().filter_map(|table| table.plies(at.with_piece(0, square), false)).min();
            if let Some(plies) = after.filter(|_| at.is_possible()) {
                by_plies[plies + 1].push(at);
            }
        }
        by_plies
    }
}

impl<const N: usize> Table<N> {
    /// Computes the table of a king with these pieces. `promotions` are wins by promotion, by their number of plies.
    pub fn solve(roles: [Role; N], mut promotions: Vec<Vec<Placement<N>>>) -> Self {
        let has_pawn = roles.contains(&Role::Pawn);
        let places = (if has_pawn { 64 } else { TRIANGLE.len() }) << (6 * (N + 1));
        let has_equal_pieces = N == 2 && roles[0] == roles[1];
        let mut table = Self { roles, has_pawn, has_equal_pieces, strong: vec![0; places], lone: vec![0; places] };
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

    /// Plies to mate, or `None` for draws and impossible placements. `is_strong`: the strong side is to move.
    pub fn plies(&self, at: Placement<N>, is_strong: bool) -> Option<usize> {
        let entries = if is_strong { &self.strong } else { &self.lone };
        usize::from(entries[self.index(at)]).checked_sub(1)
    }

    /// The longest win of the strong side, in plies.
    #[cfg(test)]
    pub fn longest(&self) -> usize {
        self.strong.iter().copied().max().map_or(0, usize::from) - 1
    }

    /// The entry of a placement: without pawns, that of its symmetric placement whose lone king is in the triangle. A
    /// lone king on the diagonal leaves two, of which the one with the lower index counts.
    fn index(&self, mut at: Placement<N>) -> usize {
        if self.has_pawn {
            return Self::index_in(usize::from(at.lone), at);
        }
        at = at.map(|square| SYMMETRIC[TO_TRIANGLE[at.lone as usize] as usize][square as usize]);
        let slot = slot_of(at.lone);
        let index = Self::index_in(slot, self.sorted(at));
        if at.lone.rank() as u32 != at.lone.file() as u32 {
            return index;
        }
        index.min(Self::index_in(slot, self.sorted(at.map(Square::flip_diagonal))))
    }

    fn index_in(slot: usize, at: Placement<N>) -> usize {
        at.pieces.iter().fold(slot << 6 | usize::from(at.king), |index, &piece| index << 6 | usize::from(piece))
    }

    fn sorted(&self, mut at: Placement<N>) -> Placement<N> {
        if self.has_equal_pieces {
            at.pieces.sort_unstable();
        }
        at
    }

    /// The placement of an entry.
    fn placement(&self, index: usize) -> Placement<N> {
        let square = |place: usize| Square::new((index >> (6 * place) & 63) as u32);
        let slot = index >> (6 * (N + 1));
        Placement {
            king: square(N),
            lone: if self.has_pawn { Square::new(slot as u32) } else { TRIANGLE[slot] },
            pieces: std::array::from_fn(|piece| square(N - 1 - piece)),
        }
    }

    /// Enters a win for the strong side to move, unless a shorter one is known or the lone king could be taken.
    fn add_win(&mut self, at: Placement<N>, plies: usize, won: &mut Vec<Placement<N>>) {
        let index = self.index(at);
        if self.strong[index] == 0 && !self.gives_check(at) {
            self.strong[index] = plies as u8 + 1;
            won.push(at);
        }
    }

    /// Enters the wins by a move of the strong side to `at`.
    fn add_wins_before(&mut self, at: Placement<N>, plies: usize, won: &mut Vec<Placement<N>>) {
        for king in king_attacks(at.king) & !king_attacks(at.lone) & !at.occupied() {
            self.add_win(Placement { king, ..at }, plies, won);
        }
        for piece in 0..N {
            for square in self.origins(at, piece) {
                self.add_win(at.with_piece(piece, square), plies, won);
            }
        }
    }

    /// Enters the losses in which every move of the lone king leads to a win, one of them `at`.
    fn add_losses_before(&mut self, at: Placement<N>, plies: usize, lost: &mut Vec<Placement<N>>) {
        for lone in king_attacks(at.lone) & !king_attacks(at.king) & !at.occupied() {
            let before = Placement { lone, ..at };
            let index = self.index(before);
            if self.lone[index] == 0 && self.is_lost(before) {
                self.lone[index] = plies as u8 + 1;
                lost.push(before);
            }
        }
    }

    /// Enters and returns all checkmates.
    fn mates(&mut self) -> Vec<Placement<N>> {
        let mates: Vec<_> = (0..self.lone.len()).filter_map(|index| self.mate_at(index)).collect();
        for &at in &mates {
            let index = self.index(at);
            self.lone[index] = 1;
        }
        mates
    }

    /// The placement of an entry if it is checkmate.
    fn mate_at(&self, index: usize) -> Option<Placement<N>> {
        let at = self.placement(index);
        let is_mate = at.is_possible()
            && self.index(at) == index
            && self.has_place(at)
            && self.gives_check(at)
            && self.escapes(at).is_empty();
        is_mate.then_some(at)
    }

    /// Whether every move of the lone king leads to a position that is known to be won. There must be a move.
    fn is_lost(&self, at: Placement<N>) -> bool {
        let escapes = self.escapes(at);
        let is_won = |lone: Square| self.strong[self.index(Placement { lone, ..at })] > 0;
        // No ending of these tables is still won after a capture.
        escapes.any() && (escapes & at.squares_of_pieces()).is_empty() && escapes.into_iter().all(is_won)
    }

    /// Squares to which the lone king can move, including captures.
    fn escapes(&self, at: Placement<N>) -> Bitboard {
        // The lone king does not shield the squares behind it.
        let attacked = self.attacked(at, at.squares_of_pieces() | at.king);
        king_attacks(at.lone) & !king_attacks(at.king) & !attacked & !Bitboard::from(at.king)
    }

    fn gives_check(&self, at: Placement<N>) -> bool {
        self.attacked(at, at.occupied()).contains(at.lone)
    }

    /// Squares that the pieces attack.
    fn attacked(&self, at: Placement<N>, occupied: Bitboard) -> Bitboard {
        let of = |piece: usize| attacks(at.pieces[piece], self.piece(piece), occupied);
        (0..N).fold(Bitboard::EMPTY, |all, piece| all | of(piece))
    }

    fn piece(&self, index: usize) -> Piece {
        Piece { color: Color::White, role: self.roles[index] }
    }

    /// Whether no pawn is on the first or the last rank.
    fn has_place(&self, at: Placement<N>) -> bool {
        !self.has_pawn || at.pieces.iter().all(|square| !matches!(square.rank(), Rank::First | Rank::Eighth))
    }

    /// Squares from which a piece can have moved to its square.
    fn origins(&self, at: Placement<N>, piece: usize) -> Bitboard {
        let square = at.pieces[piece];
        if self.roles[piece] != Role::Pawn {
            return attacks(square, self.piece(piece), at.occupied()) & !at.occupied();
        }
        // A step from the square below, or two steps from the second rank.
        let is_free = |square: &Square| square.rank() != Rank::First && !at.occupied().contains(*square);
        let below = square.offset(-8).filter(is_free);
        let twice = below.filter(|_| square.rank() == Rank::Fourth).and_then(|square| square.offset(-8));
        below.into_iter().chain(twice.filter(is_free)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_has_one_placement_and_its_symmetric_ones_share_it() {
        let table = Table::solve([Role::Bishop, Role::Bishop], Vec::new());
        let at = Placement { king: Square::A1, lone: Square::D5, pieces: [Square::C1, Square::B1] };
        let plies = table.plies(at, true);
        assert!(plies.is_some());
        for flipped in [
            at.map(Square::flip_horizontal),
            at.map(Square::flip_vertical),
            at.map(Square::flip_diagonal),
            at.map(Square::flip_horizontal).map(Square::flip_diagonal),
            Placement { pieces: [Square::B1, Square::C1], ..at },
        ] {
            assert_eq!(table.plies(flipped, true), plies, "{flipped:?}");
        }
        let is_reached = |index: usize| table.index(table.placement(index)) == index;
        let used = (0..table.strong.len()).filter(|&index| table.strong[index] > 0);
        assert!({ used }.all(is_reached));
        // Bishops on squares of one colour never mate.
        let one_colour = Placement { pieces: [Square::C1, Square::A3], ..at };
        assert_eq!(table.plies(one_colour, true), None);
    }
}
