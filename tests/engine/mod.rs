//! The engine that the tests start: the one that cargo built, or another one, even of another system.

#![allow(dead_code)] // Each test program uses a part of it.

use std::path::Path;
use std::process::Command;

/// A command line that runs another engine, in words between blanks: `qemu-aarch64 -cpu max /builds/zoothera`.
const VARIABLE: &str = "ZOOTHERA_ENGINE";

/// A command that starts the engine; arguments are added to it.
pub fn engine() -> Command {
    let line = std::env::var(VARIABLE).unwrap_or_default();
    let mut words = line.split_whitespace();
    let Some(program) = words.next() else {
        return native();
    };
    let mut command = Command::new(program);
    command.args(words);
    command
}

/// A command that starts the engine that cargo built for these tests.
pub fn native() -> Command {
    Command::new(env!("CARGO_BIN_EXE_zoothera"))
}

/// Has the command end at SIGHUP even if the tests were started with `nohup`.
#[cfg(unix)]
pub fn hear_hangups(command: &mut Command) -> &mut Command {
    use std::os::unix::process::CommandExt;
    // SAFETY: `signal` may be called between fork and exec.
    unsafe {
        command.pre_exec(|| {
            libc::signal(libc::SIGHUP, libc::SIG_DFL);
            Ok(())
        })
    }
}

/// Sends a signal to a process.
#[cfg(unix)]
pub fn signal(child: &std::process::Child, name: &str) {
    let sent = Command::new("kill")
        .args([&format!("-{name}"), &child.id().to_string()])
        .status();
    assert!(sent.expect("there is a kill").success());
}

/// What stands between directories in a list of the engine's system: Wine makes it Windows.
pub fn list_separator() -> char {
    let line = std::env::var(VARIABLE).unwrap_or_default();
    let program = line.split_whitespace().next().map(Path::new);
    let wine = program
        .and_then(Path::file_name)
        .is_some_and(|name| name.to_string_lossy().starts_with("wine"));
    if wine || cfg!(windows) { ';' } else { ':' }
}
