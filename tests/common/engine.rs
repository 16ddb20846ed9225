//! The engine under test: the one built by cargo, or another one, possibly for another system.

use std::path::Path;
use std::process::Command;

/// Environment variable with the command line of another engine, such as `qemu-aarch64 -cpu max /builds/zoothera`.
/// Spaces separate the words.
const VARIABLE: &str = "ZOOTHERA_ENGINE";

/// A command that starts the engine, to which arguments can be added.
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

/// Restores the default action of SIGHUP, which is to end the process, even if the tests run under `nohup`.
#[cfg(unix)]
pub fn restore_sighup(command: &mut Command) -> &mut Command {
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
    let sent = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status();
    assert!(sent.expect("kill runs").success());
}

/// Separator of directories in a path list on the engine's system, which is Windows under Wine.
pub fn list_separator() -> char {
    let line = std::env::var(VARIABLE).unwrap_or_default();
    let program = line.split_whitespace().next().map(Path::new);
    let wine = program.and_then(Path::file_name).is_some_and(|name| name.to_string_lossy().starts_with("wine"));
    if wine || cfg!(windows) { ';' } else { ':' }
}
