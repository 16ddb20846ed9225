//! Tactical motifs that can be proved on the board. Each motif is a predicate on a position and a searched line: its
//! squares and pieces can be checked on the board, and the line must gain from the motif. This file has the kinds of
//! motifs, and lines with their positions and the attack queries that the predicates share.
//!
//! * `attacks`: hanging piece, fork, pin, skewer, discovered attack, double check
//! * `defenders`: trapped piece, overloaded defender, removal of a defender, in-between move; and ends of a line: back
//!   rank, promotion, stalemate trick, sound sacrifice

mod attacks;
mod defenders;

pub(crate) use defenders::sacrifice;
use serde::{Serialize, Serializer};

use super::material::{HORIZON, Swing, swing};
use crate::board::attacks::attacks;
use crate::board::{Bitboard, Color, Move, Position, Role, Square};

/// A predicate on a line.
type Predicate = fn(&Walk) -> Option<Motif>;

/// The predicates in order of preference: if two motifs start at the same ply, the first is named.
const PREDICATES: [Predicate; 13] = [
    attacks::hanging,
    defenders::back_rank,
    attacks::double_check,
    defenders::stalemate_trick,
    defenders::promotion,
    attacks::fork,
    attacks::skewer,
    attacks::discovered_attack,
    defenders::trapped_piece,
    attacks::pin,
    defenders::removal,
    defenders::overloaded,
    defenders::zwischenzug,
];

/// The motifs of a line, in descending order of how well they explain it: by ply, then by preference. Sacrifices are
/// not included, because they require a score; see [`sacrifice()`].
pub(crate) fn motifs(walk: &Walk) -> Vec<Motif> {
    let mut found: Vec<Motif> = PREDICATES.iter().filter_map(|predicate| predicate(walk)).collect();
    found.sort_by_key(|motif| motif.ply);
    found
}

// The data of a motif.

/// The kinds of motifs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// A piece can be captured and not recaptured, or by a piece worth two pawns less.
    Hanging,
    /// One piece attacks two.
    Fork,
    /// A piece cannot leave a line because of the piece behind it, and is captured.
    Pin,
    /// A piece protects a square, but cannot recapture on it because it is pinned to its king.
    PinnedDefender,
    /// A piece has to leave a line, and the piece behind it is captured.
    Skewer,
    /// A move opens the line of another piece.
    DiscoveredAttack,
    /// Two pieces give check.
    DoubleCheck,
    /// Mate on the first rank of the king, behind its own pawns.
    BackRank,
    /// An attacked piece has no safe square.
    TrappedPiece,
    /// A defender has two tasks and can fulfil one.
    OverloadedDefender,
    /// The only defender is captured.
    RemovalOfDefender,
    /// A pawn promotes, and the new piece survives.
    Promotion,
    /// The losing side forces stalemate.
    StalemateTrick,
    /// A forcing move comes before a recapture.
    Zwischenzug,
    /// Material is offered, and the offer does not cost the advantage.
    SoundSacrifice,
}

/// A piece and its square.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Man {
    /// The kind of piece.
    #[serde(serialize_with = "role_word")]
    pub role: Role,
    /// Its square.
    #[serde(serialize_with = "square_word")]
    pub square: Square,
}

impl std::fmt::Display for Man {
    /// `the knight on f5`
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the {} on {}", role_name(self.role), self.square)
    }
}

/// A motif in a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Motif {
    /// The kind of motif.
    pub kind: Kind,
    /// Index in the line, from 0, of the move that makes the motif. The side that starts the line makes this move.
    pub ply: usize,
    /// The acting piece, on its square after that move. For an overloaded defender: the defender before that move.
    pub piece: Man,
    /// The target pieces, on their squares at that time.
    pub targets: Vec<Man>,
}

/// A role in lower case.
pub(crate) fn role_name(role: Role) -> &'static str {
    match role {
        Role::Pawn => "pawn",
        Role::Knight => "knight",
        Role::Bishop => "bishop",
        Role::Rook => "rook",
        Role::Queen => "queen",
        Role::King => "king",
    }
}

fn role_word<S: Serializer>(role: &Role, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(role_name(*role))
}

fn square_word<S: Serializer>(square: &Square, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(square)
}

// A line of moves and the positions along it.

/// A line from a position, up to the horizon.
pub(crate) struct Walk {
    /// The positions before and after each move: one more than the number of moves.
    positions: Vec<Position>,
    moves: Vec<Move>,
    /// Material swing of the line for the side that begins it.
    pub swing: Option<Swing>,
}

