//! Boards as pictures, in SVG (squares, pieces, arrows), and in words.

use std::fmt::Write;

use crate::board::{Color, Move, Position, Role, Square};

/// The shapes of the pieces on squares of 45: one group a line, named as in SAN with the colour before it.
// CITE: Colin M. L. Burnett's pieces (GPL-2.0-or-later), as in chessground 10, which the web page uses.
const SHAPES: &str = include_str!("pieces.svg");
/// Side of a square.
const SIDE: i32 = 45;

/// View of a board.
#[derive(Clone, Debug, Default)]
pub(crate) struct BoardView {
    /// Whether Black is at the bottom.
    pub flipped: bool,
    /// Arrows with their class: `played` or `best`.
    pub arrows: Vec<(Square, Square, &'static str)>,
}

/// A standalone picture.
pub(crate) fn picture(position: &Position, view: &BoardView) -> String {
    let style = "<style>.light{fill:#ebe8dc}.dark{fill:#84a294}.on-light{fill:#3f5a4e}.on-dark{fill:#14241d}\
                 .played{stroke:#b4493a;fill:#b4493a}.best{stroke:#2f7d63;fill:#2f7d63}</style>";
    board(position, view, &format!("{style}<defs>{}</defs>", definitions()))
}

/// A board whose pieces and styles are defined elsewhere on the page.
pub(crate) fn diagram(position: &Position, view: &BoardView) -> String {
    board(position, view, "")
}

fn board(position: &Position, view: &BoardView, head: &str) -> String {
    let whole = 8 * SIDE;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"board\" viewBox=\"0 0 {whole} {whole}\" role=\"img\" \
         aria-label=\"{}\">{head}",
        board_in_words(position)
    );
    for square in Square::ALL {
        squares(&mut svg, square, view);
    }
    for square in position.occupied() {
        let Some(piece) = position.piece_at(square) else {
            continue;
        };
        let (x, y) = corner(square, view);
        let name = id(piece.color, piece.role);
        let _ = write!(svg, "<use href=\"#{name}\" x=\"{x}\" y=\"{y}\"/>");
    }
    for &(from, to, class) in &view.arrows {
        arrow(&mut svg, middle(from, view), middle(to, view), class);
    }
    svg + "</svg>"
}

/// A square, with a coordinate at the left and lower edge.
fn squares(svg: &mut String, square: Square, view: &BoardView) {
    let (x, y) = corner(square, view);
    let shade = if square.is_light() { "light" } else { "dark" };
    let _ = write!(svg, "<rect class=\"{shade}\" x=\"{x}\" y=\"{y}\" width=\"{SIDE}\" height=\"{SIDE}\"/>");
    let mut name = |x: i32, y: i32, text: char| {
        let _ = write!(
            svg,
            "<text class=\"on-{shade}\" x=\"{x}\" y=\"{y}\" font-size=\"9\" font-family=\"sans-serif\">{text}</text>"
        );
    };
    if x == 0 {
        name(2, y + 9, square.rank().char());
    }
    if y == 7 * SIDE {
        name(x + SIDE - 7, 8 * SIDE - 3, square.file().char());
    }
}

/// The shapes of both colours under their names, as `wN`.
pub(crate) fn definitions() -> &'static str {
    SHAPES
}

/// The name of a piece's shape.
fn id(color: Color, role: Role) -> String {
    format!("{}{}", color.fold_wb('w', 'b'), role.upper_char())
}

/// The upper left corner of a square.
fn corner(square: Square, view: &BoardView) -> (i32, i32) {
    let (file, rank) = (square.file() as i32, square.rank() as i32);
    let (column, row) = if view.flipped { (7 - file, rank) } else { (file, 7 - rank) };
    (column * SIDE, row * SIDE)
}

/// A point of the picture.
#[derive(Clone, Copy)]
struct Point {
    x: f64,
    y: f64,
}

fn middle(square: Square, view: &BoardView) -> Point {
    let (x, y) = corner(square, view);
    let half = f64::from(SIDE) / 2.0;
    Point { x: f64::from(x) + half, y: f64::from(y) + half }
}

/// A line with a head.
fn arrow(svg: &mut String, from: Point, to: Point, class: &str) {
    let (dx, dy) = (to.x - from.x, to.y - from.y);
    let length = dx.hypot(dy).max(1.0);
    let (ux, uy) = (dx / length, dy / length);
    let base = Point { x: to.x - 14.0 * ux, y: to.y - 14.0 * uy };
    let _ = write!(
        svg,
        "<g class=\"{class}\" opacity=\"0.75\" stroke-width=\"0\"><path stroke-width=\"5\" \
         d=\"M{:.1} {:.1}L{:.1} {:.1}\"/><path d=\"M{:.1} {:.1}L{:.1} {:.1}L{:.1} {:.1}Z\"/></g>",
        from.x + 8.0 * ux,
        from.y + 8.0 * uy,
        base.x,
        base.y,
        to.x - 2.0 * ux,
        to.y - 2.0 * uy,
        base.x - 8.0 * uy,
        base.y + 8.0 * ux,
        base.x + 8.0 * uy,
        base.y - 8.0 * ux,
    );
}

