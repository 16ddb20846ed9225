//! The transposition table: results of earlier searches by position, shared by all threads without locks.
//!
//! A cluster is 32 bytes, half a cache line: three entries and one word of keys.
//!
//! ```text
//! word 0..2  entry   bits  0..16  move (0 = none)
//!                         16..32  score, from this node (i16)
//!                         32..48  static evaluation (i16)
//!                         48..56  depth + 4 (0 = empty)
//!                         56..58  bound   58 PV   59..64 generation
//! word 3     keys    16 bits per entry, each written on its own: low key bits XOR a fold of the entry;
//!                    the last 16 bits are unused
//! ```
//!
//! Entry and key are written separately, so two threads can mix them. The key contains a fold of the entry, so a torn
//! entry fails its check like one of another position. The search validates every move from the table in any case.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU16, AtomicU64};

use bytemuck::Zeroable;

use super::score::Value;
use super::{params, score};
use crate::board::{Move, Position};
use crate::util::memory;
use crate::util::memory::prefetch;
use crate::util::rng::scaled;

// CITE: lockless hashing by XOR: Hyatt and Mann, "A lock-less transposition-table implementation" (2002). Three
// entries with 16 key bits in 32 bytes, the PV bit, five bits of generation, the index by multiplication and the
// replacement rules: Stockfish. One-word entries and the sealed keys are ours.

/// Relation of a stored score to the true one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// No score; the entry has only a static evaluation.
    None,
    /// The true score is at most this.
    Upper,
    /// The true score is at least this.
    Lower,
    /// The stored score is the true one.
    Exact,
}

impl Bound {
    fn from_bits(bits: u64) -> Self {
        match bits & 3 {
            0 => Self::None,
            1 => Self::Upper,
            2 => Self::Lower,
            _ => Self::Exact,
        }
    }

    /// Whether the true score is known to be at least the stored one.
    #[inline]
    pub fn is_lower(self) -> bool {
        matches!(self, Self::Lower | Self::Exact)
    }

    /// Whether the true score is known to be at most the stored one.
    #[inline]
    pub fn is_upper(self) -> bool {
        matches!(self, Self::Upper | Self::Exact)
    }

    /// Whether a stored `value` with this bound proves that the true value is on the same side of `limit`.
    #[inline]
    pub fn allows_cutoff(self, value: Value, limit: Value) -> bool {
        if value >= limit { self.is_lower() } else { self.is_upper() }
    }
}

/// Depth of an entry made without a search: only its static evaluation is used.
pub const DEPTH_UNSEARCHED: i32 = -2;
/// Depth of a quiescence entry.
pub const DEPTH_QS: i32 = 0;
/// Offset of a stored depth, which makes a used entry differ from 0.
const DEPTH_OFFSET: i32 = 4;
const ENTRIES: usize = 3;
const GENERATIONS: u64 = 32;

/// A table entry. `score` is as stored: see [`score::from_tt`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableEntry {
    /// Best or refuting move; not necessarily legal in the current position.
    pub best: Option<Move>,
    /// Score with mate distances from this node.
    pub score: Value,
    /// Static evaluation before corrections, or [`score::NONE`].
    pub eval: Value,
    /// Depth of the search that stored the entry.
    pub depth: i32,
    /// Relation of `score` to the true score.
    pub bound: Bound,
    /// Whether the position was once on a principal variation.
    pub pv: bool,
}

impl TableEntry {
    fn pack(&self, generation: u64) -> u64 {
        let depth = (self.depth + DEPTH_OFFSET).clamp(1, 255) as u64;
        u64::from(Move::bits_of(self.best))
            | u64::from(self.score as i16 as u16) << 16
            | u64::from(self.eval as i16 as u16) << 32
            | depth << 48
            | (self.bound as u64) << 56
            | u64::from(self.pv) << 58
            | generation << 59
    }

    fn unpack(data: u64) -> Self {
        Self {
            best: Move::from_bits(data as u16),
            score: Value::from((data >> 16) as u16 as i16),
            eval: Value::from((data >> 32) as u16 as i16),
            depth: (data >> 48 & 255) as i32 - DEPTH_OFFSET,
            bound: Bound::from_bits(data >> 56),
            pv: data >> 58 & 1 == 1,
        }
    }

