//! Positions and moves, legal and illegal.

use super::CASTLING;
use crate::common::driver::{Driver, best_move, errors, field};

#[test]
fn invalid_fen_keeps_the_position() {
    let mut engine = Driver::start();
    engine.send("position startpos moves e2e4");
    for fen in [
        "blah",
        "8/8/8/8/8/8/8/8 w - - 0 1",
        "pppppppp/pppppppp/pppppppp/pppppppp/pppppppp/pppppppp/pppppppp/pppppppp w - - 0 1",
        "4k3/4R3/8/8/8/8/4r3/4K3 w - - 0 1",
        "4k3/8/8/8/8/8/4r3/4K3 b - - 0 1",
        "4k3/8/8/8/8/8/8/4K2P w - - 0 1",
        "4k3/8/8/8/8/8/8 w - - 0 1",
        "4k3/8/8/8/8/8/8/4K3 x - - 0 1",
        "9/4k3/8/8/8/8/8/4K3 w - - 0 1",
    ] {
        engine.send(&format!("position fen {fen}"));
        assert_eq!(errors(&engine.ready()).len(), 1, "{fen}");
    }
    engine.send("d");
    let is_kept = engine.ready();
    let is_kept = is_kept.iter().any(|line| line.contains("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq"));
    assert!(is_kept, "the position changed");
    assert!(engine.best("go depth 2").contains(['5', '6']), "not a move of Black");
}

#[test]
fn castling_rights_without_rook_are_dropped() {
    let mut engine = Driver::start();
    engine.send("position fen 2k5/8/3K4/1p6/p7/P7/1B6/8 b KQkq - 0 1");
    assert_eq!(engine.best("go depth 3").len(), 4);
}

/// A king on g1 and a rook on c1 cannot castle, even if a careless FEN has castling rights.
#[test]
fn standard_chess_castles_from_the_usual_squares_only() {
    let mut engine = Driver::start();
    let king_on_g1 = "8/p1r1rk1p/2R1pb2/P4p2/1N4p1/1Pp1P1P1/5P1P/2R3K1 w KQkq - 0 1";
    engine.send(&format!("position fen {king_on_g1}"));
    engine.send("go perft 1");
    let moves = engine.ready();
    assert!(moves.iter().all(|line| !line.starts_with("g1c1")), "{moves:?}");
    engine.send("d");
    let shown = engine.ready();
    assert!(shown.iter().any(|line| line.contains(" w - - 0 1")), "{shown:?}");
}

/// The pawn on d4 is pinned and cannot capture on e3, so the position after Rb8 is a repetition.
#[test]
fn en_passant_right_without_legal_capture_does_not_hide_a_repetition() {
    let mut engine = Driver::start();
    engine.send(
        "position fen r2k4/pp6/8/8/3p4/8/PPP1P3/3R2K1 w - - 0 1 \
         moves e2e4 a8c8 g1h1 c8a8 h1g1 a8b8 g1h1 b8a8",
    );
    let lines = engine.go("go depth 8 searchmoves h1g1");
    let last = &lines[lines.len() - 2];
    let score: i32 = field(last, "cp").and_then(|text| text.parse().ok()).expect("a score");
    assert!(score.abs() <= 2, "{last}");
}

#[test]
fn error_names_illegal_move_and_the_moves_before_it_are_made() {
    let mut engine = Driver::start();
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w";
    let after_e4 = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b";
    let after_e5 = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w";
    let cases = [
        ("e2e4 e2e4 e7e5", "e2e4", after_e4),
        ("e2e4 e7e5 e1e8", "e1e8", after_e5),
        ("z9z9", "z9z9", start),
        ("e2e4 0000", "0000", after_e4),
    ];
    for (moves, named, expected) in cases {
        engine.send(CASTLING);
        engine.send(&format!("position startpos moves {moves}"));
        let lines = engine.ready();
        assert!(matches!(errors(&lines)[..], [line] if line.contains(named)), "{moves}: {lines:?}");
        engine.send("d");
        assert!(engine.ready().iter().any(|line| line.contains(expected)), "{moves}");
    }
    engine.send("position startpos moves e2e4 e2e4");
    let best = engine.best("go depth 3");
    assert!(best.as_bytes()[1] >= b'7', "a move of Black, found {best}");
}

#[test]
fn invalid_fen_leaves_the_position() {
    let mut engine = Driver::start();
    engine.send(CASTLING);
    engine.send("position fen 8/8/8/8 w - - 0 1 moves e2e4");
    assert!(matches!(errors(&engine.ready())[..], [line] if line.contains("the position is unchanged")));
    engine.send("d");
    assert!(engine.ready().iter().any(|line| line.contains("r3k2r/8/8/8/8/8/8/R3K2R w KQkq")));
}

#[test]
fn castling_is_accepted_in_both_notations_and_modes() {
    let mut engine = Driver::start();
    for (chess960, printed) in [("false", "e1g1"), ("true", "e1h1")] {
        engine.send(&format!("setoption name UCI_Chess960 value {chess960}"));
        for written in ["e1g1", "e1h1"] {
            engine.send(&format!("{CASTLING} moves {written}"));
            engine.send("d");
            let lines = engine.ready();
            assert!(errors(&lines).is_empty(), "{lines:?}");
            assert!(lines.iter().any(|line| line.contains("r3k2r/8/8/8/8/8/8/R4RK1 b")), "{written}: {lines:?}");
            engine.send(CASTLING);
            assert_eq!(engine.best(&format!("go depth 1 searchmoves {written}")), printed);
        }
    }
    engine.send("position fen 8/4P2k/8/8/8/8/8/4K3 w - - 0 1 moves e7e8Q");
    assert!(errors(&engine.ready()).is_empty());
}

#[test]
fn engine_accepts_long_games_and_dos_line_ends() {
    let mut engine = Driver::start();
    let shuffle = "g1f3 g8f6 f3g1 f6g8 ".repeat(600);
    engine.send_bytes(format!("position startpos moves {shuffle}\r\ngo depth 2\r\n").as_bytes());
    let lines = engine.until("bestmove");
    assert!(errors(&lines).is_empty() && best_move(&lines).len() == 4);
    // 2401 plies instead of 2400, so that Black is to move.
    engine.send(&format!("position startpos moves {shuffle} g1f3"));
    assert!(engine.best("go depth 2").contains(['5', '6']));
}
