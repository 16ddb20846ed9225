//! Explanation of one move, with the reasons that a review would give.

use std::io::Write;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde::Serialize;

use super::analyst::{Analyst, Look};
use super::facts::{Depth, Facts};
use super::judge::{Searched, contested, good_mark};
use super::mark::Mark;
use super::phase::OpeningNames;
use super::report::{Better, Evaluation};
use super::study::{better, evaluation, refutation};
use super::why::Reason;
use super::{analyst, why};
use crate::board::{Move, Position};
use crate::tools::args;
use crate::tools::args::{EngineArgs, LimitArgs, SelectionArgs, positions_help};
use crate::tools::variation::numbered;
use crate::util::console::Interrupted;
use crate::util::text::excerpt;

/// Explanation of a move, also the JSON output.
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
#[command(after_help = concat!(
    positions_help!(),
    "\n\nWithout a limit, each search takes 1 second. Scores are from White's view."
))]
pub struct ExplainArgs {
    /// A position or a file, followed by the move in SAN or coordinates; with a PGN file and --at, the move played
    /// there if absent
    #[arg(required = true, num_args = 1.., value_names = ["POSITION|FILE", "MOVE"])]
    pub words: Vec<String>,
    /// Games and moves of PGN files.
    #[command(flatten)]
    pub selection: SelectionArgs,
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

/// Searches the move and prints its explanation.
///
/// # Errors
/// Fails if the position or the move is invalid, the game is over, the engine cannot be set up, Ctrl-C was pressed, or
/// a sink fails.
pub fn run(args: &ExplainArgs, out: &mut dyn Write, err: &mut dyn Write) -> Result<()> {
    let (position, m) = &move_to_explain(args)?;
    let m = *m;
    let mut analyst = Analyst::new(args.engine.pool(err)?, args.limits.limits(DEFAULT_TIME), 1);
    let mut reached = position.clone();
    reached.do_move(m);
    let interrupted = || Interrupted::error("interrupted before the searches were finished");
    let searched = searches(position, &reached, m, &mut analyst).ok_or_else(interrupted)?;
    let Searched { before, after } = &searched;
    let facts = Facts::gather(position, m, before, after, None, Depth::Full, &mut analyst).ok_or_else(interrupted)?;
    let is_book = OpeningNames::load().is_named(&reached);
    let mark = match facts.is_best() {
        true => good_mark(position, m, &searched, &mut analyst).map(|good| good.mark),
        false => searched.bad_mark(m).filter(|mark| !is_book || *mark == Mark::Blunder),
    };
    let over = analyst::draw(position);
    let explanation = Explanation {
        fen: position.fen(),
        san: position.san(m),
        mark: mark.filter(|_| over.is_none()),
        before: evaluation(before, position),
        after: evaluation(after, &reached),
        better: if facts.is_best() { Vec::new() } else { better(position, before) },
        refutation: (!facts.is_best()).then(|| refutation(&reached, after)).flatten(),
        reasons: match over {
            Some(cause) => vec![why::game_was_over(cause)],
            None => why::explanation(&facts),
        },
    };
    if args.json {
        writeln!(out, "{}", serde_json::to_string(&explanation)?)?;
    } else {
        write!(out, "{}", readable(position, m, &explanation))?;
    }
    Ok(out.flush()?)
}

/// Searches the positions before and after the move, and longer ones if the first searches do not decide; `None` after
/// Ctrl-C.
fn searches(position: &Position, reached: &Position, m: Move, analyst: &mut Analyst) -> Option<Searched> {
    let after = analyst.look(reached)?;
    if after.is_drawn_by_rule(reached) {
        // The values in the table depend on the history of these positions.
        analyst.forget();
    }
    let before = if analyst::is_over(position) { Look::over(position) } else { analyst.look(position)? };
    let mut searched = Searched { before, after };
    if searched.is_doubtful(m) {
        searched.after = analyst.look_longer(reached)?;
        searched.before = analyst.look_longer(position)?;
        if let Some(look) = contested(position, m, &searched, analyst).ok()? {
            searched.before = look;
        }
    }
    Some(searched)
}

/// The position and the move given by the arguments.
fn move_to_explain(args: &ExplainArgs) -> Result<(Position, Move)> {
    if let ([game], Some(_)) = (&args.words[..], args.selection.at) {
        let subject = args::read_one(std::slice::from_ref(game), args.selection)?;
        let m = subject.played.context("the game ends at this place; give the move to explain")?;
        return Ok((subject.position, m));
    }
    let text = args.words.join(" ");
    if !text.trim().contains(char::is_whitespace) {
        let word = excerpt(text.trim());
        bail!("no position before '{word}'; give one, as in: zoothera explain startpos {word}");
    }
    let (start, m) = text.trim().rsplit_once(char::is_whitespace).unwrap_or(("", text.trim()));
    // Separate arguments stay separate, because a file name may contain blanks.
    let start = match &args.words[..] {
        [_] => vec![start.to_owned()],
        words => words[..words.len() - 1].to_vec(),
    };
    let position = args::read_one(&start, args.selection)?.position;
    let m = position.parse_move(m)?;
    Ok((position, m))
}

/// The explanation as readable text.
fn readable(position: &Position, m: Move, explanation: &Explanation) -> String {
    let mut text = numbered(position, &[m]);
    match explanation.mark {
        Some(mark) => text += &format!("{} ({})", mark.glyph(), mark.name()),
        None if explanation.before.depth == 0 => {}
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
