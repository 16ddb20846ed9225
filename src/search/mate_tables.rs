//! Distances to mate against a lone king: queen, rook or pawn, two bishops, bishop and knight.
//!
//! A search with few pieces at its root ends at such a position with the exact value, so a conversion shows its mate as
//! soon as the search reaches the ending. The tables are computed by retrograde analysis when they are first needed.

mod retrograde;

#[cfg(not(target_family = "wasm"))]
use std::sync::Once;
use std::sync::{LazyLock, OnceLock};
#[cfg(not(target_family = "wasm"))]
use std::thread::Builder;

use super::score::{self, Value};
use crate::board::{Bitboard, Color, Move, Position, Role, Square};
use retrograde::{Placement, Table};

/// Most pieces at the root of a search that uses the tables of three pieces. With more, they are far away.
const MAX_ROOT_PIECES: usize = 8;

/// Most pieces at the root of a search that uses the tables of four pieces.
const MAX_ROOT_PIECES_FOR_FOUR: usize = 6;

/// Most pieces at the root of a search during which other threads compute the tables of three and of four pieces, so
/// that a later search does not wait for them.
// MEASURED: the computation takes 0.1 s for three pieces, and 0.3 s for two bishops and 1.0 s for bishop and knight.
#[cfg(not(target_family = "wasm"))]
const MAX_PIECES_TO_PREPARE: [usize; 2] = [12, 8];

static THREE: LazyLock<ThreePieces> = LazyLock::new(ThreePieces::compute);

/// Two bishops, and bishop and knight.
static PAIRS: [OnceLock<Table<2>>; 2] = [const { OnceLock::new() }; 2];

/// The pieces of [`PAIRS`].
const ROLES_OF_PAIRS: [[Role; 2]; 2] = [[Role::Bishop, Role::Bishop], [Role::Bishop, Role::Knight]];

/// The index of bishop and knight in [`PAIRS`].
const BISHOP_AND_KNIGHT: usize = 1;

/// The endings with one piece beside the kings.
struct ThreePieces {
    queen: Table<1>,
    rook: Table<1>,
    pawn: Table<1>,
}

impl ThreePieces {
    fn compute() -> Self {
        let queen = Table::solve([Role::Queen], Vec::new());
        let rook = Table::solve([Role::Rook], Vec::new());
        let pawn = Table::solve([Role::Pawn], Table::promotions(&[&queen, &rook]));
        Self { queen, rook, pawn }
    }

    fn of(&self, role: Role) -> Option<&Table<1>> {
        match role {
            Role::Queen => Some(&self.queen),
            Role::Rook => Some(&self.rook),
            Role::Pawn => Some(&self.pawn),
            _ => None,
        }
    }
}

/// The table of a pair, computed if it is not yet.
fn pair(index: usize) -> &'static Table<2> {
    PAIRS[index].get_or_init(|| Table::solve(ROLES_OF_PAIRS[index], Vec::new()))
}

/// The tables that a search uses.
#[derive(Clone, Copy, Debug)]
pub struct MateTables {
    /// Most pieces of a position that is looked up.
    max_pieces: usize,
}

impl MateTables {
    /// No tables.
    pub const NONE: Self = Self { max_pieces: 0 };

    /// The tables for a search of `root`.
    ///
    /// Computes those that it may need. With `may_wait` this includes those of four pieces, so the result of the search
    /// does not depend on when they are ready. Otherwise other threads compute them, and the search uses them as soon
    /// as they are ready.
    pub fn for_root(root: &Position, may_wait: bool) -> Self {
        let pieces = root.occupied().count();
        let pairs = pairs_of(root);
        #[cfg(not(target_family = "wasm"))]
        prepare(pieces, pairs);
        if pieces > MAX_ROOT_PIECES_FOR_FOUR {
            return if pieces > MAX_ROOT_PIECES { Self::NONE } else { Self { max_pieces: 3 } };
        }
        if may_wait {
            (0..PAIRS.len()).filter(|&index| pairs[index]).for_each(|index| _ = pair(index));
        }
        Self { max_pieces: 4 }
    }

