//! Each kind of sentence with a position where it must be said and one where it must not.

use super::*;
use crate::review::analyst::tests::{analyst, position};

/// What is said of a move, searched with so many nodes.
fn told(fen: &str, san: &str) -> Vec<Reason> {
    told_of(&position(fen), san)
}

fn told_of(position: &Position, san: &str) -> Vec<Reason> {
    let m = position.parse_san(san).expect(san);
    let mut analyst = analyst(20_000, 1);
    let mut reached = position.clone();
    reached.do_move(m);
    let after = analyst.look(&reached).expect("a look");
    let before = analyst.look(position).expect("a look");
    let facts = Facts::gather(position, m, &before, &after, None, &mut analyst);
    reasons(&facts.expect("no Ctrl-C"))
}

fn text(fen: &str, san: &str, kind: &str) -> Option<String> {
    let reasons = told(fen, san);
    reasons
        .into_iter()
        .find(|reason| reason.kind == kind)
        .map(|reason| reason.text)
}

/// The sentence must be there for one move and begin so, and must not be there for another.
fn check(kind: &str, must: (&str, &str, &str), must_not: (&str, &str)) {
    let (fen, san, beginning) = must;
    let said = text(fen, san, kind);
    let all = || told(fen, san);
    assert!(
        said.as_ref()
            .is_some_and(|said| said.starts_with(beginning)),
        "{kind} of {san} in {fen}: {:?}",
        all()
    );
    let (fen, san) = must_not;
    assert_eq!(text(fen, san, kind), None, "{kind} of {san} in {fen}");
}

/// White mates on the eighth rank.
const BACK_RANK: &str = "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1";
/// Black must see to f7.
const SCHOLAR: &str = "r1bqkbnr/pppp1ppp/2n5/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR b KQkq - 3 3";
/// A queen that is attacked by a pawn.
const QUEEN_HANGS: &str = "rnbqkb1r/ppp1pppp/5n2/3p4/4Q3/8/PPPP1PPP/RNB1KBNR w KQkq - 0 4";
/// White can fork king and rook on c7.
const FORK: &str = "r3k2r/pp3ppp/8/3N4/8/8/PPP2PPP/R3K2R w KQkq - 0 1";

/// White promotes now or never.
const PROMOTION: &str = "8/P1k5/8/8/8/8/8/K7 w - - 0 1";
/// Philidor's defence: Black should take.
const PHILIDOR: &str = "rnbqkbnr/ppp2ppp/3p4/4p3/3PP3/5N2/PPP2PPP/RNBQKB1R b KQkq - 0 3";

/// The Italian game: Black's knights stand well.
const ITALIAN: &str = "r1bqk2r/pppp1ppp/2n2n2/2b1p3/2B1P3/2NP1N2/PPP2PPP/R1BQK2R b KQkq - 0 5";

#[test]
fn mates_that_are_missed() {
    check(
        "missed_mate",
        (BACK_RANK, "h3", "It misses mate in 1: 1. Rd8#."),
        (BACK_RANK, "Rd8#"),
    );
    // A move that still mates misses nothing: it is only slower.
    let two_ways = "7k/8/5K2/6Q1/8/8/8/8 w - - 0 1";
    assert_eq!(text(two_ways, "Qg4", "missed_mate"), None);
    check(
        "best_mates",
        (two_ways, "Qg4", "Mate in 1 was there: 1. Qg7#."),
        (two_ways, "Qg7#"),
    );
}

#[test]
fn mates_that_are_allowed() {
    check(
        "allows_mate",
        (SCHOLAR, "Nf6", "It allows mate in 1: 4. Qxf7#."),
        (SCHOLAR, "g6"),
    );
    // Who is mated whatever he does allows nothing.
    let lost = "7k/8/6K1/8/8/8/8/5R2 b - - 0 1";
    assert_eq!(text(lost, "Kg8", "allows_mate"), None);
}

#[test]
fn stalemates() {
    let fen = "7k/8/8/6K1/8/5Q2/8/8 w - - 0 1";
    check(
        "stalemate",
        (fen, "Qf7", "It is stalemate: Black has no legal move."),
        (fen, "Kg6"),
    );
}

#[test]
fn material_that_is_lost() {
    check(
        "loses_material",
        (QUEEN_HANGS, "Nf3", "It loses a queen: 4... "),
        (QUEEN_HANGS, "Qe3"),
    );
    // A trade loses nothing.
    let trade = "3qk3/ppp2ppp/8/8/8/8/PPP2PPP/3QK3 w - - 0 1";
    assert_eq!(text(trade, "Qxd8+", "loses_material"), None);
}

#[test]
fn pawns_that_are_let_promote() {
    let fen = "8/8/8/8/8/k6p/8/5K2 w - - 0 1";
    check(
        "lets_promote",
        (fen, "Ke2", "It lets Black promote a pawn: 1... h2"),
        (fen, "Kg1"),
    );
}

#[test]
fn threats_that_are_overlooked() {
    check(
        "overlooks_threat",
        (
            SCHOLAR,
            "Nf6",
            "White was already threatening 4. Qxf7#, which is mate, and the move does not prevent it.",
        ),
        // Black makes the hole himself: there was no threat before.
        (
            "rnbqkbnr/pppp1ppp/8/4p3/8/5P2/PPPPP1PP/RNBQKBNR w KQkq - 0 2",
            "g4",
        ),
    );
}

