//! The pieces that a move changes on the board, as a value that the network reads.

use shakmaty::{Color, Piece, Role, Square};

/// One piece that was added, removed or moved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DirtyPiece {
    /// The piece. A promotion has two entries: the removed pawn, then the new piece.
    pub piece: Piece,
    /// Its square before the move; `None` if it was added.
    pub from: Option<Square>,
    /// Its square after the move; `None` if it was removed.
    pub to: Option<Square>,
}

/// The one to three pieces that a move changes, the moving piece first. Empty for a null move.
#[derive(Clone, Copy, Debug)]
pub struct DirtyPieces {
    pieces: [DirtyPiece; 3],
    len: u8,
}

impl DirtyPieces {
    /// No change.
    #[inline]
    pub fn none() -> Self {
        let piece = Piece { color: Color::White, role: Role::Pawn };
        Self { pieces: [DirtyPiece { piece, from: None, to: None }; 3], len: 0 }
    }

    /// Removes all changes.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }

    /// Adds a change. A move has at most three changes; a fourth panics.
    #[inline]
    pub fn push(&mut self, dirty: DirtyPiece) {
        self.pieces[usize::from(self.len)] = dirty;
        self.len += 1;
    }

    /// The colour whose king moved, if one did.
    #[inline]
    pub fn king_moved(&self) -> Option<Color> {
        let first = &self.pieces[0];
        (self.len > 0 && first.piece.role == Role::King).then_some(first.piece.color)
    }
}

impl PartialEq for DirtyPieces {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for DirtyPieces {}

impl std::ops::Deref for DirtyPieces {
    type Target = [DirtyPiece];
    #[inline]
    fn deref(&self) -> &[DirtyPiece] {
        &self.pieces[..usize::from(self.len)]
    }
}
