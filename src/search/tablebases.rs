//! What the search does with tablebases: classes of results, the choice of root moves, and variations to mate.

use std::sync::Arc;
use std::time::Instant;

use super::limits::SearchOptions;
use super::request::SearchRequest;
use super::score::{DRAW, TB_WIN, Value};
use super::syzygy::{Syzygy, Wdl};
use crate::board::{Color, Move, Position, Role};

/// Class of a win that the 50-move rule does not spoil.
const WIN: i32 = 2;

/// Class of a distance to zeroing `dtz`: win 2, win spoilt by the 50-move rule 1, draw 0; negative for losses.
fn class(dtz: i32, halfmoves: i32, rule: bool) -> i32 {
    let in_time = !rule || dtz.abs() + halfmoves <= 100;
    dtz.signum() * if in_time { WIN } else { 1 }
}

/// Class of the position for the side to move; `None` if no table contains it.
fn class_of(tables: &Syzygy, position: &Position, options: &SearchOptions) -> Option<i32> {
    let max_pieces = tables.max_pieces().min(options.syzygy_probe_limit);
    if position.occupied().count() > max_pieces || position.has_castling_rights() {
        return None;
    }
    let dtz = tables.dtz(position)?;
    Some(class(dtz, position.halfmoves() as i32, options.syzygy_50_move_rule))
}

/// Plies to the next capture or pawn move that keeps the result, for the side that makes `m`: positive for a win, 0
/// for a draw; `None` if a table is missing.
fn dtz_after(tables: &Syzygy, position: &mut Position, m: Move) -> Option<i32> {
    let zeroing = position.is_capture(m) || position.moved_piece(m).role == Role::Pawn;
    position.do_move(m);
    let dtz = if position.in_check() && position.legal_moves().is_empty() {
        Some(1)
    } else if zeroing {
        tables.wdl(position).map(|wdl| match wdl {
            Wdl::Loss => 1,
            Wdl::BlessedLoss => 101,
            Wdl::Draw => 0,
            Wdl::CursedWin => -101,
            Wdl::Win => -1,
        })
    } else {
        tables.dtz(position).map(|dtz| -dtz).map(|dtz| dtz + dtz.signum())
    };
    position.undo_move();
    dtz
}

/// Class of the position after `m`, for the side that made it, from the WDL table alone: without the halfmove clock.
fn wdl_class_after(tables: &Syzygy, position: &mut Position, m: Move, rule: bool) -> Option<i32> {
    position.do_move(m);
    let wdl = tables.wdl(position);
    position.undo_move();
    let spoilt = if rule { 1 } else { WIN };
    Some(match wdl? {
        Wdl::Loss => WIN,
        Wdl::BlessedLoss => spoilt,
        Wdl::Draw => 0,
        Wdl::CursedWin => -spoilt,
        Wdl::Win => -WIN,
    })
}

// The root moves.

/// Rank of a root move, and its value by the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RankedMove {
    /// The higher, the better.
    rank: i32,
    /// A win, loss or draw.
    value: Value,
}

/// The root moves as the tables rank them.
struct RootRanking {
    /// One entry for each move, in their order.
    moves: Vec<RankedMove>,
    /// Whether the search below the root need not probe the tables: they have distances, or there is nothing to win.
    decides: bool,
}

impl SearchRequest {
    /// Uses the tables in this search and ranks the root moves by their results.
    pub fn use_tablebases(&mut self, tables: Arc<Syzygy>) {
        let moves: Vec<Move> = self.root_moves.iter().map(|root| root.m).collect();
        if let Some(ranking) = rank_root_moves(&tables, &self.position, &self.options, &moves) {
            for (root, ranked) in self.root_moves.iter_mut().zip(ranking.moves) {
                (root.rank, root.tb_value) = (ranked.rank, Some(ranked.value));
            }
            self.sort_by_rank();
            self.root_in_tb = ranking.decides;
        }
        self.syzygy = Some(tables);
    }
}

