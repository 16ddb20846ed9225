//! Stockfish's `.binpack` format: blocks of games. A game is a position and a bit-packed list of moves and scores.
//!
//! The `sfbinpack` crate decodes and encodes. This file turns its panics on damaged data into errors and converts to
//! and from `Entry`.
//!
//! The format supports classical castling only. A Chess960 game loses castling rights whose king or rook did not start
//! on its classical square, and the positions in which such a castling move was played.
// CITE: format: Tomasz Sobczyk (2020), for Stockfish's tools and nnue-pytorch; crate: sfbinpack.

use std::cell::RefCell;
use std::io::{Read, Write};
use std::rc::Rc;

use anyhow::{Context, Result, bail};
use sfbinpack::chess::castling_rights::CastlingRights;
use sfbinpack::chess::color::Color;
use sfbinpack::chess::coords::Square as SfSquare;
use sfbinpack::chess::r#move::{Move as SfMove, MoveType};
use sfbinpack::chess::piece::Piece;
use sfbinpack::chess::piecetype::PieceType;
use sfbinpack::chess::position::Position as SfPosition;
use sfbinpack::{ChunkReader, CompressedTrainingDataEntryWriter, TrainingDataEntry};
use shakmaty::Square;

use super::entry::{Entry, MoveKind, PackedBoard};
use crate::board::{Move, Role};
use crate::util::files::Kind;
use crate::util::reason::catch_quietly;

/// Castling rights in the order of the bits in `Entry::castling`.
const RIGHTS: [CastlingRights; 4] = [
    CastlingRights::WHITE_KING_SIDE,
    CastlingRights::WHITE_QUEEN_SIDE,
    CastlingRights::BLACK_KING_SIDE,
    CastlingRights::BLACK_QUEEN_SIDE,
];
/// Squares of king and rook, and their colour, that each right requires in classical chess.
const CLASSICAL: [(Square, Square, u8); 4] = [
    (Square::E1, Square::H1, 0),
    (Square::E1, Square::A1, 0),
    (Square::E8, Square::H8, 1),
    (Square::E8, Square::A8, 1),
];
/// Largest ply: the format has 14 bits for it.
const MAX_PLY: u16 = (1 << 14) - 1;
/// First four bytes of a block; its length follows in four bytes.
const MAGIC: &[u8; 4] = b"BINP";
/// Kind of a `.binpack` file: it starts with a block.
pub const KIND: Kind = Kind { name: "a .binpack file of positions", is: |head| head.starts_with(MAGIC) };
/// Largest accepted block in bytes. A larger length is damage: generators close blocks at 1 MiB.
const MAX_BLOCK: usize = 100 << 20;

/// Calls `visit` with every entry, in order, with one block in memory at a time. Returns the number of bytes of an
/// incomplete block at the end.
///
/// # Errors
/// Fails on a read error, on a damaged block, and if `visit` fails.
pub fn for_each(mut source: impl Read, mut visit: impl FnMut(&Entry) -> Result<()>) -> Result<usize> {
    let mut block = Vec::new();
    let mut index = 0;
    loop {
        let mut header = [0; 8];
        let length = super::bin::fill(&mut source, &mut header)?;
        if length < header.len() {
            return Ok(length);
        }
        let [magic, size] = [&header[..4], &header[4..]];
        let size = size.iter().rev().fold(0, |sum, &b| sum << 8 | usize::from(b));
        if magic != MAGIC || size > MAX_BLOCK {
            bail!("block {index} has no valid header");
        }
        block.clear();
        let length = source.by_ref().take(size as u64).read_to_end(&mut block)?;
        if length < size {
            return Ok(header.len() + length);
        }
        decode_block(&block, &mut visit).with_context(|| format!("block {index}"))?;
        index += 1;
    }
}

/// Decodes one block. On damaged data the crate indexes past the end; that panic becomes an error.
fn decode_block(block: &[u8], visit: &mut impl FnMut(&Entry) -> Result<()>) -> Result<()> {
    let mut reader = ChunkReader::default();
    while reader.has_next(block) {
        let entry = catch_quietly(|| to_entry(&reader.next(block))).context("damaged data: the decoder failed")?;
        visit(&entry)?;
    }
    Ok(())
}

