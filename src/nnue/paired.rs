//! Rows of threat inputs as the kernels read them: two columns of a byte each in a word, so that adding a row costs no
//! widening.
//!
//! Of every 64 columns, word `i` is 256 times column `32 + i` plus column `i` raised by 128, which makes it 0 to 255. A
//! word shifted down by eight bits is then its upper column, and words are summed as they are: 256 times the sum of the
//! upper columns, taken from the sum of the words, leaves the lower ones, each raised as often as a row was added. All
//! of it holds where sums wrap.

use bytemuck::{Pod, Zeroable};

use super::rows::Changes;

/// Columns that belong together.
pub const COLUMNS: usize = 64;

/// How far the lower column of a word is from the upper one.
pub const APART: usize = COLUMNS / 2;

/// What a lower column is raised by.
const RAISED: u8 = 128;

/// A byte of a row in pairs.
#[derive(Clone, Copy, Zeroable, Pod)]
#[repr(transparent)]
pub struct Paired(u8);

/// The lower one of the columns that are in the word at the byte `at` of a row; the other is [`APART`] from it.
#[inline(always)]
pub const fn lower_column(at: usize) -> usize {
    at - at % COLUMNS + at % COLUMNS / 2
}

/// By how much the sums of lower columns are too large after some changes, wrapping.
#[inline(always)]
pub fn excess(changes: &Changes<'_>) -> i16 {
    let (added, removed) = (
        changes.threat_inputs_added.len() as i16,
        changes.threat_inputs_removed.len() as i16,
    );
    added.wrapping_sub(removed).wrapping_mul(RAISED.into())
}

/// Writes rows of weights in pairs.
///
/// # Panics
/// When the lengths differ.
pub fn pair(weights: &[i8], out: &mut [Paired]) {
    assert!(weights.len() == out.len() && out.len().is_multiple_of(COLUMNS));
    let (groups, outs) = (
        weights.as_chunks::<COLUMNS>().0,
        out.as_chunks_mut::<COLUMNS>().0,
    );
    for (group, out) in groups.iter().zip(outs) {
        let (lower, upper) = group.split_at(APART);
        let words = out.as_chunks_mut().0.iter_mut();
        for (word, (&low, &high)) in words.zip(lower.iter().zip(upper)) {
            *word = [Paired(low as u8 ^ RAISED), Paired(high as u8)];
        }
    }
}

/// The weights of rows.
pub fn unpair(rows: &[Paired]) -> Vec<i8> {
    let mut weights = vec![0; rows.len()];
    unpair_into(rows, &mut weights);
    weights
}

/// The same, of one row.
pub fn unpair_row<const L1: usize>(row: &[Paired; L1]) -> [i8; L1] {
    let mut weights = [0; L1];
    unpair_into(row, &mut weights);
    weights
}

fn unpair_into(rows: &[Paired], out: &mut [i8]) {
    let (groups, outs) = (
        rows.as_chunks::<COLUMNS>().0,
        out.as_chunks_mut::<COLUMNS>().0,
    );
    for (group, out) in groups.iter().zip(outs) {
        let (lower, upper) = out.split_at_mut(APART);
        let words = group.as_chunks().0.iter();
        for (&[low, high], (lower, upper)) in words.zip(lower.iter_mut().zip(upper)) {
            (*lower, *upper) = ((low.0 ^ RAISED) as i8, high.0 as i8);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_weight_comes_back() {
        let weights: Vec<i8> = (0..512).map(|i| (i * 37 % 256 - 128) as i8).collect();
        let mut paired = [Paired(0); 512];
        pair(&weights, &mut paired);
        assert_eq!(unpair(&paired), weights);
    }

    #[test]
    fn a_word_is_its_two_columns() {
        let mut weights = [0; COLUMNS];
        (weights[3], weights[3 + APART]) = (-128, -1);
        let mut paired = [Paired(0); COLUMNS];
        pair(&weights, &mut paired);
        let words: Vec<i16> = paired
            .chunks_exact(2)
            .map(|word| i16::from_le_bytes([word[0].0, word[1].0]))
            .collect();
        assert_eq!(words[3], -256);
        assert_eq!(words[4], 128);
    }
}
