//! Parses the command line, dispatches, prints an error chain, returns an exit code.

fn main() -> std::process::ExitCode {
    zoothera::cli::run()
}
