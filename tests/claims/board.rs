//! Board for the checks, from shakmaty: it shares no code with the engine's own.

use serde_json::Value;
use shakmaty::fen::Fen;
use shakmaty::san::SanPlus;
use shakmaty::uci::UciMove;
use shakmaty::{Bitboard, CastlingMode, Chess, Color, Position, Role, Square};

/// The position of a FEN.
pub fn position(fen: &str) -> Option<Chess> {
    fen.parse::<Fen>().ok()?.into_position(CastlingMode::Standard).ok()
}

/// Plays the line of a claim or of a better move. Returns its positions, or an error for the first illegal move.
pub fn walk(start: &Chess, line: &Value) -> Result<Vec<Chess>, String> {
    let words = |key: &str| -> Vec<String> {
        let list = line[key].as_array().cloned().unwrap_or_default();
        list.iter().filter_map(|word| word.as_str().map(str::to_owned)).collect()
    };
    let (uci, san) = (words("uci"), words("san"));
    if uci.len() != san.len() {
        return Err(format!("{uci:?} and {san:?} differ in length"));
    }
    let mut positions = vec![start.clone()];
    for (uci, san) in uci.iter().zip(&san) {
        let now = positions[positions.len() - 1].clone();
        let parsed: UciMove = uci.parse().map_err(|_| format!("{uci} is not UCI"))?;
        let m = parsed.to_move(&now).map_err(|_| format!("{uci} is not legal"))?;
        let own = SanPlus::from_move(now.clone(), m).to_string();
        if own != *san {
            return Err(format!("{uci} is {own}, not {san}"));
        }
        positions.push(now.play(m).map_err(|_| format!("{uci} is not legal"))?);
    }
    Ok(positions)
}

/// A role by its English name.
pub fn role(name: &str) -> Option<Role> {
    let names = ["pawn", "knight", "bishop", "rook", "queen", "king"];
    names.iter().position(|known| *known == name).map(|i| Role::ALL[i])
}

/// Role and square of a piece in JSON.
pub fn man(value: &Value) -> Option<(Role, Square)> {
    let square = value["square"].as_str()?.parse().ok()?;
    Some((role(value["role"].as_str()?)?, square))
}

/// Whether the square has a piece of this kind and colour.
pub fn stands(position: &Chess, (role, square): (Role, Square), color: Color) -> bool {
    position.board().piece_at(square) == Some(role.of(color))
}

/// Squares that the piece on a square attacks.
pub fn attacks(position: &Chess, square: Square) -> Bitboard {
    position.board().attacks_from(square)
}

/// Whether the second square lies strictly between the first and the third, with nothing else between them.
pub fn in_line(position: &Chess, from: Square, middle: Square, to: Square) -> bool {
    let between = shakmaty::attacks::between(from, to) & position.board().occupied();
    between == Bitboard::from(middle)
}

/// Difference in the numbers of pieces between a side and its opponent: queens, rooks, bishops and knights together,
/// pawns.
pub fn balance(position: &Chess, color: Color) -> [i32; 4] {
    let count = |role: Role| {
        let of = |color| (position.board().by_role(role) & position.board().by_color(color)).count();
        of(color) as i32 - of(!color) as i32
    };
    [count(Role::Queen), count(Role::Rook), count(Role::Bishop) + count(Role::Knight), count(Role::Pawn)]
}

/// Whether the side to move can force mate in this number of moves.
pub fn mates_in(position: &Chess, moves: u32) -> bool {
    position.legal_moves().into_iter().any(|m| {
        let Ok(after) = position.clone().play(m) else {
            return false;
        };
        if after.is_checkmate() {
            return true;
        }
        let answers = after.legal_moves();
        moves > 1
            && !answers.is_empty()
            && answers.into_iter().all(|answer| after.clone().play(answer).is_ok_and(|next| mates_in(&next, moves - 1)))
    })
}

/// Whether a move in SAN is legal.
pub fn is_legal(position: &Chess, san: &str) -> bool {
    let parsed: Result<SanPlus, _> = san.parse();
    parsed.is_ok_and(|san| san.san.to_move(position).is_ok())
}
