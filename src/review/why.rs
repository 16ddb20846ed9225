//! Sentences about a move. Each is made from a claim: a line from a position, with facts about it that the board
//! proves.
//!
//! | kind | condition |
//! |---|---|
//! | `throws_away_win`, `throws_away_draw`, `turns_win_into_loss` | the standing changed by the move |
//! | `missed_mate` | the search mates before the move, and does not after it |
//! | `allows_mate` | the opponent mates after the move, and would not have after the best one |
//! | `stalemate` | the move stalemates although more than a draw was possible |
//! | `loses_material` | the refutation ends with material lost that the best line keeps |
//! | `lets_promote` | the opponent promotes in that line |
//! | `refutation` | none of these: the opponent's line, the standing after it, and what it changes on the board |
//! | `no_single_reason` | the same line if no change on the board explains the loss |
//! | `overlooks_threat` | the opponent carries out a threat after the move, and could not after the best one |
//! | `reply_threatens` | the opponent's reply makes a threat that is worth the loss |
//! | `best_mates`, `best_wins`, `best_promotes`, `best_threatens` | effect of the better move |
//! | `best_attacks` | the better move forks or skewers the king and another piece, and captures that piece |
//! | `best_prevents` | only one reply punishes the move, and the better move prevents it |
//! | `best_gains` | changes on the board in the line of the better move that explain the loss |
//! | `best_keeps` | the evaluation of the better move |
//! | `as_good` | the move scores about as much as the best one, or more in a deeper search |
//! | `only_move` | without the best move the search finds a mistake or worse |
//! | `game_over` | the rules had ended the game before the move |
//! | `draws` | the move ends the game as a draw by rule |
//! | `best`, `mates`, `wins_material`, `sacrifice`, `meets_threat`, `threatens`, `purpose` | effect of a good move |
//!
//! * `bad`: the punishment of a move; `better`: the better move, and the effect of a good move; `words`: English
//!
//! If a line does not become quiet within the horizon, no sentence mentions material.

use serde::Serialize;
use words::line;

use super::analyst::Look;
use super::facts::Passed;
pub(crate) use super::facts::{Depth, Facts};
use super::features::Feature;
use super::mark::{Eval, bad_mark, centipawns, opposite, rank, winning};
use super::material::{Swing, swing};
use super::motifs::{Motif, Walk, motifs, role_name};
use crate::board::{CastlingMode, Color, Move, Position, Role};
use crate::game::ending::Cause;
use crate::search::score::Score;
use crate::tools::variation::san_moves;

mod bad;
mod better;
mod words;

/// Plies of a line that a sentence shows.
const SHOWN: usize = 5;

/// Minimum number of centipawns that a threat gains for each pawn that it wins.
const GAINED: i32 = 40;

/// A sentence with its kind and data.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Reason {
    /// Kind of the sentence, from the table of this file.
    pub kind: &'static str,
    /// The sentence.
    pub text: String,
    /// The content of the sentence as data; `None` if it only compares scores.
    pub claim: Option<Claim>,
}

/// The sentence about a move of a game that was over.
pub(crate) fn game_was_over(cause: Cause) -> Reason {
    let text = format!("The game was over before this move: {}.", cause.draw_in_words());
    Reason { kind: "game_over", text, claim: None }
}

/// Reasons why a move is bad: first its punishment, then the better move.
pub(crate) fn reasons(facts: &Facts) -> Vec<Reason> {
    let writer = ReasonWriter::new(facts);
    let mut found = Vec::new();
    if facts.is_best() {
        found.extend(writer.good_move());
        found.extend(writer.only_move());
        return found;
    }
    let punishment = writer.punishment();
    found.extend(writer.result(punishment.as_ref()));
    found.extend(writer.missed_mate());
    let refutes = punishment.as_ref().is_some_and(|punishment| punishment.kind == "refutation");
    found.extend(punishment);
    found.extend(writer.overlooks_threat());
    found.extend(writer.reply_threatens().filter(|_| refutes));
    found.extend(writer.better_move());
    found.extend(writer.only_move());
    found
}

