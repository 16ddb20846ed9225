use super::FeatureKind::{
    AdvancesPasser, Attacks, BishopPair, Castles, Controls, Develops, DoubledPawns, DrivesAway, IsolatedPawn,
    NoCastling, NoMoves, OpenFile, OpenKing, OpensLines, PassedPawn, Protects, QueensTraded, Takes,
};
use super::*;
use crate::board::{Move, Position};
use crate::review::analyst::tests::position;

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
    ] {
        let start = position(fen);
        let features = harms(&start, &line(&start, played), &line(&start, best));
        let found = kinds(&features);
        assert_eq!(found.contains(&kind), named, "{kind:?} {fen} {played}: {found:?}");
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
