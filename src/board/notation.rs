//! Positions and moves as text: reading and writing FEN, UCI and SAN, and a diagram.

use std::fmt::Write;
use std::num::NonZeroU32;

use anyhow::{Context, Result, anyhow, bail};
use shakmaty::fen::Fen;
use shakmaty::san::{San, SanError, SanPlus};
use shakmaty::{
    CastlingMode, Chess, Color, File, FromSetup, PositionError, PositionErrorKinds, Rank, Role, Setup, Square,
};

use super::position::RIGHTS;
use super::{Move, Position};
use crate::util::text::excerpt;

/// Maximum number of pieces, which is the capacity of the network's feature lists.
const MAX_PIECES: usize = 32;

impl Position {
    /// Reads a FEN. Trailing fields may be missing. Common errors of GUIs are repaired: castling rights without their
    /// rook and impossible en passant squares are dropped, unusual material up to 32 pieces is accepted, and clocks
    /// are clamped.
    ///
    /// In standard mode the letters K, Q, k and q mean standard castling only: with the king on the e-file and a rook
    /// in the corner. File letters (Shredder-FEN) with another meaning make the position one of Chess960, whatever
    /// `mode` is.
    ///
    /// # Errors
    /// Fails with a reason if the position is invalid in any other way.
    pub fn from_fen(fen: &str, mode: CastlingMode) -> Result<Self> {
        let chess = parse_fen(fen, mode).with_context(|| format!("bad FEN '{}'", excerpt(fen)))?;
        Ok(Self::from_chess(&chess))
    }

    /// Six-field FEN (with Shredder castling letters in Chess960 mode).
    pub fn fen(&self) -> String {
        let board = self.to_setup().board;
        let turn = self.turn().char();
        let castling = self.castling_text();
        let ep = self.ep_square().map_or_else(|| "-".to_owned(), |ep| ep.to_string());
        let (halfmoves, fullmoves) = (self.halfmoves(), self.fullmoves());
        format!("{} {turn} {castling} {ep} {halfmoves} {fullmoves}", board.board_fen())
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
        if text.is_empty() { "-".to_owned() } else { text }
    }

    /// The legal move in UCI notation. Castling may be written as e1g1 or e1h1 in both modes, and the promotion letter
    /// in either case. The error is the reason why the text is not a legal move.
    pub fn parse_uci(&self, text: &str) -> Result<Move> {
        let m = parse_move_text(text)?;
        let color = self.turn();
        if !self.by_color(color).contains(m.from()) {
            bail!("'{text}' is not legal: {} has no piece on {}", name(color), m.from());
        }
        let is_legal = |m: &Move| self.pseudo_legal(*m) && self.legal(*m);
        if is_legal(&m) {
            return Ok(m);
        }
        let castling = self.castling_by_goal(m).filter(is_legal);
        castling.ok_or_else(|| anyhow!("'{text}' is not a legal move in {}", self.fen()))
    }

    /// Converts a king's move to its castling destination into king takes rook.
    fn castling_by_goal(&self, m: Move) -> Option<Move> {
        let (us, king) = (self.turn(), self.king(self.turn()));
        if m.from() != king || m.promotion().is_some() {
            return None;
        }
        let right = us.fold_wb(0, 2) + usize::from(m.to() < king);
        let lane = self.lanes[right];
        if m.to() == lane.king_to { Move::new(king, lane.rook) } else { None }
    }

    /// UCI text of a move. Castling is written as e1g1, or as e1h1 if `chess960`. Where king and rook did not start on
    /// their usual squares, e1g1 would be ambiguous, so castling is always written as e1h1.
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

    /// The legal move in standard algebraic notation; check and mate signs are ignored.
    pub fn parse_san(&self, text: &str) -> Result<Move> {
        let san: SanPlus = text.parse().map_err(|_| anyhow!("'{}' is not a move in SAN", excerpt(text)))?;
        let found = san.san.to_move(&self.to_chess());
        let found = found.map_err(|why| {
            let why = match why {
                SanError::AmbiguousSan => "is ambiguous",
                SanError::IllegalSan => "is not a legal move",
            };
            anyhow!("'{text}' {why} in {}", self.fen())
        })?;
        from_shakmaty(found).ok_or_else(|| anyhow!("'{text}' is not a chess move"))
    }

    /// Standard algebraic notation of a legal move, with check or mate sign.
    pub fn san(&self, m: Move) -> String {
        let chess = self.to_chess();
        let same = |&other: &shakmaty::Move| from_shakmaty(other) == Some(m);
        match shakmaty::Position::legal_moves(&chess).into_iter().find(same) {
            Some(found) => SanPlus::from_move(chess, found).to_string(),
            None => San::Null.to_string(),
        }
    }