/// The reasons, and for a move that loses nothing also its effect.
pub(crate) fn explanation(facts: &Facts) -> Vec<Reason> {
    let writer = ReasonWriter::new(facts);
    let mut found = Vec::new();
    if facts.is_best() {
        found.extend(writer.best_by_search());
    }
    found.extend(reasons(facts));
    if !writer.is_bad() || facts.is_best() {
        found.extend(writer.draws());
        found.extend(writer.intentions());
    }
    found
}

/// Facts with values derived from them.
struct ReasonWriter<'a> {
    facts: &'a Facts,
    /// Scores from the mover's view.
    before: Score,
    after: Score,
    /// Moves from the position on: the move with its refutation, and the best line.
    played: Vec<Move>,
    best_line: &'a [Move],
    /// Effects of both lines on the mover's material.
    lost: Option<Swing>,
    kept: Option<Swing>,
    /// The refutation, and the best line.
    refutation: Walk,
    better: Walk,
}

impl<'a> ReasonWriter<'a> {
    fn new(facts: &'a Facts) -> Self {
        let played = facts.played_line();
        let best_line = facts.before.pv();
        let swing = |line: &[Move]| swing(&facts.position, line, facts.mover());
        Self {
            before: facts.before.score,
            after: facts.score_after(),
            lost: swing(&played),
            kept: swing(best_line),
            refutation: Walk::new(&facts.reached(), facts.after.pv()),
            better: Walk::new(&facts.position, best_line),
            played,
            best_line,
            facts,
        }
    }

    /// Whether the scores give the move a bad mark.
    fn is_bad(&self) -> bool {
        bad_mark(self.before, self.after).is_some()
    }

    /// Centipawns that the move loses; a mate counts as 10.00.
    fn loss(&self) -> i32 {
        centipawns(self.before) - centipawns(self.after)
    }

    fn mover(&self) -> Color {
        self.facts.mover()
    }

    fn opponent(&self) -> &'static str {
        words::name(!self.mover())
    }

    /// The best move with its number.
    fn best(&self) -> String {
        line(&self.facts.position, &[self.facts.best()])
    }

    /// The opponent's reply and the moves after it, up to this number of plies after the move.
    fn answer(&self, plies: usize) -> String {
        let moves = self.facts.after.pv();
        line(&self.facts.reached(), &moves[..plies.min(moves.len())])
    }

    /// A score of the mover in the form of the page: from White's view.
    fn shown(&self, score: Score) -> String {
        let score = self.mover().fold_wb(score, opposite(score));
        Eval::from(score).to_string()
    }
}

/// Gain of a line for the side that begins it: a mate, or material.
#[derive(Clone, Debug)]
struct Gain {
    mate: Option<i32>,
    won: Option<Swing>,
    line: Vec<Move>,
}

impl Gain {
    /// Threat found by a search after a pass: a mate, or a gain of at least two pawns by force.
    fn of(Passed { look, gain, .. }: &Passed) -> Option<Self> {
        let (mate, line) = (mate_for(look.score), look.pv().to_vec());
        let won = gain.filter(|won| won.points >= 2 && winning(look.score) > 50.0);
        (mate.is_some() || won.is_some()).then_some(Self { mate, won, line })
    }

    /// The same, if the material also improves the score. `without` is the score without the pass, from the view of the
    /// side that threatens.
    fn real(passed: &Passed, without: Score) -> Option<Self> {
        let gained = rank(passed.look.score) - rank(without);
        Self::of(passed).filter(|gain| gain.mate.is_some() || gained >= GAINED * gain.points())
    }

    fn points(&self) -> i32 {
        self.won.map_or(0, |won| won.points)
    }

    /// Whether this gain is worth at least as much as `other`.
    fn covers(&self, other: &Self) -> bool {
        self.mate.is_some() || other.mate.is_none() && self.points() >= other.points()
    }
}

/// Standing of a side with this many centipawns: 0 even, 1 better, 2 clearly better, 3 winning; negative if worse.
fn standing(centipawns: i32) -> i32 {
    let bands = [50, 150, 300];
    let passed = bands.iter().filter(|&&least| centipawns.abs() >= least);
    centipawns.signum() * passed.count() as i32
}

