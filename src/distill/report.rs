//! Results of the rounds as lines of text, as a table, and as a plot.

use std::io::Write;

use anyhow::Result;

use super::args::DistillArgs;
use super::chart;
use super::folder::Folder;
use super::state::{Played, State};
use crate::util::atomic::write_over;
use crate::util::kind::Kind;
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
        head.starts_with("<svg ") && head.contains(chart::TITLE)
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
    let picture = chart::svg(&state.rounds);
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
