//! The accumulator stack: `reset`, `push`, `pop`, `evaluate`. Updates are lazy.
//!
//! A push only records the changed pieces ([`plies`]). An evaluation has four steps:
//!
//! 1. find: for each perspective, search backwards for the nearest ply with computed sums ([`Plies::base`])
//! 2. refresh: if the perspective's own king moved in between, every feature changed; compute the ply of that move from
//!    the refresh cache, so that later evaluations start from it
//! 3. forward: apply the recorded changes of each ply up to the top
//! 4. evaluate: run the dense layers
//!
//! [`PlyAccumulators`] has steps 1 to 3 and calls the kernels.
// CITE: lazy accumulators over the plies of a line: Stockfish (2020).

mod plies;

use std::sync::Arc;

use plies::{INITIAL_PLIES, Plies};
use shakmaty::{ByColor, Color, Piece, Role, Square};

use super::architecture::Shape;
use super::board::Board;
use super::features::attack_inputs::{self, AttackInputs, AttackView};
use super::features::set::ViewRows;
use super::features::threat_inputs::{ThreatInputList, ThreatInputSet, View};
use super::features::{FeatureSet, IndexList, InputChanges, MAX_ACTIVE, MAX_CHANGED};
use super::network::Network;
use super::rows::{Accumulator, Accumulators, AllRows, Changes, PSQT, Rows};
use super::simd::{Kernel, Kernels};
use super::transformer::Transformer;
use crate::board::{AttackKinds, DirtyPieces, DirtyThreats, Move, Position};

/// Stack of one accumulator pair per ply, updated only on evaluation.
pub struct AccumulatorStack {
    network: Arc<Network>,
    kernels: Kernels,
    plies: Plies,
    accumulators: PlyAccumulators,
}

impl AccumulatorStack {
    /// A stack for `network` with the process's kernel, [`Kernel::active`].
    pub fn new(network: Arc<Network>) -> Self {
        Self::with_kernels(network, Kernels::active())
    }

    /// A stack with a given kernel, for tests and measurements.
    ///
    /// # Panics
    /// If this processor does not support the kernel; see [`Kernel::is_available`].
    pub fn with_kernel(network: Arc<Network>, kernel: Kernel) -> Self {
        let kernels = Kernels::new(kernel);
        Self::with_kernels(network, kernels.expect("the processor supports the kernel"))
    }

    fn with_kernels(network: Arc<Network>, kernels: Kernels) -> Self {
        Self { kernels, plies: Plies::new(), accumulators: PlyAccumulators::new(&network), network }
    }

    /// Clears the stack: the next evaluation computes its board without reference to earlier ones.
    pub fn reset(&mut self) {
        // The refresh cache stays valid, because it depends only on the network.
        self.plies.reset();
    }

    /// Records a move that was made. Null moves change no piece, so they are neither pushed nor popped.
    #[inline]
    pub fn push(&mut self, dirty: &DirtyPieces) {
        self.plies.push(dirty);
    }

    /// Makes a legal move on `position` and pushes it.
    #[inline]
    pub fn make(&mut self, position: &mut Position, m: Move) {
        self.plies.make(position, m);
    }

    /// Removes the last move.
    #[inline]
    pub fn pop(&mut self) {
        self.plies.pop();
    }

    /// Evaluates `board` from the side to move's point of view. A search uses [`NetOutput::value`].
    ///
    /// `board` must be the position that results from the pushes since the last [`Self::reset`].
    #[inline]
    pub fn evaluate(&mut self, board: impl Into<Board>) -> NetOutput {
        self.evaluate_board(&board.into())
    }

    // One function that inlines everything except the kernels. Not inlined into the search, where it would increase
    // register pressure.
    #[inline(never)]
    fn evaluate_board(&mut self, board: &Board) -> NetOutput {
        let Self { network, kernels, plies, accumulators } = self;
        let [own, other] = accumulators.update(plies, network, *kernels, board);
        let shape = network.architecture();
        let bucket = shape.bucket(board.count());
        let head = &network.heads()[bucket];
        // Nets with more stacks than this have no piece-square values.
        let column = bucket % PSQT;
        let psqt = own.psqt()[column].wrapping_sub(other.psqt()[column]) / 2;
        let positional = kernels.forward(shape, head, own.neurons(), other.neurons());
        NetOutput { psqt, positional, bucket }
    }
}

