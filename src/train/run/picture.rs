//! The loss curves as an SVG picture: logarithmic losses, round numbers on the axes, labels at the curves.

use std::fmt::Write;

use crate::train::run::checkpoint::Validation;
use crate::train::run::plot::{Range, both_range, millions};

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
