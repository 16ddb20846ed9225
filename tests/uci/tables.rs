//! Tablebases over UCI: which are in use, and what they make of a search.

use std::time::Duration;

use crate::uci_driver::engine::list_separator;
use crate::uci_driver::{Driver, errors, field};
use zoothera::board::{CastlingMode, Position};

#[test]
fn one_bad_directory_costs_only_itself() {
    let Some(tables) = crate::shared::shared("syzygy") else {
        return;
    };
    let mut engine = Driver::start();
    engine.send(&format!(
        "setoption name SyzygyPath value /no/such/directory{}{}",
        list_separator(),
        tables.display()
    ));
    let lines = engine.ready();
    let [line] = errors(&lines)[..] else {
        panic!("one error was expected: {lines:?}");
    };
    for part in [
        "'/no/such/directory'",
        &format!("'{}'", tables.display()),
        "up to 4 men",
    ] {
        assert!(line.contains(part), "no {part} in: {line}");
    }
    engine.send("position fen 8/8/8/3k4/8/8/8/KBN5 w - - 0 1");
    let lines = engine.go("go depth 6");
    assert!(
        lines.iter().any(|line| line.contains(" score cp 199")),
        "{lines:?}"
    );

    engine.send("setoption name SyzygyPath value /no/such/directory");
    assert!(errors(&engine.ready())[0].contains("the tables in use stay"));
    assert!(
        engine
            .go("go depth 6")
            .iter()
            .any(|line| line.contains(" score cp 199"))
    );
}

/// Queen against rook: won, and no search sees how.
const QUEEN_AGAINST_ROOK: &str = "8/8/8/4k3/8/8/1r6/3QK3 w - - 0 1";
/// A pawn more than the tables know: the search reaches them by captures.
const BEYOND_THE_TABLES: &str = "8/8/8/4k3/4p3/8/1r6/3QK2R w - - 0 1";

/// An engine with the shared tables, of up to four men; `None` without them.
fn with_tables() -> Option<Driver> {
    let tables = crate::shared::shared("syzygy")?;
    let mut engine = Driver::start();
    engine.send(&format!(
        "setoption name SyzygyPath value {}",
        tables.display()
    ));
    assert!(errors(&engine.ready()).is_empty());
    Some(engine)
}

#[test]
fn several_lines_of_a_tablebase_win_do_not_stall() {
    let Some(mut engine) = with_tables() else {
        return;
    };
    engine.send("setoption name MultiPV value 3");
    for (fen, depth) in [(QUEEN_AGAINST_ROOK, "11"), (BEYOND_THE_TABLES, "14")] {
        engine.send(&format!("ucinewgame\nposition fen {fen}"));
        // The limit of nodes is what would end a search that does not come to its depth.
        let lines = engine.go(&format!("go depth {depth} nodes 3000000"));
        let last = lines
            .iter()
            .rfind(|line| line.contains(" score "))
            .expect("a line");
        assert_eq!(
            field(last, "depth").as_deref(),
            Some(depth),
            "{fen}: {last}"
        );
    }
    engine.send("position fen 8/8/8/4k3/8/8/1r6/3QK3 w - - 0 1");
    engine.send("go infinite");
    engine.listen(Duration::from_millis(300));
    engine.send("stop");
    let lines = engine.until("bestmove");
    assert!(lines[lines.len() - 2].contains(" score "), "{lines:?}");
}

#[test]
fn a_tablebase_win_is_shown_to_its_mate() {
    let Some(mut engine) = with_tables() else {
        return;
    };
    for fen in [
        QUEEN_AGAINST_ROOK,
        "8/8/8/3k4/8/8/8/KBN5 w - - 0 1",
        "8/8/8/8/8/4k3/4p3/4K2R b - - 0 1",
    ] {
        engine.send(&format!("ucinewgame\nposition fen {fen}"));
        let lines = engine.go("go depth 9");
        let last = lines
            .iter()
            .rfind(|line| line.contains(" score "))
            .expect("a line");
        if !last.contains(" score cp 199") {
            continue; // A mate, or no win.
        }
        let mut game = Position::from_fen(fen, CastlingMode::Standard).expect("a position");
        for text in last.split(" pv ").nth(1).expect("a variation").split(' ') {
            let m = game.parse_uci(text).expect("a legal move");
            game.do_move(m);
        }
        assert!(
            game.in_check() && game.legal_moves().is_empty(),
            "no mate: {last}"
        );
    }
}
