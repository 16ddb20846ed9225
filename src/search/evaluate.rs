//! The static evaluation: from the network's output to the value that the search uses, and the values of draws.

use super::request::RootMove;
use super::score::{self, DRAW, NONE, Value, clamp_eval, is_loss, is_win, piece_value};
use super::worker::Worker;
use super::{history, params, tt};
use crate::board::{self, Bitboard, Color, Position, Role, Square};

/// The network's output scaled by material and clamped below every proven result.
///
/// More material means a larger factor, because a given advantage is easier to win with pieces on the board.
// CITE: form and figures (720, material / 32): Stockfish of September to November 2020, whose net format was the first
// that this engine read.
#[inline]
pub(crate) fn scaled(position: &Position, raw: Value) -> Value {
    let value = i64::from(raw) * i64::from(material_scale(position)) / 1024;
    clamp_eval(value.clamp(-30_000, 30_000) as Value)
}

/// The value of a search in units of the network's output: without the factor of [`scaled`]. Proven results are
/// unchanged.
pub(crate) fn unscaled(position: &Position, value: Value) -> Value {
    if score::is_decisive(value) {
        return value;
    }
    let raw = i64::from(value) * 1024 / i64::from(material_scale(position));
    clamp_eval(raw.clamp(-30_000, 30_000) as Value)
}

/// The factor for the network's output, in parts of 1024.
#[inline]
fn material_scale(position: &Position) -> Value {
    let material: Value =
        Role::ALL.map(|role| piece_value(role) * position.by_role(role).count() as Value).iter().sum();
    params::eval_base() + material / params::eval_material_div()
}

impl Worker {
    /// The static evaluation of the position for the side to move, without corrections.
    pub fn evaluate(&mut self) -> Value {
        let raw = self.accumulators.evaluate(&self.position).value();
        if let Some(sampler) = &mut self.sampler {
            sampler.evaluated(&self.position, raw);
        }
        let value = lone_king_value(&self.position).unwrap_or_else(|| scaled(&self.position, raw));
        match &self.request.handicap {
            None => value,
            Some(handicap) => clamp_eval(handicap.evaluate(&self.position, value)),
        }
    }

    /// Value of the position for the side to move, without a search: the result if the game is over, else the
    /// evaluation.
    pub fn static_value(&mut self) -> Value {
        if self.position.legal_moves().is_empty() {
            return if self.position.in_check() { score::mated_in(self.stack.ply()) } else { DRAW };
        }
        if self.position.is_draw(self.stack.ply()) {
            return DRAW;
        }
        self.evaluate()
    }

    /// The static evaluation as used by the search: corrected by the correction histories, and damped as the 50-move
    /// counter rises.
    // CITE: damping by the counter: Stockfish, figure of 17 and 17.1.
    pub fn corrected(&self, eval: Value, correction: Value) -> Value {
        if self.draws_by_fifty() {
            return DRAW;
        }
        let fading = eval - eval * self.position.halfmoves().min(100) as Value / params::eval_fade_div();
        history::corrected(fading, correction)
    }

    /// Value of a draw, dithered by one unit, so that the search does not always prefer the first of many drawn lines.
    /// In analysis mode, and where all other lines are also draws, a draw is exactly 0.
    // CITE: Stockfish (2018).
    #[inline]
    pub fn draw_value(&self) -> Value {
        if self.request.options.analyse_mode || self.draws_by_fifty() {
            return DRAW;
        }
        DRAW - 1 + (self.nodes & 2) as Value
    }
}

// The 50-move limit.
//
// The 50-move limit within reach of the search.
//
// Without pawns, only a capture resets the halfmove clock. Once the search is deep enough to reach the limit, every
// line without an earlier capture or mate is a draw. The static evaluation ignores the limit. A reduced search ends
// before the limit and returns a win, which the full search refutes. This repeats at every move and node. Where the
// limit is within reach, such positions are therefore evaluated as draws.
// MEASURED: nodes of rook against king to depth 15 at a clock of 88, relative to a clock of 0: more than 500 times
// before, 0.5 times now. Without a separate key for such positions, stored results of iterations that did not reach
// the limit cost up to 40 times the nodes to depth 11. A gradual decline of the evaluation towards the limit is worse
// than none: 40 times even at a clock of 80, because every reduced search ends where the evaluation is higher.

