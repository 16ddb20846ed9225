//! Conversion of a text into a legal move: one parser for PGN, EPD, books, the command line and games at the terminal,
//! and the syntax that it reads. UCI has its own strict parser.

use std::borrow::Cow;
use std::fmt;

use anyhow::{Result, anyhow};
use shakmaty::san::{San, SanPlus};
use shakmaty::{CastlingSide, Chess, File, Position as _, Rank, Role, Square};
use thiserror::Error;

use crate::board::{Move, Position, from_shakmaty};
use crate::util::text::excerpt;

/// Reason why a text is not a legal move of a position.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum MoveError {
    /// The text is not a spelling of a move.
    #[error("'{0}' is not a move (expected one such as Nf3, exd5, e8=Q, O-O or g1f3; the pieces are K, Q, R, B and N)")]
    Unreadable(String),
    /// The text is a null move.
    #[error("'{0}' is a null move")]
    Null(String),
    /// The position has no such move; with the reason.
    #[error("'{0}' is not a legal move in this position: {1}")]
    Illegal(String, String),
    /// More than one legal move matches; with their names.
    #[error("'{0}' is ambiguous: {1}")]
    Ambiguous(String, String),
}

impl Position {
    /// The legal move that a text describes: SAN, coordinates, and the usual variants of both, with or without move
    /// number and blanks.
    ///
    /// # Errors
    /// Fails if the text is not a move, or does not match exactly one legal move; the message quotes the text.
    pub fn parse_move(&self, text: &str) -> Result<Move> {
        let written: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let m = find(&self.to_chess(), without_number(&written))?;
        from_shakmaty(m).ok_or_else(|| anyhow!("'{}' is not a chess move", excerpt(text)))
    }
}

/// A move without the move number before it: `1.e4`, `1...e5`, `12Nf3`.
pub fn without_number(word: &str) -> &str {
    if Spelling::parse(word).is_some() {
        return word;
    }
    let rest = word.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.trim_start_matches(['.', '…'])
}

/// The legal move that a word describes.
///
/// # Errors
/// Fails if the word is not a move, or does not match exactly one legal move.
pub fn find(chess: &Chess, word: &str) -> Result<shakmaty::Move, MoveError> {
    let proper = Spelling::parse(word);
    check_pawn_letter(chess, word, proper)?;
    match proper {
        Some(Spelling::Null) => return Err(MoveError::Null(excerpt(word))),
        Some(spelling) => match matches(chess, spelling)[..] {
            [m] => return Ok(m),
            [] => {}
            ref several => return Err(ambiguous(chess, word, several)),
        },
        None => {}
    }
    let mut found: Vec<shakmaty::Move> = Vec::new();
    let mut meant = proper;
    for spelling in Spelling::parse_careless(word) {
        meant = meant.or(Some(spelling));
        for m in matches(chess, spelling) {
            if !found.contains(&m) {
                found.push(m);
            }
        }
    }
    match found[..] {
        [m] => Ok(m),
        [] if let Some(meant) = meant => Err(MoveError::Illegal(excerpt(word), why_illegal(chess, meant))),
        [] => Err(MoveError::Unreadable(excerpt(word))),
        ref several => Err(ambiguous(chess, word, several)),
    }
}

/// Fails if a word begins with P but could be a knight move: P is the letter of the knight in Dutch.
fn check_pawn_letter(chess: &Chess, word: &str, spelling: Option<Spelling>) -> Result<(), MoveError> {
    let Some(Spelling::Piece(pawn)) = spelling.filter(|_| word.starts_with('P')) else {
        return Ok(());
    };
    let knight = matches(chess, Spelling::Piece(PieceMove { role: Some(Role::Knight), ..pawn }));
    match (knight.is_empty(), &matches(chess, Spelling::Piece(pawn))[..]) {
        (false, [pawn]) => Err(ambiguous(chess, word, &[&[*pawn], &knight[..]].concat())),
        _ => Ok(()),
    }
}

fn ambiguous(chess: &Chess, word: &str, found: &[shakmaty::Move]) -> MoveError {
    let names: Vec<String> = found.iter().map(|&m| SanPlus::from_move(chess.clone(), m).to_string()).collect();
    MoveError::Ambiguous(excerpt(word), format!("it could be {}", names.join(" or ")))
}

