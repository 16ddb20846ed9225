//! Handicap of a level for one position: evaluation noise and missed moves.
//!
//! Noise depends on the position and the game, so a position is misjudged the same way whenever it occurs. Missed moves
//! depend on the turn: a move of a piece between two squares is missed everywhere in the search of that turn, so that
//! the chosen move may rely on it. The next turn draws again. People tend to miss long-range moves, knight moves and
//! retreats; they do not miss recaptures and king moves.

use super::{Lacks, Level, mix, technique};
use crate::board::{Color, Move, Position, Role};

/// Minimum number of nodes in technically won positions.
const NODES_FOR_TECHNIQUE: u64 = 1500;
/// Remaining share of the handicap, in eighths, in technically won positions.
const EASE: i32 = 2;
/// Material advantage (9, 5, 3, 3, 1) of a technically won ending.
const WINNING_POINTS: i32 = 5;
/// Material above which the opponent still has counterplay.
const HARMLESS_POINTS: i32 = 3;

/// Salts for independent random numbers.
const NOISE: u64 = 1;
const TURN: u64 = 2;

/// A level at one of its turns.
#[derive(Clone, Copy, Debug)]
pub struct Mind {
    seed: u64,
    lacks: Lacks,
    /// Decides this turn's oversights.
    turn: u64,
}

impl Mind {
    /// The handicap of `level` at the root position `root`.
    pub fn new(level: Level, root: &Position) -> Self {
        Self {
            seed: level.seed,
            lacks: eased(level.lacks, root),
            turn: mix(level.seed.wrapping_add(TURN), root.key()),
        }
    }

    /// Node budget of this turn.
    pub fn nodes(&self) -> u64 {
        self.lacks.nodes
    }

    /// The level's evaluation of a position with the true `value` for the side to move.
    pub fn judge(&self, position: &Position, value: i32) -> i32 {
        if let Some(value) = technique::value(position) {
            return value;
        }
        let chance = mix(self.seed.wrapping_add(NOISE), position.key());
        value + scatter(chance, self.lacks.noise)
    }

    /// Whether the level misses `m`, a legal move. No move is missed in check.
    pub fn overlooks(&self, position: &Position, m: Move) -> bool {
        if self.lacks.oversight == 0 || position.in_check() {
            return false;
        }
        let piece = position.moved_piece(m);
        let obscurity = obscurity(position, m, piece.role);
        let who = m.bits() as u64 | (piece.role as u64) << 16 | (piece.color as u64) << 20;
        let chance = mix(self.turn, who) % 1024 * 8;
        chance < u64::from(self.lacks.oversight * obscurity)
    }
}

/// The lacks where the win is a matter of technique, or the opponent has but the king: people take care there.
fn eased(lacks: Lacks, root: &Position) -> Lacks {
    let us = root.turn();
    if technique::hunter(root) == Some(us) {
        return Lacks {
            nodes: lacks.nodes.max(NODES_FOR_TECHNIQUE),
            noise: 0,
            oversight: 0,
            theory: 0,
        };
    }
    if !is_technical(root, us) {
        return lacks;
    }
    Lacks {
        nodes: lacks.nodes.max(NODES_FOR_TECHNIQUE),
        noise: lacks.noise * EASE / 8,
        oversight: lacks.oversight * EASE as u32 / 8,
        theory: 0,
    }
}

/// Whether `us` has a winning surplus of material, and the opponent a minor piece and pawns at most.
fn is_technical(position: &Position, us: Color) -> bool {
    let theirs = points(position, !us);
    let their_pieces = theirs - position.pieces(!us, Role::Pawn).count() as i32;
    their_pieces <= HARMLESS_POINTS && points(position, us) - theirs >= WINNING_POINTS
}

/// Material in the points that people count.
fn points(position: &Position, color: Color) -> i32 {
    let worth = [
        (Role::Pawn, 1),
        (Role::Knight, 3),
        (Role::Bishop, 3),
        (Role::Rook, 5),
        (Role::Queen, 9),
    ];
    worth
        .map(|(role, points)| points * position.pieces(color, role).count() as i32)
        .iter()
        .sum()
}

/// How easily `m` is overlooked, in eighths of the level's oversight.
fn obscurity(position: &Position, m: Move, role: Role) -> u32 {
    if role == Role::King || takes_back(position, m) {
        return 0;
    }
    let (from, to) = (m.from(), m.to());
    let afar = match role {
        Role::Knight => 6,
        _ => [1, 1, 3, 5, 7, 8, 8, 8][from.distance(to) as usize % 8],
    };
    let climbs = to.rank() as i32 - from.rank() as i32;
    let goes_back = position.turn().fold_wb(climbs, -climbs) < 0;
    afar + 2 * u32::from(goes_back)
}

