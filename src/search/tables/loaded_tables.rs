//! What a search needs of tablebases apart from the files: a summary of them, and classes of results.

use std::path::PathBuf;

/// Summary of opening a list of directories.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadedTables {
    /// Files found.
    pub files: usize,
    /// Largest number of men on the board in any table.
    pub men: usize,
    /// Directories that contain tables.
    pub directories: Vec<PathBuf>,
    /// Problems with other directories and files.
    pub problems: Vec<String>,
}

impl LoadedTables {
    /// The first five problems, and the number of the others.
    pub fn problems_in_words(&self) -> String {
        const SHOWN: usize = 5;
        let mut text = self.problems[..self.problems.len().min(SHOWN)].join(", ");
        if let Some(more) = self.problems.len().checked_sub(SHOWN).filter(|&n| n > 0) {
            text.push_str(&format!(", and {more} more"));
        }
        text
    }
}

/// Class of a win that the 50-move rule does not spoil.
pub(in crate::search) const WIN: i32 = 2;

/// Class of a distance to zeroing `dtz`: win 2, win spoilt by the 50-move rule 1, draw 0; negative for losses.
pub(in crate::search) fn class(dtz: i32, halfmoves: i32, rule: bool) -> i32 {
    let in_time = !rule || dtz.abs() + halfmoves <= 100;
    dtz.signum() * if in_time { WIN } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_depends_on_the_50_move_rule() {
        assert_eq!(class(12, 0, true), 2);
        assert_eq!(class(60, 50, true), 1);
        assert_eq!(class(60, 50, false), 2);
        assert_eq!(class(-101, 0, true), -1);
        assert_eq!(class(0, 30, true), 0);
    }
}
