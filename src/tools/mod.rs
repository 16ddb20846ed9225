//! Tools of the command line: bench, perft, analysis, EPD suites, games at the terminal, openings and network files.
//!
//! Every tool writes to a sink passed by the caller and returns its errors. The command line, the UCI loop and the
//! tests share the tools. The arguments of a command are declared next to its function `run`; [`args`] contains the
//! arguments that several commands share.

pub(crate) mod analyse;
pub(crate) mod args;
pub mod bench;
pub(crate) mod cpu;
pub(crate) mod epd;
pub(crate) mod eval;
pub(crate) mod game_record;
pub(crate) mod genfens;
pub(crate) mod net;
pub(crate) mod net_numbers;
#[cfg(feature = "full")]
pub(crate) mod net_picture;
pub(crate) mod perft;
pub(crate) mod play;
#[cfg(feature = "full")]
pub(crate) mod tables;
pub(crate) mod variation;

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};

use crate::nnue::Network;
use crate::util::text::Shown as _;

/// Loads the network in `path`, or the embedded one. The error names the file and the cause.
pub(crate) fn load_network(path: Option<&Path>) -> Result<Arc<Network>> {
    let Some(path) = path else {
        return Ok(Network::embedded());
    };
    let network = Network::from_file(path).with_context(|| format!("net {}", path.shown()))?;
    Ok(Arc::new(network))
}
