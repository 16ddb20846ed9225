//! HalfKAv2_hm with fewer king buckets: similar squares of the own king share their rows.
//!
//! Each row then occurs more often in training, the file and the cache footprint shrink, and most king moves need no
//! refresh. The tables are finest on the first two ranks, where kings stand in most positions.
// CITE: mirrored tables of king buckets are common in engines that train their own nets; the tables are ours.

use std::sync::Mutex;

use thiserror::Error;

use super::FeatureSet;
use super::set::HALF_KAV2_HM;

/// The bucket by rank, from the first, and by file, from the edge to the centre.
type Table = [[u8; 4]; 8];

/// Sixteen buckets.
pub(super) const SIXTEEN: FeatureSet = FeatureSet {
    name: "HalfKAv2_hm/16",
    hash: HALF_KAV2_HM.hash ^ 0x1602_51C3,
    king_buckets: squares(&[
        [0, 1, 2, 3],
        [4, 5, 6, 7],
        [8, 8, 9, 9],
        [10, 10, 11, 11],
        [12, 12, 13, 13],
        [14, 14, 15, 15],
        [14, 14, 15, 15],
        [14, 14, 15, 15],
    ]),
    kings: 16,
    ..HALF_KAV2_HM
};

/// Eight buckets.
pub(super) const EIGHT: FeatureSet = FeatureSet {
    name: "HalfKAv2_hm/8",
    hash: HALF_KAV2_HM.hash ^ 0x0802_2E95,
    king_buckets: squares(&[
        [0, 1, 2, 3],
        [4, 4, 5, 5],
        [6, 6, 6, 6],
        [6, 6, 6, 6],
        [7, 7, 7, 7],
        [7, 7, 7, 7],
        [7, 7, 7, 7],
        [7, 7, 7, 7],
    ]),
    kings: 8,
    ..HALF_KAV2_HM
};

/// Four buckets.
pub(super) const FOUR: FeatureSet = FeatureSet {
    name: "HalfKAv2_hm/4",
    hash: HALF_KAV2_HM.hash ^ 0x0402_743B,
    king_buckets: squares(&[
        [0, 0, 1, 1],
        [2, 2, 2, 2],
        [3, 3, 3, 3],
        [3, 3, 3, 3],
        [3, 3, 3, 3],
        [3, 3, 3, 3],
        [3, 3, 3, 3],
        [3, 3, 3, 3],
    ]),
    kings: 4,
    ..HALF_KAV2_HM
};

/// One bucket: the features depend on the king only by the mirroring.
pub(super) const ONE: FeatureSet = FeatureSet {
    name: "HalfKAv2_hm/1",
    hash: HALF_KAV2_HM.hash ^ 0x0102_4A67,
    king_buckets: [0; 64],
    kings: 1,
    ..HALF_KAV2_HM
};

/// What is wrong with a table of king buckets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum BadTable {
    /// A number is missing below the largest one.
    #[error("no square has king bucket {missing}, although one has {largest}: number the buckets from 0 without gaps")]
    Gap {
        /// The smallest number that no square has.
        missing: u8,
        /// The largest number.
        largest: u8,
    },
    /// The features mirror the board, but the table is not symmetric.
    #[error(
        "{left} has king bucket {of_left} and {right} has {of_right}, but these features mirror the board if the king \
         is on the files a to d, so both must have the same"
    )]
    Asymmetric {
        /// The square on the files a to d.
        left: shakmaty::Square,
        /// Its mirror image.
        right: shakmaty::Square,
        /// The bucket of `left`.
        of_left: u8,
        /// The bucket of `right`.
        of_right: u8,
    },
}

/// Checks a table of king buckets for the features of `base`.
pub(super) fn check(base: &FeatureSet, table: &[u8; 64]) -> Result<(), BadTable> {
    let largest = table.iter().copied().max().unwrap_or(0);
    if let Some(missing) = (0..largest).find(|bucket| !table.contains(bucket)) {
        return Err(BadTable::Gap { missing, largest });
    }
    let lefts = shakmaty::Square::ALL.into_iter().filter(|square| *square as usize % 8 < 4);
    for left in lefts.filter(|_| base.mirrored) {
        let right = left.flip_horizontal();
        let [of_left, of_right] = [left, right].map(|square| table[square as usize]);
        if of_left != of_right {
            return Err(BadTable::Asymmetric { left, right, of_left, of_right });
        }
    }
    Ok(())
}

