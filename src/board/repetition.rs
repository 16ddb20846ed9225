//! Draws: repetition, upcoming repetition, the fifty-move rule, and insufficient material.

use std::sync::LazyLock;

use shakmaty::{Bitboard, Color, Role, Square};

use super::attacks;
use super::{Position, zobrist};

/// Minimum number of plies between two equal positions.
const MIN_CYCLE: usize = 4;

impl Position {
    /// Whether the position is a draw: by the 50-move rule (not if mated), by repetition (once within the last `ply`
    /// plies of the search, or twice before), or by insufficient material.
    pub fn is_draw(&self, ply: usize) -> bool {
        self.is_fifty_move_draw() || self.is_repetition(ply) || self.is_insufficient_material()
    }

    /// Whether the 50-move rule ends the game here. A mate on the hundredth ply wins.
    #[inline]
    fn is_fifty_move_draw(&self) -> bool {
        self.state.halfmoves >= 100 && (!self.in_check() || !self.legal_moves().is_empty())
    }

    /// Whether the position occurred before: once after the root of the search (`ply` plies ago), or twice in the
    /// game.
    // CITE: the signed distance: Stockfish (idea).
    #[inline]
    pub fn is_repetition(&self, ply: usize) -> bool {
        let distance = self.state.repetition;
        distance < 0 || distance > 0 && usize::from(distance.unsigned_abs()) < ply
    }

    /// The value of `StateInfo::repetition` for the current position.
    #[inline]
    pub(super) fn repetition_distance(&self) -> i16 {
        let reach = self.reversible_plies();
        let mut back = MIN_CYCLE;
        while back <= reach {
            let earlier = &self.history[self.history.len() - back];
            if earlier.key == self.state.key {
                let distance = back as i16;
                return if earlier.repetition != 0 { -distance } else { distance };
            }
            back += 2;
        }
        0
    }

    /// Maximum number of plies back to a position that could equal this one.
    #[inline]
    fn reversible_plies(&self) -> usize {
        usize::from(self.state.halfmoves.min(self.state.plies_from_null)).min(self.history.len())
    }

    /// Whether the side to move has a move after which [`Position::is_repetition`] holds (at `ply + 1`).
    // CITE: Marcel van Kervinck, "The Cuckoo cycle detection" (2017): one lookup in a table of the key differences of
    // all reversible moves shows whether two positions are one move apart.
    pub fn upcoming_repetition(&self, ply: usize) -> bool {
        let reach = self.reversible_plies();
        let mut back = MIN_CYCLE - 1;
        if back > reach {
            return false;
        }
        let cuckoo = &*CUCKOO;
        while back <= reach {
            let earlier = &self.history[self.history.len() - back];
            let counts = back < ply || earlier.repetition != 0;
            if counts && cuckoo.find(self.state.key ^ earlier.key).is_some_and(|m| self.can_slide(m)) {
                return true;
            }
            back += 2;
        }
        false
    }

    /// Whether the side to move has a piece on one of the squares and a free path to the other. The keys guarantee
    /// that it is the right piece and that the move is legal.
    fn can_slide(&self, [a, b]: [Square; 2]) -> bool {
        let ends = Bitboard::from_square(a).with(b) & self.by_color(self.turn);
        ends.any() && (attacks::between(a, b) & self.occupied()).is_empty()
    }

    /// Material that cannot mate: bare kings, a single minor piece, or bishops on squares of one colour.
    pub fn is_insufficient_material(&self) -> bool {
        let heavy = self.by_role.pawn | self.by_role.rook | self.by_role.queen;
        if heavy.any() {
            return false;
        }
        let (knights, bishops) = (self.by_role.knight, self.by_role.bishop);
        if knights.any() {
            return bishops.is_empty() && !knights.more_than_one();
        }
        bishops.is_subset(Bitboard::LIGHT_SQUARES) || bishops.is_subset(Bitboard::DARK_SQUARES)
    }
}

/// Slots of the cuckoo table: more than twice the 3668 reversible moves.
const SLOTS: usize = 8192;

