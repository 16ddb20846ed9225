//! File formats of training data: names, kinds, the recognition of files whose content has another format, and
//! compression around files of any format.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use super::entry::UNITS_PER_CENTIPAWN;
use super::{bin, binpack, bulletformat, games, lines, plain, tree, viriformat};
use crate::nnue;
use crate::util::files::{HEAD, Kind, is_text};
use crate::util::text::Shown as _;

/// Format of a data file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Records of 40 bytes.
    Bin,
    /// Chains of moves and scores.
    Binpack,
    /// Six lines of text per position.
    Plain,
    /// Samples in the search trees of their games.
    Tree,
    /// bullet's records of 32 bytes.
    Bulletformat,
    /// Games as moves and scores.
    Viriformat,
    /// `FEN | score | result` lines.
    BulletText,
    /// EPD with scores or results.
    Epd,
    /// Games with evaluations.
    Pgn,
}

/// Extensions of the formats, for help and error messages.
pub const EXTENSIONS: &str = ".bin, .binpack, .plain, .txt, .tree, .bf, .vf, .epd or .pgn";

impl Format {
    /// Determines the format of an uncompressed file from its extension, as [`FileFormat::of`] does.
    ///
    /// # Errors
    /// Fails if the extension is unknown, or is that of a compressed file.
    pub fn of(path: &Path) -> Result<Self> {
        let file = FileFormat::of(path)?;
        if file.compression != Compression::None {
            let (_, name) = Compression::of(path);
            let (path, name) = (path.shown(), name.shown());
            bail!(
                "{path} is compressed, and only the commands of `zoothera data` read and write such files: write \
                 {name}, or convert it (zoothera data convert {path} {name})"
            );
        }
        Ok(file.format)
    }

    /// Determines the format of an existing, uncompressed file, and checks its content.
    ///
    /// # Errors
    /// As [`Format::of`] and [`open`].
    pub fn of_file(path: &Path) -> Result<Self> {
        Self::of(path)?;
        let file = File::open(path).with_context(|| format!("cannot open {}", path.shown()))?;
        Ok(open(path, file)?.format)
    }

    /// Kind of files that an output of this format may replace.
    pub fn kind(self) -> Kind {
        match self {
            Self::Bin => bin::KIND,
            Self::Binpack => binpack::KIND,
            Self::Plain => plain::KIND,
            Self::Tree => tree::KIND,
            Self::Bulletformat => bulletformat::KIND,
            Self::Viriformat => viriformat::KIND,
            Self::BulletText => lines::BULLET,
            Self::Epd => lines::EPD,
            Self::Pgn => games::KIND,
        }
    }

    /// Engine units in the format's unit of scores.
    pub fn unit(self) -> f64 {
        match self {
            Self::Epd | Self::Pgn => UNITS_PER_CENTIPAWN,
            _ => 1.0,
        }
    }

    /// Whether the scores of its files can have any 16-bit value, because another program defines them.
    pub fn is_foreign(self) -> bool {
        matches!(self, Self::Bulletformat | Self::Viriformat | Self::BulletText | Self::Epd | Self::Pgn)
    }

    /// Whether every entry must have a score and a result.
    pub fn is_fully_labelled(self) -> bool {
        matches!(self, Self::Bulletformat | Self::BulletText)
    }

    /// Whether its files can mark that the score alone is the label.
    pub fn marks_score_alone(self) -> bool {
        matches!(self, Self::Bin | Self::Tree | Self::Epd)
    }

    /// Parts of an incomplete entry at the end of a file.
    pub fn parts(self) -> &'static str {
        match self {
            Self::Bin | Self::Bulletformat => "bytes of an incomplete record",
            Self::Binpack | Self::Tree => "bytes of an incomplete block",
            Self::Viriformat => "bytes of an incomplete game",
            Self::Plain | Self::BulletText | Self::Epd | Self::Pgn => "lines of an incomplete entry",
        }
    }
}

/// Format and compression of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileFormat {
    /// The format of the content.
    pub format: Format,
    /// The compression.
    pub compression: Compression,
}

