//! The position: bitboards and mailbox, with one `StateInfo` per ply for the state that an undo cannot recompute, and
//! the keys of positions.
//!
//! The other files of this module extend [`Position`]: making moves (`make`), generation, legality, exchanges and text.

use shakmaty::zobrist::{Zobrist64, ZobristValue};
use shakmaty::{
    Bitboard, Board, ByColor, ByRole, CastlingMode, CastlingSide, Chess, Color, File, FromSetup, Piece, Position as _,
    PositionError, Role, Setup, Square,
};

use super::{Move, attacks};

/// Minimum and maximum number of states that [`Position::recent`] keeps. After 100 plies without a capture or pawn move
/// the game is drawn.
const RECENT: (usize, usize) = (8, 100);
/// Plies of search that fit into the history before it grows.
const HISTORY_RESERVE: usize = 512;

/// State that changes from ply to ply and is restored instead of recomputed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct StateInfo {
    pub key: u64,
    pub pawn_key: u64,
    pub minor_key: u64,
    pub non_pawn_key: [u64; 2],
    pub checkers: Bitboard,
    pub pinned: Bitboard,
    /// The role that the last move captured.
    pub captured: Option<Role>,
    /// The last move.
    pub mv: Option<Move>,
    /// Index of the lane if the last move castled.
    pub castled: Option<u8>,
    /// The square passed over by a pawn that has just moved two squares, if an enemy pawn can legally capture it.
    pub ep: Option<Square>,
    /// The same square if an enemy pawn stands next to the pushed one, whether or not its capture is legal.
    pub ep_adjacent: Option<Square>,
    /// Bits 0 to 3: K, Q, k, q.
    pub castling: u8,
    pub halfmoves: u16,
    pub plies_from_null: u16,
    /// Plies back to the nearest equal position; negative if that position was itself a repetition; 0 for none.
    pub repetition: i16,
}

/// Squares of one castling right, fixed for a game.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct CastlingLane {
    pub rook: Square,
    pub king_to: Square,
    pub rook_to: Square,
    /// Squares that must be empty.
    pub path: Bitboard,
}

/// Castling in a game: what is fixed at its start, and the rights in the initial position.
struct CastlingRules {
    /// By right (K, Q, k, q).
    lanes: [CastlingLane; 4],
    /// Rights that remain after a move from or to the square.
    rights_kept: [u8; 64],
    /// The existing rights as bits.
    rights: u8,
}

/// Pieces that attack along lines, of both colours.
pub(super) struct Sliders {
    /// Rooks and queens.
    pub straight: Bitboard,
    /// Bishops and queens.
    pub diagonal: Bitboard,
}

/// Effects of the opponent's pieces on the king of the side to move.
pub(super) struct KingAttacks {
    /// Pieces that give check.
    pub checkers: Bitboard,
    /// Own pieces that are pinned to the king.
    pub pinned: Bitboard,
}

/// A chess position with its history, for search.
#[derive(Clone, PartialEq, Debug)]
pub struct Position {
    pub(super) by_role: ByRole<Bitboard>,
    pub(super) by_color: ByColor<Bitboard>,
    pub(super) mailbox: [Option<Role>; 64],
    pub(super) turn: Color,
    pub(super) state: StateInfo,
    /// The states before the current one, oldest first.
    pub(super) history: Vec<StateInfo>,
    /// Indexed by right (K, Q, k, q); meaningless if the right never existed.
    pub(super) lanes: [CastlingLane; 4],
    /// Rights that remain after a move from or to the square.
    pub(super) rights_kept: [u8; 64],
    /// Plies from move 1 of White to the oldest position of the history.
    base_ply: u32,
    mode: CastlingMode,
}

impl Position {
    /// The initial position.
    pub fn startpos() -> Self {
        Self::from_chess(&Chess::default())
    }

