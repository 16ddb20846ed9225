//! Stockfish's `.bin` format: consecutive records of 40 bytes, one packed position each, in any order.
//!
//! ```text
//! bytes  0..32  position, a bit stream (below)
//!       32..34  score in engine units, from the side to move's view
//!       34..36  move: to 6 bits, from 6, promotion 2 (knight 0), kind 2 (1 promotion, 2 en passant, 3 castling)
//!       36..38  ply of the game
//!       38      result, from the side to move's view: -1, 0, 1
//!       39      `S` if the score alone is the label and there is no move (our addition); others ignore the byte
//! ```
//!
//! Fields of the bit stream, least significant bit of each byte first:
//!
//! * side to move, 1 bit (black 1)
//! * square of the white king, 6 bits, and of the black king, 6 bits
//! * the other 62 squares from a8 to h8, then a7 to h7 and so on: `0` if empty; otherwise `1`, the role in 3 bits
//!   (pawn 0 to queen 4) and the colour in 1 bit (black 1)
//! * castling rights K Q k q, 4 bits
//! * en passant flag, 1 bit, followed by the en passant square, 6 bits, if the flag is set
//! * low bits of the halfmove clock (rule50), 6 bits; move number, 16 bits; bit 6 of the halfmove clock
// CITE: the packed position of YaneuraOu and of Stockfish's learner, now its tools branch (PackedSfenValue); written
// from the description.

use std::io::Read;

use anyhow::{Result, bail, ensure};
use shakmaty::Square;

use super::entry::{Entry, MAX_PIECES, MoveKind, PackedBoard};
use crate::board::{Move, Role};
use crate::util::files::{Kind, is_text};

/// Size of a record in bytes.
pub const RECORD_BYTES: usize = 40;
/// Kind of a `.bin` file: it starts with a valid record.
pub const KIND: Kind = Kind {
    name: "a .bin file of positions",
    is: |head| match head.first_chunk() {
        Some(record) => decode(record).is_some(),
        None => !is_text(head),
    },
};
/// Number of squares in the stream: all squares except those of the kings.
const SQUARES: usize = 62;
/// Nibble of the white king; the black king's is one larger.
const KING: u8 = 10;
/// Mark of a record whose score alone is the label.
const SCORE_ALONE: u8 = b'S';
/// Records per read.
const BLOCK: usize = 1 << 14;

/// Calls `visit` with every entry, in order. Returns the number of bytes of an incomplete record at the end.
///
/// # Errors
/// Fails on a read error, on a damaged record, and if `visit` fails.
pub fn for_each(source: impl Read, visit: impl FnMut(&Entry) -> Result<()>) -> Result<usize> {
    for_each_record(source, decode, visit)
}

/// As [`for_each`], for records of `BYTES` bytes that `decode` reads.
pub(super) fn for_each_record<const BYTES: usize>(
    mut source: impl Read,
    decode: impl Fn(&[u8; BYTES]) -> Option<Entry>,
    mut visit: impl FnMut(&Entry) -> Result<()>,
) -> Result<usize> {
    let mut block = vec![0; BLOCK * BYTES];
    let mut index = 0_u64;
    loop {
        let length = fill(&mut source, &mut block)?;
        for bytes in block[..length].as_chunks().0 {
            let Some(entry) = decode(bytes) else {
                bail!("record {index} (at byte {}) is damaged", index * BYTES as u64);
            };
            visit(&entry)?;
            index += 1;
        }
        if length < block.len() {
            return Ok(length % BYTES);
        }
    }
}

