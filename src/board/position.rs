//! The position: mailbox, bitboards, and one `State` per ply.

use shakmaty::{Bitboard, CastlingMode, Chess, Color, Piece, Role, Square};

use super::{CheckInfo, DirtyPieces, Move, MoveList};

/// A chess position with its history, for search.
#[derive(Clone, Debug)]
pub struct Position {}

#[rustfmt::skip]
#[allow(unused_variables, missing_docs)]
impl Position {
    // -- construction and edges (position.rs / notation.rs)
    pub fn startpos() -> Self { todo!() }
    /// Accepts what board.md section 6 says; refuses with a reason.
    pub fn from_fen(fen: &str, mode: CastlingMode) -> anyhow::Result<Self> { todo!() }
    pub fn from_chess(chess: &Chess) -> Self { todo!() }
    pub fn to_chess(&self) -> Chess { todo!() }
    /// Six-field FEN (Shredder castling letters when the mode is Chess960).
    pub fn fen(&self) -> String { todo!() }
    pub fn castling_mode(&self) -> CastlingMode { todo!() }
    /// The legal move written in UCI; e1g1 and e1h1 both accepted in both modes, promotion letter of either case. Err says why.
    pub fn parse_uci(&self, text: &str) -> anyhow::Result<Move> { todo!() }
    /// UCI text of a move; castling as e1g1, or as e1h1 when `chess960`.
    pub fn uci(&self, m: Move, chess960: bool) -> String { todo!() }
    pub fn parse_san(&self, text: &str) -> anyhow::Result<Move> { todo!() }
    pub fn san(&self, m: Move) -> String { todo!() }
    /// A diagram for people (the `d` command), with FEN, key and checkers.
    pub fn diagram(&self) -> String { todo!() }

    // -- reading
    pub fn turn(&self) -> Color { todo!() }
    pub fn occupied(&self) -> Bitboard { todo!() }
    pub fn by_color(&self, color: Color) -> Bitboard { todo!() }
    pub fn by_role(&self, role: Role) -> Bitboard { todo!() }
    pub fn pieces(&self, color: Color, role: Role) -> Bitboard { todo!() }
    pub fn piece_at(&self, square: Square) -> Option<Piece> { todo!() }
    pub fn role_at(&self, square: Square) -> Option<Role> { todo!() }
    pub fn king(&self, color: Color) -> Square { todo!() }
    pub fn checkers(&self) -> Bitboard { todo!() }
    pub fn in_check(&self) -> bool { todo!() }
    /// Own pieces that are pinned to the king of the side to move.
    pub fn pinned(&self) -> Bitboard { todo!() }
    pub fn key(&self) -> u64 { todo!() }
    pub fn pawn_key(&self) -> u64 { todo!() }
    /// Knights, bishops and kings of both colours.
    pub fn minor_key(&self) -> u64 { todo!() }
    /// All pieces but pawns of one colour (king included).
    pub fn non_pawn_key(&self, color: Color) -> u64 { todo!() }
    pub fn halfmoves(&self) -> u32 { todo!() }
    pub fn fullmoves(&self) -> u32 { todo!() }
    /// Plies since the last null move or the root of the history.
    pub fn plies_from_null(&self) -> u32 { todo!() }
    pub fn ep_square(&self) -> Option<Square> { todo!() }
    pub fn has_castling_rights(&self) -> bool { todo!() }
    /// Castling rights of one side, any wing.
    pub fn can_castle(&self, color: Color) -> bool { todo!() }
    /// Whether the colour has a piece other than pawns and king.
    pub fn has_non_pawn_material(&self, color: Color) -> bool { todo!() }
    /// Squares attacked by any piece of the colour with the given role (own occupancy x-ray not applied).
    pub fn attacks_by(&self, color: Color, role: Role) -> Bitboard { todo!() }
    /// All pieces of both colours that attack a square under an occupancy.
    pub fn attackers_to(&self, square: Square, occupied: Bitboard) -> Bitboard { todo!() }

    // -- moves
    /// The role and colour of the piece on the move's from square (must be occupied).
    pub fn moved_piece(&self, m: Move) -> Piece { todo!() }
    /// The role captured (pawn for en passant); None for castling and non-captures.
    pub fn captured(&self, m: Move) -> Option<Role> { todo!() }
    pub fn is_capture(&self, m: Move) -> bool { todo!() }
    /// Capture, en passant or queen promotion.
    pub fn is_noisy(&self, m: Move) -> bool { todo!() }
    pub fn is_castling(&self, m: Move) -> bool { todo!() }
    pub fn is_en_passant(&self, m: Move) -> bool { todo!() }
    /// Makes a pseudo-legal move that is legal; says what changed.
    pub fn do_move(&mut self, m: Move) -> DirtyPieces { todo!() }
    pub fn undo_move(&mut self) { todo!() }
    /// Must not be in check.
    pub fn do_null_move(&mut self) { todo!() }
    pub fn undo_null_move(&mut self) { todo!() }
    /// The key after an ordinary move (exact for non-special moves; a prefetch hint otherwise).
    pub fn key_after(&self, m: Move) -> u64 { todo!() }
    /// The move that led here (None at the root of the history and after a null move).
    pub fn last_move(&self) -> Option<Move> { todo!() }

    // -- generation (generate.rs): pseudo-legal; in check: evasions of that kind only
    /// Captures, en passant, queen promotions.
    pub fn generate_noisy(&self, list: &mut MoveList) { todo!() }
    /// The rest: quiet moves, castling (fully checked), underpromotions (with and without capture).
    pub fn generate_quiet(&self, list: &mut MoveList) { todo!() }
    pub fn legal_moves(&self) -> MoveList { todo!() }
    // -- legality (legality.rs)
    /// Whether any 16-bit code is a pseudo-legal move here. `pseudo_legal(m) && legal(m)` iff legal.
    pub fn pseudo_legal(&self, m: Move) -> bool { todo!() }
    /// Whether a pseudo-legal move leaves the own king safe.
    pub fn legal(&self, m: Move) -> bool { todo!() }
    pub fn check_info(&self) -> CheckInfo { todo!() }
    pub fn gives_check(&self, info: &CheckInfo, m: Move) -> bool { todo!() }
    // -- see.rs
    /// Whether the exchange that the move starts wins at least `threshold` (centipawns: 100 300 300 500 900).
    pub fn see_ge(&self, m: Move, threshold: i32) -> bool { todo!() }
    // -- repetition.rs
    /// Draw by 50 moves (not if mated), by repetition (once inside the last `ply` plies of the search, twice before), or by material.
    pub fn is_draw(&self, ply: usize) -> bool { todo!() }
    pub fn is_repetition(&self, ply: usize) -> bool { todo!() }
    /// Whether the side to move has a move that repeats a position (cuckoo tables), as in Stockfish's upcoming repetition.
    pub fn upcoming_repetition(&self, ply: usize) -> bool { todo!() }
    pub fn is_insufficient_material(&self) -> bool { todo!() }
}
