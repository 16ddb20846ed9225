//! Disadvantages that a refutation causes for the side that erred, and attacks on a king.

use shakmaty::Rank;

use super::{Feature, FeatureKind};
use crate::board::attacks::{attacks, pawn_attacks};
use crate::board::{Bitboard, Color, File, Move, Position, Role, Square, piece_value};
use crate::review::material::{Balance, is_nearly_at_rest};
use crate::review::motifs::Man;

/// Minimum relative rank, from 0, of a new passed pawn that is reported.
const ADVANCED: u32 = 3;

/// Minimum relative rank, from 0, of a passed pawn whose loss is reported.
const FAR: u32 = 4;

/// Minimum relative rank of a passed pawn whose advance is reported, without and with queens on the board, and the
/// number of ranks by which it is farther than at the end of the best line.
const RUNS: [u32; 2] = [4, 6];
const FARTHER: u32 = 2;

/// Move number from which a piece without moves is reported: earlier, pieces are undeveloped.
const DEVELOPED: u32 = 10;

/// Minimum relative rank, from 0, of a rook or queen that enters the other side's camp.
const CAMP: u32 = 6;

/// Last move number at which a lag in development is reported, and by how many bishops and knights.
const OPENING: u32 = 16;
const LAG: usize = 2;

/// Minimum relative rank, from 0, of a king that advances in an ending, and the number of ranks by which it is farther
/// than at the end of the other line. An ending has this many pieces of a side at most, and no queens.
const MARCHED: u32 = 4;
const MARCH: u32 = 2;
const ENDING: usize = 2;

/// Both lines from a position: the one that harms, and the one that does not, cut to the same length. For a bad move,
/// these are the move played with its refutation, and the best line; for what the best line does to the opponent, the
/// other way round.
struct Lines<'a> {
    start: &'a Position,
    /// The side that is harmed.
    us: Color,
    played: &'a [Move],
    best: &'a [Move],
    end: Position,
    best_end: Position,
}

/// Disadvantages that the move played with its refutation causes and the best line does not, the most serious first.
pub(crate) fn harms(start: &Position, played: &[Move], best: &[Move]) -> Vec<Feature> {
    harms_to(start.turn(), start, played, best)
}

/// Disadvantages of the opponent that the best line causes and the move played with its refutation does not.
pub(crate) fn gains(start: &Position, played: &[Move], best: &[Move]) -> Vec<Feature> {
    harms_to(!start.turn(), start, best, played)
}

fn harms_to(us: Color, start: &Position, played: &[Move], best: &[Move]) -> Vec<Feature> {
    let best = &best[..best.len().min(played.len())];
    let lines = Lines { start, us, end: reached(start, played), best_end: reached(start, best), played, best };
    [
        Lines::no_castling,
        Lines::drives_away,
        Lines::open_king,
        Lines::pawn_ending,
        Lines::loses_passer,
        Lines::keeps_passer,
        Lines::passer_advances,
        Lines::passed_pawn,
        Lines::king_march,
        Lines::invasion,
        Lines::development,
        Lines::bishop_pair,
        Lines::doubled_pawns,
        Lines::isolated_pawn,
        Lines::no_moves,
        Lines::queens_traded,
    ]
    .iter()
    .filter_map(|find| find(&lines))
    .fold(Vec::new(), |mut found: Vec<Feature>, feature| {
        // A pawn that comes far and is newly passed is one harm.
        let is_known = |other: &Feature| !feature.men.is_empty() && other.men == feature.men;
        if !found.iter().any(is_known) {
            found.push(feature);
        }
        found
    })
}

/// The attack on the king of the side that erred after the move played with its refutation.
pub(crate) fn attack(start: &Position, played: &[Move], best: &[Move]) -> Option<Feature> {
    king_attack(start, played, &best[..best.len().min(played.len())], start.turn())
}

/// The attack on the opponent's king in the best line.
pub(crate) fn own_attack(start: &Position, played: &[Move], best: &[Move]) -> Option<Feature> {
    king_attack(start, best, &played[..best.len().min(played.len())], !start.turn())
}

