//! The binary. All code is in the library, so that tests and examples can use it.

fn main() -> std::process::ExitCode {
    zoothera::cli::run()
}
