//! What a terminal understands.

use std::io::{self, IsTerminal, Write};

use super::text::printable;

/// A sink for messages that quote foreign text: nothing in them can change the terminal.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printable_sink_filters_what_is_formatted() {
        let mut sink = Printable(Vec::new());
        let (name, why) = ("\u{1b}]0;x\u{7}.pgn", "é\u{202e}");
        writeln!(sink, "cannot read {name}: {why}").expect("a vector");
        assert_eq!(
            String::from_utf8_lossy(&sink.0),
            "cannot read  ]0;x .pgn: é\n"
        );
    }
}
