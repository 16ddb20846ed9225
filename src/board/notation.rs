//! Positions and moves as text: FEN in and out, UCI, SAN, and a diagram for people.

use std::fmt::Write;
use std::num::NonZeroU32;

use anyhow::{Context, Result, anyhow, bail};
use shakmaty::fen::Fen;
use shakmaty::san::{San, SanPlus};
use shakmaty::{
    CastlingMode, Chess, Color, File, FromSetup, PositionError, PositionErrorKinds, Rank, Role,
    Setup, Square,
};

use super::zobrist::RIGHTS;
use super::{Move, Position};

/// Half the squares: what the arrays of the network have room for.
const MOST_PIECES: usize = 32;

impl Position {
    /// Reads a FEN. Fields may be missing from the right. What GUIs send and strict parsers refuse is
    /// mended: castling rights without their rook and impossible en passant squares are dropped, odd
    /// material up to 32 pieces is taken, clocks are clamped. A FEN whose rights need Chess960 gets
    /// that mode whatever `mode` says. The rest is refused with a reason.
    pub fn from_fen(fen: &str, mode: CastlingMode) -> Result<Self> {
        let chess = parse_fen(fen, mode).with_context(|| format!("bad FEN '{}'", shown(fen)))?;
        Ok(Self::from_chess(&chess))
    }

    /// Six-field FEN (Shredder castling letters when the mode is Chess960).
    pub fn fen(&self) -> String {
        let board = self.to_setup().board;
        let turn = self.turn().char();
        let castling = self.castling_text();
        let ep = self
            .ep_square()
            .map_or_else(|| "-".to_owned(), |ep| ep.to_string());
        let (halfmoves, fullmoves) = (self.halfmoves(), self.fullmoves());
        format!(
            "{} {turn} {castling} {ep} {halfmoves} {fullmoves}",
            board.board_fen()
        )
    }

    /// The castling field of the FEN.
    fn castling_text(&self) -> String {
        let mut text = String::new();
        for (i, &(color, side)) in RIGHTS.iter().enumerate() {
            if self.castling_rights() >> i & 1 == 0 {
                continue;
            }
            let letter = match self.castling_mode() {
                CastlingMode::Chess960 => self.lanes[i].rook.file().char(),
                CastlingMode::Standard if side.is_king_side() => 'k',
                CastlingMode::Standard => 'q',
            };
            text.push(color.fold_wb(letter.to_ascii_uppercase(), letter));
        }
        if text.is_empty() {
            "-".to_owned()
        } else {
            text
        }
    }

    /// The legal move written in UCI; castling as e1g1 or e1h1 in both modes, promotion letter of
    /// either case. The error says why it is none.
    pub fn parse_uci(&self, text: &str) -> Result<Move> {
        let m = parse_move_text(text)?;
        let color = self.turn();
        if !self.by_color(color).contains(m.from()) {
            bail!(
                "'{text}' is not legal: {} has no piece on {}",
                name(color),
                m.from()
            );
        }
        let is_legal = |m: &Move| self.pseudo_legal(*m) && self.legal(*m);
        if is_legal(&m) {
            return Ok(m);
        }
        let castling = self.castling_by_goal(m).filter(is_legal);
        castling.ok_or_else(|| anyhow!("'{text}' is not a legal move in {}", self.fen()))
    }

    /// A king's move to its castling goal, as king takes rook.
    fn castling_by_goal(&self, m: Move) -> Option<Move> {
        let (us, king) = (self.turn(), self.king(self.turn()));
        if m.from() != king || m.promotion().is_some() {
            return None;
        }
        let right = us.fold_wb(0, 2) + usize::from(m.to() < king);
        let lane = self.lanes[right];
        if m.to() == lane.king_to {
            Move::new(king, lane.rook)
        } else {
            None
        }
    }

    /// UCI text of a move; castling as e1g1, or as e1h1 when `chess960`. Where king and rook did not
    /// start on their usual squares, e1g1 would be ambiguous, so that castling is always written e1h1.
    pub fn uci(&self, m: Move, chess960: bool) -> String {
        let (from, mut to) = (m.from(), m.to());
        let usual = from.file() == File::E && matches!(to.file(), File::A | File::H);
        if self.is_castling(m) && usual && !chess960 {
            let file = if to > from { File::G } else { File::C };
            to = Square::from_coords(file, to.rank());
        }
        match m.promotion() {
            Some(role) => format!("{from}{to}{}", role.char()),
            None => format!("{from}{to}"),
        }
    }

    /// The legal move written in standard algebraic notation; check and mate signs are ignored.
    pub fn parse_san(&self, text: &str) -> Result<Move> {
        let san: SanPlus = text
            .parse()
            .map_err(|_| anyhow!("'{text}' is not a move in SAN"))?;
        let found = san.san.to_move(&self.to_chess());
        let found = found.map_err(|why| anyhow!("'{text}' in {}: {why}", self.fen()))?;
        from_shakmaty(found).ok_or_else(|| anyhow!("'{text}' is no chess move"))
    }

    /// Standard algebraic notation of a legal move, with check or mate sign.
    pub fn san(&self, m: Move) -> String {
        let chess = self.to_chess();
        let same = |&other: &shakmaty::Move| from_shakmaty(other) == Some(m);
        match shakmaty::Position::legal_moves(&chess)
            .into_iter()
            .find(same)
        {
            Some(found) => SanPlus::from_move(chess, found).to_string(),
            None => San::Null.to_string(),
        }
    }

