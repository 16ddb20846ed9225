//! Material result of a line: the pieces won and lost once the line is quiet.

use std::fmt;

use crate::board::{Bitboard, Color, Move, Position, Role, piece_value};

/// Plies of a line that are examined and shown; later moves are guesses.
pub(crate) const HORIZON: usize = 10;

/// Numerator and denominator of the share of a result that counts as most of it: two thirds.
const MOST: (i32, i32) = (2, 3);

/// The kinds of pieces that can be won, most valuable first, with their names.
const KINDS: [(Role, &str, &str); 5] = [
    (Role::Queen, "a queen", "queens"),
    (Role::Rook, "a rook", "rooks"),
    (Role::Bishop, "a bishop", "bishops"),
    (Role::Knight, "a knight", "knights"),
    (Role::Pawn, "a pawn", "pawns"),
];

/// Values of [`KINDS`] in centipawns in unequal trades.
const WORTH: [i32; 5] = [950, 480, 340, 320, 100];
/// Minimum and maximum loss in centipawns that each pawn explains. Below, the material has its price.
const EXPLAINED: (i32, i32) = (30, 300);
/// Pawns from which a loss of material explains any loss.
const EXPLAINS_ANY: i32 = 3;
/// Minimum number of centipawns that an uneven trade wins.
const UNEVEN: i32 = 40;

/// Indices of the minor pieces in [`KINDS`].
const BISHOP: usize = 2;
const KNIGHT: usize = 3;

/// Surplus of one side in each kind of piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Balance([i32; 5]);

impl Balance {
    /// The balance of a position from the view of `color`.
    pub(crate) fn of(position: &Position, color: Color) -> Self {
        Self(KINDS.map(|(role, ..)| {
            let count = |color| position.pieces(color, role).count() as i32;
            count(color) - count(!color)
        }))
    }

    /// The balance in pawns.
    pub(crate) fn points(self) -> i32 {
        KINDS.iter().zip(self.0).map(|(&(role, ..), n)| piece_value(role) * n).sum()
    }

    /// Change since an earlier balance. A bishop for a knight is an even trade and is omitted.
    fn since(self, earlier: Self) -> Self {
        let mut change: [i32; 5] = std::array::from_fn(|i| self.0[i] - earlier.0[i]);
        let (bishops, knights) = (change[BISHOP], change[KNIGHT]);
        if bishops.signum() * knights.signum() < 0 {
            let even = bishops.abs().min(knights.abs()) * bishops.signum();
            change[BISHOP] -= even;
            change[KNIGHT] += even;
        }
        Self(change)
    }

    /// The kinds in surplus (`sign` 1) or deficit (-1), in words.
    fn parts(self, sign: i32) -> Vec<String> {
        KINDS
            .iter()
            .zip(self.0)
            .filter(|(_, n)| n * sign > 0)
            .map(|((_, one, many), n)| match n.abs() {
                1 => (*one).to_owned(),
                n => format!("{} {many}", in_words(n)),
            })
            .collect()
    }

    /// The pieces in surplus (`sign` 1) or deficit (-1), one entry each.
    fn roles(self, sign: i32) -> Vec<Role> {
        let kinds = KINDS.iter().zip(self.0);
        let roles = kinds.flat_map(|((role, ..), n)| {
            let count = usize::try_from(n * sign).unwrap_or(0);
            std::iter::repeat_n(*role, count)
        });
        roles.collect()
    }

    /// Whether the balance is one rook against one bishop or knight, from the view of the side given by `sign`.
    fn is_exchange(self, sign: i32) -> bool {
        let [queens, rooks, bishops, knights, _] = self.0.map(|n| n * sign);
        queens == 0 && rooks == 1 && bishops + knights == -1 && bishops * knights == 0
    }