    /// The entry after it has refused a replacement: a bound that claims a win or loss loses a ply of its depth. Such
    /// entries would otherwise block the results that prove a mate or refute the claim.
    // CITE: secondary ageing: Stockfish (94beadffb, May 2026).
    fn aged_by_refusal(self) -> Self {
        let ages =
            self.bound != Bound::Exact && self.depth >= params::tt_ageing_depth() && score::is_decisive(self.score);
        Self { depth: self.depth - i32::from(ages), ..self }
    }
}

#[derive(Zeroable)]
#[repr(C, align(32))]
struct Cluster {
    entries: [AtomicU64; ENTRIES],
    keys: [AtomicU16; ENTRIES + 1],
}

impl Cluster {
    /// Whether entry `slot`, which contains `data`, is used and belongs to this key.
    #[inline]
    fn holds(&self, slot: usize, data: u64, key: u64) -> bool {
        self.keys[slot].load(Relaxed) == seal(key, data) && data >> 48 & 255 != 0
    }

    /// Overwrites an entry.
    #[inline]
    fn write(&self, slot: usize, key: u64, data: u64) {
        self.entries[slot].store(data, Relaxed);
        self.keys[slot].store(seal(key, data), Relaxed);
    }
}

const _: () = assert!(size_of::<Cluster>() == 32);

/// The largest table in MiB: 32 TiB, more than any machine has.
pub const MAX_MB: usize = 1 << 25;

const CLUSTERS_PER_MB: usize = (1 << 20) / size_of::<Cluster>();
/// The clusters of the largest table.
pub(super) const MAX_CLUSTERS: u64 = MAX_MB as u64 * CLUSTERS_PER_MB as u64;

/// A cluster as plain numbers: its entries, then its keys.
pub(super) type ClusterWords = [u64; ENTRIES + 1];

/// Error: not even the smallest transposition table fits into memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoMemory;

impl std::fmt::Display for NoMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(
            "out of memory: cannot allocate even a transposition table of 1 MiB; free memory and set Hash again",
        )
    }
}

impl std::error::Error for NoMemory {}

/// Key of a position in the table. Near the 50-move limit it includes the halfmove clock: the value of a position then
/// depends on the clock, and results for another clock are not valid.
// CITE: Stockfish's adjust_key50 (idea).
#[inline]
pub fn key_of(position: &Position) -> u64 {
    position.key() ^ clock_key(position.halfmoves())
}

/// The key of the position after `m`: a hint for a prefetch, like [`Position::key_after`].
#[inline]
pub fn key_after(position: &Position, m: Move) -> u64 {
    let key = position.key_after(m);
    let clock = position.halfmoves() + 1;
    if clock < clocked_from() || position.is_irreversible(m) {
        return key;
    }
    key ^ clock_key(clock)
}

/// The smallest halfmove clock that is part of the key.
#[inline]
fn clocked_from() -> u32 {
    params::tt_halfmoves() as u32
}

/// The part of the key that encodes the halfmove clock.
#[inline]
fn clock_key(halfmoves: u32) -> u64 {
    const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
    u64::from((halfmoves + 1).saturating_sub(clocked_from())).wrapping_mul(GOLDEN)
}

/// The table.
pub struct TranspositionTable {
    clusters: memory::Zeroed<Cluster>,
    generation: AtomicU64,
}

impl TranspositionTable {
    /// A table of `mb` MiB (1 to [`MAX_MB`]), or of the largest smaller size that fits into memory. With a larger
    /// table the process would be killed or swapped when the table fills up.
    ///
    /// # Errors
    /// Fails if the system cannot allocate even 1 MiB.
    pub fn new(mb: usize) -> Result<Self, NoMemory> {
        let room = memory::available_bytes().map_or(usize::MAX, |bytes| (bytes / 8 * 7) >> 20);
        Self::largest(mb.min(room), memory::zeroed_slice)
    }

