//! Opening knowledge of levels: moves of named lines, and simple developing moves after them.
//!
//! Human players open with moves that they have learnt. A weak search with evaluation noise would answer 1. e4 with
//! 1... a6. A level therefore first chooses among the moves of named openings. A move's probability is proportional to
//! the number of named lines that contain it. The lower the level, the earlier it stops using theory.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::{Level, habits, mix, strength, traps};
use crate::board::{Move, Position, Role};
use crate::notation::positions::{self, Walker};

/// Number of full moves from the start of a game that count as the opening.
const OPENING_MOVES: u32 = 8;
/// Elo below which a level considers mainly developing moves in the opening.
const DEVELOPING_ELO: i32 = 1300;
/// One in this many of the other moves is considered in addition to developing moves.
const ONE_OTHER_IN: u64 = 4;

/// Salts for independent random numbers.
const USE_THEORY: u64 = 3;
const CHOICE: u64 = 4;
const OTHERS: u64 = 5;

/// The moves of named lines by position key, each with the number of lines that contain it.
type Theory = HashMap<u64, Vec<(Move, u32)>>;

/// The moves of all named lines, computed once per process.
fn theory() -> &'static Theory {
    static THEORY: OnceLock<Theory> = OnceLock::new();
    THEORY.get_or_init(|| {
        let table = positions::table();
        let mut walker = Walker::default();
        let mut theory = Theory::new();
        for line in table.lines() {
            if walker.play(positions::moves_of(line)).is_some() {
                count_moves(walker.moves(), &mut theory);
            }
        }
        theory
    })
}

/// Adds each move of a line to `theory`.
fn count_moves(line: &[Move], theory: &mut Theory) {
    let mut position = Position::startpos();
    for &m in line {
        let moves = theory.entry(position.key()).or_default();
        match moves.iter_mut().find(|(known, _)| *known == m) {
            Some((_, lines)) => *lines += 1,
            None => moves.push((m, 1)),
        }
        position.do_move(m);
    }
}

/// Whether a named opening line continues from the position.
pub(super) fn contains(position: &Position) -> bool {
    theory().contains_key(&position.key())
}

/// The theory move that `level` plays, or its answer to a trap; `None` if it uses no theory in this position. Depends
/// only on the position and the seed of the game.
pub fn move_of(level: Level, position: &Position) -> Option<Move> {
    let theory_plies = level.handicap.theory;
    let ply = plies_played(position);
    if theory_plies == 0 || ply >= 2 * OPENING_MOVES {
        return None;
    }
    if let Some(m) = traps::answer(level, position) {
        return Some(m);
    }
    let moves = theory().get(&position.key())?;
    let random = |salt| mix(level.seed.wrapping_add(salt), position.key());
    // The probability of using theory decreases linearly from 1 at the first ply to 0.
    if random(USE_THEORY) % u64::from(theory_plies + 1) < u64::from(ply) {
        return None;
    }
    let is_sound = |(m, _): &&(Move, u32)| !habits::is_bad_theory(position, *m);
    let moves: Vec<&(Move, u32)> = moves.iter().filter(is_sound).collect();
    let lines: u32 = moves.iter().map(|(_, lines)| lines).sum();
    if lines == 0 {
        return None;
    }
    let mut rest = (random(CHOICE) % u64::from(lines)) as u32;
    let chosen = moves.iter().find(|(_, lines)| {
        let is_chosen = rest < *lines;
        rest = rest.saturating_sub(*lines);
        is_chosen
    });
    chosen.map(|(m, _)| *m)
}

/// Whether `level` considers `m`, a legal move. Below [`DEVELOPING_ELO`], a level in the opening considers only
/// captures without loss, developing moves, and one in four other moves. After the opening, and in check, it considers
/// all moves.
pub fn considers(level: Level, position: &Position, m: Move) -> bool {
    let theory_plies = level.handicap.theory;
    if theory_plies == 0
        || theory_plies >= strength::theory_plies(DEVELOPING_ELO)
        || position.fullmoves() > OPENING_MOVES
        || position.in_check()
    {
        return true;
    }
    let key = position.key() ^ u64::from(m.bits());
    develops(position, m) || mix(level.seed.wrapping_add(OTHERS), key).is_multiple_of(ONE_OTHER_IN)
}

