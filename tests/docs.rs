//! The manual: README.md, CONTRIBUTING.md and docs/. Links resolve, commands run, and the help texts match the
//! engine's.

mod common;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
#[cfg(unix)]
use std::sync::Mutex;

use common::engine::engine;

/// Maximum size of the README in bytes: it is a front page.
const LARGEST_README: usize = 6 * 1024;
/// Minimum number of lines of a chapter that requires a table of contents.
const SCREEN: usize = 40;
/// If this variable is set, the test of the help writes docs/commands.md instead of comparing it.
const WRITE: &str = "ZOOTHERA_WRITE_DOCS";
/// The line of docs/commands.md after which everything is generated.
const GENERATED: &str = "<!-- The rest is generated: ZOOTHERA_WRITE_DOCS=1 cargo test --test docs help -->\n";

fn repository(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The chapters of the manual.
fn chapters() -> Vec<PathBuf> {
    let entries = fs::read_dir(repository("docs")).expect("docs/ is readable");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut paths: Vec<_> = paths.filter(|path| path.extension().is_some_and(|e| e == "md")).collect();
    paths.sort();
    assert!(paths.len() > 10, "only {} chapters", paths.len());
    paths
}

/// All documents whose links are checked.
fn documents() -> Vec<PathBuf> {
    let names = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "nets/PROVENANCE.md"];
    let mut paths: Vec<_> = names.map(repository).into();
    paths.extend(chapters());
    paths
}

/// The lines of a document outside of code blocks.
fn prose(text: &str) -> Vec<&str> {
    let mut fenced = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            lines.push(line);
        }
    }
    lines
}

/// The anchor of a heading, as GitHub and mdBook generate it.
fn slug(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c }).flat_map(char::to_lowercase).collect()
}

/// The anchors of a document's headings; a repeated anchor gets a number.
fn anchors(text: &str) -> Vec<String> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let headings = prose(text).into_iter().filter_map(|line| line.strip_prefix('#'));
    headings
        .map(|line| {
            let slug = slug(line.trim_start_matches('#'));
            let count = seen.entry(slug.clone()).or_default();
            *count += 1;
            if *count == 1 { slug } else { format!("{slug}-{}", *count - 1) }
        })
        .collect()
}

/// The targets of a document's links and pictures within the repository.
fn targets(text: &str) -> Vec<String> {
    let prose = prose(text).join("\n");
    let mut found = Vec::new();
    for (start, end) in [("](", ')'), ("src=\"", '"'), ("href=\"", '"')] {
        let rests = prose.split(start).skip(1);
        found.extend(rests.filter_map(|rest| rest.split(end).next().map(str::to_owned)));
    }
    found.retain(|target| !target.contains("://") && !target.contains('\n'));
    found
}

#[test]
fn relative_links_and_anchors_exist() {
    let mut broken = Vec::new();
    for document in documents() {
        let text = text(&document);
        let folder = document.parent().expect("a folder");
        for target in targets(&text) {
            let (path, anchor) = target.split_once('#').unwrap_or((&target, ""));
            let file = if path.is_empty() { document.clone() } else { folder.join(path) };
            let is_there = if anchor.is_empty() {
                file.exists()
            } else {
                let read = fs::read_to_string(&file).unwrap_or_default();
                anchors(&read).iter().any(|known| known == anchor)
            };
            if !is_there {
                broken.push(format!("{}: {target}", document.display()));
            }
        }
    }
    assert!(broken.is_empty(), "broken links:\n{}", broken.join("\n"));
}

#[test]
fn link_reader_finds_targets_and_anchors() {
    let text = "# A `b` c's\n[x](d.md#e) <img src=\"f.png\">\n```\n[y](g.md)\n# no\n```\n## A b cs\n[z](https://a.b)\n";
    assert_eq!(targets(text), ["d.md#e", "f.png"]);
    assert_eq!(anchors(text), ["a-b-cs", "a-b-cs-1"]);
}

#[test]
fn readme_fits_on_a_front_page() {
    let size = text(&repository("README.md")).len();
    assert!(size <= LARGEST_README, "README.md has {size} bytes, at most {LARGEST_README} are allowed");
}

#[test]
fn summary_lists_every_chapter() {
    let summary = targets(&text(&repository("docs/SUMMARY.md")));
    for chapter in chapters() {
        let name = chapter.file_name().expect("a name").to_string_lossy().into_owned();
        assert!(name == "SUMMARY.md" || summary.contains(&name), "docs/SUMMARY.md lacks {name}");
    }
}

