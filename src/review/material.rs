//! What a line wins: the pieces that are gone when it has come to rest.

use std::fmt;

use crate::board::{Color, Move, Position, Role};

/// Plies of a line that are looked at and shown: what comes later is a guess.
pub(crate) const HORIZON: usize = 10;

/// The kinds of pieces that can be won, dearest first, with what they are worth in pawns.
const KINDS: [(Role, i32, &str, &str); 5] = [
    (Role::Queen, 9, "a queen", "queens"),
    (Role::Rook, 5, "a rook", "rooks"),
    (Role::Bishop, 3, "a bishop", "bishops"),
    (Role::Knight, 3, "a knight", "knights"),
    (Role::Pawn, 1, "a pawn", "pawns"),
];

/// What a piece is worth in pawns; a king nothing.
pub(crate) fn worth(role: Role) -> i32 {
    let kind = KINDS.iter().find(|(kind, ..)| *kind == role);
    kind.map_or(0, |(_, worth, ..)| *worth)
}

/// How much more of each kind one side has than the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Balance([i32; 5]);

impl Balance {
    /// Of a position, from the view of `color`.
    pub(crate) fn of(position: &Position, color: Color) -> Self {
        Self(KINDS.map(|(role, ..)| {
            let count = |color| position.pieces(color, role).count() as i32;
            count(color) - count(!color)
        }))
    }

    /// In pawns.
    pub(crate) fn points(self) -> i32 {
        KINDS
            .iter()
            .zip(self.0)
            .map(|((_, worth, ..), n)| worth * n)
            .sum()
    }

    /// What came since an earlier balance. A bishop for a knight is an even trade and is left out.
    fn since(self, earlier: Self) -> Self {
        const BISHOP: usize = 2;
        const KNIGHT: usize = 3;
        let mut change: [i32; 5] = std::array::from_fn(|i| self.0[i] - earlier.0[i]);
        let (bishops, knights) = (change[BISHOP], change[KNIGHT]);
        if bishops.signum() * knights.signum() < 0 {
            let even = bishops.abs().min(knights.abs()) * bishops.signum();
            change[BISHOP] -= even;
            change[KNIGHT] += even;
        }
        Self(change)
    }

    /// The kinds of which there are more (`sign` 1) or fewer (-1), in words.
    fn words(self, sign: i32) -> Option<String> {
        let parts: Vec<String> = KINDS
            .iter()
            .zip(self.0)
            .filter(|(_, n)| n * sign > 0)
            .map(|((_, _, one, many), n)| match n.abs() {
                1 => (*one).to_owned(),
                n => format!("{} {many}", in_words(n)),
            })
            .collect();
        let (last, others) = parts.split_last()?;
        Some(if others.is_empty() {
            last.clone()
        } else {
            format!("{} and {last}", others.join(", "))
        })
    }
}

fn in_words(n: i32) -> String {
    const WORDS: [&str; 4] = ["two", "three", "four", "five"];
    let word = usize::try_from(n - 2).ok().and_then(|i| WORDS.get(i));
    word.map_or_else(|| n.to_string(), |word| (*word).to_owned())
}

/// What a line does to the material of a side, once it has come to rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Swing {
    /// Plies until then.
    pub plies: usize,
    /// Pawns won (negative: lost) since the beginning of the line.
    pub points: i32,
    /// Whether the side has promoted a pawn on the way, and still has what it became.
    pub promotes: bool,
    change: Balance,
}

impl fmt::Display for Swing {
    /// `a rook for a bishop and a pawn`: what is won for what is given, or lost for what is gained.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.points < 0 { -1 } else { 1 };
        let main = self.change.words(sign);
        let price = self.change.words(-sign);
        write!(f, "{}", main.as_deref().unwrap_or("nothing"))?;
        match price {
            Some(price) => write!(f, " for {price}"),
            None => Ok(()),
        }
    }
}

/// What a line wins for `color`; `None` where it does not come to rest within sight. Of equal ends the first counts.
pub(crate) fn swing(start: &Position, line: &[Move], color: Color) -> Option<Swing> {
    let before = Balance::of(start, color);
    let mut position = start.clone();
    let mut found: Option<Swing> = None;
    let mut promotions = [0; 2];
    for (ply, &m) in line.iter().take(HORIZON).enumerate() {
        promotions[position.turn() as usize] += i32::from(m.promotion().is_some());
        position.do_move(m);
        if !is_at_rest(&position) {
            continue;
        }
        let change = Balance::of(&position, color).since(before);
        if found.is_none_or(|known| known.change != change) {
            found = Some(Swing {
                plies: ply + 1,
                points: change.points(),
                promotes: promotions[color as usize] > 0 && change.points() >= 2,
                change,
            });
        }
    }
    found
}