/// Divides a raw network output into engine units (Stockfish's internal units).
const OUTPUT_SCALE: i32 = 16;

/// The network's evaluation of a position, from the side to move's point of view.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct NetOutput {
    /// The piece-square part; 0 for networks without one.
    pub psqt: i32,
    /// The output of the dense layers.
    pub positional: i32,
    /// Index of the layer stack that was used; 0 for networks with one stack.
    pub bucket: usize,
}

impl NetOutput {
    /// The sum of both parts, in sixteenths of engine units.
    #[inline]
    pub fn raw(self) -> i32 {
        self.psqt.wrapping_add(self.positional)
    }

    /// The value in engine units (Stockfish's internal units): the sum of the parts divided by 16 and truncated once,
    /// as in the engine that the network was made for. Newer engines (of SFNNv10 and SFNNv16) truncate each part before
    /// the addition. Their value differs by one unit where the remainders add up to a unit or have opposite signs.
    #[inline]
    pub fn value(self) -> i32 {
        self.raw() / OUTPUT_SCALE
    }
}

// The accumulators of every ply, and their update from the changes of the plies.

/// Both perspectives' accumulators of every ply.
pub struct PlyAccumulators {
    set: &'static FeatureSet,
    /// [`FeatureSet::planes`] of the set.
    planes: [u16; 12],
    inputs: PairInputs,
    /// Whether the net has threat or attack inputs.
    has_pairs: bool,
    /// By ply and colour.
    sums: Accumulators,
    /// Contains only pieces on squares; the other inputs are added to copies.
    cache: RefreshCache,
    /// Buffer for the attacks that a ply changes.
    attacks: Box<DirtyThreats>,
    /// Buffers for the threat or attack inputs that a ply changes, by perspective.
    changes: Box<[InputChanges; 2]>,
}

/// Index of an accumulator.
#[inline(always)]
fn index(ply: usize, perspective: Color) -> usize {
    2 * ply + perspective as usize
}

impl PlyAccumulators {
    /// Accumulators for `network`; none is computed.
    pub fn new(network: &Network) -> Self {
        let shape = network.architecture();
        let set = shape.features.set();
        Self {
            set,
            planes: set.planes(),
            inputs: PairInputs::of(shape),
            has_pairs: shape.attack_kinds() != AttackKinds::NONE,
            sums: Accumulators::zeroed(shape.l1, 2 * INITIAL_PLIES),
            cache: RefreshCache::new(set, network.transformer()),
            attacks: Box::new(DirtyThreats::new(shape.attack_kinds())),
            changes: Box::new([const { InputChanges::none() }; 2]),
        }
    }

    /// Updates the accumulators at the top and returns them: the side to move's, then the other side's.
    #[inline(always)]
    pub fn update(
        &mut self,
        plies: &mut Plies,
        network: &Network,
        kernels: Kernels,
        board: &Board,
    ) -> [&Accumulator; 2] {
        if index(plies.top, Color::White) >= self.sums.len() {
            self.grow(plies);
        }
        let transformer = network.transformer();
        if !self.has_pairs {
            self.update_pieces(plies, &transformer.rows(), kernels, board);
        } else if let Some(rows) = transformer.all_rows() {
            self.update_all(plies, &rows, kernels, board);
        } else {
            self.refresh_with_wide_attacks(plies, &transformer.rows(), kernels, board);
        }
        let (own, other) = (index(plies.top, board.turn()), index(plies.top, !board.turn()));
        [self.sums.at(own), self.sums.at(other)]
    }

