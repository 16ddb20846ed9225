//! The handshake.

use std::time::Instant;

use super::SHORT;
use crate::common::driver::Driver;

#[test]
fn engine_is_silent_until_uci_and_lists_its_options() {
    let mut engine = Driver::silent();
    assert_eq!(engine.listen(SHORT), [""; 0]);
    engine.send("joho\n\n42\nuciok");
    assert_eq!(engine.listen(SHORT), [""; 0]);
    let start = Instant::now();
    engine.send("uci");
    let lines = engine.until("uciok");
    eprintln!("uciok after {:?}", start.elapsed());
    assert!(lines.iter().all(|line| !line.trim().is_empty()));
    assert!(lines[0].starts_with("id name Zoothera") && lines[1].starts_with("id author "));
    let names = [
        "Hash",
        "Threads",
        "MultiPV",
        "Ponder",
        "Move Overhead",
        "EvalFile",
        "Clear Hash",
        "UCI_Chess960",
        "UCI_ShowWDL",
        "UCI_AnalyseMode",
        "SyzygyPath",
        "SyzygyProbeDepth",
        "SyzygyProbeLimit",
        "Syzygy50MoveRule",
        "nodestime",
        "Debug Log File",
        "UCI_EngineAbout",
    ];
    for name in names {
        let prefix = format!("option name {name} type ");
        assert!(lines.iter().any(|line| line.starts_with(&prefix)), "{name}");
    }
    assert_eq!(engine.ready(), ["readyok"]);
}
