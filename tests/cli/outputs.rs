//! Output files: the files that they may overwrite, and their state after an interrupt, a kill, or a full disk.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::schema::Schema;
use crate::run::{Run, zoothera};

/// Temporary folder of a test.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder for the test"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn name(&self, name: &str) -> String {
        self.path(name).to_str().expect("a plain name").to_owned()
    }

    fn file(&self, name: &str, text: &str) -> String {
        fs::write(self.path(name), text).expect("the file is written");
        self.name(name)
    }

    /// Returns the names and contents of all files.
    fn contents(&self) -> Vec<(String, Vec<u8>)> {
        let entries = fs::read_dir(self.0.path()).expect("the folder");
        let mut all: Vec<_> = entries
            .map(|entry| {
                let path = entry.expect("an entry").path();
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                (name.into_owned(), fs::read(&path).unwrap_or_default())
            })
            .collect();
        all.sort();
        all
    }
}

const GAMES: &str = "[Event \"first\"]\n[Result \"1-0\"]\n\n1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7# 1-0\n\n";
const POSITIONS: &str = "fen 4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\nmove e2e4\nscore 50\nply 0\nresult 1\ne\n";

/// Returns other names of a file: a relative path and links.
fn aliases(folder: &Folder, name: &str) -> Vec<String> {
    let file = folder.name(name);
    let extension = Path::new(name).extension().unwrap_or_default();
    let extension = extension.to_string_lossy();
    let mut names = vec![file.clone(), folder.name(&format!("./{name}"))];
    fs::hard_link(&file, folder.path(&format!("hard.{extension}"))).expect("hard links");
    names.push(folder.name(&format!("hard.{extension}")));
    #[cfg(unix)]
    {
        let link = folder.path(&format!("soft.{extension}"));
        std::os::unix::fs::symlink(name, link).expect("symbolic links");
        names.push(folder.name(&format!("soft.{extension}")));
    }
    names
}

/// Checks that each command line fails and changes no file. `IN` is the input file and `OUT` another name of it.
fn assert_input_is_no_output(name: &str, text: &[u8], lines: &[&str]) {
    let folder = Folder::new();
    fs::write(folder.path(name), text).expect("the file is written");
    let input = folder.name(name);
    let aliases = aliases(&folder, name);
    let before = folder.contents();
    for line in lines {
        for output in &aliases {
            let part = |part: &str| match part {
                "IN" => input.clone(),
                "OUT" => output.clone(),
                "OTHER" => folder.name("other.bin"),
                part => part.to_owned(),
            };
            let word = |word: &str| word.split('=').map(part).collect::<Vec<_>>().join("=");
            let words: Vec<String> = line.split(' ').map(word).collect();
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            zoothera(&words).fails_with("is also an input");
            assert!(folder.contents() == before, "{line}: {output}");
        }
    }
}

#[test]
fn output_does_not_overwrite_input_games() {
    let lines = [
        "review IN --nodes 100 --pgn OUT",
        "review IN --nodes 100 --html OUT",
        "book build IN --out OUT --min-games 1",
    ];
    assert_input_is_no_output("games.pgn", GAMES.as_bytes(), &lines);
}

#[test]
fn output_does_not_overwrite_input_positions() {
    let lines = [
        "data convert IN OUT",
        "data filter IN OUT",
        "data shuffle IN OUT",
        "data dedupe IN OUT",
        "data split IN --into=OUT=1 --into=OTHER=1",
    ];
    assert_input_is_no_output("a.plain", POSITIONS.as_bytes(), &lines);
}

#[test]
fn output_does_not_overwrite_input_nets_or_checkpoints() {
    let net = fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/nets/default.nnue"));
    let lines = [
        "net export OUT --net IN --compress",
        "train OTHER --init IN --out OUT",
        "review games.pgn --net IN --html OUT",
    ];
    assert_input_is_no_output("a.nnue", &net.expect("the default net"), &lines);
    let lines = ["train export IN --out OUT", "train export IN --out x.nnue --plot OUT"];
    assert_input_is_no_output("a.checkpoint", b"ZOOTRAIN", &lines);
    assert_input_is_no_output("a.toml", b"", &["train OTHER --config IN --out OUT"]);
}

