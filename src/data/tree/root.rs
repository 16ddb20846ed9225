//! Root of a tree: a position in 32 bytes, with the result of its game.
//!
//! ```text
//! bytes  0..24  pieces, a PackedBoard
//!       24      bit 0 black to move, bits 1 to 4 castling rights K Q k q, bit 5 same game as the previous block
//!       25      en passant square, 64 for none
//!       26      plies since the last capture or pawn move
//!       27      result, from White's view: -1, 0, 1
//!       28..30  ply of the game
//!       30..32  files of the castling rooks, K Q k q, 3 bits each
//! ```

use anyhow::{Result, ensure};

use super::packed_position::{CastlingRooks, NO_EP, PackedPosition, Rest};
use crate::board::Position;
use crate::data::entry::Entry;
use crate::data::packed::PackedBoard;

/// Size of a root in bytes.
pub const ROOT_BYTES: usize = 32;

/// The root of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Root {
    /// The pieces.
    pub board: PackedBoard,
    /// Whether black is to move.
    pub black_to_move: bool,
    /// Castling rights as bits 0 to 3: K, Q, k, q.
    pub castling: u8,
    /// Squares of the rooks of these rights.
    pub rooks: [u8; 4],
    /// En passant square, 64 for none.
    pub ep: u8,
    /// Plies since the last capture or pawn move.
    pub rule50: u8,
    /// Ply of the game.
    pub ply: u16,
    /// Result of the game, from White's view: -1, 0, 1.
    pub result: i8,
    /// Whether the block continues the game of the previous block.
    pub continues: bool,
}

impl Root {
    /// Creates the root of a game that starts at a position; the result is 0 until it is known.
    pub fn of(position: &Position) -> Self {
        let entry = Entry::of(position);
        let corners = [7, 0, 63, 56];
        Self {
            board: entry.board,
            black_to_move: entry.black_to_move,
            castling: entry.castling,
            rooks: std::array::from_fn(|i| {
                let rook = position.castling_rook(i);
                rook.map_or(corners[i], u8::from)
            }),
            ep: entry.ep.map_or(NO_EP, u8::from),
            rule50: entry.rule50,
            ply: entry.ply,
            result: 0,
            continues: false,
        }
    }

    /// The root position, to which the moves of the tree are applied.
    pub fn position(&self) -> PackedPosition {
        let rest =
            Rest { black_to_move: self.black_to_move, castling: self.castling, ep: self.ep, rule50: self.rule50 };
        PackedPosition::new(&self.board, rest)
    }

    /// The castling rooks, which are the same for all moves of the tree.
    pub fn rooks(&self) -> CastlingRooks {
        CastlingRooks::new(&self.board, self.rooks)
    }

    /// Encodes the root.
    pub fn encode(&self) -> [u8; ROOT_BYTES] {
        let mut bytes = [0; ROOT_BYTES];
        bytes[..24].copy_from_slice(bytemuck::bytes_of(&self.board));
        bytes[24] = u8::from(self.black_to_move) | self.castling << 1 | u8::from(self.continues) << 5;
        bytes[25] = self.ep;
        bytes[26] = self.rule50;
        bytes[27] = self.result as u8;
        bytes[28..30].copy_from_slice(&self.ply.to_le_bytes());
        let files = self.rooks.iter().rev().fold(0, |files, &rook| files << 3 | u16::from(rook & 7));
        bytes[30..].copy_from_slice(&files.to_le_bytes());
        bytes
    }

    /// Decodes a root.
    ///
    /// # Errors
    /// Fails if the bytes do not describe a valid position.
    pub fn decode(bytes: &[u8; ROOT_BYTES]) -> Result<Self> {
        let files = u16::from_le_bytes([bytes[30], bytes[31]]);
        let root = Self {
            board: bytemuck::pod_read_unaligned(&bytes[..24]),
            black_to_move: bytes[24] & 1 == 1,
            castling: bytes[24] >> 1 & 15,
            rooks: std::array::from_fn(|i| (files >> (3 * i)) as u8 & 7 | if i < 2 { 0 } else { 56 }),
            ep: bytes[25],
            rule50: bytes[26],
            ply: u16::from_le_bytes([bytes[28], bytes[29]]),
            result: bytes[27] as i8,
            continues: bytes[24] >> 5 & 1 == 1,
        };
        ensure!(
            root.ep <= NO_EP && root.rule50 <= 127 && (-1..=1).contains(&root.result),
            "the root has an invalid square, halfmove clock or result"
        );
        ensure!(root.position().is_valid(&root.rooks()), "the root is not a valid position");
        Ok(root)
    }
}