    /// The rows of pieces on squares for a perspective whose king stands on `king`.
    #[inline(always)]
    fn rows_of(&self, perspective: Color, king: Square) -> ViewRows<'_> {
        ViewRows::new(self.set, &self.planes, perspective, king)
    }

    #[cold]
    fn grow(&mut self, plies: &Plies) {
        self.sums.grow(2 * plies.stack.len());
    }

    /// Updates the top of a net with pieces on squares only.
    // Inlined into its caller, with its callees, and with separate arguments: in registers they cost half as much as
    // through a pointer, and this runs at every second node.
    #[inline(always)]
    fn update_pieces(&mut self, plies: &mut Plies, rows: &Rows<'_, i16>, kernels: Kernels, board: &Board) {
        let [first, second] = Color::ALL;
        let bases =
            [self.piece_base(plies, rows, kernels, board, first), self.piece_base(plies, rows, kernels, board, second)];
        self.apply_piece_changes(plies, rows, kernels, board, bases);
    }

    /// The ply from which a perspective's changes are applied; computes its sums if necessary.
    #[inline(always)]
    fn piece_base(
        &mut self,
        plies: &mut Plies,
        rows: &Rows<'_, i16>,
        kernels: Kernels,
        board: &Board,
        perspective: Color,
    ) -> usize {
        let base = plies.base(perspective, |ply| keeps_view(self.set, perspective, &ply.dirty));
        if !base.is_computed {
            self.refresh_pieces(plies, rows, kernels, board, perspective, base.ply);
        }
        base.ply
    }

    /// Computes one perspective of a ply from the cache.
    fn refresh_pieces(
        &mut self,
        plies: &mut Plies,
        rows: &Rows<'_, i16>,
        kernels: Kernels,
        board: &Board,
        perspective: Color,
        ply: usize,
    ) {
        let board = plies.board_at(ply, board);
        let sums = self.sums.at_mut(index(ply, perspective));
        self.cache.refresh(rows, kernels, &board, perspective, sums);
        plies.stack[ply].computed[perspective as usize] = true;
    }

    /// Applies the changes of each ply from the perspectives' `bases` to the top.
    ///
    /// Stores every intermediate ply, because evaluations of its other children start from it.
    #[inline(always)]
    fn apply_piece_changes(
        &mut self,
        plies: &mut Plies,
        rows: &Rows<'_, i16>,
        kernels: Kernels,
        board: &Board,
        bases: [usize; 2],
    ) {
        // Prefetches the rows of both perspectives before the first one is needed.
        let mut at_top = [const { ChangedFeatures::none() }; 2];
        for ((lists, perspective), base) in at_top.iter_mut().zip(Color::ALL).zip(bases) {
            if base < plies.top {
                lists.write(
                    self.set,
                    self.rows_of(perspective, board.king(perspective)),
                    &plies.stack[plies.top].dirty,
                );
                lists.prefetch(rows);
            }
        }
        for ((lists, perspective), base) in at_top.iter().zip(Color::ALL).zip(bases) {
            for ply in base + 1..=plies.top {
                let mut below = ChangedFeatures::none();
                let lists = if ply == plies.top {
                    lists
                } else {
                    below.write(self.set, self.rows_of(perspective, board.king(perspective)), &plies.stack[ply].dirty);
                    &below
                };
                let (from, to) = self.sums.step(index(ply - 1, perspective), index(ply, perspective));
                kernels.update(rows, from, to, &lists.added, &lists.removed);
                plies.stack[ply].computed[perspective as usize] = true;
            }
        }
    }

    /// Updates the top of a net with threat or attack inputs. Not inlined, so that other nets do not pay for its
    /// registers.
    #[inline(never)]
    fn update_all(&mut self, plies: &mut Plies, rows: &AllRows<'_>, kernels: Kernels, board: &Board) {
        let bases = Color::ALL.map(|perspective| {
            let base = plies.base(perspective, |ply| stays_in_half(perspective, &ply.dirty));
            if !base.is_computed {
                self.refresh_all(plies, rows, kernels, board, perspective, base.ply);
            }
            base.ply
        });
        if bases[0] == bases[1] {
            self.apply_all_changes(plies, rows, kernels, board, Color::ALL, bases[0]);
        } else {
            for (perspective, base) in Color::ALL.into_iter().zip(bases) {
                self.apply_all_changes(plies, rows, kernels, board, [perspective], base);
            }
        }
    }

    /// Computes one perspective of a ply from the cache and the active threat or attack inputs.
    fn refresh_all(
        &mut self,
        plies: &mut Plies,
        rows: &AllRows<'_>,
        kernels: Kernels,
        board: &Board,
        perspective: Color,
        ply: usize,
    ) {
        let board = plies.board_at(ply, board);
        let active = self.inputs.active(self.set, &board, perspective);
        let pieces = self.cache.pieces(&rows.pieces, kernels, &board, perspective);
        let changes = Changes { added: &[], removed: &[], paired_added: &active, paired_removed: &[] };
        kernels.update_all(rows, pieces, self.sums.at_mut(index(ply, perspective)), &changes);
        plies.stack[ply].computed[perspective as usize] = true;
    }

    /// Computes the top of a net from the cache and the active attack inputs, for nets with weights of attacks that do
    /// not fit into bytes, or with a width that is not a multiple of 64. They are slower.
    #[cold]
    fn refresh_with_wide_attacks(&mut self, plies: &Plies, rows: &Rows<'_, i16>, kernels: Kernels, board: &Board) {
        for perspective in Color::ALL {
            let active = self.inputs.active(self.set, board, perspective);
            let first = self.set.count() as u16;
            let added: Vec<u16> = active.iter().map(|&input| first + input as u16).collect();
            let pieces = self.cache.pieces(rows, kernels, board, perspective);
            kernels.update(rows, pieces, self.sums.at_mut(index(plies.top, perspective)), &added, &[]);
        }
    }

    /// Applies the changes of each ply from `base` to the top. The own king may move within its half of the board: then
    /// all features of pieces on squares can change, but threat and attack inputs depend only on the half.
    ///
    /// Stores every intermediate ply, because evaluations of its other children start from it.
    #[inline(always)]
    fn apply_all_changes<const N: usize>(
        &mut self,
        plies: &mut Plies,
        rows: &AllRows<'_>,
        kernels: Kernels,
        board: &Board,
        perspectives: [Color; N],
        base: usize,
    ) {
        let (set, inputs) = (self.set, self.inputs);
        let mut kings = perspectives.map(|color| plies.king_at(base, color, board.king(color)));
        let mut pawns = if inputs.has_pawn_pairs() { plies.pawns_at(base, board.pawns()) } else { ByColor::default() };
        let mut pieces = plies.codes_at(base, board.codes());
        for ply in base + 1..=plies.top {
            let dirty = &plies.stack[ply].dirty;
            pieces.advance(dirty, &mut self.attacks);
            let attacks = &*self.attacks;
            // Prefetches the rows of both perspectives before the first one is needed: memory latency dominates.
            match inputs {
                PairInputs::Threats(threats) => {
                    let views =
                        std::array::from_fn::<_, N, _>(|n| View { perspective: perspectives[n], king: kings[n] });
                    threats.changes(dirty, attacks, &mut pawns, views, &mut self.changes);
                }
                PairInputs::Attacks(_) => {
                    let views: [_; N] = std::array::from_fn(|n| attack_view(set, perspectives[n], kings[n]));
                    attack_inputs::changes(attacks, views, &mut self.changes);
                }
            }
            for changes in self.changes.iter().take(N) {
                changes.added.iter().for_each(|&input| rows.paired.prefetch(input));
                changes.removed.iter().for_each(|&input| rows.paired.prefetch(input));
            }
            let mut on_squares = [const { ChangedFeatures::none() }; N];
            for (n, lists) in on_squares.iter_mut().enumerate() {
                lists.write(set, ViewRows::new(set, &self.planes, perspectives[n], kings[n]), dirty);
                lists.prefetch(&rows.pieces);
            }
            for (n, &perspective) in perspectives.iter().enumerate() {
                let (from, to) = self.sums.step(index(ply - 1, perspective), index(ply, perspective));
                let InputChanges { added, removed } = &self.changes[n];
                let lists = &on_squares[n];
                let changes = Changes {
                    added: &lists.added,
                    removed: &lists.removed,
                    paired_added: added,
                    paired_removed: removed,
                };
                if keeps_view(set, perspective, dirty) && added.is_empty() && removed.is_empty() {
                    kernels.update(&rows.pieces, from, to, &lists.added, &lists.removed);
                } else if keeps_view(set, perspective, dirty) {
                    kernels.update_all(rows, from, to, &changes);
                } else {
                    let boards = [plies.board_at(ply - 1, board), plies.board_at(ply, board)];
                    let moved = self.cache.move_king(&rows.pieces, kernels, from, &boards, perspective);
                    kernels.update_all(rows, moved, to, &Changes { added: &[], removed: &[], ..changes });
                }
                if dirty.king_moved() == Some(perspective) {
                    kings[n] = dirty[0].to.unwrap_or(kings[n]);
                }
            }
            for perspective in perspectives {
                plies.stack[ply].computed[perspective as usize] = true;
            }
        }
    }
}