/// Moves to a mate by the side from whose view the score is; `None` for other scores.
fn mate_for(score: Score) -> Option<i32> {
    match score {
        Score::Mate(moves) if moves > 0 => Some(moves),
        _ => None,
    }
}

/// Whether a mate line ends in mate after this number of moves.
fn is_complete(position: &Position, line: &[Move], mate: i32) -> bool {
    let mut end = position.clone();
    for &m in line {
        end.do_move(m);
    }
    i32::try_from(line.len()) == Ok(2 * mate - 1) && end.in_check() && end.legal_moves().is_empty()
}

// The data of a sentence: a line from a position, and what can be proved about it on the board.

/// How a line ends by the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum End {
    /// The side to move is mated.
    Checkmate,
    /// The side to move has no legal move.
    Stalemate,
    /// Neither side can mate any more, or the position has occurred before.
    Draw,
}

/// The content of a sentence as data. Everything in it can be checked by playing the line.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Claim {
    /// The position where the line begins. After a null move, it is the position with the other side to move.
    pub fen: String,
    /// The side that mates, wins material, and makes the motifs: `white` or `black`.
    pub side: &'static str,
    /// The line.
    pub san: Vec<String>,
    pub uci: Vec<String>,
    /// Number of moves in which `side` mates, by the search.
    pub mate: Option<i32>,
    /// The end of the game, if the line ends it.
    pub end: Option<End>,
    /// Pieces that the line wins for `side`, and pieces given for them.
    pub wins: Vec<&'static str>,
    pub gives: Vec<&'static str>,
    /// Motifs of the line, the best explanation first.
    pub motifs: Vec<Motif>,
    /// Facts at the end of the line.
    pub features: Vec<Feature>,
}

impl Claim {
    /// A claim about a line for a side, without any facts yet.
    pub(super) fn new(position: &Position, moves: &[Move], side: Color) -> Self {
        let chess960 = position.castling_mode() == CastlingMode::Chess960;
        let mut end = position.clone();
        let mut uci = Vec::new();
        for &m in moves {
            uci.push(end.uci(m, chess960));
            end.do_move(m);
        }
        Self {
            fen: position.fen(),
            side: side.fold_wb("white", "black"),
            san: san_moves(position, moves),
            uci,
            mate: None,
            end: end_of(&end),
            wins: Vec::new(),
            gives: Vec::new(),
            motifs: Vec::new(),
            features: Vec::new(),
        }
    }

    /// Adds that the side mates in this number of moves.
    pub(super) fn mating(mut self, moves: i32) -> Self {
        self.mate = Some(moves);
        self
    }

    /// Adds the material that the line wins. A swing from the opponent's view has the same pieces.
    pub(super) fn winning(mut self, swing: &Swing) -> Self {
        let words = |roles: Vec<Role>| roles.into_iter().map(role_name).collect();
        let [wins, gives] = swing.roles().map(words);
        (self.wins, self.gives) = (wins, gives);
        self
    }

    /// Adds the motifs of a line that begins `offset` plies into this line, if the motifs lie within this line.
    pub(super) fn with_motifs(mut self, motifs: &[Motif], offset: usize) -> Self {
        let moved = motifs.iter().map(|motif| Motif { ply: motif.ply + offset, ..motif.clone() });
        self.motifs = moved.filter(|motif| motif.ply < self.san.len()).collect();
        self
    }

    /// Adds facts at the end of the line.
    pub(super) fn with_features(mut self, features: Vec<Feature>) -> Self {
        self.features = features;
        self
    }
}

