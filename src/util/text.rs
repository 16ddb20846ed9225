//! Text from outside: filters of foreign text for our output, and the decoding of text files.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;

/// Text of a path or file name for messages and pages. `Path::display` must not be used, because file names can contain
/// control characters.
pub trait Shown {
    /// The name as printable text on one line.
    fn shown(&self) -> String;
}

impl Shown for OsStr {
    fn shown(&self) -> String {
        one_line(&printable(&self.to_string_lossy()))
    }
}

impl Shown for Path {
    fn shown(&self) -> String {
        self.as_os_str().shown()
    }
}

/// The text with line ends and tabs replaced by spaces.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Excerpt of a text for a message: its first 100 characters (enough for a FEN), printable and on one line.
pub fn excerpt(text: &str) -> String {
    const MAX_LENGTH: usize = 100;
    let text = printable(text.trim_matches(|c: char| c.is_whitespace() || is_unprintable(c)));
    let mut short = one_line(&text.chars().take(MAX_LENGTH).collect::<String>());
    if text.chars().nth(MAX_LENGTH).is_some() {
        short.push_str("...");
    }
    short
}

/// Removes characters that could change a terminal, a page, or the order of other text. Control characters except line
/// feeds and tabs become spaces, which disables every terminal escape sequence. Directional marks and byte order marks
/// are removed.
///
/// All text from files, file names and other programs must pass through this function before it is printed.
// CITE: https://trojansource.codes for the directional marks; ECMA-48 for the control characters.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unprintable) {
        return Cow::Borrowed(text);
    }
    let replaced = |c: char| match c {
        c if c.is_control() && !matches!(c, '\n' | '\t') => Some(' '),
        c if is_unprintable(c) => None,
        c => Some(c),
    };
    Cow::Owned(text.chars().filter_map(replaced).collect())
}

fn is_unprintable(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' => true,
        '\u{2066}'..='\u{2069}' | '\u{feff}' => true,
        c => c.is_control(),
    }
}

// Decoding of text files.
//
// UTF-8 with or without a byte order mark, UTF-16, and Windows-1252; small files.

/// Maximum length of a line in bytes. A longer line is treated as endless input.
const MAX_LINE: u64 = 64 << 20;
/// Maximum size in bytes of a file that is read as a whole. A longer file is treated as endless input.
const MAX_FILE: u64 = 4 << 30;

/// Characters of the bytes 0x80 to 0x9f in Windows-1252.
// CITE: https://encoding.spec.whatwg.org/index-windows-1252.txt
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}', '‘', '’',
    '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// The text without byte order marks at its start.
pub fn without_mark(text: &str) -> &str {
    text.trim_start_matches('\u{feff}')
}

/// Decodes the bytes as UTF-8 if they are valid, as Windows-1252 otherwise.
fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => bytes.iter().map(|&byte| windows_1252(byte)).collect(),
    }
}

fn windows_1252(byte: u8) -> char {
    match byte {
        0x80..=0x9f => WINDOWS_1252[usize::from(byte - 0x80)],
        _ => char::from(byte),
    }
}

/// Reads a text file, without its byte order mark. All line ends become line feeds.
///
/// # Errors
/// Fails if the file cannot be opened, and as [`read_text_from`].
pub fn read_text(path: &Path) -> io::Result<String> {
    read_text_from(File::open(path)?)
}

/// Reads a text from `input`, as [`read_text`] does.
///
/// # Errors
/// Fails on an I/O error, if the text contains a zero byte, and if a line or the text is too long.
pub fn read_text_from(input: impl Read) -> io::Result<String> {
    let mut lines = Lines::new(input);
    let mut text = String::new();
    while let Some(line) = lines.next_line()? {
        if line.contains('\0') {
            return Err(invalid("not a text file: it contains zero bytes"));
        }
        text += &line;
        text.push('\n');
        if text.len() as u64 > MAX_FILE {
            return Err(invalid("it is longer than 4 GiB, or endless"));
        }
    }
    Ok(text)
}

