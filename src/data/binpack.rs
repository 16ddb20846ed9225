//! Stockfish's `.binpack`: blocks of games, each a starting position and a bit-packed list of moves and scores.
//!
//! The `sfbinpack` crate decodes and encodes. This file adds errors in place of panics on damaged data, and the
//! conversion to and from `Entry`.
//!
//! The format knows classical castling only. Of a Chess960 game it loses the rights of kings and rooks that did not
//! start on their classical squares, and the positions where such a castling was played.
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

use super::entry::{Entry, MoveKind};
use super::packed::PackedBoard;
use crate::board::{Move, Role};
use crate::util::kind::Kind;
use crate::util::quiet::catch_quietly;

/// Castling rights in the order of our bits.
const RIGHTS: [CastlingRights; 4] = [
    CastlingRights::WHITE_KING_SIDE,
    CastlingRights::WHITE_QUEEN_SIDE,
    CastlingRights::BLACK_KING_SIDE,
    CastlingRights::BLACK_QUEEN_SIDE,
];
/// King's and rook's squares, and their colour, that each right needs in classical chess.
const CLASSICAL: [(Square, Square, u8); 4] = [
    (Square::E1, Square::H1, 0),
    (Square::E1, Square::A1, 0),
    (Square::E8, Square::H8, 1),
    (Square::E8, Square::A8, 1),
];
/// The ply has fourteen bits.
const MAX_PLY: u16 = (1 << 14) - 1;
/// What a block begins with, before its length in four bytes.
const MAGIC: &[u8; 4] = b"BINP";
/// Files of this format begin with a block.
pub const KIND: Kind = Kind {
    name: "a .binpack of positions",
    is: |head| head.starts_with(MAGIC),
};
/// Larger blocks than this are no blocks: generators cut at a mebibyte.
const MAX_BLOCK: usize = 100 << 20;

