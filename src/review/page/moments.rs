//! What decided the game: the turning points, each with its own board, and a list of all other marked moves.

use maud::{Markup, PreEscaped, html};

use super::data::clickable_lines;
use super::{Shown, moves};
use crate::board::{Color, Move, Position, Role, Square};
use crate::review::mark::Mark;
use crate::review::motifs::role_name;
use crate::review::picture::{BoardView, diagram, ends};
use crate::review::report::{Better, PlayedMove};

/// What decided the game, and its turning points.
pub(super) fn turning(shown: &Shown) -> Markup {
    let points = turning_points(shown);
    let repeated = repeated(shown);
    html! {
        section.critical aria-label="What decided the game" {
            h2 { "What decided the game" }
            @if let Some(sentence) = what_decided(shown) { p.decided { (sentence) } }
            @for sentence in &repeated { p.repeated { (sentence) } }
            @if !points.is_empty() {
                div.moments { @for played in points { (moment(shown, played)) } }
            }
        }
    }
}

/// All other moves with reasons, folded.
pub(super) fn others(shown: &Shown) -> Markup {
    let points: Vec<usize> = turning_points(shown).iter().map(|played| played.ply).collect();
    let moves = &shown.review.moves;
    let others: Vec<&PlayedMove> = moves.iter().filter(|m| !m.reasons.is_empty() && !points.contains(&m.ply)).collect();
    html! {
        @if !others.is_empty() {
            details.others {
                summary { "All other marked moves (" (others.len()) ")" }
                @for played in others { div.other { (text(&shown.positions[played.ply - 1], played)) } }
            }
        }
    }
}

fn moment(shown: &Shown, played: &PlayedMove) -> Markup {
    let position = &shown.positions[played.ply - 1];
    // All boards of the page have one direction.
    let mut view = BoardView { flipped: shown.review.side == Some(Color::Black), arrows: Vec::new() };
    let (from, to) = ends(position, played.m);
    let class = if played.better.is_empty() { "best" } else { "played" };
    view.arrows.push((from, to, class));
    if let Some(m) = played.better.first().and_then(|line| line.moves.first()) {
        let (from, to) = ends(position, *m);
        view.arrows.push((from, to, "best"));
    }
    html! {
        div.moment {
            (PreEscaped(diagram(position, &view)))
            div { (text(position, played)) }
        }
    }
}

fn text(position: &Position, played: &PlayedMove) -> Markup {
    html! {
        h3 {
            (moves::button(played, true))
            @if let Some(mark) = played.mark { " " span.kind { (mark.name()) } }
        }
        @for reason in &played.reasons { p { (reason.text) } }
        (clickable_lines(position, played))
        @if !played.attempts.is_empty() {
            button.again type="button" data-go="retry" data-ply=(played.ply) { "Try again" }
        }
    }
}

// What decided the game: its turning points, the decisive move in one sentence, and what a player overlooked again and
// again.

/// Largest number of turning points.
const MOST: usize = 5;
/// Number of turning points up to which inaccuracies count too.
const FEWEST: usize = 3;
/// Winning chance in percent above which a side is winning.
const WINNING: f64 = 70.0;
/// Minimum number of points of winning chance that the winner gains with a decisive move: those of a mistake.
const DECIDES: f64 = 10.0;
/// Maximum number of plies between two oversights that count as one repeated oversight.
const NEAR: usize = 12;
/// Largest number of sentences on repeated oversights.
const REPEATED: usize = 3;
/// Points of winning chance that a one-sided game may lose on the way.
const BALANCED: f64 = 60.0;

/// The moves that lost the most winning chances, in the order of the game: at most five, and at least three if the game
/// has three marked moves. Repeated oversights count once.
pub(super) fn turning_points<'a>(shown: &Shown<'a>) -> Vec<&'a PlayedMove> {
    let mut marked: Vec<&PlayedMove> =
        shown.review.moves.iter().filter(|played| played.mark >= Some(Mark::Inaccuracy)).collect();
    marked.sort_by(|a, b| b.loss.unwrap_or(0.0).total_cmp(&a.loss.unwrap_or(0.0)));
    let mut seen: Vec<Oversight> = Vec::new();
    let mut chosen: Vec<&PlayedMove> = Vec::new();
    for played in marked {
        let minor = played.mark == Some(Mark::Inaccuracy);
        if chosen.len() == MOST || (minor && chosen.len() >= FEWEST) {
            break;
        }
        let oversight = oversight(shown, played);
        if oversight.is_some_and(|oversight| seen.contains(&oversight)) {
            continue;
        }
        seen.extend(oversight);
        chosen.push(played);
    }
    chosen.sort_by_key(|played| played.ply);
    chosen
}

