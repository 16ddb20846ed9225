//! Progress display of a run: a moving line on a terminal, one line per validation elsewhere. Warnings of divergence
//! and overfitting. The log of a run for other programs.

use std::io::{Write, stderr};
use std::time::{Duration, Instant};

use super::checkpoint::Validation;
use super::config::LogKind;
use super::plot::sparkline;
use crate::util::console::supports_escapes;
use crate::util::files::Kind;
use crate::util::quantity::short_time;

/// Interval at which the moving line is drawn.
const PERIOD: Duration = Duration::from_millis(250);
/// Width of the bar in characters.
const BAR: usize = 24;
/// Number of validations in the sparkline.
const SPARKS: usize = 16;

/// Converts positions to millions.
pub fn millions(positions: u64) -> f64 {
    positions as f64 / 1e6
}

/// Writes progress to standard error and ignores write errors, which should not end a run.
pub struct RunDisplay {
    /// Whether permanent lines are omitted.
    pub quiet: bool,
    terminal: bool,
    drawn: Instant,
    open: bool,
}

/// Progress of a run, for the moving line.
#[derive(Clone, Copy)]
pub struct Status<'a> {
    /// Completed share of the run, 0 to 1.
    pub done: f64,
    /// Positions shown.
    pub shown: u64,
    /// Positions per second since this process started training.
    pub speed: f64,
    /// Estimated seconds to the end.
    pub left: f64,
    /// Loss of the last batch.
    pub loss: f64,
    /// Every validation so far.
    pub history: &'a [Validation],
}

impl RunDisplay {
    /// Creates a display for this process's standard error.
    pub fn new() -> Self {
        Self { quiet: false, terminal: supports_escapes(&stderr()), drawn: Instant::now(), open: false }
    }

    /// Draws the moving line, if standard error is a terminal and [`PERIOD`] has passed.
    pub fn tick(&mut self, status: Status) {
        if !self.terminal || self.drawn.elapsed() < PERIOD {
            return;
        }
        self.drawn = Instant::now();
        self.open = true;
        let line = format!(
            "{} {:5.1} %  {:.1} M  {:.0} k/s  {} left  loss {:.6}  {}",
            bar(status.done),
            100.0 * status.done,
            status.shown as f64 / 1e6,
            status.speed / 1e3,
            short_time(status.left),
            status.loss,
            sparkline(status.history, SPARKS)
        );
        let mut out = stderr().lock();
        let _ = write!(out, "\r\x1b[K{line}").and_then(|()| out.flush());
    }

    /// Prints a permanent line.
    pub fn print(&mut self, text: &str) {
        let clear = if self.open { "\r\x1b[K" } else { "" };
        self.open = false;
        let _ = if self.quiet { write!(stderr(), "{clear}") } else { writeln!(stderr(), "{clear}{text}") };
    }

    /// Prints a validation.
    pub fn report(&mut self, report: &Validation, status: Status) {
        self.print(&format!(
            "{:7.1} M  {:5.1} %  train {:.6}  held out {}  rate {}  {:6.1} k/s  {} left",
            report.shown as f64 / 1e6,
            100.0 * status.done,
            report.train,
            report.measured().map_or_else(|| "none".to_owned(), |loss| format!("{loss:.6}")),
            short_rate(report.rate),
            status.speed / 1e3,
            short_time(status.left)
        ));
    }
}

impl Default for RunDisplay {
    fn default() -> Self {
        Self::new()
    }
}

/// Formats a learning rate with at most four significant digits, as people type it: 0.004, 0.0002, 0.000001234.
pub fn short_rate(rate: f32) -> String {
    let rounded: f64 = format!("{rate:.3e}").parse().unwrap_or(rate.into());
    format!("{rounded}")
}

fn bar(done: f64) -> String {
    let full = (done.clamp(0.0, 1.0) * BAR as f64) as usize;
    format!("[{}{}]", "#".repeat(full), "-".repeat(BAR - full))
}

// Detection of divergence and overfitting during a run.

/// Share of the dense layers' weights at their limit from which a run counts as diverged. In a healthy net it is below
/// 0.05.
const MAX_LIMITED: f64 = 0.5;
/// Maximum relative excess of the held-out loss over the training loss.
const MAX_GAP: f64 = 0.1;
/// Lambdas that differ by less count as equal. The two losses are comparable only for equal lambdas.
const SAME_LAMBDA: f32 = 1e-4;

