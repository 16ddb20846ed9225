//! Feature sets: how a piece on a square becomes the index of a row of the first layer.

pub mod halfka;
pub mod halfkp;

use shakmaty::{Color, Piece, Square};

pub use halfka::{HalfKav2, HalfKav2Hm};
pub use halfkp::HalfKp;

/// A feature set whose indices depend on the perspective's own king, and on one piece at a time.
///
/// All the sets that we know refresh a perspective whenever its own king moves, so a refresh cache
/// needs one slot per king square.
pub trait FeatureSet: Copy + Send + Sync + 'static {
    /// Number of features of one perspective.
    const COUNT: usize;
    /// Whether kings are features too.
    const KINGS: bool;
    /// The index of `piece` on `square`, seen by `perspective` whose king stands on `king`.
    ///
    /// Below [`Self::COUNT`]. A king is allowed only where [`Self::KINGS`] says so.
    fn index(perspective: Color, king: Square, piece: Piece, square: Square) -> u16;
}

/// The most features that one update can add or remove: every piece of a full board.
pub const MAX_ACTIVE: usize = 32;

/// The most features that one move can add or remove: as many as a move changes pieces.
pub const MAX_CHANGED: usize = 3;

/// A short list of at most `N` feature indices, on the stack.
#[derive(Clone, Copy, Debug)]
pub struct IndexList<const N: usize> {
    items: [u16; N],
    len: usize,
}

impl<const N: usize> IndexList<N> {
    /// An empty list.
    #[inline]
    pub fn new() -> Self {
        Self {
            items: [0; N],
            len: 0,
        }
    }

    /// Adds an index.
    #[inline]
    pub fn push(&mut self, index: u16) {
        self.items[self.len] = index;
        self.len += 1;
    }
}

impl<const N: usize> Default for IndexList<N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const N: usize> std::ops::Deref for IndexList<N> {
    type Target = [u16];
    #[inline]
    fn deref(&self) -> &[u16] {
        &self.items[..self.len]
    }
}
