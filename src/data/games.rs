//! Writers of formats that store games (consecutive entries of a game become one game), and games in PGN.

use std::fmt::Write as _;
use std::io::{self, Read, Write};

use anyhow::{Context, Result, anyhow};

use super::entry::{Entry, NO_SCORE};
use super::plain;
use crate::board::{CastlingMode, Color, Position};
use crate::notation::pgn::{Game, Games, Remarks};
use crate::util::files::{Kind, is_text, text_start};

/// A game in the form in which a file stores it.
pub trait StoredGame: Sized {
    /// Starts a game at the position of its first entry.
    fn start(first: &Entry, position: &Position) -> Self;

    /// Appends an entry and the move that is played in its position.
    ///
    /// # Errors
    /// Fails if the format cannot store the entry.
    fn push(&mut self, entry: &Entry, position: &Position) -> Result<()>;

    /// Writes the complete game.
    ///
    /// # Errors
    /// Fails on a write error.
    fn write(self, sink: &mut impl Write) -> Result<()>;
}

/// Writer of games. An entry belongs to the open game if its position follows from the last move, and ply, clock and
/// result are those of the game.
pub struct GameWriter<W: Write, G: StoredGame> {
    sink: W,
    open: Option<Open<G>>,
}

struct Open<G> {
    game: G,
    /// Position after the last move.
    position: Position,
    /// Expected next entry, without labels.
    next: Entry,
}

impl<W: Write, G: StoredGame> GameWriter<W, G> {
    /// Creates a writer into `sink`.
    pub fn new(sink: W) -> Self {
        Self { sink, open: None }
    }

    /// Writes an entry. It is stored when its game is complete.
    ///
    /// # Errors
    /// Fails if the position or the move is illegal or the format cannot store the entry, and on a write error.
    pub fn write(&mut self, entry: &Entry) -> Result<()> {
        if self.open.as_ref().is_some_and(|open| !continues(&open.next, entry)) {
            self.close()?;
        }
        if self.open.is_none() {
            let fen = plain::fen(entry);
            let position = Position::from_fen(&fen, CastlingMode::Chess960)
                .with_context(|| format!("the format stores games, and {fen} is not a legal position"))?;
            self.open = Some(Open { game: G::start(entry, &position), position, next: *entry });
        }
        let Some(open) = &mut self.open else { return Ok(()) };
        open.game.push(entry, &open.position)?;
        let Some(m) = entry.m else { return self.close() };
        let is_legal = open.position.pseudo_legal(m) && open.position.legal(m);
        anyhow::ensure!(is_legal, "the move is impossible in its position");
        open.position.do_move(m);
        let ply = entry.ply.saturating_add(1);
        open.next = Entry { ply, result: -entry.result, score_alone: entry.score_alone, ..Entry::of(&open.position) };
        Ok(())
    }

    /// Writes the last game and returns the sink.
    ///
    /// # Errors
    /// Fails on a write error.
    pub fn finish(mut self) -> Result<W> {
        self.close()?;
        Ok(self.sink)
    }

    fn close(&mut self) -> Result<()> {
        match self.open.take() {
            Some(open) => open.game.write(&mut self.sink),
            None => Ok(()),
        }
    }
}

/// Whether an entry is the expected one.
fn continues(next: &Entry, entry: &Entry) -> bool {
    let labels = |entry: &Entry| (entry.ply, entry.rule50, entry.result, entry.score_alone);
    labels(next) == labels(entry) && next.key() == entry.key()
}

// Games in PGN as training data: every position with an evaluation and a next move.
//
// Two forms of evaluations are read. `[%eval 0.31]` or `[%eval #-3]` in the comment of a move is the value of the
// position after the move, from White's view. A comment that begins with `+0.31/12` or `-M5/20`, as cutechess and
// fastchess write it, is the value of the search before the move, from the mover's view. Games without a result have
// scores alone as labels.

// CITE: `[%eval]`: Lichess; value and depth: cutechess-cli.

/// Kind of a PGN file: text that starts with a tag, a comment or a move.
pub const KIND: Kind = Kind {
    name: "a PGN file of games",
    is: |head| {
        let start = text_start(head);
        is_text(head) && (start.starts_with(b"[") || start.starts_with(b"{") || start.starts_with(b"1."))
    },
};
/// Score of a mate, less the moves to it.
const MATE: i32 = 30_000;
/// Largest score that is not a mate, in centipawns.
const MAX_SCORE: f64 = 14_000.0;

/// Number of broken games that were skipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Skipped(pub usize);