/// Whether `m` takes on the square where the last move took.
fn takes_back(position: &Position, m: Move) -> bool {
    position.last_captured().is_some() && Some(m.to()) == position.last_move().map(Move::to)
}

/// A normal deviate of `chance` with standard deviation `sigma`: the sum of four uniform ones (Irwin and Hall), at most
/// 3.46 deviations from 0.
fn scatter(chance: u64, sigma: i32) -> i32 {
    const LANE: i64 = 1 << 16;
    // Of a uniform number below 2^16 the variance is 2^32 / 12; of the sum of four, a third of 2^32.
    const DEVIATION: i64 = 37_837;
    let sum: i64 = (0..4)
        .map(|lane| i64::from((chance >> (16 * lane)) as u16))
        .sum();
    ((sum - 2 * (LANE - 1)) * i64::from(sigma) / DEVIATION) as i32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::CastlingMode;

    fn position(fen: &str) -> Position {
        Position::from_fen(fen, CastlingMode::Standard).expect("a FEN")
    }

    fn mind(elo: i32, seed: u64, root: &Position) -> Mind {
        Mind::new(Level::of(elo, seed), root)
    }

    #[test]
    fn the_scatter_is_normal() {
        let values: Vec<f64> = (0..20_000)
            .map(|i| scatter(mix(7, i), 300).into())
            .collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let variance = values.iter().map(|v| v * v).sum::<f64>() / values.len() as f64;
        assert!(mean.abs() < 10.0, "{mean}");
        assert!((variance.sqrt() - 300.0).abs() < 10.0, "{variance}");
        assert_eq!(scatter(u64::MAX, 0), 0);
    }

    #[test]
    fn a_judgement_stays_and_another_game_brings_another() {
        let root = Position::startpos();
        let judged = |seed| mind(800, seed, &root).judge(&root, 50);
        assert_eq!(judged(1), judged(1));
        assert!((2..20).any(|seed| judged(seed) != judged(1)));
        assert_eq!(mind(3200, 1, &root).judge(&root, 50), 50);
    }

    #[test]
    fn what_is_far_is_overlooked_what_is_near_seldom_and_kings_never() {
        let root = position("rn2k3/8/8/8/8/8/7P/QB2K3 w - - 0 1");
        let share = |m: &str| {
            let m = root.parse_uci(m).expect("legal");
            (0..1000)
                .filter(|&seed| mind(500, seed, &root).overlooks(&root, m))
                .count()
        };
        assert!(
            share("a1h8") > 3 * share("a1a2"),
            "{} {}",
            share("a1h8"),
            share("a1a2")
        );
        assert!(share("a1a2") > 0);
        assert_eq!(share("e1d2"), 0);
    }

    #[test]
    fn checks_and_recaptures_are_seen() {
        let check = position("4k3/8/8/8/7b/8/8/Q3K2R w - - 0 1");
        let block = check.parse_uci("e1d1").expect("legal");
        for seed in 0..500 {
            assert!(!mind(500, seed, &check).overlooks(&check, block));
        }
        let mut taken = position("4k3/8/8/8/q7/8/R7/Q3K3 b - - 0 1");
        taken.do_move(taken.parse_uci("a4a2").expect("legal"));
        let (back, other) = (taken.parse_uci("a1a2"), taken.parse_uci("a1h8"));
        let (back, other) = (back.expect("legal"), other.expect("legal"));
        let overlooked = |m| (0..500).any(|seed| mind(500, seed, &taken).overlooks(&taken, m));
        assert!(!overlooked(back) && overlooked(other));
    }

    #[test]
    fn technique_is_played_with_care() {
        let bare = position("8/8/8/3k4/8/8/8/KR6 w - - 0 1");
        let eased = mind(500, 1, &bare).lacks;
        assert_eq!((eased.noise, eased.oversight), (0, 0));
        assert_eq!(eased.nodes, NODES_FOR_TECHNIQUE);
        let technical = position("4k3/pp6/8/8/8/8/PP6/KR6 w - - 0 1");
        let middlegame = Position::startpos();
        let noise = |root: &Position| mind(500, 1, root).lacks.noise;
        assert!(noise(&technical) * 3 < noise(&middlegame));
        // For the side that is lost nothing is technique.
        let lost = position("4k3/pp6/8/8/8/8/PP6/KR6 b - - 0 1");
        assert_eq!(noise(&lost), noise(&middlegame));
    }
}