impl Walk {
    /// Plays the line.
    pub(crate) fn new(start: &Position, line: &[Move]) -> Self {
        let moves: Vec<Move> = line.iter().copied().take(HORIZON).collect();
        let mut positions = vec![start.clone()];
        for &m in &moves {
            let mut next = positions[positions.len() - 1].clone();
            next.do_move(m);
            positions.push(next);
        }
        Self { swing: swing(start, line, start.turn()), positions, moves }
    }

    /// The side that begins the line.
    pub(crate) fn side(&self) -> Color {
        self.positions[0].turn()
    }

    /// Number of moves.
    pub(crate) fn len(&self) -> usize {
        self.moves.len()
    }

    /// The move with this index.
    pub(crate) fn mv(&self, ply: usize) -> Option<Move> {
        self.moves.get(ply).copied()
    }

    /// The position before the move with this index.
    pub(super) fn before(&self, ply: usize) -> &Position {
        &self.positions[ply.min(self.positions.len() - 1)]
    }

    /// The position after the move with this index.
    pub(super) fn after(&self, ply: usize) -> &Position {
        self.before(ply + 1)
    }

    /// The last position.
    pub(crate) fn end(&self) -> &Position {
        &self.positions[self.positions.len() - 1]
    }

    /// Indices of the moves of the side that begins the line.
    pub(super) fn own_plies(&self) -> impl Iterator<Item = usize> {
        (0..self.moves.len()).step_by(2)
    }

    /// Whether the line ends in a mate by the side that begins it.
    pub(crate) fn mates(&self) -> bool {
        let end = self.end();
        end.turn() != self.side() && end.in_check() && end.legal_moves().is_empty()
    }

    /// Whether the line mates or wins material.
    pub(super) fn wins(&self) -> bool {
        self.mates() || self.swing.is_some_and(|swing| swing.points > 0)
    }

    /// The piece that the move with this index captures, on its square.
    pub(crate) fn captured(&self, ply: usize) -> Option<Man> {
        let (m, before) = (self.mv(ply)?, self.before(ply));
        let role = before.captured(m)?;
        Some(Man { role, square: before.captured_square(m) })
    }

    /// The piece that makes the move with this index, on its square after the move. `None` for castling.
    pub(super) fn mover(&self, ply: usize) -> Option<Man> {
        let m = self.mv(ply)?;
        if self.before(ply).is_castling(m) {
            return None;
        }
        man(self.after(ply), m.to())
    }
}

/// The piece on a square.
pub(super) fn man(position: &Position, square: Square) -> Option<Man> {
    let role = position.role_at(square)?;
    Some(Man { role, square })
}

/// Squares that the piece on `square` attacks.
pub(super) fn reach(position: &Position, square: Square) -> Bitboard {
    reach_through(position, square, Bitboard::EMPTY)
}

/// Squares that the piece on `square` would attack without the pieces on `without`.
pub(super) fn reach_through(position: &Position, square: Square, without: Bitboard) -> Bitboard {
    let piece = position.piece_at(square);
    piece.map_or(Bitboard::EMPTY, |piece| attacks(square, piece, position.occupied() & !without))
}

/// Pieces of a colour that attack a square.
pub(super) fn attackers(position: &Position, square: Square, color: Color) -> Bitboard {
    position.attackers_to(square, position.occupied()) & position.by_color(color)
}

/// Whether the side to move has a legal capture on a square.
pub(super) fn can_capture(position: &Position, square: Square) -> bool {
    let takes = |m: &Move| m.to() == square && position.is_capture(*m);
    position.legal_moves().iter().any(takes)
}

/// Bishops, rooks and queens.
pub(super) fn is_slider(role: Role) -> bool {
    matches!(role, Role::Bishop | Role::Rook | Role::Queen)
}

/// The piece that a slider on `slider` would attack without the piece on `front` (an X-ray attack).
pub(super) fn xray_target(position: &Position, slider: Square, front: Square) -> Option<Man> {
    let now = reach(position, slider);
    let then = reach_through(position, slider, Bitboard::from(front));
    let square = (then & !now & position.occupied()).first()?;
    man(position, square)
}

#[cfg(test)]
mod tests {
    //! Tables of positions for each motif: positions with the motif, and near misses without it.
    //!
    //! A line of `cases/*.txt` is `yes|no | FEN | moves | ...`. A move in parentheses is played before the line begins;
    //! a number in braces is the score in centipawns. The last field names the acting piece and its targets (all of
    //! them, or the first ones), or the reason for a near miss.

    use super::*;
    use crate::board::{Move, Position};
    use crate::review::analyst::tests::position;
    use crate::search::score::Score;