/// The halfmove clock at which the game is drawn.
const LIMIT: i32 = 100;
/// Plies by which an extended line may exceed the iteration's depth.
const EXTENDED: i32 = 5;
/// Key mask of positions that are evaluated as draws.
const DRAWN_BY_FIFTY: u64 = 0xD1B5_4A32_D192_ED03;

impl Worker {
    /// Sets, for the next iteration, whether its lines reach the limit.
    pub fn update_limit_in_reach(&mut self) {
        let plies_left = LIMIT - self.request.position.halfmoves() as i32;
        let before = self.draws_by_fifty();
        self.limit_in_reach = self.root_depth + EXTENDED >= plies_left;
        if self.draws_by_fifty() && !before {
            // Values of earlier iterations no longer predict the score, so the first search has no aspiration window.
            let reset_average = |root: &mut RootMove| root.average = NONE;
            self.root_moves.iter_mut().for_each(reset_average);
        }
    }

    /// Whether the position is a draw unless a capture or a mate occurs before the 50-move limit, which is within
    /// reach.
    #[inline]
    pub fn draws_by_fifty(&self) -> bool {
        // A halfmove clock below the number of plies means that the clock was reset since the root.
        self.limit_in_reach
            && self.position.halfmoves() as usize >= self.stack.ply()
            && self.position.by_role(Role::Pawn).is_empty()
    }

    /// The key of the position in the transposition table.
    #[inline]
    pub fn table_key(&self) -> u64 {
        let key = tt::key_of(&self.position);
        if self.draws_by_fifty() { key ^ DRAWN_BY_FIFTY } else { key }
    }
}

// Endings against a lone king.
//
// Evaluation of pawnless endings against a lone king: elementary mates, which are rare in the training data of
// networks.
//
// Each of these mates needs a plan longer than a search of a few thousand nodes can reach. The evaluation
// encodes the plan. It rises when the lone king is driven to the edge, or with bishop and knight into a corner of the
// bishop's colour. It also rises when the other king approaches.
// CITE: the two gradients (edge or corner, and the kings' distance) are those of classical evaluations, Stockfish's KXK
// and KBNK among them; the numbers are ours, chosen by games (`docs/experiments.md`).

/// Base value of such an ending, added to its material: above any evaluation of an unclear position with pawns.
const WON: Value = 3000;
/// Weight of the square of [`diagonals_to_centre`]. Squaring makes every step towards the corner worth more than a
/// step of the other king, so the search does not stop halfway.
const CORNER_STEP: Value = 120;
/// Weight of [`eccentricity`].
const EDGE_STEP: Value = 40;
/// Weight of each step of the winner's king towards the lone king.
const NEAR_STEP: Value = 60;

/// Value for the side to move, if one side has only its king and the other can force mate without pawns.
#[inline]
pub fn lone_king_value(position: &Position) -> Option<Value> {
    let lone = |color| position.by_color(color).count() == 1;
    if !position.by_role(Role::Pawn).is_empty() {
        return None;
    }
    let loser = Color::ALL.into_iter().find(|&color| lone(color))?;
    let value = winning_value(position, loser)?;
    Some(if position.turn() == loser { -value } else { value })
}

/// Value for the side that mates, or `None` if its pieces cannot force mate.
fn winning_value(position: &Position, loser: Color) -> Option<Value> {
    let count = |role| position.by_role(role).count() as Value;
    let bishops = position.by_role(Role::Bishop);
    let (light, dark) =
        (!(bishops & Bitboard::LIGHT_SQUARES).is_empty(), !(bishops & Bitboard::DARK_SQUARES).is_empty());
    let knights = count(Role::Knight);
    let major = count(Role::Rook) + count(Role::Queen) > 0;
    let minor_mates = (light && dark) || ((light || dark) && knights > 0) || knights >= 3;
    if !major && !minor_mates {
        return None;
    }
    let lone_king = position.king(loser);
    // Bishops of both colours, or a major piece, mate at any edge.
    let driven = if major || light == dark {
        EDGE_STEP * eccentricity(lone_king)
    } else {
        let diagonals = diagonals_to_centre(lone_king, light);
        CORNER_STEP * diagonals * diagonals
    };
    let near = NEAR_STEP * (7 - lone_king.distance(position.king(!loser)) as Value);
    let material: Value = Role::ALL.map(|role| piece_value(role) * count(role)).iter().sum();
    Some(WON + material + driven + near)
}