/// Number of plies, three at most, after which a line has traded the queens.
pub(crate) fn queen_trade(start: &Position, line: &[Move]) -> Option<usize> {
    let queens = |position: &Position| position.by_role(Role::Queen).count();
    let each = |color| start.pieces(color, Role::Queen).count() == 1;
    if !Color::ALL.into_iter().all(each) {
        return None;
    }
    (2..=line.len().min(3)).find(|&plies| queens(&reached(start, &line[..plies])) == 0)
}

fn reached(start: &Position, line: &[Move]) -> Position {
    let mut position = start.clone();
    for &m in line {
        position.do_move(m);
    }
    position
}

impl Lines<'_> {
    fn no_castling(&self) -> Option<Feature> {
        let gone = self.start.can_castle(self.us)
            && !self.end.can_castle(self.us)
            && !castles(self.start, self.played, self.us);
        let kept = self.best_end.can_castle(self.us) || castles(self.start, self.best, self.us);
        let square = self.end.king(self.us);
        let king = Man { role: Role::King, square };
        (gone && kept).then(|| Feature::of(FeatureKind::NoCastling, vec![king]))
    }

    /// Detects a first move of the other side that attacks a more valuable piece, which then moves away without a
    /// capture.
    fn drives_away(&self) -> Option<Feature> {
        let own = usize::from(self.start.turn() == self.us);
        let [answer, escape, ..] = *self.played.get(own..)? else {
            return None;
        };
        let before = reached(self.start, &self.played[..own]);
        let after = reached(&before, &[answer]);
        let attacker = (!before.is_castling(answer)).then(|| after.role_at(answer.to()))??;
        let attacked = after.role_at(escape.from())?;
        let reach = |position: &Position, square: Square| {
            position.piece_at(square).map_or(Bitboard::EMPTY, |piece| attacks(square, piece, position.occupied()))
        };
        let new = reach(&after, answer.to()).contains(escape.from())
            && !reach(&before, answer.from()).contains(escape.from());
        let dearer = piece_value(attacker) < piece_value(attacked);
        let quiet = attacked != Role::King
            && !after.is_capture(escape)
            && !after.is_castling(escape)
            && !before.is_capture(answer)
            && !after.in_check();
        (new && dearer && quiet).then(|| {
            let men = vec![Man { role: attacker, square: answer.to() }, Man { role: attacked, square: escape.from() }];
            Feature::of(FeatureKind::DrivesAway, men)
        })
    }

    fn queens_traded(&self) -> Option<Feature> {
        let queens = |position: &Position| Color::ALL.map(|color| position.pieces(color, Role::Queen).count());
        let traded = queens(self.start) == [1, 1] && queens(&self.end) == [0, 0] && queens(&self.best_end) == [1, 1];
        traded.then(|| Feature::of(FeatureKind::QueensTraded, Vec::new()))
    }

    fn bishop_pair(&self) -> Option<Feature> {
        let count = |position: &Position, color| position.pieces(color, Role::Bishop).count();
        let (us, them) = (self.us, !self.us);
        let lost = count(self.start, us) >= 2
            && count(&self.end, us) < 2
            && count(&self.end, them) >= 2
            && count(&self.best_end, us) >= 2
            && is_nearly_at_rest(&self.end);
        lost.then(|| {
            let pair = men(&self.end, self.end.pieces(them, Role::Bishop));
            Feature::of(FeatureKind::BishopPair, pair)
        })
    }

    fn doubled_pawns(&self) -> Option<Feature> {
        let on = |position: &Position, file: File| position.pieces(self.us, Role::Pawn) & Bitboard::from(file);
        let doubled = |file: &File| {
            on(self.start, *file).count() < 2
                && on(&self.end, *file).count() >= 2
                && on(&self.best_end, *file).count() < 2
        };
        let file = File::ALL.into_iter().find(doubled)?;
        let pawns = men(&self.end, on(&self.end, file));
        Some(Feature::of(FeatureKind::DoubledPawns, pawns))
    }

    fn isolated_pawn(&self) -> Option<Feature> {
        let isolated = |position: &Position| {
            let pawns = position.pieces(self.us, Role::Pawn);
            pawns.into_iter().filter(move |square| (pawns & beside(*square)).is_empty())
        };
        let count = |position: &Position| isolated(position).count();
        let more = count(&self.end) > count(self.start) && count(&self.end) > count(&self.best_end);
        // On the edge, a pawn is isolated as soon as its only neighbour has moved away, which seldom matters.
        let edge = |square: &Square| matches!(square.file(), File::A | File::H);
        let new = |square: &Square| !edge(square) && isolated(self.start).all(|old| old.file() != square.file());
        let pawn = isolated(&self.end).find(new).filter(|_| more)?;
        Some(Feature::of(FeatureKind::IsolatedPawn, vec![pawn_on(pawn)]))
    }

    fn passed_pawn(&self) -> Option<Feature> {
        let them = !self.us;
        let passed = |position: &Position| passed_pawns(position, them);
        let (old, other) = (passed(self.start), passed(&self.best_end));
        let file_has = |pawns: Bitboard, square: Square| (pawns & Bitboard::from(square.file())).any();
        let new = passed(&self.end).into_iter().find(|square| {
            let is_new = !file_has(old, *square) && !file_has(other, *square);
            relative_rank(*square, them) >= ADVANCED && is_new && self.survives(*square)
        })?;
        Some(Feature::of(FeatureKind::PassedPawn, vec![pawn_on(new)]))
    }

    /// Whether the side that erred cannot capture the pawn on this square without loss where the line ends.
    fn survives(&self, square: Square) -> bool {
        let takes = |m: &Move| m.to() == square && self.end.is_capture(*m) && self.end.see_ge(*m, 0);
        self.end.turn() != self.us || !self.end.legal_moves().iter().any(takes)
    }

    /// Detects that the last pieces are exchanged and only kings and pawns are left.
    fn pawn_ending(&self) -> Option<Feature> {
        let pieces = |position: &Position, color| {
            let plain = position.by_role(Role::Pawn) | position.by_role(Role::King);
            (position.by_color(color) & !plain).any()
        };
        let bare = |position: &Position| Color::ALL.into_iter().all(|color| !pieces(position, color));
        let both = Color::ALL.into_iter().all(|color| pieces(self.start, color));
        let left = both && bare(&self.end) && !bare(&self.best_end) && self.end.by_role(Role::Pawn).any();
        left.then(|| Feature::of(FeatureKind::PawnEnding, Vec::new()))
    }

    /// Detects the loss of a far advanced passed pawn for no gain in material and for no such pawn of the opponent.
    fn loses_passer(&self) -> Option<Feature> {
        let far = |color| {
            let pawns = passed_pawns(self.start, color);
            pawns.into_iter().filter(move |square| relative_rank(*square, color) >= FAR)
        };
        let lost = far(self.us).find_map(|square| match pawn_after(self.start, self.played, square) {
            PawnOutcome::Captured(at)
                if !matches!(pawn_after(self.start, self.best, square), PawnOutcome::Captured(_)) =>
            {
                Some(at)
            }
            _ => None,
        })?;
        let replaced = (self.end.pieces(self.us, Role::Pawn) & Bitboard::from(lost)).any();
        let traded =
            far(!self.us).any(|square| matches!(pawn_after(self.start, self.played, square), PawnOutcome::Captured(_)));
        let [before, after] = [self.start, &self.end].map(|position| Balance::of(position, self.us).points());
        (!traded && !replaced && after <= before).then(|| Feature::of(FeatureKind::LosesPasser, vec![pawn_on(lost)]))
    }

    /// Detects a passed pawn of the opponent that the best line captures and the line played does not.
    fn keeps_passer(&self) -> Option<Feature> {
        let them = !self.us;
        let far = passed_pawns(self.start, them).into_iter().filter(|square| relative_rank(*square, them) >= ADVANCED);
        let kept = far.into_iter().find_map(|square| match pawn_after(self.start, self.played, square) {
            PawnOutcome::OnBoard(at)
                if matches!(pawn_after(self.start, self.best, square), PawnOutcome::Captured(_))
                    && self.survives(at) =>
            {
                Some(at)
            }
            _ => None,
        })?;
        let own = |line: &[Move]| {
            passed_pawns(self.start, self.us)
                .into_iter()
                .any(|square| matches!(pawn_after(self.start, line, square), PawnOutcome::Captured(_)))
        };
        (!own(self.best)).then(|| Feature::of(FeatureKind::KeepsPasser, vec![pawn_on(kept)]))
    }

    /// Detects a passed pawn of the opponent that comes farther than in the best line.
    fn passer_advances(&self) -> Option<Feature> {
        let them = !self.us;
        let passed = passed_pawns(&self.end, them);
        let least = RUNS[usize::from(self.end.by_role(Role::Queen).any())];
        let pawn = self.start.pieces(them, Role::Pawn).into_iter().find_map(|square| {
            let PawnOutcome::OnBoard(now) = pawn_after(self.start, self.played, square) else { return None };
            let rank = relative_rank(now, them);
            let other = match pawn_after(self.start, self.best, square) {
                PawnOutcome::OnBoard(at) => relative_rank(at, them),
                PawnOutcome::Captured(_) => 0,
                PawnOutcome::Promoted => return None,
            };
            let runs = passed.contains(now) && rank >= least && rank > relative_rank(square, them);
            (runs && rank >= other + FARTHER && self.survives(now)).then_some(now)
        })?;
        Some(Feature::of(FeatureKind::PasserAdvances, vec![pawn_on(pawn)]))
    }

    /// Detects a king of the other side that comes farther in an ending than in the other line.
    fn king_march(&self) -> Option<Feature> {
        let them = !self.us;
        let is_ending = |position: &Position| {
            let plain = position.by_role(Role::Pawn) | position.by_role(Role::King);
            let few = |color| (position.by_color(color) & !plain).count() <= ENDING;
            position.by_role(Role::Queen).is_empty() && Color::ALL.into_iter().all(few)
        };
        let rank = |position: &Position| relative_rank(position.king(them), them);
        let now = rank(&self.end);
        let farther = now > rank(self.start) && now >= rank(&self.best_end) + MARCH;
        let square = self.end.king(them);
        let marches = now >= MARCHED && farther && is_ending(self.start) && !self.end.in_check();
        marches.then(|| Feature::of(FeatureKind::KingMarch, vec![Man { role: Role::King, square }]))
    }

    /// Detects a rook or queen that enters the last two ranks and cannot be captured there.
    fn invasion(&self) -> Option<Feature> {
        let them = !self.us;
        let inside = |position: &Position| -> Bitboard {
            let heavy = position.pieces(them, Role::Rook) | position.pieces(them, Role::Queen);
            heavy.into_iter().filter(|square| relative_rank(*square, them) >= CAMP).collect()
        };
        let promotes = self.played.iter().any(|m| m.promotion().is_some());
        let [now, before, other] = [&self.end, self.start, &self.best_end].map(inside);
        let new = now.into_iter().find(|square| self.survives(*square))?;
        let is_open = self.start.by_role(Role::Queen).count() < 2 && !promotes;
        let enters = is_open && before.is_empty() && other.is_empty();
        enters.then(|| Feature::of(FeatureKind::Invasion, men(&self.end, Bitboard::from(new))))
    }

    /// Detects bishops and knights on their first rank, at least two more than the other side has.
    fn development(&self) -> Option<Feature> {
        if self.start.fullmoves() > OPENING {
            return None;
        }
        let home = |position: &Position, color| -> Bitboard {
            let minors = position.pieces(color, Role::Bishop) | position.pieces(color, Role::Knight);
            minors.into_iter().filter(|square| relative_rank(*square, color) == 0).collect()
        };
        let lag =
            |position: &Position| home(position, self.us).count() as i32 - home(position, !self.us).count() as i32;
        let least = LAG as i32;
        let (now, before, other) = (lag(&self.end), lag(self.start), lag(&self.best_end));
        let lags = now >= least && now > before && now >= other + least;
        lags.then(|| Feature::of(FeatureKind::Development, men(&self.end, home(&self.end, self.us))))
    }

    fn open_king(&self) -> Option<Feature> {
        let king = self.end.king(self.us);
        let pawns = |position: &Position| position.pieces(self.us, Role::Pawn) & Bitboard::from(king.file());
        let heavy = self.end.pieces(!self.us, Role::Rook) | self.end.pieces(!self.us, Role::Queen);
        let opened = self.start.king(self.us) == king
            && self.best_end.king(self.us) == king
            && pawns(self.start).any()
            && pawns(&self.best_end).any()
            && (self.end.by_role(Role::Pawn) & Bitboard::from(king.file())).is_empty()
            && heavy.any();
        let man = Man { role: Role::King, square: king };
        opened.then(|| Feature::of(FeatureKind::OpenKing, vec![man]))
    }

    fn no_moves(&self) -> Option<Feature> {
        if self.start.fullmoves() < DEVELOPED {
            return None;
        }
        let free = |position: &Position, square: Square| {
            let piece = position.piece_at(square)?;
            let reach = attacks(square, piece, position.occupied());
            Some((reach & !position.by_color(self.us)).any())
        };
        let plain = self.end.by_role(Role::Pawn) | self.end.by_role(Role::King);
        let pieces = self.end.by_color(self.us) & !plain;
        let stuck = pieces.into_iter().find(|square| {
            free(&self.end, *square) == Some(false)
                && free(self.start, *square) == Some(true)
                && free(&self.best_end, *square) != Some(false)
        })?;
        let men = men(&self.end, Bitboard::from(stuck));
        Some(Feature::of(FeatureKind::NoMoves, men))
    }
}