/// The legal moves with this spelling.
fn matches(chess: &Chess, spelling: Spelling) -> Vec<shakmaty::Move> {
    let piece = match spelling {
        Spelling::Null => return Vec::new(),
        Spelling::Castle(side) => return chess.castling_moves(side).into_iter().collect(),
        Spelling::Piece(piece) => piece,
    };
    let origin = piece.file.zip(piece.rank).map(|(file, rank)| Square::from_coords(file, rank));
    let Some(role) = piece.role.or_else(|| chess.board().role_at(origin?)) else {
        return Vec::new();
    };
    let mut found: Vec<shakmaty::Move> =
        chess.san_candidates(role, piece.to).into_iter().filter(|m| fits(m, role, &piece)).collect();
    if let (Role::King, Some(from), true) = (role, origin, found.is_empty()) {
        found.extend(castling_by_squares(chess, from, piece.to));
    }
    found
}

fn fits(m: &shakmaty::Move, role: Role, piece: &PieceMove) -> bool {
    let Some(from) = m.from() else { return false };
    // A pawn without a file moves straight ahead. If the text marks a capture, the move must be a capture; otherwise
    // it can be one.
    let file = piece.file.or((role == Role::Pawn).then_some(piece.to.file()));
    file.is_none_or(|file| file == from.file())
        && piece.rank.is_none_or(|rank| rank == from.rank())
        && m.promotion() == piece.promotion
        && (m.is_capture() || !piece.capture)
}

/// Castling written as the king's move (`e1g1`), or as king takes rook (`e1h1`).
fn castling_by_squares(chess: &Chess, from: Square, to: Square) -> Option<shakmaty::Move> {
    let sides = [CastlingSide::KingSide, CastlingSide::QueenSide];
    let moves = sides.into_iter().flat_map(|side| chess.castling_moves(side));
    let goes = |m: &shakmaty::Move| {
        let goal = m.castling_side().map(|side| side.king_to(chess.turn()));
        m.from() == Some(from) && (goal == Some(to) || m.to() == to)
    };
    moves.into_iter().find(goes)
}

/// Reason why no legal move has this spelling.
fn why_illegal(chess: &Chess, spelling: Spelling) -> String {
    let color = chess.turn();
    let name = color.fold_wb("White", "Black");
    match spelling {
        Spelling::Castle(_) => format!("{name} cannot castle there"),
        Spelling::Piece(piece) => why_no_piece(chess, name, &piece),
        Spelling::Null => format!("{name} has no such move"),
    }
}

fn why_no_piece(chess: &Chess, name: &str, piece: &PieceMove) -> String {
    let to = piece.to;
    if let Some((file, rank)) = piece.file.zip(piece.rank) {
        let from = Square::from_coords(file, rank);
        if chess.board().color_at(from) != Some(chess.turn()) {
            return format!("{name} has no piece on {from}");
        }
    }
    let queening = PieceMove { promotion: Some(Role::Queen), ..*piece };
    if piece.promotion.is_none() && !matches(chess, Spelling::Piece(queening)).is_empty() {
        return format!("missing promotion piece, as in {}=Q", Spelling::Piece(*piece));
    }
    if piece.role == Some(Role::King) {
        return format!("{name}'s king cannot go to {to}");
    }
    let role = match piece.role {
        Some(Role::Pawn) => "pawn",
        Some(Role::Knight) => "knight",
        Some(Role::Bishop) => "bishop",
        Some(Role::Rook) => "rook",
        Some(Role::Queen) => "queen",
        Some(Role::King) | None => "piece there",
    };
    let action = if piece.capture { "capture on" } else { "go to" };
    format!("{name} has no {role} that can {action} {to}")
}

// The syntax of a written move: SAN, coordinates, and their usual variants.

/// A move as written, independent of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spelling {
    /// `O-O` or `O-O-O`.
    Castle(CastlingSide),
    /// A null move (`--`).
    Null,
    /// The move of a piece.
    Piece(PieceMove),
}

/// The written parts of a piece's move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PieceMove {
    /// The kind of piece; `None` in coordinates, which have the origin square instead.
    pub role: Option<Role>,
    /// The file of the origin.
    pub file: Option<File>,
    /// The rank of the origin.
    pub rank: Option<Rank>,
    /// Whether the text marks a capture.
    pub capture: bool,
    /// The destination.
    pub to: Square,
    /// The promotion piece.
    pub promotion: Option<Role>,
}

