//! What a terminal understands.

use std::io::IsTerminal;

/// Whether a stream is a terminal that obeys ANSI escapes: clears a line, moves the cursor, shows colours. A console
/// of Windows is told to, which it is not by itself before Windows Terminal.
pub fn obeys_escapes(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && anstyle_query::windows::enable_ansi_colors().unwrap_or(true)
}

/// Whether a stream is such a terminal and nobody asks for plain text (`NO_COLOR`, `TERM=dumb`).
pub fn wants_colour(stream: &impl IsTerminal) -> bool {
    // CITE: no-color.org: any value but the empty one asks for no colour.
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    !dumb && !anstyle_query::no_color() && obeys_escapes(stream)
}