fn invalid(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

/// The decoded lines of a text, without line ends. A line ends with a line feed, a carriage return, or both.
pub struct Lines<'a> {
    input: Box<dyn BufRead + 'a>,
    /// The bytes up to a line feed.
    raw: Vec<u8>,
    /// Start of the next line in `raw`; `None` if all of it has been read.
    next: Option<usize>,
    /// The number of the current line, from 1.
    number: usize,
}

impl<'a> Lines<'a> {
    /// The lines of `input`. UTF-16 is detected from the first two bytes.
    pub fn new(input: impl Read + 'a) -> Self {
        Self { input: utf8_of(input), raw: Vec::new(), next: None, number: 0 }
    }

    /// The number of the last line read, from 1.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Reads the next line; `None` at the end.
    ///
    /// # Errors
    /// Fails on an I/O error, and if the line is too long.
    pub fn next_line(&mut self) -> io::Result<Option<Cow<'_, str>>> {
        let start = match self.next {
            Some(start) => start,
            None => {
                if !self.fill()? {
                    return Ok(None);
                }
                0
            }
        };
        let rest = &self.raw[start..];
        let end = rest.iter().position(|&byte| byte == b'\r');
        self.next = end.map(|end| start + end + 1);
        self.number += 1;
        let line = &rest[..end.unwrap_or(rest.len())];
        Ok(Some(match decoded(line) {
            Cow::Borrowed(text) => Cow::Borrowed(without_mark(text)),
            text => text,
        }))
    }

    /// Reads up to the next line feed. Returns false at the end.
    fn fill(&mut self) -> io::Result<bool> {
        self.raw.clear();
        let mut input = (&mut self.input).take(MAX_LINE);
        let read = input.read_until(b'\n', &mut self.raw)?;
        let ended = self.raw.pop_if(|byte| *byte == b'\n').is_some();
        if !ended && read as u64 == MAX_LINE {
            let number = self.number + 1;
            let why = format!("line {number} is longer than 64 MiB, or endless: not a text file");
            return Err(invalid(&why));
        }
        while self.raw.pop_if(|byte| *byte == b'\r').is_some() {}
        Ok(read > 0)
    }
}

/// First bytes of files that are not text, with their names.
// CITE: the signatures of RFC 1952 (gzip), RFC 8878 (zstd), APPNOTE.TXT of ZIP, and of the bzip2, xz, LZ4 and 7z
// formats.
const COMPRESSED: [(&[u8], &str); 7] = [
    (&[0x1f, 0x8b], "gzip"),
    (&[0x28, 0xb5, 0x2f, 0xfd], "zstd"),
    (b"PK\x03\x04", "zip"),
    (b"BZh", "bzip2"),
    (&[0xfd, b'7', b'z', b'X', b'Z', 0], "xz"),
    (&[0x04, 0x22, 0x4d, 0x18], "lz4"),
    (&[b'7', b'z', 0xbc, 0xaf, 0x27, 0x1c], "7z"),
];

/// Reason why a file with these first bytes cannot be read as text.
fn refusal(head: &[u8]) -> Option<String> {
    if let Some((_, name)) = COMPRESSED.iter().find(|(magic, _)| head.starts_with(magic)) {
        return Some(format!("the file is compressed ({name}): decompress it first"));
    }
    let utf_32 = head.starts_with(&[0xff, 0xfe, 0, 0]) || head.starts_with(&[0, 0, 0xfe, 0xff]);
    utf_32.then(|| "the encoding is UTF-32: save the file as UTF-8".to_owned())
}

/// Input that cannot be read, with the reason.
struct Refused(String);

impl Read for Refused {
    fn read(&mut self, _out: &mut [u8]) -> io::Result<usize> {
        Err(invalid(&self.0))
    }
}

