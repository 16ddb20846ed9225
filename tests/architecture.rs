//! Checks of the source layout: modules depend only on modules of lower layers, the module maps in docs/architecture.md
//! and in the `mod.rs` files are complete, and the files that comments and documents cite exist.
//!
//! The tests read the source text, because the compiler allows cycles between modules.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Each module with the other modules that it may use.
const MODULES: &[(&str, &[&str])] = &[
    ("util", &[]),
    ("board", &["util"]),
    ("nnue", &["util", "board"]),
    ("notation", &["util", "board"]),
    ("gpu", &["util", "nnue"]),
    ("data", &["util", "board", "notation", "nnue", "gpu"]),
    ("level", &["util", "board", "notation"]),
    ("search", &["util", "board", "nnue", "level"]),
    ("game", &["util", "board", "nnue", "search"]),
    ("datagen", &["util", "board", "nnue", "gpu", "data", "search", "game"]),
    ("train", &["util", "board", "nnue", "gpu", "data"]),
    ("tools", &["util", "board", "notation", "nnue", "level", "search", "game", "train"]),
    ("book", &["util", "board", "notation", "tools"]),
    // Only its tests use `train`, for the material net, which does not change with the default net.
    ("review", &["util", "board", "notation", "nnue", "search", "game", "tools", "train"]),
    ("tune", &["util", "board", "nnue", "search", "game", "tools"]),
    ("uci", &["util", "board", "nnue", "level", "search", "tools", "book"]),
    ("matches", &["util", "board", "nnue", "search", "game", "tools", "uci"]),
    ("distill", &["util", "board", "nnue", "gpu", "game", "data", "datagen", "train", "tools", "matches"]),
    (
        "cli",
        &[
            "util", "board", "notation", "nnue", "gpu", "level", "search", "data", "datagen", "tools", "book",
            "review", "train", "tune", "uci", "matches", "distill",
        ],
    ),
];

/// All Rust files at `path`, which may be a file or a directory; empty if it does not exist.
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

/// The modules that a line of code names: the word after each `crate::`, also inside braces.
fn modules_named(line: &str) -> Vec<&str> {
    let code = line.split("//").next().unwrap_or_default();
    let word = |text: &'_ str| text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
    let mut names = Vec::new();
    for rest in code.split("crate::").skip(1) {
        match rest.strip_prefix('{') {
            Some(group) => names.extend(group.split(',').map(|item| {
                let item = item.trim_start();
                &item[..word(item)]
            })),
            None => names.push(&rest[..word(rest)]),
        }
    }
    names
}

#[test]
fn modules_use_only_modules_of_lower_layers() {
    let src = repository("src");
    let known = |module: &str| MODULES.iter().any(|(name, _)| *name == module);
    let mut offenders = Vec::new();
    let mut files_read = 0;
    for (module, allowed) in MODULES {
        let files = [rust_files(&src.join(module)), rust_files(&src.join(format!("{module}.rs")))];
        for file in files.concat() {
            files_read += 1;
            let text = fs::read_to_string(&file).expect("source files are readable");
            for (number, line) in text.lines().enumerate() {
                for used in modules_named(line) {
                    if known(used) && used != *module && !allowed.contains(&used) {
                        offenders.push(format!("{}:{}: `{module}` may not use `{used}`", file.display(), number + 1));
                    }
                }
            }
        }
    }
    assert!(files_read > 10, "only {files_read} files found under {}", src.display());
    assert!(offenders.is_empty(), "dependencies on a higher layer:\n{}", offenders.join("\n"));
}

/// Modules whose files and folders do not use each other in circles.
const ACYCLIC: &[&str] = &[
    "board", "book", "data", "datagen", "distill", "game", "gpu", "level", "matches", "nnue", "notation", "review",
    "search", "tools", "train", "tune", "uci", "util",
];