/// Reads until `block` is full or the source ends. Returns the number of bytes read.
pub(super) fn fill(source: &mut impl Read, block: &mut [u8]) -> std::io::Result<usize> {
    let mut length = 0;
    while length < block.len() {
        match source.read(&mut block[length..]) {
            Ok(0) => break,
            Ok(count) => length += count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(length)
}

/// Decodes a record. Returns `None` if the bits do not describe a position.
#[inline]
pub fn decode(bytes: &[u8; RECORD_BYTES]) -> Option<Entry> {
    let mut bits = RecordBitReader::new(bytes);
    let black_to_move = bits.take(1) == 1;
    let board = decode_board(&mut bits)?;
    let castling = bits.take(4) as u8;
    let has_ep = bits.take(1) == 1;
    let ep = has_ep.then(|| Square::new(bits.take(6) as u32));
    let low = bits.take(6) as u8;
    let _move_number = bits.take(16);
    let rule50 = low | (bits.take(1) as u8) << 6;
    let field = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
    let result = bytes[38] as i8;
    let is_valid = bits.at <= 256 && (-1..=1).contains(&result);
    let m = decode_move(field(34));
    is_valid.then_some(Entry {
        board,
        black_to_move,
        castling,
        ep,
        rule50,
        m,
        score: field(32) as i16,
        ply: field(36),
        result,
        score_alone: m.is_none() && bytes[39] == SCORE_ALONE,
    })
}

#[inline]
fn decode_board(bits: &mut RecordBitReader) -> Option<PackedBoard> {
    let kings = [bits.take(6) as usize, bits.take(6) as usize];
    if kings[0] == kings[1] {
        return None;
    }
    let mut codes = [0_u8; 64];
    let mut occupied = 1_u64 << kings[0] | 1 << kings[1];
    (codes[kings[0]], codes[kings[1]]) = (KING, KING + 1);
    let [first, second] = {
        let (a, b) = (kings[0] ^ 56, kings[1] ^ 56);
        [a.min(b), a.max(b)]
    };
    let mut pieces = 2;
    let mut index = 0;
    loop {
        let empty = (bits.peek().trailing_zeros() as usize).min(SQUARES - index);
        bits.at += empty;
        index += empty;
        if index == SQUARES {
            return Some(PackedBoard::from_codes(occupied, &codes));
        }
        let role = (bits.peek() >> 1 & 7) as u8;
        let colour = (bits.peek() >> 4 & 1) as u8;
        bits.at += 5;
        pieces += 1;
        if role > 4 || pieces > MAX_PIECES {
            return None;
        }
        // Convert the index among the squares without kings to the index among all squares, a8 first.
        let mut place = index + usize::from(index >= first);
        place += usize::from(place >= second);
        let square = place ^ 56;
        codes[square] = 2 * role + colour;
        occupied |= 1 << square;
        index += 1;
    }
}

fn decode_move(code: u16) -> Option<Move> {
    let square = |shift: u16| Square::new(u32::from(code >> shift & 63));
    let (to, from) = (square(0), square(6));
    if from == to {
        return None;
    }
    if code >> 14 != 1 {
        return Move::new(from, to);
    }
    let roles = [Role::Knight, Role::Bishop, Role::Rook, Role::Queen];
    Move::promoting(from, to, roles[usize::from(code >> 12 & 3)])
}

/// Encodes an entry as a record.
///
/// # Errors
/// Fails if a king is missing: the format requires one on each side.
pub fn encode(entry: &Entry) -> Result<[u8; RECORD_BYTES]> {
    let mut bits = RecordBitWriter::default();
    bits.put(u64::from(entry.black_to_move), 1);
    encode_board(&entry.board, &mut bits)?;
    bits.put(u64::from(entry.castling & 15), 4);
    bits.put(u64::from(entry.ep.is_some()), 1);
    if let Some(square) = entry.ep {
        bits.put(square as u64, 6);
    }
    bits.put(u64::from(entry.rule50 & 63), 6);
    bits.put(u64::from(entry.ply / 2 + 1), 16);
    bits.put(u64::from(entry.rule50 >> 6 & 1), 1);
    let mut bytes = [0; RECORD_BYTES];
    for (bytes, word) in bytes.chunks_exact_mut(8).zip(bits.words) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    bytes[32..34].copy_from_slice(&entry.score.to_le_bytes());
    bytes[34..36].copy_from_slice(&encode_move(entry).to_le_bytes());
    bytes[36..38].copy_from_slice(&entry.ply.to_le_bytes());
    bytes[38] = entry.result as u8;
    // Other programs leave any value here, so the mark counts only without a move, as samples are.
    if entry.score_alone && entry.m.is_none() {
        bytes[39] = SCORE_ALONE;
    }
    Ok(bytes)
}

fn encode_board(board: &PackedBoard, bits: &mut RecordBitWriter) -> Result<()> {
    /// Code of an empty square.
    const EMPTY: u8 = 16;
    let mut codes = [EMPTY; 64];
    for piece in board.pieces() {
        codes[usize::from(piece.square)] = 2 * piece.role + piece.colour;
    }
    for code in [KING, KING + 1] {
        let square = codes.iter().position(|&c| c == code);
        ensure!(square.is_some(), "the position lacks a king; a .bin file requires one on each side");
        bits.put(square.unwrap_or(0) as u64, 6);
    }
    for place in 0..64 {
        match codes[place ^ 56] {
            EMPTY => bits.put(0, 1),
            code if code >= KING => {}
            code => bits.put(u64::from(1 | (code >> 1) << 1 | (code & 1) << 4), 5),
        }
    }
    Ok(())
}

fn encode_move(entry: &Entry) -> u16 {
    let Some(m) = entry.m else {
        return 0;
    };
    let promotion = m.promotion().map_or(0, |role| role as u16 - 2);
    let kind = match entry.kind_of(m) {
        MoveKind::Normal => 0,
        MoveKind::Promotion => 1,
        MoveKind::EnPassant => 2,
        MoveKind::Castling => 3,
    };
    m.to() as u16 | (m.from() as u16) << 6 | promotion << 12 | kind << 14
}

/// Bit reader over the first 32 bytes of a record; yields zeros after them.
struct RecordBitReader {
    words: [u64; 6],
    at: usize,
}

impl RecordBitReader {
    #[inline]
    fn new(bytes: &[u8; RECORD_BYTES]) -> Self {
        let mut words = [0; 6];
        for (word, bytes) in words.iter_mut().take(4).zip(bytes.chunks_exact(8)) {
            *word = bytes.first_chunk().map_or(0, |b| u64::from_le_bytes(*b));
        }
        Self { words, at: 0 }
    }

    /// Returns the next 64 bits without consuming them.
    #[inline]
    fn peek(&self) -> u64 {
        let (word, shift) = ((self.at / 64).min(4), self.at % 64);
        self.words[word] >> shift | self.words[word + 1] << 1 << (63 - shift)
    }

    /// Consumes and returns the next `count` bits, fewer than 64.
    #[inline]
    fn take(&mut self, count: usize) -> u64 {
        let bits = self.peek() & ((1 << count) - 1);
        self.at += count;
        bits
    }
}

/// Bit writer for a position; one with at most 32 pieces needs fewer than 256 bits.
#[derive(Default)]
struct RecordBitWriter {
    words: [u64; 5],
    at: usize,
}

impl RecordBitWriter {
    /// Appends `bits`, which has `count` bits, fewer than 64.
    #[inline]
    fn put(&mut self, bits: u64, count: usize) {
        let (word, shift) = ((self.at / 64).min(3), self.at % 64);
        self.words[word] |= bits << shift;
        self.words[word + 1] |= bits >> 1 >> (63 - shift);
        self.at += count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::{CastlingMode, Position};

    fn entry(fen: &str, uci: &str) -> Entry {
        let position = Position::from_fen(fen, CastlingMode::Standard).expect(fen);
        Entry { m: position.parse_uci(uci).ok(), score: -1234, result: -1, ..Entry::of(&position) }
    }

    #[test]
    fn entries_round_trip() {
        for (fen, uci) in [
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "e2e4"),
            ("r3k2r/8/8/8/8/8/8/R3K2R b Kq - 99 321", "e8c8"),
            ("4k3/1P6/8/3pP3/8/8/8/K6R w - d6 0 70", "e5d6"),
            ("4k3/1P6/8/3pP3/8/8/8/K6R w - d6 0 70", "b7b8n"),
            ("k7/8/8/8/8/8/8/7K w - - 64 1", "none"),
            ("K7/8/8/8/8/8/8/7k b - - 63 1", "h1h2"),
        ] {
            let entry = entry(fen, uci);
            let bytes = encode(&entry).expect(fen);
            assert_eq!(decode(&bytes), Some(entry), "{fen}");
            assert_eq!(entry.m.is_none(), uci == "none", "{fen}");
        }
    }

    /// The expected bits were computed by hand from the description of the format.
    #[test]
    fn encoder_writes_the_documented_bits() {
        let bytes = encode(&entry("k7/8/8/8/8/8/7p/7K b - - 5 3", "a8a7")).expect("a valid position");
        let bits = |at: usize, count: usize| {
            (0..count).fold(0, |sum, i| sum | usize::from(bytes[(at + i) / 8] >> ((at + i) % 8) & 1) << i)
        };
        // Black to move, kings on h1 and a8, 54 empty squares, a black pawn, 7 empty squares.
        assert_eq!((bits(0, 1), bits(1, 6), bits(7, 6)), (1, 7, 56));
        assert_eq!((bits(13, 54), bits(67, 5)), (0, 0b1_0001));
        assert_eq!((bits(72, 7), bits(79, 4), bits(83, 1)), (0, 0, 0));
        assert_eq!((bits(84, 6), bits(90, 16), bits(106, 1)), (5, 3, 0));
        assert_eq!(bytes[32..34], (-1234_i16).to_le_bytes());
        assert_eq!(bytes[34..36], (Square::A7 as u16 | (Square::A8 as u16) << 6).to_le_bytes());
        assert_eq!(bytes[36..40], [5, 0, 255, 0]);
    }

    #[test]
    fn decoder_never_panics_on_damaged_records() {
        let mut rng = crate::util::rng::SplitMix64::new(3);
        let good = encode(&entry("r3k2r/pp6/8/8/8/8/6PP/R3K2R w KQkq - 0 1", "e1g1")).expect("a valid position");
        for _ in 0..20_000 {
            let mut bytes = good;
            for _ in 0..1 + rng.below(40) {
                bytes[rng.below(RECORD_BYTES)] = rng.next_u64() as u8;
            }
            if let Some(entry) = decode(&bytes) {
                assert!(encode(&entry).is_ok());
                let _ = (entry.is_quiet(), entry.record());
            }
        }
        assert_eq!(decode(&[0; 40]), None);
        assert_eq!(decode(&[255; 40]), None);
    }

    #[test]
    fn reader_counts_bytes_of_incomplete_record() {
        let good = encode(&entry("k7/8/8/8/8/8/7p/7K b - - 5 3", "a8a7")).expect("a valid position");
        let mut bytes = [good, good].concat();
        bytes.extend([1, 2, 3]);
        let mut count = 0;
        let left = for_each(bytes.as_slice(), |_| {
            count += 1;
            Ok(())
        });
        assert_eq!((left.ok(), count), (Some(3), 2));
        assert!(for_each([0; 80].as_slice(), |_| Ok(())).is_err());
    }
}
