//! Positions and moves, legal and not.

use super::CASTLING;
use crate::uci_driver::{Driver, best_move, errors};

#[test]
fn impossible_positions_change_nothing() {
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
    let kept = engine.ready();
    let kept = kept
        .iter()
        .any(|line| line.contains("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq"));
    assert!(kept, "the position was not kept");
    assert!(
        engine.best("go depth 2").contains(['5', '6']),
        "no move of Black's"
    );
}

#[test]
fn stray_castling_rights_are_survived() {
    let mut engine = Driver::start();
    engine.send("position fen 2k5/8/3K4/1p6/p7/P7/1B6/8 b KQkq - 0 1");
    assert_eq!(engine.best("go depth 3").len(), 4);
}

#[test]
fn an_illegal_move_changes_nothing_and_is_named() {
    let mut engine = Driver::start();
    engine.send(CASTLING);
    for moves in ["e2e4 e2e4", "e2e4 e7e5 e1e8", "z9z9", "e2e4 0000"] {
        engine.send(&format!("position startpos moves {moves}"));
        let lines = engine.ready();
        let named = moves.split(' ').next_back().unwrap_or_default();
        assert!(
            matches!(errors(&lines)[..], [line] if line.contains(named)),
            "{moves}: {lines:?}"
        );
    }
    engine.send("d");
    assert!(
        engine
            .ready()
            .iter()
            .any(|line| line.contains("r3k2r/8/8/8/8/8/8/R3K2R w KQkq"))
    );
}

#[test]
fn castling_in_both_notations_and_both_modes() {
    let mut engine = Driver::start();
    for (chess960, printed) in [("false", "e1g1"), ("true", "e1h1")] {
        engine.send(&format!("setoption name UCI_Chess960 value {chess960}"));
        for written in ["e1g1", "e1h1"] {
            engine.send(&format!("{CASTLING} moves {written}"));
            engine.send("d");
            let lines = engine.ready();
            assert!(errors(&lines).is_empty(), "{lines:?}");
            assert!(
                lines
                    .iter()
                    .any(|line| line.contains("r3k2r/8/8/8/8/8/8/R4RK1 b")),
                "{written}: {lines:?}"
            );
            engine.send(CASTLING);
            assert_eq!(
                engine.best(&format!("go depth 1 searchmoves {written}")),
                printed
            );
        }
    }
    engine.send("position fen 8/4P2k/8/8/8/8/8/4K3 w - - 0 1 moves e7e8Q");
    assert!(errors(&engine.ready()).is_empty());
}

#[test]
fn long_games_and_dos_line_ends() {
    let mut engine = Driver::start();
    let shuffle = "g1f3 g8f6 f3g1 f6g8 ".repeat(600);
    engine.send_bytes(format!("position startpos moves {shuffle}\r\ngo depth 2\r\n").as_bytes());
    let lines = engine.until("bestmove");
    assert!(errors(&lines).is_empty() && best_move(&lines).len() == 4);
    // 2401 plies against 2400: the last one is the black side's.
    engine.send(&format!("position startpos moves {shuffle} g1f3"));
    assert!(engine.best("go depth 2").contains(['5', '6']));
}