/// The path of a file's module below `src`, such as `["nnue", "simd", "update"]`.
fn module_path(file: &Path) -> Vec<String> {
    let path = file.strip_prefix(repository("src")).expect("a file of src").with_extension("");
    let mut words: Vec<String> = path.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    if words.last().is_some_and(|last| last == "mod") {
        words.pop();
    }
    words
}

/// Appends the paths of a tree of imports, such as `a::{b, c::d}`, to `out`; returns the length of the tree.
fn expand(tree: &str, prefix: &[String], out: &mut Vec<Vec<String>>) -> usize {
    let end_of_word = |text: &str| text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
    if tree.starts_with('{') {
        let mut at = 1;
        while at < tree.len() && !tree[at..].starts_with('}') {
            let length = expand(&tree[at..], prefix, out);
            // A comma, a space or a character of another kind.
            at += if length > 0 { length } else { tree[at..].chars().next().map_or(1, char::len_utf8) };
        }
        return at + 1;
    }
    let end = end_of_word(tree);
    if end == 0 {
        return 0;
    }
    let mut path = prefix.to_vec();
    path.push(tree[..end].to_owned());
    match tree[end..].strip_prefix("::") {
        Some(rest) => end + 2 + expand(rest, &path, out),
        None => {
            out.push(path);
            end
        }
    }
}

/// The paths of modules and items that the code of a module names by `super::` and `crate::`, outside its unit tests.
fn paths_named(text: &str, module: &[String]) -> Vec<Vec<String>> {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let code = lines.collect::<Vec<_>>().join("\n");
    let mut paths = Vec::new();
    let starts = code.match_indices("crate::").chain(code.match_indices("super::"));
    for (at, start) in starts.filter(|(at, _)| !code[..*at].ends_with("::")) {
        let (mut from, mut rest) = (module.len(), &code[at..]);
        while let Some(above) = rest.strip_prefix("super::") {
            (from, rest) = (from.saturating_sub(1), above);
        }
        if start == "crate::" {
            (from, rest) = (0, &rest["crate::".len()..]);
        }
        expand(rest, &module[..from], &mut paths);
    }
    paths
}

/// A folder, and the two of its files or folders of which the first uses the second: those in which the paths of a
/// module and of a module or item that it names first differ.
fn edge(from: &[String], to: &[String]) -> Option<(Vec<String>, String, String)> {
    let common = from.iter().zip(to).take_while(|(a, b)| a == b).count();
    Some((from[..common].to_vec(), from.get(common)?.clone(), to.get(common)?.clone()))
}

/// The file or folder with this name in a folder, or else the one whose item the folder's `mod.rs` imports or exports.
fn file_with(folder: &[String], name: String) -> Option<String> {
    let path = folder.iter().fold(repository("src"), |path, word| path.join(word));
    let exists = |name: &str| path.join(name).is_dir() || path.join(name).with_extension("rs").is_file();
    if exists(&name) {
        return Some(name);
    }
    let map = fs::read_to_string(path.join("mod.rs")).ok()?;
    let mut imports = Vec::new();
    map.split("use ").skip(1).for_each(|tree| {
        expand(tree, &[], &mut imports);
    });
    let import = imports.into_iter().find(|import| import.last() == Some(&name))?;
    import.into_iter().next().filter(|first| exists(first))
}

/// The files and folders of a folder that are part of a circle, given its edges.
fn in_circles(edges: &[(String, String)]) -> Vec<&str> {
    let mut left: Vec<&str> = edges.iter().map(|(from, _)| from.as_str()).collect();
    // Removes files that use no remaining file or are used by none, until none is left or the rest contains a circle.
    loop {
        let is_left = |name: &str| left.contains(&name);
        let uses = |name: &str| edges.iter().any(|(from, to)| from == name && is_left(to));
        let is_used = |name: &str| edges.iter().any(|(from, to)| to == name && is_left(from));
        let remaining: Vec<&str> = left.iter().copied().filter(|name| uses(name) && is_used(name)).collect();
        if remaining.len() == left.len() {
            return left;
        }
        left = remaining;
    }
}

