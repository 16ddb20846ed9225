//! Tablebases over UCI: which are in use, and what they make of a search.

mod shared;
mod uci_driver;

use uci_driver::{Driver, errors};

#[test]
fn one_bad_directory_costs_only_itself() {
    let Some(tables) = shared::shared("syzygy") else {
        return;
    };
    let mut engine = Driver::start();
    let path = std::env::join_paths(["/no/such/directory".into(), tables.clone()]).expect("a list");
    engine.send(&format!(
        "setoption name SyzygyPath value {}",
        path.display()
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