/// Returns the reason why a run counts as diverged, if any, from a loss and the share of weights at their limit.
pub fn divergence(loss: f64, limited: f64) -> Option<String> {
    if !loss.is_finite() {
        return Some(format!("the loss is {loss}"));
    }
    // NaN weights give a NaN share.
    (limited.is_nan() || limited >= MAX_LIMITED)
        .then(|| format!("{:.1} % of the dense layers' weights are at their limit", 100.0 * limited))
}

/// Returns a warning if the last two validations are the first two consecutive ones with a held-out loss more than
/// [`MAX_GAP`] above the training loss. `lambda` is the weight of the score in the held-out loss.
pub fn overfitting(history: &[Validation], lambda: f32) -> Option<String> {
    let overfits = |validation: &Validation| {
        (validation.lambda - lambda).abs() < SAME_LAMBDA
            && f64::from(validation.held_out) > (1.0 + MAX_GAP) * validation.train
    };
    let twice = |pair: &[Validation]| pair.iter().all(overfits);
    let mut pairs = history.windows(2);
    let last = pairs.next_back()?;
    if !twice(last) || pairs.any(twice) {
        return None;
    }
    let Validation { train, held_out, .. } = last[1];
    let gap = 100.0 * (f64::from(held_out) / train - 1.0);
    Some(format!(
        "warning: the held-out loss {held_out:.6} is {gap:.0} % above the training loss {train:.6}: the net overfits. \
         The best remedy is more positions; otherwise show them less often (--millions), or use --factor-decay, \
         --real-decay or --decay"
    ))
}

// The log of a run for other programs: comma-separated values, or the event file that TensorBoard reads.
//
// An event file is a list of records: length (8 bytes), checksum of the length, an `Event` message as protocol
// buffers, checksum of the message. TensorBoard reads every file whose name contains `tfevents` in its folder.
// CITE: record format, masked CRC-32C and the messages `Event` and `Summary`: TensorFlow's documentation of TFRecord,
// event.proto and summary.proto.

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

    #[test]
    fn rates_print_as_typed() {
        let texts = [0.004, 0.0002, 0.000_000_12, 0.003_892_343, 1.0, 0.0].map(short_rate);
        assert_eq!(texts, ["0.004", "0.0002", "0.00000012", "0.003892", "1", "0"]);
    }

    #[test]
    fn bar_has_constant_length() {
        assert_eq!(bar(0.5), "[############------------]");
        assert_eq!(bar(7.0).len(), BAR + 2);
    }
}

#[cfg(test)]
mod watch_tests {
    use super::*;

    fn history(losses: &[(f64, f32)]) -> Vec<Validation> {
        let validation = |&(train, held_out): &(f64, f32)| Validation {
            shown: 0,
            train,
            held_out,
            rate: 0.001,
            lambda: 1.0,
            seconds: 0.0,
        };
        losses.iter().map(validation).collect()
    }

    #[test]
    fn non_finite_loss_and_limited_weights_are_divergence() {
        assert_eq!(divergence(0.01, 0.04), None);
        assert!(divergence(f64::NAN, 0.0).is_some_and(|text| text.contains("NaN")));
        assert!(divergence(f64::INFINITY, 0.0).is_some());
        let text = divergence(0.3, 0.999).expect("most weights are at their limit");
        assert!(text.contains("99.9 %"), "{text}");
        assert!(divergence(0.3, f64::NAN).is_some());
    }

    #[test]
    fn overfitting_warning_appears_once_with_figures() {
        let losses = [(0.020, 0.019), (0.010, 0.012), (0.010, 0.010), (0.010, 0.012), (0.008, 0.012), (0.007, 0.013)];
        let warned: Vec<usize> =
            (1..=losses.len()).filter(|&count| overfitting(&history(&losses[..count]), 1.0).is_some()).collect();
        assert_eq!(warned, [5]);
        let text = overfitting(&history(&losses[..5]), 1.0).expect("a warning");
        assert!(text.contains("0.012000 is 50 % above"), "{text}");
        // With another lambda the losses have different targets.
        assert_eq!(overfitting(&history(&losses[..5]), 0.7), None);
    }
}

#[cfg(test)]
mod events_tests {
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
