//! The review of a game that was just played at the terminal.

use std::io::Write;
use std::path::Path;

use anyhow::{Context as _, Result};
use chrono::Utc;

use super::run::{self, Detail, ReviewArgs};
use crate::tools::args::{EngineArgs, LimitArgs};
use crate::tools::play::{PlayArgs, PlayedGame};
use crate::util::atomic::unused_path;
use crate::util::text::Shown as _;

/// Size of the transposition table in MiB.
const HASH_MB: u32 = 64;

/// Reviews a game: a page in a new file, next to the game's own file if there is one, and a summary on `out`.
///
/// # Errors
/// As [`run::run`], and if no file can be created.
pub fn run(game: &PlayedGame, played: &PlayArgs, out: &mut dyn Write, err: &mut dyn Write) -> Result<()> {
    let mut input = tempfile::NamedTempFile::new().context("cannot create a temporary file")?;
    input.write_all(game.pgn.as_bytes())?;
    let folder = played.pgn.as_deref().and_then(Path::parent).map(Path::to_path_buf).unwrap_or_default();
    let page = unused_path(&folder, &Utc::now().format("zoothera-review-%Y%m%d-%H%M%S").to_string(), "html")?;
    let args = ReviewArgs {
        file: Some(input.path().to_path_buf()),
        limits: LimitArgs::default(),
        lines: 1,
        side: None,
        detail: Detail::Normal,
        pgn: None,
        html: Some(page.clone()),
        json: false,
        svg: None,
        engine: EngineArgs { threads: 1, hash: HASH_MB, syzygy: None, net: played.net.clone() },
    };
    run::run(&args, out, err)?;
    Ok(writeln!(out, "The review is in {}; open it in a browser.", page.shown())?)
}
