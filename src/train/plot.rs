//! The loss curves as text for the terminal and as a picture for the browser.

use std::fmt::Write;

use super::checkpoint::Report;

/// Columns and rows of the plot in the terminal.
const COLUMNS: usize = 64;
const ROWS: usize = 10;

/// Width, height and margins of the picture, in its own units.
const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 360.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 45.0;

/// The last losses on held-out positions as a line of blocks, for a progress line.
pub fn sparkline(history: &[Report], width: usize) -> String {
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

/// Both curves as text: `t` the training loss, `*` the loss on held-out positions; empty with less than two reports.
pub fn text(history: &[Report]) -> String {
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
    let _ = writeln!(
        out,
        "{:>11}t training loss, * held out, over {:.1} million positions",
        "",
        millions(end)
    );
    out
}

/// Both curves as an SVG picture, on a logarithmic scale.
pub fn svg(title: &str, history: &[Report]) -> String {
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n\
         <text x=\"{LEFT}\" y=\"18\" font-size=\"14\">{}</text>\n",
        escaped(title)
    );
    if let (Some(range), Some(end)) = (both_range(history), history.last()) {
        let frame = Frame {
            range,
            end: millions(end).max(1e-9),
        };
        frame.axes(&mut out);
        let train = history.iter().map(|r| (millions(r), r.train));
        frame.curve(&mut out, "#999999", "training", train, 0);
        let held_out = history.iter().map(|r| (millions(r), f64::from(r.held_out)));
        frame.curve(&mut out, "#1f5fbf", "held out", held_out, 1);
    }
    out.push_str("</svg>\n");
    out
}

fn millions(report: &Report) -> f64 {
    report.shown as f64 / 1e6
}

fn both_range(history: &[Report]) -> Option<Range> {
    let values = history
        .iter()
        .flat_map(|report| [report.train, f64::from(report.held_out)]);
    Range::of(values)
}

/// What an axis of losses spans, in logarithms.
#[derive(Clone, Copy)]
struct Range {
    low: f64,
    high: f64,
}

impl Range {
    /// The span of the positive values, if there are any.
    fn of(values: impl Iterator<Item = f64>) -> Option<Self> {
        let logs = values.filter(|value| value.is_finite() && *value > 0.0);
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for log in logs.map(f64::ln) {
            low = low.min(log);
            high = high.max(log);
        }
        (low <= high).then_some(Self {
            low,
            // A flat curve needs a span too.
            high: high.max(low + 1e-6),
        })
    }

    /// Where a value lies, 0 to 1.
    fn place(&self, value: f64) -> f64 {
        if value > 0.0 {
            ((value.ln() - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
        } else {
            0.0
        }
    }

    /// The value at a place.
    fn value(&self, place: f64) -> f64 {
        (self.low + place * (self.high - self.low)).exp()
    }
}

/// The picture's coordinates.
struct Frame {
    range: Range,
    /// Millions of positions at the right end.
    end: f64,
}

impl Frame {
    fn x(&self, millions: f64) -> f64 {
        LEFT + millions / self.end * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, value: f64) -> f64 {
        TOP + (1.0 - self.range.place(value)) * (HEIGHT - TOP - BOTTOM)
    }

    /// Four lines across, with what they stand for, and the positions below.
    fn axes(&self, out: &mut String) {
        const LINES: usize = 4;
        for line in 0..=LINES {
            let share = line as f64 / LINES as f64;
            let value = self.range.value(share);
            let (y, x) = (self.y(value), self.x(share * self.end));
            let _ = writeln!(
                out,
                "<line x1=\"{LEFT}\" x2=\"{}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"#dddddd\"/>\n\
                 <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{value:.5}</text>\n\
                 <text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{:.0}</text>",
                WIDTH - RIGHT,
                LEFT - 6.0,
                y + 4.0,
                HEIGHT - BOTTOM + 18.0,
                share * self.end
            );
        }
        let _ = writeln!(
            out,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">million positions</text>",
            f64::midpoint(LEFT, WIDTH - RIGHT),
            HEIGHT - 8.0
        );
    }

    fn curve(
        &self,
        out: &mut String,
        colour: &str,
        name: &str,
        values: impl Iterator<Item = (f64, f64)>,
        number: usize,
    ) {
        let points: Vec<String> = values
            .map(|(millions, value)| format!("{:.1},{:.1}", self.x(millions), self.y(value)))
            .collect();
        let _ = writeln!(
            out,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>\n\
             <text x=\"{}\" y=\"{}\" text-anchor=\"end\" fill=\"{colour}\">{name}</text>",
            points.join(" "),
            WIDTH - RIGHT - 4.0,
            TOP + 14.0 + 16.0 * number as f64
        );
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history() -> Vec<Report> {
        (1..=20)
            .map(|step| Report {
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
    fn a_falling_loss_falls_from_left_to_right() {
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
    fn nothing_and_nonsense_draw_nothing() {
        assert_eq!(sparkline(&[], 10), "");
        assert_eq!(text(&[]), "");
        let mut history = history();
        history[3].train = f64::NAN;
        history[4].train = 0.0;
        assert!(!svg("a < b", &history).contains("NaN"));
        assert!(svg("a < b", &[]).contains("a &lt; b"));
    }
}
