//! The commands that review games and explain moves.

use std::io::{self, Write as _};
use std::time::Duration;

use anyhow::Result;

use super::dispatch::messages;
use super::{EngineArgs, ExplainArgs, LimitArgs, ReviewArgs};
use crate::board::Color;
use crate::notation::line::{position_from_fen, position_with_moves};
use crate::review;
use crate::review::picture::{BoardView, picture};
use crate::review::run::{EngineOptions, ReviewOptions};
use crate::tools;

/// Default search time of `review` per position. A game of 40 moves takes less than a minute.
const REVIEW_TIME: Duration = Duration::from_millis(400);
/// Default time of each search of `explain`.
const EXPLAIN_TIME: Duration = Duration::from_secs(1);

fn engine_options(limits: &LimitArgs, default: Duration, engine: &EngineArgs, lines: u16) -> EngineOptions {
    EngineOptions {
        limits: limits.limits(default),
        lines: usize::from(lines),
        threads: usize::from(engine.threads),
        hash_mb: engine.hash as usize,
        syzygy: engine.syzygy.clone(),
    }
}

/// Runs `zoothera review`.
pub(super) fn review(args: ReviewArgs) -> Result<()> {
    let out = &mut io::stdout();
    if let Some(fen) = &args.svg {
        let position = position_from_fen(fen)?;
        return Ok(writeln!(out, "{}", picture(&position, &BoardView::default()))?);
    }
    let network = tools::load_network(args.engine.net.as_deref())?;
    let options = ReviewOptions {
        engine: engine_options(&args.limits, REVIEW_TIME, &args.engine, args.lines),
        file: args.file.unwrap_or_default(),
        net: args.engine.net,
        side: args.side.map(|side| Color::from_white(side == "white")),
        detail: args.detail,
        pgn: args.pgn,
        html: args.html,
        json: args.json,
    };
    review::run::run(&options, network, out, &mut messages())
}

/// Runs `zoothera explain`.
pub(super) fn explain(args: &ExplainArgs) -> Result<()> {
    let words = args.words.join(" ");
    let (start, m) = words.trim().rsplit_once(char::is_whitespace).unwrap_or(("", &words));
    let position = position_with_moves(start)?;
    let m = position.parse_move(m)?;
    let engine = engine_options(&args.limits, EXPLAIN_TIME, &args.engine, 1);
    let network = tools::load_network(args.engine.net.as_deref())?;
    review::explain::run(&position, m, &engine, args.json, network, &mut io::stdout(), &mut messages())
}
