//! Stockfish's `.binpack`: blocks of games, each a starting position and a bit-packed list of moves and scores.
//!
//! The `sfbinpack` crate decodes; this file adds what it leaves open: errors in place of panics on damaged blocks, and
//! the way into our packed records.

use std::fs::File;
use std::io::BufReader;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use sfbinpack::chess::castling_rights::CastlingRights;
use sfbinpack::chess::color::Color;
use sfbinpack::chess::coords::Square;
use sfbinpack::chess::piecetype::PieceType;
use sfbinpack::{ChunkReader, TrainingDataEntry, read_chunk_into};

use super::filter::Filter;
use super::record::{PackedPiece, Record};

/// Calls `visit` with every entry of the file, in order, holding one block in memory at a time.
pub fn for_each_entry(path: &Path, mut visit: impl FnMut(&TrainingDataEntry)) -> Result<()> {
    let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    let mut file = BufReader::with_capacity(1 << 20, file);
    let mut block = Vec::new();
    let mut index = 0;
    while read_chunk_into(&mut file, &mut block)
        .map_err(|error| anyhow!("{}: block {index}: {error}", path.display()))?
    {
        decode_block(&block, &mut visit)
            .with_context(|| format!("{}: block {index} is damaged", path.display()))?;
        index += 1;
    }
    Ok(())
}

/// Decodes one block; the decoder indexes past its end on damaged data, which must not end the program.
fn decode_block(block: &[u8], visit: &mut impl FnMut(&TrainingDataEntry)) -> Result<()> {
    let mut reader = ChunkReader::default();
    while reader.has_next(block) {
        let entry = catch_unwind(AssertUnwindSafe(|| reader.next(block)))
            .map_err(|_| anyhow!("the decoder gave up"))?;
        visit(&entry);
    }
    Ok(())
}

/// The records of the positions that `filter` keeps, in the order of the file.
pub fn read_records(path: &Path, filter: &Filter) -> Result<Vec<Record>> {
    let mut records = Vec::new();
    for_each_entry(path, |entry| {
        if filter.keeps(entry) {
            records.push(to_record(entry));
        }
    })?;
    Ok(records)
}

/// Packs an entry.
pub fn to_record(entry: &TrainingDataEntry) -> Record {
    let position = &entry.pos;
    let pieces = (0..64).filter_map(|square| {
        let piece = position.piece_at(Square::new(square));
        (piece.piece_type() != PieceType::None).then(|| PackedPiece {
            square: square as u8,
            role: piece.piece_type().ordinal(),
            colour: u8::from(piece.color() == Color::Black),
        })
    });
    let black_to_move = position.side_to_move() == Color::Black;
    let can_castle = position.castling_rights() != CastlingRights::NONE;
    let mut record = Record::pack(pieces, black_to_move, can_castle);
    record.score = entry.score;
    record.ply = entry.ply;
    record.result = entry.result.signum() as i8;
    record
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    /// The shared data folder's file, or a loud notice that the test does nothing.
    fn shared(name: &str) -> Option<PathBuf> {
        let root = std::env::var_os("ZOOTHERA_SHARED").map_or_else(
            || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"),
            PathBuf::from,
        );
        let path = root.join("data").join(name);
        if !path.exists() {
            eprintln!("SKIPPED: {} is not there", path.display());
        }
        path.exists().then_some(path)
    }

    fn count(path: &Path) -> u64 {
        let mut entries = 0;
        for_each_entry(path, |_| entries += 1).unwrap();
        entries
    }

    #[test]
    fn the_small_file_has_the_published_count() {
        let Some(path) = shared("games-d5-c.binpack") else {
            return;
        };
        assert_eq!(count(&path), 841_698);
    }

    #[test]
    #[ignore = "reads 30 MB of games"]
    fn the_large_files_have_the_published_counts() {
        for (name, wanted) in [
            ("games-d4-a.binpack", 5_425_668),
            ("games-d4-b.binpack", 1_142_240),
        ] {
            let Some(path) = shared(name) else { return };
            assert_eq!(count(&path), wanted, "{name}");
        }
    }

    #[test]
    fn records_hold_what_the_entries_say() {
        let Some(path) = shared("games-d5-c.binpack") else {
            return;
        };
        let mut seen = 0;
        for_each_entry(&path, |entry| {
            seen += 1;
            if seen > 20_000 {
                return;
            }
            let record = to_record(entry);
            let fen = entry.pos.fen().unwrap();
            let mut fields = fen.split(' ');
            let board = shakmaty::Board::from_ascii_board_fen(fields.next().unwrap().as_bytes());
            let wanted: Vec<_> = board
                .unwrap()
                .iter()
                .map(|(square, piece)| PackedPiece {
                    square: u8::from(square),
                    role: piece.role as u8 - 1,
                    colour: u8::from(piece.color.is_black()),
                })
                .collect();
            assert_eq!(record.pieces().collect::<Vec<_>>(), wanted, "{fen}");
            assert_eq!(record.black_to_move(), fields.next() == Some("b"));
            assert_eq!(record.can_castle(), fields.next() != Some("-"));
            assert_eq!((record.score, record.ply), (entry.score, entry.ply));
        })
        .unwrap();
    }

    #[test]
    fn damage_is_an_error() {
        let folder = std::env::temp_dir().join(format!("zoothera-binpack-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("damaged.binpack");
        std::fs::write(&path, b"BIN?\x08\0\0\0garbage!").unwrap();
        assert!(for_each_entry(&path, |_| {}).is_err());
        std::fs::write(&path, b"BINP\xff\0\0\0too short").unwrap();
        assert!(for_each_entry(&path, |_| {}).is_err());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