/// One sentence on what decided the game, or why nothing did; `None` without evaluations.
pub(super) fn what_decided(shown: &Shown) -> Option<String> {
    let moves = &shown.review.moves;
    let white: Vec<f64> = (0..=moves.len()).map(|ply| shown.chance(ply)).collect::<Option<_>>()?;
    let last = *white.last()?;
    let winner = match shown.review.result.as_str() {
        "1-0" => Some(Color::White),
        "0-1" => Some(Color::Black),
        "1/2-1/2" => None,
        _ if last >= WINNING => Some(Color::White),
        _ if last <= 100.0 - WINNING => Some(Color::Black),
        _ => None,
    };
    let Some(winner) = winner else {
        return Some(without_winner(&white, moves));
    };
    let of_winner = |chance: &f64| if winner.is_white() { *chance } else { 100.0 - chance };
    let chances: Vec<f64> = white.iter().map(of_winner).collect();
    let name = winner.fold_wb("White", "Black");
    let end = chances[chances.len() - 1];
    if end < 50.0 {
        return Some(format!("{name} won although {} stood better at the end ({:.0} %).", other(winner), 100.0 - end));
    }
    let Some(before) = chances.iter().rposition(|&chance| chance < WINNING) else {
        return Some(format!("{name} stood better from the first move to the last."));
    };
    let Some(last_step) = moves.get(before) else {
        return Some(format!("{name} won; no move decided the game, whose last value is {end:.0} %."));
    };
    let step = decisive_step(&chances, before);
    let [from, to] = [chances[step], chances[step + 1]];
    let least = chances[step + 1..].iter().copied().fold(f64::INFINITY, f64::min);
    let rise = format!("{name}'s winning chances rose from {from:.0} to {to:.0} %");
    let stay = format!("never fell below {:.0} % again", least.floor());
    let decisive = &moves[step];
    let text = in_text(decisive);
    let is_winners = decisive.side == winner.fold_wb("white", "black");
    Some(match decisive.mark.filter(|mark| mark.is_bad()) {
        _ if to - from < DECIDES => {
            let text = in_text(last_step);
            format!("No single move decided the game: from {text} on {name}'s chances stayed above {WINNING:.0} %.")
        }
        Some(mark) if !is_winners => format!("{text}{} decided the game: {rise} and {stay}.", mark.glyph()),
        _ => format!("{text} decided the game: {rise} and {stay}."),
    })
}

/// The ply with the largest gain for the winner, from the last one at which he did not stand better to the last one at
/// which he was not winning (`before`).
fn decisive_step(chances: &[f64], before: usize) -> usize {
    let start = chances[..=before].iter().rposition(|&chance| chance < 50.0).unwrap_or(0);
    let rise = |&ply: &usize| chances[ply + 1] - chances[ply];
    (start..=before).max_by(|a, b| rise(a).total_cmp(&rise(b))).unwrap_or(before)
}

/// A move as the reasons write it: `12.e4`, `12...e5`.
fn in_text(played: &PlayedMove) -> String {
    format!("{}{}{}", played.number, played.dots(), played.san)
}

fn other(color: Color) -> &'static str {
    color.fold_wb("Black", "White")
}

