//! Positions of random games, for tests and for the self-test of a graphics card.

use shakmaty::{Chess, Position};

use super::active::record_of;
use crate::data::Record;
use crate::util::rng::SplitMix64;

/// Returns positions of random games of a hundred plies, labelled with their material.
pub fn positions(count: usize) -> Vec<Record> {
    let mut rng = SplitMix64::new(11);
    let mut game = Chess::default();
    let mut records = Vec::new();
    while records.len() < count {
        let moves = game.legal_moves();
        if moves.is_empty() || game.fullmoves().get() > 50 {
            game = Chess::default();
            continue;
        }
        game.play_unchecked(moves[rng.below(moves.len())]);
        let score = material(&game);
        let mut record = record_of(game.board(), game.turn().is_black());
        record.score = score.clamp(-3000, 3000) as i16;
        record.result = score.signum() as i8;
        records.push(record);
    }
    records
}

/// Returns the material balance from the side to move's view.
fn material(game: &Chess) -> i32 {
    let value = |piece: shakmaty::Piece| {
        let size = [0, 200, 800, 850, 1300, 2500, 0][piece.role as usize];
        if piece.color == game.turn() { size } else { -size }
    };
    game.board().iter().map(|(_, piece)| value(piece)).sum()
}
