//! Tables of networks' outputs, and boards for their positions.

use shakmaty::{Bitboard, Color, Piece, Role, Setup, Square, fen::Fen};
use zoothera::nnue::BoardView;

use crate::shared::{data, shared};

/// A board without rules: networks look at pieces only, and some oracle positions are illegal.
pub struct Board(Setup);

impl Board {
    pub fn new(fen: &str) -> Self {
        let fen: Fen = fen.parse().expect("the tables hold FENs");
        Self(fen.into_setup())
    }

    #[allow(dead_code, reason = "not every test asks")]
    pub fn piece_at(&self, square: Square) -> Option<Piece> {
        self.0.board.piece_at(square)
    }
}

impl BoardView for Board {
    fn turn(&self) -> Color {
        self.0.turn
    }
    fn king(&self, color: Color) -> Square {
        self.0.board.king_of(color).expect("both sides have a king")
    }
    fn pieces(&self, color: Color, role: Role) -> Bitboard {
        self.0.board.by_piece(role.of(color))
    }
}

/// The lines of an oracle table, without the heading, split into columns: of `tests/data`, or of the shared folder.
pub fn table(name: &str) -> Option<Vec<Vec<String>>> {
    let name = format!("oracles/{name}");
    let path = Some(data(&name)).filter(|path| path.exists());
    let path = path.or_else(|| shared(&name))?;
    let text = std::fs::read_to_string(path).expect("a readable table");
    let columns = |line: &str| line.split('\t').map(str::to_owned).collect();
    Some(text.lines().skip(1).map(columns).collect())
}