/// Whether a side castles in a line.
fn castles(start: &Position, line: &[Move], color: Color) -> bool {
    let mut position = start.clone();
    line.iter().any(|&m| {
        let castles = position.turn() == color && position.is_castling(m);
        position.do_move(m);
        castles
    })
}

/// Where a pawn is at the end of a line.
enum PawnOutcome {
    /// It stands on this square.
    OnBoard(Square),
    /// It was captured on this square.
    Captured(Square),
    Promoted,
}

fn pawn_after(start: &Position, line: &[Move], mut square: Square) -> PawnOutcome {
    let mut position = start.recent();
    for &m in line {
        if m.from() == square {
            if m.promotion().is_some() {
                return PawnOutcome::Promoted;
            }
            square = m.to();
        } else if position.is_capture(m) && position.captured_square(m) == square {
            return PawnOutcome::Captured(square);
        }
        position.do_move(m);
    }
    PawnOutcome::OnBoard(square)
}

/// The opponent's promotion in a line after the move played, with the number of its ply, if the new piece is not
/// captured by the reply and the best line has no promotion of the opponent.
pub(crate) fn promotion(start: &Position, played: &[Move], best: &[Move]) -> Option<(usize, Feature)> {
    let them = !start.turn();
    let promotes = |line: &[Move]| {
        let mut position = start.recent();
        line.iter().position(|&m| {
            let promotes = position.turn() == them && m.promotion().is_some();
            position.do_move(m);
            promotes
        })
    };
    let ply = promotes(played)?;
    let (m, reply) = (played[ply], played.get(ply + 1)?);
    if promotes(best).is_some() || reply.to() == m.to() {
        return None;
    }
    let man = Man { role: m.promotion()?, square: m.to() };
    Some((ply + 1, Feature::of(FeatureKind::Promotes, vec![man])))
}

