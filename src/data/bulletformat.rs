//! bulletformat: records of 32 bytes, from the side to move's view, as the trainer bullet reads them.
//!
//! ```text
//! bytes  0..8   occupied squares, a1 = bit 0; with Black to move, the board is flipped top to bottom
//!        8..24  one nibble per occupied square, low nibble first: pawn 0 .. king 5, plus 8 for the opponent
//!       24..26  score, from the side to move's view
//!       26      result, from the side to move's view: 0 loss, 1 draw, 2 win
//!       27      square of the own king
//!       28      square of the opponent's king, flipped top to bottom
//!       29..32  unused
//! ```
//!
//! The format stores neither colour, castling rights, clocks, ply nor move: an entry that is read has White to move at
//! ply 0.
// CITE: the crate bulletformat 1.8.0 (Jamie Whiting); written from the description of its record.

use std::io::Read;

use anyhow::{Result, ensure};

use super::bin::for_each_record;
use super::entry::{Entry, MAX_PIECES, PackedBoard, PackedPiece};
use crate::util::files::Kind;

/// Size of a record in bytes.
pub const RECORD_BYTES: usize = 32;
/// Kind of a file: it starts with a valid record.
pub const KIND: Kind = Kind {
    name: "a file of bulletformat's 32-byte records",
    is: |head| head.first_chunk().is_some_and(|record| decode(record).is_some()),
};
/// Role code of a king, and bit of the opponent's pieces.
const KING: u8 = 5;
const OPPONENT: u8 = 8;

/// Calls `visit` with every entry, in order. Returns the number of bytes of an incomplete record at the end.
///
/// # Errors
/// Fails on a read error, on a damaged record, and if `visit` fails.
pub fn for_each(source: impl Read, visit: impl FnMut(&Entry) -> Result<()>) -> Result<usize> {
    for_each_record(source, decode, visit)
}

/// Decodes a record. Returns `None` if the bytes do not describe a position.
pub fn decode(bytes: &[u8; RECORD_BYTES]) -> Option<Entry> {
    let occupied = u64::from_le_bytes(*bytes.first_chunk()?);
    let mut nibbles = u128::from_le_bytes(*bytes[8..].first_chunk()?);
    if occupied.count_ones() as usize > MAX_PIECES {
        return None;
    }
    let (mut left, mut ours, mut kings) = (occupied, 0_u128, [None; 2]);
    for slot in 0..occupied.count_ones() {
        let square = left.trailing_zeros() as u8;
        left &= left - 1;
        let code = (nibbles & 15) as u8;
        nibbles >>= 4;
        let (role, colour) = (code & 7, code / OPPONENT);
        let is_king = role == KING;
        if role > KING || (is_king && kings[usize::from(colour)].replace(square).is_some()) {
            return None;
        }
        ours |= u128::from(2 * role + colour) << (4 * slot);
    }
    let is_valid = kings == [Some(bytes[27]), Some(bytes[28] ^ 56)] && bytes[26] <= 2;
    is_valid.then_some(Entry {
        board: PackedBoard::from_nibbles(occupied, ours),
        black_to_move: false,
        castling: 0,
        ep: None,
        rule50: 0,
        m: None,
        score: i16::from_le_bytes([bytes[24], bytes[25]]),
        ply: 0,
        result: bytes[26] as i8 - 1,
        score_alone: false,
    })
}

/// Encodes an entry as a record.
///
/// # Errors
/// Fails if a side does not have exactly one king.
pub fn encode(entry: &Entry) -> Result<[u8; RECORD_BYTES]> {
    let flip = if entry.black_to_move { 56 } else { 0 };
    let own = u8::from(entry.black_to_move);
    let mut pieces: Vec<PackedPiece> = entry.board.pieces().collect();
    pieces.iter_mut().for_each(|piece| piece.square ^= flip);
    pieces.sort_by_key(|piece| piece.square);
    let (mut occupied, mut nibbles, mut kings) = (0_u64, 0_u128, [Vec::new(), Vec::new()]);
    for (slot, piece) in pieces.iter().enumerate() {
        let opponent = piece.colour ^ own;
        occupied |= 1 << piece.square;
        nibbles |= u128::from(piece.role + OPPONENT * opponent) << (4 * slot);
        if piece.role == KING {
            kings[usize::from(opponent)].push(piece.square);
        }
    }
    ensure!(kings.iter().all(|kings| kings.len() == 1), "a side does not have exactly one king");
    let mut bytes = [0; RECORD_BYTES];
    bytes[..8].copy_from_slice(&occupied.to_le_bytes());
    bytes[8..24].copy_from_slice(&nibbles.to_le_bytes());
    bytes[24..26].copy_from_slice(&entry.score.to_le_bytes());
    bytes[26] = (entry.result + 1) as u8;
    (bytes[27], bytes[28]) = (kings[0][0], kings[1][0] ^ 56);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::{CastlingMode, Position};
    use crate::data::plain;

    fn entry(fen: &str, score: i16, result: i8) -> Entry {
        let position = Position::from_fen(fen, CastlingMode::Standard).expect(fen);
        Entry { score, result, ..Entry::of(&position) }
    }

    /// The expected bytes were computed by hand from the description of the format.
    #[test]
    fn encoder_writes_the_documented_bytes() {
        let bytes = encode(&entry("7k/8/8/8/8/8/p7/K7 b - - 0 1", -300, -1)).expect("a position");
        // Flipped: own king on h1, opponent's king on a8, own pawn on a7.
        assert_eq!(bytes[..8], (1_u64 << 7 | 1 << 48 | 1 << 56).to_le_bytes());
        assert_eq!(bytes[8..24], [0x05, 0x0d, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(bytes[24..], [0xd4, 0xfe, 0, 7, 0, 0, 0, 0]);
    }

    #[test]
    fn decoded_position_has_the_side_to_move_as_white() {
        let black = entry("r3k3/1P6/8/3pP3/8/2n5/1P6/R3K2R b KQ - 0 1", 77, 1);
        let decoded = decode(&encode(&black).expect("a position")).expect("a record");
        assert!(
            plain::fen(&decoded).starts_with("r3k2r/1p6/2N5/8/3Pp3/8/1p6/R3K3 w - - 0"),
            "{}",
            plain::fen(&decoded)
        );
        assert_eq!((decoded.score, decoded.result), (77, 1));
        assert_eq!(encode(&decoded).expect("a position"), encode(&black).expect("a position"));
    }

    #[test]
    fn reader_rejects_damaged_records_and_counts_the_rest() {
        let good = encode(&entry("7k/8/8/8/8/8/p7/K7 b - - 0 1", 5, 0)).expect("a position");
        let mut count = 0;
        let left = for_each([&good[..], &good, &[1, 2, 3]].concat().as_slice(), |_| {
            count += 1;
            Ok(())
        });
        assert_eq!((left.ok(), count), (Some(3), 2));
        for at in [0, 8, 26, 27, 28] {
            let mut bad = good;
            bad[at] ^= 0x0a;
            assert_eq!(decode(&bad), None, "byte {at}");
        }
        assert!(for_each([0; 64].as_slice(), |_| Ok(())).is_err());
    }
}