/// Calls `visit` with every entry, in order, holding one block in memory at a time. Returns how many bytes of an
/// unfinished block are at the end.
///
/// # Errors
/// When reading fails, a block is damaged, or `visit` says so.
pub fn for_each(
    mut source: impl Read,
    mut visit: impl FnMut(&Entry) -> Result<()>,
) -> Result<usize> {
    let mut block = Vec::new();
    let mut index = 0;
    loop {
        let mut header = [0; 8];
        let length = super::bin::fill(&mut source, &mut header)?;
        if length < header.len() {
            return Ok(length);
        }
        let [magic, size] = [&header[..4], &header[4..]];
        let size = size
            .iter()
            .rev()
            .fold(0, |sum, &b| sum << 8 | usize::from(b));
        if magic != MAGIC || size > MAX_BLOCK {
            bail!("block {index} has no header of a block");
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

/// Decodes one block; the decoder indexes past its end on damaged data, which must not end the program.
fn decode_block(block: &[u8], visit: &mut impl FnMut(&Entry) -> Result<()>) -> Result<()> {
    let mut reader = ChunkReader::default();
    while reader.has_next(block) {
        let entry = catch_quietly(|| to_entry(&reader.next(block)))
            .context("it is damaged: the decoder gave up")?;
        visit(&entry)?;
    }
    Ok(())
}

/// Converts an entry of the crate.
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

/// Writes entries: games whose plies follow one another become chains.
pub struct BinpackWriter<W: Write> {
    encoder: CompressedTrainingDataEntryWriter<Blocks>,
    blocks: Blocks,
    sink: W,
}

/// Where the encoder leaves finished blocks. It hides the errors of a sink, so it gets one that has none.
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
    /// A writer into `sink`.
    ///
    /// # Errors
    /// When the encoder does not start.
    pub fn new(sink: W) -> Result<Self> {
        let blocks = Blocks::default();
        let encoder = CompressedTrainingDataEntryWriter::new(blocks.clone())?;
        Ok(Self {
            encoder,
            blocks,
            sink,
        })
    }

    /// Writes an entry. One with a castling that the format cannot tell is left out.
    ///
    /// # Errors
    /// When the entry has no move, or an impossible one, or when the sink fails.
    pub fn write(&mut self, entry: &Entry) -> Result<()> {
        let Some(entry) = from_entry(entry)? else {
            return Ok(());
        };
        catch_quietly(|| self.encoder.write_entry(&entry))
            .context("the move of a position is impossible there")??;
        self.drain()
    }

    /// Writes the last block and gives the sink back.
    ///
    /// # Errors
    /// When the sink fails.
    pub fn finish(mut self) -> Result<W> {
        self.encoder.flush_and_end();
        self.drain()?;
        Ok(self.sink)
    }

    fn drain(&mut self) -> Result<()> {
        let mut blocks = self.blocks.0.borrow_mut();
        self.sink.write_all(&blocks)?;
        blocks.clear();
        Ok(())
    }
}

/// Converts an entry for the crate; `None` for a castling that is not classical.
fn from_entry(entry: &Entry) -> Result<Option<TrainingDataEntry>> {
    let m = entry.m.context(
        "a position without a move, which .binpack cannot hold: write .bin or .plain instead",
    )?;
    let own = entry.board.piece_at(m.from());
    if own.is_none_or(|piece| (piece.colour == 1) != entry.black_to_move) {
        bail!("a move of a piece that is not there");
    }
    let rights = classical_rights(entry);
    let Some(mv) = from_move(entry, m, rights) else {
        return Ok(None);
    };
    let mut pos = SfPosition::empty();
    for piece in entry.board.pieces() {
        let id = i32::from(2 * piece.role + piece.colour);
        if id >= 12 {
            bail!("a piece that is none");
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
    // Only chains need the move number, which must grow with black's moves. Some generators count plies from 1.
    pos.set_ply((entry.ply & MAX_PLY) + (entry.ply & u16::from(!black)));
    Ok(Some(TrainingDataEntry {
        pos,
        mv,
        score: entry.score,
        ply: entry.ply & MAX_PLY,
        result: entry.result.into(),
    }))
}

/// The rights whose king and rook stand where classical chess has them.
fn classical_rights(entry: &Entry) -> u8 {
    let stands = |square, role: Role, colour| {
        let piece = entry.board.piece_at(square);
        piece.is_some_and(|piece| piece.role() == Some(role) && piece.colour == colour)
    };
    let classical = |i: &usize| {
        let (king, rook, colour) = CLASSICAL[*i];
        stands(king, Role::King, colour) && stands(rook, Role::Rook, colour)
    };
    (0..4)
        .filter(classical)
        .map(|i| entry.castling & 1 << i)
        .sum()
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
    fn damage_is_an_error_and_an_unfinished_block_is_told() {
        let read = |bytes: &[u8]| for_each(bytes, |_| Ok(()));
        assert!(read(b"BIN?\x08\0\0\0garbage!").is_err());
        assert!(read(b"BINP\xff\xff\xff\xff").is_err());
        assert_eq!(read(b"BINP\xff\0\0\0too short").ok(), Some(17));
        assert_eq!(read(b"").ok(), Some(0));
        assert!(read(&[b"BINP\x80\0\0\0".as_slice(), &[255; 128]].concat()).is_err());
    }

    #[test]
    fn chess960_loses_what_the_format_cannot_say() {
        let fen = "4k3/8/8/8/8/8/8/1R2K2R w HB - 0 1";
        let position = Position::from_fen(fen, CastlingMode::Chess960).expect(fen);
        let entry = |uci: &str| Entry {
            m: position.parse_uci(uci).ok(),
            ..Entry::of(&position)
        };
        assert_eq!(classical_rights(&entry("e1e2")), 1);
        assert!(matches!(from_entry(&entry("e1b1")), Ok(None)));
        assert!(matches!(from_entry(&entry("e1h1")), Ok(Some(_))));
        assert!(from_entry(&entry("none")).is_err());
    }
}
