//! Checks of the claims and sentences of a review.

use serde_json::Value;
use shakmaty::{Bitboard, Chess, Color, EnPassantMode, Position, Role, Square, fen::Fen};

use super::board::{attacks, balance, in_line, is_legal, man, mates_in, position, role, stands, walk};

/// Longest mate, in moves, that is proved by brute force if the line ends before it.
const PROVED: u32 = 2;
/// Reasons for a bad mark; each move with a bad mark must have at least one of them.
const PUNISHES: [&str; 7] =
    ["allows_mate", "loses_material", "lets_promote", "refutation", "no_single_reason", "stalemate", "draws"];
/// Reasons that are proved on the board or by a mate. A refutation is one if it names a change on the board.
const PROOFS: [&str; 15] = [
    "allows_mate",
    "loses_material",
    "lets_promote",
    "stalemate",
    "draws",
    "missed_mate",
    "overlooks_threat",
    "best_mates",
    "best_wins",
    "best_promotes",
    "best_threatens",
    "best_attacks",
    "best_prevents",
    "best_gains",
    "reply_threatens",
];

/// Results of the checks: the numbers of checked items, and the errors found.
#[derive(Default)]
pub struct Checked {
    pub marked: usize,
    pub punished: usize,
    /// Marked moves with a reason that is proved on the board.
    pub proved: usize,
    pub claims: usize,
    pub motifs: usize,
    pub features: usize,
    pub sentences: usize,
    pub unproved_mates: usize,
    pub wrong: Vec<String>,
}

impl Checked {
    pub fn summary(&self) -> String {
        format!(
            "{} marked moves, {} with a refutation, {} with a proved reason; {} claims, {} motifs, {} features, \
             {} sentences; {} long mates not shown to their end; {} wrong",
            self.marked,
            self.punished,
            self.proved,
            self.claims,
            self.motifs,
            self.features,
            self.sentences,
            self.unproved_mates,
            self.wrong.len()
        )
    }
}

/// A move of a review with the positions around it.
struct Context<'a> {
    number: &'a Value,
    played: &'a Value,
    /// Evaluation before the move.
    had: &'a Value,
    before: Chess,
    after: Chess,
}

impl Context<'_> {
    fn mover(&self) -> Color {
        self.before.turn()
    }

    /// A score from the mover's view, with a mate above all scores in centipawns.
    fn score(&self, evaluation: &Value) -> i64 {
        let eval = &evaluation["eval"];
        let white = match (eval["cp"].as_i64(), eval["mate"].as_i64()) {
            (Some(cp), _) => cp,
            // Checkmate: the mated side is to move, the opponent of the mover.
            (_, Some(0)) => return 100_000,
            (_, Some(mate)) => mate.signum() * 100_000,
            _ => 0,
        };
        self.mover().fold_wb(white, -white)
    }
}

/// Checks a review.
pub fn check(review: &Value, all: &mut Checked) {
    let mut before = position(review["start"].as_str().unwrap_or_default()).expect("a start");
    let mut had = &review["evaluation"];
    for played in review["moves"].as_array().expect("moves") {
        let after = position(played["fen"].as_str().unwrap_or_default()).expect("a FEN");
        let context = Context { number: &review["number"], played, had, before, after: after.clone() };
        check_move(&context, all);
        had = &played["evaluation"];
        before = after;
    }
}

fn check_move(context: &Context, all: &mut Checked) {
    let played = context.played;
    let empty = Vec::new();
    let reasons = played["reasons"].as_array().unwrap_or(&empty);
    let place = format!(
        "game {} {}{} {}",
        context.number,
        played["number"],
        if context.mover().is_white() { "." } else { "..." },
        played["san"]
    );
    let mut wrong = Vec::new();
    if matches!(played["mark"].as_str(), Some("?!" | "?" | "??")) {
        all.marked += 1;
        let punishes = |reason: &Value| PUNISHES.iter().any(|kind| reason["kind"] == *kind);
        all.proved += usize::from(reasons.iter().any(is_proved));
        if reasons.iter().any(punishes) {
            all.punished += 1;
        } else {
            wrong.push("nothing punishes it".to_owned());
        }
        let line = walk(&context.after, &played["refutation"]);
        // A board without history does not know a draw by repetition.
        let draws = |reason: &Value| reason["kind"] == "draws" || reason["claim"]["end"] == "draw";
        let is_over = context.after.is_game_over() || reasons.iter().any(draws);
        if line.is_err() || played["refutation"].is_null() && !is_over {
            wrong.push(format!("bad refutation: {line:?}"));
        }
        let has_score = played["evaluation"]["eval"]["cp"].is_i64();
        let is_cut = |line: Vec<Chess>| line.len() == 2 && !line[1].is_game_over();
        if has_score && !is_over && line.is_ok_and(is_cut) {
            wrong.push("the refutation has one move".to_owned());
        }
        let says =
            |words: &str| reasons.iter().any(|reason| reason["text"].as_str().unwrap_or_default().contains(words));
        if says("the game is level now") && says("the game is level (") {
            wrong.push("says twice that the game is level".to_owned());
        }
    }
    let mut before = "";
    for reason in reasons {
        all.sentences += 1;
        let found = check_reason(context, reason, before, all);
        before = reason["text"].as_str().unwrap_or_default();
        wrong.extend(found.into_iter().map(|what| format!("{}: {what}", reason["text"])));
    }
    all.wrong.extend(wrong.into_iter().map(|what| format!("{place}: {what}")));
}