/// The features of `base` with king buckets by a table. Every table is stored once and never freed: a process reads
/// few.
pub(super) fn by_table(base: &FeatureSet, table: &[u8; 64]) -> &'static FeatureSet {
    static KNOWN: Mutex<Vec<&'static FeatureSet>> = Mutex::new(Vec::new());
    let mut known = KNOWN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(found) = known.iter().find(|set| set.code == base.code && set.king_buckets == *table) {
        return found;
    }
    let kings = 1 + usize::from(table.iter().copied().max().unwrap_or(0));
    // CITE: the hash FNV-1a (Fowler, Noll and Vo) of 32 bits.
    let hash = table.iter().fold(0x811C_9DC5_u32, |hash, &bucket| (hash ^ u32::from(bucket)).wrapping_mul(0x0100_0193));
    let set = FeatureSet {
        name: Box::leak(format!("{}/{kings} by table", base.name).into_boxed_str()),
        hash: base.hash ^ hash,
        king_buckets: *table,
        kings,
        ..*base
    };
    let set: &'static FeatureSet = Box::leak(Box::new(set));
    known.push(set);
    set
}

/// The bucket of every square, in the layout of [`FeatureSet::king_buckets`].
const fn squares(table: &Table) -> [u8; 64] {
    let mut buckets = [0; 64];
    let mut square = 0;
    while square < 64 {
        let (rank, file) = (square / 8, square % 8);
        let from_edge = if file < 4 { file } else { 7 - file };
        buckets[square] = table[rank][from_edge];
        square += 1;
    }
    buckets
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nnue::features::set::{HALF_KAV2, HALF_KP};
    use shakmaty::{Color, Piece, Role, Square};

    const SETS: [FeatureSet; 4] = [SIXTEEN, EIGHT, FOUR, ONE];

    #[test]
    fn tables_use_every_bucket_and_are_mirror_symmetric() {
        for set in SETS {
            let mut seen = vec![false; set.kings];
            for square in Square::ALL {
                let of = |square: Square| set.king_buckets[square as usize];
                seen[usize::from(of(square))] = true;
                assert_eq!(of(square), of(square.flip_horizontal()), "{}", set.name);
            }
            assert!(seen.iter().all(|&seen| seen), "{}", set.name);
            assert_eq!(set.count(), 704 * set.kings);
        }
    }

    #[test]
    fn flipped_board_has_same_indices_for_other_perspective() {
        let rook = |color| Piece { color, role: Role::Rook };
        for set in SETS {
            for king in Square::ALL {
                let white = set.view(Color::White, king);
                let black = set.view(Color::Black, king.flip_vertical());
                let white = set.index(white, Color::White, rook(Color::White), Square::B3);
                let black = set.index(black, Color::Black, rook(Color::Black), Square::B6);
                assert_eq!(white, black, "{} {king}", set.name);
            }
        }
    }

    #[test]
    fn view_depends_on_bucket_and_half() {
        let view = |king| EIGHT.view(Color::White, king);
        assert_eq!(view(Square::G3), view(Square::H4));
        assert_ne!(view(Square::G2), view(Square::G3));
        assert_ne!(view(Square::E3), view(Square::D3));
    }

    #[test]
    fn buckets_of_finer_tables_lie_within_those_of_coarser_ones() {
        let all = [HALF_KAV2_HM, SIXTEEN, EIGHT, FOUR, ONE];
        for (i, finer) in all.iter().enumerate() {
            for coarser in &all[i..] {
                let found = finer.buckets_in(coarser).expect(coarser.name);
                assert_eq!(found.len(), finer.kings);
                for (bucket, containing) in finer.king_buckets.iter().zip(&coarser.king_buckets) {
                    assert_eq!(found[usize::from(*bucket)], usize::from(*containing));
                }
            }
            assert!(all[..i].iter().all(|coarser| finer.buckets_in(coarser).is_none()), "{}", finer.name);
        }
        assert!(EIGHT.buckets_in(&HALF_KP).is_none());
        assert!(HALF_KAV2_HM.buckets_in(&HALF_KAV2).is_none());
    }
}