/// Converts an entry of `sfbinpack` to an `Entry`.
pub fn to_entry(entry: &TrainingDataEntry) -> Entry {
    let position = &entry.pos;
    let occupied = position.occupied().bits();
    let mut codes = [0_u8; 64];
    let mut left = occupied;
    while left != 0 {
        let square = left.trailing_zeros();
        left &= left - 1;
        codes[square as usize] = position.piece_at(SfSquare::new(square)).id() & 15;
    }
    let ep = position.ep_square();
    Entry {
        board: PackedBoard::from_codes(occupied, &codes),
        black_to_move: position.side_to_move() == Color::Black,
        castling: castling(position),
        ep: (ep != SfSquare::NONE).then(|| Square::new(ep.index() & 63)),
        rule50: position.rule50_counter().min(127) as u8,
        m: to_move(&entry.mv),
        score: entry.score,
        ply: entry.ply,
        result: entry.result.signum() as i8,
        score_alone: false,
    }
}

fn castling(position: &SfPosition) -> u8 {
    let rights = position.castling_rights();
    let held = |i: &usize| rights.contains(RIGHTS[*i]);
    (0..4).filter(held).map(|i| 1 << i).sum()
}

fn to_move(m: &SfMove) -> Option<Move> {
    let square = |square: SfSquare| Square::new(square.index() & 63);
    let (from, to) = (square(m.from()), square(m.to()));
    if from == to {
        return None;
    }
    if m.mtype() != MoveType::Promotion {
        return Move::new(from, to);
    }
    let role = match m.promoted_piece().piece_type() {
        PieceType::Knight => Role::Knight,
        PieceType::Bishop => Role::Bishop,
        PieceType::Rook => Role::Rook,
        _ => Role::Queen,
    };
    Move::promoting(from, to, role)
}

/// Writer of entries. Consecutive plies of a game become one chain.
pub struct BinpackWriter<W: Write> {
    encoder: CompressedTrainingDataEntryWriter<Blocks>,
    blocks: Blocks,
    sink: W,
}

/// In-memory sink of finished blocks. The encoder ignores errors of its sink, and this one cannot fail.
#[derive(Clone, Default)]
struct Blocks(Rc<RefCell<Vec<u8>>>);

impl Write for Blocks {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<W: Write> BinpackWriter<W> {
    /// Creates a writer into `sink`.
    ///
    /// # Errors
    /// Fails if the encoder cannot be created.
    pub fn new(sink: W) -> Result<Self> {
        let blocks = Blocks::default();
        let encoder = CompressedTrainingDataEntryWriter::new(blocks.clone())?;
        Ok(Self { encoder, blocks, sink })
    }

    /// Writes an entry. An entry whose castling move is not classical is skipped.
    ///
    /// # Errors
    /// Fails if the entry has no move or an impossible one, and on a write error.
    pub fn write(&mut self, entry: &Entry) -> Result<()> {
        let Some(entry) = from_entry(entry)? else {
            return Ok(());
        };
        catch_quietly(|| self.encoder.write_entry(&entry)).context("the move is impossible in its position")??;
        self.drain()
    }

    /// Writes the last block and returns the sink.
    ///
    /// # Errors
    /// Fails on a write error.
    pub fn finish(mut self) -> Result<W> {
        self.encoder.flush_and_end();
        self.drain()?;
        Ok(self.sink)
    }