/// Suffixes that do not affect the move: check, mate, annotations and en passant. Longer ones come first.
const SUFFIXES: [&str; 18] =
    ["(e.p.)", "(ep)", "e.p.", "e.p", "ep", "mate", "ch", "+", "#", "!", "?", ",", "†", "‡", "‼", "⁇", "⁈", "⁉"];

impl Spelling {
    /// Parses a properly spelled move: upper-case pieces, lower-case files.
    pub fn parse(word: &str) -> Option<Self> {
        let word = plain(word);
        Self::parse_null(&word).or_else(|| {
            let (body, trailing_capture) = without_suffix(&word);
            let body = body.as_bytes();
            parse_castle(body).or_else(|| parse_piece_move(body, trailing_capture).filter(Self::is_proper))
        })
    }

    /// All readings of a carelessly spelled move: lower-case pieces, upper-case files, or a pawn push with the pawn's
    /// file. A reading counts only if no other one is legal.
    pub fn parse_careless(word: &str) -> impl Iterator<Item = Self> {
        let word = plain(word);
        let (body, trailing_capture) = without_suffix(&word);
        let capitals = !body.contains(|c: char| c.is_ascii_lowercase());
        let small = body.to_ascii_lowercase();
        let coordinates = parse_piece_move(small.as_bytes(), trailing_capture)
            .filter(|spelling| capitals && spelling.names_squares_only());
        let straight = parse_piece_move(body.as_bytes(), trailing_capture);
        let mut piece = body.as_bytes().to_vec();
        if let Some(first) = piece.first_mut() {
            first.make_ascii_uppercase();
        }
        let piece = parse_piece_move(&piece, trailing_capture);
        [coordinates, straight, piece].into_iter().flatten()
    }

    fn parse_null(word: &str) -> Option<Self> {
        let is_null = matches!(word, "--" | "Z0" | "z0" | "0000" | "@@@@") || word.eq_ignore_ascii_case("null");
        is_null.then_some(Self::Null)
    }

    /// Whether the origin is a full square or missing.
    fn names_squares_only(&self) -> bool {
        matches!(self, Self::Piece(piece) if piece.file.is_some() == piece.rank.is_some())
    }

    /// Whether this is not a pawn push with the pawn's own file.
    fn is_proper(&self) -> bool {
        !matches!(self, Self::Piece(PieceMove { role: Some(Role::Pawn), file: Some(file), rank: None, to, .. })
            if to.file() == *file)
    }
}

impl fmt::Display for Spelling {
    /// Writes SAN; coordinates without a piece stay coordinates.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let piece = match self {
            Self::Null => return f.write_str("--"),
            Self::Castle(side) => return San::Castle(*side).fmt(f),
            Self::Piece(piece) => piece,
        };
        let san = San::Normal {
            role: piece.role.unwrap_or(Role::Pawn),
            file: piece.file,
            rank: piece.rank,
            capture: piece.capture && piece.role.is_some(),
            to: piece.to,
            promotion: piece.promotion,
        };
        san.fmt(f)
    }
}

/// The word with ASCII instead of typographic characters: figurines, dashes, the multiplication sign, and letters of
/// other alphabets that look like the O of castling. Invisible characters are removed.
fn plain(word: &str) -> Cow<'_, str> {
    if word.is_ascii() {
        return Cow::Borrowed(word);
    }
    let replaced = |c: char| {
        Some(match c {
            '♔' | '♚' => 'K',
            '♕' | '♛' => 'Q',
            '♖' | '♜' => 'R',
            '♗' | '♝' => 'B',
            '♘' | '♞' => 'N',
            '♙' | '♟' => return None,
            '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}' => '-',
            '×' => 'x',
            'О' | 'Ο' | 'о' | 'ο' => 'O',
            '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{fe0e}' | '\u{fe0f}' | '\u{feff}' => return None,
            c => c,
        })
    };
    Cow::Owned(word.chars().filter_map(replaced).collect())
}

/// The word without its suffix, and whether the suffix is a capture sign (`ed5:`).
fn without_suffix(word: &str) -> (&str, bool) {
    // No suffix ends with a digit, so almost all moves return here.
    if word.ends_with(|c: char| c.is_ascii_digit()) {
        return (word, false);
    }
    let mut body = word;
    let mut capture = false;
    loop {
        let shorter = SUFFIXES.iter().find_map(|suffix| body.strip_suffix(suffix));
        let colon = body.strip_suffix(':');
        capture |= shorter.is_none() && colon.is_some();
        match shorter.or(colon) {
            Some(shorter) => body = shorter,
            None => return (body, capture),
        }
    }
}

