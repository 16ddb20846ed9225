//! The syntax of a written move: SAN, coordinates, and their usual variants.

use std::borrow::Cow;
use std::fmt;

use shakmaty::san::San;
use shakmaty::{CastlingSide, File, Rank, Role, Square};

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