/// `mod.rs` files are not part of a circle: they declare what is below them.
#[test]
fn files_and_folders_of_a_module_have_no_circle() {
    for module in ACYCLIC {
        let mut folders: BTreeMap<Vec<String>, Vec<(String, String)>> = BTreeMap::new();
        let files = rust_files(&repository("src").join(module));
        for file in files.into_iter().filter(|file| !file.ends_with("tests.rs")) {
            let from = module_path(&file);
            for (folder, from, to) in paths_named(&text(&file), &from).iter().filter_map(|to| edge(&from, to)) {
                let Some(to) = file_with(&folder, to).filter(|to| *to != from) else { continue };
                folders.entry(folder).or_default().push((from, to));
            }
        }
        let edges: usize = folders.values().map(Vec::len).sum();
        assert!(edges > 5, "only {edges} uses found in src/{module}");
        for (folder, edges) in folders.iter().filter(|(folder, _)| !folder.is_empty()) {
            let circles = in_circles(edges);
            assert!(circles.is_empty(), "circles of files in src/{}: {circles:?}", folder.join("/"));
        }
    }
}

/// The words of a path of modules.
fn path(text: &str) -> Vec<String> {
    text.split("::").map(str::to_owned).collect()
}

#[test]
fn circles_are_found_at_the_level_where_paths_differ() {
    let mut paths = Vec::new();
    expand("a::{self, b::{C, d::E}, f}", &path("top"), &mut paths);
    let expected = ["top::a::self", "top::a::b::C", "top::a::b::d::E", "top::a::f"].map(path);
    assert_eq!(paths, expected);
    let found = edge(&path("nnue::simd::update"), &path("nnue::rows::Rows"));
    assert_eq!(found, Some((path("nnue"), "simd".to_owned(), "rows".to_owned())));
    let edges = [("a", "b"), ("b", "c"), ("c", "b"), ("d", "a")].map(|(from, to)| (from.to_owned(), to.to_owned()));
    assert_eq!(in_circles(&edges[..2]), Vec::<&str>::new());
    assert_eq!(in_circles(&edges), ["b", "c"]);
}

/// Files below `folder` with fewer than 40 lines, with the other files that use them: those in the same folder that
/// name the file's module, and all that name it after its folder. Maps of modules are not counted.
fn small_files(folder: &Path) -> Vec<(PathBuf, usize)> {
    let texts: Vec<(PathBuf, String)> =
        rust_files(folder).into_iter().map(|path| (path.clone(), text(&path))).collect();
    let is_small = |(path, text): &&(PathBuf, String)| {
        text.lines().count() < 40
            && !["mod.rs", "main.rs", "lib.rs", "tests.rs"].iter().any(|name| path.ends_with(name))
    };
    let users = |path: &Path| {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let parent = path.parent().unwrap_or(path);
        let parent_name = parent.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let near = format!("{stem}::");
        let far = [format!("{parent_name}::{stem}"), format!("{parent_name}::{{")];
        let is_user = |(other, text): &&(PathBuf, String)| {
            let names = |word: &String| text.contains(word.as_str());
            other != path
                && if other.starts_with(parent) {
                    names(&near)
                } else {
                    names(&far[0]) || names(&far[1]) && names(&stem)
                }
        };
        texts.iter().filter(is_user).count()
    };
    texts.iter().filter(is_small).map(|(path, _)| (path.clone(), users(path))).collect()
}

#[test]
fn a_small_file_has_several_users() {
    let small = small_files(&repository("src"));
    assert!(!small.is_empty(), "no small files found");
    let single: Vec<_> = small.iter().filter(|(_, users)| *users < 2).map(|(path, _)| path).collect();
    assert!(single.is_empty(), "fewer than 40 lines for one user; join them with it: {single:?}");
}

