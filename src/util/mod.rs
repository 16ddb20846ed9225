//! Small things without a chess idea in them.

pub mod atomic;
pub mod memory;
pub mod prefetch;
pub mod progress;
pub mod quantity;
pub mod rng;
pub mod text;

/// What the system says of a failure, without the number that Rust adds: `No such file or directory`.
pub fn io_reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    match text.rfind(" (os error ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}
