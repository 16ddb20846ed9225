//! Positional changes of a line, and purposes of a move: facts that can be counted on the board.
//!
//! * `harm`: harms that a refutation causes, attacks on the king among them

mod harm;

pub(crate) use harm::{attack, gains, harms, own_attack, promotion, queen_trade};
use serde::{Serialize, Serializer};

use super::motifs::Man;
use crate::board::attacks::attacks;
use crate::board::{Bitboard, Color, Move, Position, Role, Square, piece_value};
use harm::passed_pawns;

/// Kinds of features.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FeatureKind {
    /// The king can no longer castle and has not castled. `men`: the king.
    NoCastling,
    /// A less valuable piece attacks a piece, which moves away. `men`: attacker, attacked.
    DrivesAway,
    /// Both queens have been captured.
    QueensTraded,
    /// One side has lost a bishop of its pair, the other has both. `men`: the remaining pair.
    BishopPair,
    /// Two pawns of one colour on a file that had at most one. `men`: the pawns.
    DoubledPawns,
    /// A pawn without own pawns on the neighbouring files. `men`: the pawn.
    IsolatedPawn,
    /// A pawn that no enemy pawn can stop or capture. `men`: the pawn.
    PassedPawn,
    /// Neither side has a piece left. `men`: none.
    PawnEnding,
    /// A far advanced passed pawn has been captured. `men`: the pawn, where it was captured.
    LosesPasser,
    /// The opponent's passed pawn, which the best line captures, is still there. `men`: the pawn.
    KeepsPasser,
    /// A passed pawn comes farther than in the best line. `men`: the pawn.
    PasserAdvances,
    /// A pawn has promoted. `men`: the new piece.
    Promotes,
    /// The file of the king has no pawn left, and the opponent has a rook or queen. `men`: the king.
    OpenKing,
    /// A piece that attacks no square to which it could move. `men`: the piece.
    NoMoves,
    /// A king comes farther in an ending than in the other line. `men`: the king.
    KingMarch,
    /// A rook or queen enters the last two ranks. `men`: the piece.
    Invasion,
    /// Bishops and knights on their first rank, two more than the other side has. `men`: the pieces.
    Development,
    /// Pieces attack squares next to the king that only the king defends. `men`: the king, the attackers.
    KingAttack,
    /// The move castles.
    Castles,
    /// The move captures. `men`: the captured piece.
    Takes,
    /// The moved piece attacks a more valuable or unprotected piece. `men`: attacker, attacked.
    Attacks,
    /// The move protects an attacked piece that had no protection. `men`: the protected piece.
    Protects,
    /// A knight or bishop moves from its initial square. `men`: the piece.
    Develops,
    /// The moved piece attacks these squares of the centre. `men`: the piece.
    Controls,
    /// Sliders have more squares than before. `men`: the sliders.
    OpensLines,
    /// A rook or queen is on a file without pawns. `men`: the piece.
    OpenFile,
    /// A passed pawn moves forward. `men`: the pawn.
    AdvancesPasser,
    /// After the move, the opponent cannot make another move, or loses material by it. `squares`: from and to.
    Prevents,
}

impl FeatureKind {
    /// Maximum loss in centipawns that a change of this kind explains.
    pub(crate) fn largest_loss(self) -> i32 {
        match self {
            Self::BishopPair | Self::DoubledPawns | Self::IsolatedPawn => 80,
            Self::DrivesAway | Self::NoMoves => 120,
            Self::QueensTraded | Self::Development => 150,
            Self::NoCastling | Self::Invasion => 200,
            Self::OpenKing | Self::PassedPawn => 250,
            Self::PawnEnding | Self::LosesPasser | Self::KeepsPasser | Self::PasserAdvances | Self::KingMarch => 400,
            _ => i32::MAX,
        }
    }

    /// Whether the change in the line of a better move is worth a sentence.
    pub(crate) fn is_gain(self) -> bool {
        !matches!(self, Self::QueensTraded | Self::PawnEnding | Self::NoMoves | Self::LosesPasser)
    }

    /// Whether the change concerns a passed pawn, or an ending of pawns only.
    pub(crate) fn concerns_passers(self) -> bool {
        use FeatureKind::{KeepsPasser, LosesPasser, PassedPawn, PasserAdvances, PawnEnding, Promotes};
        matches!(self, KeepsPasser | LosesPasser | PassedPawn | PasserAdvances | PawnEnding | Promotes)
    }
}

