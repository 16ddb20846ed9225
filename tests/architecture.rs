//! The house has a direction: a room may use the rooms below it, never those above. And its maps are true: that of
//! docs/architecture.md, those of the rooms, and the files that comments and documents cite.
//!
//! The tests read the source text, because the compiler does not forbid cycles between modules.

use std::fs;
use std::path::{Path, PathBuf};

/// Each room with the rooms that it may use. A room may always use itself.
const ROOMS: &[(&str, &[&str])] = &[
    ("util", &[]),
    ("board", &["util"]),
    ("nnue", &["util", "board"]),
    ("notation", &["util", "board"]),
    ("level", &["util", "board", "notation"]),
    ("search", &["util", "board", "nnue", "level"]),
    ("game", &["util", "board", "nnue", "search"]),
    ("data", &["util", "board", "nnue", "search", "game"]),
    ("train", &["util", "board", "nnue", "data"]),
    (
        "tools",
        &["util", "board", "notation", "nnue", "level", "search"],
    ),
    ("book", &["util", "board", "notation"]),
    // Of the trainer its tests take the net of material, which does not change with the default net.
    (
        "review",
        &[
            "util", "board", "notation", "nnue", "search", "tools", "train",
        ],
    ),
    (
        "tune",
        &["util", "board", "nnue", "search", "game", "tools"],
    ),
    (
        "uci",
        &[
            "util", "board", "nnue", "level", "search", "data", "tools", "book",
        ],
    ),
    (
        "matches",
        &["util", "board", "nnue", "search", "game", "tools", "uci"],
    ),
    (
        "cli",
        &[
            "util", "board", "notation", "nnue", "level", "search", "data", "tools", "book",
            "review", "train", "tune", "uci", "matches",
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
    let src = repository("src");
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

/// A file or folder of the repository.
fn repository(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The words in backticks of a text.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .flat_map(|line| line.split('`').skip(1).step_by(2))
}

/// The section of docs/architecture.md that is the map of the modules.
fn map() -> String {
    let chapter = text(&repository("docs/architecture.md"));
    let (_, from) = chapter.split_once("## Modules\n").expect("a map");
    from.split("\n## ").next().unwrap_or_default().to_owned()
}

#[test]
fn the_map_has_every_room_in_its_order() {
    let map = map();
    let rows = map.lines().filter_map(|line| line.strip_prefix("| `src/"));
    let rows: Vec<&str> = rows.filter_map(|row| row.split('`').next()).collect();
    let rooms: Vec<String> = ROOMS
        .iter()
        .map(|(room, _)| {
            let folder = repository("src").join(room);
            let has_face = folder.with_extension("rs").exists();
            format!("{room}{}", if has_face { ".rs" } else { "" })
        })
        .collect();
    assert_eq!(
        rows, rooms,
        "docs/architecture.md and tests/architecture.rs disagree"
    );
    for entry in fs::read_dir(repository("src")).expect("src is readable") {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let known =
            ROOMS.iter().any(|(room, _)| *room == name) || ["lib", "main"].contains(&&*name);
        assert!(known, "src/{name} is not on the map");
    }
}

#[test]
fn what_the_map_names_exists_and_no_folder_is_missing() {
    let map = map();
    let named: Vec<&str> = quoted(&map).collect();
    for name in &named {
        assert!(repository(name).exists(), "the map names {name}");
    }
    for folder in ["benches", "docs", "examples", "nets", "tests"] {
        let named = named
            .iter()
            .any(|name| name.trim_end_matches('/') == folder);
        assert_eq!(repository(folder).is_dir(), named, "{folder}/ and the map");
    }
}

/// The modules that a `mod.rs` declares, but for its tests.
fn modules(text: &str) -> Vec<&str> {
    let declared = text.lines().filter_map(|line| {
        let (before, name) = line.strip_suffix(';')?.rsplit_once("mod ")?;
        (before.is_empty() || before.starts_with("pub")).then_some(name)
    });
    declared.filter(|name| *name != "tests").collect()
}

#[test]
fn a_room_with_a_map_names_all_its_files() {
    let files = rust_files(&repository("src"));
    let mut maps = 0;
    for path in files.iter().filter(|path| path.ends_with("mod.rs")) {
        let text = text(path);
        let map: String = text
            .lines()
            .filter(|line| line.starts_with("//!"))
            .map(|line| format!("{line}\n"))
            .collect();
        if !map.contains("//! * ") {
            continue;
        }
        maps += 1;
        let named: Vec<&str> = quoted(&map)
            .map(|name| name.trim_matches(['[', ']']))
            .collect();
        for module in modules(&text) {
            let is_named = named
                .iter()
                .any(|name| name.split("::").next() == Some(module));
            assert!(is_named, "the map of {} lacks `{module}`", path.display());
        }
    }
    assert!(maps > 2, "only {maps} maps");
}

/// The words of a comment that look like files of this repository: sources and documents, and whatever is said to lie
/// in one of its folders.
fn files_cited(comment: &str) -> Vec<&str> {
    const FOLDERS: [&str; 6] = ["src/", "tests/", "benches/", "examples/", "nets/", ".ci/"];
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_./-".contains(c);
    comment
        .split(|c: char| !is_part(c))
        .map(|word| word.trim_end_matches(['.', '/']))
        .filter(|word| {
            let is_source =
                *word != "mod.rs" && [".rs", ".md"].iter().any(|end| word.ends_with(end));
            is_source || FOLDERS.iter().any(|folder| word.starts_with(folder))
        })
        .collect()
}

#[test]
fn comments_cite_files_that_exist() {
    let mut missing = Vec::new();
    for folder in ["src", "tests", "benches", "examples"] {
        for file in rust_files(&repository(folder)) {
            let beside = file.parent().expect("a folder").to_path_buf();
            let text = text(&file);
            let comments = text
                .lines()
                .filter_map(|line| line.trim_start().strip_prefix("//"));
            for cited in comments
                .filter(|comment| !comment.contains("CITE:"))
                .flat_map(files_cited)
            {
                let places = [
                    repository(cited),
                    repository("src").join(cited),
                    beside.join(cited),
                ];
                if !places.iter().any(|place| place.exists()) {
                    missing.push(format!("{}: {cited}", file.display()));
                }
            }
        }
    }
    assert!(missing.is_empty(), "no such files:\n{}", missing.join("\n"));
}

#[test]
fn no_line_of_source_is_longer_than_120_characters() {
    let folders = ["src", "tests", "benches", "examples", "build.rs"];
    let files = folders.map(|folder| rust_files(&repository(folder)));
    let mut long = Vec::new();
    for file in files.concat() {
        let text = text(&file);
        let lines = text.lines().zip(1..);
        for (_, number) in lines.filter(|(line, _)| line.chars().count() > 120) {
            long.push(format!("{}:{number}", file.display()));
        }
    }
    assert!(long.is_empty(), "too long:\n{}", long.join("\n"));
}

#[test]
fn documents_cite_files_that_exist() {
    let mut documents = ["README.md", "CONTRIBUTING.md", "nets/PROVENANCE.md"]
        .map(repository)
        .to_vec();
    let chapters = fs::read_dir(repository("docs")).expect("docs/ is readable");
    documents.extend(chapters.map(|entry| entry.expect("an entry").path()));
    documents.retain(|path| path.extension().is_some_and(|e| e == "md"));
    assert!(documents.len() > 12, "only {} documents", documents.len());
    // A table may give the folder once, and file names in its rows.
    let mut sources = rust_files(&repository("src"));
    sources.extend(documents.iter().cloned());
    for document in documents {
        let text = text(&document);
        let cited = text.lines().flat_map(quoted).flat_map(files_cited);
        for cited in cited {
            let is_source =
                !cited.contains('/') && sources.iter().any(|file| file.ends_with(cited));
            assert!(
                is_source || repository(cited).exists(),
                "{} cites {cited}",
                document.display()
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
    assert_eq!(modules("pub(crate) mod a;\nmod b;\nmod tests;"), ["a", "b"]);
    assert_eq!(
        files_cited(" see `src/a.rs`, b.md, and nets/c; not a.bin or 1/2."),
        ["src/a.rs", "b.md", "nets/c"]
    );
}