/// Key differences of all reversible moves (turn included) and their squares, in a cuckoo hash.
struct Cuckoo {
    keys: Box<[u64; SLOTS]>,
    moves: Box<[[Square; 2]; SLOTS]>,
}

static CUCKOO: LazyLock<Cuckoo> = LazyLock::new(Cuckoo::new);

impl Cuckoo {
    fn new() -> Self {
        let mut cuckoo = Self { keys: Box::new([0; SLOTS]), moves: Box::new([[Square::A1; 2]; SLOTS]) };
        for (key, squares) in reversible_moves() {
            cuckoo.insert(key, squares);
        }
        cuckoo
    }

    /// Inserts an entry; each displaced entry moves to its other slot. The keys are fixed, and the tests verify that
    /// this terminates.
    fn insert(&mut self, mut key: u64, mut squares: [Square; 2]) {
        let mut slot = first_slot(key);
        while key != 0 {
            std::mem::swap(&mut self.keys[slot], &mut key);
            std::mem::swap(&mut self.moves[slot], &mut squares);
            slot = if slot == first_slot(key) { second_slot(key) } else { first_slot(key) };
        }
    }

    /// The two squares of the reversible move with this key difference.
    #[inline]
    fn find(&self, key: u64) -> Option<[Square; 2]> {
        let slot = [first_slot(key), second_slot(key)].into_iter().find(|&i| self.keys[i] == key)?;
        (key != 0).then(|| self.moves[slot])
    }
}

#[inline]
fn first_slot(key: u64) -> usize {
    key as usize % SLOTS
}

#[inline]
fn second_slot(key: u64) -> usize {
    (key >> 16) as usize % SLOTS
}

/// Every move of a piece other than a pawn on the empty board, once per pair of squares, with its key difference.
fn reversible_moves() -> impl Iterator<Item = (u64, [Square; 2])> {
    let pieces = [Role::Knight, Role::Bishop, Role::Rook, Role::Queen, Role::King];
    let pieces = pieces.into_iter().flat_map(|role| Color::ALL.map(|color| role.of(color)));
    pieces.flat_map(|piece| {
        Square::ALL.into_iter().flat_map(move |a| {
            let targets = attacks::attacks(a, piece, Bitboard::EMPTY);
            targets.into_iter().filter(move |&b| a < b).map(move |b| {
                let [at_a, at_b] = [a, b].map(|s| zobrist::piece(s, piece.color, piece.role));
                (at_a ^ at_b ^ zobrist::turn(), [a, b])
            })
        })
    })
}

#[cfg(test)]
mod tests {
    use shakmaty::CastlingMode;

    use super::*;

    #[test]
    fn cuckoo_contains_every_reversible_move() {
        assert_eq!(reversible_moves().count(), 3668);
        for (key, squares) in reversible_moves() {
            assert_eq!(CUCKOO.find(key), Some(squares));
        }
        assert_eq!(CUCKOO.find(0), None);
    }

    #[test]
    fn insufficient_material_is_a_draw() {
        for (fen, drawn) in [
            ("4k3/8/8/8/8/8/8/4K3 w - - 0 1", true),
            ("4k3/8/8/8/8/8/8/3NK3 w - - 0 1", true),
            ("4k3/8/8/8/8/8/8/3BK3 b - - 0 1", true),
            ("2b1k3/8/8/8/8/8/8/3BK3 b - - 0 1", true),
            ("3bk3/8/8/8/8/8/8/3BK3 b - - 0 1", false),
            ("3nk3/8/8/8/8/8/8/3BK3 b - - 0 1", false),
            ("4k3/8/8/8/8/8/8/2NNK3 w - - 0 1", false),
            ("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", false),
        ] {
            let position = Position::from_fen(fen, CastlingMode::Standard).expect(fen);
            assert_eq!(position.is_insufficient_material(), drawn, "{fen}");
            assert_eq!(position.is_draw(0), drawn, "{fen}");
        }
    }
}
