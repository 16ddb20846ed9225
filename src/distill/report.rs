//! Results of the rounds as lines of text, as a table, and as a plot.

use std::fmt::Write as _;
use std::io::Write;

use anyhow::Result;

use super::folder::{Folder, Played, Round, State};
use super::setup::DistillArgs;
use crate::train::run::plot::round_numbers;
use crate::util::atomic::write_over;
use crate::util::files::Kind;
use crate::util::quantity::{short_number, short_time};
use crate::util::text::Shown as _;

/// First line of the table.
const HEADER: &str = "round\tpositions\trate\ttraining\theld_out\tquantisation\tdead\telo\terror\ttotal\tbest\n";
/// The kind of file that the table may replace.
const TABLE: Kind = Kind { name: "the table of a run of distill", is: |head| head.starts_with(HEADER.as_bytes()) };
/// The kind of file that the plot may replace.
const PICTURE: Kind = Kind {
    name: "the picture of a run of distill",
    is: |head| {
        let head = String::from_utf8_lossy(head);
        head.starts_with("<svg ") && head.contains(TITLE)
    },
};

/// Rounds and seconds of this process.
#[derive(Clone, Copy)]
pub struct Pace {
    /// Finished rounds.
    pub rounds: usize,
    /// Seconds since the start of the first of these rounds.
    pub seconds: f64,
}

/// The line of the last round.
pub fn line(args: &DistillArgs, state: &State, pace: Pace) -> String {
    let Some(last) = state.rounds.last() else {
        return String::new();
    };
    let presented = args.block_positions() as f64 * args.learning().presentations;
    let speed = |positions: f64, seconds: f64| short_number(positions / seconds.max(1e-9));
    let [sampling, training] = last.seconds;
    let mut line = format!(
        "round {}  {} positions  held out {:.6}  training {:.6}  {}/s sampled, {}/s trained  quantisation {:.2} units, \
         {} dead units",
        last.number,
        short_number(state.positions() as f64),
        last.held_out,
        last.training,
        speed(last.positions as f64, sampling),
        speed(presented, training),
        last.quantisation,
        last.dead
    );
    if let Some(played) = &last.played {
        line += &format!("  {}", result(played));
    }
    if let Some(left) = left(args, state, pace) {
        line += &format!("  {} left", short_time(left));
    }
    line
}

/// The result of a match in words.
fn result(played: &Played) -> String {
    let elo = played.elo.map_or_else(|| "no Elo".to_owned(), |(value, error)| format!("{value:+.0} ± {error:.0} Elo"));
    let opponent = if played.against == 0 { "the start".to_owned() } else { format!("round {}", played.against) };
    let best = if played.won { ", the new best" } else { "" };
    format!("{elo} against {opponent}{best}")
}

/// Seconds to the nearer limit at the current speed.
fn left(args: &DistillArgs, state: &State, pace: Pace) -> Option<f64> {
    let by_hours = args.hours.map(|hours| 3600.0 * hours - state.seconds);
    let a_round = pace.seconds / pace.rounds.max(1) as f64;
    let by_positions = args.millions.map(|millions| {
        let rounds = (1e6 * millions - state.positions() as f64) / args.block_positions() as f64;
        rounds.ceil() * a_round
    });
    let left = [by_hours, by_positions].into_iter().flatten().reduce(f64::min)?;
    Some(left.max(0.0))
}

/// Summary of a run.
pub fn summary(folder: &Folder, state: &State) -> String {
    let (Some(first), Some(last)) = (state.rounds.first(), state.rounds.last()) else {
        return "no round was run".to_owned();
    };
    let best = match state.best {
        Some(0) | None => "no round has beaten the start".to_owned(),
        Some(round) => format!("the best net, {}, is that of round {round}", folder.best().shown()),
    };
    format!(
        "{} rounds, {} positions, {}: held-out loss {:.6} after the first and {:.6} after the last; {best}",
        state.rounds.len(),
        short_number(state.positions() as f64),
        short_time(state.seconds),
        first.held_out,
        last.held_out
    )
}

/// Writes table and plot.
///
/// # Errors
/// Fails if a file cannot be written, or is a file of another kind.
pub fn write(folder: &Folder, state: &State) -> Result<()> {
    write_over(&folder.table(), &TABLE, |file| file.write_all(table(state).as_bytes()))?;
    let picture = svg(&state.rounds);
    write_over(&folder.picture(), &PICTURE, |file| file.write_all(picture.as_bytes()))
}

/// A line for each round.
fn table(state: &State) -> String {
    let mut positions = 0;
    state.rounds.iter().fold(HEADER.to_owned(), |table, round| {
        positions += round.positions;
        let played = round.played.map_or_else(
            || "\t\t\t".to_owned(),
            |played| {
                let (value, error) =
                    played.elo.map_or_else(Default::default, |(v, e)| (format!("{v:.1}"), format!("{e:.1}")));
                format!("{value}\t{error}\t{:.1}\t{}", played.total, u8::from(played.won))
            },
        );
        table
            + &format!(
                "{}\t{positions}\t{:.8}\t{:.8}\t{:.8}\t{:.2}\t{}\t{played}\n",
                round.number, round.rate, round.training, round.held_out, round.quantisation, round.dead
            )
    })
}

// Plot of a run: loss in the upper panel, Elo in the lower one, both against the number of new positions.