/// Parses `O-O` and `O-O-O` in letters of either case or zeros, with or without dashes.
fn parse_castle(body: &[u8]) -> Option<Spelling> {
    let wing = |index: usize| matches!(body.get(index), Some(b'O' | b'o' | b'0'));
    let dash = |index: usize| body.get(index) == Some(&b'-');
    let dashed = wing(0) && dash(1) && wing(2);
    match body.len() {
        2 if wing(0) && wing(1) => Some(Spelling::Castle(CastlingSide::KingSide)),
        3 if dashed => Some(Spelling::Castle(CastlingSide::KingSide)),
        3 if wing(0) && wing(1) && wing(2) => Some(Spelling::Castle(CastlingSide::QueenSide)),
        5 if dashed && dash(3) && wing(4) => Some(Spelling::Castle(CastlingSide::QueenSide)),
        _ => None,
    }
}

/// Parses `Nf3`, `Ng1-f3`, `exd5`, `e2e4`, `e7-e8=Q`, with upper-case pieces and lower-case files.
fn parse_piece_move(body: &[u8], trailing_capture: bool) -> Option<Spelling> {
    let (role, rest) = match body {
        [letter @ (b'K' | b'Q' | b'R' | b'B' | b'N' | b'P'), rest @ ..] => (Role::from_char(char::from(*letter)), rest),
        _ => (None, body),
    };
    let (file, rest) = take(rest, |c| File::from_char(c).filter(|_| c.is_ascii_lowercase()));
    let (rank, rest) = take(rest, Rank::from_char);
    let (sign, after_sign) = take(rest, |c| matches!(c, '-' | 'x' | 'X' | ':' | '*').then_some(c));
    let (to, origin, rest) = match (after_sign, file, rank) {
        ([a, b, rest @ ..], file, rank) if is_square(*a, *b) => {
            (Square::from_ascii(&[*a, *b]).ok()?, (file, rank), rest)
        }
        (_, Some(file), Some(rank)) if sign.is_none() => (Square::from_coords(file, rank), (None, None), rest),
        _ => return None,
    };
    let promotion = match rest {
        [] => None,
        [b'=' | b'/', b'(', letter, b')'] | [b'(', letter, b')'] | [b'=' | b'/', letter] | [letter] => {
            let role = Role::from_char(char::from(*letter).to_ascii_lowercase())?;
            Some(role).filter(|role| !matches!(role, Role::King | Role::Pawn)).map(Some)?
        }
        _ => return None,
    };
    // A rank alone is not the origin of a pawn: "2e4" is move number 2.
    if role.unwrap_or(Role::Pawn) == Role::Pawn && origin.0.is_none() && origin.1.is_some() {
        return None;
    }
    let is_coordinates = role.is_none() && origin.0.is_some() && origin.1.is_some();
    Some(Spelling::Piece(PieceMove {
        role: if is_coordinates { None } else { role.or(Some(Role::Pawn)) },
        file: origin.0,
        rank: origin.1,
        capture: trailing_capture || sign.is_some_and(|sign| sign != '-'),
        to,
        promotion,
    }))
}

fn is_square(file: u8, rank: u8) -> bool {
    matches!((file, rank), (b'a'..=b'h', b'1'..=b'8'))
}