    /// The move of the shortest mate with bishop and knight; `None` in every other position. Computes their table if it
    /// is needed.
    pub fn mate_with_bishop_and_knight(position: &Position) -> Option<Move> {
        if position.occupied().count() != 4 || !pairs_of(position)[BISHOP_AND_KNIGHT] {
            return None;
        }
        let tables = Self::for_root(position, true);
        let is_won = matches!(tables.known(position), Some(KnownEnding::Win(_)));
        if is_won { tables.best_move(&mut position.clone()) } else { None }
    }

    /// The result of a position, if a table contains it.
    #[inline]
    fn known(self, position: &Position) -> Option<KnownEnding> {
        if position.occupied().count() > self.max_pieces {
            return None;
        }
        known(position)
    }

    /// Exact value of a position at `ply`, or `None` if no table contains it or the 50-move rule may end the game
    /// first.
    #[inline]
    pub fn value(self, position: &Position, ply: usize) -> Option<Value> {
        let in_time = |plies: usize| position.halfmoves() as usize + plies <= 100;
        match self.known(position)? {
            KnownEnding::Draw => Some(score::DRAW),
            KnownEnding::Win(plies) if in_time(plies) => Some(score::mate_in(ply + plies)),
            KnownEnding::Loss(plies) if in_time(plies) => Some(score::mated_in(ply + plies)),
            _ => None,
        }
    }

    /// Extends a variation that ends at a decided position of the tables to the mate, with the best moves of both
    /// sides.
    pub fn extend_to_mate(self, root: &Position, pv: &mut Vec<Move>) {
        let mut position = root.clone();
        for &m in pv.iter() {
            if !(position.pseudo_legal(m) && position.legal(m)) {
                return;
            }
            position.do_move(m);
        }
        while let Some(m) = self.best_move(&mut position) {
            position.do_move(m);
            pv.push(m);
        }
    }

    /// The move of the shortest win or the longest defence; `None` if the position is mate, drawn or not in the tables.
    fn best_move(self, position: &mut Position) -> Option<Move> {
        let (KnownEnding::Win(plies) | KnownEnding::Loss(plies)) = self.known(position)? else {
            return None;
        };
        let moves = position.legal_moves();
        moves.iter().copied().find(|&m| {
            position.do_move(m);
            let after = self.known(position);
            position.undo_move();
            matches!(after, Some(KnownEnding::Win(left) | KnownEnding::Loss(left)) if left + 1 == plies)
        })
    }
}

/// Which of the pairs a side has.
fn pairs_of(position: &Position) -> [bool; 2] {
    ROLES_OF_PAIRS.map(|roles| {
        [Color::White, Color::Black].into_iter().any(|color| {
            let count = |role: Role| (position.by_color(color) & position.by_role(role)).count();
            roles.iter().all(|&role| count(role) >= roles.iter().filter(|&&other| other == role).count())
        })
    })
}