#[test]
fn long_chapters_have_a_table_of_contents() {
    for chapter in chapters() {
        let text = text(&chapter);
        // The generated part has its own table.
        let text = text.split(GENERATED).next().unwrap_or_default();
        if text.lines().count() <= SCREEN {
            continue;
        }
        let (head, _) = text.split_once("\n## ").expect("sections");
        let listed = targets(head);
        for line in prose(text) {
            let Some(heading) = line.strip_prefix("## ") else {
                continue;
            };
            let anchor = format!("#{}", slug(heading));
            assert!(listed.contains(&anchor), "{}: no link to {anchor} at the top", chapter.display());
        }
    }
}

/// A block of shell commands in a document.
struct Block {
    line: usize,
    commands: String,
    /// Reason why the block is not run.
    excuse: Option<String>,
}

/// The blocks of shell commands of a document. `<!-- not run: REASON -->` on the line before a block excuses it.
fn blocks(text: &str) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    let (mut inside, mut before) = (false, "");
    for (line, number) in text.lines().zip(1..) {
        let trimmed = line.trim();
        if inside && trimmed == "```" {
            inside = false;
        } else if inside {
            let block = found.last_mut().expect("an open block");
            block.commands += line;
            block.commands.push('\n');
        } else if trimmed == "```sh" {
            inside = true;
            let excuse = before.strip_prefix("<!-- not run: ").and_then(|rest| rest.strip_suffix(" -->"));
            found.push(Block { line: number, commands: String::new(), excuse: excuse.map(str::to_owned) });
        }
        before = trimmed;
    }
    found
}

#[test]
fn block_reader_finds_commands_and_excuses() {
    let text = "```sh\na\nb\n```\n<!-- not run: hours -->\n```sh\nc\n```\n```\nd\n```\n```toml\ne\n```\n";
    let found = blocks(text);
    let commands: Vec<_> = found.iter().map(|block| block.commands.as_str()).collect();
    assert_eq!(commands, ["a\nb\n", "c\n"]);
    assert_eq!(found[0].excuse, None);
    assert_eq!(found[1].excuse.as_deref(), Some("hours"));
}

/// The file that the documents presuppose: the games of the reader. It is short, because several blocks review it.
#[cfg(unix)]
const GAMES: &str = "[Event \"Paris\"]\n[Site \"Paris\"]\n[Date \"1750.??.??\"]\n[Round \"?\"]\n\
    [White \"Legall\"]\n[Black \"Saint Brie\"]\n[Result \"1-0\"]\n\n\
    1. e4 e5 2. Nf3 d6 3. Bc4 Bg4 4. Nc3 g6 5. Nxe5 Bxd1 6. Bxf7+ Ke7 7. Nd5# 1-0\n";

/// Runs the shell blocks of a document in order, in one folder, as its readers do. Returns the number of blocks.
#[cfg(unix)]
fn run_blocks(document: &Path) -> usize {
    use std::os::unix::fs::symlink;

    let binary = env!("CARGO_BIN_EXE_zoothera");
    let folder = tempfile::tempdir().expect("a folder");
    let programs = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("games.pgn"), GAMES).expect("a file");
    for place in [folder.path(), programs.path()] {
        symlink(binary, place.join("zoothera")).expect("a link");
    }
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", programs.path().display());
    let mut run = 0;
    for block in blocks(&text(document)).iter().filter(|block| block.excuse.is_none()) {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-eu", "-c", &block.commands]).current_dir(folder.path()).env("PATH", &path);
        let output = shell.stdin(Stdio::null()).output().expect("a shell");
        assert!(
            output.status.success(),
            "{}:{}: {}\n{}{}",
            document.display(),
            block.line,
            output.status,
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        run += 1;
    }
    run
}

/// Runs the documents in parallel, because most commands use one thread or wait for a clock.
#[cfg(unix)]
#[test]
fn shell_blocks_run() {
    let rest = Mutex::new(documents().into_iter());
    let run_documents = || {
        let next = || rest.lock().expect("no thread panics here").next();
        std::iter::from_fn(next).map(|document| run_blocks(&document)).sum::<usize>()
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let run: usize = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(run_documents)).collect();
        workers.into_iter().map(|worker| worker.join().expect("every block succeeds")).sum()
    });
    assert!(run > 15, "only {run} blocks were run");
}