impl FileFormat {
    /// Determines format and compression from the extensions. The content of a `.txt` that is read can also be bullet's
    /// text; [`open`] determines that.
    ///
    /// # Errors
    /// Fails if an extension is unknown.
    pub fn of(path: &Path) -> Result<Self> {
        let (compression, name) = Compression::of(path);
        let lower = name.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let extension = lower.rsplit_once('.').map(|(_, extension)| extension);
        let format = match extension {
            Some("txt") if lower.ends_with(".bullet.txt") => Format::BulletText,
            Some("txt") => Format::Plain,
            Some("bin") => Format::Bin,
            Some("binpack") => Format::Binpack,
            Some("plain") => Format::Plain,
            Some("tree") => Format::Tree,
            Some("bf" | "bullet" | "data") => Format::Bulletformat,
            Some("vf" | "viri" | "viriformat") => Format::Viriformat,
            Some("epd" | "fen") => Format::Epd,
            Some("pgn") => Format::Pgn,
            _ => bail!(
                "{}: unknown file extension; it must be {EXTENSIONS}, or one of them with .gz or .zst",
                path.shown()
            ),
        };
        Ok(Self { format, compression })
    }

    /// Kind of files that an output may replace.
    pub fn kind(self) -> Kind {
        self.compression.kind().unwrap_or(self.format.kind())
    }
}

/// An opened file whose format is known from its name and its content.
pub struct Content<'a> {
    /// Format of the content.
    pub format: Format,
    /// Uncompressed content from its start.
    pub source: Box<dyn BufRead + 'a>,
}

/// Determines the format of an opened file and uncompresses it. The file is read once, in order, as pipes require.
///
/// # Errors
/// Fails if the extension is unknown or `raw` cannot be read. If the content has another format than that of the name,
/// the error names it.
pub fn open<'a>(path: &Path, mut raw: impl Read + 'a) -> Result<Content<'a>> {
    let context = || format!("cannot read {}", path.shown());
    let mut file = FileFormat::of(path)?;
    let head = head(&mut raw).with_context(context)?;
    if let Some(kind) = file.compression.kind().filter(|kind| !head.is_empty() && !(kind.is)(&head)) {
        bail!("{} is not {}: {}", path.shown(), kind.name, guess(&head, path));
    }
    let raw = Cursor::new(head).chain(raw);
    let mut source = file.compression.reader(raw);
    let head = self::head(&mut source).with_context(context)?;
    if is_txt(path) && (lines::BULLET.is)(&head) {
        file.format = Format::BulletText;
    }
    if !head.is_empty() {
        check(path, file.format, &head)?;
    }
    Ok(Content { format: file.format, source: Box::new(Cursor::new(head).chain(source)) })
}

/// Reads the first [`HEAD`] bytes, or all if there are fewer.
fn head(source: &mut impl Read) -> std::io::Result<Vec<u8>> {
    let mut head = Vec::new();
    source.take(HEAD).read_to_end(&mut head)?;
    Ok(head)
}

/// Whether the name has the extension `.txt`, under a compression or not.
fn is_txt(path: &Path) -> bool {
    let (_, name) = Compression::of(path);
    name.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("txt"))
}

/// Checks that content with this start can have the format of its name.
fn check(path: &Path, format: Format, head: &[u8]) -> Result<()> {
    // Records without a magic number can be valid in two formats by chance.
    let is_other = || {
        let of = |format| records(format, head);
        match format {
            Format::Bin => !of(Format::Bin) && of(Format::Bulletformat),
            Format::Bulletformat => !of(Format::Bulletformat) && of(Format::Bin),
            // Their positions have the same pieces, but only one of them repeats the squares of the kings.
            Format::Viriformat => of(Format::Bulletformat),
            _ => false,
        }
    };
    let kind = format.kind();
    if !(kind.is)(head) || is_other() {
        bail!("{} is not {}: {}", path.shown(), kind.name, guess(head, path));
    }
    Ok(())
}

/// Whether all complete records at the start of a file are valid, and there is one.
fn records(format: Format, head: &[u8]) -> bool {
    match format {
        Format::Bin => are_valid(head, |record| bin::decode(record).is_some()),
        Format::Bulletformat => are_valid(head, |record| bulletformat::decode(record).is_some()),
        _ => (format.kind().is)(head),
    }
}

