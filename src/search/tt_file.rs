//! File format of the transposition table, with which an analysis can be continued later.
//!
//! ```text
//! line of JSON   description of the table (`Heading`), ended by a line feed
//! LZ4 frame      every cluster as four little-endian words, with a checksum of each block and of the whole frame
//! ```
//!
//! A file is valid only for the net and the engine version that wrote it, because evaluations depend on the net and
//! scores on the search. The table in use may have another size: the entries of a cluster then map to a known range of
//! clusters.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};
use lz4_flex::frame::{FrameDecoder, FrameEncoder, FrameInfo};
use serde::{Deserialize, Serialize};

use super::tt::{ClusterWords, MAX_CLUSTERS, TranspositionTable};
use crate::util::atomic::AtomicFile;
use crate::util::files::Kind;
use crate::util::reason;
use crate::util::text::Shown as _;

/// Incremented with every change of the layout or the meaning of entries and keys.
const VERSION: u32 = 1;
/// Identifier in the first line.
const FORMAT: &str = "zoothera-hash";
/// The kind of file that a table may overwrite.
const KIND: Kind = Kind {
    name: "a transposition table",
    is: |head| {
        let line = head.split(|&byte| byte == b'\n').next().unwrap_or_default();
        serde_json::from_slice(line).is_ok_and(|found: Heading| found.format == FORMAT)
    },
};
/// Maximum length of the first line, in bytes.
const MAX_HEADING_BYTES: u64 = 1024;
const CLUSTER_BYTES: usize = size_of::<ClusterWords>();
/// Clusters that are written or read at once.
const CHUNK: usize = 1 << 12;

/// The first line of a file.
#[derive(Serialize, Deserialize)]
struct Heading {
    format: String,
    version: u32,
    engine: String,
    /// SHA-256 of the net's file.
    net: String,
    clusters: usize,
    generation: u64,
}

/// Summary of a table that was written or read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SavedTable {
    /// MiB of the table in the file.
    pub megabytes: usize,
    /// Bytes of the file.
    pub file_bytes: u64,
}

/// Writes `table`, which belongs to the net with this SHA-256, whole or not at all.
///
/// # Errors
/// Fails on an I/O error, or if `path` is a file of another kind; the old file then stays unchanged.
pub fn save(table: &TranspositionTable, net: &str, path: &Path) -> Result<SavedTable> {
    let mut file = AtomicFile::create_over(path, &KIND)?;
    let written = write(table, net, &mut file);
    written.with_context(|| format!("cannot write {}", path.shown()))?;
    file.commit()?;
    let size = path.metadata().map_or(0, |found| found.len());
    Ok(SavedTable { megabytes: table.megabytes(), file_bytes: size })
}

fn write(table: &TranspositionTable, net: &str, mut out: impl Write) -> io::Result<()> {
    let heading = Heading {
        format: FORMAT.to_owned(),
        version: VERSION,
        engine: env!("CARGO_PKG_VERSION").to_owned(),
        net: net.to_owned(),
        clusters: table.clusters(),
        generation: table.generation(),
    };
    serde_json::to_writer(&mut out, &heading)?;
    out.write_all(b"\n")?;
    let info = FrameInfo::new().block_checksums(true).content_checksum(true);
    let mut frame = FrameEncoder::with_frame_info(info, out);
    let mut bytes = Vec::with_capacity(CHUNK * CLUSTER_BYTES);
    for start in (0..table.clusters()).step_by(CHUNK) {
        bytes.clear();
        for index in start..(start + CHUNK).min(table.clusters()) {
            let words = table.words(index);
            bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        }
        frame.write_all(&bytes)?;
    }
    frame.finish()?;
    Ok(())
}

/// Replaces the contents of `table` by those of the file at `path`, which must belong to the net with this SHA-256.
/// The file is read twice; the first pass only checks that it is undamaged.
///
/// # Errors
/// Fails if the file is not a saved table, belongs to another net or version, or is damaged; `table` then stays
/// unchanged. If the file changes between the two passes, `table` is empty.
pub fn load(table: &TranspositionTable, net: &str, path: &Path) -> Result<SavedTable> {
    let read = || -> Result<SavedTable> {
        if !path.metadata()?.is_file() {
            bail!("it is not a regular file");
        }
        let mut file = File::open(path)?;
        let heading = heading(&mut file)?;
        let start = file.stream_position()?;
        check(&heading, net)?;
        each_cluster(&file, heading.clusters, |_, _| {})?;
        file.seek(SeekFrom::Start(start))?;
        table.clear_part(0, 1);
        table.set_generation(heading.generation);
        let filled = each_cluster(&file, heading.clusters, |index, words| {
            for target in targets(index, heading.clusters, table.clusters()) {
                table.take_over(target, &words);
            }
        });
        if filled.is_err() {
            table.clear_part(0, 1);
        }
        filled?;
        Ok(SavedTable { megabytes: (heading.clusters * CLUSTER_BYTES) >> 20, file_bytes: file.metadata()?.len() })
    };
    read().with_context(|| format!("cannot use {}", path.shown()))
}