#[test]
fn outputs_with_equal_names_are_rejected() {
    let folder = Folder::new();
    let input = folder.file("a.plain", POSITIONS);
    let [one, same] = ["b.bin", "./b.bin"].map(|name| format!("{}=1", folder.name(name)));
    let into = ["data", "split", &input, "--into", &one, "--into", &same];
    zoothera(&into).fails_with("b.bin: another process is writing to it");
    assert_eq!(folder.contents().len(), 1);
}

#[test]
fn output_does_not_overwrite_files_of_another_kind() {
    let folder = Folder::new();
    let games = folder.file("games.pgn", GAMES);
    let mine = folder.file("mine", "my thesis\n");
    let text = folder.file("notes.txt", "my thesis\n");
    let positions = folder.file("a.plain", POSITIONS);
    let before = folder.contents();
    for line in [
        vec!["review", &games, "--nodes", "1", "--html", &mine],
        vec!["review", &games, "--nodes", "1", "--pgn", &mine],
        vec!["book", "build", &games, "--min-games", "1", "--out", &mine],
        vec!["net", "export", &mine],
        vec!["net-material", &mine],
        vec!["data", "convert", &positions, &text],
    ] {
        zoothera(&line).fails_with("exists and is not a");
        assert!(folder.contents() == before, "{line:?}");
    }
    zoothera(&["analyse", "--nodes", "1", "--hash-file", &mine]).fails_with("not a file with a transposition table");
    assert!(folder.contents() == before);
}

#[test]
fn huge_settings_and_endless_files_are_rejected() {
    let folder = Folder::new();
    for (setting, reason) in
        [("batch = 9223372036854775807", "batch is 92233720368547"), ("threads = 9223372036854775807", "threads is")]
    {
        let config = folder.file("a.toml", &format!("files = ['a.bin']\n{setting}\n"));
        zoothera(&["train", "--config", &config]).fails_with(reason);
    }
    #[cfg(target_os = "linux")]
    {
        zoothera(&["train", "--config", "/dev/zero"]).fails_with("or endless");
        let link = folder.path("zero.plain");
        std::os::unix::fs::symlink("/dev/zero", &link).expect("symbolic links");
        let out = folder.name("out.bin");
        zoothera(&["data", "convert", &folder.name("zero.plain"), &out]).fails_with("zero.plain is not a .plain file");
        assert!(!Path::new(&out).exists());
    }
}

#[test]
fn data_replaces_no_output_without_force() {
    let folder = Folder::new();
    let positions = folder.file("a.plain", POSITIONS);
    let out = folder.name("out.bin");
    zoothera(&["data", "convert", &positions, &out]).ok();
    let before = folder.contents();
    for command in ["convert", "filter", "shuffle", "dedupe"] {
        zoothera(&["data", command, &positions, &positions, &out])
            .fails_with("out.bin exists; give another name, or --force");
        assert!(folder.contents() == before, "{command}");
    }
    zoothera(&["data", "split", &positions, "--into", &format!("{out}=1")]).fails_with("out.bin exists");
    assert!(folder.contents() == before);
    zoothera(&["data", "convert", "--force", &positions, &positions, &out]).ok();
    assert!(folder.contents() != before);
}

#[test]
fn data_info_json_matches_its_schema() {
    let folder = Folder::new();
    let positions = folder.file("a.plain", POSITIONS);
    let run = zoothera(&["data", "info", "--json", &positions, &positions]).ok();
    let lines: Vec<serde_json::Value> =
        run.out.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect();
    assert_eq!(lines.len(), 2);
    lines.iter().for_each(|line| Schema::read("src/data/ops/info.schema.json").check(line));
    let sum = |name: &str| -> u64 {
        lines[0][name].as_array().expect("classes").iter().map(|class| class["count"].as_u64().expect("a count")).sum()
    };
    assert_eq!(lines[0]["positions"].as_u64(), Some(sum("plies")));
    assert_eq!(sum("plies"), sum("pieces"));
}

