//! Zobrist keys, from shakmaty's tables. The Polyglot book format uses the same tables, so a key can be checked
//! against an independent computation.

use shakmaty::zobrist::{Zobrist64, ZobristValue};
use shakmaty::{CastlingSide, Color, File, Role, Square};

/// The four castling rights in the order of the bits of a rights mask: K, Q, k, q.
pub(super) const RIGHTS: [(Color, CastlingSide); 4] = [
    (Color::White, CastlingSide::KingSide),
    (Color::White, CastlingSide::QueenSide),
    (Color::Black, CastlingSide::KingSide),
    (Color::Black, CastlingSide::QueenSide),
];

/// Key of a piece on a square.
#[inline]
pub fn piece(square: Square, color: Color, role: Role) -> u64 {
    Zobrist64::zobrist_for_piece(square, role.of(color)).0
}

/// Key that is included if White is to move.
#[inline]
pub fn turn() -> u64 {
    Zobrist64::zobrist_for_white_turn().0
}

/// Key of the file of an en passant square.
#[inline]
pub fn en_passant(file: File) -> u64 {
    Zobrist64::zobrist_for_en_passant_file(file).0
}

/// Key of a set of castling rights (bits 0 to 3: K, Q, k, q). The empty set has key 0.
#[inline]
pub fn castling(rights: u8) -> u64 {
    let mut key = 0;
    for (i, &(color, side)) in RIGHTS.iter().enumerate() {
        if rights >> i & 1 != 0 {
            key ^= Zobrist64::zobrist_for_castling_right(color, side).0;
        }
    }
    key
}