/// Whether a reason is proved on the board or by a mate.
fn is_proved(reason: &Value) -> bool {
    let (claim, kind) = (&reason["claim"], reason["kind"].as_str().unwrap_or_default());
    let changes = claim["features"].as_array().is_some_and(|features| !features.is_empty())
        || claim["wins"].as_array().is_some_and(|wins| !wins.is_empty());
    PROOFS.contains(&kind) || kind == "refutation" && (changes || !claim["end"].is_null())
}

/// Checks a reason. `before` is the sentence before it, which names the material of "threatening this".
fn check_reason(context: &Context, reason: &Value, before: &str, all: &mut Checked) -> Vec<String> {
    let text = reason["text"].as_str().unwrap_or_default();
    let said = if text.contains("threatening this,") { format!("{before} {text}") } else { text.to_owned() };
    let claim = &reason["claim"];
    let mut wrong = Vec::new();
    let mut positions = vec![context.before.clone(), context.after.clone()];
    if !claim.is_null() {
        all.claims += 1;
        let start = position(claim["fen"].as_str().unwrap_or_default());
        let Some(start) = start.filter(|start| is_near(context, start)) else {
            return vec![format!("starts elsewhere: {}", claim["fen"])];
        };
        match walk(&start, claim) {
            Ok(line) => {
                wrong.extend(check_claim(claim, &line, &said, all));
                positions.extend(line);
            }
            Err(error) => wrong.push(error),
        }
    }
    wrong.extend(check_text(text, &positions));
    wrong.extend(check_kind(context, reason));
    wrong
}

/// Whether a claim starts before the move, after it, or after a pass.
fn is_near(context: &Context, start: &Chess) -> bool {
    let board = |position: &Chess| position.board().clone();
    let same = |other: &Chess| board(other) == board(start);
    // A claim after the best move and a pass starts with the board after the best move.
    let better = || {
        let line = &context.played["better"][0];
        let first = serde_json::json!({
            "uci": [line["uci"][0]], "san": [line["san"][0]]
        });
        let reached = walk(&context.before, &first).ok();
        reached.is_some_and(|line| line.get(1).is_some_and(same))
    };
    let answered =
        || walk(&context.after, &context.played["refutation"]).is_ok_and(|line| line.get(1).is_some_and(same));
    same(&context.before) || same(&context.after) || better() || answered()
}

fn check_claim(claim: &Value, line: &[Chess], text: &str, all: &mut Checked) -> Vec<String> {
    let mut wrong = Vec::new();
    let side = if claim["side"] == "white" { Color::White } else { Color::Black };
    let end = &line[line.len() - 1];
    match claim["end"].as_str() {
        Some("checkmate") if !end.is_checkmate() => wrong.push("no checkmate".to_owned()),
        Some("stalemate") if !end.is_stalemate() => wrong.push("no stalemate".to_owned()),
        None if end.is_checkmate() || end.is_stalemate() => wrong.push("the game is over".to_owned()),
        _ => {}
    }
    if let Some(mate) = claim["mate"].as_u64() {
        let mate = mate as u32;
        if !text.contains("mate") && !text.contains('#') {
            wrong.push("a mate that is not said".to_owned());
        }
        if end.is_checkmate() {
            let own = if line[0].turn() == side { 1 } else { 0 };
            let moves = (line.len() - 1 + own) / 2;
            if end.turn() == side || moves as u32 != mate {
                wrong.push(format!("the line mates in {moves}, not in {mate}"));
            }
        } else if mate <= PROVED && line[0].turn() == side {
            if !mates_in(&line[0], mate) {
                wrong.push(format!("no mate in {mate}"));
            }
        } else {
            all.unproved_mates += 1;
        }
    }
    wrong.extend(check_material(claim, line, side, text));
    for motif in claim["motifs"].as_array().into_iter().flatten() {
        all.motifs += 1;
        if !motif_holds(motif, line, side) {
            wrong.push(format!("no such motif: {motif}"));
        }
    }
    for feature in claim["features"].as_array().into_iter().flatten() {
        all.features += 1;
        if !feature_holds(feature, line, !side) {
            wrong.push(format!("no such feature: {feature}"));
        }
    }
    wrong
}