/// Reads the first line and positions `file` at the frame after it.
fn heading(file: &mut File) -> Result<Heading> {
    let mut line = Vec::new();
    BufReader::new(&*file).take(MAX_HEADING_BYTES).read_until(b'\n', &mut line)?;
    let heading = serde_json::from_slice(&line).ok();
    let Some(heading) = heading.filter(|found: &Heading| found.format == FORMAT) else {
        bail!("not a file with a transposition table");
    };
    file.seek(SeekFrom::Start(line.len() as u64))?;
    Ok(heading)
}

/// Checks that this engine can use the table with this net.
fn check(heading: &Heading, net: &str) -> Result<()> {
    let engine = env!("CARGO_PKG_VERSION");
    if heading.version != VERSION || heading.engine != engine {
        bail!(
            "written by version {} (format {}); this is version {engine} (format {VERSION})",
            heading.engine,
            heading.version
        );
    }
    if heading.net != net {
        bail!(
            "saved with the net of SHA-256 {}; the net in use has {net}; set EvalFile (or --net) to the file's net",
            heading.net
        );
    }
    if !(1..=MAX_CLUSTERS).contains(&(heading.clusters as u64)) {
        bail!("damaged: invalid number of clusters {}", heading.clusters);
    }
    Ok(())
}

/// Calls `with` for each cluster of the frame at which `file` is positioned. Checks that the frame is undamaged to its
/// end.
fn each_cluster(file: &File, clusters: usize, mut with: impl FnMut(usize, ClusterWords)) -> Result<()> {
    let mut frame = FrameDecoder::new(BufReader::new(file));
    let mut bytes = vec![0; CHUNK * CLUSTER_BYTES];
    let damage = |error: io::Error| match error.kind() {
        // The library names its errors by words of its source.
        io::ErrorKind::InvalidData | io::ErrorKind::Other => {
            anyhow::anyhow!("damaged: a checksum or the data is wrong")
        }
        _ => anyhow::anyhow!("damaged: {}", reason::of(&error)),
    };
    for start in (0..clusters).step_by(CHUNK) {
        let count = CHUNK.min(clusters - start);
        let chunk = &mut bytes[..count * CLUSTER_BYTES];
        frame.read_exact(chunk).map_err(damage)?;
        for (offset, cluster) in chunk.chunks_exact(CLUSTER_BYTES).enumerate() {
            let (words, _) = cluster.as_chunks();
            with(start + offset, std::array::from_fn(|i| u64::from_le_bytes(words[i])));
        }
    }
    // Reading to the end makes the decoder check the frame's checksum.
    if frame.read(&mut bytes).map_err(damage)? > 0 {
        bail!("damaged: more clusters than its first line declares");
    }
    let mut rest = frame.into_inner();
    if !rest.fill_buf()?.is_empty() {
        bail!("damaged: extra bytes after its end");
    }
    Ok(())
}

