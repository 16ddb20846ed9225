//! Plain answers to beginners' traps.
//!
//! A search of a few hundred nodes with evaluation noise falls into every trap of the club, or answers an early queen
//! with 3...Nh6. People learn these positions. A level therefore finds a plain answer with a probability that grows
//! with its Elo; otherwise it searches, and may fall into the trap.
// CITE: the traps are common knowledge; the lines and the choice of answers are our own.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::{Level, mix};
use crate::board::{Move, Position};

/// How hard an answer is to find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Grade {
    /// A threat of mate or of a pawn with check, which most beginners see.
    Plain,
    /// A known answer.
    Known,
    /// A trap that catches club players.
    Deep,
}

/// Plies of theory of a level that sees nearly every trap.
const MOST_PLIES: u32 = 16;
/// Salts of the choices.
const FINDS: u64 = 6;
const CHOICE: u64 = 7;

/// Moves to a position in which a plain answer is needed, and the answers with their weights.
struct Trap {
    line: &'static str,
    answers: &'static [(&'static str, u32)],
    grade: Grade,
}

const fn trap(line: &'static str, answers: &'static [(&'static str, u32)], grade: Grade) -> Trap {
    Trap { line, answers, grade }
}

use Grade::{Deep, Known, Plain};

const TRAPS: [Trap; 33] = [
    // The early queen.
    trap("e4 e5 Qh5", &[("Nc6", 8), ("d6", 1), ("Nf6", 1)], Plain),
    trap("e4 e5 Qh5 Nc6 Bc4", &[("g6", 6), ("Qe7", 2), ("Qf6", 2)], Plain),
    trap("e4 e5 Qh5 Nc6 Bc4 g6 Qf3", &[("Nf6", 8), ("Qf6", 1)], Plain),
    trap("e4 e5 Bc4 Bc5 Qh5", &[("Qe7", 5), ("Qf6", 2)], Plain),
    trap("e4 e5 Bc4 Nc6 Qf3", &[("Nf6", 8), ("Qf6", 1)], Plain),
    trap("e4 e5 Bc4 Bc5 Qf3", &[("Nf6", 5), ("Qf6", 2)], Plain),
    trap("e4 e5 Bc4 d6 Qh5", &[("Qe7", 3), ("Qf6", 1)], Plain),
    trap("e4 e5 Bc4 d6 Qf3", &[("Nf6", 3), ("Qf6", 1)], Plain),
    trap("e4 d5 exd5 Qxd5 Nc3 Qe5+", &[("Be2", 5), ("Qe2", 2)], Plain),
    // The bishop on g4 and the knight that leaves the pin: Legal's mate.
    trap("e4 e5 Nf3 d6 Bc4 Bg4 Nc3 g6 Nxe5", &[("dxe5", 1)], Deep),
    trap("e4 e5 Nf3 d6 Bc4 Bg4 Nc3 h6 Nxe5", &[("dxe5", 1)], Deep),
    trap("e4 e5 Nf3 d6 Bc4 Bg4 Nc3 Nc6 Nxe5", &[("Nxe5", 1)], Deep),
    trap("e4 e5 Nf3 d6 Bc4 Bg4 Nc3 a6 Nxe5", &[("dxe5", 1)], Deep),
    trap("e4 e5 Nf3 d6 Bc4 Bg4 h3 Bh5 Nc3 h6 Nxe5", &[("dxe5", 1)], Deep),
    trap("e4 e5 Nf3 d6 Bc4 Bg4 h3 Bh5 Nc3 a6 Nxe5", &[("dxe5", 1)], Deep),
    trap("e4 e5 Bc4 a6 Qf3", &[("Nf6", 3), ("Qf6", 1)], Plain),
    trap("e4 e5 Nf3 Nc6 Bc4 d6 Nc3 Bg4 h3 Bh5 Nxe5", &[("Nxe5", 1)], Deep),
    // Attacks on f7.
    trap("e4 e5 Nf3 Nc6 Bc4 Nf6 Ng5", &[("d5", 8), ("Bc5", 1)], Known),
    trap("e4 e5 Nf3 Nc6 Bc4 Nf6 Ng5 d5 exd5", &[("Na5", 6), ("Nd4", 1), ("b5", 1)], Known),
    trap("e4 e5 Nf3 f6 Nxe5", &[("Qe7", 1)], Deep),
    // Pawns and pieces that should not be taken.
    trap("e4 e5 Nf3 Nc6 Bc4 Nd4", &[("Nxd4", 6), ("O-O", 2), ("c3", 2)], Deep),
    trap("e4 e5 Nf3 Nc6 Bb5 Nf6 O-O Ng4 h3 h5", &[("d4", 3), ("d3", 3), ("Bxc6", 3), ("c3", 1)], Deep),
    trap("e4 e5 Nf3 Nc6 Bb5 Nf6 d3 Ne7", &[("O-O", 4), ("Nc3", 4), ("c3", 1)], Deep),
    trap("e4 e5 Nf3 Nc6 Bb5 a6 Ba4 d6 d4 b5 Bb3 Nxd4 Nxd4 exd4", &[("c3", 5), ("Bd5", 4)], Deep),
    trap("e4 e5 Nf3 Nf6 Nxe5 Nxe4 Qe2", &[("Qe7", 6), ("d5", 2)], Known),
    trap("e4 c6 d4 d5 Nc3 dxe4 Nxe4 Nd7 Qe2", &[("Ndf6", 5), ("e6", 5)], Deep),
    trap("d4 d5 c4 e6 Nc3 Nf6 Bg5 Nbd7 cxd5 exd5", &[("e3", 6), ("Nf3", 4)], Deep),
    trap("d4 d5 c4 e5 dxe5 d4", &[("Nf3", 8), ("a3", 1)], Known),
    trap("d4 d5 c4 e5 dxe5 d4 e3 Bb4+ Bd2 dxe3", &[("fxe3", 1)], Deep),
    trap("d4 e5 dxe5 Nc6 Nf3 Qe7 Bf4 Qb4+", &[("Bd2", 1)], Known),
    trap("d4 e5 dxe5 Nc6 Nf3 Qe7 Bf4 Qb4+ Bd2 Qxb2", &[("Nc3", 1)], Deep),
    trap("d4 Nf6 c4 e5 dxe5 Ng4 Bf4 Nc6 Nf3 Bb4+ Nbd2 Qe7 a3 Ngxe5", &[("Nxe5", 1)], Deep),
    trap("e4 e5 f4 exf4", &[("Nf3", 7), ("Bc4", 3)], Plain),
];

/// Answers with their weights, and their grade, by position key.
type Answers = HashMap<u64, (Vec<(Move, u32)>, Grade)>;

fn answers() -> &'static Answers {
    static ANSWERS: OnceLock<Answers> = OnceLock::new();
    ANSWERS.get_or_init(|| {
        let known = |trap: &Trap| {
            let position = after(trap.line)?;
            let moves = trap.answers.iter().map(|&(san, weight)| Some((position.parse_san(san).ok()?, weight)));
            Some((position.key(), (moves.collect::<Option<Vec<_>>>()?, trap.grade)))
        };
        TRAPS.iter().filter_map(known).collect()
    })
}

/// The position after moves in SAN.
fn after(line: &str) -> Option<Position> {
    let mut position = Position::startpos();
    for san in line.split(' ') {
        let m = position.parse_san(san).ok()?;
        position.do_move(m);
    }
    Some(position)
}

/// The plain answer of `level` in a position of the list, if it finds one. Depends only on the position and the seed.
pub(super) fn answer(level: Level, position: &Position) -> Option<Move> {
    let (moves, grade) = answers().get(&position.key())?;
    let random = |salt| mix(level.seed.wrapping_add(salt), position.key());
    if random(FINDS) % 100 >= chance(*grade, level.handicap.theory) {
        return None;
    }
    let all: u32 = moves.iter().map(|(_, weight)| weight).sum();
    let mut rest = (random(CHOICE) % u64::from(all)) as u32;
    let chosen = moves.iter().find(|(_, weight)| {
        let is_chosen = rest < *weight;
        rest = rest.saturating_sub(*weight);
        is_chosen
    });
    chosen.map(|&(m, _)| m)
}

/// Whether a level sees through a trap that catches club players; `random` is a uniform number.
pub(super) fn sees_deep(level: Level, random: u64) -> bool {
    // The highest levels use no theory.
    let plies = if level.handicap.theory == 0 { MOST_PLIES } else { level.handicap.theory };
    random % 100 < chance(Deep, plies)
}

/// Probability in percent that a level finds an answer. `plies` is the depth of its theory: 2 at 500 Elo, one more for
/// each 100 Elo.
fn chance(grade: Grade, plies: u32) -> u64 {
    let (first, step) = match grade {
        Plain => (50, 6),
        Known => (25, 6),
        Deep => (10, 6),
    };
    u64::from(first + step * plies.saturating_sub(2)).min(97)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_and_answer_is_legal_and_positions_differ() {
        for trap in &TRAPS {
            let position = after(trap.line).expect(trap.line);
            for (san, _) in trap.answers {
                assert!(position.parse_san(san).is_ok(), "{}: {san}", trap.line);
            }
        }
        assert_eq!(answers().len(), TRAPS.len());
    }

    #[test]
    fn higher_levels_find_more_answers() {
        let share = |elo: i32, line: &str| {
            let position = after(line).expect(line);
            (0..400).filter(|&seed| answer(Level::of(elo, seed), &position).is_some()).count() / 4
        };
        let (queen, legal) = ("e4 e5 Qh5 Nc6 Bc4", "e4 e5 Nf3 d6 Bc4 Bg4 Nc3 g6 Nxe5");
        let shares = [500, 1000, 1500].map(|elo| share(elo, queen));
        assert!(shares.is_sorted() && shares[0] > 40 && shares[1] > 70 && shares[2] > 90, "{shares:?}");
        let shares = [500, 1000, 1500, 2100].map(|elo| share(elo, legal));
        assert!(shares.is_sorted() && shares[0] < 20 && shares[2] > 60 && shares[3] > 80, "{shares:?}");
    }
}