#[test]
fn paths_are_printed_through_the_filter_for_foreign_text() {
    let filter = repository("src/util/text.rs");
    let mut offenders = Vec::new();
    for file in rust_files(&repository("src")).into_iter().filter(|file| *file != filter) {
        for (number, line) in text(&file).lines().enumerate() {
            if line.contains(".display()") {
                offenders.push(format!("{}:{}", file.display(), number + 1));
            }
        }
    }
    assert!(offenders.is_empty(), "use util::text::Shown instead of Path::display:\n{}", offenders.join("\n"));
}

/// The path of a file or folder in the repository.
fn repository(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The parts of a text in backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| line.split('`').skip(1).step_by(2))
}

/// The module map: the section "Modules" of docs/architecture.md.
fn module_map() -> String {
    let chapter = text(&repository("docs/architecture.md"));
    let (_, from) = chapter.split_once("## Modules\n").expect("a section \"Modules\"");
    from.split("\n## ").next().unwrap_or_default().to_owned()
}

#[test]
fn module_map_lists_every_module_in_order() {
    let map = module_map();
    let rows = map.lines().filter_map(|line| line.strip_prefix("| `src/"));
    let rows: Vec<&str> = rows.filter_map(|row| row.split('`').next()).collect();
    let modules: Vec<String> = MODULES
        .iter()
        .map(|(module, _)| {
            let folder = repository("src").join(module);
            let is_file = folder.with_extension("rs").exists();
            format!("{module}{}", if is_file { ".rs" } else { "" })
        })
        .collect();
    assert_eq!(rows, modules, "docs/architecture.md and tests/architecture.rs disagree");
    for entry in fs::read_dir(repository("src")).expect("src is readable") {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let known = MODULES.iter().any(|(module, _)| *module == name) || ["lib", "main"].contains(&&*name);
        assert!(known, "src/{name} is missing in the module map");
    }
}

#[test]
fn module_map_names_existing_files_and_every_folder() {
    let map = module_map();
    let named: Vec<&str> = quoted(&map).collect();
    for name in &named {
        assert!(repository(name).exists(), "the module map names {name}, which does not exist");
    }
    for folder in ["benches", "docs", "examples", "nets", "tests"] {
        let named = named.iter().any(|name| name.trim_end_matches('/') == folder);
        assert_eq!(repository(folder).is_dir(), named, "{folder}/ must exist if and only if the module map names it");
    }
}

#[test]
fn map_of_the_tests_names_every_program() {
    let chapter = text(&repository("docs/architecture.md"));
    let map = chapter.split("\n## Tests\n").nth(1).and_then(|rest| rest.split("\n## ").next()).expect("a section");
    let named: Vec<&str> = quoted(map).map(|name| name.trim_start_matches("tests/").trim_end_matches('/')).collect();
    for entry in fs::read_dir(repository("tests")).expect("tests/ is readable") {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        assert!(named.contains(&&*name), "the map of tests/ lacks {name}");
    }
}

/// The modules that a `mod.rs` declares, except its tests.
fn submodules(text: &str) -> Vec<&str> {
    let declared = text.lines().filter_map(|line| {
        let (before, name) = line.strip_suffix(';')?.rsplit_once("mod ")?;
        (before.is_empty() || before.starts_with("pub")).then_some(name)
    });
    declared.filter(|name| *name != "tests").collect()
}

#[test]
fn map_in_mod_rs_names_every_submodule() {
    let files = rust_files(&repository("src"));
    let mut maps = 0;
    for path in files.iter().filter(|path| path.ends_with("mod.rs")) {
        let text = text(path);
        let map: String = text.lines().filter(|line| line.starts_with("//!")).map(|line| format!("{line}\n")).collect();
        if !map.contains("//! * ") {
            continue;
        }
        maps += 1;
        let named: Vec<&str> = quoted(&map).map(|name| name.trim_matches(['[', ']'])).collect();
        for module in submodules(&text) {
            let is_named = named.iter().any(|name| name.split("::").next() == Some(module));
            assert!(is_named, "the map in {} lacks `{module}`", path.display());
        }
    }
    assert!(maps > 2, "only {maps} maps found");
}

