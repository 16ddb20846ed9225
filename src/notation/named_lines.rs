//! The lines of named openings, from Lichess's table.

use std::io::Read;

use flate2::read::GzDecoder;

use crate::board::{Move, Position};

/// Tab-separated lines of ECO code, name and moves; `openings.md` has the origin and the licence.
const TABLE: &[u8] = include_bytes!("openings.tsv.gz");

/// The decompressed table.
pub(crate) fn table() -> String {
    let mut table = String::new();
    // This cannot fail: a test decompresses the whole table.
    let _ = GzDecoder::new(TABLE).read_to_string(&mut table);
    table
}

/// The moves of a line of the table, in the form `1. e4 e5 2. Nf3`.
pub(crate) fn moves_of(line: &str) -> &str {
    line.trim_end().rsplit('\t').next().unwrap_or_default()
}

/// Plays the lines in sequence. Neighbouring lines share their first moves, so only the moves that differ are undone.
pub(crate) struct Walker {
    position: Position,
    words: Vec<String>,
    moves: Vec<Move>,
}

impl Default for Walker {
    fn default() -> Self {
        Self { position: Position::startpos(), words: Vec::new(), moves: Vec::new() }
    }
}

impl Walker {
    /// Plays the moves of a line from the initial position; `None` if one of them is illegal.
    pub(crate) fn play(&mut self, moves: &str) -> Option<&Position> {
        let words = || moves.split(' ').filter(|word| !word.ends_with('.'));
        let same = words().zip(&self.words).take_while(|(a, b)| a == b).count();
        while self.moves.len() > same {
            self.position.undo_move();
            self.moves.pop();
            self.words.pop();
        }
        for word in words().skip(same) {
            let m = self.position.parse_san(word).ok()?;
            self.position.do_move(m);
            self.moves.push(m);
            self.words.push(word.to_owned());
        }
        Some(&self.position)
    }

    /// The moves of the last line.
    pub(crate) fn moves(&self) -> &[Move] {
        &self.moves
    }
}
