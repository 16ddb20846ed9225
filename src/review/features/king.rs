//! Attack on a king: pieces that attack the squares next to it, and squares that only the king defends.

use super::{Feature, FeatureKind};
use crate::board::attacks::attacks;
use crate::board::{Bitboard, Color, Move, Position, Role, Square};
use crate::review::motifs::Man;

/// Number of pieces that attack squares next to the king in an attack without checks, and with checks.
const ATTACKERS: [usize; 2] = [3, 2];

/// The pieces around a king.
struct Siege {
    king: Square,
    /// Pieces of the opponent that attack the king or a square next to it.
    attackers: Bitboard,
    /// Squares next to the king that these pieces attack and only the king defends.
    weak: Bitboard,
}

impl Siege {
    fn of(position: &Position, us: Color) -> Self {
        let king = position.king(us);
        let ring = attacks(king, Role::King.of(us), position.occupied());
        let plain = position.by_role(Role::Pawn) | position.by_role(Role::King);
        let pieces = position.by_color(!us) & !plain;
        let reach = |square: Square| {
            let piece = position.piece_at(square);
            piece.map_or(Bitboard::EMPTY, |piece| attacks(square, piece, position.occupied()))
        };
        let attackers: Bitboard =
            pieces.into_iter().filter(|square| (reach(*square) & ring.with(king)).any()).collect();
        let defended = |square: Square| {
            let all = position.attackers_to(square, position.occupied()) & position.by_color(us);
            (all & !Bitboard::from(king)).any()
        };
        let attacked = attackers.into_iter().map(reach).fold(Bitboard::EMPTY, |a, b| a | b);
        let weak = (ring & attacked).into_iter().filter(|square| !defended(*square)).collect();
        Self { king, attackers, weak }
    }
}

/// The attack on the king of `us` at the end of the line played, if it is stronger than at the end of the best line.
/// `men` are the king and the pieces, two at least, that attack the weak squares; `squares` are these squares.
pub(super) fn king_attack(start: &Position, played: &[Move], best: &[Move], us: Color) -> Option<Feature> {
    let [(end, checks), (best_end, best_checks)] = [played, best].map(|line| play(start, line, us));
    let heavy = |role| end.pieces(!us, role).count();
    let strong = heavy(Role::Queen) > 0 || heavy(Role::Rook) > 1;
    let [now, then] = [&end, &best_end].map(|position| Siege::of(position, us));
    let enough = now.attackers.count() >= ATTACKERS[usize::from(checks > 0)];
    let grows =
        now.attackers.count() > then.attackers.count() || now.weak.count() > then.weak.count() || checks > best_checks;
    let hits = |square: &Square| {
        let piece = end.piece_at(*square);
        piece.is_some_and(|piece| (attacks(*square, piece, end.occupied()) & now.weak).any())
    };
    let hitting: Bitboard = now.attackers.into_iter().filter(hits).collect();
    (strong && enough && grows && hitting.more_than_one()).then(|| {
        let man = |square| Some(Man { role: end.role_at(square)?, square });
        let men = std::iter::once(now.king).chain(hitting).filter_map(man).collect();
        Feature { kind: FeatureKind::KingAttack, men, squares: now.weak.into_iter().collect() }
    })
}

/// The end of a line, and the number of checks to the king of `us` in it.
fn play(start: &Position, line: &[Move], us: Color) -> (Position, usize) {
    let mut position = start.recent();
    let mut checks = 0;
    for &m in line {
        position.do_move(m);
        checks += usize::from(position.turn() == us && position.in_check());
    }
    (position, checks)
}