/// A fact that holds at the end of a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Feature {
    /// The kind of feature.
    pub kind: FeatureKind,
    /// The pieces concerned, on their squares at the end of the line. For a captured piece, and for an attacked piece
    /// that was driven away: the square on which it stood before.
    pub men: Vec<Man>,
    /// The squares concerned.
    #[serde(serialize_with = "square_words")]
    pub squares: Vec<Square>,
}

impl Feature {
    /// The queens are traded.
    pub(crate) fn queens_traded() -> Self {
        Self::of(FeatureKind::QueensTraded, Vec::new())
    }

    fn of(kind: FeatureKind, men: Vec<Man>) -> Self {
        Self { kind, men, squares: Vec::new() }
    }
}

fn square_words<S: Serializer>(squares: &[Square], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(squares.iter().map(ToString::to_string))
}

// Purposes of a move that can be proved on the board.

/// The extended centre: c4 to f5.
const CENTRE: Bitboard = Bitboard(0x0000_003c_3c00_0000);
/// Minimum number of squares that a slider must gain for its line to count as opened.
const OPENED: usize = 2;

/// A move with the positions before and after it.
struct Step<'a> {
    before: &'a Position,
    after: Position,
    m: Move,
    us: Color,
}

/// Purposes of a move, the most important first.
pub(crate) fn purposes(position: &Position, m: Move) -> Vec<Feature> {
    let mut after = position.clone();
    after.do_move(m);
    let step = Step { before: position, after, m, us: position.turn() };
    [
        Step::castles,
        Step::takes,
        Step::attacks,
        Step::protects,
        Step::develops,
        Step::controls,
        Step::advances_passer,
        Step::open_file,
        Step::opens_lines,
    ]
    .iter()
    .filter_map(|find| find(&step))
    .collect()
}

