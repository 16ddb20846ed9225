//! The house has a direction: a room may use the rooms below it, never those above.
//!
//! The test reads the source text, because the compiler does not forbid cycles between modules.

use std::fs;
use std::path::{Path, PathBuf};

/// Each room with the rooms that it may use. A room may always use itself.
const ROOMS: &[(&str, &[&str])] = &[
    ("util", &[]),
    ("board", &["util"]),
    ("nnue", &["util", "board"]),
    ("search", &["util", "board", "nnue"]),
    ("data", &["util", "board", "nnue", "search"]),
    ("tools", &["util", "board", "nnue", "search"]),
    ("train", &["util", "board", "nnue", "data"]),
    (
        "tune",
        &["util", "board", "nnue", "search", "data", "tools"],
    ),
    ("uci", &["util", "board", "nnue", "search", "data", "tools"]),
    (
        "cli",
        &[
            "util", "board", "nnue", "search", "data", "tools", "train", "tune", "uci",
        ],
    ),
];

/// Every Rust file at `path`, which is a file or a directory; nothing if it does not exist.
fn rust_files(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_path_buf()];
    }
    let Ok(entries) = fs::read_dir(path) else {
        return Vec::new();
    };
    let mut files: Vec<_> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| path.is_dir() || path.extension().is_some_and(|e| e == "rs"))
        .flat_map(|path| rust_files(&path))
        .collect();
    files.sort();
    files
}

/// The rooms that a line of code names: the word after each `crate::`, also inside braces.
fn rooms_named(line: &str) -> Vec<&str> {
    let code = line.split("//").next().unwrap_or_default();
    let word = |text: &'_ str| {
        text.find(|c: char| !(c.is_alphanumeric() || c == '_'))
            .unwrap_or(text.len())
    };
    let mut rooms = Vec::new();
    for rest in code.split("crate::").skip(1) {
        match rest.strip_prefix('{') {
            Some(group) => rooms.extend(group.split(',').map(|item| {
                let item = item.trim_start();
                &item[..word(item)]
            })),
            None => rooms.push(&rest[..word(rest)]),
        }
    }
    rooms
}

#[test]
fn rooms_use_only_the_rooms_below_them() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let known = |room: &str| ROOMS.iter().any(|(name, _)| *name == room);
    let mut offenders = Vec::new();
    let mut files_read = 0;
    for (room, below) in ROOMS {
        let files = [
            rust_files(&src.join(room)),
            rust_files(&src.join(format!("{room}.rs"))),
        ];
        for file in files.concat() {
            files_read += 1;
            let text = fs::read_to_string(&file).expect("source files are readable");
            for (number, line) in text.lines().enumerate() {
                for used in rooms_named(line) {
                    if known(used) && used != *room && !below.contains(&used) {
                        offenders.push(format!(
                            "{}:{}: `{room}` may not use `{used}`",
                            file.display(),
                            number + 1
                        ));
                    }
                }
            }
        }
    }
    assert!(
        files_read > 10,
        "only {files_read} files found under {}",
        src.display()
    );
    assert!(
        offenders.is_empty(),
        "wrong direction:\n{}",
        offenders.join("\n")
    );
}

#[test]
fn every_room_of_the_source_has_a_place_in_the_order() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for entry in fs::read_dir(&src)
        .expect("src is readable")
        .filter_map(Result::ok)
    {
        if entry.path().is_dir() {
            let name = entry.file_name().to_string_lossy().into_owned();
            assert!(
                ROOMS.iter().any(|(room, _)| *room == name),
                "src/{name} is in no order"
            );
        }
    }
}

#[test]
fn the_reader_of_paths_sees_what_it_should() {
    assert_eq!(rooms_named("use crate::board::Position;"), ["board"]);
    assert_eq!(rooms_named("    crate::uci::run(); // crate::cli"), ["uci"]);
    assert_eq!(
        rooms_named("use crate::{board::Move, nnue::Network};"),
        ["board", "nnue"]
    );
    assert!(rooms_named("// crate::uci is above").is_empty());
}