/// Checks that the pieces won and given match the change of the balance, and that the sentence names them.
fn check_material(claim: &Value, line: &[Chess], side: Color, text: &str) -> Option<String> {
    let roles = |key: &str| -> Vec<Role> {
        let list = claim[key].as_array().into_iter().flatten();
        list.filter_map(|name| role(name.as_str()?)).collect()
    };
    let (wins, gives) = (roles("wins"), roles("gives"));
    if wins.is_empty() && gives.is_empty() {
        return None;
    }
    let index = |role: &Role| match role {
        Role::Queen => 0,
        Role::Rook => 1,
        Role::Pawn => 3,
        _ => 2,
    };
    let mut said = [0; 4];
    wins.iter().for_each(|role| said[index(role)] += 1);
    gives.iter().for_each(|role| said[index(role)] -= 1);
    let (first, last) = (balance(&line[0], side), balance(&line[line.len() - 1], side));
    let real: [i32; 4] = std::array::from_fn(|i| last[i] - first[i]);
    if said != real {
        return Some(format!("wins {wins:?} for {gives:?}, but the balance changes by {real:?}"));
    }
    // If a single minor piece is won, a piece of this kind must have been captured.
    for role in wins.iter().filter(|role| matches!(role, Role::Bishop | Role::Knight)) {
        let count = |position: &Chess| (position.board().by_role(*role) & position.board().by_color(!side)).count();
        if count(&line[line.len() - 1]) >= count(&line[0]) {
            return Some(format!("no {role:?} is captured"));
        }
    }
    let named = |role: &Role| {
        let names = ["pawn", "knight", "bishop", "rook", "queen", "king"];
        text.contains(names[*role as usize - 1]) || text.contains("exchange")
    };
    if text.contains("promot") {
        return (!promoted_piece_lives(claim)).then(|| "no promoted piece is left".to_owned());
    }
    let missing = wins.iter().find(|role| !named(role))?;
    Some(format!("the sentence does not name a {missing:?}"))
}

/// Whether a pawn promotes in the line, and no later move goes to the square of the new piece before it moves away.
fn promoted_piece_lives(claim: &Value) -> bool {
    let mut at: Option<String> = None;
    for uci in claim["uci"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        let (from, to) = (&uci[..2], &uci[2..4]);
        match at.as_deref() {
            Some(square) if square == from => at = Some(to.to_owned()),
            Some(square) if square == to => at = None,
            _ => {}
        }
        if uci.len() == 5 {
            at = Some(to.to_owned());
        }
    }
    at.is_some()
}

fn motif_holds(motif: &Value, line: &[Chess], side: Color) -> bool {
    let kind = motif["kind"].as_str().unwrap_or_default();
    let ply = motif["ply"].as_u64().unwrap_or(u64::MAX) as usize;
    let (Some(before), Some(after)) = (line.get(ply), line.get(ply + 1)) else {
        return false;
    };
    let Some(piece) = man(&motif["piece"]) else {
        return false;
    };
    let targets: Vec<(Role, Square)> = motif["targets"].as_array().into_iter().flatten().filter_map(man).collect();
    let all = |position: &Chess| targets.iter().all(|&target| stands(position, target, !side));
    let hits = |position: &Chess, target: (Role, Square)| attacks(position, piece.1).contains(target.1);
    let own = stands(after, piece, side) && before.turn() == side;
    let lined = |position: &Chess| targets.len() == 2 && in_line(position, piece.1, targets[0].1, targets[1].1);
    match kind {
        "hanging" => own && all(before) && !targets.is_empty(),
        "fork" => own && all(after) && targets.len() >= 2 && targets.iter().all(|&t| hits(after, t)),
        "pin" | "skewer" => stands(after, piece, side) && all(after) && lined(after),
        "pinned_defender" => {
            let square = moved_to(before, after);
            let blocked = |square: Square| !after.legal_moves().into_iter().any(|m| m.to() == square && m.is_capture());
            lined(after) && all(after) && square.is_some_and(blocked)
        }
        "discovered_attack" => own && all(after) && targets.iter().all(|&t| hits(after, t) && !hits(before, t)),
        "double_check" => own && all(after) && after.checkers().count() == 2,
        "back_rank" => own && all(after) && after.is_checkmate(),
        "trapped_piece" => {
            let attackers = |square| after.board().attacks_to(square, side, after.board().occupied());
            own && all(after) && targets.iter().all(|&(_, square)| attackers(square).any())
        }
        "overloaded_defender" => {
            stands(before, piece, !side)
                && attacks(before, piece.1).contains(targets[0].1)
                && stands(before, targets[0], !side)
        }
        "removal_of_defender" => own && all(before) && attacks(before, targets[0].1).contains(targets[1].1),
        "promotion" => own && piece.0 != Role::Pawn,
        "stalemate_trick" => line.get(ply + 2).is_some_and(Chess::is_stalemate),
        "zwischenzug" => own && all(before),
        "sound_sacrifice" => after.legal_moves().into_iter().any(|m| m.to() == piece.1 && m.is_capture()),
        _ => false,
    }
}

