//! Layout of the rows of threat and attack inputs: each 16-bit word packs two columns of one byte, so adding a row
//! needs no widening.
//!
//! Within each block of 64 columns, word `i` is 256 times column `32 + i` plus the biased column `i` (plus 128, hence 0
//! to 255). A word shifted right by eight bits is the upper column. The kernels sum whole words and, separately, the
//! upper columns. The sum of the words minus 256 times the sum of the upper columns is the sum of the biased lower
//! columns. It contains the bias once for each row added. All of this also holds with wrapping arithmetic.

use bytemuck::{Pod, Zeroable};

/// Columns in a block.
pub const COLUMNS: usize = 64;

/// Distance in columns between the lower and the upper column of a word.
pub const UPPER_OFFSET: usize = COLUMNS / 2;

/// The bias added to each lower column.
const LOWER_BIAS: u8 = 128;

/// One byte of a row in the paired layout.
#[derive(Clone, Copy, Zeroable, Pod)]
#[repr(transparent)]
pub struct Paired(u8);

/// The lower column of the word at byte `at` of a row; the upper column is [`UPPER_OFFSET`] columns higher.
#[inline(always)]
pub const fn lower_column(at: usize) -> usize {
    at - at % COLUMNS + at % COLUMNS / 2
}

/// The total bias that `added` and `removed` rows add to the sums of lower columns, wrapping.
#[inline(always)]
pub fn excess(added: usize, removed: usize) -> i16 {
    (added as i16).wrapping_sub(removed as i16).wrapping_mul(LOWER_BIAS.into())
}

/// Writes rows of weights in the paired layout.
///
/// # Panics
/// If the lengths differ or are not a multiple of [`COLUMNS`].
pub fn pair(weights: &[i8], out: &mut [Paired]) {
    assert!(weights.len() == out.len() && out.len().is_multiple_of(COLUMNS));
    let (groups, outs) = (weights.as_chunks::<COLUMNS>().0, out.as_chunks_mut::<COLUMNS>().0);
    for (group, out) in groups.iter().zip(outs) {
        let (lower, upper) = group.split_at(UPPER_OFFSET);
        let words = out.as_chunks_mut().0.iter_mut();
        for (word, (&low, &high)) in words.zip(lower.iter().zip(upper)) {
            *word = [Paired(low as u8 ^ LOWER_BIAS), Paired(high as u8)];
        }
    }
}

/// The weights of rows in the paired layout.
pub fn unpair(rows: &[Paired]) -> Vec<i8> {
    let mut weights = vec![0; rows.len()];
    let (groups, outs) = (rows.as_chunks::<COLUMNS>().0, weights.as_chunks_mut::<COLUMNS>().0);
    for (group, out) in groups.iter().zip(outs) {
        let (lower, upper) = out.split_at_mut(UPPER_OFFSET);
        let words = group.as_chunks().0.iter();
        for (&[low, high], (lower, upper)) in words.zip(lower.iter_mut().zip(upper)) {
            (*lower, *upper) = ((low.0 ^ LOWER_BIAS) as i8, high.0 as i8);
        }
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairing_round_trips() {
        let weights: Vec<i8> = (0..512).map(|i| (i * 37 % 256 - 128) as i8).collect();
        let mut paired = [Paired(0); 512];
        pair(&weights, &mut paired);
        assert_eq!(unpair(&paired), weights);
    }

    #[test]
    fn word_combines_biased_lower_and_upper_column() {
        let mut weights = [0; COLUMNS];
        (weights[3], weights[3 + UPPER_OFFSET]) = (-128, -1);
        let mut paired = [Paired(0); COLUMNS];
        pair(&weights, &mut paired);
        let words: Vec<i16> = paired.chunks_exact(2).map(|word| i16::from_le_bytes([word[0].0, word[1].0])).collect();
        assert_eq!(words[3], -256);
        assert_eq!(words[4], 128);
    }
}