/// Begins to compute the tables on other threads when there are few pieces.
// If the system refuses a thread, the first search that needs the tables computes them.
#[cfg(not(target_family = "wasm"))]
fn prepare(pieces: usize, pairs: [bool; 2]) {
    static PREPARED: [Once; 3] = [const { Once::new() }; 3];
    let in_background = |once: &Once, compute: fn()| once.call_once(|| drop(Builder::new().spawn(compute)));
    if pieces <= MAX_PIECES_TO_PREPARE[0] {
        in_background(&PREPARED[0], || _ = LazyLock::force(&THREE));
    }
    if pieces <= MAX_PIECES_TO_PREPARE[1] && pairs[0] {
        in_background(&PREPARED[1], || _ = pair(0));
    }
    if pieces <= MAX_PIECES_TO_PREPARE[1] && pairs[1] {
        in_background(&PREPARED[2], || _ = pair(1));
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

/// The result of a position with three or four pieces, if a table contains it.
fn known(position: &Position) -> Option<KnownEnding> {
    if position.has_castling_rights() {
        return None;
    }
    let strong = if position.by_color(Color::White).count() > 1 { Color::White } else { Color::Black };
    let weak = position.by_color(!strong);
    let pieces = position.by_color(strong) & !Bitboard::from(position.king(strong));
    match (weak.count(), pieces.count()) {
        (1, 1) => {
            let piece = pieces.first()?;
            known_in(THREE.of(position.role_at(piece)?)?, position, strong, [piece])
        }
        (1, 2) => {
            let (bishops, knights) = (pieces & position.by_role(Role::Bishop), pieces & position.by_role(Role::Knight));
            match (bishops.count(), knights.count()) {
                (2, 0) => known_in(PAIRS[0].get()?, position, strong, [bishops.first()?, bishops.last()?]),
                (1, 1) => known_in(PAIRS[1].get()?, position, strong, [bishops.first()?, knights.first()?]),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The result of a position with these pieces of the strong side, in the order of the table.
fn known_in<const N: usize>(
    table: &Table<N>,
    position: &Position,
    strong: Color,
    pieces: [Square; N],
) -> Option<KnownEnding> {
    let at = Placement { king: position.king(strong), lone: position.king(!strong), pieces };
    let at = if strong == Color::White { at } else { at.map(Square::flip_vertical) };
    let is_strong = position.turn() == strong;
    Some(match table.plies(at, is_strong) {
        None => KnownEnding::Draw,
        Some(plies) if is_strong => KnownEnding::Win(plies),
        Some(plies) => KnownEnding::Loss(plies),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::tests::position;

    /// All tables, computed.
    fn all_tables() -> MateTables {
        MateTables::for_root(&position("8/8/8/3k4/8/8/8/KBBN4 w - - 0 1"), true)
    }

    #[test]
    fn longest_mates_are_the_known_ones() {
        // CITE: known since the first tables (Thompson): queen 10 moves, rook 16, pawn 28, two bishops 19, bishop and
        // knight 33.
        assert_eq!([&THREE.queen, &THREE.rook, &THREE.pawn].map(Table::longest), [19, 31, 55]);
        assert_eq!([0, 1].map(|index| pair(index).longest()), [37, 65]);
    }

    #[test]
    fn bishop_and_knight_mate_as_fast_as_possible() {
        let mut root = position("8/8/8/3k4/8/8/8/KBN5 w - - 0 1");
        let Some(KnownEnding::Win(plies)) = all_tables().known(&root) else { panic!("a win") };
        root.do_move(MateTables::mate_with_bishop_and_knight(&root).expect("a move"));
        assert_eq!(all_tables().known(&root), Some(KnownEnding::Loss(plies - 1)));
        for other in
            ["8/8/8/3k4/8/8/8/KBN5 b - - 0 1", "8/8/8/3k4/8/8/8/KBB5 w - - 0 1", "8/8/8/3k4/7p/8/8/KBN5 w - - 0 1"]
        {
            assert_eq!(MateTables::mate_with_bishop_and_knight(&position(other)), None, "{other}");
        }
    }

    #[test]
    fn lines_end_in_mate_after_the_stated_plies() {
        let tables = all_tables();
        for fen in [
            "8/8/8/3k4/8/8/8/KR6 w - - 0 1",
            "8/8/8/3k4/8/8/8/KQ6 b - - 0 1",
            "8/8/8/1k6/8/8/1K1P4/8 w - - 0 1",
            "8/3p1k2/8/8/8/6K1/8/8 b - - 0 1",
            "8/8/8/3k4/8/8/8/KBB5 w - - 0 1",
            "8/8/8/3K4/8/8/8/kbn5 w - - 0 1",
        ] {
            let root = position(fen);
            let (KnownEnding::Win(found) | KnownEnding::Loss(found)) = tables.known(&root).expect("a table") else {
                panic!("{fen} is decided");
            };
            let mut pv = Vec::new();
            tables.extend_to_mate(&root, &mut pv);
            assert_eq!(pv.len(), found, "{fen}");
            let mut end = root.clone();
            for &m in &pv {
                end.do_move(m);
            }
            assert!(end.in_check() && end.legal_moves().is_empty(), "{fen}");
        }
    }

    /// The result of a position by those after its moves; a position without a table is drawn.
    fn known_by_moves(tables: MateTables, position: &mut Position) -> KnownEnding {
        let moves = position.legal_moves();
        if moves.is_empty() {
            return if position.in_check() { KnownEnding::Loss(0) } else { KnownEnding::Draw };
        }
        let (mut win, mut loss, mut escapes) = (None, 0, false);
        for &m in &moves {
            position.do_move(m);
            match tables.known(position) {
                Some(KnownEnding::Loss(plies)) => win = Some(win.map_or(plies + 1, |best: usize| best.min(plies + 1))),
                Some(KnownEnding::Win(plies)) => loss = loss.max(plies + 1),
                Some(KnownEnding::Draw) | None => escapes = true,
            }
            position.undo_move();
        }
        match win {
            Some(plies) => KnownEnding::Win(plies),
            None if escapes => KnownEnding::Draw,
            None => KnownEnding::Loss(loss),
        }
    }

    #[test]
    fn results_follow_from_those_after_each_move() {
        let tables = all_tables();
        let mut rng = crate::util::rng::SplitMix64::new(11);
        let mut decided = 0;
        for pieces in ["Q", "R", "P", "BB", "BN", "q", "p", "bb", "bn"].repeat(400) {
            let Some(mut position) = random_position(&format!("Kk{pieces}"), &mut rng) else { continue };
            let found = tables.known(&position).expect("a table");
            assert_eq!(found, known_by_moves(tables, &mut position), "{}", position.fen());
            decided += usize::from(found != KnownEnding::Draw);
        }
        assert!(decided > 1000, "{decided}");
    }

    /// A position with these pieces on random squares, if it is legal.
    fn random_position(pieces: &str, rng: &mut crate::util::rng::SplitMix64) -> Option<Position> {
        let mut board = [['1'; 8]; 8];
        for piece in pieces.chars() {
            board[rng.below(8)][rng.below(8)] = piece;
        }
        let ranks: Vec<String> = board.iter().map(|rank| rank.iter().collect()).collect();
        let turn = ["w", "b"][rng.below(2)];
        let mode = crate::board::CastlingMode::Standard;
        let position = Position::from_fen(&format!("{} {turn} - - 0 1", ranks.join("/")), mode).ok()?;
        (position.occupied().count() == pieces.len()).then_some(position)
    }

    #[test]
    fn draws_and_the_fifty_move_rule_are_known() {
        let tables = all_tables();
        for (fen, expected) in [
            ("8/8/8/4k3/4P3/4K3/8/8 b - - 0 1", Some(score::DRAW)),
            ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", Some(score::DRAW)),
            ("8/8/8/3k4/8/8/8/KR6 w - - 71 100", Some(score::mate_in(4 + 29))),
            ("8/8/8/3k4/8/8/8/KR6 w - - 72 100", None),
            ("4k3/8/8/8/8/8/8/4K2R w K - 0 1", None),
            ("8/8/8/3k4/8/8/8/KB6 w - - 0 1", None),
            ("7k/6Q1/6K1/8/8/8/8/8 b - - 99 120", Some(score::mated_in(4))),
            ("8/8/8/3k4/8/8/8/KNN5 w - - 0 1", None),
        ] {
            assert_eq!(tables.value(&position(fen), 4), expected, "{fen}");
        }
    }
}