    /// Moves finished blocks to the sink.
    fn drain(&mut self) -> Result<()> {
        let mut blocks = self.blocks.0.borrow_mut();
        self.sink.write_all(&blocks)?;
        blocks.clear();
        Ok(())
    }
}

/// Converts an `Entry` for the crate. Returns `None` for a castling move that is not classical.
fn from_entry(entry: &Entry) -> Result<Option<TrainingDataEntry>> {
    let m = entry.m.context("a position without a move, which .binpack cannot store: write .bin or .plain instead")?;
    let own = entry.board.piece_at(m.from());
    if own.is_none_or(|piece| (piece.colour == 1) != entry.black_to_move) {
        bail!("the move starts from a square without a piece of the side to move");
    }
    let rights = classical_rights(entry);
    let Some(mv) = from_move(entry, m, rights) else {
        return Ok(None);
    };
    let mut pos = SfPosition::empty();
    for piece in entry.board.pieces() {
        let id = i32::from(2 * piece.role + piece.colour);
        if id >= 12 {
            bail!("invalid piece code");
        }
        pos.place(Piece::from_id(id), SfSquare::new(piece.square.into()));
    }
    for (i, &right) in RIGHTS.iter().enumerate() {
        if rights >> i & 1 == 1 {
            pos.add_castling_rights(right);
        }
    }
    if let Some(ep) = entry.ep {
        pos.set_ep_square_unchecked(SfSquare::new(ep as u32));
    }
    pos.set_rule50_counter(entry.rule50.into());
    let black = entry.black_to_move;
    pos.set_side_to_move(if black { Color::Black } else { Color::White });
    // Chains require a move number that grows after Black's moves. Some generators count plies from 1.
    pos.set_ply((entry.ply & MAX_PLY) + (entry.ply & u16::from(!black)));
    Ok(Some(TrainingDataEntry { pos, mv, score: entry.score, ply: entry.ply & MAX_PLY, result: entry.result.into() }))
}

/// The castling rights whose king and rook stand on their classical squares.
fn classical_rights(entry: &Entry) -> u8 {
    let stands = |square, role: Role, colour| {
        let piece = entry.board.piece_at(square);
        piece.is_some_and(|piece| piece.role() == Some(role) && piece.colour == colour)
    };
    let classical = |i: &usize| {
        let (king, rook, colour) = CLASSICAL[*i];
        stands(king, Role::King, colour) && stands(rook, Role::Rook, colour)
    };
    (0..4).filter(classical).map(|i| entry.castling & 1 << i).sum()
}

fn from_move(entry: &Entry, m: Move, rights: u8) -> Option<SfMove> {
    let (from, to) = (SfSquare::new(m.from() as u32), SfSquare::new(m.to() as u32));
    Some(match entry.kind_of(m) {
        MoveKind::Normal => SfMove::normal(from, to),
        MoveKind::EnPassant => SfMove::en_passant(from, to),
        MoveKind::Castling => {
            let right = 2 * usize::from(entry.black_to_move) + usize::from(m.to() < m.from());
            let (king, rook, _) = CLASSICAL[right];
            let classical = rights >> right & 1 == 1 && (king, rook) == (m.from(), m.to());
            return classical.then(|| SfMove::castle(from, to));
        }
        MoveKind::Promotion => {
            let black = entry.black_to_move;
            let colour = if black { Color::Black } else { Color::White };
            let role = match m.promotion()? {
                Role::Knight => PieceType::Knight,
                Role::Bishop => PieceType::Bishop,
                Role::Rook => PieceType::Rook,
                _ => PieceType::Queen,
            };
            SfMove::promotion(from, to, Piece::new(role, colour))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::{CastlingMode, Position};

    #[test]
    fn reader_rejects_damaged_blocks_and_counts_bytes_of_incomplete_one() {
        let read = |bytes: &[u8]| for_each(bytes, |_| Ok(()));
        assert!(read(b"BIN?\x08\0\0\0garbage!").is_err());
        assert!(read(b"BINP\xff\xff\xff\xff").is_err());
        assert_eq!(read(b"BINP\xff\0\0\0too short").ok(), Some(17));
        assert_eq!(read(b"").ok(), Some(0));
        assert!(read(&[b"BINP\x80\0\0\0".as_slice(), &[255; 128]].concat()).is_err());
    }

    #[test]
    fn writer_drops_castling_that_is_not_classical() {
        let fen = "4k3/8/8/8/8/8/8/1R2K2R w HB - 0 1";
        let position = Position::from_fen(fen, CastlingMode::Chess960).expect(fen);
        let entry = |uci: &str| Entry { m: position.parse_uci(uci).ok(), ..Entry::of(&position) };
        assert_eq!(classical_rights(&entry("e1e2")), 1);
        assert!(matches!(from_entry(&entry("e1b1")), Ok(None)));
        assert!(matches!(from_entry(&entry("e1h1")), Ok(Some(_))));
        assert!(from_entry(&entry("none")).is_err());
    }
}
