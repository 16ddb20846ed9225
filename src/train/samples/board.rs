//! [`BoardView`] of a record, for the engine's networks.

use shakmaty::{Bitboard, Color, Role, Square};

use crate::data::Record;
use crate::nnue::BoardView;

impl BoardView for Record {
    fn turn(&self) -> Color {
        Color::from_black(self.black_to_move())
    }

    fn king(&self, color: Color) -> Square {
        // Every record has both kings: the file readers reject positions without them.
        let king = BoardView::pieces(self, color, Role::King).first();
        king.unwrap_or(Square::A1)
    }

    fn pieces(&self, color: Color, role: Role) -> Bitboard {
        let kind = (u8::from(role) - 1, u8::from(color.is_black()));
        Record::pieces(self)
            .filter(|piece| (piece.role, piece.colour) == kind)
            .map(|piece| Square::new(u32::from(piece.square)))
            .collect()
    }

    fn count(&self) -> usize {
        self.piece_count() as usize
    }
}