    /// A diagram (the `d` command), with FEN, key and checkers.
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

/// The squares and the promotion of a move text, without regard to the board.
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
    parse().ok_or_else(|| anyhow!("'{}' is not a move; expected one such as e2e4 or e7e8q", excerpt(text)))
}

/// Converts shakmaty's move into a [`Move`].
pub(crate) fn from_shakmaty(m: shakmaty::Move) -> Option<Move> {
    match m.promotion() {
        Some(role) => Move::promoting(m.from()?, m.to(), role),
        None => Move::new(m.from()?, m.to()),
    }
}

fn name(color: Color) -> &'static str {
    color.fold_wb("White", "Black")
}

fn parse_fen(fen: &str, mode: CastlingMode) -> Result<Chess> {
    let fields: Vec<&str> = fen.split_whitespace().collect();
    if let Some(junk) = fields.get(6) {
        bail!("unexpected '{}' after the six fields", excerpt(junk));
    }
    let board = *fields.first().context("the text is empty")?;
    let ranks = board.split('/').count();
    if ranks != 8 {
        let plural = if ranks == 1 { "" } else { "s" };
        bail!("the board has {ranks} rank{plural}, not 8");
    }
    let head = fields[..fields.len().min(4)].join(" ");
    let parsed = Fen::from_ascii(head.as_bytes()).map_err(|why| anyhow!("{why}"))?;
    let mut setup = parsed.into_setup();
    setup.halfmoves = parse_clock(fields.get(4), 0, "halfmove clock")?.min(100);
    let fullmoves = parse_clock(fields.get(5), 1, "move number")?;
    setup.fullmoves = NonZeroU32::new(fullmoves).unwrap_or(NonZeroU32::MIN);
    let names_files =
        fields.get(2).is_some_and(|field| field.contains(|letter| matches!(letter, 'A'..='H' | 'a'..='h')));
    let mode = match mode {
        // Shredder letters of standard castling are common and do not change the mode.
        CastlingMode::Standard if names_files => CastlingMode::detect(&setup),
        _ => mode,
    };
    validate(setup, mode)
}

/// A counter field: a number, `-`, or missing.
fn parse_clock(field: Option<&&str>, missing: u32, what: &str) -> Result<u32> {
    match field {
        None | Some(&"-") => Ok(missing),
        // A number that is too large for the type is clamped later anyway.
        Some(text) if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) => {
            Ok(text.parse().unwrap_or(u32::MAX))
        }
        Some(text) => bail!("the {what} '{}' is not a number", excerpt(text)),
    }
}

/// Checks the properties that the engine relies on, and repairs harmless errors.
fn validate(setup: Setup, mode: CastlingMode) -> Result<Chess> {
    let pieces = setup.board.occupied().count();
    if pieces > MAX_PIECES {
        bail!("{pieces} pieces on the board; the maximum is {MAX_PIECES}");
    }
    let turn = setup.turn;
    Chess::from_setup(setup, mode)
        .or_else(PositionError::ignore_invalid_castling_rights)
        .or_else(PositionError::ignore_invalid_ep_square)
        .or_else(PositionError::ignore_impossible_check)
        .or_else(PositionError::ignore_too_much_material)
        .map_err(|error| anyhow!("{}", reason(error.kinds(), turn)))
}

