//! Tables of reference outputs of networks, and boards for their positions.

use std::sync::Arc;

use shakmaty::{Piece, Setup, Square, fen::Fen};
use zoothera::nnue::{self, AccumulatorStack, Kernel, NetOutput, Network};

use super::shared::{data, shared};

/// A board without rules. Networks read only the pieces, and some positions in the tables are illegal.
pub struct Board(Setup);

impl Board {
    pub fn new(fen: &str) -> Self {
        let fen: Fen = fen.parse().expect("a FEN in the table");
        Self(fen.into_setup())
    }

    pub fn piece_at(&self, square: Square) -> Option<Piece> {
        self.0.board.piece_at(square)
    }
}

impl From<&Board> for nnue::Board {
    fn from(Board(setup): &Board) -> Self {
        let mut board = Self::empty(setup.turn);
        setup.board.iter().for_each(|(square, piece)| board.add(piece, square));
        board
    }
}

/// The rows of a table in `tests/data` or the shared folder, split into columns, without the header. `None` if neither
/// folder has the table.
pub fn table(name: &str) -> Option<Vec<Vec<String>>> {
    let name = format!("oracles/{name}");
    let path = Some(data(&name)).filter(|path| path.exists());
    let path = path.or_else(|| shared(&name))?;
    let text = std::fs::read_to_string(path).expect("a readable table");
    let columns = |line: &str| line.split('\t').map(str::to_owned).collect();
    Some(text.lines().skip(1).map(columns).collect())
}

/// Checks that every kernel reproduces the rows of FEN and output, with an empty and with a filled refresh cache.
pub fn check_positions(network: &Arc<Network>, rows: &[(String, NetOutput)]) {
    for kernel in Kernel::available() {
        let mut stack = AccumulatorStack::with_kernel(network.clone(), kernel);
        for round in 0..2 {
            for (fen, expected) in rows {
                stack.reset();
                let output = stack.evaluate(&Board::new(fen));
                assert_eq!(output, *expected, "{kernel}, round {round}: {fen}");
            }
        }
    }
}