impl Step<'_> {
    /// The moved piece after the move; `None` for castling.
    fn piece(&self) -> Option<Man> {
        if self.before.is_castling(self.m) {
            return None;
        }
        man(&self.after, self.m.to())
    }

    fn castles(&self) -> Option<Feature> {
        self.before.is_castling(self.m).then(|| Feature::of(FeatureKind::Castles, Vec::new()))
    }

    fn takes(&self) -> Option<Feature> {
        let role = self.before.captured(self.m)?;
        let square = self.before.captured_square(self.m);
        Some(Feature::of(FeatureKind::Takes, vec![Man { role, square }]))
    }

    fn attacks(&self) -> Option<Feature> {
        let piece = self.piece()?;
        let before = reach(self.before, self.m.from());
        let new = reach(&self.after, piece.square) & self.after.by_color(!self.us) & !before;
        let unprotected = |square: Square| {
            let by = self.after.attackers_to(square, self.after.occupied());
            (by & self.after.by_color(!self.us)).is_empty()
        };
        let target = new
            .into_iter()
            .filter_map(|square| man(&self.after, square))
            .filter(|man| !matches!(man.role, Role::King | Role::Pawn))
            .filter(|man| piece_value(man.role) > piece_value(piece.role) || unprotected(man.square))
            .max_by_key(|man| piece_value(man.role))?;
        Some(Feature::of(FeatureKind::Attacks, vec![piece, target]))
    }

    fn protects(&self) -> Option<Feature> {
        let piece = self.piece()?;
        let by = |position: &Position, square: Square, color: Color| {
            position.attackers_to(square, position.occupied()) & position.by_color(color)
        };
        let saved = |square: &Square| {
            *square != piece.square
                && by(self.before, *square, !self.us).any()
                && by(self.before, *square, self.us).is_empty()
                && by(&self.after, *square, !self.us).any()
        };
        let covered = reach(&self.after, piece.square) & self.after.by_color(self.us);
        let target = covered
            .into_iter()
            .filter(saved)
            .filter_map(|square| man(&self.after, square))
            .filter(|man| man.role != Role::King)
            .max_by_key(|man| piece_value(man.role))?;
        Some(Feature::of(FeatureKind::Protects, vec![target]))
    }

    fn develops(&self) -> Option<Feature> {
        let piece = self.piece()?;
        let home = |square: Square| harm::relative_rank(square, self.us) == 0;
        let minor = matches!(piece.role, Role::Knight | Role::Bishop);
        let leaves = home(self.m.from()) && !home(piece.square);
        (minor && leaves).then(|| Feature::of(FeatureKind::Develops, vec![piece]))
    }

    fn controls(&self) -> Option<Feature> {
        let piece = self.piece()?;
        let light = matches!(piece.role, Role::Pawn | Role::Knight | Role::Bishop);
        let new = reach(&self.after, piece.square) & CENTRE & !reach(self.before, self.m.from());
        let squares: Vec<Square> = new.into_iter().collect();
        (light && !squares.is_empty()).then(|| Feature { kind: FeatureKind::Controls, men: vec![piece], squares })
    }

    fn opens_lines(&self) -> Option<Feature> {
        let sliders = self.after.by_color(self.us)
            & (self.after.by_role(Role::Bishop) | self.after.by_role(Role::Rook) | self.after.by_role(Role::Queen));
        let free =
            |position: &Position, square: Square| (reach(position, square) & !position.by_color(self.us)).count();
        let same =
            |square: &Square| self.before.piece_at(*square) == self.after.piece_at(*square) && *square != self.m.to();
        let opened = |square: &Square| free(&self.after, *square) >= free(self.before, *square) + OPENED;
        let mut men: Vec<Man> =
            sliders.into_iter().filter(same).filter(opened).filter_map(|square| man(&self.after, square)).collect();
        men.sort_by_key(|man| std::cmp::Reverse(piece_value(man.role)));
        (!men.is_empty()).then(|| Feature::of(FeatureKind::OpensLines, men))
    }

    fn open_file(&self) -> Option<Feature> {
        let piece = self.piece()?;
        let heavy = matches!(piece.role, Role::Rook | Role::Queen);
        let open = |square: Square| (self.after.by_role(Role::Pawn) & Bitboard::from(square.file())).is_empty();
        let new = self.m.from().file() != piece.square.file() && open(piece.square);
        (heavy && new).then(|| Feature::of(FeatureKind::OpenFile, vec![piece]))
    }

    fn advances_passer(&self) -> Option<Feature> {
        let piece = self.piece().filter(|piece| piece.role == Role::Pawn)?;
        let passed = passed_pawns(&self.after, self.us).contains(piece.square)
            && passed_pawns(self.before, self.us).contains(self.m.from());
        passed.then(|| Feature::of(FeatureKind::AdvancesPasser, vec![piece]))
    }
}

/// How a move prevents a reply to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Prevention {
    /// The reply was possible before both moves.
    Prevents,
    /// The reply captures the piece that the better move moves away.
    Evades,
    /// The other move makes the reply possible.
    DoesNotAllow,
}

/// How the move `best` prevents `reply`, which answers the move `played`: the reply is then impossible or loses
/// material. `None` if it prevents nothing, gives check, or if the reply captures the piece that was played.
pub(crate) fn prevention(position: &Position, played: Move, best: Move, reply: Move) -> Option<Prevention> {
    let [after_played, after_best] = [played, best].map(|m| {
        let mut after = position.recent();
        after.do_move(m);
        after
    });
    let is_sound = |position: &Position| position.legal_moves().contains(&reply) && position.see_ge(reply, 0);
    let is_other = reply.to() == played.to() || after_best.in_check() || after_played.is_castling(reply);
    if is_other || !after_played.see_ge(reply, 0) || is_sound(&after_best) {
        return None;
    }
    if after_played.is_capture(reply) && reply.to() == best.from() {
        return Some(Prevention::Evades);
    }
    let mut passed = position.recent();
    let can_pass = !position.in_check();
    if can_pass {
        passed.do_null_move();
    }
    Some(if can_pass && is_sound(&passed) { Prevention::Prevents } else { Prevention::DoesNotAllow })
}

impl Feature {
    /// A reply is prevented.
    pub(crate) fn prevents(reply: Move) -> Self {
        Self { kind: FeatureKind::Prevents, men: Vec::new(), squares: vec![reply.from(), reply.to()] }
    }
}

fn man(position: &Position, square: Square) -> Option<Man> {
    let role = position.role_at(square)?;
    Some(Man { role, square })
}