    /// The largest table that `allocate` grants, halving `mb` MiB until it succeeds.
    fn largest(mb: usize, allocate: impl Fn(usize) -> Option<memory::Zeroed<Cluster>>) -> Result<Self, NoMemory> {
        let half = |&mb: &usize| (mb > 1).then_some(mb / 2);
        std::iter::successors(Some(mb.clamp(1, MAX_MB)), half)
            .find_map(|mb| allocate(mb * CLUSTERS_PER_MB))
            .map(Self::of)
            .ok_or(NoMemory)
    }

    /// The smallest possible table, for a request that does not search.
    pub(in crate::search) fn placeholder() -> Self {
        Self::of(memory::zeroed_slice_or_abort(1))
    }

    fn of(clusters: memory::Zeroed<Cluster>) -> Self {
        Self { clusters, generation: AtomicU64::new(0) }
    }

    /// Size in MiB.
    pub fn megabytes(&self) -> usize {
        (self.clusters.len() * size_of::<Cluster>()) >> 20
    }

    /// Begins a new search: entries of older searches are replaced sooner.
    pub fn age(&self) {
        let next = (self.generation.load(Relaxed) + 1) % GENERATIONS;
        self.generation.store(next, Relaxed);
    }

    /// Empties part `index` of `parts`, so that threads can share the work.
    pub fn clear_part(&self, index: usize, parts: usize) {
        let size = self.clusters.len().div_ceil(parts);
        let start = (index * size).min(self.clusters.len());
        let end = (start + size).min(self.clusters.len());
        for cluster in &self.clusters[start..end] {
            cluster.keys.iter().for_each(|key| key.store(0, Relaxed));
            for entry in &cluster.entries {
                entry.store(0, Relaxed);
            }
        }
        if index == 0 {
            self.generation.store(0, Relaxed);
        }
    }

    /// Number of clusters.
    pub(super) fn clusters(&self) -> usize {
        self.clusters.len()
    }

    /// Number of the current or last search, modulo [`GENERATIONS`].
    pub(super) fn generation(&self) -> u64 {
        self.generation.load(Relaxed)
    }

    /// Sets the number of the search, which continues the count of another table.
    pub(super) fn set_generation(&self, generation: u64) {
        self.generation.store(generation % GENERATIONS, Relaxed);
    }

    /// Contents of a cluster.
    pub(super) fn words(&self, index: usize) -> ClusterWords {
        let cluster = &self.clusters[index];
        let [a, b, c] = cluster.entries.each_ref().map(|word| word.load(Relaxed));
        let keys = cluster.keys.iter().rev().fold(0, |word, key| word << 16 | u64::from(key.load(Relaxed)));
        [a, b, c, keys]
    }

    /// Copies entries of another table's cluster to cluster `index` where they are worth more than the entries that
    /// they replace. Entries that no search could have stored are skipped.
    pub(super) fn take_over(&self, index: usize, words: &ClusterWords) {
        let cluster = &self.clusters[index];
        let generation = self.generation();
        for (from, &data) in words[..ENTRIES].iter().enumerate() {
            if !is_plausible(data) {
                continue;
            }
            let least = least_valuable(cluster, generation);
            if replacement_value(data, generation) > least.value {
                cluster.entries[least.slot].store(data, Relaxed);
                cluster.keys[least.slot].store((words[ENTRIES] >> (16 * from)) as u16, Relaxed);
            }
        }
    }

    #[inline]
    fn cluster(&self, key: u64) -> &Cluster {
        &self.clusters[scaled(key, self.clusters.len())]
    }

    /// Prefetches the cluster of `key`.
    #[inline]
    pub fn prefetch(&self, key: u64) {
        prefetch(self.cluster(key));
    }

    /// The entry of the position with this key.
    #[inline]
    pub fn probe(&self, key: u64) -> Option<TableEntry> {
        let cluster = self.cluster(key);
        for (slot, entry) in cluster.entries.iter().enumerate() {
            let data = entry.load(Relaxed);
            if cluster.holds(slot, data, key) {
                return Some(TableEntry::unpack(data));
            }
        }
        None
    }