/// Title of the picture.
pub const TITLE: &str = "loss and Elo by new positions";
/// Width of the plot, and its margins, in SVG units.
const WIDTH: f64 = 760.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 110.0;
/// Height of a panel, and the space above it.
const PANEL: f64 = 190.0;
const ABOVE: f64 = 40.0;
/// Colours of the curves.
const GREY: &str = "#777777";
const BLUE: &str = "#1f5fbf";
/// Height of the plot.
const HEIGHT: f64 = 2.0 * (PANEL + ABOVE) + 40.0;

/// A point of a curve.
struct Point {
    /// Millions of positions.
    at: f64,
    value: f64,
    /// Half of the value's interval; 0 if it has none.
    error: f64,
}

/// A curve and its label.
struct Curve {
    name: &'static str,
    colour: &'static str,
    points: Vec<Point>,
}

/// The plot of the rounds.
pub fn svg(rounds: &[Round]) -> String {
    let mut positions = 0;
    let millions: Vec<f64> = rounds
        .iter()
        .map(|round| {
            positions += round.positions;
            positions as f64 / 1e6
        })
        .collect();
    let curve = |name, colour, point: fn(f64, &Round) -> Option<Point>| -> Curve {
        let points = millions.iter().zip(rounds).filter_map(|(&at, round)| point(at, round));
        let is_finite = |point: &Point| point.value.is_finite() && point.error.is_finite();
        Curve { name, colour, points: points.filter(is_finite).collect() }
    };
    let training = curve("training", GREY, |at, round| Some(Point { at, value: round.training, error: 0.0 }));
    let held_out = curve("held out", BLUE, |at, round| Some(Point { at, value: round.held_out, error: 0.0 }));
    let elo = curve("Elo", BLUE, |at, round| {
        let played = round.played?;
        Some(Point { at, value: played.total, error: played.elo?.1 })
    });
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n\
         <text x=\"{LEFT}\" y=\"18\" font-size=\"14\">{TITLE}</text>\n"
    );
    let end = millions.last().copied().unwrap_or(1.0);
    panel(&mut out, ABOVE, end, &[training, held_out]);
    panel(&mut out, 2.0 * ABOVE + PANEL, end, &[elo]);
    let _ = writeln!(
        out,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">million new positions</text>\n</svg>",
        f64::midpoint(LEFT, WIDTH - RIGHT),
        HEIGHT - 8.0
    );
    out
}

/// Draws the axes and curves of a panel; `top` is its upper edge and `end` the last value of its x axis.
fn panel(out: &mut String, top: f64, end: f64, curves: &[Curve]) {
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let Some(low) = points().map(|point| point.value - point.error).reduce(f64::min) else {
        return;
    };
    let high = points().map(|point| point.value + point.error).fold(low, f64::max);
    let span = (high - low).max(1e-9);
    let bottom = top + PANEL;
    let x = |at: f64| LEFT + at / end.max(1e-9) * (WIDTH - LEFT - RIGHT);
    let y = |value: f64| bottom - (value - low) / span * PANEL;
    for (value, text) in round_numbers(low, low + span) {
        let (at, right) = (y(value), WIDTH - RIGHT);
        let _ = writeln!(
            out,
            "<line x1=\"{LEFT}\" x2=\"{right}\" y1=\"{at:.1}\" y2=\"{at:.1}\" stroke=\"#dddddd\"/>\n\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{text}</text>",
            LEFT - 6.0,
            at + 4.0
        );
    }
    for (value, text) in round_numbers(0.0, end) {
        let _ =
            writeln!(out, "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{text}</text>", x(value), bottom + 16.0);
    }
    for (index, Curve { name, colour, points }) in curves.iter().enumerate() {
        let line = points.iter().map(|point| format!("{:.1},{:.1}", x(point.at), y(point.value)));
        let line: Vec<String> = line.collect();
        let _ = writeln!(
            out,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
            line.join(" ")
        );
        for &Point { at, value, error } in points.iter().filter(|point| point.error > 0.0) {
            let _ = writeln!(
                out,
                "<line x1=\"{0:.1}\" x2=\"{0:.1}\" y1=\"{1:.1}\" y2=\"{2:.1}\" stroke=\"{colour}\"/>",
                x(at),
                y(value - error),
                y(value + error)
            );
        }
        let _ = writeln!(
            out,
            "<text x=\"{}\" y=\"{}\" fill=\"{colour}\">{name}</text>",
            WIDTH - RIGHT + 8.0,
            top + 14.0 + 16.0 * index as f64
        );
    }
}

#[cfg(test)]
mod chart_tests {
    use super::*;
    use crate::distill::folder::Played;

    fn round(number: u64, played: Option<Played>) -> Round {
        Round {
            number,
            positions: 5_000_000,
            rate: 0.001,
            training: 0.003 / number as f64,
            held_out: 0.004 / number as f64,
            quantisation: 1.0,
            dead: 0,
            played,
            seconds: [1.0; 2],
        }
    }

    #[test]
    fn picture_has_both_losses_and_elo_with_its_error() {
        let played = Played { against: 0, games: 100, elo: Some((12.0, 5.0)), total: 12.0, won: true };
        let rounds: Vec<Round> = (1..=6).map(|number| round(number, (number % 2 == 0).then_some(played))).collect();
        let picture = svg(&rounds);
        assert_eq!(picture.matches("<polyline").count(), 3);
        assert!(picture.contains(">30<") && picture.contains("Elo") && !picture.contains("NaN"), "{picture}");
        for rounds in [&[][..], &rounds[..1]] {
            let picture = svg(rounds);
            assert!(picture.ends_with("</svg>\n") && !picture.contains("NaN") && !picture.contains("inf"), "{picture}");
        }
    }
}
