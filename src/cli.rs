//! The command line as data (clap derive; `///` is the help text) and its dispatch.

use std::process::ExitCode;

/// Parses the arguments, runs what they ask, and turns an error into a message and a code.
pub fn run() -> ExitCode {
    ExitCode::SUCCESS
}