/// The sentence for a draw or an unfinished game.
fn without_winner(white: &[f64], moves: &[PlayedMove]) -> String {
    let farthest = (1..white.len()).max_by(|&a, &b| (white[a] - 50.0).abs().total_cmp(&(white[b] - 50.0).abs()));
    let Some(ply) = farthest.filter(|&ply| (white[ply] - 50.0).abs() > BALANCED - 50.0) else {
        return format!("Neither side's winning chances ever rose above {BALANCED:.0} %.");
    };
    let (name, best) = if white[ply] > 50.0 { ("White", white[ply]) } else { ("Black", 100.0 - white[ply]) };
    let after = in_text(&moves[ply - 1]);
    let lost = moves.get(ply).filter(|played| played.mark >= Some(Mark::Inaccuracy));
    match lost {
        Some(played) => {
            let mark = played.mark.map_or("", Mark::glyph);
            format!("{name} stood best after {after} ({best:.0} %); {}{mark} gave that away.", in_text(played))
        }
        None => format!("{name} stood best after {after} ({best:.0} %) and could not win."),
    }
}

/// What a move overlooked: a move of its own that it did not play, or a capture that it allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Oversight {
    /// The player who overlooked it.
    side: Color,
    /// Whether the player could have made the move himself.
    own: bool,
    /// The piece that could be taken; `None` if the move does not capture.
    taken: Option<Role>,
    /// The piece that moves, unless it takes something.
    role: Option<Role>,
    to: Square,
}

fn oversight(shown: &Shown, played: &PlayedMove) -> Option<Oversight> {
    let first = |line: Option<&Better>| line.and_then(|line| line.moves.first()).copied();
    let before = &shown.positions[played.ply - 1];
    let side = before.turn();
    let of = |position: &Position, m: Move, own: bool| {
        let taken = position.piece_at(m.to()).filter(|piece| piece.color != position.turn()).map(|piece| piece.role);
        let role = if taken.is_some() { None } else { Some(position.moved_piece(m).role) };
        Oversight { side, own, taken, role, to: m.to() }
    };
    // A piece hangs if its capture wins material. An exchange is not an oversight, whoever begins it.
    let wins = |position: &Position, m: &Move| position.is_capture(*m) && position.see_ge(*m, 100);
    let is_worth = |oversight: &Oversight| oversight.taken.is_some_and(|role| role != Role::Pawn);
    let reached = &shown.positions[played.ply];
    let missed = first(played.better.first());
    let allowed = first(played.refutation.as_ref()).filter(|m| wins(reached, m)).map(|m| of(reached, m, false));
    let hanging = missed.filter(|m| wins(before, m)).map(|m| of(before, m, true));
    let quiet = missed.filter(|m| !before.is_capture(*m)).map(|m| of(before, m, true));
    hanging.filter(is_worth).or(allowed.filter(is_worth)).or(hanging).or(quiet)
}

/// A sentence for everything that a side overlooked twice or more.
pub(super) fn repeated(shown: &Shown) -> Vec<String> {
    let mut groups: Vec<(Oversight, Vec<&PlayedMove>)> = Vec::new();
    for played in shown.review.moves.iter().filter(|played| played.mark >= Some(Mark::Inaccuracy)) {
        let Some(oversight) = oversight(shown, played) else {
            continue;
        };
        if oversight.taken.is_none() && played.mark == Some(Mark::Inaccuracy) {
            continue;
        }
        let is_near = |moves: &[&PlayedMove]| moves.last().is_some_and(|last| played.ply - last.ply <= NEAR);
        match groups.iter_mut().find(|(known, moves)| *known == oversight && is_near(moves)) {
            Some((_, moves)) => moves.push(played),
            None => groups.push((oversight, vec![played])),
        }
    }
    groups.retain(|(oversight, moves)| match oversight.taken {
        Some(_) => moves.len() > 1,
        // Two quiet moves to a square may have nothing else in common.
        None => moves.len() > 2,
    });
    groups.sort_by_key(|(_, moves)| std::cmp::Reverse(moves.len()));
    groups.iter().take(REPEATED).map(|(oversight, moves)| sentence(oversight, moves)).collect()
}

fn sentence(oversight: &Oversight, moves: &[&PlayedMove]) -> String {
    let name = oversight.side.fold_wb("White", "Black");
    let overlooked = overlooked(moves.len());
    let places: Vec<String> = moves.iter().map(|played| in_text(played)).collect();
    let places = places.join(", ");
    let to = oversight.to;
    match (oversight.own, oversight.taken, oversight.role) {
        (true, Some(taken), _) => {
            format!("{name} {overlooked} that the {} on {to} could be taken: {places}.", role_name(taken))
        }
        (false, Some(taken), _) => {
            format!("{name} {overlooked} that the {} on {to} hung: {places}.", role_name(taken))
        }
        (_, None, role) => {
            let letter = role.filter(|role| *role != Role::Pawn).map(|role| role.upper_char().to_string());
            format!("{name} missed {}{to} {}: {places}.", letter.unwrap_or_default(), times(moves.len()))
        }
    }
}

