//! Boards of entries and records, for network evaluation.

use anyhow::{Result, ensure};
use shakmaty::{Color, Piece, Role, Square};

use super::entry::Entry;
use super::packed::PackedPiece;
use super::record::Record;
use crate::nnue::Board;

/// Returns the board of an entry.
///
/// # Errors
/// Fails unless there is exactly one king on each side.
pub fn board_of_entry(entry: &Entry) -> Result<Board> {
    let board = board_of(entry.board.pieces(), entry.black_to_move);
    let one_each = Color::ALL.iter().all(|&color| board.pieces(color, Role::King).count() == 1);
    ensure!(one_each, "the position does not have exactly one king on each side");
    Ok(board)
}

/// Every record has both kings: the file readers reject positions without them.
impl From<&Record> for Board {
    fn from(record: &Record) -> Self {
        board_of(record.pieces(), record.black_to_move())
    }
}

/// Returns the board of a record, or its left-to-right mirror image.
pub fn mirrored_board(record: &Record, mirrored: bool) -> Board {
    let mirror = if mirrored { 7 } else { 0 };
    let turned = |piece: PackedPiece| PackedPiece { square: piece.square ^ mirror, ..piece };
    board_of(record.pieces().map(turned), record.black_to_move())
}

fn board_of(pieces: impl Iterator<Item = PackedPiece>, black_to_move: bool) -> Board {
    let mut board = Board::empty(Color::from_black(black_to_move));
    for piece in pieces {
        if let Ok(role) = Role::try_from(piece.role + 1) {
            let color = Color::from_black(piece.colour != 0);
            board.add(Piece { color, role }, Square::new(piece.square.into()));
        }
    }
    board
}