/// Calls `visit` with every evaluated position, in order. The scores are in centipawns. With `lenient`, broken games
/// are skipped.
///
/// # Errors
/// Fails on a read error, on a broken game, and if `visit` fails.
pub fn for_each(source: impl Read, lenient: bool, mut visit: impl FnMut(&Entry) -> Result<()>) -> Result<Skipped> {
    let mut games = Games::new(source);
    let mut skipped = Skipped::default();
    while let Some(game) = games.next_game()? {
        match game {
            Ok(game) => entries(&game).iter().try_for_each(&mut visit)?,
            Err(_) if lenient => skipped.0 += 1,
            Err(broken) => return Err(anyhow!("{broken}")),
        }
    }
    Ok(skipped)
}

/// The evaluated positions of a game.
fn entries(game: &Game) -> Vec<Entry> {
    let result = super::lines::result_of(game.result);
    let mut position = game.start.clone();
    let mut entries = Vec::new();
    for (index, &m) in game.moves.iter().enumerate() {
        let white = position.turn() == Color::White;
        let by_white = game.remarks.get(index).and_then(command).map(|score| if white { score } else { -score });
        let score = by_white.or_else(|| game.remarks.get(index + 1).and_then(search));
        if let Some(score) = score {
            let mut entry = Entry { m: Some(m), score: score as i16, ..Entry::of(&position) };
            entry.set_result(result.unwrap_or(0));
            entry.score_alone = result.is_none();
            entries.push(entry);
        }
        position.do_move(m);
    }
    entries
}

/// A game to write: each evaluation is in the comment before its position's move.
pub struct PgnGame {
    result: &'static str,
    start: Option<String>,
    movetext: String,
    is_first: bool,
}

impl StoredGame for PgnGame {
    fn start(first: &Entry, position: &Position) -> Self {
        let white = if first.black_to_move { -first.result } else { first.result };
        let result = ["0-1", "1/2-1/2", "1-0"][(white.signum() + 1) as usize];
        let is_initial = Entry::of(&Position::startpos()) == Entry::of(position);
        Self {
            result: if first.score_alone { "*" } else { result },
            start: (!is_initial).then(|| plain::fen(first)),
            movetext: String::new(),
            is_first: true,
        }
    }

    fn push(&mut self, entry: &Entry, position: &Position) -> Result<()> {
        let m = entry.m.context("a position without a move, which PGN cannot store: write .bin or .epd instead")?;
        let out = &mut self.movetext;
        let has_value = entry.score != NO_SCORE;
        if has_value {
            let score = f64::from(entry.score).clamp(-MAX_SCORE, MAX_SCORE) / 100.0;
            let white = if entry.black_to_move { -score } else { score };
            let _ = write!(out, " {{[%eval {:.2}]}}", white + 0.0);
        }
        let number = entry.ply / 2 + 1;
        if !entry.black_to_move {
            let _ = write!(out, "\n{number}.");
        } else if has_value || self.is_first {
            let _ = write!(out, "\n{number}...");
        }
        let _ = write!(out, " {}", position.san(m));
        self.is_first = false;
        Ok(())
    }

    fn write(self, sink: &mut impl io::Write) -> Result<()> {
        let Self { result, start, movetext, .. } = self;
        writeln!(sink, "[Event \"?\"]\n[Result \"{result}\"]")?;
        if let Some(fen) = start {
            writeln!(sink, "[FEN \"{fen}\"]\n[SetUp \"1\"]")?;
        }
        Ok(writeln!(sink, "\n{} {result}\n", movetext.trim_start())?)
    }
}

/// The value of `[%eval]`.
fn command(remarks: &Remarks) -> Option<i32> {
    let value = |comment: &str| {
        let (_, rest) = comment.split_once("[%eval ")?;
        score(rest.split([']', ',', ' ']).next()?)
    };
    remarks.comments().find_map(value)
}

/// The value before the depth at the start of a comment.
fn search(remarks: &Remarks) -> Option<i32> {
    let value = |comment: &str| {
        let (value, depth) = comment.split_whitespace().next()?.split_once('/')?;
        depth.starts_with(|c: char| c.is_ascii_digit()).then(|| score(value))?
    };
    remarks.comments().find_map(value)
}

/// Parses pawns (`+0.31`) or moves to mate (`#-3`, `-M5`) as centipawns.
fn score(text: &str) -> Option<i32> {
    let (sign, rest) = match text.strip_prefix(['-', '+', '\u{2212}']) {
        Some(rest) if !text.starts_with('+') => (-1, rest),
        Some(rest) => (1, rest),
        None => (1, text),
    };
    if let Some(moves) = rest.strip_prefix(['#', 'M', 'm']) {
        let (inner, moves) = moves.strip_prefix('-').map_or((1, moves), |moves| (-1, moves));
        let moves: u16 = moves.trim_start_matches('+').parse().ok()?;
        return Some(sign * inner * (MATE - i32::from(moves.min(1000))));
    }
    let plain = rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let pawns: f64 = rest.parse().ok().filter(|_| plain)?;
    Some(sign * (100.0 * pawns).min(MAX_SCORE).round() as i32)
}