fn reach(position: &Position, square: Square) -> Bitboard {
    position.piece_at(square).map_or(Bitboard::EMPTY, |piece| attacks(square, piece, position.occupied()))
}

#[cfg(test)]
mod tests {
    use super::FeatureKind::{
        AdvancesPasser, Attacks, BishopPair, Castles, Controls, Development, Develops, DoubledPawns, DrivesAway,
        Invasion, IsolatedPawn, KeepsPasser, KingMarch, LosesPasser, NoCastling, NoMoves, OpenFile, OpenKing,
        OpensLines, PassedPawn, PasserAdvances, PawnEnding, Protects, QueensTraded, Takes,
    };
    use super::*;
    use crate::board::{Move, Position};
    use crate::review::analyst::tests::position;

    /// The initial position with Black to move.
    const STANDARD: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1";

    fn line(start: &Position, text: &str) -> Vec<Move> {
        let mut position = start.clone();
        let play = |san| {
            let m = position.parse_san(san).expect(san);
            position.do_move(m);
            m
        };
        text.split_whitespace().map(play).collect()
    }

    fn kinds(features: &[Feature]) -> Vec<FeatureKind> {
        features.iter().map(|feature| feature.kind).collect()
    }

    #[test]
    fn harm_is_named_where_the_best_line_avoids_it() {
        for (fen, played, best, kind, named) in [
            ("r3k2r/8/8/8/8/8/4R3/R3K2R b KQkq - 0 1", "Kd8 Rd1+", "Kf8 Rf1+", NoCastling, false),
            ("r1b1k2r/8/8/8/8/8/8/4K3 b kq - 0 1", "Ke7 Kd2 Kf6", "O-O Kd2 Kg7", NoCastling, true),
            ("4k3/8/8/5b2/8/8/6P1/4K3 b - - 0 1", "Kd7 g4 Be6", "Be6 Kd2 Kd7", DrivesAway, true),
            ("4k3/8/8/5b2/8/8/6P1/4K3 b - - 0 1", "Kd7 g3 Be6", "Be6 Kd2 Kd7", DrivesAway, false),
            ("3qk3/8/8/8/8/8/8/3QK3 b - - 0 1", "Qxd1+ Kxd1", "Ke7 Qxd8+", QueensTraded, false),
            ("3qk3/8/8/8/8/8/8/3QK3 b - - 0 1", "Qxd1+ Kxd1", "Qe7+ Kf1", QueensTraded, true),
            ("2b1kb2/8/8/8/4N3/8/8/2B1KB2 b - - 0 1", "Be7 Nd6+ Bxd6", "Be7 Kd1 Kd8", BishopPair, false),
            ("2b1kb2/8/4N3/8/8/8/8/2B1KB2 b - - 0 1", "Kf7 Nxf8 Kxf8", "Bxe6 Kd1 Kd8", BishopPair, true),
            ("4k3/1p1p4/8/3N4/8/8/8/4K3 b - - 0 1", "d6 Kd2 Kd7", "Kf7 Kd2 Kg6", DoubledPawns, false),
            ("4k3/1p1p4/2n5/3N4/8/5B2/8/4K3 b - - 0 1", "Kf7 Nf4 Kg8", "Kf7 Ke2 Kg8", DoubledPawns, false),
            ("4k3/1p1p4/2n5/8/8/5B2/8/4K3 b - - 0 1", "Kf7 Bxc6 dxc6", "Nd4 Be4 Kf7", DoubledPawns, false),
            ("4k3/1pp5/2n5/8/8/5B2/8/4K3 b - - 0 1", "Kf7 Bxc6 bxc6", "Nd4 Be4 Kf7", DoubledPawns, true),
            ("4k3/1pp5/2n5/8/8/5B2/8/4K3 b - - 0 1", "Kf7 Bxc6 bxc6", "Nd4 Be4 Kf7", IsolatedPawn, true),
            ("4k3/1ppp4/2n5/8/8/5B2/8/4K3 b - - 0 1", "Kf7 Bxc6 dxc6", "Nd4 Be4 Kf7", IsolatedPawn, false),
            ("4k3/2p5/3n4/4P3/8/8/8/4K3 b - - 0 1", "Kf7 exd6 cxd6", "Nf5 Kd2 Kf7", PassedPawn, false),
            ("4k3/5p2/3n4/4P3/8/8/8/4K3 b - - 0 1", "Kd7 exd6 Kd8", "Nf5 Kd2 Kd7", PassedPawn, true),
            ("4k3/4p1pp/5n2/8/7B/8/8/4K3 b - - 0 1", "Kd7 Bxf6 gxf6", "Nd5 Kd2 Nb6", IsolatedPawn, false),
            ("4k3/5p2/2n5/8/8/5B2/5P2/4K3 b - - 0 1", "Kd7 Bxc6+ Kxc6", "Nd4 Be4 Kd7", PawnEnding, true),
            ("4k3/5p2/2n5/8/8/5B2/5P2/4K2R b - - 0 1", "Kd7 Bxc6+ Kxc6", "Nd4 Be4 Kd7", PawnEnding, false),
            ("4k3/8/8/8/8/1p6/8/4K2R b - - 0 1", "Kd7 Rh3 Kd6 Rxb3", "b2 Kd2 b1=Q Rxb1", LosesPasser, true),
            ("4k3/8/8/8/8/1p6/8/4K2R b - - 0 1", "Kd7 Rh3 Kd6 Rxb3", "Kf7 Rh3 Ke6 Rxb3", LosesPasser, false),
            ("4k3/8/3P4/8/8/1p6/8/4K2R b - - 0 1", "Kd7 Rh3 Kxd6 Rxb3", "b2 Kd2 b1=Q Rxb1", LosesPasser, false),
            ("8/8/8/6kP/8/8/8/4K3 b - - 0 1", "Kf6 Kd2 Ke5", "Kxh5 Kd2 Kg4", KeepsPasser, true),
            ("8/8/8/6kP/8/8/8/4K3 b - - 0 1", "Kh6 Kd2 Kxh5", "Kxh5 Kd2 Kg4", KeepsPasser, false),
            ("4k3/8/8/8/7P/8/8/4K3 b - - 0 1", "Kd7 h5 Kd6 h6", "Kf7 Kd2 Kg6 Kd3", PasserAdvances, true),
            ("4k3/8/8/8/7P/8/8/4K3 b - - 0 1", "Kd7 h5 Kd6 h6", "Kf7 h5 Kg7 h6+", PasserAdvances, false),
            ("4k3/6p1/8/8/7P/8/8/4K3 b - - 0 1", "Kd7 h5 Kd6 h6", "Kf7 Kd2 Kg6 Kd3", PasserAdvances, false),
            ("6k1/5ppp/8/8/8/8/8/4K1R1 b - - 0 1", "h6 Kd2 h5", "f6 Kd2 f5", OpenKing, false),
            ("6k1/5p1p/5p2/6p1/8/7P/8/4K1R1 b - - 0 1", "g4 hxg4 f5", "h6 Kd2 f5", OpenKing, false),
            ("6k1/5p1p/5p2/6p1/8/7P/8/4K1R1 b - - 0 1", "g4 hxg4 f5 gxf5", "h6 Kd2 f5 Kd3", OpenKing, true),
            ("n3k3/2p5/8/8/8/8/8/4K3 b - - 0 20", "Nb6 Kd2 Na8", "Nb6 Kd2 Nc4+", NoMoves, false),
            ("4k1n1/8/5p2/4p3/8/8/8/4K3 b - - 0 20", "Ne7 Kd2 Kd8", "Kd8 Kd2 Ne7", NoMoves, false),
            ("4k1n1/8/7p/4p3/8/8/8/4K3 b - - 0 20", "Ke7 Kd2 Kf6", "Kf7 Kd2 Nf6", NoMoves, false),
            ("4k1n1/8/7p/5p2/8/8/8/4K3 b - - 0 20", "Ke7 Kd2 Kf6", "Kf7 Kd2 Nf6", NoMoves, false),
            ("b3k3/8/8/3p4/8/8/8/4K3 b - - 0 20", "Kd7 Kd2 Kc6", "Bb7 Kd2 Bc6", NoMoves, false),
            ("b3k3/1p6/8/8/8/8/8/4K3 b - - 0 20", "Kd7 Kd2 Kd6", "b6 Kd2 Bd5", NoMoves, false),
            ("b3k3/8/1p6/8/8/8/8/4K3 b - - 0 20", "Kd8 Kd2 Kc8 Ke2 Kb7", "Bd5 Kd2 Bc6 Ke2 Bb7", NoMoves, true),
            ("b3k3/8/1p6/8/8/8/8/4K3 b - - 0 3", "Kd8 Kd2 Kc8 Ke2 Kb7", "Bd5 Kd2 Bc6 Ke2 Bb7", NoMoves, false),
            ("8/6k1/8/8/4K3/5P2/8/8 b - - 0 1", "Kh6 Kf5 Kh7 Kf6", "Kf6 Kf4 Ke6 Ke4", KingMarch, true),
            ("8/6k1/8/8/4K3/5P2/8/8 b - - 0 1", "Kh6 Kf5 Kh7 Kf6", "Kh6 Kf5 Kh5 Kf6", KingMarch, false),
            ("8/q5k1/8/8/4K3/5P2/Q7/8 b - - 0 1", "Kh6 Kf5 Kh7 Kf6", "Kf6 Kf4 Ke7 Ke4", KingMarch, false),
            ("6k1/5ppp/8/8/8/8/5PPP/3R2K1 b - - 0 1", "h6 Rd7 g6 Kf1", "Kf8 Kf1 Ke7 Ke2", Invasion, true),
            ("6k1/5ppp/8/8/8/8/5PPP/3R2K1 b - - 0 1", "h6 Rd7 g6 Kf1", "h6 Rd8+ Kh7 Kf1", Invasion, false),
            (STANDARD, "a6 Nf3 h6 Nc3 Ra7", "Nf6 Nf3 Nc6 Nc3 e6", Development, true),
            (STANDARD, "Nf6 Nf3 Nc6 Nc3 a6", "e6 Nf3 e5 Nc3 a6", Development, false),
        ] {
            let start = position(fen);
            let features = harms(&start, &line(&start, played), &line(&start, best));
            let found = kinds(&features);
            assert_eq!(found.contains(&kind), named, "{kind:?} {fen} {played}: {found:?}");
        }
    }