/// Start and end of the arrow for a move; for castling, it ends at the king's destination.
pub(crate) fn ends(position: &Position, m: Move) -> (Square, Square) {
    if !position.is_castling(m) {
        return (m.from(), m.to());
    }
    let mut reached = position.clone();
    reached.do_move(m);
    (m.from(), reached.king(position.turn()))
}

// Moves and boards in words, for screen readers.

const ROLES: [(Role, &str, &str); 6] = [
    (Role::King, "king", "kings"),
    (Role::Queen, "queen", "queens"),
    (Role::Rook, "rook", "rooks"),
    (Role::Bishop, "bishop", "bishops"),
    (Role::Knight, "knight", "knights"),
    (Role::Pawn, "pawn", "pawns"),
];

/// A move in words: `Nbxd7+` as `knight b takes d7, check`.
pub(super) fn move_in_words(san: &str) -> String {
    let bare = san.trim_end_matches(['+', '#']);
    let mut text = match bare {
        "O-O" => "castles kingside".to_owned(),
        "O-O-O" => "castles queenside".to_owned(),
        _ => bare.chars().map(part_in_words).collect(),
    };
    text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match san.chars().last() {
        Some('+') => text + ", check",
        Some('#') => text + ", checkmate",
        _ => text,
    }
}

fn part_in_words(c: char) -> String {
    match c {
        'x' => " takes ".to_owned(),
        '=' => " promotes to ".to_owned(),
        c if c.is_ascii_uppercase() => {
            let role = ROLES.iter().find(|(role, ..)| role.upper_char() == c);
            role.map_or_else(String::new, |(_, name, _)| format!("{name} "))
        }
        c => c.to_string(),
    }
}

/// A board in words: `White: king e1, pawns a2 b2. Black: king e8. White to move.`
pub(super) fn board_in_words(position: &Position) -> String {
    let side = |color: Color| {
        let groups: Vec<String> = ROLES
            .iter()
            .filter_map(|&(role, one, many)| {
                let set = position.by_role(role) & position.by_color(color);
                let squares: Vec<String> = set.into_iter().map(|s| s.to_string()).collect();
                let name = if squares.len() == 1 { one } else { many };
                (!squares.is_empty()).then(|| format!("{name} {}", squares.join(" ")))
            })
            .collect();
        groups.join(", ")
    };
    format!(
        "White: {}. Black: {}. {} to move.",
        side(Color::White),
        side(Color::Black),
        position.turn().fold_wb("White", "Black")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::analyst::tests::position;

    #[test]
    fn every_piece_is_drawn_where_it_stands() {
        let start = Position::startpos();
        let svg = picture(&start, &BoardView::default());
        assert_eq!(svg.matches("<use ").count(), 32);
        assert!(svg.contains("<use href=\"#wK\" x=\"180\" y=\"315\"/>"), "{svg}");
        for name in ["wP", "wN", "wB", "wR", "wQ", "wK", "bP", "bN", "bB", "bR", "bQ", "bK"] {
            assert!(svg.contains(&format!("id=\"{name}\"")), "{name} has no shape");
        }
        let view = BoardView { flipped: true, arrows: vec![(Square::E2, Square::E4, "best")] };
        let flipped = diagram(&start, &view);
        assert!(flipped.contains("<use href=\"#wK\" x=\"135\" y=\"0\"/>"), "{flipped}");
        assert_eq!(flipped.matches("class=\"best\"").count(), 1);
        assert!(!flipped.contains("<defs>"));
    }

    #[test]
    fn castling_points_to_the_square_of_the_king() {
        let position = position("4k3/8/8/8/8/8/8/4K2R w K - 0 1");
        let m = position.parse_san("O-O").expect("legal");
        assert_eq!(ends(&position, m), (Square::E1, Square::G1));
    }
}

#[cfg(test)]
mod spoken_tests {
    use super::*;
    use crate::review::analyst::tests::position;

    #[test]
    fn moves_are_spoken_in_words() {
        for (san, words) in [
            ("e4", "e4"),
            ("Nbxd7+", "knight b takes d7, check"),
            ("exd8=Q#", "e takes d8 promotes to queen, checkmate"),
            ("O-O-O+", "castles queenside, check"),
            ("R1a3", "rook 1a3"),
        ] {
            assert_eq!(move_in_words(san), words);
        }
    }

    #[test]
    fn boards_are_spoken_side_by_side() {
        let board = position("4k3/8/8/8/8/8/PP6/4K3 b - - 0 1");
        assert_eq!(board_in_words(&board), "White: king e1, pawns a2 b2. Black: king e8. Black to move.");
    }
}
