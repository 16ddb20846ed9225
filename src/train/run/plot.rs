//! The loss curves as text for the terminal; [`picture`](super::picture) draws them as SVG.

use std::fmt::Write;

use crate::train::run::checkpoint::Validation;

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