/// The destination of the move between two positions: the square that the mover has newly occupied.
fn moved_to(before: &Chess, after: &Chess) -> Option<Square> {
    let color = before.turn();
    let (was, is) = (before.board().by_color(color), after.board().by_color(color));
    (is & !was).first()
}

/// Whether the pieces of a feature stand on its squares at the end of the line or, if they were captured or driven
/// away, before. `harmed` is the side for which the change is bad.
fn feature_holds(feature: &Value, line: &[Chess], harmed: Color) -> bool {
    let end = &line[line.len() - 1];
    let kind = feature["kind"].as_str().unwrap_or_default();
    let men: Vec<(Role, Square)> = feature["men"].as_array().into_iter().flatten().filter_map(man).collect();
    let at = |position: &Chess, (role, square): (Role, Square)| position.board().role_at(square) == Some(role);
    let there = men.iter().all(|&man| at(end, man));
    match kind {
        "drives_away" => {
            let after = line.get(1 + usize::from(line[0].turn() == harmed));
            after.is_some_and(|after| {
                men.iter().all(|&man| at(after, man)) && attacks(after, men[0].1).contains(men[1].1)
            })
        }
        "takes" => men.iter().all(|&man| at(&line[0], man)),
        "pawn_ending" => {
            let plain = end.board().by_role(Role::Pawn) | end.board().by_role(Role::King);
            end.board().occupied() == plain && line[0].board().occupied() != plain
        }
        "loses_passer" => {
            let own = |position: &Chess| position.board().piece_at(men[0].1) == Some(Role::Pawn.of(harmed));
            men[0].0 == Role::Pawn && line.iter().any(own) && !own(end)
        }
        "passer_advances" => {
            let theirs = |position: &Chess| position.board().piece_at(men[0].1) == Some(Role::Pawn.of(!harmed));
            theirs(end) && !theirs(&line[0])
        }
        "promotes" => {
            let color = !harmed;
            let count =
                |position: &Chess| (position.board().by_role(men[0].0) & position.board().by_color(color)).count();
            there
                && end.board().color_at(men[0].1) == Some(color)
                && line.len() > 2
                && count(&line[line.len() - 2]) > count(&line[line.len() - 3])
        }
        "queens_traded" => end.board().by_role(Role::Queen).is_empty(),
        "no_castling" => there && (end.castles().castling_rights() & Bitboard::from(harmed.backrank())).is_empty(),
        "doubled_pawns" => there && men.len() >= 2 && men.iter().all(|m| m.1.file() == men[0].1.file()),
        "attacks" => there && attacks(end, men[0].1).contains(men[1].1),
        "controls" => {
            let squares = feature["squares"].as_array().into_iter().flatten();
            let mut squares = squares.filter_map(|square| square.as_str()?.parse::<Square>().ok());
            there && squares.all(|square| attacks(end, men[0].1).contains(square))
        }
        "castles" => true,
        "prevents" => is_prevented(feature, end),
        "development" => there && men.len() >= 2 && men.iter().all(|man| is_undeveloped(end, *man)),
        "king_march" => there && end.board().by_role(Role::Queen).is_empty(),
        "king_attack" => there && is_attacked(feature, &men, end),
        _ => there && !men.is_empty(),
    }
}

/// Whether the opponent has no move between the squares, or the piece that moves can be captured then.
fn is_prevented(feature: &Value, end: &Chess) -> bool {
    let squares = feature["squares"].as_array().into_iter().flatten();
    let squares: Vec<Square> = squares.filter_map(|square| square.as_str()?.parse().ok()).collect();
    let [from, to] = squares[..] else { return false };
    end.legal_moves().into_iter().filter(|m| m.from() == Some(from) && m.to() == to).all(|m| {
        let mut next = end.clone();
        next.play_unchecked(m);
        next.legal_moves().into_iter().any(|reply| reply.to() == to && reply.is_capture())
    })
}