    /// Stores a result. A shallower result does not replace a deeper one of the same position and search, unless it is
    /// exact, but its move does. An entry without a move keeps the old move.
    // CITE: conditions and figures: Stockfish.
    pub fn store(&self, key: u64, mut new: TableEntry) {
        let cluster = self.cluster(key);
        let generation = self.generation.load(Relaxed);
        let Replacement { slot, data: old } = replacement(cluster, key, generation);
        if cluster.holds(slot, old, key) {
            let known = TableEntry::unpack(old);
            new.best = new.best.or(known.best);
            let fresh = old >> 59 == generation;
            let bonus = 2 * i32::from(new.pv);
            if new.bound != Bound::Exact && fresh && new.depth + bonus + 4 <= known.depth {
                let kept = TableEntry { best: new.best, ..known }.aged_by_refusal();
                if kept != known {
                    cluster.write(slot, key, kept.pack(generation));
                }
                return;
            }
        }
        cluster.write(slot, key, new.pack(generation));
    }

    /// Makes the entry of this key one ply shallower: a deep bound on the wrong side of the window could not end its
    /// node, and later results must be able to replace it.
    // CITE: Stockfish (319d61eff, May 2026).
    #[cold]
    pub fn penalise(&self, key: u64) {
        let cluster = self.cluster(key);
        for (slot, entry) in cluster.entries.iter().enumerate() {
            let data = entry.load(Relaxed);
            if cluster.holds(slot, data, key) && data >> 48 & 255 > 1 {
                return cluster.write(slot, key, data - (1 << 48));
            }
        }
    }

    /// Permill of the table that this search has filled, from a sample of 1000 clusters.
    pub fn hashfull(&self) -> u16 {
        let generation = self.generation.load(Relaxed);
        let sample = &self.clusters[..self.clusters.len().min(1000)];
        let used = sample
            .iter()
            .flat_map(|cluster| &cluster.entries)
            .filter(|entry| {
                let data = entry.load(Relaxed);
                data >> 48 & 255 != 0 && data >> 59 == generation
            })
            .count();
        (used * 1000 / (sample.len() * ENTRIES)) as u16
    }
}

/// The 16 key bits, mixed with the entry that they verify.
#[inline]
fn seal(key: u64, data: u64) -> u16 {
    let folded = data ^ data >> 32;
    (key ^ folded ^ folded >> 16) as u16
}

/// The entry of a cluster to overwrite.
struct Replacement {
    slot: usize,
    /// The entry's present contents.
    data: u64,
}

/// The entry to overwrite: the position's own, or else the one of the smallest [`replacement_value`].
#[inline]
fn replacement(cluster: &Cluster, key: u64, generation: u64) -> Replacement {
    let mut best = Replacement { slot: 0, data: 0 };
    let mut min_value = i64::MAX;
    for (slot, entry) in cluster.entries.iter().enumerate() {
        let data = entry.load(Relaxed);
        if cluster.holds(slot, data, key) {
            return Replacement { slot, data };
        }
        let value = replacement_value(data, generation);
        if value < min_value {
            min_value = value;
            best = Replacement { slot, data };
        }
    }
    best
}

/// Value of keeping an entry: its depth minus eight plies for each search since.
// CITE: depth minus age: Stockfish; eight plies a search: SF-2026-08.
#[inline]
fn replacement_value(data: u64, generation: u64) -> i64 {
    let age = (GENERATIONS + generation - (data >> 59)) % GENERATIONS;
    (data >> 48 & 255) as i64 - 8 * age as i64
}

/// An entry of a cluster and its [`replacement_value`].
struct Valued {
    slot: usize,
    value: i64,
}

/// The least valuable entry of a cluster. An empty entry is worth less than any other.
fn least_valuable(cluster: &Cluster, generation: u64) -> Valued {
    let valued = cluster.entries.iter().enumerate().map(|(slot, entry)| {
        let data = entry.load(Relaxed);
        Valued { slot, value: if data == 0 { i64::MIN } else { replacement_value(data, generation) } }
    });
    valued.min_by_key(|entry| entry.value).expect("a cluster has entries")
}

/// Whether an entry is used and a search could have stored it.
fn is_plausible(data: u64) -> bool {
    let entry = TableEntry::unpack(data);
    let in_range = |value: Value| value == score::NONE || value.abs() <= score::MATE;
    data >> 48 & 255 != 0 && in_range(entry.score) && in_range(entry.eval)
}

