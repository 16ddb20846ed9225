//! Games to review: famous games, and games between levels.

use std::fmt::Write;
use std::ops::Range;

use zoothera::board::Position;
use zoothera::level::Level;
use zoothera::nnue::Network;
use zoothera::search::{Limits, STACK_BYTES, Solo};

/// Famous games: Morphy's at the opera, Anderssen's "immortal" and "evergreen", Réti's mate of Tartakower, Légal's
/// mate.
const GIVEN: [&str; 5] = [
    "1. e4 e5 2. Nf3 d6 3. d4 Bg4 4. dxe5 Bxf3 5. Qxf3 dxe5 6. Bc4 Nf6 7. Qb3 Qe7 8. Nc3 c6 9. Bg5 b5 10. Nxb5 cxb5 \
     11. Bxb5+ Nbd7 12. O-O-O Rd8 13. Rxd7 Rxd7 14. Rd1 Qe6 15. Bxd7+ Nxd7 16. Qb8+ Nxb8 17. Rd8# 1-0",
    "1. e4 e5 2. f4 exf4 3. Bc4 Qh4+ 4. Kf1 b5 5. Bxb5 Nf6 6. Nf3 Qh6 7. d3 Nh5 8. Nh4 Qg5 9. Nf5 c6 10. g4 Nf6 \
     11. Rg1 cxb5 12. h4 Qg6 13. h5 Qg5 14. Qf3 Ng8 15. Bxf4 Qf6 16. Nc3 Bc5 17. Nd5 Qxb2 18. Bd6 Bxg1 19. e5 Qxa1+ \
     20. Ke2 Na6 21. Nxg7+ Kd8 22. Qf6+ Nxf6 23. Be7# 1-0",
    "1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. b4 Bxb4 5. c3 Ba5 6. d4 exd4 7. O-O d3 8. Qb3 Qf6 9. e5 Qg6 10. Re1 Nge7 \
     11. Ba3 b5 12. Qxb5 Rb8 13. Qa4 Bb6 14. Nbd2 Bb7 15. Ne4 Qf5 16. Bxd3 Qh5 17. Nf6+ gxf6 18. exf6 Rg8 19. Rad1 \
     Qxf3 20. Rxe7+ Nxe7 21. Qxd7+ Kxd7 22. Bf5+ Ke8 23. Bd7+ Kf8 24. Bxe7# 1-0",
    "1. e4 c6 2. d4 d5 3. Nc3 dxe4 4. Nxe4 Nf6 5. Qd3 e5 6. dxe5 Qa5+ 7. Bd2 Qxe5 8. O-O-O Nxe4 9. Qd8+ Kxd8 \
     10. Bg5+ Kc7 11. Bd8# 1-0",
    "1. e4 e5 2. Nf3 d6 3. Bc4 Bg4 4. Nc3 h6 5. Nxe5 Bxd1 6. Bxf7+ Ke7 7. Nd5# 1-0",
];
/// Levels of the players.
const LEVELS: [i32; 6] = [700, 1000, 1300, 1600, 1900, 2200];
/// Nodes per move of a level, and maximum number of plies of a game.
const NODES: u64 = 400;
const LONGEST: usize = 120;

/// Games as one PGN: those of these numbers, from 0. The famous ones come first.
pub fn pgn(numbers: Range<usize>) -> String {
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
    let play = move || {
        let mut text = String::new();
        for number in numbers {
            let _ = match number.checked_sub(GIVEN.len()) {
                None => writeln!(text, "[Event \"given {number}\"]\n\n{}\n", GIVEN[number]),
                Some(seed) => writeln!(text, "[Event \"levels {seed}\"]\n\n{}\n", self_play(seed)),
            };
        }
        text
    };
    let thread = thread.spawn(play).expect("a thread");
    thread.join().expect("the games are played")
}

/// The moves of a game between two levels.
fn self_play(seed: usize) -> String {
    let mut players = [seed, seed / 2 + 3].map(|index| {
        let mut player = Solo::new(Network::embedded(), 1);
        let elo = LEVELS[index % LEVELS.len()];
        player.set_level(Some(Level::of(elo, (7 * seed + index) as u64)));
        player
    });
    let limits = Limits { nodes: Some(NODES), ..Limits::default() };
    let mut position = Position::startpos();
    let mut text = String::new();
    for ply in 0..LONGEST {
        if position.is_draw(0) {
            break;
        }
        let Some(found) = players[ply % 2].search(&position, &limits) else {
            break;
        };
        if ply % 2 == 0 {
            let _ = write!(text, "{}. ", ply / 2 + 1);
        }
        let _ = write!(text, "{} ", position.san(found.m));
        position.do_move(found.m);
    }
    text + "*"
}
