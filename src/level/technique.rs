//! Mating technique: evaluation and search of elementary endings, in which a bare king plays against pieces that can
//! mate it.
//!
//! The evaluation encodes the method: drive the king to the edge (with bishop and knight, into a corner of the bishop's
//! colour), bring the own king near, restrict the bare king, and keep the pieces. The search then finds the mate, so
//! every level wins these endings.

use crate::board::{Bitboard, Color, Move, Position, Role, Square, attacks};

/// Base value of a won ending in internal units: above every ordinary evaluation, below every proven result.
const WON: i32 = 8000;
/// Weight of a step of one king towards the other.
const CLOSER: i32 = 20;
/// Weight of each square taken from the bare king.
const CONFINED: i32 = 4;
/// Weight of a step of the bare king towards a corner of the bishop's colour. Much more than [`CLOSER`], because the
/// other king must sometimes step back.
const STEP: i32 = 400;
/// Value of a piece. Exceeds all other progress, so that the search does not sacrifice one.
const PIECE: i32 = 1500;

/// The side with pieces or pawns against a bare king, if there is one.
pub fn attacker(position: &Position) -> Option<Color> {
    [Color::White, Color::Black]
        .into_iter()
        .find(|&color| position.by_color(!color).count() == 1 && position.by_color(color).count() > 1)
}

/// The value of an elementary ending for the side to move. `None` with pawns (the network evaluates promotion well),
/// without a bare king, or if the pieces cannot mate.
pub fn value(position: &Position) -> Option<i32> {
    let attacker = attacker(position)?;
    if position.by_role(Role::Pawn).any() || !can_mate(position, attacker) {
        return None;
    }
    let (king, bare_king) = (position.king(attacker), position.king(!attacker));
    let pieces = position.by_color(attacker).count() as i32 - 1;
    let value = WON + PIECE * pieces + driven(position, attacker)
        - CLOSER * distance(king, bare_king)
        - CONFINED * range(position, attacker);
    Some(if position.turn() == attacker { value } else { -value })
}

/// Whether the pieces of `color` can force mate on a bare king: a queen, a rook, bishops of both colours, bishop and
/// knight, or three knights.
fn can_mate(position: &Position, color: Color) -> bool {
    let count = |role| position.pieces(color, role).count();
    let bishops = position.pieces(color, Role::Bishop);
    let both_colours = (bishops & Bitboard::LIGHT_SQUARES).any() && (bishops & Bitboard::DARK_SQUARES).any();
    count(Role::Queen) + count(Role::Rook) > 0
        || both_colours
        || (bishops.any() && count(Role::Knight) > 0)
        || count(Role::Knight) > 2
}

/// Progress of the bare king towards the squares where it is mated: the edge and its corners, or a corner of the
/// bishop's colour.
// CITE: both measures and their weights relative to `CLOSER`: Stockfish's endgame functions (up to 2023).
fn driven(position: &Position, attacker: Color) -> i32 {
    let bare_king = position.king(!attacker);
    let count = |role| position.pieces(attacker, role).count();
    let bishops = position.pieces(attacker, Role::Bishop);
    if count(Role::Queen) + count(Role::Rook) == 0 && count(Role::Knight) > 0 && bishops.any() {
        return STEP * (7 - to_corner_of(bare_king, bishops));
    }
    let to_edge = |n: i32| n.min(7 - n);
    let file = to_edge(bare_king.file() as i32);
    let rank = to_edge(bare_king.rank() as i32);
    -7 * (file * file + rank * rank) / 2
}

/// Distance to the nearer corner of the bishops' colour: 0 to 7 steps along the edge and the diagonals.
// CITE: the Manhattan distance to the diagonal between the wrong corners: as in Stockfish's former KBNK.
fn to_corner_of(king: Square, bishops: Bitboard) -> i32 {
    let (file, rank) = (king.file() as i32, king.rank() as i32);
    let is_dark = (bishops & Bitboard::DARK_SQUARES).any();
    // The long diagonal a1 to h8 ends in the dark corners. A larger distance from the other long diagonal means a
    // smaller distance from a corner.
    let from_other = if is_dark { (file + rank - 7).abs() } else { (file - rank).abs() };
    7 - from_other
}

/// The number of squares that the bare king could reach if no other piece moved.
fn range(position: &Position, attacker: Color) -> i32 {
    let bare_king = Bitboard::from_square(position.king(!attacker));
    // Sliders attack through the bare king, because it moves away.
    let occupied = position.occupied() ^ bare_king;
    let mut forbidden = Bitboard::EMPTY;
    for square in position.by_color(attacker) {
        if let Some(piece) = position.piece_at(square) {
            forbidden |= attacks::attacks(square, piece, occupied);
        }
    }
    let mut reached = bare_king;
    loop {
        let mut next = reached;
        for square in reached {
            next |= attacks::king_attacks(square) & !forbidden;
        }
        if next == reached {
            return reached.count() as i32;
        }
        reached = next;
    }
}

fn distance(a: Square, b: Square) -> i32 {
    a.distance(b) as i32
}

// Chooses the move in elementary endings with a separate search, whose only pruning is alpha-beta.
//
// The main search prunes moves with small differences in value, and the mating technique consists of such moves. This
// search examines every move. A bare king has few moves, so a search of eight plies with the evaluation above finds
// every mate.

/// Value of a mate at the root. The number of plies to the mate is subtracted.
const MATE: i32 = 30_000;
/// Depths in plies. They are even, so that a hanging piece is captured before the position is evaluated.
const DEPTHS: [u32; 4] = [2, 4, 6, 8];
/// Number of nodes after which no deeper search starts.
const NODE_LIMIT: u64 = 60_000;