    /// A diagram for people (the `d` command), with FEN, key and checkers.
    pub fn diagram(&self) -> String {
        const LINE: &str = " +---+---+---+---+---+---+---+---+\n";
        let mut text = format!("\n{LINE}");
        for rank in Rank::ALL.into_iter().rev() {
            for file in File::ALL {
                let piece = self.piece_at(Square::from_coords(file, rank));
                text.push_str(" | ");
                text.push(piece.map_or(' ', |piece| piece.char()));
            }
            let _ = write!(text, " | {}\n{LINE}", rank.char());
        }
        text.push_str("   a   b   c   d   e   f   g   h\n\n");
        let checkers: Vec<String> = self.checkers().into_iter().map(|s| s.to_string()).collect();
        let _ = writeln!(text, "Fen: {}", self.fen());
        let _ = writeln!(text, "Key: {:016X}", self.key());
        let _ = writeln!(text, "Checkers: {}", checkers.join(" "));
        text
    }
}

/// The squares and the promotion of a move text, whatever it means on the board.
fn parse_move_text(text: &str) -> Result<Move> {
    let parse = || {
        let from = Square::from_ascii(text.as_bytes().get(0..2)?).ok()?;
        let to = Square::from_ascii(text.as_bytes().get(2..4)?).ok()?;
        match text.as_bytes().get(4..)? {
            [] => Move::new(from, to),
            [letter] => {
                let role = Role::from_char(char::from(letter.to_ascii_lowercase()))?;
                Move::promoting(from, to, role)
            }
            _ => None,
        }
    };
    parse().ok_or_else(|| anyhow!("'{}' is not a move (expected e2e4 or e7e8q)", shown(text)))
}

/// Our code of shakmaty's move.
pub(super) fn from_shakmaty(m: shakmaty::Move) -> Option<Move> {
    match m.promotion() {
        Some(role) => Move::promoting(m.from()?, m.to(), role),
        None => Move::new(m.from()?, m.to()),
    }
}

fn name(color: Color) -> &'static str {
    color.fold_wb("White", "Black")
}

/// Foreign text cut to a length that fits into a message.
fn shown(text: &str) -> String {
    const MOST: usize = 120;
    let mut cut: String = text.chars().take(MOST).collect();
    if cut.len() < text.len() {
        cut.push('…');
    }
    cut
}

fn parse_fen(fen: &str, mode: CastlingMode) -> Result<Chess> {
    let fields: Vec<&str> = fen.split_whitespace().collect();
    if let Some(junk) = fields.get(6) {
        bail!("unexpected '{}' after the six fields", shown(junk));
    }
    let board = *fields.first().context("it is empty")?;
    if board.matches('/').count() != 7 {
        bail!(
            "the board has {} ranks, not 8",
            board.matches('/').count() + 1
        );
    }
    let head = fields[..fields.len().min(4)].join(" ");
    let parsed = Fen::from_ascii(head.as_bytes()).map_err(|why| anyhow!("{why}"))?;
    let mut setup = parsed.into_setup();
    setup.halfmoves = parse_clock(fields.get(4), 0, "halfmove clock")?.min(100);
    let fullmoves = parse_clock(fields.get(5), 1, "move number")?;
    setup.fullmoves = NonZeroU32::new(fullmoves).unwrap_or(NonZeroU32::MIN);
    validate(setup, mode)
}

/// A counter field: a number, `-`, or missing.
fn parse_clock(field: Option<&&str>, missing: u32, what: &str) -> Result<u32> {
    match field {
        None | Some(&"-") => Ok(missing),
        // A number too large for the type is still a number; it is clamped later anyway.
        Some(text) if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) => {
            Ok(text.parse().unwrap_or(u32::MAX))
        }
        Some(text) => bail!("the {what} '{}' is not a number", shown(text)),
    }
}

/// Checks what the engine relies on, and mends what does not matter.
fn validate(setup: Setup, mode: CastlingMode) -> Result<Chess> {
    let pieces = setup.board.occupied().count();
    if pieces > MOST_PIECES {
        bail!("{pieces} pieces on the board, more than {MOST_PIECES}");
    }
    let mode = match mode {
        CastlingMode::Standard => CastlingMode::detect(&setup),
        CastlingMode::Chess960 => mode,
    };
    let turn = setup.turn;
    Chess::from_setup(setup, mode)
        .or_else(PositionError::ignore_invalid_castling_rights)
        .or_else(PositionError::ignore_invalid_ep_square)
        .or_else(PositionError::ignore_impossible_check)
        .or_else(PositionError::ignore_too_much_material)
        .map_err(|error| anyhow!("{}", reason(error.kinds(), turn)))
}

/// Why shakmaty refused a position, in words; the first reason found.
fn reason(kinds: PositionErrorKinds, turn: Color) -> String {
    use PositionErrorKinds as Kinds;
    if kinds.contains(Kinds::EMPTY_BOARD) {
        "the board is empty".to_owned()
    } else if kinds.contains(Kinds::MISSING_KING) {
        "a king is missing".to_owned()
    } else if kinds.contains(Kinds::TOO_MANY_KINGS) {
        "a side has more than one king".to_owned()
    } else if kinds.contains(Kinds::PAWNS_ON_BACKRANK) {
        "a pawn stands on the first or last rank".to_owned()
    } else if kinds.contains(Kinds::OPPOSITE_CHECK) {
        let (other, turn) = (name(!turn), name(turn));
        format!("{other} is in check although {turn} is to move")
    } else {
        format!("impossible position ({kinds:?})")
    }
}