#[cfg(test)]
mod pgn_tests {
    use super::*;
    use crate::data::games::GameWriter;

    /// Score, result and `score_alone` of each entry.
    type Labels = Vec<(i16, i8, bool)>;

    fn read(text: &str, lenient: bool) -> Result<(Labels, Skipped)> {
        let mut labels = Vec::new();
        let skipped = for_each(text.as_bytes(), lenient, |entry| {
            labels.push((entry.score, entry.result, entry.score_alone));
            Ok(())
        })?;
        Ok((labels, skipped))
    }

    #[test]
    fn eval_commands_belong_to_the_position_after_the_move() {
        let text = "[Result \"1-0\"]\n\n1. e4 {[%eval 0.3] good} e5 { [%clk 0:01] [%eval -0.25,12] } 2. Qh5 Ke7 \
                    {[%eval #1]} 3. Qxe5# {[%eval #0]} 1-0\n";
        let (labels, _) = read(text, false).expect("a game");
        assert_eq!(labels, [(-30, -1, false), (-25, 1, false), (29_999, 1, false)]);
    }

    #[test]
    fn values_with_a_depth_belong_to_the_position_before_the_move() {
        let text = "1. e4 {+0.31/12 0.5s} e5 {-0.28/11 0.4s} 2. Nf3 {book} Nc6 {-M5/20 1.0s} *\n";
        let (labels, _) = read(text, false).expect("a game");
        assert_eq!(labels, [(31, 0, true), (-28, 0, true), (-29_995, 0, true)]);
    }

    #[test]
    fn written_games_keep_labels_moves_and_initial_position() {
        let text = "[Result \"1-0\"]\n\n{[%eval 0.2]} 1. e4 {[%eval 0.3]} e5 2. Qh5 {[%eval -0.25]} Ke7 {[%eval 150]} \
                    3. Qxe5# 1-0\n\n[FEN \"4k3/8/8/8/8/8/4P3/4K3 b - - 3 9\"]\n[SetUp \"1\"]\n\n\
                    {[%eval 1]} 9... Kd7 *\n";
        let entries = |text: &[u8]| {
            let mut entries = Vec::new();
            for_each(text, false, |entry| {
                entries.push(*entry);
                Ok(())
            })
            .expect("games");
            entries
        };
        let mut all = entries(text.as_bytes());
        assert_eq!(all.iter().map(|entry| entry.score).collect::<Vec<_>>(), [20, -30, 25, 14_000, -100]);
        let mut writer = GameWriter::<_, PgnGame>::new(Vec::new());
        all.iter().for_each(|entry| writer.write(entry).expect("a legal move"));
        let written = writer.finish().expect("writing to a vector");
        // 2. Qh5 had no value, so the third entry begins a game.
        let text = String::from_utf8_lossy(&written).into_owned();
        assert_eq!(entries(&written), all, "{text}");
        assert_eq!((text.matches("[Result").count(), text.matches("[FEN").count()), (3, 2), "{text}");
        all[0].m = None;
        let error = GameWriter::<_, PgnGame>::new(Vec::new()).write(&all[0]).expect_err("no move").to_string();
        assert!(error.contains("PGN cannot store"), "{error}");
    }

    #[test]
    fn broken_game_is_an_error_that_names_it_or_is_skipped() {
        let text =
            "[Result \"1-0\"]\n\n1. e4 {[%eval 0.3]} e5 1-0\n\n[Result \"1-0\"]\n\n1. e4 {[%eval 0.3]} Ke4 1-0\n";
        let error = format!("{:#}", read(text, false).expect_err("an illegal move"));
        assert!(error.contains("game 2") && error.contains("Ke4"), "{error}");
        assert_eq!(read(text, true).expect("a game"), (vec![(-30, -1, false)], Skipped(1)));
    }

    #[test]
    fn scores_parse_in_all_spellings() {
        for (text, expected) in [
            ("0.3", Some(30)),
            ("-1.25", Some(-125)),
            ("+0.00", Some(0)),
            ("#3", Some(29_997)),
            ("#-3", Some(-29_997)),
            ("-M5", Some(-29_995)),
            ("+M5", Some(29_995)),
            ("999.9", Some(14_000)),
            ("0.x", None),
            ("inf", None),
            ("", None),
            ("e4", None),
        ] {
            assert_eq!(score(text), expected, "{text}");
        }
    }
}
