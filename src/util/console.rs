//! Capabilities of the terminal.

use std::io::{self, IsTerminal, Write};

use super::text::printable;

/// Writer for messages that quote untrusted text. Replaces everything that could change the state of the terminal.
pub struct Printable<W>(pub W);

impl<W: Write> Write for Printable<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        self.0.write_all(printable(&text).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Whether a stream is a terminal that supports ANSI escape sequences for clearing lines, cursor movement and colours.
/// Enables the sequences on older Windows consoles.
pub fn supports_escapes(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && anstyle_query::windows::enable_ansi_colors().unwrap_or(true)
}

/// Whether to write colours to a stream: it supports escape sequences, and neither `NO_COLOR` nor `TERM=dumb` is set.
pub fn use_colour(stream: &impl IsTerminal) -> bool {
    // CITE: no-color.org: any value except the empty one disables colours.
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    !dumb && !anstyle_query::no_color() && supports_escapes(stream)
}

/// Width in columns of the terminal on standard output; `None` if it is not a terminal or the width is unknown.
pub fn stdout_columns() -> Option<usize> {
    #[cfg(any(unix, windows))]
    return terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| width.0.into());
    #[cfg(not(any(unix, windows)))]
    return None;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printable_writer_filters_control_characters() {
        let mut sink = Printable(Vec::new());
        let (name, why) = ("\u{1b}]0;x\u{7}.pgn", "é\u{202e}");
        writeln!(sink, "cannot read {name}: {why}").expect("a vector");
        assert_eq!(String::from_utf8_lossy(&sink.0), "cannot read  ]0;x .pgn: é\n");
    }
}
