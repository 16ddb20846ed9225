//! The plies of the current line: what each changed, and what is known of it. Apart from the sums, so that a push
//! touches a few bytes only.

use shakmaty::{Bitboard, ByColor, Color, Role, Square};

use super::cache::Pieces;
use crate::board::{
    AttackKinds, DirtyPiece, DirtyPieces, DirtyThreats, Move, MoveBoards, Position,
};

/// Plies that a new stack has room for; a longer line only costs an allocation.
pub(super) const INITIAL_PLIES: usize = 272;

/// How a ply differs from the one before, and whose sums are up to date.
#[derive(Clone)]
pub(super) struct Ply {
    pub dirty: DirtyPieces,
    pub computed: [bool; 2],
}

impl Ply {
    #[inline]
    fn new(dirty: DirtyPieces) -> Self {
        Self {
            dirty,
            computed: [false; 2],
        }
    }
}

/// The attacks that a ply's move changed.
#[derive(Clone)]
pub(super) struct ThreatDelta {
    /// Listed when they are needed.
    pub attacks: DirtyThreats,
    is_listed: bool,
    /// What they are listed from.
    around: MoveBoards,
    is_known: bool,
}

/// The plies from the last reset to the position on the board.
pub(super) struct Plies {
    pub stack: Vec<Ply>,
    pub top: usize,
    /// For nets that have threat inputs: one for each ply.
    pub deltas: Vec<ThreatDelta>,
    /// The attacks to be told of.
    kinds: AttackKinds,
    /// Whether there are any: asked at every move.
    sees_attacks: bool,
}

impl Plies {
    /// An empty line whose moves tell of attacks of some kinds.
    pub fn new(kinds: AttackKinds) -> Self {
        Self {
            stack: vec![Ply::new(DirtyPieces::none()); INITIAL_PLIES],
            top: 0,
            deltas: Vec::new(),
            kinds,
            sees_attacks: kinds != AttackKinds::NONE,
        }
    }

    /// Makes `m` and pushes what it changed, attacks too if they are of interest.
    #[inline]
    pub fn make(&mut self, position: &mut Position, m: Move) {
        if self.sees_attacks {
            self.make_recording(position, m);
        } else {
            position.do_move_to(m, self.next());
        }
    }

    /// Apart, so that the other nets do not pay for it at every move.
    #[inline(never)]
    fn make_recording(&mut self, position: &mut Position, m: Move) {
        self.threat_delta_of(self.top + 1);
        self.next();
        let (ply, deltas) = (&mut self.stack[self.top], &mut self.deltas[self.top]);
        deltas.is_known = true;
        deltas.is_listed = false;
        position.do_move_recording(m, &mut ply.dirty, &mut deltas.around);
    }

    /// Lists the attacks that a ply's move changed, which must be known.
    #[inline]
    pub fn list_attacks(&mut self, ply: usize) {
        let deltas = &mut self.deltas[ply];
        debug_assert!(deltas.is_known, "nobody told of the attacks");
        if !deltas.is_listed {
            deltas.is_listed = true;
            deltas.around.list(&mut deltas.attacks);
        }
    }

    /// The room for the attacks of a ply.
    #[inline]
    fn threat_delta_of(&mut self, ply: usize) -> &mut ThreatDelta {
        if ply >= self.deltas.len() {
            let nothing = ThreatDelta {
                attacks: DirtyThreats::new(self.kinds),
                is_listed: false,
                around: MoveBoards::nothing(),
                is_known: false,
            };
            self.deltas.resize(self.stack.len().max(ply + 1), nothing);
        }
        &mut self.deltas[ply]
    }

    pub fn reset(&mut self) {
        self.top = 0;
        self.stack[0] = Ply::new(DirtyPieces::none());
    }

    #[inline]
    pub fn push(&mut self, dirty: &DirtyPieces) {
        if self.sees_attacks {
            self.threat_delta_of(self.top + 1).is_known = false;
        }
        *self.next() = *dirty;
    }

    /// One ply up: the place for what its move changes.
    #[inline]
    fn next(&mut self) -> &mut DirtyPieces {
        self.top += 1;
        if self.top >= self.stack.len() {
            self.grow();
        }
        let ply = &mut self.stack[self.top];
        ply.computed = [false; 2];
        &mut ply.dirty
    }

    #[cold]
    fn grow(&mut self) {
        self.stack.push(Ply::new(DirtyPieces::none()));
    }

    #[inline]
    pub fn pop(&mut self) {
        debug_assert!(self.top > 0, "a pop without a push");
        self.top = self.top.saturating_sub(1);
    }

    /// The pawns at a ply, where those at the top stand as `now`.
    #[inline]
    pub fn pawns_at(&self, ply: usize, mut now: ByColor<Bitboard>) -> ByColor<Bitboard> {
        for later in self.stack[ply + 1..=self.top].iter().rev() {
            for change in later.dirty.iter().filter(|c| c.piece.role == Role::Pawn) {
                let pawns = now.get_mut(change.piece.color);
                if let Some(to) = change.to {
                    pawns.discard(to);
                }
                if let Some(from) = change.from {
                    pawns.add(from);
                }
            }
        }
        now
    }

    /// The pieces at a ply, where those at the top stand as `now`.
    pub fn pieces_at(&self, ply: usize, mut now: Pieces) -> Pieces {
        for later in self.stack[ply + 1..=self.top].iter().rev() {
            // What came is gone before anything comes back: with castling both kinds of squares overlap.
            for change in later.dirty.iter() {
                if let Some(to) = change.to {
                    of(&mut now, change).discard(to);
                }
            }
            for change in later.dirty.iter() {
                if let Some(from) = change.from {
                    of(&mut now, change).add(from);
                }
            }
        }
        now
    }

    /// Where the king of `color` stands at a ply; at the top it stands on `now`.
    #[inline]
    pub fn king_at(&self, ply: usize, color: Color, now: Square) -> Square {
        let later = self.stack[ply + 1..=self.top].iter();
        let first = later
            .map(|ply| &ply.dirty)
            .find(|dirty| dirty.king_moved() == Some(color));
        first.and_then(|dirty| dirty[0].from).unwrap_or(now)
    }

    /// The nearest ply from which the recorded changes lead to the top; with attacks, if they are of interest. A move
    /// of the own king is such a change if it `goes_on` over it.
    #[inline(always)]
    pub fn base(&self, perspective: Color, goes_on: impl Fn(&DirtyPiece) -> bool) -> Base {
        let mut ply = self.top;
        loop {
            let here = &self.stack[ply];
            if here.computed[perspective as usize] {
                return Base::Computed(ply);
            }
            let moved = here.dirty.king_moved() == Some(perspective);
            if ply == 0
                || moved && !goes_on(&here.dirty[0])
                || self.sees_attacks && !self.deltas[ply].is_known
            {
                return Base::Lowest(ply);
            }
            ply -= 1;
        }
    }
}

/// Where the sums of a perspective can begin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Base {
    /// They are known at this ply.
    Computed(usize),
    /// They are known nowhere, and changes lead to the top from this ply on.
    Lowest(usize),
}

/// The set of pieces that a change belongs to.
#[inline]
fn of<'a>(pieces: &'a mut Pieces, change: &DirtyPiece) -> &'a mut Bitboard {
    &mut pieces[change.piece.color as usize][change.piece.role as usize - 1]
}