#[test]
fn damaged_binpack_is_an_error_without_a_panic_message() {
    let folder = Folder::new();
    let from = folder.file("a.plain", &POSITIONS.repeat(50));
    let [packed, out] = ["a.binpack", "out.bin"].map(|name| folder.name(name));
    zoothera(&["data", "convert", &from, &packed]).ok();
    let intact = fs::read(&packed).expect("a file");
    let mut failures = 0;
    for at in 8..60.min(intact.len()) {
        let mut bytes = intact.clone();
        bytes[at] ^= 0x55;
        fs::write(&packed, bytes).expect("the file is written");
        let run = zoothera(&["data", "convert", "--force", &packed, &out]);
        assert!(!run.err.contains("panicked"), "{at}: {}", run.err);
        failures += usize::from(run.code != Some(0));
    }
    assert!(failures > 0, "no damage was detected");
}

#[cfg(unix)]
mod unix {
    use std::fs::{File, OpenOptions, Permissions};
    use std::io::{BufRead, BufReader, Read, Write};
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::process::{Child, Command, Stdio};

    use super::*;
    use crate::common::engine::{engine, restore_sighup, signal};

    fn pipe(path: &Path) {
        let made = Command::new("mkfifo").arg(path).status();
        assert!(made.expect("mkfifo runs").success());
    }

    fn start(arguments: &[&str]) -> Child {
        let mut command = engine();
        restore_sighup(&mut command)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command.spawn().expect("the engine starts")
    }

    fn end(child: Child) -> Run {
        Run::of(child.wait_with_output().expect("the engine ends"))
    }

    /// Returns a command that runs under a shell limit: files cannot exceed `blocks` times 512 or 1,024 bytes.
    fn with_full_disk(blocks: u32, arguments: &[&str]) -> Command {
        let mut command = Command::new("sh");
        let limits = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
        command.args(["-c", &limits]);
        let program = engine();
        command.arg(program.get_program()).args(program.get_args());
        command.args(arguments);
        command
    }

    #[test]
    fn standard_input_from_a_file_is_an_input() {
        let folder = Folder::new();
        let games = folder.file("games.pgn", GAMES);
        let mut command = engine();
        command.args(["review", "-", "--nodes", "100", "--pgn", &games]);
        command.stdin(File::open(&games).expect("the file exists"));
        Run::of(command.output().expect("the engine runs")).fails_with("is also an input (standard input)");
        let mut command = engine();
        command.args(["review", &games, "--nodes", "100", "--json"]);
        let appending = OpenOptions::new().append(true).open(&games);
        command.stdin(Stdio::null()).stdout(appending.expect("the file opens"));
        Run::of(command.output().expect("the engine runs")).fails_with("standard output is also an input");
        assert_eq!(folder.contents(), [("games.pgn".into(), GAMES.into())]);
    }

    #[test]
    fn conversion_keeps_links_modes_and_other_files() {
        let folder = Folder::new();
        let positions = folder.file("a.plain", POSITIONS);
        folder.file("thesis.txt", "precious");
        for name in ["out.bin.tmp", ".out.bin.tmp"] {
            symlink("thesis.txt", folder.path(name)).expect("symbolic links");
        }
        let out = folder.name("out.bin");
        zoothera(&["data", "convert", &positions, &out]).ok();
        fs::set_permissions(&out, Permissions::from_mode(0o600)).expect("the mode is set");
        zoothera(&["data", "convert", "--force", &positions, &positions, &out]).ok();
        let mode = fs::metadata(&out).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(fs::metadata(&out).expect("a file").len(), 80);
        fs::set_permissions(&out, Permissions::from_mode(0o444)).expect("the mode is set");
        zoothera(&["data", "convert", &positions, &out]).fails_with("it is read-only");
        assert_eq!(fs::metadata(&out).expect("a file").len(), 80);
        let thesis = fs::read_to_string(folder.path("thesis.txt"));
        assert_eq!(thesis.expect("a file"), "precious");
        let names: Vec<String> = folder.contents().into_iter().map(|(name, _)| name).collect();
        let expected = [".out.bin.tmp", "a.plain", "out.bin", "out.bin.tmp", "thesis.txt"];
        assert_eq!(names, expected);
    }