/// Distance of a square from the centre, as a sum of squared distances: 0 in the centre, at least 9 on an edge, 18 in
/// a corner.
fn eccentricity(square: Square) -> Value {
    let from_centre = |coordinate: u32| {
        let distance = (2 * coordinate as Value - 7).abs() / 2;
        distance * distance
    };
    from_centre(square.file().into()) + from_centre(square.rank().into())
}

/// Diagonals between a square and the long diagonal that joins the two corners of the other colour. It is 7 in a
/// corner of the bishop's colour and 0 on that diagonal, along which the lone king flees from one wrong corner to the
/// other.
fn diagonals_to_centre(square: Square, light: bool) -> Value {
    let (file, rank): (u32, u32) = (square.file().into(), square.rank().into());
    let (file, rank) = (file as Value, rank as Value);
    if light { (file - rank).abs() } else { (file + rank - 7).abs() }
}

// Centipawns and win, draw, loss.
//
// Conversion of internal units to centipawns and to win, draw and loss probabilities.
//
// The model is the usual logistic one. A side whose value is `v` wins with probability `1 / (1 + exp((a - v) / b))`,
// loses with the same probability at `-v`, and draws otherwise. At `v = a` the probability of a win is one half. By
// definition `a` is one pawn, so +1.00 means "wins half of such games". Both constants depend on the remaining
// material.
//
// The constants have the highest likelihood for values of the default net (x2 of `nets/PROVENANCE.md`) in games of
// the engine against itself. Their fit, and predicted and counted results, are in `docs/experiments.md`. Between
// equal players, a small lead from a balanced opening is worth less than the model predicts.
// CITE: form, material count and its range (17 to 78, anchored at 58): the win-rate model of Stockfish and its
// WDL_model repository; the constants are ours, fitted to our games.

/// The model's constants in internal units, for one amount of material.
struct Model {
    a: f64,
    b: f64,
}

/// The constants at `material` (pawn 1, minor 3, rook 5, queen 9; 78 at the start).
fn model(material: i32) -> Model {
    let m = f64::from(material.clamp(17, 78)) / 58.0;
    Model { a: A[0] * m + A[1], b: B[0] * m + B[1] }
}

/// Slope and offset of `a` in material / 58.
const A: [f64; 2] = [12.0, 192.0];
/// Slope and offset of `b` in material / 58.
const B: [f64; 2] = [63.4, 17.9];

/// Material of both sides: pawn 1, minor 3, rook 5, queen 9.
pub fn material(position: &Position) -> i32 {
    board::material(position, Color::White) + board::material(position, Color::Black)
}

/// A value in hundredths of a pawn.
pub fn centipawns(value: Value, material: i32) -> i32 {
    (f64::from(value) * 100.0 / model(material).a).round() as i32
}