    /// The position of a shakmaty game, with an empty history.
    pub fn from_chess(chess: &Chess) -> Self {
        let (by_role, by_color) = chess.board().clone().into_bitboards();
        let CastlingRules { lanes, rights_kept, rights: castling } = castling_rules(chess);
        let mut position = Self {
            by_role,
            by_color,
            mailbox: std::array::from_fn(|i| chess.board().role_at(Square::new(i as u32))),
            turn: chess.turn(),
            state: StateInfo {
                key: 0,
                pawn_key: 0,
                minor_key: 0,
                non_pawn_key: [0; 2],
                checkers: Bitboard::EMPTY,
                pinned: Bitboard::EMPTY,
                captured: None,
                mv: None,
                castled: None,
                ep: chess.legal_ep_square(),
                ep_adjacent: chess.pseudo_legal_ep_square(),
                castling,
                halfmoves: chess.halfmoves().min(100) as u16,
                plies_from_null: 0,
                repetition: 0,
            },
            history: Vec::with_capacity(HISTORY_RESERVE),
            lanes,
            rights_kept,
            base_ply: base_ply(chess),
            mode: chess.castles().mode(),
        };
        position.state = position.recomputed_state();
        position
    }

    /// Converts to shakmaty's type, for Syzygy, SAN, FEN and tests.
    pub fn to_chess(&self) -> Chess {
        Chess::from_setup(self.to_setup(), self.mode)
            .or_else(PositionError::ignore_invalid_castling_rights)
            .or_else(PositionError::ignore_invalid_ep_square)
            .or_else(PositionError::ignore_impossible_check)
            .or_else(PositionError::ignore_too_much_material)
            .expect("legal moves from a valid position lead to valid positions")
    }

    /// The parts of the position in shakmaty's form, unvalidated.
    pub(super) fn to_setup(&self) -> Setup {
        let board = Board::try_from_bitboards(self.by_role, self.by_color);
        let mut setup = Setup::empty();
        setup.board = board.expect("roles and colours cover the same squares once");
        setup.turn = self.turn;
        setup.castling_rights = self.castling_rooks();
        setup.ep_square = self.state.ep;
        setup.halfmoves = self.halfmoves();
        setup.fullmoves = setup.fullmoves.saturating_add(self.fullmoves() - 1);
        setup
    }

    /// The rooks that may still castle.
    fn castling_rooks(&self) -> Bitboard {
        let kept = |i: &usize| self.state.castling >> i & 1 != 0;
        (0..4).filter(kept).map(|i| self.lanes[i].rook).collect()
    }

    /// The state with every incremental part computed from scratch: the reference for the tests and the start of
    /// every history.
    pub(super) fn recomputed_state(&self) -> StateInfo {
        let mut state = self.state;
        (state.key, state.pawn_key, state.minor_key) = (0, 0, 0);
        state.non_pawn_key = [0; 2];
        for square in self.occupied() {
            if let Some(piece) = self.piece_at(square) {
                state.toggle(square, piece.color, piece.role);
            }
        }
        state.key ^= castling_key(state.castling);
        state.key ^= state.ep.map_or(0, |ep| en_passant_key(ep.file()));
        state.key ^= self.turn.fold_wb(turn_key(), 0);
        KingAttacks { checkers: state.checkers, pinned: state.pinned } = self.king_attacks();
        state
    }

    /// Standard or Chess960 castling.
    pub fn castling_mode(&self) -> CastlingMode {
        self.mode
    }

    /// The side to move.
    #[inline]
    pub fn turn(&self) -> Color {
        self.turn
    }

    /// All occupied squares.
    #[inline]
    pub fn occupied(&self) -> Bitboard {
        self.by_color.white | self.by_color.black
    }

    /// Pieces of a colour.
    #[inline]
    pub fn by_color(&self, color: Color) -> Bitboard {
        *self.by_color.get(color)
    }

    /// Pieces of a role, both colours.
    #[inline]
    pub fn by_role(&self, role: Role) -> Bitboard {
        *self.by_role.get(role)
    }

    /// Pieces of a colour and role.
    #[inline]
    pub fn pieces(&self, color: Color, role: Role) -> Bitboard {
        self.by_color(color) & self.by_role(role)
    }

    /// The piece on a square.
    #[inline]
    pub fn piece_at(&self, square: Square) -> Option<Piece> {
        let color = Color::from_white(self.by_color.white.contains(square));
        self.role_at(square).map(|role| role.of(color))
    }