#[test]
fn what_the_better_move_wins() {
    check(
        "best_wins",
        (FORK, "h3", "Better is 1. Nc7+, which wins "),
        (QUEEN_HANGS, "Nf3"),
    );
    check(
        "best_promotes",
        (PROMOTION, "Kb1", "Better is 1. a8=Q, which promotes a pawn"),
        (FORK, "h3"),
    );
}

#[test]
fn what_is_only_won_back() {
    let fen = "rnbqkb1r/ppp1pppp/8/3n4/8/2N5/PPPPPPPP/R1BQKBNR w KQkq - 0 3";
    let mut traded = position(fen);
    let m = traded.parse_san("Nxd5").expect("legal");
    traded.do_move(m);
    let said = |position: &Position| {
        let reasons = told_of(position, "h6");
        let wins = reasons
            .into_iter()
            .find(|reason| reason.kind == "best_wins");
        wins.expect("a better move").text
    };
    assert!(
        said(&traded).contains(", which wins back a knight"),
        "{}",
        said(&traded)
    );
    // The same position without what happened before.
    let bare = position(&traded.fen());
    assert!(
        said(&bare).contains(", which wins a knight"),
        "{}",
        said(&bare)
    );
}

#[test]
fn what_the_better_move_threatens() {
    check(
        "best_threatens",
        (
            SCHOLAR,
            "Nf6",
            "Better is 3... g6, which threatens 4... gxh5, which wins a queen.",
        ),
        (FORK, "h3"),
    );
}

#[test]
fn what_the_better_move_keeps() {
    check(
        "best_keeps",
        (
            PHILIDOR,
            "Bg4",
            "Better is 3... exd4, which keeps the balance (+",
        ),
        // Of a move that wins, more is said.
        (FORK, "h3"),
    );
}

#[test]
fn only_moves() {
    let hanging = "rnb1kbnr/pppp1ppp/8/4p3/4P2q/5N2/PPPP1PPP/R2QK2R w KQkq - 0 3";
    check(
        "only_move",
        (
            hanging,
            "Nxh4",
            "Every other move is clearly worse: the next best, ",
        ),
        (
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "e4",
        ),
    );
    check(
        "only_move",
        (hanging, "O-O", "No other move is nearly as good: the "),
        (QUEEN_HANGS, "Nf3"),
    );
}

#[test]
fn what_a_good_move_does() {
    check("mates", (BACK_RANK, "Rd8#", "It is mate."), (FORK, "Nc7+"));
    check(
        "wins_material",
        (FORK, "Nc7+", "It wins "),
        (
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "e4",
        ),
    );
}

#[test]
fn pieces_that_the_network_values_less() {
    check(
        "piece",
        (
            ITALIAN,
            "Ng8",
            "According to the network, the knight on g8 is worth ",
        ),
        // Where a queen is lost, no piece is weighed.
        (QUEEN_HANGS, "Nf3"),
    );
}

#[test]
fn moves_that_are_as_good() {
    // One of two mates in one is as good as the other, and neither is faster.
    let two_mates = "k7/8/K7/8/8/8/8/1Q5R w - - 0 1";
    for mate in ["Qb7#", "Rh8#"] {
        let said = told(two_mates, mate);
        assert_eq!(
            said.iter().map(|reason| &*reason.text).collect::<Vec<_>>(),
            ["It is mate."]
        );
    }
    // Of two waiting moves one is not the engine's choice, and no worse.
    let level = "7r/4k3/8/8/8/8/4K3/R7 w - - 0 1";
    let waits: Vec<String> = ["Rb1", "Rc1"]
        .iter()
        .filter_map(|san| text(level, san, "as_good"))
        .collect();
    let says = |said: &String| said.starts_with("It is about as good as 1. ");
    assert!(!waits.is_empty() && waits.iter().all(says), "{waits:?}");
    assert_eq!(text(QUEEN_HANGS, "Nf3", "as_good"), None);
}

#[test]
fn the_words_fit_the_numbers() {
    for (before, after, words) in [
        (10, -90, Some("keeps the balance")),
        (-40, -200, Some("keeps the balance")),
        (40, -30, None),
        (97, 20, Some("keeps the better chances")),
        (97, 55, Some("keeps more of the advantage")),
        (200, 0, Some("keeps a clear advantage")),
        (500, 200, Some("keeps a winning advantage")),
        (900, 400, Some("keeps more of the advantage")),
        (-80, -300, Some("keeps the disadvantage small")),
        (-80, -140, Some("limits the damage")),
        (-300, -800, Some("limits the damage")),
    ] {
        assert_eq!(keeping(before, after), words, "{before} and {after}");
    }
}

#[test]
fn who_is_mated_anyway_may_hold_out_longer() {
    let ladder = "6rk/8/8/8/8/8/r7/4K3 w - - 0 1";
    check(
        "best_keeps",
        (
            ladder,
            "Kd1",
            "Better is 1. Kf1, which holds out longer (mate in 2 instead of 1).",
        ),
        (ladder, "Kf1"),
    );
}