    /// Renames a net change of one bishop or knight after the kind that was captured first.
    fn named_after(mut self, first: Option<Role>) -> Self {
        let minors = [self.0[BISHOP], self.0[KNIGHT]];
        let [wanted, other] = match first {
            Some(Role::Bishop) => [BISHOP, KNIGHT],
            Some(Role::Knight) => [KNIGHT, BISHOP],
            _ => return self,
        };
        if minors.iter().map(|n| n.abs()).sum::<i32>() == 1 {
            self.0[wanted] = minors[0] + minors[1];
            self.0[other] = 0;
        }
        self
    }
}

fn in_words(n: i32) -> String {
    const WORDS: [&str; 4] = ["two", "three", "four", "five"];
    let word = usize::try_from(n - 2).ok().and_then(|i| WORDS.get(i));
    word.map_or_else(|| n.to_string(), |word| (*word).to_owned())
}

/// Effect of a line on the material of a side, once the line is quiet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Swing {
    /// Plies until the line is quiet.
    pub plies: usize,
    /// Pawns won (negative: lost) since the beginning of the line.
    pub points: i32,
    /// Whether the side promoted a pawn in the line and still has the promoted piece.
    pub promotes: bool,
    /// Whether the queen that changes hands is the only one of its side.
    sole_queen: bool,
    change: Balance,
}

impl Swing {
    /// The pieces won, and the pieces given up for them; lost and gained if the swing is negative.
    pub(crate) fn roles(&self) -> [Vec<Role>; 2] {
        let sign = self.sign();
        [self.change.roles(sign), self.change.roles(-sign)]
    }

    /// Whether one piece of this kind is won, or lost, and nothing else changes hands.
    pub(crate) fn is_only(&self, role: Role) -> bool {
        self.roles() == [vec![role], Vec::new()]
    }

    /// Whether the side has given pieces that count as much in pawns but are weaker, such as a rook and a pawn for two
    /// minor pieces.
    pub(crate) fn is_uneven(&self) -> bool {
        let value: i32 = WORTH.iter().zip(self.change.0).map(|(worth, n)| worth * n).sum();
        let pieces = self.roles().map(|roles| roles.iter().any(|role| *role != Role::Pawn));
        (0..=1).contains(&self.points) && value >= UNEVEN && pieces == [true; 2]
    }

    /// Whether the other side has given a piece for one or two pawns, or the exchange.
    pub(crate) fn is_sacrifice(&self) -> bool {
        let [won, given] = self.roles();
        let piece = won.iter().any(|role| *role != Role::Pawn);
        (1..=2).contains(&self.points) && piece && !given.is_empty()
    }

    fn sign(&self) -> i32 {
        if self.points < 0 { -1 } else { 1 }
    }
}

impl fmt::Display for Swing {
    /// `a bishop for a pawn`, `the exchange`: pieces won and given up, or lost and gained.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = self.sign();
        let (mut main, mut price) = (self.change.parts(sign), self.change.parts(-sign));
        if self.change.is_exchange(sign) {
            // Most valuable first: the rook is first in one list, the bishop or knight in the other.
            main[0] = "the exchange".to_owned();
            price.remove(0);
        }
        if main.is_empty() {
            return write!(f, "nothing");
        }
        if self.sole_queen && main[0] == KINDS[0].1 {
            main[0] = "the queen".to_owned();
        }
        write!(f, "{}", list(&main))?;
        if price.is_empty() {
            return Ok(());
        }
        write!(f, " for {}", list(&price))
    }
}

/// `a queen, a bishop and a knight`
pub(crate) fn list(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    }
}

/// Material that a line wins for `color`; `None` if the line does not become quiet within the horizon. Among equal
/// results the earliest counts.
pub(crate) fn swing(start: &Position, line: &[Move], color: Color) -> Option<Swing> {
    swing_until(start, line, color, is_at_rest)
}

/// The same, but single pawns may hang where the line ends.
pub(crate) fn rough_swing(start: &Position, line: &[Move], color: Color) -> Option<Swing> {
    swing_until(start, line, color, is_nearly_at_rest)
}