/// Permill of wins, draws and losses, which add up to 1000.
pub fn wdl(value: Value, material: i32) -> [u16; 3] {
    if is_win(value) {
        return [1000, 0, 0];
    }
    if is_loss(value) {
        return [0, 0, 1000];
    }
    let Model { a, b } = model(material);
    let chance = |v: Value| (1000.0 / (1.0 + ((a - f64::from(v)) / b).exp())).round() as u16;
    let (win, loss) = (chance(value), chance(-value));
    [win, 1000 - win - loss, loss]
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::board::CastlingMode;
    use crate::search::limits::SearchOptions;
    use crate::search::request::SearchRequest;
    use crate::search::tests::worker;

    #[test]
    fn draw_value_is_dithered_in_games_and_exact_in_analysis() {
        let mut worker = worker(&Position::startpos());
        let mut draws = |analyse_mode| {
            let options = SearchOptions { analyse_mode, ..SearchOptions::default() };
            worker.begin(Arc::new(SearchRequest { options, ..SearchRequest::idle() }));
            [0, 2].map(|nodes| {
                worker.nodes = nodes;
                worker.draw_value()
            })
        };
        assert_eq!(draws(false), [DRAW - 1, DRAW + 1]);
        assert_eq!(draws(true), [DRAW, DRAW]);
    }

    fn of(fen: &str) -> Option<Value> {
        lone_king_value(&Position::from_fen(fen, CastlingMode::Standard).expect(fen))
    }

    #[test]
    fn mating_material_is_won_for_its_side() {
        for fen in [
            "8/8/8/3k4/8/8/8/KQ6 w - - 0 1",
            "8/8/8/3k4/8/8/8/KR6 w - - 0 1",
            "8/8/8/3k4/8/8/8/KBB5 w - - 0 1",
            "8/8/8/3k4/8/8/8/KBN5 w - - 0 1",
            "8/8/8/3k4/8/8/8/KNNN4 w - - 0 1",
        ] {
            let won = of(fen).expect(fen);
            assert!(won > WON, "{fen}");
            assert_eq!(of(&fen.replace(" w ", " b ")), Some(-won), "{fen}");
        }
    }

    #[test]
    fn other_endings_have_no_special_value() {
        for fen in [
            "8/8/8/3k4/8/8/8/KNN5 w - - 0 1",
            "8/8/8/3k4/8/8/8/KB1B4 w - - 0 1",
            "8/8/8/3k4/8/8/8/KB6 w - - 0 1",
            "8/8/8/3k4/8/8/8/K7 w - - 0 1",
            "8/8/8/3k4/8/8/P7/KR6 w - - 0 1",
            "8/8/8/3k4/8/r7/8/KQ6 w - - 0 1",
        ] {
            assert_eq!(of(fen), None, "{fen}");
        }
    }

    #[test]
    fn value_rises_towards_the_mating_edge_or_corner() {
        let better = |more: &str, less: &str| assert!(of(more) > of(less), "{more}, {less}");
        // The lone king is driven to the edge, and the other king approaches.
        better("3k4/8/3K4/8/8/8/8/1R6 w - - 0 1", "8/3k4/8/3K4/8/8/8/1R6 w - - 0 1");
        better("3k4/8/3K4/8/8/8/8/1R6 w - - 0 1", "3k4/8/8/3K4/8/8/8/1R6 w - - 0 1");
        // b1 is a light square: h1 is the right corner, h8 the wrong one.
        better("8/8/8/8/8/5K2/8/1BN4k w - - 0 1", "7k/8/5K2/8/8/8/8/1BN5 w - - 0 1");
        better("8/8/8/8/8/8/5K1k/3BN3 w - - 0 1", "8/5K1k/8/8/8/8/8/3BN3 w - - 0 1");
        // c1 is a dark square: h8 is the right corner, h1 the wrong one.
        better("7k/8/5K2/8/8/8/8/1NB5 w - - 0 1", "8/8/8/8/8/5K2/8/1NB4k w - - 0 1");
    }

    #[test]
    fn wdl_sums_to_1000_and_win_chance_grows() {
        let mut last = 0;
        for value in (-3000..=3000).step_by(50) {
            for material in [0, 17, 40, 78] {
                let [w, d, l] = wdl(value, material);
                assert_eq!(w + d + l, 1000);
                assert_eq!(wdl(-value, material), [l, d, w]);
            }
            let [w, ..] = wdl(value, 58);
            assert!(w >= last);
            last = w;
        }
    }

    #[test]
    fn one_pawn_wins_half_of_the_games() {
        let a = model(58).a;
        assert_eq!(centipawns(a.round() as Value, 58), 100);
        // One half, within the rounding of the value.
        assert!(wdl(a.round() as Value, 58)[0].abs_diff(500) <= 2);
    }
}