/// The words of a comment that look like files of this repository: sources, documents, and paths that start with one of
/// its folders.
fn files_cited(comment: &str) -> Vec<&str> {
    const FOLDERS: [&str; 6] = ["src/", "tests/", "benches/", "examples/", "nets/", ".ci/"];
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_./-".contains(c);
    comment
        .split(|c: char| !is_part(c))
        .map(|word| word.trim_end_matches(['.', '/']))
        .filter(|word| {
            let is_source = *word != "mod.rs" && [".rs", ".md"].iter().any(|end| word.ends_with(end));
            is_source || FOLDERS.iter().any(|folder| word.starts_with(folder))
        })
        .collect()
}

#[test]
fn comments_cite_files_that_exist() {
    let mut missing = Vec::new();
    for folder in ["src", "tests", "benches", "examples"] {
        for file in rust_files(&repository(folder)) {
            let folder_of_file = file.parent().expect("a folder").to_path_buf();
            let text = text(&file);
            let comments = text.lines().filter_map(|line| line.trim_start().strip_prefix("//"));
            for cited in comments.filter(|comment| !comment.contains("CITE:")).flat_map(files_cited) {
                let places = [repository(cited), repository("src").join(cited), folder_of_file.join(cited)];
                if !places.iter().any(|place| place.exists()) {
                    missing.push(format!("{}: {cited}", file.display()));
                }
            }
        }
    }
    assert!(missing.is_empty(), "no such files:\n{}", missing.join("\n"));
}

#[test]
fn source_lines_have_at_most_120_characters() {
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
    assert!(long.is_empty(), "longer than 120 characters:\n{}", long.join("\n"));
}

#[test]
fn documents_cite_files_that_exist() {
    let mut documents = ["README.md", "CONTRIBUTING.md", "nets/PROVENANCE.md"].map(repository).to_vec();
    let chapters = fs::read_dir(repository("docs")).expect("docs/ is readable");
    documents.extend(chapters.map(|entry| entry.expect("an entry").path()));
    documents.retain(|path| path.extension().is_some_and(|e| e == "md"));
    assert!(documents.len() > 12, "only {} documents found", documents.len());
    // Tables may name the folder once and list only file names.
    let mut sources = rust_files(&repository("src"));
    sources.extend(documents.iter().cloned());
    for document in documents {
        let text = text(&document);
        let cited = text.lines().flat_map(quoted).flat_map(files_cited);
        for cited in cited {
            let is_source = !cited.contains('/') && sources.iter().any(|file| file.ends_with(cited));
            assert!(is_source || repository(cited).exists(), "{} cites {cited}", document.display());
        }
    }
}

#[test]
fn text_scanners_find_modules_and_cited_files() {
    assert_eq!(modules_named("use crate::board::Position;"), ["board"]);
    assert_eq!(modules_named("    crate::uci::run(); // crate::cli"), ["uci"]);
    assert_eq!(modules_named("use crate::{board::Move, nnue::Network};"), ["board", "nnue"]);
    assert!(modules_named("// crate::uci is above").is_empty());
    let named = paths_named(
        "#[cfg(test)]\nmod tests;\nuse super::{a, b::C};\nx(super::super::d::E);\n// super::f\n",
        &path("m::n::o"),
    );
    assert_eq!(named, ["m::n::a", "m::n::b::C", "m::d::E"].map(path));
    assert_eq!(submodules("pub(crate) mod a;\nmod b;\nmod tests;"), ["a", "b"]);
    assert_eq!(files_cited(" see `src/a.rs`, b.md, and nets/c; not a.bin or 1/2."), ["src/a.rs", "b.md", "nets/c"]);
}