fn swing_until(start: &Position, line: &[Move], color: Color, is_quiet: fn(&Position) -> bool) -> Option<Swing> {
    let before = Balance::of(start, color);
    let mut position = start.clone();
    let mut found: Option<Swing> = None;
    let mut promoted = Bitboard::EMPTY;
    for (ply, &m) in line.iter().take(HORIZON).enumerate() {
        let moved = promoted.contains(m.from());
        promoted.discard(m.from());
        promoted.discard(m.to());
        if position.turn() == color && (moved || m.promotion().is_some()) {
            promoted.add(m.to());
        }
        position.do_move(m);
        if !is_quiet(&position) {
            continue;
        }
        let change = Balance::of(&position, color).since(before);
        let winner = if change.points() < 0 { !color } else { color };
        let change = change.named_after(first_minor(start, &line[..=ply], winner));
        if found.is_none_or(|known| known.change != change) {
            found = Some(Swing {
                plies: ply + 1,
                points: change.points(),
                promotes: promoted.any() && change.points() >= 2,
                sole_queen: start.pieces(!winner, Role::Queen).count() == 1
                    && position.pieces(!winner, Role::Queen).is_empty(),
                change,
            });
        }
    }
    found
}

/// The early part of a line's result: the first quiet position with most of the material that the whole line wins or
/// loses. A sentence about a short line is more useful than one about ten plies.
pub(crate) fn settled(start: &Position, line: &[Move], color: Color) -> Option<Swing> {
    let whole = swing(start, line, color)?;
    let early = (1..whole.plies).find_map(|plies| {
        let part = swing(start, &line[..plies], color).filter(|part| part.plies == plies)?;
        let same = part.points.signum() == whole.points.signum();
        let (part_of, all) = (part.points.abs(), whole.points.abs());
        (same && part_of <= all && is_most(part_of, all)).then_some(part)
    });
    Some(early.unwrap_or(whole))
}

/// Whether a number of pawns is most of another one.
pub(crate) fn is_most(part: i32, all: i32) -> bool {
    MOST.1 * part >= MOST.0 * all
}

/// Whether a difference of this many pawns in material explains a loss of this many centipawns.
pub(crate) fn explains(points: i32, loss: i32) -> bool {
    loss >= EXPLAINED.0 * points && (points >= EXPLAINS_ANY || loss <= EXPLAINED.1 * points)
}

/// The first bishop or knight that a side captures without an immediate recapture.
fn first_minor(start: &Position, line: &[Move], winner: Color) -> Option<Role> {
    let mut position = start.clone();
    for (ply, &m) in line.iter().enumerate() {
        let captured = position.captured(m).filter(|_| position.turn() == winner);
        position.do_move(m);
        let answered = line.get(ply + 1).is_some_and(|next| next.to() == m.to());
        if !answered && let Some(role @ (Role::Bishop | Role::Knight)) = captured {
            return Some(role);
        }
    }
    None
}

/// Whether the position is quiet: no check, no winning capture, no promotion.
pub(crate) fn is_at_rest(position: &Position) -> bool {
    is_quiet(position, 100)
}

/// The same, but captures may win a pawn.
pub(crate) fn is_nearly_at_rest(position: &Position) -> bool {
    is_quiet(position, 150)
}

/// Whether a line ends in the middle of an exchange: its last move captures, and the side to move can recapture
/// without loss.
pub(crate) fn ends_in_exchange(start: &Position, line: &[Move]) -> bool {
    let Some((&last, before)) = line.split_last() else { return false };
    let mut position = start.recent();
    for &m in before {
        position.do_move(m);
    }
    let captures = position.is_capture(last);
    position.do_move(last);
    let recaptures = |m: &Move| m.to() == last.to() && position.see_ge(*m, 0);
    captures && position.legal_moves().iter().any(recaptures)
}