/// Whether a move captures without loss, castles, develops a knight or a bishop, or moves a pawn on the files c to f.
fn develops(position: &Position, m: Move) -> bool {
    if position.is_capture(m) {
        return position.see_ge(m, 0);
    }
    let piece = position.moved_piece(m);
    let home = piece.color.fold_wb(shakmaty::Rank::First, shakmaty::Rank::Eighth);
    match piece.role {
        Role::King => position.is_castling(m),
        Role::Knight | Role::Bishop => m.from().rank() == home && m.to().rank() != home,
        Role::Pawn => (2..6).contains(&u32::from(m.from().file())),
        Role::Rook | Role::Queen => false,
    }
}

/// Number of plies played in the game, from the move number.
fn plies_played(position: &Position) -> u32 {
    let moves = position.fullmoves().saturating_sub(1);
    2 * moves + u32::from(position.turn().is_black())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_level_copies_king_walks_and_moves_that_allow_mate() {
        for elo in [800, 1500, 2100] {
            for seed in 0..100 {
                let level = Level::of(elo, seed);
                for (line, bad) in [(["f3", "e5"], "Kf2"), (["f3", "e5"], "g4"), (["e4", "e5"], "Ke2")] {
                    let position = after(&line);
                    let chosen = move_of(level, &position).map(|m| position.san(m));
                    assert_ne!(chosen.as_deref(), Some(bad), "{elo} {seed}");
                }
            }
        }
    }

    /// The position after moves in SAN.
    fn after(moves: &[&str]) -> Position {
        let mut position = Position::startpos();
        for san in moves {
            let m = position.parse_san(san).expect(san);
            position.do_move(m);
        }
        position
    }

    /// In 200 games of a level after `first`: the number of theory replies in `common`, and of positions without one.
    fn replies(elo: i32, first: &str, common: &[&str]) -> (usize, usize) {
        let position = after(&[first]);
        let common: Vec<Move> = common.iter().map(|san| position.parse_san(san).expect(san)).collect();
        let moves = (0..200).map(|seed| move_of(Level::of(elo, seed), &position));
        let moves: Vec<_> = moves.collect();
        let is_common = |m: &&Option<Move>| m.is_some_and(|m| common.contains(&m));
        let none = moves.iter().filter(|m| m.is_none()).count();
        (moves.iter().filter(is_common).count(), none)
    }

    #[test]
    fn levels_answer_first_moves_with_common_replies() {
        let to_e4 = ["e5", "c5", "e6", "c6", "d5", "d6", "g6", "Nf6"];
        let to_d4 = ["d5", "Nf6", "e6", "f5", "d6", "g6", "c6", "c5"];
        for (first, common) in [("e4", to_e4), ("d4", to_d4)] {
            let (common_1500, none_1500) = replies(1500, first, &common);
            assert!(10 * common_1500 >= 9 * (200 - none_1500), "{first}: {common_1500}");
            assert!(none_1500 <= 30, "{first}: {none_1500}");
            let (common_800, _) = replies(800, first, &common);
            assert!(common_800 >= 150, "{first}: {common_800}");
        }
    }

    #[test]
    fn lower_levels_use_theory_less_often() {
        let uses = |elo: i32, moves: &[&str]| {
            let position = after(moves);
            let has_move = |seed: &u64| move_of(Level::of(elo, *seed), &position).is_some();
            (0..400).filter(has_move).count()
        };
        let ruy_lopez = ["e4", "e5", "Nf3", "Nc6", "Bb5", "a6"];
        let counts = [600, 1000, 1500, 2100].map(|elo| uses(elo, &ruy_lopez));
        assert!(counts.is_sorted(), "{counts:?}");
        assert!(counts[0] == 0 && counts[3] > 200, "{counts:?}");
        assert_eq!(uses(2200, &ruy_lopez), 0);
    }

    #[test]
    fn theory_move_is_the_same_for_the_same_seed() {
        let position = after(&["d4"]);
        for seed in 0..20 {
            let level = Level::of(1500, seed);
            assert_eq!(move_of(level, &position), move_of(level, &position));
        }
    }

    #[test]
    fn low_levels_consider_all_developing_moves_and_few_others() {
        let position = after(&["e4", "e5"]);
        let level = Level::of(900, 1);
        let considered = |san: &str| considers(level, &position, position.parse_san(san).expect(san));
        for developing in ["Nf3", "Nc3", "Bc4", "d4", "c3"] {
            assert!(considered(developing), "{developing}");
        }
        let others = ["a3", "a4", "h3", "h4", "b3", "g3", "g4", "Na3", "Nh3", "Qh5", "Ke2", "Qe2"];
        let kept = others.iter().filter(|san| considered(san)).count();
        assert!(kept < others.len() - 2, "{kept}");
        let strong = Level::of(1600, 1);
        let a3 = position.parse_san("a3").expect("a move");
        assert!(considers(strong, &position, a3));
    }
}
