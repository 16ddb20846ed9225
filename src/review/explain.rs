//! One move explained: what a review would say of it.

use std::io::Write;
use std::sync::Arc;

use anyhow::{Result, bail};
use serde::Serialize;

use super::facts::{Depth, Facts};
use super::mark::{Mark, bad_mark};
use super::report::{Better, Evaluation};
use super::run::EngineOptions;
use super::study::{better, evaluation, refutation};
use super::why::{self, Reason};
use crate::board::{Move, Position};
use crate::nnue::Network;
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

/// Searches the move and prints what there is to say of it.
///
/// # Errors
/// When the game is over, the tablebases cannot be opened, Ctrl-C comes, or a sink fails.
pub fn run(
    position: &Position,
    m: Move,
    engine: &EngineOptions,
    json: bool,
    network: Arc<Network>,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<()> {
    let mut analyst = engine.analyst(network, err)?;
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
    if json {
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