    #[test]
    fn pipe_as_output_fails_before_work_starts() {
        let folder = Folder::new();
        let games = folder.file("games.pgn", GAMES);
        for (name, arguments) in [
            ("a.bin", vec!["datagen", "sample", "--resume", "--positions", "10", "--out"]),
            ("a.hash", vec!["analyse", "--nodes", "1", "--hash-file"]),
            ("a.nnue", vec!["net-material"]),
            ("a.pgn", vec!["play", "--pgn"]),
            ("a.html", vec!["review", &games, "--nodes", "1", "--html"]),
        ] {
            pipe(&folder.path(name));
            let out = folder.name(name);
            let arguments: Vec<&str> = arguments.into_iter().chain([out.as_str()]).collect();
            zoothera(&arguments).fails_with("it is not a regular file");
        }
    }

    #[test]
    fn interrupted_review_keeps_old_output_and_saves_partial_one() {
        for name in ["INT", "TERM", "HUP"] {
            let folder = Folder::new();
            let games = folder.file("games.pgn", &GAMES.repeat(3000));
            let old = "[Event \"old\"]\n\n*\n";
            let out = folder.file("out.pgn", old);
            let nodes = ["--nodes", "2000", "--json", "--pgn", &out];
            let mut child = start(&[&["review", &games], &nodes[..]].concat());
            let mut lines = BufReader::new(child.stdout.take().expect("a pipe"));
            let mut line = String::new();
            lines.read_line(&mut line).expect("the first game");
            signal(&child, name);
            lines.read_to_string(&mut line).expect("the rest");
            let run = end(child).interrupted_with("interrupted: ");
            assert!(run.err.contains(" of 3000 games reviewed"), "{}", run.err);
            assert!(run.err.contains("out.pgn.part"), "{}", run.err);
            assert_eq!(fs::read_to_string(&out).expect("a file"), old);
            let part = fs::read_to_string(folder.path("out.pgn.part")).expect("a partial output");
            assert!(part.contains("4. Qxf7#"), "{part}");
            assert_eq!(fs::read_to_string(&games).expect("a file"), GAMES.repeat(3000));
            assert_eq!(folder.contents().len(), 3);
        }
    }

    #[test]
    fn interrupted_conversion_keeps_old_output() {
        for name in ["INT", "TERM", "HUP"] {
            let folder = Folder::new();
            pipe(&folder.path("in.plain"));
            let out = folder.file("out.bin", "");
            let child = start(&["data", "convert", &folder.name("in.plain"), &out]);
            // The pipe opens when the engine opens its end, which is after it has installed the signal handlers.
            let mut input = OpenOptions::new().write(true).open(folder.path("in.plain")).expect("the engine opens it");
            signal(&child, name);
            let some = POSITIONS.repeat(1000);
            while input.write_all(some.as_bytes()).is_ok() {}
            end(child).interrupted_with("interrupted; no output was written");
            let names: Vec<String> = folder.contents_but("in.plain");
            assert_eq!(names, ["out.bin"]);
            assert_eq!(fs::metadata(&out).expect("a file").len(), 0);
        }
    }

    impl Folder {
        /// Returns the names of all files except `other`, which cannot be read.
        fn contents_but(&self, other: &str) -> Vec<String> {
            let entries = fs::read_dir(self.0.path()).expect("the folder");
            let name = |entry: std::io::Result<fs::DirEntry>| entry.expect("an entry").file_name();
            let names = entries.map(|entry| name(entry).to_string_lossy().into_owned());
            let mut names: Vec<String> = names.filter(|name| name != other).collect();
            names.sort();
            names
        }
    }

    #[test]
    fn temporary_file_of_killed_shuffle_is_removed_by_next_one() {
        let folder = Folder::new();
        let positions = folder.file("a.plain", POSITIONS);
        let out = folder.name("out.bin");
        for command in ["shuffle", "dedupe"] {
            pipe(&folder.path("in.plain"));
            let mut child = start(&["data", command, "--force", &folder.name("in.plain"), &out]);
            let mut input = OpenOptions::new().write(true).open(folder.path("in.plain")).expect("the engine opens it");
            let some = POSITIONS.repeat(5000);
            input.write_all(some.as_bytes()).expect("the engine reads");
            child.kill().expect("the engine is running");
            child.wait().expect("the engine ends");
            fs::remove_file(folder.path("in.plain")).expect("the pipe exists");
            let left = [".out.bin.zoothera.tmp", "a.plain"];
            assert_eq!(folder.contents_but("out.bin"), left);
            zoothera(&["data", command, "--force", &positions, &out]).ok();
            assert_eq!(folder.contents_but("out.bin"), ["a.plain"]);
        }
    }

