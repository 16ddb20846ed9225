//! The loss curves of a run, as text for the terminal and as an SVG picture.

use std::fmt::Write;

use super::checkpoint::Validation;

/// Size of the plot in the terminal, in characters.
const COLUMNS: usize = 64;
const ROWS: usize = 10;

/// Returns the latest validation losses as a line of block characters, for the moving line.
pub fn sparkline(history: &[Validation], width: usize) -> String {
    const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let recent = &history[history.len().saturating_sub(width)..];
    let Some(range) = Range::of(recent.iter().map(|report| f64::from(report.held_out))) else {
        return String::new();
    };
    recent
        .iter()
        .map(|report| {
            let height = range.place(f64::from(report.held_out)) * BLOCKS.len() as f64;
            BLOCKS[(height as usize).min(BLOCKS.len() - 1)]
        })
        .collect()
}

/// Returns both curves as text: `t` the training loss, `*` the validation loss; empty with fewer than two validations.
pub fn text(history: &[Validation]) -> String {
    let (Some(range), Some(end)) = (both_range(history), history.last()) else {
        return String::new();
    };
    if history.len() < 2 {
        return String::new();
    }
    let mut canvas = vec![vec![' '; COLUMNS]; ROWS];
    for report in history {
        let share = report.shown as f64 / end.shown.max(1) as f64;
        let column = (share * (COLUMNS - 1) as f64).round() as usize;
        let curves = [(report.train, 't'), (f64::from(report.held_out), '*')];
        for (value, mark) in curves {
            let row = ((1.0 - range.place(value)) * (ROWS - 1) as f64).round() as usize;
            canvas[row.min(ROWS - 1)][column.min(COLUMNS - 1)] = mark;
        }
    }
    let mut out = String::new();
    for (row, line) in canvas.iter().enumerate() {
        let value = range.value(1.0 - row as f64 / (ROWS - 1) as f64);
        let line: String = line.iter().collect();
        let _ = writeln!(out, "{value:9.6} |{}", line.trim_end());
    }
    let _ = writeln!(out, "{:>10}+{}", "", "-".repeat(COLUMNS));
    let _ = writeln!(out, "{:>11}t training loss, * held out, over {:.1} million positions", "", millions(end));
    out
}

pub(super) fn millions(report: &Validation) -> f64 {
    report.shown as f64 / 1e6
}

pub(super) fn both_range(history: &[Validation]) -> Option<Range> {
    let values = history.iter().flat_map(|report| [report.train, f64::from(report.held_out)]);
    Range::of(values)
}

/// Range of a logarithmic axis, in natural logarithms.
#[derive(Clone, Copy)]
pub(super) struct Range {
    low: f64,
    high: f64,
}

impl Range {
    /// Returns the range of the positive values, if there are any.
    pub(super) fn of(values: impl Iterator<Item = f64>) -> Option<Self> {
        let logs = values.filter(|value| value.is_finite() && *value > 0.0);
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for log in logs.map(f64::ln) {
            low = low.min(log);
            high = high.max(log);
        }
        (low <= high).then_some(Self {
            low,
            // A flat curve also needs a range above 0.
            high: high.max(low + 1e-6),
        })
    }

    /// Returns the position of a value in the range, 0 to 1.
    pub(super) fn place(&self, value: f64) -> f64 {
        if value > 0.0 { ((value.ln() - self.low) / (self.high - self.low)).clamp(0.0, 1.0) } else { 0.0 }
    }

    /// Returns the value at a position in the range.
    pub(super) fn value(&self, place: f64) -> f64 {
        (self.low + place * (self.high - self.low)).exp()
    }
}

// The loss curves as an SVG picture: logarithmic losses, round numbers on the axes, labels at the curves.

/// Width, height and margins of the picture, in SVG units.
const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 360.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 120.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 45.0;
/// Maximum number of labels on an axis.
const TICKS: f64 = 7.0;
/// Minimum distance between the labels of two curves.
const LINE: f64 = 15.0;

/// Returns both curves as an SVG picture, or an empty frame without validations.
pub fn svg(title: &str, history: &[Validation]) -> String {
    let mut out = opened(title);
    if let (Some(range), Some(last)) = (both_range(history), history.last()) {
        let frame = Canvas { range, end: millions(last).max(1e-9) };
        frame.axes(&mut out);
        let train = history.iter().map(|r| (millions(r), r.train));
        frame.curve(&mut out, "#999999", train);
        let held_out = history.iter().map(|r| (millions(r), f64::from(r.held_out)));
        frame.curve(&mut out, "#1f5fbf", held_out);
        frame.names(&mut out, last);
    }
    out.push_str("</svg>\n");
    out
}

/// Colours of the curves of several runs.
const COLOURS: [&str; 6] = ["#1f5fbf", "#c2452d", "#2b8a3e", "#8e44ad", "#b7791f", "#333333"];