    /// The role of the piece on a square.
    #[inline]
    pub fn role_at(&self, square: Square) -> Option<Role> {
        self.mailbox[square as usize]
    }

    /// The king's square.
    #[inline]
    pub fn king(&self, color: Color) -> Square {
        // A position has one king of each colour: the mask only avoids the check for an empty set.
        Square::new(self.pieces(color, Role::King).0.trailing_zeros() & 63)
    }

    /// Enemy pieces that give check to the side to move.
    #[inline]
    pub fn checkers(&self) -> Bitboard {
        self.state.checkers
    }

    /// Whether the side to move is in check.
    #[inline]
    pub fn in_check(&self) -> bool {
        self.state.checkers.any()
    }

    /// Own pieces that are pinned to the king of the side to move.
    #[inline]
    pub fn pinned(&self) -> Bitboard {
        self.state.pinned
    }

    /// The Zobrist key: pieces, turn, castling rights, and the en passant file if a pawn can legally capture.
    #[inline]
    pub fn key(&self) -> u64 {
        self.state.key
    }

    /// The key of the Polyglot book format. It includes the en passant file wherever an enemy pawn stands next to the
    /// pushed one, even if its capture is not legal.
    pub fn polyglot_key(&self) -> u64 {
        match self.state.ep_adjacent {
            Some(passed) if self.state.ep.is_none() => self.state.key ^ en_passant_key(passed.file()),
            _ => self.state.key,
        }
    }

    /// Key of the pawns of both colours.
    #[inline]
    pub fn pawn_key(&self) -> u64 {
        self.state.pawn_key
    }

    /// Key of the knights, bishops and kings of both colours.
    #[inline]
    pub fn minor_key(&self) -> u64 {
        self.state.minor_key
    }

    /// Key of all pieces but pawns of one colour (king included).
    #[inline]
    pub fn non_pawn_key(&self, color: Color) -> u64 {
        self.state.non_pawn_key[color as usize]
    }

    /// Plies since the last capture or pawn move.
    #[inline]
    pub fn halfmoves(&self) -> u32 {
        u32::from(self.state.halfmoves)
    }

    /// The move number, as in a FEN.
    pub fn fullmoves(&self) -> u32 {
        (self.base_ply + self.history.len() as u32) / 2 + 1
    }

    /// Plies since the last null move or the root of the history.
    #[inline]
    pub fn plies_from_null(&self) -> u32 {
        u32::from(self.state.plies_from_null)
    }

    /// The en passant square, if a pawn of the side to move can legally capture there.
    #[inline]
    pub fn ep_square(&self) -> Option<Square> {
        self.state.ep
    }

    /// The en passant square if an enemy pawn stands next to the pushed one, whether or not its capture is legal.
    #[inline]
    pub fn ep_adjacent(&self) -> Option<Square> {
        self.state.ep_adjacent
    }

    /// Whether any side may still castle.
    #[inline]
    pub fn has_castling_rights(&self) -> bool {
        self.state.castling != 0
    }

    /// Castling rights of one side, any wing.
    #[inline]
    pub fn can_castle(&self, color: Color) -> bool {
        self.state.castling & color.fold_wb(0b0011, 0b1100) != 0
    }

    /// Castling rights as bits 0 to 3: K, Q, k, q.
    #[inline]
    pub fn castling_rights(&self) -> u8 {
        self.state.castling
    }

    /// Whether the colour has a piece other than pawns and king.
    #[inline]
    pub fn has_non_pawn_material(&self, color: Color) -> bool {
        let plain = self.by_role.pawn | self.by_role.king;
        (self.by_color(color) & !plain).any()
    }

    /// The rook of a remaining castling right, by the right's bit: 0 to 3 for K, Q, k, q.
    pub fn castling_rook(&self, right: usize) -> Option<Square> {
        let held = self.state.castling >> right & 1 != 0;
        held.then(|| self.lanes[right].rook)
    }

    /// Number of moves in the history, including null moves.
    #[inline]
    pub fn history_len(&self) -> usize {
        self.history.len()
    }

