//! Short lists of feature indices.

/// Maximum number of features that one update can add or remove: every piece of a full board.
pub(crate) const MAX_ACTIVE: usize = 32;

/// Maximum number of features that one move can add or remove, equal to the maximum number of pieces that it changes.
pub(crate) const MAX_CHANGED: usize = 3;

/// A list of at most `N` feature indices, without heap allocation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IndexList<const N: usize> {
    items: [u16; N],
    len: usize,
}

impl<const N: usize> IndexList<N> {
    /// An empty list.
    #[inline]
    pub const fn new() -> Self {
        Self { items: [0; N], len: 0 }
    }

    /// Removes all indices.
    #[inline]
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Removes the index at a place. The last index takes its place.
    ///
    /// # Panics
    /// If the list has no such place.
    #[inline]
    pub fn swap_remove(&mut self, at: usize) {
        assert!(at < self.len);
        self.len -= 1;
        self.items[at] = self.items[self.len];
    }

    /// Appends an index.
    ///
    /// # Panics
    /// If the list is full.
    #[inline]
    pub fn push(&mut self, index: u16) {
        self.items[self.len] = index;
        self.len += 1;
    }
}

impl<const N: usize> std::ops::Deref for IndexList<N> {
    type Target = [u16];
    #[inline]
    fn deref(&self) -> &[u16] {
        &self.items[..self.len]
    }
}
