//! Tools that use the engine as a library: what the command line offers beside UCI.
//!
//! Every tool writes to a sink that it is given and returns its errors, so that the command line, the
//! UCI loop and the tests share it.

pub(crate) mod analyse;
pub mod bench;
pub(crate) mod cpu;
pub(crate) mod epd;
pub(crate) mod eval;
mod game_record;
pub(crate) mod genfens;
mod line_comments;
pub(crate) mod net;
pub(crate) mod perft;
pub(crate) mod pgn;
pub(crate) mod play;
pub(crate) mod subjects;
pub(crate) mod variation;

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};

use crate::board::{CastlingMode, Position};
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

/// The position of a FEN of four to six fields; an empty text is the initial position.
///
/// Tools have no `UCI_Chess960` option, so the castling rights tell the variant: those of a king or rook away from
/// its classical square can only mean Chess960.
pub(crate) fn position_from_fen(fen: &str) -> Result<Position> {
    if fen.trim().is_empty() || fen.trim() == "startpos" {
        return Ok(Position::startpos());
    }
    Position::from_fen(fen, CastlingMode::Standard)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_castling_field_tells_the_variant() {
        let mode = |fen| position_from_fen(fen).expect(fen).castling_mode();
        for (fen, wanted) in [
            (
                "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
                CastlingMode::Standard,
            ),
            ("8/8/4k3/8/8/8/8/4K3 w - - 0 1", CastlingMode::Standard),
            (
                "q1rnbkrb/pppp1p1p/2n3p1/4p3/8/2N1P1P1/PPPP1P1P/QNR1BKRB w KQkq - 0 4",
                CastlingMode::Chess960,
            ),
        ] {
            assert_eq!(mode(fen), wanted, "{fen}");
        }
    }

    #[test]
    fn no_fen_is_the_initial_position() {
        let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        assert_eq!(
            position_from_fen("").map(|p| p.fen()).ok().as_deref(),
            Some(start)
        );
        assert!(position_from_fen("rubbish").is_err());
    }
}
