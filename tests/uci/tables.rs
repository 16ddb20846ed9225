//! Tablebases over UCI: loading, errors, and their effect on a search.

use std::path::{Path, PathBuf};

use crate::common::driver::{Driver, errors, field};
use crate::common::engine::list_separator;
use zoothera::board::{CastlingMode, Position};
use zoothera::search::{CHECKSUM_BYTES, table_checksum};

/// King and pawn: a win according to the three-man tables, which a shallow search does not find.
const PAWN: &str = "8/4k3/8/8/4K3/8/4P3/8 w - - 0 1";
/// The same near the 50-move limit: at low depth the engine's computed distances to mate are too long for it, so that
/// only tables show the win.
const PAWN_NEAR_THE_LIMIT: &str = "8/4k3/8/8/4K3/8/4P3/8 w - - 80 90";
/// One man too many for the three-man tables; the search reaches the tables by a capture.
const PAWN_AND_KNIGHT: &str = "8/4k3/8/8/4K3/4n3/4P3/8 w - - 0 1";
/// Queen against rook: a win that a shallow search does not find.
const QUEEN_AGAINST_ROOK: &str = "8/8/8/4k3/8/8/1r6/3QK3 w - - 0 1";
/// One man too many for the four-man tables.
const BEYOND_FOUR_PIECES: &str = "8/8/8/4k3/4p3/8/1r6/3QK2R w - - 0 1";

/// Folder of the tables of three pieces.
fn three_pieces() -> PathBuf {
    crate::common::shared::data("syzygy")
}

/// Whether the last score of a search is a tablebase win.
fn is_tablebase_win(lines: &[String]) -> bool {
    last_score(lines).contains(" score cp 199")
}

/// The last line that has a score.
fn last_score(lines: &[String]) -> &String {
    let last = lines.iter().rfind(|line| line.contains(" score "));
    last.expect("a line with a score")
}

/// An engine that uses the tables of a folder.
fn with_tables(tables: &Path) -> Driver {
    let mut engine = Driver::start();
    engine.send(&format!("setoption name SyzygyPath value {}", tables.display()));
    assert!(errors(&engine.ready()).is_empty());
    engine
}

#[test]
fn bad_directory_does_not_affect_the_others() {
    let tables = three_pieces();
    let mut engine = Driver::start();
    engine.send(&format!("setoption name SyzygyPath value /no/such/directory{}{}", list_separator(), tables.display()));
    let lines = engine.ready();
    let [line] = errors(&lines)[..] else {
        panic!("expected one error: {lines:?}");
    };
    for part in ["'/no/such/directory'", &format!("'{}'", tables.display()), "up to 3 pieces"] {
        assert!(line.contains(part), "no {part} in: {line}");
    }
    engine.send(&format!("position fen {PAWN_NEAR_THE_LIMIT}"));
    let lines = engine.go("go depth 2");
    assert!(is_tablebase_win(&lines), "{lines:?}");

    engine.send("setoption name SyzygyPath value /no/such/directory");
    assert!(errors(&engine.ready())[0].contains("the tables in use are unchanged"));
    assert!(is_tablebase_win(&engine.go("go depth 2")));
}

/// A copy of the tables of three pieces.
fn copy_of_three_pieces() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for entry in std::fs::read_dir(three_pieces()).expect("a folder") {
        let path = entry.expect("a file").path();
        let name = path.file_name().expect("a name");
        std::fs::copy(&path, folder.path().join(name)).expect("room");
    }
    folder
}

/// Loads tables and returns the messages.
fn load(engine: &mut Driver, path: &str) -> Vec<String> {
    engine.send(&format!("setoption name SyzygyPath value {path}"));
    engine.ready()
}