/// The best move against a bare king; `None` if the position is not an elementary ending that the side to move wins.
pub fn best_move(position: &Position) -> Option<Move> {
    let us = position.turn();
    if attacker(position) != Some(us) || value(position).is_none() {
        return None;
    }
    let mut search = MatingSearch { position: position.clone(), nodes: 0 };
    let mut best = None;
    for depth in DEPTHS {
        let found = search.root(depth, best);
        best = found.best;
        if search.nodes > NODE_LIMIT || found.value > MATE - 100 {
            break;
        }
    }
    best
}

/// A search in progress.
struct MatingSearch {
    position: Position,
    nodes: u64,
}

/// The result of a search to one depth.
struct RootResult {
    value: i32,
    best: Option<Move>,
}

impl MatingSearch {
    /// Searches the root to this depth; `first` is searched first.
    fn root(&mut self, depth: u32, first: Option<Move>) -> RootResult {
        let mut moves = self.position.legal_moves();
        moves.sort_by_key(|&m| Some(m) != first);
        let (mut alpha, mut best) = (-MATE, None);
        for m in moves {
            let value = -self.child(m, -MATE, -alpha, depth - 1, 1);
            if value > alpha {
                (alpha, best) = (value, Some(m));
            }
        }
        RootResult { value: alpha, best }
    }

    /// The value for the side to move after `m`.
    fn child(&mut self, m: Move, alpha: i32, beta: i32, depth: u32, ply: usize) -> i32 {
        self.position.do_move(m);
        let value = self.value(alpha, beta, depth, ply);
        self.position.undo_move();
        value
    }

    /// The value for the side to move: mate, draw, or at depth 0 the evaluation of [`technique`].
    fn value(&mut self, mut alpha: i32, beta: i32, depth: u32, ply: usize) -> i32 {
        self.nodes += 1;
        let moves = self.position.legal_moves();
        if moves.is_empty() {
            let is_mate = self.position.in_check();
            return if is_mate { ply as i32 - MATE } else { 0 };
        }
        // A single repetition counts as a draw too, even of a position from the game: it makes no progress.
        if self.position.is_draw(ply) || self.position.is_repetition(usize::MAX) {
            return 0;
        }
        if depth == 0 {
            return value(&self.position).unwrap_or(0);
        }
        for m in moves {
            alpha = alpha.max(-self.child(m, -beta, -alpha, depth - 1, ply + 1));
            if alpha >= beta {
                break;
            }
        }
        alpha
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::CastlingMode;

    fn of(fen: &str) -> Option<i32> {
        value(&Position::from_fen(fen, CastlingMode::Standard).expect("a FEN"))
    }

    #[test]
    fn only_elementary_endings_have_a_value() {
        assert!(of("8/8/8/3k4/8/8/8/KR6 w - - 0 1").is_some_and(|v| v > WON));
        assert!(of("8/8/8/3k4/8/8/8/KR6 b - - 0 1").is_some_and(|v| v < -WON));
        for none in [
            "8/8/8/3k4/8/8/P7/KR6 w - - 0 1",
            "8/8/8/3k4/7n/8/8/KR6 w - - 0 1",
            "8/8/8/3k4/8/8/8/KNN5 w - - 0 1",
            "8/8/8/3k4/8/8/8/KB1B4 w - - 0 1",
            "8/8/8/3k4/8/8/8/K7 w - - 0 1",
        ] {
            assert_eq!(of(none), None, "{none}");
        }
        assert!(of("8/8/8/3k4/8/8/8/KBB5 w - - 0 1").is_some());
    }

    #[test]
    fn value_prefers_corner_of_the_bishops_colour() {
        // c1 is a dark square like a1 and h8; a8 and h1 are light.
        let corner = |king: &str| of(&format!("{king} w - - 0 1")).expect("a value");
        let dark = corner("7k/8/8/8/3K4/8/8/2BN4");
        let light = corner("k7/8/8/8/3K4/8/8/2BN4");
        assert!(dark > light + 4 * STEP, "{dark} {light}");
    }
}

#[cfg(test)]
mod mating_tests {
    use super::*;
    use crate::board::CastlingMode;

    fn of(fen: &str) -> Option<String> {
        let position = Position::from_fen(fen, CastlingMode::Standard).expect("a FEN");
        best_move(&position).map(|m| position.san(m))
    }

    #[test]
    fn best_move_mates_and_avoids_stalemate_and_forks() {
        assert_eq!(of("7k/8/6K1/8/8/8/8/R7 w - - 0 1").as_deref(), Some("Ra8#"));
        let careful = of("7k/8/8/6K1/8/8/8/5Q2 w - - 0 1").expect("a move");
        assert_ne!(careful, "Qf7");
        // Bd5 would allow a fork of bishop and knight.
        let safe = of("B7/2N1k3/8/8/8/8/1K6/8 w - - 3 2").expect("a move");
        assert_ne!(safe, "Bd5");
    }

    #[test]
    fn best_move_is_none_outside_won_elementary_endings() {
        for fen in ["8/8/8/3k4/8/8/8/KR6 b - - 0 1", "8/8/8/3k4/8/8/P7/KR6 w - - 0 1", "8/8/8/3k4/8/8/8/KNN5 w - - 0 1"]
        {
            assert_eq!(of(fen), None, "{fen}");
        }
    }
}
