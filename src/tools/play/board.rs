//! The board as text: letters, or figures on coloured squares with the last move and a check, if the terminal can show
//! them.

use crate::board::{Move, Position, Role, Square};

/// How the board is drawn.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Look {
    /// Whether Black is at the bottom.
    pub flipped: bool,
    /// Whether the terminal has colours.
    pub colour: bool,
    /// Whether the terminal has the figures of Unicode.
    pub figures: bool,
}

/// Backgrounds of a light and a dark square, in the palette of 256 colours.
const PLAIN: [u8; 2] = [180, 137];
/// Backgrounds of the last move's squares.
const LAST: [u8; 2] = [186, 143];
/// Background of a king in check.
const CHECK: u8 = 203;

/// Whether the environment says that text is in UTF-8.
pub(super) fn has_figures() -> bool {
    // CITE: POSIX: the first of these that is set and not empty counts.
    let set = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(std::env::var_os).find(|value| !value.is_empty());
    let name = set.unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    name.contains("utf-8") || name.contains("utf8")
}

/// The board with its coordinates.
pub(super) fn drawn(position: &Position, last: Option<Move>, look: Look) -> String {
    let mut text = String::from("\n");
    for rank in 0..8 {
        let rank = if look.flipped { rank } else { 7 - rank };
        text.push_str(&format!(" {}{}", rank + 1, if look.colour { " " } else { "" }));
        for file in 0..8 {
            let file = if look.flipped { 7 - file } else { file };
            let square = Square::new(8 * rank + file);
            if look.colour {
                text.push_str(&coloured(position, square, last, look.figures));
            } else {
                text.push(' ');
                text.push(position.piece_at(square).map_or('.', |piece| piece.char()));
            }
        }
        text.push_str(if look.colour { "\x1b[0m\n" } else { "\n" });
    }
    text.push_str(if look.flipped { "   h g f e d c b a\n\n" } else { "   a b c d e f g h\n\n" });
    text
}

/// A square with its background: two columns.
fn coloured(position: &Position, square: Square, last: Option<Move>, figures: bool) -> String {
    let shade = usize::from((u32::from(square.file()) + u32::from(square.rank())).is_multiple_of(2));
    let in_check = position.in_check() && square == position.king(position.turn());
    let moved = last.is_some_and(|m| square == m.from() || square == m.to());
    let background = match (in_check, moved) {
        (true, _) => CHECK,
        (false, true) => LAST[shade],
        (false, false) => PLAIN[shade],
    };
    let Some(piece) = position.piece_at(square) else {
        return format!("\x1b[48;5;{background}m  ");
    };
    let glyph = if figures { figure(piece.role) } else { piece.char() };
    let foreground = piece.color.fold_wb("1;38;5;231", "22;38;5;16");
    format!("\x1b[{foreground};48;5;{background}m{glyph} ")
}

/// The filled figure; the colour of the text distinguishes the sides.
fn figure(role: Role) -> char {
    match role {
        Role::Pawn => '♟',
        Role::Knight => '♞',
        Role::Bishop => '♝',
        Role::Rook => '♜',
        Role::Queen => '♛',
        Role::King => '♚',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(moves: &[&str]) -> (Position, Option<Move>) {
        let mut position = Position::startpos();
        let mut last = None;
        for san in moves {
            let m = position.parse_san(san).expect(san);
            position.do_move(m);
            last = Some(m);
        }
        (position, last)
    }

    #[test]
    fn plain_board_has_letters_only() {
        let (position, last) = after(&["e4"]);
        let text = drawn(&position, last, Look { flipped: true, ..Look::default() });
        assert!(text.starts_with("\n 1 R N B K Q B N R\n 2 P P P . P P P P\n"), "{text}");
        assert!(text.ends_with(" 8 r n b k q b n r\n   h g f e d c b a\n\n"), "{text}");
    }

    #[test]
    fn coloured_board_shows_last_move_and_check() {
        let (position, last) = after(&["f3", "e5", "g4", "Qh4#"]);
        let text = drawn(&position, last, Look { colour: true, figures: true, flipped: false });
        let lines: Vec<&str> = text.lines().collect();
        // The queen came from d8 to h4; the king on e1 is in check.
        assert!(lines[1].contains("\x1b[48;5;143m  "), "{text}");
        assert!(lines[5].contains("\x1b[22;38;5;16;48;5;143m♛ "), "{text}");
        assert!(lines[8].contains("\x1b[1;38;5;231;48;5;203m♚ "), "{text}");
        assert_eq!(text.matches(";203m").count(), 1);
        assert_eq!(text.matches(";143m").count() + text.matches(";186m").count(), 2);
        assert!(lines[1..9].iter().all(|line| line.ends_with("\x1b[0m")), "{text}");
    }
}
