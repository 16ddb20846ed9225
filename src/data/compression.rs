//! Compression around files of any format: gzip and Zstandard.
//!
//! A compressed file has no random access, so `data` commands read and write it, and training and generation do not.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use crate::util::identity::Kind;

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
            assert!(super::tests::read(compression, &both).expect("valid data") == [&content[..], &content].concat());
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
