//! Values of pieces in pawns, as in textbooks, for levels and reviews. The search has values of its own.

use super::{Color, Position, Role};

/// Value of a king where pieces are compared, in pawns: more than all other pieces together.
const KING: i32 = 100;

/// Value of a piece in pawns, bishop and knight equal; 0 for a king.
pub(crate) fn piece_value(role: Role) -> i32 {
    match role {
        Role::Pawn => 1,
        Role::Knight | Role::Bishop => 3,
        Role::Rook => 5,
        Role::Queen => 9,
        Role::King => 0,
    }
}

/// Value of a piece in comparisons of attackers and targets, in pawns: a king is the most valuable.
pub(crate) fn value_as_target(role: Role) -> i32 {
    if role == Role::King { KING } else { piece_value(role) }
}

/// Material of one side in pawns.
pub(crate) fn material(position: &Position, color: Color) -> i32 {
    Role::ALL.map(|role| piece_value(role) * position.pieces(color, role).count() as i32).iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_side_has_39_pawns_of_material_at_the_start() {
        let start = Position::startpos();
        assert_eq!([Color::White, Color::Black].map(|color| material(&start, color)), [39, 39]);
    }

    #[test]
    fn a_king_counts_nothing_as_material_and_most_as_a_target() {
        assert_eq!(piece_value(Role::King), 0);
        assert!(Role::ALL.iter().all(|&role| value_as_target(role) <= value_as_target(Role::King)));
    }
}