/// Whether there is no check, no promotion, and no capture that wins this many centipawns.
fn is_quiet(position: &Position, least: i32) -> bool {
    let wins = |m: &Move| m.promotion().is_some() || position.is_capture(*m) && position.see_ge(*m, least);
    !position.in_check() && !position.legal_moves().iter().any(wins)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::analyst::tests::position;

    fn line(position: &Position, text: &str) -> Vec<Move> {
        let mut position = position.clone();
        let mut play = |san| {
            let m = position.parse_san(san).expect(san);
            position.do_move(m);
            m
        };
        text.split(' ').map(&mut play).collect()
    }

    fn gain_of(fen: &str, moves: &str, color: Color) -> Option<(usize, i32, String)> {
        let position = position(fen);
        let swing = swing(&position, &line(&position, moves), color)?;
        Some((swing.plies, swing.points, swing.to_string()))
    }

    #[test]
    fn won_material_is_described_in_words() {
        // A fork wins the rook for the knight.
        let fork = "r3k2r/ppp2ppp/8/3N4/8/8/PPP2PPP/R3K2R w KQ - 0 1";
        assert_eq!(
            gain_of(fork, "Nxc7+ Kd7 Nxa8 Rxa8", Color::White),
            Some((4, 3, "the exchange and a pawn".to_owned()))
        );
        assert_eq!(
            gain_of(fork, "Nxc7+ Kd7 Nxa8 Rxa8", Color::Black),
            Some((4, -3, "the exchange and a pawn".to_owned()))
        );
        // In the middle of an exchange nothing is won yet.
        let exchange = "4k3/8/2p5/3p4/4P3/8/8/4K3 w - - 0 1";
        assert_eq!(gain_of(exchange, "exd5", Color::White), None);
        assert_eq!(gain_of(exchange, "exd5 cxd5", Color::White), Some((2, 0, "nothing".to_owned())));
        let ends = |moves: &str| {
            let start = position(exchange);
            ends_in_exchange(&start, &line(&start, moves))
        };
        assert!(ends("exd5") && !ends("exd5 cxd5") && !ends("e5"));
    }

    #[test]
    fn promotion_counts_only_if_the_piece_survives() {
        let fen = "4k3/P7/8/8/8/8/8/4K3 w - - 0 1";
        let start = position(fen);
        let swing = swing(&start, &line(&start, "a8=Q+ Kd7 Qb7+ Kd6"), Color::White).expect("rest");
        assert!(swing.promotes && swing.points == 8);
        assert_eq!(swing.to_string(), "a queen for a pawn");
        let lost = position("r3k3/1P6/8/8/8/8/8/4K3 w - - 0 1");
        let swing = super::swing(&lost, &line(&lost, "b8=Q+ Rxb8"), Color::White).expect("rest");
        assert!(!swing.promotes && swing.points == -1);
        // The queen is captured, but it has captured a knight before: material is won, and no pawn is promoted.
        let traded = position("r3k3/8/8/8/8/8/2p1B3/1N2K3 b - - 0 1");
        let line = line(&traded, "cxb1=Q+ Bd1 Qxd1+ Kxd1");
        let swing = super::swing(&traded, &line, Color::Black).expect("quiet");
        assert!(!swing.promotes && swing.points == 5, "{swing:?}");
    }

    #[test]
    fn knight_for_a_bishop_is_an_even_trade() {
        let fen = "4k3/3p4/2b5/8/1N6/8/8/4K3 w - - 0 1";
        assert_eq!(gain_of(fen, "Nxc6 dxc6", Color::White), Some((2, 0, "nothing".to_owned())));
    }

    #[test]
    fn pawn_explains_a_small_loss_and_a_piece_a_large_one() {
        for (points, loss, explained) in [
            (1, 120, true),
            (1, 301, false),
            (3, 850, true),
            (3, 1500, true),
            (2, 601, false),
            (3, 60, false),
            (9, 200, false),
        ] {
            assert_eq!(explains(points, loss), explained, "{points} {loss}");
        }
        assert!(is_most(2, 3) && is_most(1, 1) && !is_most(1, 2) && !is_most(0, 1));
    }

    #[test]
    fn uneven_trade_has_equal_points_and_unequal_pieces() {
        let start = position("r1bq1rk1/pppp1ppp/2n5/2b1p3/P1B1P3/2PP1N2/1P3nPP/RNBQ1RK1 w - - 0 8");
        let trade = swing(&start, &line(&start, "Rxf2 Bxf2+ Kxf2 d6 Kg1"), Color::White).expect("quiet");
        assert!(trade.is_uneven(), "{trade:?}");
        assert_eq!(trade.to_string(), "a bishop and a knight for a rook");
        let even = position("4k3/2p5/3p4/4b3/3N4/8/8/4K3 w - - 0 1");
        let even = swing(&even, &line(&even, "Nc6 Bd4 Nxd4"), Color::White);
        assert!(even.is_none_or(|even| !even.is_uneven()));
    }

    #[test]
    fn sacrifice_gives_a_piece_for_pawns_or_the_exchange() {
        let given = |fen: &str, moves: &str| {
            let start = position(fen);
            let swing = swing(&start, &line(&start, moves), Color::Black).expect("quiet");
            (swing.is_sacrifice(), swing.to_string())
        };
        let bishop = "4k3/5pp1/8/8/2B5/8/8/4K3 w - - 0 1";
        assert_eq!(given(bishop, "Bxf7+ Kxf7 Ke2"), (true, "a bishop for a pawn".to_owned()));
        let exchange = "4k3/2p5/3n4/8/8/8/3R4/4K3 w - - 0 1";
        assert_eq!(given(exchange, "Rxd6 cxd6 Ke2"), (true, "the exchange".to_owned()));
        let loss = "4k3/2p5/3p4/8/8/8/3R4/4K3 w - - 0 1";
        assert!(!given(loss, "Rxd6 cxd6 Ke2").0, "a rook for a pawn is a loss, not a sacrifice");
    }

    #[test]
    fn swings_are_described_by_their_pieces() {
        let words = |change: [i32; 5]| {
            let change = Balance(change);
            let points = change.points();
            Swing { plies: 1, points, promotes: false, sole_queen: false, change }.to_string()
        };
        for (change, text) in [
            ([0; 5], "nothing"),
            ([0, 1, 0, 0, 2], "a rook and two pawns"),
            ([1, 0, 1, 1, -1], "a queen, a bishop and a knight for a pawn"),
            ([0, 1, 0, -1, 0], "the exchange"),
            ([0, -1, 1, 0, 0], "the exchange"),
            ([0, 1, -1, 0, -1], "the exchange for a pawn"),
            ([0, 1, -1, -1, 2], "a rook and two pawns for a bishop and a knight"),
            ([0, -1, 1, 1, 0], "a bishop and a knight for a rook"),
        ] {
            assert_eq!(words(change), text, "{change:?}");
        }
        let start = position("4k3/8/8/3q4/8/4N3/8/4K3 w - - 0 1");
        let queen = swing(&start, &line(&start, "Nxd5 Kd7"), Color::White).expect("quiet");
        assert!(queen.to_string() == "the queen" && queen.is_only(Role::Queen));
        let two = position("4k3/8/8/3q4/8/4N3/q7/4K3 w - - 0 1");
        let queen = swing(&two, &line(&two, "Nxd5 Kd7"), Color::White).expect("quiet");
        assert_eq!(queen.to_string(), "a queen");
    }

    #[test]
    fn minor_piece_is_named_by_the_first_capture() {
        // White captures a knight, and later a bishop for a knight: a knight is won.
        let fen = "4k3/2b3p1/8/3n4/2B5/4N3/6P1/4K3 w - - 0 1";
        assert_eq!(gain_of(fen, "Nxd5 Kd7 Nxc7 Kxc7", Color::White), Some((1, 3, "a knight".to_owned())));
        let (start, other) = (position(fen), "Bxd5 Kd7 Bf3 g6");
        let won = swing(&start, &line(&start, other), Color::White).expect("quiet");
        assert_eq!(won.roles(), [vec![Role::Knight], vec![]]);
    }
}
