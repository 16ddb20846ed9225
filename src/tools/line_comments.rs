//! Comments to the end of a line (`; like this`), which the reader of PGN leaves out: they become those in braces.

use std::io::{self, BufRead, BufReader, Read};

/// Longer lines are read in parts, so that memory stays bounded.
const LONGEST_PART: u64 = 1 << 20;

/// Reads a PGN with every `; comment` as `{ comment }`.
pub struct LineComments<R> {
    input: BufReader<R>,
    /// Bytes of lines that were changed and not yet taken.
    ready: Vec<u8>,
    taken: usize,
    /// A comment in braces goes on from the line before.
    in_braces: bool,
}

impl<R: Read> LineComments<R> {
    /// What `input` says, with other comments.
    pub fn new(input: R) -> Self {
        Self {
            input: BufReader::new(input),
            ready: Vec::new(),
            taken: 0,
            in_braces: false,
        }
    }

    /// Makes the next line ready; nothing at the end.
    fn next_line(&mut self) -> io::Result<()> {
        let mut line = Vec::new();
        let mut input = self.input.by_ref().take(LONGEST_PART);
        input.read_until(b'\n', &mut line)?;
        (self.ready, self.taken) = (self.rewritten(&line), 0);
        Ok(())
    }

    fn rewritten(&mut self, line: &[u8]) -> Vec<u8> {
        // Tags may hold semicolons, and lines that begin with % are for other programs.
        if !self.in_braces && matches!(line.first(), Some(b'[' | b'%')) {
            return line.to_vec();
        }
        let mut text = Vec::with_capacity(line.len() + 2);
        for (at, &byte) in line.iter().enumerate() {
            match byte {
                b'{' => self.in_braces = true,
                b'}' => self.in_braces = false,
                b';' if !self.in_braces => {
                    text.extend(in_braces(&line[at + 1..]));
                    return text;
                }
                _ => {}
            }
            text.push(byte);
        }
        text
    }
}

/// The rest of a line as a comment in braces, which cannot hold a closing one.
fn in_braces(rest: &[u8]) -> Vec<u8> {
    let comment = rest.trim_ascii_end();
    let kept = comment
        .iter()
        .map(|&byte| if byte == b'}' { b')' } else { byte });
    let mut text = vec![b'{'];
    text.extend(kept);
    text.extend(b"}\n");
    text
}

impl<R: Read> Read for LineComments<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.ready.len() {
            self.next_line()?;
        }
        let rest = &self.ready[self.taken..];
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.taken += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(text: &str) -> String {
        let mut out = String::new();
        let read = LineComments::new(text.as_bytes()).read_to_string(&mut out);
        read.expect("text");
        out
    }

    #[test]
    fn a_comment_to_the_end_of_a_line_gets_braces() {
        assert_eq!(
            rewritten("1. e4 ; best } by test\r\n1... e5; end"),
            "1. e4 { best ) by test}\n1... e5{ end}\n"
        );
    }

    #[test]
    fn semicolons_elsewhere_stay() {
        for text in [
            "[Site \"a; b\"]\n\n1. e4 {one; two\nthree; four} e5 *\n",
            "% a; b\n1. e4 *",
            "",
            "\n\n",
        ] {
            assert_eq!(rewritten(text), text);
        }
    }
}