/// The clusters of a table of `to` clusters that may contain the keys of cluster `index` of `from`. A cluster contains
/// the keys of its share of all 64-bit numbers. In a larger table there are several such clusters. An entry is copied
/// to each of them; its 16 key bits identify it there equally well.
fn targets(index: usize, from: usize, to: usize) -> std::ops::RangeInclusive<usize> {
    if from == to {
        return index..=index;
    }
    // Cluster i of n has the keys from ceil(i * 2^64 / n) up to the first key of cluster i + 1, exclusive.
    let first_key = |i: usize| ((i as u128) << 64).div_ceil(from as u128);
    let cluster_of = |key: u128| ((key * to as u128) >> 64) as usize;
    cluster_of(first_key(index))..=cluster_of(first_key(index + 1) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Move;
    use crate::search::tt::{Bound, TableEntry};
    use crate::util::rng::SplitMix64;
    use crate::util::rng::scaled;

    const NET: &str = "0123456789abcdef";

    fn entry(i: i32) -> TableEntry {
        TableEntry {
            best: Move::from_bits(0x123),
            score: i % 1000,
            eval: -i % 500,
            depth: i % 60,
            bound: Bound::Exact,
            pv: i % 2 == 0,
        }
    }

    fn table(mb: usize) -> TranspositionTable {
        TranspositionTable::new(mb).expect("room")
    }

    /// A table with `count` entries, and their keys.
    fn filled(mb: usize, count: i32) -> (TranspositionTable, Vec<u64>) {
        let (table, mut rng) = (table(mb), SplitMix64::new(5));
        let keys: Vec<u64> = (0..count).map(|_| rng.next_u64()).collect();
        for _ in 0..7 {
            table.age();
        }
        for (i, &key) in (0..).zip(&keys) {
            table.store(key, entry(i));
        }
        (table, keys)
    }

    fn known(table: &TranspositionTable, keys: &[u64]) -> usize {
        let right = (0..).zip(keys);
        right.filter(|&(i, &key)| table.probe(key) == Some(entry(i))).count()
    }

    #[test]
    fn table_round_trips_through_its_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.hash");
        let (first, keys) = filled(2, 30_000);
        let saved = save(&first, NET, &path).expect("room");
        assert_eq!(saved.megabytes, 2);
        let second = table(2);
        second.store(1, entry(1));
        assert_eq!(load(&second, NET, &path).expect("sound"), saved);
        assert_eq!(second.generation(), first.generation());
        for index in 0..first.clusters() {
            assert_eq!(second.words(index), first.words(index));
        }
        assert!(known(&second, &keys) > 29_000);
        assert_eq!(second.probe(1), None, "earlier entries are removed");
    }

    #[test]
    fn table_of_another_size_loads_the_entries_that_fit() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.hash");
        let (first, keys) = filled(3, 60_000);
        save(&first, NET, &path).expect("room");
        let all = known(&first, &keys);
        for mb in [1, 2, 4, 5, 9] {
            let other = table(mb);
            let loaded = load(&other, NET, &path).expect("sound");
            assert_eq!(loaded.megabytes, 3);
            // Copies replace some entries where one size is not a multiple of the other.
            let min_known = match mb {
                9 => all,
                4 | 5 => all * 95 / 100,
                _ => all / 2,
            };
            assert!(known(&other, &keys) >= min_known, "{mb} MiB");
        }
    }

    #[test]
    fn every_key_of_a_cluster_is_found_in_a_target() {
        let mut rng = SplitMix64::new(9);
        for _ in 0..10_000 {
            let key = rng.next_u64();
            let (from, to) = (1 + rng.below(100), 1 + rng.below(100));
            let index = |n: usize| scaled(key, n);
            let targets = targets(index(from), from, to);
            assert!(targets.contains(&index(to)), "{key:x} from {from} to {to}: {targets:?}");
        }
    }

    #[test]
    fn load_rejects_another_net_or_version_with_the_reason() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.hash");
        let (first, keys) = filled(1, 1000);
        let all = known(&first, &keys);
        save(&first, NET, &path).expect("room");
        let refusal = |net: &str| {
            let error = load(&first, net, &path).expect_err("it is refused");
            assert_eq!(known(&first, &keys), all, "the table is unchanged");
            format!("{error:#}")
        };
        let text = refusal("another");
        assert!(text.contains(NET) && text.contains("another") && text.contains("a.hash"), "{text}");
        let mut bytes = std::fs::read(&path).expect("it is there");
        let at = bytes.windows(11).position(|w| w == b"\"version\":1").expect("a version");
        bytes[at + 10] = b'9';
        std::fs::write(&path, bytes).expect("room");
        assert!(refusal(NET).contains("format 9"));
        std::fs::write(&path, "no table at all\n").expect("room");
        assert!(refusal(NET).contains("not a file with a transposition table"));
        let refused = format!("{:#}", save(&first, NET, &path).expect_err("it is refused"));
        assert!(refused.contains("is not a transposition table"), "{refused}");
        let text = std::fs::read_to_string(&path).expect("it is there");
        assert_eq!(text, "no table at all\n");
        let error = load(&first, NET, folder.path()).expect_err("a folder");
        assert!(format!("{error:#}").contains("not a regular file"));
    }

    #[test]
    fn load_rejects_damage_and_keeps_the_table() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.hash");
        let (first, keys) = filled(1, 20_000);
        save(&first, NET, &path).expect("room");
        let sound = std::fs::read(&path).expect("it is there");
        let all = known(&first, &keys);
        let mut rng = SplitMix64::new(11);
        let refused = |bytes: &[u8], what: &str| {
            std::fs::write(&path, bytes).expect("room");
            assert!(load(&first, NET, &path).is_err(), "{what}");
            assert_eq!(known(&first, &keys), all, "{what}");
        };
        let body = sound.iter().position(|&b| b == b'\n').expect("a heading") + 1;
        for _ in 0..60 {
            let cut = rng.below(sound.len());
            refused(&sound[..cut], &format!("cut off at {cut}"));
            let mut flipped = sound.clone();
            let at = body + rng.below(sound.len() - body);
            flipped[at] ^= 1 << rng.below(8);
            refused(&flipped, &format!("a bit at {at}"));
            let noise: Vec<u8> = (0..rng.below(5000)).map(|_| rng.next_u64() as u8).collect();
            refused(&noise, "noise");
            let tail = [&sound[..body], &noise[..]].concat();
            refused(&tail, "noise after a heading");
        }
        refused(&[&sound[..], b"more"].concat(), "extra bytes after the end");
    }

    #[test]
    fn take_over_skips_implausible_entries() {
        let table = table(1);
        // A used entry with a score beyond every mate, and its bits of the key.
        let bad = 20_u64 << 48 | 3 << 56 | u64::from(i16::MAX as u16) << 16;
        table.take_over(7, &[bad, bad, bad, 0x1111_2222_3333]);
        assert_eq!(table.words(7), [0; 4]);
    }
}