/// Returns the held-out losses of several runs in one SVG picture, or the training losses of runs without held-out
/// positions.
pub fn compare(title: &str, runs: &[(String, Vec<Validation>)]) -> String {
    let loss = |report: &Validation| report.measured().map_or(report.train, f64::from);
    let all = || runs.iter().flat_map(|(_, history)| history);
    let mut out = opened(title);
    if let Some(range) = Range::of(all().map(loss)) {
        let end = all().map(millions).fold(1e-9, f64::max);
        let frame = Canvas { range, end };
        frame.axes(&mut out);
        let mut labels: Vec<(f64, String, &str)> = Vec::new();
        for ((name, history), colour) in runs.iter().zip(COLOURS.iter().cycle()) {
            frame.curve(&mut out, colour, history.iter().map(|report| (millions(report), loss(report))));
            if let Some(last) = history.last() {
                labels.push((frame.y(loss(last)), format!("{name} {:.5}", loss(last)), colour));
            }
        }
        labels.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut lowest = f64::NEG_INFINITY;
        for (y, text, colour) in labels {
            lowest = y.max(lowest + LINE);
            frame.label(&mut out, lowest, &text, colour);
        }
    }
    out.push_str("</svg>\n");
    out
}

/// The start of a picture with its title.
fn opened(title: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n\
         <text x=\"{LEFT}\" y=\"18\" font-size=\"14\">{}</text>\n",
        escaped(title)
    )
}

/// Coordinate system of the picture.
struct Canvas {
    range: Range,
    /// Millions of positions at the right edge.
    end: f64,
}

impl Canvas {
    fn x(&self, millions: f64) -> f64 {
        LEFT + millions / self.end * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, value: f64) -> f64 {
        TOP + (1.0 - self.range.place(value)) * (HEIGHT - TOP - BOTTOM)
    }

    /// Draws a horizontal line at each round loss, and a label below at each round number of positions.
    fn axes(&self, out: &mut String) {
        let (low, high) = (self.range.value(0.0), self.range.value(1.0));
        for (value, text) in round_losses(low, high) {
            let y = self.y(value);
            let _ = writeln!(
                out,
                "<line x1=\"{LEFT}\" x2=\"{}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"#dddddd\"/>\n\
                 <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{text}</text>",
                WIDTH - RIGHT,
                LEFT - 6.0,
                y + 4.0
            );
        }
        let below = HEIGHT - BOTTOM;
        for (value, text) in round_numbers(0.0, self.end) {
            let x = self.x(value);
            let _ = writeln!(
                out,
                "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{below}\" y2=\"{}\" stroke=\"#999999\"/>\n\
                 <text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{text}</text>",
                below + 5.0,
                below + 18.0
            );
        }
        let _ = writeln!(
            out,
            "<line x1=\"{LEFT}\" x2=\"{}\" y1=\"{below}\" y2=\"{below}\" stroke=\"#999999\"/>\n\
             <text x=\"{}\" y=\"{}\" text-anchor=\"middle\">million positions shown</text>\n\
             <text x=\"14\" y=\"{y}\" text-anchor=\"middle\" transform=\"rotate(-90 14 {y})\">loss</text>",
            WIDTH - RIGHT,
            f64::midpoint(LEFT, WIDTH - RIGHT),
            HEIGHT - 8.0,
            y = f64::midpoint(TOP, below)
        );
    }

    fn curve(&self, out: &mut String, colour: &str, values: impl Iterator<Item = (f64, f64)>) {
        let points: Vec<String> = values
            .filter(|(_, value)| value.is_finite() && *value > 0.0)
            .map(|(millions, value)| format!("{:.1},{:.1}", self.x(millions), self.y(value)))
            .collect();
        let _ = writeln!(
            out,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
            points.join(" ")
        );
    }

    /// Label and final value of each curve.
    fn names(&self, out: &mut String, last: &Validation) {
        let (train, held_out) = (last.train, f64::from(last.held_out));
        let (mut high, mut low) = ((train, "training", "#777777"), (held_out, "held out", "#1f5fbf"));
        if held_out > train {
            std::mem::swap(&mut high, &mut low);
        }
        let upper = self.y(high.0).min(self.y(low.0) - LINE);
        let lower = self.y(low.0).max(upper + LINE);
        for (y, (value, name, colour)) in [(upper, high), (lower, low)] {
            // A run without held-out positions has no such curve.
            if value <= 0.0 {
                continue;
            }
            self.label(out, y, &format!("{name} {value:.5}"), colour);
        }
    }

    /// Label of a curve, to the right of the frame.
    fn label(&self, out: &mut String, y: f64, text: &str, colour: &str) {
        let (x, y) = (WIDTH - RIGHT + 6.0, y + 4.0);
        let _ = writeln!(out, "<text x=\"{x}\" y=\"{y:.1}\" fill=\"{colour}\">{}</text>", escaped(text));
    }
}