/// Ranks `moves` by the result that they keep; `None` if the tables do not contain each of them. All winning moves have
/// the same rank, because the search finds mates, while the tables contain only the distance to the next capture or
/// pawn move. That distance ranks them where it decides ([`distance_counts`]), and where the 50-move limit is near.
/// Without DTZ tables the WDL tables rank the moves.
// CITE: ranking root moves by tablebases, by DTZ or else by WDL tables: Stockfish; the rule for winning moves is ours.
fn rank_root_moves(
    tables: &Syzygy,
    position: &Position,
    options: &SearchOptions,
    moves: &[Move],
) -> Option<RootRanking> {
    let max_pieces = tables.max_pieces().min(options.syzygy_probe_limit);
    if position.occupied().count() > max_pieces || position.has_castling_rights() || moves.is_empty() {
        return None;
    }
    let rule = options.syzygy_50_move_rule;
    let mut after = position.clone();
    let distances: Option<Vec<i32>> = moves.iter().map(|&m| dtz_after(tables, &mut after, m)).collect();
    if let Some(distances) = distances {
        let moves = rank_by_distance(position, options, &distances);
        return Some(RootRanking { moves, decides: true });
    }
    let classes: Option<Vec<i32>> = moves.iter().map(|&m| wdl_class_after(tables, &mut after, m, rule)).collect();
    let moves: Vec<_> = classes?.into_iter().map(|class| RankedMove { rank: class, value: value_of(class) }).collect();
    let decides = moves.iter().all(|ranked| ranked.rank <= 0);
    Some(RootRanking { moves, decides })
}

/// Ranks of moves with these distances to the next capture or pawn move.
fn rank_by_distance(position: &Position, options: &SearchOptions, distances: &[i32]) -> Vec<RankedMove> {
    let halfmoves = position.halfmoves() as i32;
    let class_of = |dtz| class(dtz, halfmoves, options.syzygy_50_move_rule);
    let best = distances.iter().map(|&dtz| class_of(dtz)).max().unwrap_or(0);
    let fastest = distances.iter().copied().filter(|&dtz| class_of(dtz) == best).min().unwrap_or(0);
    let limit_is_near = fastest + halfmoves > 70 || position.is_repetition(1);
    let by_distance = limit_is_near || (options.multi_pv == 1 && distance_counts(position));
    let rank = |dtz: i32| {
        let class = class_of(dtz);
        // Distances are far below 10,000 plies.
        class * 10_000 - if by_distance && class == WIN { dtz } else { 0 }
    };
    distances.iter().map(|&dtz| RankedMove { rank: rank(dtz), value: value_of(class_of(dtz)) }).collect()
}

/// Whether the shortest way to the next capture or pawn move is also the shortest, or nearly the shortest, way to
/// mate.
///
/// The tables also count the loser's captures. So a side with an extra piece resets the counter fastest by giving that
/// piece away. Without an extra piece against a lone king, only mate resets the counter, or a pawn move, which a
/// promotion needs. Against a lone piece, the capture of that piece resets it, and the rest of the win is simple.
// CITE: our own rule; its measurements are in `docs/experiments.md`.
fn distance_counts(position: &Position) -> bool {
    let us = position.by_color(position.turn());
    let pawns = position.by_role(Role::Pawn).any();
    let majors = us & (position.by_role(Role::Queen) | position.by_role(Role::Rook));
    let no_extra_piece = match majors.count() {
        0 => pawns || us.count() == 3,
        _ => us.count() == 2,
    };
    match position.by_color(!position.turn()).count() {
        1 => no_extra_piece,
        2 => no_extra_piece && !pawns,
        _ => false,
    }
}

fn value_of(class: i32) -> Value {
    match class {
        2 => TB_WIN - 1,
        -2 => 1 - TB_WIN,
        other => DRAW + other,
    }
}

// Variations.
//
// Extension of principal variations of tablebase wins to mate.
//
// The search and its variations stop at positions in the tablebases. The extension shows how the win is played out.
// CITE: Stockfish's syzygy_extend_pv (2024; idea).

/// Maximum length of a variation, in plies: more than any win with up to seven pieces takes between zeroing moves.
const MAX_PLIES: usize = 600;