fn are_valid<const BYTES: usize>(head: &[u8], is_valid: impl Fn(&[u8; BYTES]) -> bool) -> bool {
    let (records, _) = head.as_chunks();
    !records.is_empty() && records.iter().all(is_valid)
}

/// Describes the content of a file whose name promises another one, and what to do.
fn guess(head: &[u8], path: &Path) -> String {
    let known = [
        (Format::Binpack, "this is a .binpack", "binpack"),
        (Format::Tree, "this is a .tree", "tree"),
        (Format::Bulletformat, "these are bulletformat's 32-byte records", "bf"),
        (Format::Bin, "these are the 40-byte records of a .bin", "bin"),
        (Format::Viriformat, "these are games in viriformat", "vf"),
        (Format::Plain, "this is a .plain", "plain"),
        (Format::BulletText, "this is bullet's text (FEN | score | result)", "bullet.txt"),
        (Format::Pgn, "these are games in PGN", "pgn"),
        (Format::Epd, "this is EPD", "epd"),
    ];
    for (format, what, extension) in known {
        if records(format, head) {
            return format!("{what}; rename it to {}", path.with_extension(extension).shown());
        }
    }
    for compression in [Compression::Gzip, Compression::Zstd] {
        if let Some(kind) = compression.kind().filter(|kind| (kind.is)(head)) {
            let extension = if compression == Compression::Gzip { "gz" } else { "zst" };
            return format!("this is {}; rename it to {}.{extension}", kind.name, path.shown());
        }
    }
    let other = if (nnue::KIND.is)(head) {
        "this is a network"
    } else if head.starts_with(b"ZOOTRAIN") {
        "this is the checkpoint of a training run"
    } else if is_text(head) {
        "this is other text"
    } else {
        "the format is unknown, or the file is damaged"
    };
    other.to_owned()
}

// Compression.
//
// Compression around files of any format: gzip and Zstandard.
//
// A compressed file has no random access, so `data` commands read and write it, and training and generation do not.

/// Size of the read buffer in bytes.
const BUFFER: usize = 1 << 20;
/// Size of a written frame of Zstandard before compression, in bytes.
const FRAME: usize = 4 << 20;
/// Largest window of a frame that is read, in bytes: that of `zstd --ultra --long=31`.
const MAX_WINDOW: u64 = 1 << 31;

/// Compression of a file, chosen by the last extension of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// None.
    None,
    /// `.gz`.
    Gzip,
    /// `.zst`.
    Zstd,
}

impl Compression {
    /// The compression that the name implies, and the name without its extension.
    pub fn of(path: &Path) -> (Self, PathBuf) {
        let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
        match extension.as_deref() {
            Some("gz") => (Self::Gzip, path.with_extension("")),
            Some("zst" | "zstd") => (Self::Zstd, path.with_extension("")),
            _ => (Self::None, path.to_path_buf()),
        }
    }

    /// Kind of the compressed files; `None` without compression.
    pub fn kind(self) -> Option<Kind> {
        match self {
            Self::None => None,
            Self::Gzip => Some(Kind { name: "a file compressed with gzip", is: |head| head.starts_with(b"\x1f\x8b") }),
            Self::Zstd => Some(Kind { name: "a file compressed with Zstandard", is: is_zstd }),
        }
    }

    /// Reads the uncompressed content of `source`.
    pub fn reader<'a>(self, source: impl Read + 'a) -> Box<dyn BufRead + 'a> {
        let source = BufReader::with_capacity(BUFFER, source);
        match self {
            Self::None => Box::new(source),
            Self::Gzip => Box::new(BufReader::with_capacity(BUFFER, MultiGzDecoder::new(source))),
            Self::Zstd => Box::new(BufReader::with_capacity(BUFFER, ZstdReader::new(source))),
        }
    }
}

/// Whether the bytes start with a frame or a skippable frame of Zstandard.
fn is_zstd(head: &[u8]) -> bool {
    head.starts_with(b"\x28\xb5\x2f\xfd")
        || (head.len() > 3 && head[0] & 0xf0 == 0x50 && head[1..4] == *b"\x2a\x4d\x18")
}

/// Reader of all frames of a file.
struct ZstdReader<R: BufRead> {
    source: R,
    decoder: FrameDecoder,
    /// Whether a frame has begun and its content is not read completely.
    is_open: bool,
}

