//! Tools that use the engine as a library: what the command line offers beside UCI.
//!
//! Every tool writes to a sink that it is given and returns its errors, so that the command line, the
//! UCI loop and the tests share it.

pub mod analyse;
pub mod bench;
pub mod cpu;
pub mod epd;
pub mod eval;
pub mod genfens;
pub mod net;
pub mod perft;
mod variation;

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Color, File, Rank, Square};

use crate::board::Position;
use crate::nnue::Network;

/// The net in `path`, or the embedded one. The error names the file and what is wrong with it.
pub fn load_network(path: Option<&Path>) -> Result<Arc<Network>> {
    let Some(path) = path else {
        return Ok(Network::embedded());
    };
    let network = Network::from_file(path).with_context(|| format!("net {}", path.display()))?;
    Ok(Arc::new(network))
}

/// The position of a FEN of four to six fields; an empty text is the initial position.
///
/// Tools have no `UCI_Chess960` option, so the castling field tells the variant: rights of a king or rook
/// away from its classical square can only mean Chess960.
pub fn position_from_fen(fen: &str) -> Result<Position> {
    if fen.trim().is_empty() || fen.trim() == "startpos" {
        return Ok(Position::startpos());
    }
    Position::from_fen(fen, castling_mode_of(fen))
}

/// Chess960 if the FEN names a castling right that classical chess does not have.
fn castling_mode_of(fen: &str) -> CastlingMode {
    let rights = fen.split_whitespace().nth(2).unwrap_or("-");
    let by_file = |c: char| matches!(c.to_ascii_lowercase(), 'a'..='h');
    if rights.chars().any(by_file) || has_displaced_rights(fen) {
        CastlingMode::Chess960
    } else {
        CastlingMode::Standard
    }
}

/// Whether `KQkq` letters stand for a king away from the e-file on its own back rank.
///
/// A right without a king on the back rank, or without the rook in the corner but with the king at home,
/// is more often a careless classical FEN than a Chess960 one; only a rook elsewhere on the rank decides.
fn has_displaced_rights(fen: &str) -> bool {
    let Ok(fen) = fen.parse::<Fen>() else {
        return false;
    };
    let setup = fen.into_setup();
    let displaced = |color: Color| {
        let rank = color.fold_wb(Rank::First, Rank::Eighth);
        let rooks = setup.castling_rights & setup.board.by_color(color) & setup.board.rooks();
        let corner = |s: Square| matches!(s.file(), File::A | File::H);
        let king = setup
            .board
            .king_of(color)
            .filter(|king| king.rank() == rank);
        king.is_some_and(|king| {
            (rooks.any() && king.file() != File::E) || rooks.into_iter().any(|s| !corner(s))
        })
    };
    displaced(Color::White) || displaced(Color::Black)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_castling_field_tells_the_variant() {
        let mode = |fen| castling_mode_of(fen) == CastlingMode::Chess960;
        assert!(!mode(
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
        ));
        assert!(!mode("8/8/4k3/8/8/8/8/4K3 w - - 0 1"));
        assert!(mode(
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w HAha - 0 1"
        ));
        assert!(mode(
            "q1rnbkrb/pppp1p1p/2n3p1/4p3/8/2N1P1P1/PPPP1P1P/QNR1BKRB w KQkq - 0 4"
        ));
        assert!(!mode("not a position"));
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