    #[test]
    fn better_line_does_to_the_opponent_what_the_move_played_does_not() {
        for (fen, played, best, kind, named) in [
            ("4k3/8/8/5b2/8/8/6P1/4K3 w - - 0 1", "Kd2 Kd7 Kc3", "g4 Be6 Kd2", DrivesAway, true),
            ("4k3/8/8/5b2/8/8/6P1/4K3 w - - 0 1", "Kd2 Kd7 Kc3", "g3 Be6 Kd2", DrivesAway, false),
            ("4k3/5p2/3n4/4P3/8/8/8/4K3 w - - 0 1", "Kd2 Nf5 Kd3", "exd6 Kd8 Kd2", PassedPawn, true),
            ("4k3/5p2/3n4/4P3/8/8/8/4K3 w - - 0 1", "Ke2 Kd8 exd6", "exd6 Kd8 Kd2", PassedPawn, false),
        ] {
            let start = position(fen);
            let found = kinds(&gains(&start, &line(&start, played), &line(&start, best)));
            assert_eq!(found.contains(&kind), named, "{kind:?} {fen} {best}: {found:?}");
        }
    }

    #[test]
    fn better_move_prevents_a_reply_that_is_impossible_or_loses_material_after_it() {
        for (fen, played, best, reply, wanted) in [
            ("4k3/8/5n2/8/8/8/7P/4K3 w - - 0 1", "Kd1", "h3", "Ng4", Some(Prevention::Prevents)),
            ("4k3/1b6/8/8/8/5N2/8/4K3 w - - 0 1", "Kd1", "Nd4", "Bxf3+", Some(Prevention::Evades)),
            ("4k3/8/8/8/4q3/8/6PP/5RK1 w - - 0 1", "Rf3", "h3", "Qe1+", Some(Prevention::DoesNotAllow)),
            // The reply is as good after the better move.
            ("4k3/8/5n2/8/8/8/7P/4K3 w - - 0 1", "Kd1", "Kd2", "Ng4", None),
            // It captures the piece that was played.
            ("4k3/8/3p4/8/6N1/8/8/4K3 w - - 0 1", "Ne5", "Nf2", "dxe5", None),
        ] {
            let start = position(fen);
            let [m, best] = [played, best].map(|san| start.parse_san(san).expect(san));
            let mut after = start.clone();
            after.do_move(m);
            let reply = after.parse_san(reply).expect(reply);
            assert_eq!(prevention(&start, m, best, reply), wanted, "{fen} {played}");
        }
    }

