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