/// What a line wins for the side that begins it as soon as it has come to rest with two pawns more at least.
pub(crate) fn first_gain(start: &Position, line: &[Move]) -> Option<Swing> {
    (1..=line.len().min(HORIZON)).find_map(|plies| {
        let won = swing(start, &line[..plies], start.turn())?;
        (won.plies == plies && won.points >= 2).then_some(won)
    })
}

/// Whether the side to move neither stands in check nor can win material or promote at once.
fn is_at_rest(position: &Position) -> bool {
    let wins =
        |m: &Move| m.promotion().is_some() || position.is_capture(*m) && position.see_ge(*m, 100);
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

    fn told(fen: &str, moves: &str, color: Color) -> Option<(usize, i32, String)> {
        let position = position(fen);
        let swing = swing(&position, &line(&position, moves), color)?;
        Some((swing.plies, swing.points, swing.to_string()))
    }

    #[test]
    fn what_is_won_is_told_in_words() {
        // A fork wins the rook for the knight.
        let fork = "r3k2r/ppp2ppp/8/3N4/8/8/PPP2PPP/R3K2R w KQ - 0 1";
        assert_eq!(
            told(fork, "Nxc7+ Kd7 Nxa8 Rxa8", Color::White),
            Some((4, 3, "a rook and a pawn for a knight".to_owned()))
        );
        assert_eq!(
            told(fork, "Nxc7+ Kd7 Nxa8 Rxa8", Color::Black),
            Some((4, -3, "a rook and a pawn for a knight".to_owned()))
        );
        // In the middle of an exchange nothing is won yet.
        let exchange = "4k3/8/2p5/3p4/4P3/8/8/4K3 w - - 0 1";
        assert_eq!(told(exchange, "exd5", Color::White), None);
        assert_eq!(
            told(exchange, "exd5 cxd5", Color::White),
            Some((2, 0, "nothing".to_owned()))
        );
    }

    #[test]
    fn promotions_count_when_the_piece_lives() {
        let fen = "4k3/P7/8/8/8/8/8/4K3 w - - 0 1";
        let start = position(fen);
        let swing = swing(&start, &line(&start, "a8=Q+ Kd7 Qb7+ Kd6"), Color::White).expect("rest");
        assert!(swing.promotes && swing.points == 8);
        assert_eq!(swing.to_string(), "a queen for a pawn");
        let lost = position("r3k3/1P6/8/8/8/8/8/4K3 w - - 0 1");
        let swing = super::swing(&lost, &line(&lost, "b8=Q+ Rxb8"), Color::White).expect("rest");
        assert!(!swing.promotes && swing.points == -1);
    }

    #[test]
    fn a_knight_for_a_bishop_is_nothing() {
        let fen = "4k3/3p4/2b5/8/1N6/8/8/4K3 w - - 0 1";
        assert_eq!(
            told(fen, "Nxc6 dxc6", Color::White),
            Some((2, 0, "nothing".to_owned()))
        );
    }

    #[test]
    fn a_gain_is_told_as_soon_as_it_is_safe() {
        let start = position("4k3/7p/8/3q4/4N3/8/8/4K3 w - - 0 1");
        let moves = line(&start, "Nf6+ Ke7 Nxd5+ Kd6 Nc3 h5");
        let won = first_gain(&start, &moves).expect("a queen");
        assert_eq!((won.plies, won.to_string()), (4, "a queen".to_owned()));
        assert_eq!(first_gain(&start, &moves[..2]), None);
    }

    #[test]
    fn lists_read_well() {
        let words = |counts| Balance(counts).words(1);
        assert_eq!(words([0; 5]), None);
        assert_eq!(
            words([0, 1, 0, 0, 2]).as_deref(),
            Some("a rook and two pawns")
        );
        assert_eq!(
            words([1, 0, 1, 1, -1]).as_deref(),
            Some("a queen, a bishop and a knight")
        );
    }
}
