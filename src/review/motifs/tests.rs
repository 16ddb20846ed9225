//! Tables of positions for each motif: positions with the motif, and near misses without it.
//!
//! A line of `cases/*.txt` is `yes|no | FEN | moves | ...`. A move in parentheses is played before the line begins; a
//! number in braces is the score in centipawns. The last field names the acting piece and its targets (all of them,
//! or the first ones), or the reason for a near miss.

use super::*;
use crate::board::{Move, Position};
use crate::review::analyst::tests::position;
use crate::search::report::Score;

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
