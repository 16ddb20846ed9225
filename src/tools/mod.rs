//! Tools that use the engine as a library: what the command line offers beside UCI.
//!
//! Every tool writes to a sink that it is given and returns its errors, so that the command line, the
//! UCI loop and the tests share it.

pub(crate) mod analyse;
pub mod bench;
pub(crate) mod cpu;
pub(crate) mod epd;
pub(crate) mod eval;
pub(crate) mod game_record;
pub(crate) mod genfens;
pub(crate) mod net;
pub(crate) mod perft;
pub(crate) mod play;
pub(crate) mod subjects;
pub(crate) mod variation;

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};

use crate::nnue::Network;
use crate::search::ThreadPool;

/// The net in `path`, or the embedded one. The error names the file and what is wrong with it.
pub(crate) fn load_network(path: Option<&Path>) -> Result<Arc<Network>> {
    let Some(path) = path else {
        return Ok(Network::embedded());
    };
    let network = Network::from_file(path).with_context(|| format!("net {}", path.display()))?;
    Ok(Arc::new(network))
}

/// Opens tablebases for a tool; what was wrong with some of the directories is named on `err`.
///
/// # Errors
/// When no directory of the list has tables, or `err` fails.
pub(crate) fn open_tables(pool: &mut ThreadPool, path: &str, err: &mut dyn Write) -> Result<()> {
    let loaded = pool.set_syzygy_path(path).context("--syzygy")?;
    for problem in loaded.problems {
        writeln!(err, "--syzygy: {problem}")?;
    }
    Ok(())
}