fn end_of(position: &Position) -> Option<End> {
    match (position.legal_moves().is_empty(), position.in_check()) {
        (true, true) => Some(End::Checkmate),
        (true, false) => Some(End::Stalemate),
        (false, _) if position.is_draw(0) => Some(End::Draw),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    //! Tests each kind of sentence with a position that requires it and one that excludes it.

    use super::better::keeping;
    use super::*;
    use crate::review::analyst::tests::{analyst, position};

    /// The reasons for a move, from a search with a fixed number of nodes.
    fn explained(fen: &str, san: &str) -> Vec<Reason> {
        reasons_in(&position(fen), san)
    }

    fn reasons_in(position: &Position, san: &str) -> Vec<Reason> {
        let m = position.parse_san(san).expect(san);
        let mut analyst = analyst(20_000, 1);
        let mut reached = position.clone();
        reached.do_move(m);
        let after = analyst.look(&reached).expect("a look");
        let before = analyst.look(position).expect("a look");
        let depth = Depth::Full;
        let facts = Facts::gather(position, m, &before, &after, None, depth, &mut analyst);
        explanation(&facts.expect("no Ctrl-C"))
    }

    fn text(fen: &str, san: &str, kind: &str) -> Option<String> {
        let reasons = explained(fen, san);
        reasons.into_iter().find(|reason| reason.kind == kind).map(|reason| reason.text)
    }

    /// Asserts that one move has a sentence with this beginning, and that another move has none of this kind.
    fn check(kind: &str, must: (&str, &str, &str), must_not: (&str, &str)) {
        let (fen, san, beginning) = must;
        let said = text(fen, san, kind);
        let all = || explained(fen, san);
        assert!(said.as_ref().is_some_and(|said| said.starts_with(beginning)), "{kind} of {san} in {fen}: {:?}", all());
        let (fen, san) = must_not;
        assert_eq!(text(fen, san, kind), None, "{kind} of {san} in {fen}");
    }

    /// White mates on the eighth rank.
    const BACK_RANK: &str = "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1";
    /// Black must defend f7.
    const SCHOLAR: &str = "r1bqkbnr/pppp1ppp/2n5/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR b KQkq - 3 3";
    /// The same, and the queen cannot defend it.
    const SCHOLAR_BISHOP: &str = "r1bqk1nr/ppppbppp/2n5/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR b KQkq - 3 3";
    /// A queen that is attacked by a pawn.
    const QUEEN_HANGS: &str = "rnbqkb1r/ppp1pppp/5n2/3p4/4Q3/8/PPPP1PPP/RNB1KBNR w KQkq - 0 4";
    /// White can fork king and rook on c7.
    const FORK_OF_ROOK: &str = "r3k2r/pp3ppp/2n5/3N4/8/8/PPP2PPP/R3K2R w KQkq - 0 1";
    const KNIGHT_HANGS: &str = "4k3/ppp2ppp/8/3n4/8/8/PPP2PPP/3RK3 w - - 0 1";
    const FORK: &str = "r3k2r/pp3ppp/8/3N4/8/8/PPP2PPP/R3K2R w KQkq - 0 1";

    /// White must promote at once.
    const PROMOTION: &str = "8/P1k5/8/8/8/8/8/K7 w - - 0 1";
    /// Philidor's defence: Black should capture.
    const PHILIDOR: &str = "rnbqkbnr/ppp2ppp/3p4/4p3/3PP3/5N2/PPP2PPP/RNBQKB1R b KQkq - 0 3";

    #[test]
    fn missed_mate_is_named() {
        check("missed_mate", (BACK_RANK, "h3", "It misses mate in 1: 1.Rd8#."), (BACK_RANK, "Rd8#"));
        // A move that mates more slowly does not miss the mate.
        let two_ways = "7k/8/5K2/6Q1/8/8/8/8 w - - 0 1";
        assert_eq!(text(two_ways, "Qg4", "missed_mate"), None);
        check("best_mates", (two_ways, "Qg4", "There was mate in 1: 1.Qg7#."), (two_ways, "Qg7#"));
    }

    #[test]
    fn allowed_mate_is_named() {
        check("allows_mate", (SCHOLAR, "Nf6", "It allows mate in 1: 4.Qxf7#."), (SCHOLAR, "g6"));
        // A move does not allow a mate that was already unavoidable.
        let lost = "7k/8/6K1/8/8/8/8/5R2 b - - 0 1";
        assert_eq!(text(lost, "Kg8", "allows_mate"), None);
    }

    #[test]
    fn stalemate_is_named() {
        let fen = "7k/8/8/6K1/8/5Q2/8/8 w - - 0 1";
        check("stalemate", (fen, "Qf7", "It is stalemate: Black has no legal move."), (fen, "Kg6"));
    }

    #[test]
    fn lost_material_is_named() {
        check(
            "loses_material",
            (QUEEN_HANGS, "Nf3", "It leaves the queen on e4 hanging: 4...dxe4."),
            (QUEEN_HANGS, "Qe3"),
        );
        // An even trade loses no material.
        let trade = "3qk3/ppp2ppp/8/8/8/8/PPP2PPP/3QK3 w - - 0 1";
        assert_eq!(text(trade, "Qxd8+", "loses_material"), None);
    }

    #[test]
    fn allowed_promotion_is_named() {
        let fen = "8/8/8/8/8/k6p/8/5K2 w - - 0 1";
        check("lets_promote", (fen, "Ke2", "It lets Black promote a pawn: 1...h2"), (fen, "Kg1"));
    }

    #[test]
    fn overlooked_threat_is_named() {
        check(
            "overlooks_threat",
            (SCHOLAR, "Nf6", "White was already threatening 4.Qxf7#, and the move does not prevent it."),
            // White creates the weakness with this move: there was no threat before.
            ("rnbqkbnr/pppp1ppp/8/4p3/8/5P2/PPPPP1PP/RNBQKBNR w KQkq - 0 2", "g4"),
        );
    }

    #[test]
    fn gain_of_the_better_move_is_named() {
        check(
            "best_wins",
            (KNIGHT_HANGS, "h3", "1.Rxd5 was better, taking the hanging knight on d5."),
            (QUEEN_HANGS, "Nf3"),
        );
        check(
            "best_attacks",
            (FORK_OF_ROOK, "h3", "1.Nc7+ was better, forking the king on e8 and the rook on a8 (1...K"),
            (QUEEN_HANGS, "Nf3"),
        );
        check("best_promotes", (PROMOTION, "Kb1", "1.a8=Q was better, promoting a pawn"), (FORK, "h3"));
    }

    #[test]
    fn recapture_is_described_as_winning_back() {
        let fen = "rnbqkb1r/ppp2ppp/4p3/3n4/8/2N5/PPPPPPPP/R1BQKBNR w KQkq - 0 3";
        let mut traded = position(fen);
        let m = traded.parse_san("Nxd5").expect("legal");
        traded.do_move(m);
        let said = |position: &Position| {
            let reasons = reasons_in(position, "h6");
            let wins = reasons.into_iter().find(|reason| reason.kind == "best_wins");
            wins.expect("a better move").text
        };
        assert!(said(&traded).contains(" winning back a knight"), "{}", said(&traded));
        // The same position without the preceding moves.
        let bare = position(&traded.fen());
        assert!(said(&bare).contains(" hanging knight on d5"), "{}", said(&bare));
    }

    #[test]
    fn threat_of_the_better_move_is_named() {
        // After 3...Nf6 the pawn does not attack the queen, but the knight does.
        check(
            "best_threatens",
            (SCHOLAR_BISHOP, "a6", "3...g6 was better, threatening 4...gxh5, winning the queen."),
            (SCHOLAR, "Nf6"),
        );
    }

    #[test]
    fn exchange_is_no_threat() {
        // If Black passes, White takes the queen; but it is Black's move, who could take the other one.
        let offered = "4q1k1/5ppp/8/8/8/8/4QPPP/6K1 b - - 0 1";
        let mut analyst = analyst(5000, 1);
        let start = position(offered);
        let (position, look) = analyst.look_after_pass(&start, 1).expect("a look");
        let passed = Passed { position, look, gain: None };
        let gain = Gain { mate: None, won: None, line: passed.look.pv().to_vec() };
        let first = gain.line.first().map(|m| passed.position.san(*m));
        assert_eq!((first.as_deref(), super::bad::offers_trade(&passed, &gain)), (Some("Qxe8#"), true));
    }

    #[test]
    fn balance_kept_by_the_better_move_is_named() {
        check(
            "best_keeps",
            (PHILIDOR, "Bg4", "3...exd4 was better and kept the balance (+"),
            // A winning move gets a more specific sentence.
            (FORK, "h3"),
        );
    }

    #[test]
    fn only_move_is_named() {
        let hanging = "rnb1kbnr/pppp1ppp/8/4p3/4P2q/5N2/PPPP1PPP/R2QK2R w KQkq - 0 3";
        check(
            "only_move",
            (hanging, "Nxh4", "It is the only good move: the next best, "),
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "e4"),
        );
        check("only_move", (hanging, "O-O", "It was the only good move: "), (QUEEN_HANGS, "Nf3"));
    }

    #[test]
    fn gain_of_a_good_move_is_named() {
        check("mates", (BACK_RANK, "Rd8#", "It is mate."), (FORK, "Nc7+"));
        let hangs = "rnbqkb1r/ppp1pppp/5n2/3p4/4Q3/5N2/PPPP1PPP/RNB1KB1R b KQkq - 1 4";
        check(
            "wins_material",
            (hangs, "dxe4", "It wins the queen"),
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "e4"),
        );
    }

    #[test]
    fn equally_good_move_is_named() {
        // Two mates in one are equally good, and neither is faster.
        let two_mates = "k7/8/K7/8/8/8/8/1Q5R w - - 0 1";
        for mate in ["Qb7#", "Rh8#"] {
            let said = explained(two_mates, mate);
            let mates: Vec<&str> =
                said.iter().filter(|reason| reason.kind != "best").map(|reason| &*reason.text).collect();
            assert_eq!(mates, ["It is mate."]);
        }
        // One of two waiting moves is not the engine's choice, but equally good.
        let level = "7r/4k3/8/8/8/8/4K3/R7 w - - 0 1";
        let waits: Vec<String> = ["Rb1", "Rc1"].iter().filter_map(|san| text(level, san, "as_good")).collect();
        let says = |said: &String| said.starts_with("It is about as good as 1.");
        assert!(!waits.is_empty() && waits.iter().all(says), "{waits:?}");
        assert_eq!(text(QUEEN_HANGS, "Nf3", "as_good"), None);
    }

    #[test]
    fn words_for_kept_advantage_follow_the_scores() {
        for (before, after, words) in [
            (10, -90, Some("kept the balance")),
            (-40, -200, Some("kept the balance")),
            (40, -30, None),
            (97, 20, Some("kept a slight advantage")),
            (97, 55, Some("kept more of the advantage")),
            (200, 0, Some("kept a clear advantage")),
            (500, 200, Some("kept a winning advantage")),
            (900, 400, Some("kept more of the advantage")),
            (-80, -300, Some("kept the disadvantage small")),
            (-80, -140, Some("limited the damage")),
            (-300, -800, Some("limited the damage")),
        ] {
            assert_eq!(keeping(before, after), words, "{before} and {after}");
        }
    }

    #[test]
    fn slower_mate_against_the_mover_is_named_as_holding_out_longer() {
        let ladder = "6rk/8/8/8/8/8/r7/4K3 w - - 0 1";
        check(
            "best_keeps",
            (ladder, "Kd1", "1.Kf1 was better and held out longer (mate in 2 instead of 1)."),
            (ladder, "Kf1"),
        );
    }

    /// All sentences about a move.
    fn texts(fen: &str, san: &str) -> Vec<String> {
        explained(fen, san).into_iter().map(|reason| reason.text).collect()
    }

    #[test]
    fn threat_is_not_overlooked_where_its_outcome_is_prevented() {
        // After a pass the rook captures with mate. After h3 the king has an escape square, and only the rook is lost.
        let pinned = "6k1/5ppp/8/8/8/8/5PPP/r3R1K1 w - - 0 1";
        assert_eq!(text(pinned, "h3", "overlooks_threat"), None);
        let said = texts(pinned, "h3");
        let names = |what: &str| said.iter().any(|text| text == what);
        assert!(names("It leaves the rook on e1 hanging: 1...Rxe1+."), "{said:?}");
    }

    #[test]
    fn better_move_is_not_praised_for_a_threat_of_the_move_played() {
        // Both knight moves attack the rook on d5.
        let endgame = "r7/4ppkp/6p1/3R3n/4P3/1P3P2/PP4PP/1K6 b - - 0 26";
        assert_eq!(text(endgame, "Nf6", "best_threatens"), None);
        assert_eq!(text(endgame, "Nf6", "best_wins"), None);
        let threat = text(endgame, "Nf6", "threatens").unwrap_or_default();
        assert_eq!(threat, "It threatens 27...Nxd5, winning the exchange.");
    }

    #[test]
    fn attack_on_a_protected_pawn_is_not_a_threat() {
        // After 1...Be6 Black could capture on a2 if White passed, but would lose the bishop for a pawn.
        let fen = "2b3k1/5ppp/8/8/8/1P6/P1P2PPP/1K6 b - - 0 1";
        assert_eq!(text(fen, "Be6", "threatens"), None);
    }

    #[test]
    fn result_is_named() {
        for (fen, san, kind, wanted) in [
            ("7k/8/8/6K1/8/5Q2/8/8 w - - 0 1", "Qf7", "throws_away_win", "It throws away the win: now a draw."),
            ("6k1/5ppp/8/8/8/8/5PPP/r3R1K1 w - - 0 1", "h3", "turns_win_into_loss", "It turns a win into a loss."),
        ] {
            let said = text(fen, san, kind);
            assert_eq!(said.as_deref(), Some(wanted), "{fen} {san} {:?}", texts(fen, san));
        }
        assert_eq!(text(FORK, "Nc7+", "throws_away_win"), None);
    }

    #[test]
    fn every_marked_move_has_a_punishment() {
        for (fen, san) in [(PHILIDOR, "Qg5"), (QUEEN_HANGS, "Nf3"), (SCHOLAR, "Nf6"), (FORK, "h3"), (PROMOTION, "Kb1")]
        {
            let kinds: Vec<&str> = explained(fen, san).iter().map(|reason| reason.kind).collect();
            let punishes = ["allows_mate", "loses_material", "lets_promote", "refutation"];
            assert!(kinds.iter().any(|kind| punishes.contains(kind)), "{fen} {san}: {kinds:?}");
        }
    }

    #[test]
    fn good_move_has_a_reason() {
        let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        let purpose = text(start, "e4", "purpose").unwrap_or_default();
        assert_eq!(
            purpose,
            "It controls the centre squares d5 and f5 and opens lines for the queen on d1 and the bishop on f1."
        );
        let meets = text(SCHOLAR, "g6", "meets_threat").unwrap_or_default();
        assert_eq!(meets, "It meets the threat 4.Qxf7#.");
        let opera = "4kb1r/p2n1ppp/4q3/4p1B1/4P3/1Q6/PPP2PPP/2KR4 w k - 0 16";
        assert_eq!(text(opera, "Qb8+", "sacrifice").as_deref(), Some("It is a sound sacrifice of the queen."));
        // A move that loses material gets no sentence about its purpose.
        assert_eq!(text(QUEEN_HANGS, "Nf3", "purpose"), None);
    }

    #[test]
    fn lines_are_written_with_move_numbers() {
        let start = position(PHILIDOR);
        let m = start.parse_san("exd4").expect("legal");
        assert_eq!(line(&start, &[m]), "3...exd4");
        let mut after = start.clone();
        after.do_move(m);
        let answer = after.parse_san("Nxd4").expect("legal");
        assert_eq!(line(&after, &[answer]), "4.Nxd4");
        assert_eq!(line(&start, &[m, answer]), "3...exd4 4.Nxd4");
    }

    #[test]
    fn queen_trade_is_named_where_only_the_better_move_trades() {
        use crate::review::features::queen_trade;
        let start = position("3qk3/pppp1ppp/8/8/8/8/PPPP1PPP/3QK3 b - - 0 1");
        let moves = |text: &str| -> Vec<Move> {
            let mut now = start.clone();
            text.split(' ')
                .map(|san| {
                    let m = now.parse_san(san).expect(san);
                    now.do_move(m);
                    m
                })
                .collect()
        };
        assert_eq!(queen_trade(&start, &moves("Qe7+ Qe2 Qxe2+ Kxe2")), None, "too late");
        assert_eq!(queen_trade(&start, &moves("Qe7+ Kf1 Qd8")), None);
        let traded = position("3qk3/ppp2ppp/8/8/8/8/PPP2PPP/3QK3 b - - 0 1");
        let trade = [traded.parse_san("Qxd1+").expect("legal")];
        let mut after = traded.clone();
        after.do_move(trade[0]);
        let answer = after.parse_san("Kxd1").expect("legal");
        assert_eq!(queen_trade(&traded, &[trade[0], answer]), Some(2));
    }
}