fn pawn_on(square: Square) -> Man {
    Man { role: Role::Pawn, square }
}

fn men(position: &Position, squares: Bitboard) -> Vec<Man> {
    let man = |square| Some(Man { role: position.role_at(square)?, square });
    squares.into_iter().filter_map(man).collect()
}

/// The files adjacent to the file of a square.
fn beside(square: Square) -> Bitboard {
    let file = square.file();
    let near = [file.offset(-1), file.offset(1)];
    near.into_iter().flatten().map(Bitboard::from).fold(Bitboard::EMPTY, |a, b| a | b)
}

/// Rank counted from the side's own first rank, from 0.
pub(super) fn relative_rank(square: Square, color: Color) -> u32 {
    let rank = u32::from(square.rank());
    color.fold_wb(rank, 7 - rank)
}

/// Pawns with no enemy pawn in front of them on their own and the neighbouring files.
pub(super) fn passed_pawns(position: &Position, color: Color) -> Bitboard {
    let enemy = position.pieces(!color, Role::Pawn);
    let passed = |square: &Square| {
        let files = beside(*square) | Bitboard::from(square.file());
        let ahead = Rank::ALL
            .into_iter()
            .filter(|rank| {
                let (rank, own) = (u32::from(*rank), u32::from(square.rank()));
                color.fold_wb(rank > own, rank < own)
            })
            .map(Bitboard::from)
            .fold(Bitboard::EMPTY, |a, b| a | b);
        (enemy & files & ahead).is_empty() && !attacked_by_pawn(position, *square, color)
    };
    position.pieces(color, Role::Pawn).into_iter().filter(passed).collect()
}