/// Features of two pieces, whose rows are in the paired layout.
#[derive(Clone, Copy)]
enum PairInputs {
    Threats(ThreatInputSet),
    Attacks(AttackInputs),
}

impl PairInputs {
    fn of(shape: &Shape) -> Self {
        match shape.attacks {
            AttackInputs::None => Self::Threats(shape.threat_inputs.set()),
            attacks => Self::Attacks(attacks),
        }
    }

    #[inline(always)]
    fn has_pawn_pairs(self) -> bool {
        matches!(self, Self::Threats(ThreatInputSet { pawn_pairs: true, .. }))
    }

    /// The inputs that are active on a board, for a net with features of `set`.
    fn active(self, set: &FeatureSet, board: &Board, perspective: Color) -> ThreatInputList {
        let mut active = ThreatInputList::new();
        match self {
            Self::Threats(threats) => threats.active(board, perspective, |input| active.push(input)),
            Self::Attacks(attacks) => {
                let view = attack_view(set, perspective, board.king(perspective));
                attacks.active(board, [view], |[input]| active.push(input.into()));
            }
        }
        active
    }
}

/// The orientation of attacks for a perspective whose king stands on `king`.
#[inline(always)]
fn attack_view(set: &FeatureSet, perspective: Color, king: Square) -> AttackView {
    AttackView::new(perspective, set.view(perspective, king))
}