/// The value of the first byte, if `value` returns one, and the rest.
fn take<T>(text: &[u8], value: impl Fn(char) -> Option<T>) -> (Option<T>, &[u8]) {
    match text {
        [first, rest @ ..] => match value(char::from(*first)) {
            Some(value) => (Some(value), rest),
            None => (None, text),
        },
        [] => (None, text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation::position_from_fen;

    fn position(fen: &str) -> Position {
        position_from_fen(fen).expect(fen)
    }

    /// The move of a text in SAN, or the error message.
    fn result_of(fen: &str, text: &str) -> String {
        let position = position(fen);
        match position.parse_move(text) {
            Ok(m) => position.san(m),
            Err(error) => format!("{error:#}"),
        }
    }

    const CASTLING: &str = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";
    const PROMOTION: &str = "3r3k/4P3/8/8/8/8/8/K7 w - - 0 1";
    const EN_PASSANT: &str = "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1";
    /// A pawn and a bishop that can capture on c3; only the bishop can reach a5 and d2.
    const PAWN_AND_BISHOP: &str = "4k3/8/8/8/1b6/1pp5/1P1P4/4K3 w - - 0 1";
    const BOTH_CAPTURE: &str = "4k3/8/8/8/8/2p5/1P1B4/4K3 w - - 0 1";

    #[test]
    fn parser_accepts_common_variants_of_spelling() {
        for (fen, text, san) in [
            ("", "Nf3", "Nf3"),
            ("", "g1f3", "Nf3"),
            ("", "Ng1-f3", "Nf3"),
            ("", "nf3", "Nf3"),
            ("", "♘f3", "Nf3"),
            ("", "e2-e4", "e4"),
            ("", "E2E4", "e4"),
            ("", "e4!", "e4"),
            ("", "1. e4", "e4"),
            ("", "1.e4", "e4"),
            ("", "1\u{a0}e4", "e4"),
            (CASTLING, "0-0", "O-O"),
            (CASTLING, "O–O", "O-O"),
            (CASTLING, "o-o-o", "O-O-O"),
            (CASTLING, "e1g1", "O-O"),
            (CASTLING, "e1h1", "O-O"),
            (CASTLING, "Ke1-c1", "O-O-O"),
            (CASTLING, "Rxh8", "Rxh8+"),
            (CASTLING, "Rh8", "Rxh8+"),
            (PROMOTION, "e8Q", "e8=Q+"),
            (PROMOTION, "e8q", "e8=Q+"),
            (PROMOTION, "e8/Q", "e8=Q+"),
            (PROMOTION, "e8 (Q)", "e8=Q+"),
            (PROMOTION, "e7e8n", "e8=N"),
            (PROMOTION, "ed8Q", "exd8=Q+"),
            (PROMOTION, "e7xd8=Q", "exd8=Q+"),
            (EN_PASSANT, "exd6e.p.", "exd6"),
            (EN_PASSANT, "e:d6 e.p.", "exd6"),
            (EN_PASSANT, "ed6", "exd6"),
            (BOTH_CAPTURE, "bxc3", "bxc3"),
            (BOTH_CAPTURE, "bc3", "bxc3"),
            (BOTH_CAPTURE, "Bxc3", "Bxc3"),
            (BOTH_CAPTURE, "bf4", "Bf4"),
            (BOTH_CAPTURE, "b3", "b3"),
        ] {
            assert_eq!(result_of(fen, text), san, "{text}");
        }
    }

    #[test]
    fn lower_case_pieces_must_be_unambiguous() {
        let both = "4k3/8/8/8/1P6/8/4B3/4K3 w - - 0 1";
        assert!(result_of(both, "bb5").contains("could be b5 or Bb5+"), "{}", result_of(both, "bb5"));
        assert_eq!(result_of("4k3/8/8/8/8/8/4B3/4K3 w - - 0 1", "bb5"), "Bb5+");
        let knights = "4k3/8/8/8/8/5N2/8/1N2K3 w - - 0 1";
        assert_eq!(result_of(knights, "nd2"), "'nd2' is ambiguous: it could be Nbd2 or Nfd2");
        assert_eq!(result_of(knights, "nbd2"), "Nbd2");
        assert_eq!(result_of(PAWN_AND_BISHOP, "dxc3"), "dxc3");
    }

    #[test]
    fn letter_of_a_pawn_must_not_mean_a_knight() {
        assert_eq!(result_of("", "Pf3"), "'Pf3' is ambiguous: it could be f3 or Nf3");
        assert_eq!(result_of("", "Pe4"), "e4");
        assert!(result_of("4k3/8/8/8/8/8/8/1N2K3 w - - 0 1", "Pc3").contains("White has no pawn that can go to c3"));
    }

    #[test]
    fn errors_name_the_word_and_the_reason() {
        for (fen, text, part) in [
            ("", "Sf3", "'Sf3' is not a move (expected one such as Nf3"),
            ("", "ed", "'ed' is not a move"),
            ("", "", "'' is not a move"),
            ("", "Nf6", "'Nf6' is not a legal move in this position: White has no knight that can go to f6"),
            ("", "e7e5", "White has no piece on e7"),
            ("", "nf6", "'nf6' is not a legal move in this position: White has no knight that can go to f6"),
            ("", "Ke3", "'Ke3' is not a legal move in this position: White's king cannot go to e3"),
            ("", "Nxf3", "White has no knight that can capture on f3"),
            ("", "exd5", "White has no pawn that can capture on d5"),
            ("", "O-O", "White cannot castle there"),
            ("", "--", "'--' is a null move"),
            (PROMOTION, "e8", "missing promotion piece, as in e8=Q"),
            (EN_PASSANT, "xd6", "'xd6' is not a legal move"),
            (BOTH_CAPTURE, "xc3", "'xc3' is not a legal move"),
        ] {
            let error = result_of(fen, text);
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn parser_reads_chess960_castling_in_every_form() {
        let fen = "bqnbrkr1/pppppppp/5n2/8/8/5N2/PPPPPPPP/BQ1BRKR1 b GEge - 0 2";
        for text in ["O-O", "0-0", "f8g8", "Kf8-g8"] {
            assert_eq!(result_of(fen, text), "O-O", "{text}");
        }
    }

    #[test]
    fn parser_reads_every_legal_move_in_san_and_coordinates() {
        for fen in ["", CASTLING, PROMOTION, EN_PASSANT, BOTH_CAPTURE, PAWN_AND_BISHOP] {
            let position = position(fen);
            for &m in &position.legal_moves() {
                for text in [position.san(m), position.uci(m, false), position.uci(m, true)] {
                    assert_eq!(position.parse_move(&text).ok(), Some(m), "{text}");
                }
            }
        }
    }
}

#[cfg(test)]
mod spelling_tests {
    use super::*;

    #[test]
    fn spellings_are_written_as_san() {
        for (word, san) in [
            ("Nf3", "Nf3"),
            ("Ng1-f3", "Ng1f3"),
            ("N-f3", "Nf3"),
            ("♘f3", "Nf3"),
            ("♞\u{fe0e}f3!", "Nf3"),
            ("e:d5", "exd5"),
            ("ed5:", "exd5"),
            ("ed5", "ed5"),
            ("e×d5", "exd5"),
            ("exd6e.p.", "exd6"),
            ("exd6ep+", "exd6"),
            ("Pe4", "e4"),
            ("♙e4", "e4"),
            ("Qxf7++", "Qxf7"),
            ("Qxf7#!?", "Qxf7"),
            ("Qh5ch", "Qh5"),
            ("e8Q", "e8=Q"),
            ("e8=q", "e8=Q"),
            ("e8/Q", "e8=Q"),
            ("e8(Q)+", "e8=Q"),
            ("e8=♕", "e8=Q"),
            ("fxe8=N", "fxe8=N"),
            ("e7e8q", "e7e8=Q"),
            ("e2-e4", "e2e4"),
            ("e2–e4", "e2e4"),
            ("O-O", "O-O"),
            ("0-0-0+", "O-O-O"),
            ("o–o", "O-O"),
            ("O—O−O", "O-O-O"),
            ("OO", "O-O"),
            ("--", "--"),
            ("Z0", "--"),
            ("null", "--"),
            ("@@@@", "--"),
        ] {
            let spelling = Spelling::parse(word);
            assert_eq!(spelling.map(|s| s.to_string()).as_deref(), Some(san), "{word}");
        }
    }

    #[test]
    fn parse_rejects_other_words() {
        for word in [
            "", "Sf3", "Lc4", "Dxf7", "ed", "e", "e9", "i4", "Nf", "N", "nf3", "E4", "e8=K", "e8=", "e4e", "O-",
            "O-O-", "0", "1-0", "e2e4e5", "+", "hello", "♘", "é4", "exd", "e-", "-e4e",
        ] {
            assert_eq!(Spelling::parse(word), None, "{word}");
        }
    }

    #[test]
    fn parse_careless_returns_every_reading() {
        let readings = |word| -> Vec<String> { Spelling::parse_careless(word).map(|s| s.to_string()).collect() };
        assert!(readings("nf3").contains(&"Nf3".to_owned()));
        assert!(readings("E2E4").contains(&"e2e4".to_owned()));
        assert!(readings("bxc3").contains(&"Bxc3".to_owned()));
        assert!(readings("Sf3").is_empty() && readings("DXC4").is_empty());
    }
}
