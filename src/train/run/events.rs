//! The log of a run for other programs: comma-separated values, or the event file that TensorBoard reads.
//!
//! An event file is a list of records: length (8 bytes), checksum of the length, an `Event` message as protocol
//! buffers, checksum of the message. TensorBoard reads every file whose name contains `tfevents` in its folder.
// CITE: record format, masked CRC-32C and the messages `Event` and `Summary`: TensorFlow's documentation of TFRecord,
// event.proto and summary.proto.

use super::checkpoint::Validation;
use super::config::LogKind;
use super::display::short_rate;
use crate::util::identity::Kind;

/// First line of a `.csv`.
const CSV_HEADER: &str = "positions,train,held_out,rate,lambda,seconds\n";
/// Version in the first record of an event file.
const VERSION: &[u8] = b"brain.Event:2";

impl LogKind {
    /// Extension and kind of the file.
    pub fn file(self) -> Option<(&'static str, Kind)> {
        match self {
            Self::None => None,
            Self::Csv => Some((
                "csv",
                Kind { name: "the log of a training run", is: |head| head.starts_with(CSV_HEADER.as_bytes()) },
            )),
            Self::Tensorboard => Some((
                "tfevents",
                Kind {
                    name: "an event file of TensorBoard",
                    is: |head| head.windows(VERSION.len()).take(64).any(|part| part == VERSION),
                },
            )),
        }
    }

    /// Content of the file.
    pub fn content(self, history: &[Validation]) -> Vec<u8> {
        match self {
            Self::None => Vec::new(),
            Self::Csv => csv(history).into_bytes(),
            Self::Tensorboard => events(history),
        }
    }
}

fn csv(history: &[Validation]) -> String {
    let line = |report: &Validation| {
        let Validation { shown, train, lambda, seconds, .. } = report;
        let rate = short_rate(report.rate);
        let held_out = report.measured().map_or_else(String::new, |loss| loss.to_string());
        format!("{shown},{train},{held_out},{rate},{lambda},{seconds:.1}\n")
    };
    CSV_HEADER.to_owned() + &history.iter().map(line).collect::<String>()
}

/// The event file: the version, and an event for each validation. The step is the number of positions shown, and the
/// time is that of the run, so that the file depends on the run alone.
fn events(history: &[Validation]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut version = double(1, 0.0);
    version.extend(message(3, VERSION));
    record(&version, &mut bytes);
    for report in history {
        let values = [
            ("loss/train", Some(report.train as f32)),
            ("loss/held out", report.measured()),
            ("learning rate", Some(report.rate)),
            ("lambda", Some(report.lambda)),
        ];
        let mut summary = Vec::new();
        for (name, value) in values.into_iter().filter_map(|(name, value)| Some((name, value?))) {
            let mut scalar = message(1, name.as_bytes());
            scalar.push(2 << 3 | 5);
            scalar.extend(value.to_le_bytes());
            summary.extend(message(1, &scalar));
        }
        let mut event = double(1, report.seconds);
        event.push(2 << 3);
        event.extend(varint(report.shown));
        event.extend(message(5, &summary));
        record(&event, &mut bytes);
    }
    bytes
}

/// A field of type double.
fn double(field: u8, value: f64) -> Vec<u8> {
    let mut bytes = vec![field << 3 | 1];
    bytes.extend(value.to_le_bytes());
    bytes
}

/// A field of bytes, text or a message.
fn message(field: u8, content: &[u8]) -> Vec<u8> {
    let mut bytes = vec![field << 3 | 2];
    bytes.extend(varint(content.len() as u64));
    bytes.extend(content);
    bytes
}

/// A number in groups of seven bits, least significant first.
fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value > 127 {
        bytes.push(value as u8 | 128);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

fn record(content: &[u8], out: &mut Vec<u8>) {
    let length = (content.len() as u64).to_le_bytes();
    out.extend(length);
    out.extend(masked(crc32c(&length)).to_le_bytes());
    out.extend(content);
    out.extend(masked(crc32c(content)).to_le_bytes());
}

/// A checksum as it is stored, because data that contain their own checksums give weak ones.
fn masked(checksum: u32) -> u32 {
    checksum.rotate_right(15).wrapping_add(0xa282_ead8)
}

/// CRC-32 with the polynomial of Castagnoli.
fn crc32c(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |checksum: u32, &byte| {
        (0..8).fold(checksum ^ u32::from(byte), |sum, _| sum >> 1 ^ if sum & 1 == 1 { 0x82f6_3b78 } else { 0 })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history() -> Vec<Validation> {
        let report =
            |shown, held_out| Validation { shown, train: 0.5, held_out, rate: 0.25, lambda: 0.75, seconds: 2.0 };
        vec![report(1000, 0.125), report(2000, 0.0)]
    }

    #[test]
    fn checksum_is_that_of_castagnoli() {
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
    }

    #[test]
    fn records_have_valid_lengths_and_checksums() {
        let bytes = LogKind::Tensorboard.content(&history());
        let (mut left, mut contents) = (&bytes[..], Vec::new());
        while let Some((header, rest)) = left.split_first_chunk::<12>() {
            let length = u64::from_le_bytes(header[..8].try_into().expect("eight bytes"));
            assert_eq!(header[8..], masked(crc32c(&header[..8])).to_le_bytes());
            let (content, rest) = rest.split_at(length as usize);
            let (checksum, rest) = rest.split_first_chunk::<4>().expect("a checksum");
            assert_eq!(*checksum, masked(crc32c(content)).to_le_bytes());
            contents.push(content);
            left = rest;
        }
        assert_eq!(contents.len(), 3);
        let has = |content: &[u8], part: &[u8]| content.windows(part.len()).any(|window| window == part);
        // Step 1000, and the held-out loss 0.125 after its name.
        assert!(has(contents[1], &[2 << 3, 0xe8, 7]));
        assert!(has(contents[1], b"loss/held out\x15\0\0\0\x3e"));
        assert!(!has(contents[2], b"held out"));
        assert!(LogKind::Tensorboard.file().is_some_and(|(_, kind)| (kind.is)(&bytes)));
    }

    #[test]
    fn csv_has_a_line_for_each_validation() {
        let text = String::from_utf8(LogKind::Csv.content(&history())).expect("a text");
        assert_eq!(text, format!("{CSV_HEADER}1000,0.5,0.125,0.25,0.75,2.0\n2000,0.5,,0.25,0.75,2.0\n"));
    }
}