/// Converts UTF-16 input to UTF-8, refuses compressed input, and passes other input through.
fn utf8_of<'a>(mut input: impl Read + 'a) -> Box<dyn BufRead + 'a> {
    let mut head = Vec::new();
    // Ignores an error here, because the next read returns it again.
    let _ = input.by_ref().take(6).read_to_end(&mut head);
    if let Some(why) = refusal(&head) {
        return Box::new(BufReader::new(Refused(why)));
    }
    // Detects UTF-16 by the byte order mark, or by an ASCII character at the start.
    let little_endian = match head[..] {
        [0xff, 0xfe, ..] => Some(true),
        [0xfe, 0xff, ..] => Some(false),
        [ascii, 0, ..] if ascii != 0 => Some(true),
        [0, ascii, ..] if ascii != 0 => Some(false),
        _ => None,
    };
    let input = Cursor::new(head).chain(input);
    match little_endian {
        Some(little_endian) => Box::new(BufReader::new(Utf16Reader::new(BufReader::new(input), little_endian))),
        None => Box::new(BufReader::with_capacity(1 << 16, input)),
    }
}

/// Converts UTF-16 to UTF-8. Unpaired surrogates become U+FFFD.
struct Utf16Reader<R> {
    input: R,
    little_endian: bool,
    /// A high surrogate at the end of the last chunk.
    high: Option<u16>,
    /// Converted text.
    ready: Cursor<Vec<u8>>,
}

impl<R: BufRead> Utf16Reader<R> {
    fn new(input: R, little_endian: bool) -> Self {
        let ready = Cursor::new(Vec::new());
        Self { input, little_endian, high: None, ready }
    }

    /// Reads and converts a chunk.
    fn fill(&mut self) -> io::Result<()> {
        const CHUNK: u64 = 1 << 13;
        let mut bytes = Vec::new();
        (&mut self.input).take(CHUNK).read_to_end(&mut bytes)?;
        let last = (bytes.len() as u64) < CHUNK;
        let unit = |pair: &[u8]| {
            let pair = [pair[0], *pair.get(1).unwrap_or(&0)];
            if self.little_endian { u16::from_le_bytes(pair) } else { u16::from_be_bytes(pair) }
        };
        let mut units: Vec<u16> = self.high.take().into_iter().chain(bytes.chunks(2).map(unit)).collect();
        if !last {
            self.high = units.pop_if(|unit| (0xd800..0xdc00).contains(unit));
        }
        let text: String = char::decode_utf16(units).map(|read| read.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
        self.ready = Cursor::new(text.into_bytes());
        Ok(())
    }
}

impl<R: BufRead> Read for Utf16Reader<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.ready.position() == self.ready.get_ref().len() as u64 {
            self.fill()?;
        }
        self.ready.read(out)
    }
}

// Reads small files up to a limit, because devices and pipes may be endless.

/// Reads a file of at most `limit` bytes.
///
/// # Errors
/// Fails on an I/O error and on a larger file. The error does not name the file.
pub fn read_bytes(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        let (size, unit) = match limit >> 20 {
            0 => (limit >> 10, "KiB"),
            mib => (mib, "MiB"),
        };
        return Err(io::Error::other(format!("it is longer than {size} {unit}, or endless")));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpt_is_short_and_printable() {
        assert_eq!(excerpt(" a\0b\u{1b}"), "a b");
        assert_eq!(excerpt("a\nb\tc"), "a b c");
        assert_eq!(excerpt(&"é".repeat(100)).chars().count(), 100);
        assert_eq!(excerpt(&"é".repeat(101)).chars().count(), 103);
    }

    #[test]
    fn shown_path_is_printable_and_on_one_line() {
        assert_eq!(Path::new("a/\u{1b}]0;x\u{7}\n\t\u{202e}é.pgn").shown(), "a/ ]0;x   é.pgn");
    }

    #[test]
    fn printable_text_has_no_escapes_and_no_directional_marks() {
        assert_eq!(printable("\u{1b}]52;c;eA==\u{7}x\u{9b}2J"), " ]52;c;eA== x 2J");
        assert_eq!(printable("a\u{202e}b\u{2066}c\u{200f}"), "abc");
        assert_eq!(printable("Ünï 🦊\n\tא"), "Ünï 🦊\n\tא");
    }
}