/// The first applicable reason why shakmaty rejected a position.
fn reason(kinds: PositionErrorKinds, turn: Color) -> String {
    use PositionErrorKinds as Kinds;
    if kinds.contains(Kinds::EMPTY_BOARD) {
        "the board is empty".to_owned()
    } else if kinds.contains(Kinds::MISSING_KING) {
        "a side has no king".to_owned()
    } else if kinds.contains(Kinds::TOO_MANY_KINGS) {
        "a side has more than one king".to_owned()
    } else if kinds.contains(Kinds::PAWNS_ON_BACKRANK) {
        "a pawn stands on the first or last rank".to_owned()
    } else if kinds.contains(Kinds::OPPOSITE_CHECK) {
        let (other, turn) = (name(!turn), name(turn));
        format!("{other} is in check, but {turn} is to move")
    } else {
        "the position cannot occur in a game".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(fen: &str) -> Result<Position> {
        Position::from_fen(fen, CastlingMode::Standard)
    }

    #[test]
    fn from_fen_repairs_common_errors_of_guis() {
        for (fen, becomes) in [
            // Missing fields.
            ("4k3/8/8/8/8/8/8/4K3", "4k3/8/8/8/8/8/8/4K3 w - - 0 1"),
            ("4k3/8/8/8/8/8/8/4K3 b", "4k3/8/8/8/8/8/8/4K3 b - - 0 1"),
            ("4k3/8/8/8/8/8/8/4K3 b - - - -", "4k3/8/8/8/8/8/8/4K3 b - - 0 1"),
            ("  4k3/8/8/8/8/8/8/4K3  b -  - 7 0 ", "4k3/8/8/8/8/8/8/4K3 b - - 7 1"),
            // Clocks beyond the rules.
            ("4k3/8/8/8/8/8/8/4K3 w - - 150 200", "4k3/8/8/8/8/8/8/4K3 w - - 100 200"),
            ("4k3/8/8/8/8/8/8/4K3 w - - 99999999999 99999999999", "4k3/8/8/8/8/8/8/4K3 w - - 100 1048576"),
            // Castling rights without king or rook on its square.
            ("4k3/8/8/8/8/8/8/4K3 w KQkq - 0 1", "4k3/8/8/8/8/8/8/4K3 w - - 0 1"),
            ("4k2r/8/8/8/8/8/4K3/7R w KQkq - 0 1", "4k2r/8/8/8/8/8/4K3/7R w k - 0 1"),
            ("4k3/8/8/8/8/8/8/4K2R w HQ - 0 1", "4k3/8/8/8/8/8/8/4K2R w K - 0 1"),
            // En passant squares without a pawn, on a wrong rank, or without a capturer.
            ("4k3/8/8/8/8/8/8/4K3 w - e6 0 1", "4k3/8/8/8/8/8/8/4K3 w - - 0 1"),
            ("4k3/8/8/8/4P3/8/8/4K3 b - e4 0 1", "4k3/8/8/8/4P3/8/8/4K3 b - - 0 1"),
            ("4k3/8/8/8/4P3/8/8/4K3 b - e3 0 1", "4k3/8/8/8/4P3/8/8/4K3 b - - 0 1"),
            ("4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1", "4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1"),
            // Unusual material.
            ("nnn1k3/pppppppp/8/8/8/8/PPPPPPPP/4K3 w - - 0 1", "nnn1k3/pppppppp/8/8/8/8/PPPPPPPP/4K3 w - - 0 1"),
            ("4k3/8/8/8/8/P7/PPPPPPPP/4K3 w - - 0 1", "4k3/8/8/8/8/P7/PPPPPPPP/4K3 w - - 0 1"),
            ("4k3/8/8/8/8/QQQQQQQQ/QQQQQQQQ/4K3 b - - 0 1", "4k3/8/8/8/8/QQQQQQQQ/QQQQQQQQ/4K3 b - - 0 1"),
            // Checks that no move can give.
            ("4k3/8/3N1N2/8/8/8/8/4K3 b - - 0 1", "4k3/8/3N1N2/8/8/8/8/4K3 b - - 0 1"),
            // In standard mode, Chess960 castling needs file letters.
            ("1r2k1r1/8/8/8/8/8/8/1R2K1R1 w KQkq - 0 1", "1r2k1r1/8/8/8/8/8/8/1R2K1R1 w - - 0 1"),
            ("1r2k1r1/8/8/8/8/8/8/1R2K1R1 w GBgb - 0 1", "1r2k1r1/8/8/8/8/8/8/1R2K1R1 w GBgb - 0 1"),
            (
                "8/p1r1rk1p/2R1pb2/P4p2/1N4p1/1Pp1P1P1/5P1P/2R3K1 w KQkq - 0 1",
                "8/p1r1rk1p/2R1pb2/P4p2/1N4p1/1Pp1P1P1/5P1P/2R3K1 w - - 0 1",
            ),
            // An en passant right without a legal capture: the capturing pawn is pinned.
            ("3k4/8/8/8/3pP3/8/8/3RK3 b - e3 0 1", "3k4/8/8/8/3pP3/8/8/3RK3 b - - 0 1"),
        ] {
            let position = read(fen).unwrap_or_else(|why| panic!("{why:#}"));
            assert_eq!(position.fen(), becomes);
        }
    }

    #[test]
    fn from_fen_rejects_invalid_positions_with_a_reason() {
        for (fen, why) in [
            ("", "empty"),
            ("hello", "1 rank, not 8"),
            ("8/8/8/8/8/8/8/8 w - - 0 1", "board is empty"),
            ("8/8/8/8/8/8/8/4K3 w - - 0 1", "no king"),
            ("4k3/8/8/8/8/8/8/3KK3 w - - 0 1", "more than one king"),
            ("4k3/8/8/8/8/8/8/P3K3 w - - 0 1", "first or last rank"),
            ("4k2P/8/8/8/8/8/8/4K3 w - - 0 1", "first or last rank"),
            ("4k3/8/8/8/8/8/8/4R1K1 w - - 0 1", "Black is in check, but White"),
            ("8/8/8/8/8/8/4k3/4K3 w - - 0 1", "is in check, but"),
            ("4k3/8/8/8/QQQQQQQQ/QQQQQQQQ/QQQQQQQQ/QQQQQQQK w - - 0 1", "33 pieces"),
            ("4k3/8/8/8/8/8/8/4K3 x - - 0 1", "turn"),
            ("4k3/8/8/8/8/8/8/4K3 w xyz - 0 1", "castling"),
            ("4k3/8/8/8/8/8/8/4K3 w - e9 0 1", "ep square"),
            ("4k3/8/8/8/8/8/8/4K3 w - - -1 1", "halfmove clock '-1'"),
            ("4k3/8/8/8/8/8/8/4K3 w - - 0 one", "move number 'one'"),
            ("4k3/8/8/8/8/8/8/4K3 w - - 0 1 moves", "'moves' after the six fields"),
            ("4k3/9/8/8/8/8/8/4K3 w - - 0 1", "board"),
            ("4k3/7/8/8/8/8/8/4K3 w - - 0 1", "board"),
            ("4k3/8/8/8/8/8/8/4K3/8 w - - 0 1", "9 ranks"),
            ("4k3/8/8/8/8/8/8/4K2Ö w - - 0 1", "board"),
        ] {
            let error = format!("{:#}", read(fen).expect_err(fen));
            assert!(error.contains(why), "'{error}' does not contain '{why}'");
        }
    }

    #[test]
    fn parse_uci_accepts_both_castling_texts_in_both_modes() {
        const CORNERS: &str = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";
        for mode in [CastlingMode::Standard, CastlingMode::Chess960] {
            let position = Position::from_fen(CORNERS, mode).expect(CORNERS);
            for (by_goal, by_rook) in [("e1g1", "e1h1"), ("e1c1", "e1a1")] {
                let m = position.parse_uci(by_goal).expect(by_goal);
                assert_eq!(position.parse_uci(by_rook).expect(by_rook), m);
                assert!(position.is_castling(m));
                assert_eq!(position.uci(m, false), by_goal);
                assert_eq!(position.uci(m, true), by_rook);
            }
        }
        let inner = read("4k3/8/8/8/8/8/8/1R2K1R1 w GB - 0 1").expect("Chess960 rights");
        let m = inner.parse_uci("e1g1").expect("king takes the rook on the castling destination");
        assert!(inner.is_castling(m));
        assert_eq!(inner.uci(m, false), "e1g1");
        assert_eq!(inner.parse_uci("e1b1").ok(), inner.parse_uci("e1c1").ok());
    }

    #[test]
    fn parse_uci_accepts_legal_moves_and_explains_errors() {
        let position = read("4k3/P7/8/8/8/8/8/4K3 w - - 0 1").expect("a pawn ready to promote");
        for text in ["a7a8q", "a7a8Q", "a7a8n"] {
            assert!(position.parse_uci(text).is_ok(), "{text}");
        }
        for (text, why) in [
            ("", "is not a move"),
            ("0000", "is not a move"),
            ("a1a1", "is not a move"),
            ("e2e9", "is not a move"),
            ("é1e2", "is not a move"),
            ("a7a8k", "is not a move"),
            ("a7a8qq", "is not a move"),
            ("a7a8", "is not a legal move"),
            ("e1e3", "is not a legal move"),
            ("d2d4", "no piece on d2"),
            ("e8e7", "White has no piece on e8"),
        ] {
            let error = format!("{:#}", position.parse_uci(text).expect_err(text));
            assert!(error.contains(why), "'{error}' does not contain '{why}'");
        }
    }

    #[test]
    fn san_is_parsed_and_written() {
        let start = Position::startpos();
        let m = start.parse_san("Nf3").expect("Nf3");
        assert_eq!((start.uci(m, false).as_str(), start.san(m).as_str()), ("g1f3", "Nf3"));
        assert!(start.parse_san("Nf4").is_err() && start.parse_san("").is_err());
        let mate = read("6k1/5ppp/8/8/8/8/8/R3K3 w Q - 0 1").expect("a back rank");
        assert_eq!(mate.san(mate.parse_uci("a1a8").expect("Ra8")), "Ra8#");
        assert_eq!(mate.san(mate.parse_uci("e1c1").expect("O-O-O")), "O-O-O");
    }

    #[test]
    fn diagram_shows_board_and_key() {
        let text = Position::startpos().diagram();
        assert!(text.contains("| r | n | b | q | k | b | n | r | 8"), "{text}");
        // The Polyglot key of the initial position.
        assert!(text.contains("Key: 463B96181691FC9C"), "{text}");
    }
}