    #[test]
    fn promotion_counts_if_the_reply_does_not_capture_the_new_piece() {
        for (fen, played, best, plies) in [
            ("8/P3k3/8/8/8/8/8/4K3 b - - 0 1", "Kd7 a8=Q Kd6", "Kd6 Kd2", Some(2)),
            ("8/P3k3/8/8/8/8/8/4K3 b - - 0 1", "Kd7 a8=Q", "Kd6 Kd2", None),
            ("8/P3k3/8/8/8/8/8/4K3 b - - 0 1", "Kd7 a8=Q Kd6", "Kd6 a8=Q Kd7", None),
            ("1r2k3/P7/8/8/8/8/8/4K3 b - - 0 1", "Ke7 a8=Q Rxa8", "Ra8 Kd2", None),
        ] {
            let start = position(fen);
            let found = promotion(&start, &line(&start, played), &line(&start, best));
            assert_eq!(found.map(|found| found.0), plies, "{fen} {played}");
        }
    }

    #[test]
    fn purpose_is_named_where_the_board_proves_it() {
        let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        for (fen, san, wanted) in [
            (start, "e4", &[Controls, OpensLines][..]),
            (start, "Nf3", &[Develops, Controls][..]),
            (start, "a3", &[][..]),
            ("4k3/8/8/8/8/8/8/4K2R w K - 0 1", "O-O", &[Castles][..]),
            ("4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 1", "exd5", &[Takes][..]),
            ("4k3/8/8/3q4/8/8/8/1N2K3 w - - 0 1", "Nc3", &[Attacks, Develops, Controls][..]),
            ("4k3/4p3/8/r2N4/8/8/4P3/4K3 w - - 0 1", "e4", &[Protects, Controls][..]),
            ("4k3/8/8/8/8/8/P7/R3K3 w - - 0 1", "Rd1", &[OpenFile][..]),
            ("4k3/8/8/P7/8/8/8/4K3 w - - 0 1", "a6", &[AdvancesPasser][..]),
            ("4k3/1p6/8/P7/8/8/8/4K3 w - - 0 1", "a6", &[][..]),
        ] {
            let start = position(fen);
            let m = start.parse_san(san).expect(san);
            let mut found = kinds(&purposes(&start, m));
            found.retain(|kind| wanted.contains(kind) || !matches!(kind, OpensLines));
            assert_eq!(found, wanted, "{fen} {san}");
        }
    }