impl<R: BufRead> ZstdReader<R> {
    fn new(source: R) -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(MAX_WINDOW);
        Self { source, decoder, is_open: false }
    }

    /// Starts the next frame. Returns false at the end of the file.
    fn open(&mut self) -> io::Result<bool> {
        while !self.source.fill_buf()?.is_empty() {
            match self.decoder.reset(&mut self.source) {
                Ok(()) => {
                    self.is_open = true;
                    return Ok(true);
                }
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    let length = u64::from(length);
                    if io::copy(&mut self.source.by_ref().take(length), &mut io::sink())? < length {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(error) => return Err(damaged(error)),
            }
        }
        Ok(false)
    }
}

impl<R: BufRead> Read for ZstdReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !buffer.is_empty() && (self.is_open || self.open()?) {
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                let decoded = self.decoder.decode_blocks(&mut self.source, BlockDecodingStrategy::UptoBlocks(1));
                decoded.map_err(damaged)?;
            }
            let count = self.decoder.read(buffer)?;
            if count > 0 {
                return Ok(count);
            }
            self.is_open = false;
            let stored = self.decoder.get_checksum_from_data();
            if stored.is_some() && stored != self.decoder.get_calculated_checksum() {
                return Err(damaged("the checksum is wrong"));
            }
        }
        Ok(0)
    }
}

fn damaged(error: impl std::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the Zstandard data are damaged: {error}"))
}

/// Compresses what is written to it.
pub enum Compressor<W: Write> {
    /// No compression.
    None(W),
    /// A stream of gzip.
    Gzip(GzEncoder<W>),
    /// Frames of Zstandard, and the content of the next frame.
    Zstd(W, Vec<u8>),
}

impl<W: Write> Compressor<W> {
    /// Creates a compressor into `sink`.
    pub fn new(compression: Compression, sink: W) -> Self {
        match compression {
            Compression::None => Self::None(sink),
            Compression::Gzip => Self::Gzip(GzEncoder::new(sink, flate2::Compression::default())),
            Compression::Zstd => Self::Zstd(sink, Vec::with_capacity(FRAME)),
        }
    }

    /// Writes the rest and returns the sink.
    ///
    /// # Errors
    /// Fails on a write error.
    pub fn finish(self) -> io::Result<W> {
        match self {
            Self::None(sink) => Ok(sink),
            Self::Gzip(encoder) => encoder.finish(),
            Self::Zstd(mut sink, content) => {
                sink.write_all(&compress_to_vec(content.as_slice(), CompressionLevel::Fastest))?;
                Ok(sink)
            }
        }
    }
}