fn attacked_by_pawn(position: &Position, square: Square, color: Color) -> bool {
    (pawn_attacks(color, square) & position.pieces(!color, Role::Pawn)).any()
}

// Attack on a king: pieces that attack the squares next to it, and squares that only the king defends.

/// Number of pieces that attack squares next to the king in an attack without checks, and with checks.
const ATTACKERS: [usize; 2] = [3, 2];

/// The pieces around a king.
struct Siege {
    king: Square,
    /// Pieces of the opponent that attack the king or a square next to it.
    attackers: Bitboard,
    /// Squares next to the king that these pieces attack and only the king defends.
    weak: Bitboard,
}

impl Siege {
    fn of(position: &Position, us: Color) -> Self {
        let king = position.king(us);
        let ring = attacks(king, Role::King.of(us), position.occupied());
        let plain = position.by_role(Role::Pawn) | position.by_role(Role::King);
        let pieces = position.by_color(!us) & !plain;
        let reach = |square: Square| {
            let piece = position.piece_at(square);
            piece.map_or(Bitboard::EMPTY, |piece| attacks(square, piece, position.occupied()))
        };
        let attackers: Bitboard =
            pieces.into_iter().filter(|square| (reach(*square) & ring.with(king)).any()).collect();
        let defended = |square: Square| {
            let all = position.attackers_to(square, position.occupied()) & position.by_color(us);
            (all & !Bitboard::from(king)).any()
        };
        let attacked = attackers.into_iter().map(reach).fold(Bitboard::EMPTY, |a, b| a | b);
        let weak = (ring & attacked).into_iter().filter(|square| !defended(*square)).collect();
        Self { king, attackers, weak }
    }
}

