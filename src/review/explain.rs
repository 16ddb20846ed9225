//! One move explained: what a review would say of it.

use std::io::Write;
use std::time::Duration;

use anyhow::{Result, bail};
use serde::Serialize;

use super::analyst::Analyst;
use super::facts::{Depth, Facts};
use super::mark::{Mark, bad_mark};
use super::report::{Better, Evaluation};
use super::study::{better, evaluation, refutation};
use super::why::{self, Reason};
use crate::board::{Move, Position};
use crate::notation::line::position_with_moves;
use crate::tools::args::{EngineArgs, LimitArgs};
use crate::tools::variation::numbered;

/// What is said of a move; also its JSON.
#[derive(Serialize)]
struct Explanation {
    fen: String,
    san: String,
    mark: Option<Mark>,
    before: Evaluation,
    after: Evaluation,
    better: Vec<Better>,
    refutation: Option<Better>,
    reasons: Vec<Reason>,
}

/// Default time of each search.
const DEFAULT_TIME: Duration = Duration::from_secs(1);

/// Arguments of `explain`.
#[derive(clap::Args, Debug)]
pub struct ExplainArgs {
    /// Position, with or without quotation marks, followed by the move in SAN or coordinates
    #[arg(required = true, num_args = 2.., value_names = ["FEN", "MOVE"])]
    pub words: Vec<String>,
    /// Limits of each search; one second if absent.
    #[command(flatten)]
    pub limits: LimitArgs,
    /// Threads, memory, tablebases and network.
    #[command(flatten)]
    pub engine: EngineArgs,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Searches the move and prints what there is to say of it.
///
/// # Errors
/// Fails if the position or the move is invalid, the game is over, the engine cannot be set up, Ctrl-C was pressed, or a
/// sink fails.
pub fn run(args: &ExplainArgs, out: &mut dyn Write, err: &mut dyn Write) -> Result<()> {
    let words = args.words.join(" ");
    let (start, m) = words.trim().rsplit_once(char::is_whitespace).unwrap_or(("", &words));
    let position = &position_with_moves(start)?;
    let m = position.parse_move(m)?;
    let mut analyst = Analyst::new(args.engine.pool(err)?, args.limits.limits(DEFAULT_TIME), 1);
    let mut reached = position.clone();
    reached.do_move(m);
    let after = analyst.look(&reached);
    let before = analyst.look(position);
    let (Some(before), Some(after)) = (before, after) else {
        bail!("interrupted before there was anything to say");
    };
    let Some(facts) = Facts::gather(position, m, &before, &after, None, Depth::Full, &mut analyst) else {
        bail!("interrupted before there was anything to say");
    };
    let then = facts.score_after();
    let explanation = Explanation {
        fen: position.fen(),
        san: position.san(m),
        mark: bad_mark(before.score, then).filter(|_| !facts.is_best()),
        before: evaluation(&before, position),
        after: evaluation(&after, &reached),
        better: if facts.is_best() { Vec::new() } else { better(position, &before) },
        refutation: (!facts.is_best()).then(|| refutation(&reached, &after)).flatten(),
        reasons: why::explanation(&facts),
    };
    if args.json {
        writeln!(out, "{}", serde_json::to_string(&explanation)?)?;
    } else {
        write!(out, "{}", readable(position, m, &explanation))?;
    }
    Ok(out.flush()?)
}

/// The explanation for people.
fn readable(position: &Position, m: Move, explanation: &Explanation) -> String {
    let mut text = numbered(position, &[m]);
    match explanation.mark {
        Some(mark) => text += &format!("{} ({})", mark.glyph(), mark.name()),
        None if explanation.better.is_empty() => text += " (the best move)",
        None => {}
    }
    let chance = |evaluation: &Evaluation| format!("{} ({:.0} %)", evaluation.eval, evaluation.chance);
    text += &format!(
        "\n\nWhite's score and winning chances: {} before the move, {} after it\n",
        chance(&explanation.before),
        chance(&explanation.after)
    );
    if !explanation.reasons.is_empty() {
        text.push('\n');
    }
    for reason in &explanation.reasons {
        text += &format!("{}\n", reason.text);
    }
    text
}