/// Whether a bishop or knight stands on the first rank of its side.
fn is_undeveloped(position: &Chess, (role, square): (Role, Square)) -> bool {
    let color = position.board().color_at(square).unwrap_or(Color::White);
    matches!(role, Role::Bishop | Role::Knight) && square.rank() == color.backrank()
}

/// Whether each square of an attack is next to the king, attacked by one of the pieces, and defended by the king alone.
fn is_attacked(feature: &Value, men: &[(Role, Square)], end: &Chess) -> bool {
    let Some(((Role::King, king), attackers)) = men.split_first() else { return false };
    let color = end.board().color_at(*king).unwrap_or(Color::White);
    let squares: Vec<Square> = feature["squares"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|square| square.as_str()?.parse().ok())
        .collect();
    let weak = |square: &Square| {
        let defenders = end.board().attacks_to(*square, color, end.board().occupied());
        attacks(end, *king).contains(*square)
            && attackers.iter().any(|man| attacks(end, man.1).contains(*square))
            && (defenders & !Bitboard::from(*king)).is_empty()
    };
    let enemy = |man: &(Role, Square)| end.board().color_at(man.1) == Some(!color);
    !squares.is_empty() && !attackers.is_empty() && squares.iter().all(weak) && attackers.iter().all(enemy)
}

/// Checks that every `the knight on f5` of a sentence stands in one of the positions, and that every numbered move is
/// legal in one of them.
fn check_text(text: &str, positions: &[Chess]) -> Vec<String> {
    let mut wrong = Vec::new();
    let words: Vec<&str> = text.split([' ', ',', '(', ')', ':', ';']).filter(|word| !word.is_empty()).collect();
    for three in words.windows(3) {
        let [name, "on", square] = *three else {
            continue;
        };
        let square: Result<Square, _> = square.trim_end_matches('.').parse();
        if let (Some(role), Ok(square)) = (role(name), square) {
            let found = positions.iter().any(|position| position.board().role_at(square) == Some(role));
            if !found {
                wrong.push(format!("no {name} on {square}"));
            }
        }
    }
    for word in &words {
        let Some((number, rest)) = word.split_once('.') else {
            continue;
        };
        let Ok(number) = number.parse::<u32>() else {
            continue;
        };
        let black = rest.starts_with("..");
        let san = rest.trim_matches('.');
        if san.is_empty() || san.starts_with(|c: char| c.is_ascii_digit()) {
            continue;
        }
        let color = if black { Color::Black } else { Color::White };
        let fits = |position: &Chess| position.fullmoves().get() == number && position.turn() == color;
        if !positions.iter().any(|position| fits(position) && is_legal(position, san)) {
            wrong.push(format!("{word} is not a move here"));
        }
    }
    if text.contains('%') {
        wrong.push("a probability".to_owned());
    }
    wrong
}

/// Checks what a kind implies about the scores before and after the move.
fn check_kind(context: &Context, reason: &Value) -> Option<String> {
    let (had, has) = (context.score(context.had), context.score(&context.played["evaluation"]));
    let claim = &reason["claim"];
    let is_zero = context.played["evaluation"]["eval"]["cp"] == 0;
    let draws = is_zero && !claim["end"].is_null();
    let text = reason["text"].as_str().unwrap_or_default();
    let ok = match reason["kind"].as_str().unwrap_or_default() {
        "throws_away_win" => had >= 300 && has.abs() < 50 && (!text.contains("draw") || draws),
        "refutation" | "no_single_reason" => !text.contains("draw") || is_zero,
        "turns_win_into_loss" => had >= 300 && has <= -300,
        "throws_away_draw" => had.abs() < 50 && has <= -300,
        "missed_mate" => had == 100_000 && has < 100_000,
        "allows_mate" => had > -100_000 && has == -100_000,
        "overlooks_threat" => {
            // The threat is carried out: the refutation begins with it, and mates if the threat was mate.
            let same = context.played["refutation"]["uci"][0] == claim["uci"][0];
            same && (claim["mate"].is_null() || has == -100_000 && had > -100_000)
        }
        "stalemate" => context.after.is_stalemate(),
        _ => true,
    };
    let fen = Fen::from_position(&context.before, EnPassantMode::Legal);
    (!ok).then(|| format!("does not fit the scores {had} and {has} in {fen}"))
}