impl<W: Write> Write for Compressor<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::None(sink) => sink.write(bytes),
            Self::Gzip(encoder) => encoder.write(bytes),
            Self::Zstd(sink, content) => {
                content.extend_from_slice(bytes);
                if content.len() >= FRAME {
                    sink.write_all(&compress_to_vec(content.as_slice(), CompressionLevel::Fastest))?;
                    content.clear();
                }
                Ok(bytes.len())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::{CastlingMode, Position};
    use crate::data::entry::Entry;
    use crate::data::reader::EntryWriter;

    fn entries() -> Vec<Entry> {
        ["rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "4k3/8/8/8/8/8/4P3/4K3 b - - 0 9"]
            .iter()
            .map(|fen| {
                let position = Position::from_fen(fen, CastlingMode::Standard).expect("a position");
                Entry { m: position.legal_moves().first().copied(), ..Entry::of(&position) }
            })
            .collect()
    }

    fn bytes(format: Format) -> Vec<u8> {
        let mut writer = EntryWriter::new(format, Vec::new()).expect("a writer");
        entries().iter().for_each(|entry| writer.write(entry).expect("a valid entry"));
        writer.finish().expect("writing to a vector")
    }

    #[test]
    fn content_of_another_format_is_named_with_its_extension() {
        let folder = tempfile::tempdir().expect("a folder");
        let formats = [
            (Format::Bin, "bin"),
            (Format::Binpack, "binpack"),
            (Format::Plain, "plain"),
            (Format::Bulletformat, "bf"),
            (Format::BulletText, "bullet.txt"),
            (Format::Epd, "epd"),
        ];
        let all = formats.iter().map(|&(_, extension)| extension).chain(["tree", "vf", "pgn"]);
        for name in all {
            let path = folder.path().join(format!("a.{name}"));
            for (format, extension) in formats {
                std::fs::write(&path, bytes(format)).expect("room");
                let checked = Format::of_file(&path);
                if name == extension {
                    assert!(checked.is_ok(), "{extension} as {name}: {checked:?}");
                    continue;
                }
                let error = format!("{:#}", checked.expect_err(extension));
                assert!(error.contains(&format!(".{extension}")), "{extension} as {name}: {error}");
            }
            for foreign in [b"hello\n".as_slice(), &[1, 2, 3], &[255; 200]] {
                std::fs::write(&path, foreign).expect("room");
                let checked = Format::of_file(&path);
                // Three bytes can be the start of a record.
                assert!(checked.is_err() || (foreign.len() == 3 && name == "bin"), "{name}: {foreign:?}");
            }
        }
    }

    #[test]
    fn extensions_are_read_under_a_compression() {
        let of = |name: &str| FileFormat::of(Path::new(name)).map(|file| (file.format, file.compression)).ok();
        assert_eq!(of("a.BIN"), Some((Format::Bin, Compression::None)));
        assert_eq!(of("a.pgn.gz"), Some((Format::Pgn, Compression::Gzip)));
        assert_eq!(of("a.b.binpack.zst"), Some((Format::Binpack, Compression::Zstd)));
        assert_eq!(of("a.bullet.txt"), Some((Format::BulletText, Compression::None)));
        assert_eq!(of("a.txt"), Some((Format::Plain, Compression::None)));
        assert_eq!((of("a.gz"), of("a"), of("a.docx")), (None, None, None));
        assert!(is_txt(Path::new("a.TXT.gz")) && !is_txt(Path::new("a.plain")));
        let error = Format::of(Path::new("a.bin.gz")).expect_err("a compressed file").to_string();
        assert!(error.contains("zoothera data convert a.bin.gz a.bin"), "{error}");
    }
}

#[cfg(test)]
mod compression_tests {
    use super::*;
    use crate::util::rng::SplitMix64;

    fn compressed(compression: Compression, content: &[u8]) -> Vec<u8> {
        let mut compressor = Compressor::new(compression, Vec::new());
        content.chunks(1000).for_each(|part| compressor.write_all(part).expect("writing to a vector"));
        compressor.finish().expect("writing to a vector")
    }

    fn read(compression: Compression, bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        compression.reader(bytes).read_to_end(&mut content).map(|_| content)
    }

    #[test]
    fn content_round_trips_and_damage_is_an_error() {
        let mut rng = SplitMix64::new(1);
        // More than a frame.
        let content: Vec<u8> = (0..FRAME + 5000).map(|_| (rng.next_u64() % 3) as u8).collect();
        for compression in [Compression::Gzip, Compression::Zstd] {
            for content in [&content[..], b"", b"a"] {
                let bytes = compressed(compression, content);
                assert!(read(compression, &bytes).expect("valid data") == content, "{compression:?}");
                assert!(compression.kind().is_some_and(|kind| (kind.is)(&bytes)));
            }
            let bytes = compressed(compression, &content);
            assert!(bytes.len() < content.len() / 2, "{compression:?}");
            assert!(read(compression, &bytes[..bytes.len() - 9]).is_err(), "{compression:?}: a missing end");
            let mut other = bytes.clone();
            other[bytes.len() / 2] ^= 4;
            let read = read(compression, &other);
            assert!(read.is_err(), "{compression:?}: a changed byte");
            // Files can be concatenated.
            let both = [bytes.clone(), bytes].concat();
            assert!(
                super::compression_tests::read(compression, &both).expect("valid data")
                    == [&content[..], &content].concat()
            );
        }
    }

    #[test]
    fn skippable_frames_are_skipped() {
        let frame = compressed(Compression::Zstd, b"content");
        let bytes = [b"\x50\x2a\x4d\x18\x03\0\0\0abc".as_slice(), &frame].concat();
        assert_eq!(read(Compression::Zstd, &bytes).expect("valid data"), b"content");
        assert!(read(Compression::Zstd, &bytes[..9]).is_err());
    }
}
