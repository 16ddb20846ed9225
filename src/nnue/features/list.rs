//! Lists of feature indices.

/// Maximum number of features that one update can add or remove: every piece of a full board.
pub(crate) const MAX_ACTIVE: usize = 32;

/// Maximum number of features that one move can add or remove, equal to the maximum number of pieces that it changes.
pub(crate) const MAX_CHANGED: usize = 3;

/// Maximum number of threat or attack inputs that one move adds or removes: 128 attacks of any kinds, and three pawns
/// with at most 17 neighbouring squares each.
const MAX_INPUTS_CHANGED: usize = 192;

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

/// The threat or attack inputs that one move added, or those that it removed.
#[derive(Debug)]
pub(crate) struct ChangedList {
    items: [u32; MAX_INPUTS_CHANGED],
    len: usize,
}

impl ChangedList {
    const fn new() -> Self {
        Self { items: [0; MAX_INPUTS_CHANGED], len: 0 }
    }

    /// Appends an index.
    #[inline]
    pub fn push(&mut self, index: u32) {
        self.items[self.len] = index;
        self.len += 1;
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

    /// Appends an index if `is_active`. Branch-free, because the condition is unpredictable.
    #[inline]
    pub fn push_if(&mut self, is_active: bool, index: u32) {
        self.items[self.len] = index;
        self.len += usize::from(is_active);
    }
}

impl std::ops::Deref for ChangedList {
    type Target = [u32];
    #[inline]
    fn deref(&self) -> &[u32] {
        &self.items[..self.len]
    }
}

/// The threat or attack inputs that one move added and removed.
#[derive(Debug)]
pub(crate) struct InputChanges {
    pub added: ChangedList,
    pub removed: ChangedList,
}

impl InputChanges {
    /// No changes.
    pub const fn none() -> Self {
        Self { added: ChangedList::new(), removed: ChangedList::new() }
    }

    /// Removes all changes.
    #[inline]
    pub fn clear(&mut self) {
        (self.added.len, self.removed.len) = (0, 0);
    }

    /// The list of added inputs, or that of removed ones.
    #[inline]
    pub fn list(&mut self, added: bool) -> &mut ChangedList {
        if added { &mut self.added } else { &mut self.removed }
    }
}