/// An entry's score relative to the root, or [`score::NONE`] if it has none that is valid here. `with_tb` is whether
/// scores of tablebases are valid: whether this search probes tables.
#[inline]
pub fn score_at(entry: &TableEntry, ply: usize, halfmoves: u32, with_tb: bool) -> Value {
    if entry.bound == Bound::None { score::NONE } else { score::from_tt(entry.score, ply, halfmoves, with_tb) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::util::rng::SplitMix64;

    fn entry(depth: i32, score: Value) -> TableEntry {
        TableEntry { best: Move::from_bits(0x123), score, eval: -77, depth, bound: Bound::Lower, pv: false }
    }

    #[test]
    fn entry_round_trips_every_field() {
        for bound in [Bound::None, Bound::Upper, Bound::Lower, Bound::Exact] {
            for depth in [DEPTH_UNSEARCHED, 0, 1, 99, 245] {
                for score in [-32_000, -1, 0, 31_999, score::NONE] {
                    let e = TableEntry {
                        best: Move::from_bits(0x4FFF),
                        score,
                        eval: score::NONE,
                        depth,
                        bound,
                        pv: depth == 1,
                    };
                    assert_eq!(TableEntry::unpack(e.pack(31)), e);
                }
            }
        }
    }

    #[test]
    fn key_includes_the_clock_near_the_limit_only() {
        let key = |clock: u32| {
            let fen = format!("8/8/8/3k4/8/8/6K1/7R w - - {clock} 1");
            let mode = crate::board::CastlingMode::Standard;
            key_of(&Position::from_fen(&fen, mode).expect("a position"))
        };
        let clocked: std::collections::BTreeSet<u64> = (90..100).map(key).collect();
        assert_eq!(clocked.len(), 10);
        assert!((0..90).all(|clock| key(clock) == key(0)) && !clocked.contains(&key(0)));
    }

    #[test]
    fn probe_finds_stored_keys_and_no_others() {
        let table = TranspositionTable::new(1).expect("1 MiB");
        let mut rng = SplitMix64::new(1);
        let keys: Vec<u64> = (0..1000).map(|_| rng.next_u64()).collect();
        for (i, &key) in keys.iter().enumerate() {
            table.store(key, entry(3, i as Value));
        }
        for (i, &key) in keys.iter().enumerate() {
            assert_eq!(table.probe(key).map(|e| e.score), Some(i as Value));
        }
        let foreign = (0..10_000).filter(|_| table.probe(rng.next_u64()).is_some()).count();
        assert!(foreign < 20, "{foreign} false hits");
    }

    #[test]
    fn tt_keeps_deeper_entry_and_old_move() {
        let table = TranspositionTable::new(1).expect("1 MiB");
        table.store(42, entry(20, 1));
        table.store(42, TableEntry { best: None, ..entry(3, 2) });
        assert_eq!(table.probe(42), Some(entry(20, 1)));
        table.age();
        table.store(42, TableEntry { best: None, ..entry(3, 2) });
        assert_eq!(table.probe(42), Some(entry(3, 2)));
    }

    #[test]
    fn probe_rejects_torn_entry() {
        let table = TranspositionTable::new(1).expect("1 MiB");
        table.store(42, entry(20, 1));
        let cluster = table.cluster(42);
        cluster.entries[0].fetch_xor(1 << 20, Relaxed);
        assert_eq!(table.probe(42), None);
    }

    #[test]
    fn refused_result_leaves_its_move() {
        let table = TranspositionTable::new(1).expect("1 MiB");
        table.store(42, entry(20, 1));
        let better = Move::from_bits(0x456);
        table.store(42, TableEntry { best: better, ..entry(3, 2) });
        assert_eq!(table.probe(42), Some(TableEntry { best: better, ..entry(20, 1) }));
    }

    #[test]
    fn inexact_win_ages_with_each_refused_result() {
        let table = TranspositionTable::new(1).expect("1 MiB");
        let win = entry(20, score::mate_in(40));
        table.store(42, win);
        let depth = |table: &TranspositionTable| table.probe(42).map(|e| e.depth);
        for refused in 1..=4 {
            table.store(42, entry(3, 0));
            assert_eq!(depth(&table), Some(20 - refused));
        }
        // An exact result, and one that claims no win, do not age.
        for stored in [TableEntry { bound: Bound::Exact, ..win }, entry(20, 100)] {
            let table = TranspositionTable::new(1).expect("1 MiB");
            table.store(42, stored);
            table.store(42, entry(3, 0));
            assert_eq!(depth(&table), Some(20));
        }
        table.penalise(42);
        assert_eq!(depth(&table), Some(15));
        table.penalise(43);
        (0..100).for_each(|_| table.penalise(42));
        assert_eq!(depth(&table), Some(1 - DEPTH_OFFSET), "an entry remains used");
    }

    #[test]
    fn concurrent_stores_in_one_cluster_keep_all_entries() {
        let table = TranspositionTable::new(1).expect("1 MiB");
        // The high bits select the cluster. The low 16 differ by more than the words of two entries do: the seal of an
        // entry that another thread is writing would fit a key that is close to its own.
        let keys = [0xC0DE_u64, 0x5A3C, 0x9F51];
        keys.iter().for_each(|&key| table.store(key, entry(3, 0)));
        let lost: usize = std::thread::scope(|scope| {
            let store = |key: u64| {
                let table = &table;
                move || {
                    let missing = |i: &i32| {
                        table.store(key, entry(3 + i % 3, *i % 1000));
                        table.probe(key).is_none()
                    };
                    (0..200_000).filter(missing).count()
                }
            };
            keys.map(|key| scope.spawn(store(key))).map(|thread| thread.join().expect("no panic")).iter().sum()
        });
        assert_eq!(lost, 0);
    }

    #[test]
    fn older_entries_are_replaced_first() {
        let table = TranspositionTable::new(1).expect("1 MiB");
        // Three keys of one cluster; one more search makes an entry eight plies less valuable.
        table.store(1, entry(20, 0));
        table.age();
        table.store(2, entry(13, 0));
        table.age();
        table.store(3, entry(8, 0));
        // 20 - 16, 13 - 8 and 8: the deepest entry is the oldest and the least valuable.
        table.store(4, entry(0, 0));
        assert_eq!([1, 2, 3, 4].map(|key| table.probe(key).is_some()), [false, true, true, true]);
        // Generations wrap around after 32 searches.
        (0..31).for_each(|_| table.age());
        table.store(3, entry(8, 0));
        table.store(5, entry(0, 0));
        assert!(table.probe(5).is_some() && table.probe(3).is_some());
    }

    #[test]
    fn clear_part_empties_every_part() {
        let table = TranspositionTable::new(1).expect("1 MiB");
        let mut rng = SplitMix64::new(2);
        for _ in 0..100_000 {
            table.store(rng.next_u64(), entry(1, 0));
        }
        assert!(table.hashfull() > 500);
        for part in 0..3 {
            table.clear_part(part, 3);
        }
        assert_eq!(table.hashfull(), 0);
    }

    #[test]
    fn too_large_table_falls_back_to_smaller_size() {
        // The system grants up to 8 MiB.
        let granted = 8 * CLUSTERS_PER_MB;
        let some = |count| (count <= granted).then(|| memory::zeroed_slice_or_abort(count));
        for mb in [8, 1000, MAX_MB, 1 << 32, 1 << 40, usize::MAX] {
            let table = TranspositionTable::largest(mb, some).expect("8 MiB are granted");
            assert!((4..=8).contains(&table.megabytes()), "{mb}");
            table.store(42, entry(20, 1));
            assert_eq!(table.probe(42), Some(entry(20, 1)));
        }
        let size = |mb| TranspositionTable::largest(mb, some).map(|table| table.megabytes());
        assert_eq!(size(1 << 32), size(1 << 40));
        assert_eq!(size(0), Ok(1));
    }

    #[test]
    fn refused_smallest_table_is_an_error() {
        assert_eq!(TranspositionTable::largest(64, |_| None).err(), Some(NoMemory));
    }
}