/// Returns evenly spaced round numbers from `low` to `high`, with their text.
pub fn round_numbers(low: f64, high: f64) -> Vec<(f64, String)> {
    let rough = (high - low) / TICKS;
    if !(rough > 0.0 && rough.is_finite()) {
        return Vec::new();
    }
    let power = 10_f64.powf(rough.log10().floor());
    let step = power * [1.0, 2.0, 5.0].into_iter().find(|step| step * power >= rough).unwrap_or(10.0);
    let decimals = (-step.log10().floor()).clamp(0.0, 12.0) as usize;
    let (first, last) = ((low / step).ceil() as i64, (high / step + 1e-9).floor() as i64);
    (first..=last).map(|number| number as f64 * step).map(|value| (value, format!("{value:.decimals$}"))).collect()
}

/// Returns round losses for a logarithmic axis: evenly spaced within a factor of 8, else 1, 2 and 5 of every decade.
fn round_losses(low: f64, high: f64) -> Vec<(f64, String)> {
    if high < 8.0 * low {
        return round_numbers(low, high);
    }
    let decades = low.log10().floor() as i32..=high.log10().ceil() as i32;
    decades
        .flat_map(|decade| [1.0, 2.0, 5.0].map(|digit| (digit, decade)))
        .map(|(digit, decade)| {
            let decimals = (-decade).max(0) as usize;
            let value = digit * 10_f64.powi(decade);
            (value, format!("{value:.decimals$}"))
        })
        .filter(|(value, _)| (low..=high).contains(value))
        .collect()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history() -> Vec<Validation> {
        (1..=20)
            .map(|step| Validation {
                shown: step * 1_000_000,
                train: 0.02 / step as f64,
                held_out: 0.03 / step as f32,
                rate: 0.004,
                lambda: 1.0,
                seconds: step as f64,
            })
            .collect()
    }

    #[test]
    fn falling_loss_slopes_down() {
        let line: Vec<char> = sparkline(&history(), 30).chars().collect();
        assert_eq!(line.len(), 20);
        assert!(line.is_sorted_by(|a, b| a >= b), "{line:?}");
        assert_eq!((line[0], line[19]), ('█', '▁'));
        let text = text(&history());
        assert_eq!(text.lines().count(), ROWS + 2);
        let top = text.lines().next().unwrap();
        assert!(top.starts_with(" 0.030000 |"), "{text}");
        assert!(top.contains('*') && !top.contains('t'), "{text}");
    }

    #[test]
    fn short_history_draws_nothing() {
        assert_eq!(sparkline(&[], 10), "");
        assert_eq!(text(&[]), "");
        assert_eq!(text(&history()[..1]), "");
    }
}

#[cfg(test)]
mod picture_tests {
    use super::*;

    fn history(train: f64) -> Vec<Validation> {
        (1..=20)
            .map(|step| Validation {
                shown: step * 25_000_000,
                train: train / step as f64,
                held_out: 0.03 / step as f32,
                rate: 0.004,
                lambda: 1.0,
                seconds: step as f64,
            })
            .collect()
    }

    fn texts(ticks: &[(f64, String)]) -> Vec<&str> {
        ticks.iter().map(|(_, text)| text.as_str()).collect()
    }

    #[test]
    fn axes_have_round_numbers() {
        assert_eq!(texts(&round_numbers(0.0, 500.0)), ["0", "100", "200", "300", "400", "500"]);
        assert_eq!(texts(&round_losses(0.00267, 0.00739)), ["0.003", "0.004", "0.005", "0.006", "0.007"]);
        assert_eq!(texts(&round_losses(0.0004, 0.023)), ["0.0005", "0.001", "0.002", "0.005", "0.01", "0.02"]);
        assert!(round_numbers(1.0, 1.0).is_empty());
    }

    #[test]
    fn curve_labels_do_not_overlap() {
        for train in [0.02, 0.03, 0.0301, 0.05] {
            let picture = svg("a", &history(train));
            let heights: Vec<f64> = ["training", "held out"]
                .iter()
                .map(|name| {
                    let line = picture.lines().find(|line| line.contains(name)).unwrap();
                    line.split("y=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
                })
                .collect();
            assert!((heights[0] - heights[1]).abs() >= LINE - 0.2, "{heights:?}");
        }
    }

    #[test]
    fn several_runs_share_a_picture_with_a_label_each() {
        let mut without = history(0.04);
        without.iter_mut().for_each(|report| report.held_out = 0.0);
        let runs = [("a".to_owned(), history(0.02)), ("b".to_owned(), without), ("c".to_owned(), Vec::new())];
        let picture = compare("a, b: loss", &runs);
        assert_eq!(picture.matches("<polyline").count(), 3);
        // The training loss stands for the missing held-out loss.
        assert!(picture.contains(">a 0.00150<") && picture.contains(">b 0.00200<"), "{picture}");
        assert!(!compare("none", &[]).contains("<polyline"));
    }

    #[test]
    fn invalid_losses_are_not_drawn() {
        let mut history = history(0.02);
        history[3].train = f64::NAN;
        history[4].train = 0.0;
        assert!(!svg("a", &history).contains("NaN"));
        assert!(svg("a < b", &[]).contains("a &lt; b"));
    }
}