    #[test]
    fn first_move_of_the_king_pawn_controls_and_opens() {
        let start = Position::startpos();
        let m = start.parse_san("e4").expect("legal");
        let features = purposes(&start, m);
        let squares: Vec<String> = features[0].squares.iter().map(ToString::to_string).collect();
        assert_eq!(squares, ["d5", "f5"]);
        let men: Vec<String> = features[1].men.iter().map(ToString::to_string).collect();
        assert_eq!(men, ["the queen on d1", "the bishop on f1"]);
    }

    #[test]
    fn attack_on_the_king_needs_two_pieces_and_squares_that_only_the_king_defends() {
        let names = |fen: &str| {
            let start = position(fen);
            let found = attack(&start, &line(&start, "g6 Bxg6 fxg6 Qxg6+ Kh8"), &line(&start, "a6"));
            found.map(|found| {
                let men: Vec<String> = found.men.iter().map(ToString::to_string).collect();
                let squares: Vec<String> = found.squares.iter().map(ToString::to_string).collect();
                (men, squares)
            })
        };
        let (men, squares) = names("r1bq1rk1/pppp1pp1/3b3B/3P3Q/8/2PB4/PP3PPP/R4RK1 b - - 0 13").expect("an attack");
        assert_eq!(men, ["the king on h8", "the queen on g6", "the bishop on h6"]);
        assert_eq!(squares, ["g7", "h7"]);
        // The queen alone.
        assert_eq!(names("r1bq1rk1/pppp1pp1/3b4/3P3Q/5B2/2PB4/PP3PPP/R4RK1 b - - 0 13"), None);
    }
}
