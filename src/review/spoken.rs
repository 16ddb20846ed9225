//! Moves and boards in words, for screen readers.

use crate::board::{Color, Position, Role};

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
