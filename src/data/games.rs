//! Writers of formats that store games: consecutive entries of a game become one game.

use std::io::Write;

use anyhow::{Context, Result};

use super::entry::Entry;
use super::pgn::PgnGame;
use super::plain;
use super::viriformat::GameBytes;
use crate::board::{CastlingMode, Position};

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

/// Writer of viriformat.
pub type ViriWriter<W> = GameWriter<W, GameBytes>;
/// Writer of PGN.
pub type PgnWriter<W> = GameWriter<W, PgnGame>;

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