    /// A copy with the part of the history that affects the position: the states since the last capture or pawn move,
    /// at least the last 8 and at most the last 100. Its size does not depend on the length of the game.
    pub fn recent(&self) -> Self {
        let wanted = usize::from(self.state.halfmoves).clamp(RECENT.0, RECENT.1);
        let skip = self.history.len().saturating_sub(wanted);
        Self {
            by_role: self.by_role,
            by_color: self.by_color,
            mailbox: self.mailbox,
            turn: self.turn,
            state: self.state,
            history: self.history[skip..].to_vec(),
            lanes: self.lanes,
            rights_kept: self.rights_kept,
            base_ply: self.base_ply + skip as u32,
            mode: self.mode,
        }
    }

    /// The moves of the history without the first `skip`, oldest first; `None` for a null move.
    pub fn moves_since(&self, skip: usize) -> impl Iterator<Item = Option<Move>> + '_ {
        let led_here = self.history.iter().chain([&self.state]);
        led_here.skip(skip + 1).map(|state| state.mv)
    }

    /// The role and colour of the piece on the move's from square (must be occupied).
    #[inline]
    pub fn moved_piece(&self, m: Move) -> Piece {
        debug_assert!(self.role_at(m.from()).is_some(), "{m:?} moves no piece");
        let role = self.role_at(m.from()).unwrap_or(Role::Pawn);
        let white = self.by_color.white.contains(m.from());
        role.of(Color::from_white(white))
    }

    /// The last move; `None` at the start and after a null move.
    #[inline]
    pub fn last_move(&self) -> Option<Move> {
        self.state.mv
    }

    /// The role that the last move captured (pawn for en passant).
    #[inline]
    pub fn last_captured(&self) -> Option<Role> {
        self.state.captured
    }

    /// The role captured (pawn for en passant); `None` for castling and non-captures.
    #[inline]
    pub fn captured(&self, m: Move) -> Option<Role> {
        match self.role_at(m.to()) {
            Some(role) => (!self.is_castling(m)).then_some(role),
            None => self.is_en_passant(m).then_some(Role::Pawn),
        }
    }

    /// Whether the move captures, including en passant.
    #[inline]
    pub fn is_capture(&self, m: Move) -> bool {
        self.by_color(!self.turn).contains(m.to()) || self.is_en_passant(m)
    }

    /// Whether the move resets the halfmove clock: a capture or a pawn move.
    #[inline]
    pub fn is_irreversible(&self, m: Move) -> bool {
        self.is_capture(m) || self.moved_piece(m).role == Role::Pawn
    }

    /// Whether [`Position::generate_noisy`] yields the move: captures, en passant and queen
    /// promotions, but no underpromotion.
    #[inline]
    pub fn is_noisy(&self, m: Move) -> bool {
        match m.promotion() {
            Some(role) => role == Role::Queen,
            None => self.is_capture(m),
        }
    }

    /// Whether the move castles (the king takes its own rook).
    #[inline]
    pub fn is_castling(&self, m: Move) -> bool {
        self.by_color(self.turn).contains(m.to())
    }

    /// Whether the move captures en passant.
    #[inline]
    pub fn is_en_passant(&self, m: Move) -> bool {
        self.state.ep == Some(m.to()) && self.role_at(m.from()) == Some(Role::Pawn)
    }

    /// The pieces that attack along lines.
    #[inline]
    pub(super) fn sliders(&self) -> Sliders {
        let ByRole { bishop, rook, queen, .. } = self.by_role;
        Sliders { straight: rook | queen, diagonal: bishop | queen }
    }

    /// Sliders of `by` that would attack `square` on an empty board.
    #[inline]
    pub(super) fn snipers(&self, square: Square, by: Color) -> Bitboard {
        let Sliders { straight, diagonal } = self.sliders();
        let rays = attacks::rook_attacks(square, Bitboard::EMPTY) & straight
            | attacks::bishop_attacks(square, Bitboard::EMPTY) & diagonal;
        rays & self.by_color(by)
    }

    /// Checkers of the side to move and its pinned pieces, in one pass over the enemy sliders.
    #[inline]
    pub(super) fn king_attacks(&self) -> KingAttacks {
        let (us, them) = (self.turn, !self.turn);
        let king = self.king(us);
        let leapers =
            attacks::knight_attacks(king) & self.by_role.knight | attacks::pawn_attacks(us, king) & self.by_role.pawn;
        let mut checkers = leapers & self.by_color(them);
        let mut pinned = Bitboard::EMPTY;
        let occupied = self.occupied();
        for sniper in self.snipers(king, them) {
            let blockers = attacks::between(king, sniper) & occupied;
            if blockers.is_empty() {
                checkers |= Bitboard::from_square(sniper);
            } else if !blockers.more_than_one() {
                pinned |= blockers;
            }
        }
        KingAttacks { checkers, pinned: pinned & self.by_color(us) }
    }
}