/// Whether a move keeps a perspective's view: its own king did not move, or it stayed within its bucket and its half of
/// the board.
#[inline(always)]
fn keeps_view(set: &FeatureSet, perspective: Color, dirty: &DirtyPieces) -> bool {
    if dirty.king_moved() != Some(perspective) {
        return true;
    }
    match (dirty[0].from, dirty[0].to) {
        (Some(from), Some(to)) => set.view(perspective, from) == set.view(perspective, to),
        _ => false,
    }
}

/// The features of pieces on squares that a move added and removed for one perspective.
struct ChangedFeatures {
    /// Features that were added.
    added: IndexList<MAX_CHANGED>,
    /// Features that were removed.
    removed: IndexList<MAX_CHANGED>,
}

impl ChangedFeatures {
    /// No change.
    const fn none() -> Self {
        Self { added: IndexList::new(), removed: IndexList::new() }
    }

    /// Prefetches the first cache line of each feature's row.
    #[inline(always)]
    fn prefetch(&self, rows: &Rows<'_, i16>) {
        for list in [&self.added, &self.removed] {
            list.iter().for_each(|&feature| rows.prefetch(feature.into()));
        }
    }

    /// Appends the features of a perspective's view that a move changed.
    // Writes in place, because a copy would read eight bytes at a time. Such a load stalls until the two-byte stores of
    // the indices have left the processor's store buffer.
    #[inline(always)]
    fn write(&mut self, set: &FeatureSet, view: ViewRows<'_>, dirty: &DirtyPieces) {
        for change in dirty.iter() {
            if change.piece.role == Role::King && !set.has_kings() {
                continue;
            }
            if let Some(square) = change.to {
                self.added.push(view.index(change.piece, square));
            }
            if let Some(square) = change.from {
                self.removed.push(view.index(change.piece, square));
            }
        }
    }
}

/// Whether the perspective's own king did not move, or stayed within the files a to d or within e to h.
#[inline]
fn stays_in_half(perspective: Color, dirty: &DirtyPieces) -> bool {
    let half = |square: Option<Square>| square.map(|square| square as u32 & 4);
    dirty.king_moved() != Some(perspective) || half(dirty[0].from) == half(dirty[0].to)
}

// Refresh cache: for every view of a perspective, the last accumulator and the board that it was computed from.
//
// When a king returns to a square, most pieces are usually on the same squares as before. A refresh applies only the
// differences instead of summing up to thirty rows.