    #[test]
    fn full_disk_keeps_old_net() {
        let folder = Folder::new();
        let net = folder.name("a.nnue");
        zoothera(&["net-material", &net]).ok();
        let before = folder.contents();
        for arguments in [vec!["net-material", &net], vec!["net", "export", &net]] {
            let run = with_full_disk(8, &arguments).output().expect("the engine runs");
            Run::of(run).fails_with("cannot write");
            assert!(folder.contents() == before, "{arguments:?}");
        }
    }

    #[test]
    fn game_is_printed_if_it_cannot_be_saved() {
        let folder = Folder::new();
        let mut command = with_full_disk(0, &["play", "--elo", "600", "--pgn", &folder.name("a.pgn")]);
        command
            .current_dir(folder.0.path())
            .env("TMPDIR", folder.0.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the engine starts");
        let mut input = child.stdin.take().expect("a pipe");
        input.write_all(b"d4\nresign\n").expect("the engine reads");
        drop(input);
        let run = end(child).fails_with("the game could not be saved");
        assert!(run.err.contains("1. d4 "), "{}", run.err);
        assert_eq!(folder.contents(), []);
    }

    /// Starts a game and waits for the engine's first move.
    fn game(pgn: &str) -> (Child, BufReader<std::process::ChildStdout>) {
        let mut child = start(&["play", "--elo", "600", "--pgn", pgn]);
        let input = child.stdin.as_mut().expect("a pipe");
        input.write_all(b"d4\n").expect("the engine reads");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut line = String::new();
        while !line.contains("1... ") {
            line.clear();
            assert!(lines.read_line(&mut line).expect("lines") > 0, "the output ended early");
        }
        (child, lines)
    }

    #[test]
    fn game_is_saved_elsewhere_if_its_file_is_locked() {
        let folder = Folder::new();
        let pgn = folder.file("games.pgn", GAMES);
        let (mut child, mut lines) = game(&pgn);
        let locked = OpenOptions::new().append(true).open(&pgn).expect("the file opens");
        locked.try_lock().expect("the lock is free");
        let input = child.stdin.as_mut().expect("a pipe");
        input.write_all(b"resign\n").expect("the engine reads");
        let mut rest = String::new();
        lines.read_to_string(&mut rest).expect("the rest");
        let run = end(child).fails_with("another process is writing to it");
        assert!(run.err.contains("the game was saved to"), "{}", run.err);
        assert_eq!(fs::read_to_string(&pgn).expect("a file"), GAMES);
        let saved = folder.contents_but("games.pgn");
        assert_eq!(saved.len(), 1, "{saved:?}");
        let text = fs::read_to_string(folder.path(&saved[0])).expect("a game");
        assert!(text.contains("\n1. d4 ") && text.contains("0-1"), "{text}");
        // A file that is locked at the start is an error before the game.
        zoothera(&["play", "--pgn", &pgn]).fails_with("another process is writing to it");
    }

    #[test]
    fn killed_game_is_kept_beside_its_file_and_appends_nothing() {
        for name in ["INT", "TERM", "HUP", "KILL"] {
            let folder = Folder::new();
            let pgn = folder.file("games.pgn", GAMES);
            let (mut child, _lines) = game(&pgn);
            // The end of the input would end the game too, so the input must stay open.
            let input = child.stdin.take();
            signal(&child, name);
            let run = end(child);
            drop(input);
            if name != "KILL" {
                assert_eq!(run.code, Some(130), "{}", run.err);
                assert!(run.err.contains("the unfinished game is in "), "{}", run.err);
                // KILL can leave the temporary file of the unfinished game.
                assert_eq!(folder.contents().len(), 2);
            }
            assert_eq!(fs::read_to_string(&pgn).expect("the games"), GAMES);
            let text = fs::read_to_string(format!("{pgn}.part")).expect("the game");
            assert!(text.contains("\n1. d4 ") && text.contains("[Termination \"unterminated\"]"), "{text}");
        }
    }
}
