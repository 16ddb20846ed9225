//! The binary: everything is in the library, so that tests and tools can use it.

fn main() -> std::process::ExitCode {
    zoothera::cli::run()
}