/// Extends the variation to mate, until `deadline`. From the first position in the tables on, replaces moves of the
/// search that change the result. The first move is always kept.
pub fn extend_to_mate(
    tables: &Syzygy,
    root: &Position,
    options: &SearchOptions,
    pv: &mut Vec<Move>,
    deadline: Instant,
) {
    let mut position = root.clone();
    let mut winner: Option<Color> = None;
    let mut kept = 0;
    for &m in pv.iter() {
        if !(position.pseudo_legal(m) && position.legal(m)) {
            break;
        }
        position.do_move(m);
        match known_result(tables, &mut position, options) {
            KnownResult::Unknown => {}
            KnownResult::Win(side) if winner.is_none_or(|winner| winner == side) => winner = Some(side),
            KnownResult::Win(_) | KnownResult::Draw => break,
        }
        kept += 1;
    }
    let Some(winner) = winner else {
        return;
    };
    if kept < pv.len() {
        pv.truncate(kept);
        position = root.clone();
        for &m in pv.iter() {
            position.do_move(m);
        }
    }
    while pv.len() < MAX_PLIES && Instant::now() < deadline {
        let Some(m) = best_move(tables, &mut position, options, winner) else {
            break;
        };
        position.do_move(m);
        pv.push(m);
    }
}

/// Result of a position according to the rules and the tables.
enum KnownResult {
    /// No table contains the position.
    Unknown,
    Draw,
    Win(Color),
}

fn known_result(tables: &Syzygy, position: &mut Position, options: &SearchOptions) -> KnownResult {
    let turn = position.turn();
    if position.legal_moves().is_empty() {
        return if position.in_check() { KnownResult::Win(!turn) } else { KnownResult::Draw };
    }
    match class_of(tables, position, options) {
        None => KnownResult::Unknown,
        Some(WIN) => KnownResult::Win(turn),
        Some(class) if class == -WIN => KnownResult::Win(!turn),
        Some(_) => KnownResult::Draw,
    }
}

/// The move that minimises the distance to the winner's next capture, pawn move or mate; for the loser, the move that
/// maximises it. `None` if the game is over or the tables contradict each other.
fn best_move(tables: &Syzygy, position: &mut Position, options: &SearchOptions, winner: Color) -> Option<Move> {
    let winning = position.turn() == winner;
    let left = if options.syzygy_50_move_rule { 100_i32.checked_sub_unsigned(position.halfmoves())? } else { i32::MAX };
    let mut best = None;
    let mut min_rank = i32::MAX;
    let moves = position.legal_moves();
    for &m in moves.iter() {
        let dtz = dtz_after(tables, position, m)?;
        let rank = if winning && dtz == 1 && mates(position, m) { 0 } else { dtz };
        let keeps_result = if winning { dtz > 0 && dtz <= left } else { dtz < 0 };
        if !winning && !keeps_result {
            return None;
        }
        if keeps_result && (best.is_none() || rank < min_rank) {
            (best, min_rank) = (Some(m), rank);
        }
    }
    best
}

fn mates(position: &mut Position, m: Move) -> bool {
    position.do_move(m);
    let mated = position.in_check() && position.legal_moves().is_empty();
    position.undo_move();
    mated
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_depends_on_the_50_move_rule() {
        assert_eq!(class(12, 0, true), 2);
        assert_eq!(class(60, 50, true), 1);
        assert_eq!(class(60, 50, false), 2);
        assert_eq!(class(-101, 0, true), -1);
        assert_eq!(class(0, 30, true), 0);
    }

    /// The tables of the tests.
    #[cfg(feature = "full")]
    fn tables() -> Syzygy {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/syzygy");
        Syzygy::open(&folder.to_string_lossy()).expect("tables").0
    }

    /// Ranks of the legal moves of a position, best first, and whether they decide.
    #[cfg(feature = "full")]
    fn ranking(tables: &Syzygy, fen: &str, multi_pv: usize) -> (Vec<i32>, bool) {
        let position = crate::search::tests::position(fen);
        let moves: Vec<Move> = position.legal_moves().iter().copied().collect();
        let options = SearchOptions { multi_pv, ..SearchOptions::default() };
        let ranking = rank_root_moves(tables, &position, &options, &moves).expect(fen);
        let mut ranks: Vec<i32> = ranking.moves.iter().map(|ranked| ranked.rank / 10_000).collect();
        ranks.sort_unstable_by_key(|&rank| std::cmp::Reverse(rank));
        (ranks, ranking.decides)
    }

    #[cfg(feature = "full")]
    #[test]
    fn every_root_move_has_a_rank_by_its_result() {
        // One move gives the rook away, the others keep the win.
        let (ranks, decides) = ranking(&tables(), "8/8/8/8/8/2k5/1R6/K7 w - - 0 1", 60);
        assert!(decides);
        assert!(ranks.contains(&0) && ranks.contains(&2), "{ranks:?}");
    }
}
