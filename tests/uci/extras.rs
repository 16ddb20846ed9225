//! Commands beyond UCI.

use std::path::PathBuf;
use std::time::Duration;

use crate::common::driver::Driver;

#[test]
fn commands_beyond_uci_print_their_results() {
    let mut engine = Driver::start();
    for (command, expected) in [
        ("d", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq"),
        ("eval", "NNUE evaluation"),
        ("help", "setoption"),
    ] {
        engine.send(command);
        let lines = engine.ready();
        assert!(lines.iter().any(|line| line.contains(expected)), "{command}: {lines:?}");
    }
    // `isready` is answered during a perft.
    for (command, count) in [("go perft 3", 8902), ("perft 2", 400)] {
        engine.send(command);
        let lines = engine.until("Nodes");
        assert_eq!(lines.last(), Some(&format!("Nodes searched: {count}")), "{command}");
    }
    let exported = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("export net.nnue");
    let name = exported.display();
    engine.send(&format!("export_net {name}\nsetoption name EvalFile value {name}"));
    let answer = engine.ready();
    assert!(answer.iter().any(|line| line.contains("network saved to")), "{answer:?}");
    assert!(answer.iter().any(|line| {
        line.starts_with("info string EvalFile: export net.nnue, Half")
            && line.rsplit_once(" sha256 ").is_some_and(|(_, hash)| hash.len() == 64)
    }));
    engine.send("export_net no/such/folder/x.nnue");
    assert!(engine.ready()[0].contains("no/such/folder/x.nnue"));
    engine.send("position startpos moves e2e4\nflip\nd");
    assert!(engine.ready().iter().any(|line| line.contains("rnbqkbnr/pppp1ppp/8/4p3/8/8/PPPPPPPP/RNBQKBNR w KQkq")));
    engine.send("go perft 9");
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(engine.ready().last().map(String::as_str), Some("readyok"));
    engine.send("stop");
    assert!(engine.ready().iter().all(|line| !line.starts_with("bestmove")));
    assert_eq!(engine.best("go depth 1").len(), 4);
}