/// The attack on the king of `us` at the end of the line played, if it is stronger than at the end of the best line.
/// `men` are the king and the pieces, two at least, that attack the weak squares; `squares` are these squares.
pub(super) fn king_attack(start: &Position, played: &[Move], best: &[Move], us: Color) -> Option<Feature> {
    let [(end, checks), (best_end, best_checks)] = [played, best].map(|line| play(start, line, us));
    let heavy = |role| end.pieces(!us, role).count();
    let strong = heavy(Role::Queen) > 0 || heavy(Role::Rook) > 1;
    let [now, then] = [&end, &best_end].map(|position| Siege::of(position, us));
    let enough = now.attackers.count() >= ATTACKERS[usize::from(checks > 0)];
    let grows =
        now.attackers.count() > then.attackers.count() || now.weak.count() > then.weak.count() || checks > best_checks;
    let hits = |square: Square, targets: Bitboard| {
        let piece = end.piece_at(square);
        piece.is_some_and(|piece| (attacks(square, piece, end.occupied()) & targets).any())
    };
    let hitting: Bitboard = now.attackers.into_iter().filter(|square| hits(*square, now.weak)).collect();
    // The opponent protects his own men and attacks the other squares, which are named if all his pieces attack one.
    let free = now.weak & !end.by_color(!us);
    let named = if hitting.into_iter().all(|square| hits(square, free)) { free } else { now.weak };
    (strong && enough && grows && hitting.more_than_one()).then(|| {
        let man = |square| Some(Man { role: end.role_at(square)?, square });
        let men = std::iter::once(now.king).chain(hitting).filter_map(man).collect();
        Feature { kind: FeatureKind::KingAttack, men, squares: named.into_iter().collect() }
    })
}

/// The end of a line, and the number of checks to the king of `us` in it.
fn play(start: &Position, line: &[Move], us: Color) -> (Position, usize) {
    let mut position = start.recent();
    let mut checks = 0;
    for &m in line {
        position.do_move(m);
        checks += usize::from(position.turn() == us && position.in_check());
    }
    (position, checks)
}