/// `twice overlooked`, `overlooked four times`
fn overlooked(count: usize) -> String {
    match count {
        2 => "twice overlooked".to_owned(),
        _ => format!("overlooked {}", times(count)),
    }
}

/// `twice`, `four times`
fn times(count: usize) -> String {
    const WORDS: [&str; 8] = ["three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    match count {
        2 => "twice".to_owned(),
        3..=10 => format!("{} times", WORDS[count - 3]),
        _ => format!("{count} times"),
    }
}

#[cfg(test)]
mod turning_tests {
    use super::*;
    use crate::notation::pgn;
    use crate::review::analyst::tests::analyst;
    use crate::review::phase::OpeningNames;
    use crate::review::study::{Detail, Wishes, review};

    fn with_shown<T>(pgn: &str, read: impl FnOnce(&Shown) -> T) -> T {
        let games = pgn::read(pgn.as_bytes()).expect("a text");
        let game = games[0].as_ref().expect("a game");
        let wishes = Wishes { side: None, detail: Detail::Brief, retry: false };
        let review = review(game, &mut analyst(4000, 1), &OpeningNames::load(), wishes, &mut |_| ());
        read(&Shown::new(game, &review))
    }

    #[test]
    fn decisive_move_is_named_in_one_sentence() {
        let game = "[Result \"1-0\"]\n\n1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 4. Qxf7# 1-0\n";
        let text = with_shown(game, what_decided).expect("a sentence");
        assert!(text.starts_with("3...Nf6?? decided the game: White's winning chances rose from "), "{text}");
        assert!(text.contains(" and never fell below "), "{text}");
        let wrong = game.replace("1-0", "0-1");
        let text = with_shown(&wrong, what_decided).expect("a sentence");
        assert!(text.starts_with("Black won although White stood better at the end ("), "{text}");
        let level = with_shown("1. e4 e5 2. Nf3 Nc6 1/2-1/2\n", what_decided).expect("a sentence");
        assert_eq!(level, "Neither side's winning chances ever rose above 60 %.");
    }

    #[test]
    fn decisive_move_gains_most_after_the_winner_last_stood_worse() {
        for (chances, step) in [
            // The largest gain counts, not the one that passes 70 %.
            (&[48.0, 49.0, 66.0, 65.0, 72.0, 90.0][..], 1),
            (&[50.0, 96.0, 40.0, 60.0, 95.0], 3),
            (&[30.0, 90.0, 40.0, 64.0, 80.0], 2),
        ] {
            let before = chances.iter().rposition(|&chance| chance < WINNING).expect("not winning all the time");
            assert_eq!(decisive_step(chances, before), step, "{chances:?}");
        }
    }

    #[test]
    fn repeated_oversight_is_said_once() {
        // The black queen stands on h5, where the knight could take it, for four moves.
        let game = "[FEN \"rnb1kbnr/pppp1ppp/8/4p2q/4P3/6N1/PPPP1PPP/RNBQKB1R w KQkq - 0 3\"]\n\n\
            3. a3 a6 4. b3 b6 5. c3 c6 6. d3 d6 *\n";
        let sentences = with_shown(game, repeated);
        let white = "White overlooked four times that the queen on h5 could be taken: 3.a3, 4.b3, 5.c3, 6.d3.";
        assert!(sentences.iter().any(|text| text == white), "{sentences:?}");
        let points: Vec<usize> =
            with_shown(game, |shown| turning_points(shown).iter().map(|played| played.ply).collect());
        assert_eq!([2, 3, 12].map(overlooked), ["twice overlooked", "overlooked three times", "overlooked 12 times"]);
        assert!(points.len() <= MOST, "{points:?}");
        assert!(sentences.len() <= REPEATED, "{sentences:?}");
        assert_eq!(points.iter().filter(|&ply| ply % 2 == 1).count(), 1, "{points:?}");
    }
}