// CITE: the idea is Luecx's, from the engine Koivisto, where it is known as "Finny tables".

type Indices = IndexList<MAX_ACTIVE>;

/// A slot for each view of both perspectives. The sums contain only pieces on squares.
pub struct RefreshCache {
    set: &'static FeatureSet,
    /// The accumulator of each slot.
    sums: Accumulators,
    /// The board from which each slot was computed.
    boards: Vec<Board>,
    /// Sums before a change; then the result of [`Self::move_king`].
    buffer: Accumulators,
}

impl RefreshCache {
    /// A cache with every slot set to the empty board, whose accumulator is the biases.
    pub fn new(set: &'static FeatureSet, transformer: &Transformer) -> Self {
        let (slots, width) = (2 * set.views(), transformer.biases().len());
        let mut sums = Accumulators::zeroed(width, slots);
        (0..slots).for_each(|slot| transformer.set_to_empty(sums.at_mut(slot)));
        let boards = vec![Board::empty(Color::White); slots];
        Self { set, sums, boards, buffer: Accumulators::zeroed(width, 1) }
    }

    /// Lists the features that were added and removed in the slot of a perspective's view since its last use, stores
    /// the board, and returns the slot.
    #[inline(always)]
    fn changes(&mut self, board: &Board, perspective: Color, [added, removed]: &mut [Indices; 2]) -> usize {
        let set = self.set;
        let view = set.view(perspective, board.king(perspective));
        let slot = perspective as usize * set.views() + set.view_number(view);
        let last = &mut self.boards[slot];
        for color in Color::ALL {
            for role in Role::ALL {
                if role == Role::King && !set.has_kings() {
                    continue;
                }
                let (now, before) = (board.pieces(color, role), last.pieces(color, role));
                let piece = Piece { color, role };
                for square in now & !before {
                    added.push(set.index(view, perspective, piece, square));
                }
                for square in before & !now {
                    removed.push(set.index(view, perspective, piece, square));
                }
            }
        }
        last.clone_from(board);
        slot
    }

    /// Computes the accumulator of `board` for one perspective, and stores it in the cache.
    pub fn refresh(
        &mut self,
        rows: &Rows<'_, i16>,
        kernels: Kernels,
        board: &Board,
        perspective: Color,
        sums: &mut Accumulator,
    ) {
        let mut lists = [const { Indices::new() }; 2];
        let slot = self.changes(board, perspective, &mut lists);
        let [added, removed] = &lists;
        let cached = self.sums.at_mut(slot);
        kernels.update(rows, cached, sums, added, removed);
        cached.copy_from(sums);
    }

    /// The accumulator of `board` for one perspective, in the cache.
    pub fn pieces(
        &mut self,
        rows: &Rows<'_, i16>,
        kernels: Kernels,
        board: &Board,
        perspective: Color,
    ) -> &Accumulator {
        let slot = self.update_slot(rows, kernels, board, perspective);
        self.sums.at(slot)
    }

    /// Returns `from` with the pieces on squares of the first board replaced by those of the second one, which must
    /// have another view. Threat and attack inputs are not changed.
    #[inline(never)]
    pub fn move_king(
        &mut self,
        rows: &Rows<'_, i16>,
        kernels: Kernels,
        from: &Accumulator,
        boards: &[Board; 2],
        perspective: Color,
    ) -> &Accumulator {
        let slots = [0, 1].map(|n| self.update_slot(rows, kernels, &boards[n], perspective));
        let [removed, added] = slots.map(|slot| self.sums.at(slot));
        let moved = self.buffer.at_mut(0);
        moved.exchange(from, removed, added);
        moved
    }

    /// Updates the slot of a perspective's king to the given board, and returns its index.
    fn update_slot(&mut self, rows: &Rows<'_, i16>, kernels: Kernels, board: &Board, perspective: Color) -> usize {
        let mut lists = [const { Indices::new() }; 2];
        let slot = self.changes(board, perspective, &mut lists);
        let [added, removed] = &lists;
        if !added.is_empty() || !removed.is_empty() {
            let before = self.buffer.at_mut(0);
            before.copy_from(self.sums.at(slot));
            kernels.update(rows, before, self.sums.at_mut(slot), added, removed);
        }
        slot
    }
}