/// Output of `--help` of a command, 100 columns wide.
fn help(command: &[&str]) -> String {
    let mut run = engine();
    run.args(command).arg("--help").env_remove("COLUMNS");
    let output = run.stdin(Stdio::null()).output().expect("the engine runs");
    assert!(output.status.success(), "{command:?} --help");
    let text = String::from_utf8(output.stdout).expect("a text");
    let lines = text.lines().map(str::trim_end).collect::<Vec<_>>();
    lines.join("\n").replace("zoothera.exe", "zoothera") + "\n"
}

/// The commands that a help text lists, except `help` itself and `tune`, which depends on the build.
fn subcommands(help: &str) -> Vec<String> {
    let Some((_, list)) = help.split_once("\nCommands:\n") else {
        return Vec::new();
    };
    let lines = list.lines().take_while(|line| !line.is_empty());
    let names = lines.filter_map(|line| {
        let rest = line.strip_prefix("  ").filter(|rest| !rest.starts_with(' '))?;
        rest.split(' ').next().map(str::to_owned)
    });
    names.filter(|name| name != "help" && name != "tune").collect()
}

/// A section for each command with its help.
fn sections() -> String {
    let mut text = String::new();
    for name in subcommands(&help(&[])) {
        let own = help(&[&name]);
        text += &format!("\n## {name}\n\n```text\n{own}```\n");
        for part in subcommands(&own) {
            text += &format!("\n## {name} {part}\n\n```text\n{}```\n", help(&[&name, &part]));
        }
    }
    text
}

#[test]
fn commands_chapter_has_the_help_of_every_command() {
    let path = repository("docs/commands.md");
    let chapter = text(&path);
    let (by_hand, generated) = chapter.split_once(GENERATED).expect("the line that begins what is generated");
    let sections = sections();
    if std::env::var_os(WRITE).is_some() {
        fs::write(&path, format!("{by_hand}{GENERATED}{sections}")).expect("docs/ is writable");
        return;
    }
    assert!(sections.len() > 10_000, "{sections}");
    let differs = generated.lines().zip(sections.lines()).find(|(a, b)| a != b);
    assert!(
        generated == sections,
        "docs/commands.md is not what --help prints: {differs:?}; write it with: {WRITE}=1 cargo test --test docs help"
    );
    // Every command is also in the table above.
    for heading in prose(&sections).iter().filter_map(|l| l.strip_prefix("## ")) {
        let is_parent = subcommands(&help(&heading.split(' ').collect::<Vec<_>>())).len() > 1;
        let anchor = format!("#{}", slug(heading));
        assert!(is_parent || targets(by_hand).contains(&anchor), "the table of docs/commands.md lacks {heading}");
    }
}

/// The options of the engine's commands in shell blocks: the command's words, and the options after them.
fn engine_calls(commands: &str) -> Vec<(Vec<String>, Vec<String>)> {
    let sfnnv16 = commands.replace("\\\n", " ");
    let lines = sfnnv16.lines().map(|line| line.split(" #").next().unwrap_or_default());
    let calls = lines.filter_map(|line| {
        let line = line.strip_prefix("./").unwrap_or(line);
        let rest = line.strip_prefix("zoothera ")?.split(" | ").next()?;
        let words: Vec<&str> = rest.split_whitespace().collect();
        let command = words
            .iter()
            .take(2)
            .take_while(|w| w.chars().all(|c| c.is_ascii_lowercase() || c == '-') && !w.starts_with('-'));
        let options = words.iter().filter(|word| word.starts_with("--"));
        let owned = |words: Vec<&&str>| words.into_iter().map(|w| (*w).to_owned()).collect();
        Some((owned(command.collect()), owned(options.collect())))
    });
    calls.collect()
}

#[test]
fn blocks_that_are_not_run_use_options_that_exist() {
    let mut checked = 0;
    for document in documents() {
        for block in blocks(&text(&document)) {
            for (command, options) in engine_calls(&block.commands) {
                let words: Vec<&str> = command.iter().map(String::as_str).collect();
                if words.first() == Some(&"tune") || options.is_empty() {
                    continue;
                }
                // The second word is a subcommand if the first command has subcommands.
                let parent = help(&words[..1]);
                let has = words.len() > 1 && subcommands(&parent).iter().any(|s| s == words[1]);
                let known = if has { help(&words) } else { parent };
                for option in options {
                    let listed = known.split([' ', ',', '\n', '[']).any(|word| word == option);
                    assert!(
                        listed,
                        "{}:{}: {} has no option {option}",
                        document.display(),
                        block.line,
                        words.join(" ")
                    );
                    checked += 1;
                }
            }
        }
    }
    assert!(checked > 30, "only {checked} options were checked");
}