    /// A line of a table.
    struct Case<'a> {
        named: bool,
        walk: Walk,
        score: Option<Score>,
        text: &'a str,
        last: &'a str,
    }

    fn case(text: &str) -> Case<'_> {
        let fields: Vec<&str> = text.split('|').map(str::trim).collect();
        let [verdict, fen, moves, last] = fields[..] else {
            panic!("four fields: {text}");
        };
        let (mut start, mut now) = (position(fen), position(fen));
        let (mut line, mut score) = (Vec::<Move>::new(), None);
        for word in moves.split(' ') {
            if let Some(number) = word.strip_prefix('{') {
                let number = number.trim_end_matches('}').parse().expect(text);
                score = Some(Score::Centipawns(number));
                continue;
            }
            let m = played(&mut now, word.trim_matches(['(', ')']), text);
            if word.starts_with('(') {
                start = now.clone();
            } else {
                line.push(m);
            }
        }
        Case { named: verdict == "yes", walk: Walk::new(&start, &line), score, text, last }
    }

    fn played(position: &mut Position, san: &str, text: &str) -> Move {
        let m = position.parse_san(san);
        let m = m.unwrap_or_else(|error| panic!("{text}: {error}"));
        position.do_move(m);
        m
    }

    /// `Nc7 Ke8 Ra8`: the acting piece and its targets.
    fn names(motif: &Motif) -> String {
        let all = std::iter::once(&motif.piece).chain(&motif.targets);
        let name = |man: &Man| format!("{}{}", man.role.upper_char(), man.square);
        all.map(name).collect::<Vec<_>>().join(" ")
    }

    fn found(case: &Case) -> Vec<Motif> {
        match case.score {
            Some(score) => sacrifice(&case.walk, score).into_iter().collect(),
            None => motifs(&case.walk),
        }
    }

    fn check(file: &str, kinds: &[Kind]) {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/review/motifs/cases");
        let text = std::fs::read_to_string(format!("{folder}/{file}.txt")).expect(file);
        let (mut counts, mut wrong) = ([0, 0], Vec::new());
        for line in text.lines() {
            let case = case(line);
            counts[usize::from(case.named)] += 1;
            let found = found(&case);
            let motif = found.iter().find(|motif| kinds.contains(&motif.kind));
            let names = motif.map(names);
            let right = match &names {
                Some(names) => case.named && names.starts_with(case.last),
                None => !case.named,
            };
            if !right {
                wrong.push(format!("{}\n    found {names:?} of {found:?}", case.text));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        assert!(counts.iter().all(|&count| count >= 10), "{file}: {counts:?}");
    }

    #[test]
    fn hanging_piece_is_named_where_it_is_proved() {
        check("hanging", &[Kind::Hanging]);
    }

    #[test]
    fn fork_is_named_where_it_is_proved() {
        check("fork", &[Kind::Fork]);
    }

    #[test]
    fn pin_is_named_where_it_is_proved() {
        check("pin", &[Kind::Pin, Kind::PinnedDefender]);
    }

    #[test]
    fn skewer_is_named_where_it_is_proved() {
        check("skewer", &[Kind::Skewer]);
    }

    #[test]
    fn discovered_attack_is_named_where_it_is_proved() {
        check("discovered_attack", &[Kind::DiscoveredAttack]);
    }

    #[test]
    fn double_check_is_named_where_it_is_proved() {
        check("double_check", &[Kind::DoubleCheck]);
    }

    #[test]
    fn back_rank_is_named_where_it_is_proved() {
        check("back_rank", &[Kind::BackRank]);
    }

    #[test]
    fn trapped_piece_is_named_where_it_is_proved() {
        check("trapped_piece", &[Kind::TrappedPiece]);
    }

    #[test]
    fn overloaded_defender_is_named_where_it_is_proved() {
        check("overloaded_defender", &[Kind::OverloadedDefender]);
    }

    #[test]
    fn removal_of_defender_is_named_where_it_is_proved() {
        check("removal_of_defender", &[Kind::RemovalOfDefender]);
    }

    #[test]
    fn promotion_is_named_where_it_is_proved() {
        check("promotion", &[Kind::Promotion]);
    }

    #[test]
    fn stalemate_trick_is_named_where_it_is_proved() {
        check("stalemate_trick", &[Kind::StalemateTrick]);
    }

    #[test]
    fn zwischenzug_is_named_where_it_is_proved() {
        check("zwischenzug", &[Kind::Zwischenzug]);
    }

    #[test]
    fn sound_sacrifice_is_named_where_it_is_proved() {
        check("sound_sacrifice", &[Kind::SoundSacrifice]);
    }
}