impl StateInfo {
    /// Adds a piece to the keys, or removes it.
    #[inline]
    pub(super) fn toggle(&mut self, square: Square, color: Color, role: Role) {
        let key = piece_key(square, color, role);
        self.key ^= key;
        match role {
            Role::Pawn => {
                self.pawn_key ^= key;
                return;
            }
            Role::Knight | Role::Bishop | Role::King => self.minor_key ^= key,
            Role::Rook | Role::Queen => {}
        }
        self.non_pawn_key[color as usize] ^= key;
    }
}

/// Plies from move 1 of White to the position. The move number is capped, so that sums cannot overflow.
fn base_ply(chess: &Chess) -> u32 {
    const MAX_MOVE_NUMBER: u32 = 1 << 20;
    let black: u32 = chess.turn().fold_wb(0, 1);
    (chess.fullmoves().get().min(MAX_MOVE_NUMBER) - 1) * 2 + black
}

/// The castling rules of a game that starts from `chess`.
fn castling_rules(chess: &Chess) -> CastlingRules {
    let mut rights_kept = [0b1111; 64];
    let mut rights = 0;
    let lanes = std::array::from_fn(|i| {
        let (color, side) = RIGHTS[i];
        let rook = chess.castles().rook(color, side);
        if let Some(rook) = rook {
            rights |= 1 << i;
            rights_kept[rook as usize] &= !(1 << i);
            if let Some(king) = chess.board().king_of(color) {
                rights_kept[king as usize] &= !(1 << i);
            }
        }
        lane(color, side, rook, chess.castles().path(color, side))
    });
    CastlingRules { lanes, rights_kept, rights }
}

/// The squares of one right; the corner replaces a missing rook.
fn lane(color: Color, side: CastlingSide, rook: Option<Square>, path: Bitboard) -> CastlingLane {
    let corner = match side {
        CastlingSide::KingSide => color.fold_wb(Square::H1, Square::H8),
        CastlingSide::QueenSide => color.fold_wb(Square::A1, Square::A8),
    };
    CastlingLane { rook: rook.unwrap_or(corner), king_to: side.king_to(color), rook_to: side.rook_to(color), path }
}

// Zobrist keys, from shakmaty's tables. The Polyglot book format uses the same tables, so a key can be checked
// against an independent computation.

/// The four castling rights in the order of the bits of a rights mask: K, Q, k, q.
pub(super) const RIGHTS: [(Color, CastlingSide); 4] = [
    (Color::White, CastlingSide::KingSide),
    (Color::White, CastlingSide::QueenSide),
    (Color::Black, CastlingSide::KingSide),
    (Color::Black, CastlingSide::QueenSide),
];

/// Key of a piece on a square.
#[inline]
pub(super) fn piece_key(square: Square, color: Color, role: Role) -> u64 {
    Zobrist64::zobrist_for_piece(square, role.of(color)).0
}

/// Key that is included if White is to move.
#[inline]
pub(super) fn turn_key() -> u64 {
    Zobrist64::zobrist_for_white_turn().0
}

/// Key of the file of an en passant square.
#[inline]
pub(super) fn en_passant_key(file: File) -> u64 {
    Zobrist64::zobrist_for_en_passant_file(file).0
}

/// Key of a set of castling rights (bits 0 to 3: K, Q, k, q). The empty set has key 0.
#[inline]
pub(super) fn castling_key(rights: u8) -> u64 {
    let mut key = 0;
    for (i, &(color, side)) in RIGHTS.iter().enumerate() {
        if rights >> i & 1 != 0 {
            key ^= Zobrist64::zobrist_for_castling_right(color, side).0;
        }
    }
    key
}