#[test]
fn bad_table_file_does_not_affect_the_others() {
    let folder = copy_of_three_pieces();
    let bad = folder.path().join("KQvK.rtbw");
    let good = std::fs::read(&bad).expect("a table");
    let page = b"<html>".repeat(good.len());
    let mut flipped = good.clone();
    flipped[200] ^= 4;
    for (bytes, reason) in [
        (&b""[..], "empty or truncated"),
        (&good[..good.len() / 2 + 5], "wrong size for a table"),
        (&page[..good.len()], "wrong first bytes"),
        (&flipped, "damaged (the checksum does not match)"),
    ] {
        std::fs::write(&bad, bytes).expect("room");
        let mut engine = Driver::start();
        let lines = load(&mut engine, &folder.path().display().to_string());
        let [line] = errors(&lines)[..] else {
            panic!("expected one error: {lines:?}");
        };
        assert!(line.contains("KQvK.rtbw' is not used") && line.contains(reason), "{line}");
        engine.send(&format!("position fen {PAWN_NEAR_THE_LIMIT}"));
        assert!(is_tablebase_win(&engine.go("go depth 2")));
    }
    std::fs::remove_file(&bad).expect("a file");
    std::fs::create_dir(&bad).expect("room");
    let path = format!("{}{}/nowhere", folder.path().display(), list_separator());
    let lines = load(&mut Driver::start(), &path);
    let [line] = errors(&lines)[..] else {
        panic!("expected one error: {lines:?}");
    };
    assert!(line.contains("it is a directory") && line.contains("'/nowhere'"), "{line}");
}

/// The damaged table has a matching checksum, so that it can be opened.
#[test]
fn probe_reports_damaged_table_once() {
    let folder = copy_of_three_pieces();
    let bad = folder.path().join("KQvK.rtbw");
    let mut bytes = std::fs::read(&bad).expect("a table");
    let length = bytes.len() - CHECKSUM_BYTES;
    bytes[4..length].fill(0xFF);
    let sum = table_checksum(&bytes[..length]).expect("a checksum");
    bytes[length..].copy_from_slice(&sum);
    std::fs::write(&bad, bytes).expect("room");
    let mut engine = with_tables(folder.path());
    engine.send("position fen 8/8/8/4k3/8/8/8/KQ6 w - - 0 1");
    let named = |lines: &[String]| {
        let is_named = |line: &&String| line.contains("KQvK.rtbw' is damaged");
        lines.iter().filter(is_named).count()
    };
    assert_eq!(named(&engine.go("go depth 6")), 1);
    assert_eq!(named(&engine.go("go depth 6")), 0, "reported twice");
    engine.send(&format!("position fen {PAWN_NEAR_THE_LIMIT}"));
    assert!(is_tablebase_win(&engine.go("go depth 2")));
}

/// Searches three lines to a depth, with a node limit that a stalled search would exceed.
fn check_several_lines(engine: &mut Driver, fen: &str, depth: &str) {
    engine.send("setoption name MultiPV value 3");
    engine.send(&format!("ucinewgame\nposition fen {fen}"));
    let lines = engine.go(&format!("go depth {depth} nodes 3000000"));
    let reached = field(last_score(&lines), "depth");
    assert_eq!(reached.as_deref(), Some(depth), "{fen}: {lines:?}");
}

/// Checks that the line of a tablebase win ends in mate. Returns if the search finds a mate or no win. Makes several
/// attempts, because the time limit of a line can expire on a loaded machine.
fn check_line_to_mate(engine: &mut Driver, fen: &str) {
    const ATTEMPTS: usize = 50;
    let mut last = String::new();
    for _ in 0..ATTEMPTS {
        engine.send(&format!("ucinewgame\nposition fen {fen}"));
        let lines = engine.go("go depth 9");
        if !is_tablebase_win(&lines) {
            return; // A mate, or not a win.
        }
        last.clone_from(last_score(&lines));
        if ends_in_mate(fen, &last) {
            return;
        }
    }
    panic!("no mate: {last}");
}

/// Whether the variation of an `info` line ends in mate.
fn ends_in_mate(fen: &str, line: &str) -> bool {
    let mut game = Position::from_fen(fen, CastlingMode::Standard).expect("a position");
    for text in line.split(" pv ").nth(1).expect("a variation").split(' ') {
        let m = game.parse_uci(text).expect("a legal move");
        game.do_move(m);
    }
    game.in_check() && game.legal_moves().is_empty()
}

#[test]
fn multipv_search_of_a_tablebase_win_does_not_stall() {
    let mut engine = with_tables(&three_pieces());
    for (fen, depth) in [(PAWN, "11"), (PAWN_AND_KNIGHT, "14")] {
        check_several_lines(&mut engine, fen, depth);
    }
    engine.send(&format!("position fen {PAWN}"));
    engine.send("go infinite");
    engine.until("info");
    engine.send("stop");
    let lines = engine.until("bestmove");
    assert!(lines[lines.len() - 2].contains(" score "), "{lines:?}");
}