#[cfg(test)]
mod encoding_tests {
    use super::*;

    fn lines(bytes: &[u8]) -> Vec<String> {
        let mut lines = Lines::new(bytes);
        std::iter::from_fn(|| lines.next_line().expect("a text").map(Cow::into_owned)).collect()
    }

    fn utf16(text: &str, little: bool) -> Vec<u8> {
        let bytes = |unit: u16| {
            if little { unit.to_le_bytes() } else { unit.to_be_bytes() }
        };
        text.encode_utf16().flat_map(bytes).collect()
    }

    #[test]
    fn lines_end_at_line_feed_and_carriage_return() {
        assert_eq!(lines(b"a\nb\r\nc\rd\r\r\n\ne"), ["a", "b", "c", "d", "", "e"]);
        assert_eq!(lines(b""), [""; 0]);
        assert_eq!(lines(b"\n"), [""]);
    }

    #[test]
    fn lines_omit_byte_order_marks() {
        assert_eq!(lines("\u{feff}a\n\u{feff}b".as_bytes()), ["a", "b"]);
    }

    #[test]
    fn lines_with_invalid_utf8_are_decoded_as_windows_1252() {
        assert_eq!(lines(b"M\xfcller \x96 \x80\nM\xc3\xbcller"), ["Müller – €", "Müller"]);
    }

    #[test]
    fn utf16_is_recognised_with_and_without_mark() {
        let text = "[White \"Ünï 🦊\"]\n".repeat(3000);
        let expected: Vec<&str> = text.lines().collect();
        for little in [true, false] {
            assert_eq!(lines(&utf16(&text, little)), expected);
            assert_eq!(lines(&utf16(&format!("\u{feff}{text}"), little)), expected);
        }
        let odd = [&utf16("\u{feff}ab", true)[..], &[0x41]].concat();
        assert_eq!(lines(&odd), ["abA"]);
    }

    #[test]
    fn reader_rejects_compressed_file_and_utf_32() {
        let utf_32 = "\u{feff}ab".chars().flat_map(|c| u32::from(c).to_le_bytes());
        let refused = [
            (b"\x1f\x8b\x08\0data".to_vec(), "compressed (gzip): decompress it first"),
            (b"PK\x03\x04data".to_vec(), "compressed (zip)"),
            (utf_32.collect(), "UTF-32"),
        ];
        for (bytes, part) in refused {
            let error = Lines::new(&bytes[..]).next_line().expect_err("not a text").to_string();
            assert!(error.contains(part), "{error}");
        }
        assert_eq!(lines(b"BZ"), ["BZ"]);
    }

    #[test]
    fn reader_rejects_endless_line() {
        let mut lines = Lines::new(io::repeat(0));
        let error = lines.next_line().expect_err("no end").to_string();
        assert!(error.contains("line 1 is longer than 64 MiB"), "{error}");
    }
}

#[cfg(test)]
mod input_tests {
    use super::*;

    #[test]
    fn reader_stops_at_its_limit() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a");
        std::fs::write(&path, [b'a'; 2048]).expect("room");
        assert_eq!(read_bytes(&path, 2048).expect("within").len(), 2048);
        let error = read_bytes(&path, 2047).expect_err("too long").to_string();
        assert!(error.contains("longer than 1 KiB"), "{error}");
        #[cfg(target_os = "linux")]
        assert!(read_bytes(Path::new("/dev/zero"), 1 << 20).is_err());
    }
}
