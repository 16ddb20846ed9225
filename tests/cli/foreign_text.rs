//! Names and contents of files that are printed on a terminal.

use crate::run::{Run, zoothera};

/// A file name that sets the title of a terminal, begins a new line and reverses the order of text.
const NAME: &str = "a\u{1b}]0;x\u{7}\n\u{202e}b";

fn assert_printable(run: &Run, what: &str) {
    let raw = |c: char| (c.is_control() && !matches!(c, '\n' | '\t')) || c == '\u{202e}';
    for text in [&run.out, &run.err] {
        assert!(!text.contains(raw), "{what}: {text:?}");
    }
}

#[cfg(unix)]
#[test]
fn file_names_are_printed_without_control_characters() {
    let folder = tempfile::tempdir().expect("a folder");
    let name = |extension: &str| format!("{}/{NAME}.{extension}", folder.path().display());
    let file = |extension: &str, text: &str| {
        std::fs::write(name(extension), text).expect("the file is written");
        name(extension)
    };
    let position = "fen 4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\nmove e2e4\nscore 50\nply 0\nresult 1\ne\n";
    let (plain, junk) = (file("plain", &position.repeat(3)), "\u{1b}[31m\u{9b}2J\n");
    let (pgn, epd, toml) = (file("pgn", junk), file("epd", junk), file("toml", junk));
    let (net, table) = (file("nnue", junk), file("rtbw", junk));
    for command in [
        &["data", "info", &plain][..],
        &["data", "convert", &plain, &name("bin")],
        &["data", "filter", &plain, &name("filtered.bin")],
        &["data", "shuffle", &plain, &name("shuffled.bin")],
        &["data", "dedupe", &plain, &name("deduped.bin")],
        &["data", "info", &name("missing.bin")],
        &["data", "info", &pgn],
        &["train", &plain, "--out", &name("trained.nnue"), "--config", &toml],
        &["train", &plain, "--out", &name("trained.nnue"), "--init", &net],
        &["train", &plain, "--out", &plain],
        &["review", &pgn],
        &["review", &name("missing.pgn")],
        &["analyse", &pgn, "--nodes", "1"],
        &["analyse", "--hash-file", &net, "--nodes", "1"],
        &["epd", &epd, "--nodes", "1"],
        &["perft", "--suite", &epd],
        &["eval", "--raw", "--file", &epd],
        &["net", "info", &net],
        &["net", "verify", &net],
        &["net", "export", &name("new.nnue")],
        &["tables", "verify", &table],
        &["book", "build", &pgn, "--out", &name("book.bin")],
        &["book", "show", "--book", &net],
        &["bench", "--net", &net],
        &["man", "--to", &net],
        &[NAME],
    ] {
        assert_printable(&zoothera(command), &command.join(" "));
    }
}