#[test]
fn line_of_a_tablebase_win_ends_in_mate() {
    let mut engine = with_tables(&three_pieces());
    for fen in [PAWN, "8/8/8/8/4k3/8/4p3/4K3 b - - 0 1"] {
        check_line_to_mate(&mut engine, fen);
    }
}

#[test]
fn line_of_a_four_piece_tablebase_win_ends_in_mate() {
    let Some(tables) = crate::common::shared::shared("syzygy") else {
        return;
    };
    let mut engine = with_tables(&tables);
    for (fen, depth) in [(QUEEN_AGAINST_ROOK, "11"), (BEYOND_FOUR_PIECES, "14")] {
        check_several_lines(&mut engine, fen, depth);
    }
    engine.send("setoption name MultiPV value 1");
    for fen in [QUEEN_AGAINST_ROOK, "8/8/8/3k4/8/8/8/KBN5 w - - 0 1", "8/8/8/8/8/4k3/4p3/4K2R b - - 0 1"] {
        check_line_to_mate(&mut engine, fen);
    }
}

/// Scores of the final lines of `go`, by rank.
fn final_scores(lines: &[String]) -> Vec<String> {
    let mut scores = Vec::new();
    for line in lines.iter().rev() {
        let Some(rank) = field(line, "multipv") else {
            continue;
        };
        let score = field(line, "cp").or_else(|| field(line, "mate").map(|moves| format!("#{moves}")));
        scores.push(score.expect("a score"));
        if rank == "1" {
            break;
        }
    }
    scores.reverse();
    scores
}

/// Rook against king, where four moves lose the rook.
const ROOK_EN_PRISE: &str = "8/8/8/8/8/2k5/1R6/K7 w - - 0 1";

#[test]
fn every_root_move_has_a_line_ranked_by_the_tables() {
    let mut engine = with_tables(&three_pieces());
    engine.send("setoption name MultiPV value 60");
    for (fen, moves, draws) in [(ROOK_EN_PRISE, 16, 4), ("7k/8/8/8/8/8/6K1/5Q2 w - - 70 100", 26, 1)] {
        engine.send(&format!("ucinewgame\nposition fen {fen}"));
        let scores = final_scores(&engine.go("go depth 6"));
        assert_eq!(scores.len(), moves, "{fen}: {scores:?}");
        let is_draw = |score: &String| score == "0";
        assert!(scores[moves - draws..].iter().all(is_draw), "{fen}: {scores:?}");
        assert!(!scores[..moves - draws].iter().any(is_draw), "{fen}: {scores:?}");
    }
    engine.send(&format!("position fen {ROOK_EN_PRISE}"));
    // A win, and a move that loses the rook.
    assert_eq!(final_scores(&engine.go("go depth 6 searchmoves b2b8 b2c2")).len(), 2);
}

#[test]
fn wdl_tables_alone_rank_the_root_moves() {
    let folder = copy_of_three_pieces();
    for entry in std::fs::read_dir(folder.path()).expect("a folder") {
        let path = entry.expect("a file").path();
        if path.extension().is_some_and(|extension| extension == "rtbz") {
            std::fs::remove_file(path).expect("a file");
        }
    }
    let mut engine = with_tables(folder.path());
    engine.send("setoption name MultiPV value 60");
    engine.send(&format!("position fen {ROOK_EN_PRISE}"));
    let scores = final_scores(&engine.go("go depth 6"));
    assert_eq!(scores.len(), 16, "{scores:?}");
    assert!(scores[12..].iter().all(|score| score == "0"), "{scores:?}");
    assert!(scores[..12].iter().all(|score| score.starts_with('#') || score.starts_with("199")), "{scores:?}");
}

#[test]
fn rounded_distance_is_no_win_at_the_limit() {
    let Some(tables) = crate::common::shared::shared("syzygy") else {
        return;
    };
    let mut engine = with_tables(&tables);
    // The table has 46 for 47 plies.
    for (clock, wins) in [(53, true), (54, false)] {
        engine.send(&format!("position fen 8/8/1k6/4B3/4K3/3N4/8/8 w - - {clock} 106"));
        let lines = engine.go("go depth 6");
        let is_win = is_tablebase_win(&lines) || last_score(&lines).contains(" score mate ");
        assert_eq!(is_win, wins, "clock {clock}: {lines:?}");
    }
}
