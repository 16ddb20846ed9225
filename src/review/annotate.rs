//! A reviewed game as annotated PGN. The author's tags, comments, clocks, glyphs and variations are kept. Evaluations
//! and the results of an earlier review are replaced. A glyph of the review follows a move only if the author has not
//! judged the move; the comments of the review are signed.

use crate::review::mark::Eval;
use std::fmt::Write as _;

use super::mark::Mark;
use super::remarks::{is_judged, of_author, signed, words};
use super::report::{Better, PlayedMove, Review};
use crate::board::Color;
use crate::notation::pgn::{Game, Remarks, Token};

/// Maximum width of a line; lines are broken between two moves.
const COLUMNS: usize = 100;
/// Mandatory tags, in the order of the standard.
const ROSTER: [&str; 7] = ["Event", "Site", "Date", "Round", "White", "Black", "Result"];

/// The text of a game, with an empty line at its end.
pub(crate) fn annotated(game: &Game, review: &Review) -> String {
    let mut text = String::new();
    for (name, value) in tags(review) {
        let value: String = value.replace(['\n', '\r'], " ");
        let value = value.replace('\\', "\\\\").replace('"', "\\\"");
        let _ = writeln!(text, "[{name} \"{value}\"]");
    }
    text.push('\n');
    let mut writer = Movetext::default();
    writer.game(game, review);
    text + &writer.lines() + "\n\n"
}

/// The game's tags, the mandatory tags, and the results of the review.
fn tags(review: &Review) -> Vec<(String, String)> {
    let mut tags = review.tags.clone();
    let mut add = |name: &str, value: &str| {
        if !tags.iter().any(|(known, _)| known == name) {
            tags.push((name.to_owned(), value.to_owned()));
        }
    };
    for name in ROSTER {
        let unknown = if name == "Date" { "????.??.??" } else { "?" };
        add(name, if name == "Result" { &review.result } else { unknown });
    }
    if let Some(opening) = &review.opening {
        add("ECO", &opening.eco);
        add("Opening", &opening.name);
    }
    add("Annotator", &review.engine);
    // The standard requires the roster first; the other tags keep their order.
    tags.sort_by_key(|(name, _)| ROSTER.iter().position(|known| known == name).unwrap_or(ROSTER.len()));
    tags
}

/// Collects the atoms of the movetext: parts that are never broken.
#[derive(Default)]
struct Movetext {
    atoms: Vec<String>,
    /// Whether the next move of the game needs its number even if Black makes it.
    fresh: bool,
    /// Number of the next move of a variation of the file, if it has one.
    number: Option<String>,
}

impl Movetext {
    fn game(&mut self, game: &Game, review: &Review) {
        self.fresh = true;
        let before = game.remarks.first().map(of_author).unwrap_or_default();
        before.texts.iter().for_each(|text| self.token(text));
        for (i, played) in review.moves.iter().enumerate() {
            let remarks = match played.evaluation {
                Some(_) => of_author(&game.remarks[i + 1]),
                // Not reviewed because of Ctrl-C: an earlier review is kept.
                None => game.remarks[i + 1].clone(),
            };
            self.mv(played.number, played.side == "white", &played.san);
            self.nags(&remarks, played);
            let reasons: Vec<&str> = played.reasons.iter().map(|r| r.text.as_str()).collect();
            let verdict = played.mark.map(|mark| signed(mark, is_judged(&remarks), &reasons));
            let eval = played.evaluation.as_ref().map(|e| e.eval);
            // The author's comments on the move itself precede the review's; his variations and what he says about
            // them follow.
            let is_variation = |text: &Token| matches!(text, Token::Variation(_));
            let split = remarks.texts.iter().position(is_variation).unwrap_or(remarks.texts.len());
            let (on_move, after) = remarks.texts.split_at(split);
            self.comments(eval, on_move, &verdict.unwrap_or_default());
            self.better(played);
            after.iter().for_each(|text| self.token(text));
        }
        self.atoms.push(review.result.clone());
    }

    fn mv(&mut self, number: u32, white: bool, san: &str) {
        let fresh = std::mem::take(&mut self.fresh);
        self.atoms.push(match (white, fresh) {
            (true, _) => format!("{number}. {san}"),
            (false, true) => format!("{number}... {san}"),
            (false, false) => san.to_owned(),
        });
    }

    fn nags(&mut self, remarks: &Remarks, played: &PlayedMove) {
        let own = played.mark.filter(|_| !is_judged(remarks)).map(Mark::nag);
        for nag in own.iter().chain(&remarks.nags) {
            self.atoms.push(format!("${nag}"));
        }
    }

    /// The author's comments, then the comment of the review with the evaluation. Clocks without text are added to
    /// the latter.
    fn comments(&mut self, eval: Option<Eval>, author: &[Token], verdict: &str) {
        let mut parts = Vec::new();
        for text in author {
            match text {
                Token::Comment(comment) if words(comment).is_empty() => parts.push(comment.clone()),
                text => self.token(text),
            }
        }
        parts.extend(eval.map(|eval| format!("[%eval {}]", eval.number())));
        parts.push(verdict.to_owned());
        parts.retain(|part| !part.is_empty());
        if !parts.is_empty() {
            self.comment(&parts.join(" "));
        }
    }

    fn comment(&mut self, text: &str) {
        self.atoms.push(format!("{{ {} }}", without_braces(text)));
        self.fresh = true;
    }

    /// The better lines as variations.
    fn better(&mut self, played: &PlayedMove) {
        let Some(mark) = played.mark else { return };
        if !mark.is_bad() {
            return;
        }
        for Better { eval, san, .. } in &played.better {
            let (mut number, mut white) = (played.number, played.side == "white");
            self.fresh = true;
            for (i, san) in san.iter().enumerate() {
                self.mv(number, white, san);
                number += u32::from(!white);
                white = !white;
                if i == 0 {
                    self.open();
                    self.comment(&format!("[%eval {}]", eval.number()));
                }
            }
            self.close();
            self.fresh = true;
        }
    }

    /// A comment, glyph or variation of the file, as it was.
    fn token(&mut self, token: &Token) {
        match token {
            Token::Number(number, side) => self.number = Some(numbered(*number, *side)),
            Token::Move(san) => {
                let number = self.number.take();
                self.atoms.push(number.map_or_else(|| san.clone(), |number| format!("{number} {san}")));
            }
            Token::Nag(nag) => self.atoms.push(format!("${nag}")),
            Token::Comment(text) => self.comment(text),
            Token::Variation(line) => {
                let begin = self.atoms.len();
                line.iter().for_each(|token| self.token(token));
                if let Some(first) = self.atoms.get_mut(begin) {
                    first.insert(0, '(');
                    self.close();
                }
                self.fresh = true;
            }
        }
    }

    /// Opens a variation before the last atom, or closes one after it.
    fn open(&mut self) {
        if let Some(last) = self.atoms.last_mut() {
            last.insert(0, '(');
        }
    }

    fn close(&mut self) {
        if let Some(last) = self.atoms.last_mut() {
            last.push(')');
        }
    }

    /// Joins the atoms to lines. An atom is never broken, so that no line begins with a bracket.
    fn lines(&self) -> String {
        let mut text = String::new();
        let mut column = 0;
        for atom in &self.atoms {
            let length = atom.chars().count();
            if column > 0 && column + 1 + length > COLUMNS {
                text.push('\n');
                column = 0;
            } else if column > 0 {
                text.push(' ');
                column += 1;
            }
            text += atom;
            column += length;
        }
        text
    }
}

/// `3.` or `3...`
pub(super) fn numbered(number: u32, side: Color) -> String {
    format!("{number}{}", side.fold_wb(".", "..."))
}

/// Text without braces, which may not occur in a comment.
fn without_braces(text: &str) -> String {
    text.replace('{', "(").replace('}', ")")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation::pgn;
    use crate::review::analyst::tests::analyst;
    use crate::review::phase::OpeningNames;
    use crate::review::study::{Detail, Wishes, review};

    fn annotated_game(pgn: &str) -> String {
        let games = pgn::read(pgn.as_bytes()).expect("a text");
        let game = games[0].as_ref().expect("a game");
        let wishes = Wishes { side: None, detail: Detail::Normal, retry: false };
        let openings = OpeningNames::load();
        let review = review(game, &mut analyst(2000, 1), &openings, wishes, &mut |_| ());
        annotated(game, &review)
    }

    #[test]
    fn annotation_keeps_the_texts_of_the_file_and_adds_the_review() {
        let text = annotated_game(
            "[White \"A \\\"the\\\" B\"]\n[Event \"E\"]\n\n{ before } 1. e4 $1 {[%clk 0:01:00] [%eval 0.1] best } \
             (1. d4 d5 (1... c5 {x} 2. Nf3) 2. f4) e5 2. Bc4 Nc6 3. Qh5 Nf6 $7 4. Qxf7# 1-0\n",
        );
        assert!(text.starts_with("[Event \"E\"]\n[Site \"?\"]"), "{text}");
        for part in [
            "[White \"A \\\"the\\\" B\"]",
            "[Result \"1-0\"]",
            "{ before }",
            "{ [%clk 0:01:00] best } { [%eval 0",
            "(1. d4 d5 (1... c5 { x } 2. Nf3) 2. f4)",
            "3... Nf6 $4 $7 { [%eval #1] Zoothera: Blunder. It allows mate in 1: 4.Qxf7#.",
            "4. Qxf7# { [%eval #0] } 1-0",
            "[ECO \"C23\"]",
        ] {
            // Lines are broken between words that belong to no comment.
            let whole = text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(whole.contains(part), "{part} is not in\n{text}");
        }
        assert!(!text.contains("[%eval 0.1]"), "{text}");
        let again = pgn::read(text.as_bytes()).expect("a text");
        assert_eq!(again.len(), 1);
        assert_eq!(again[0].as_ref().map(|game| game.moves.len()).ok(), Some(7));
    }

    #[test]
    fn annotation_keeps_variations_and_prose_as_they_were() {
        let author = "1. e4 e5 2. Nf3 Nc6 (3.Bb5 a6 4.Ba4 $14) {so} 3. Bb5 (this is prose, see 1...c5) \
             (2... Nc6 3.Bb5+ {x} (3.c3 Qh4#)) a6 *\n";
        let text = annotated_game(author);
        let whole = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in [
            "(3. Bb5 a6 4. Ba4 $14) { so } 3. Bb5",
            "3. Bb5 { (this is prose, see 1...c5) } { [%eval ",
            "(2... Nc6 3. Bb5+ { x } (3. c3 Qh4#)) 3... a6",
        ] {
            assert!(whole.contains(part), "{part} is not in\n{text}");
        }
        assert_eq!(annotated_game(&text), text);
    }

    #[test]
    fn annotation_keeps_the_marks_of_the_author() {
        let text = annotated_game("1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 $1 $7 {[%clk 0:01:00] brave} 4. Qxf7# 1-0\n");
        let whole = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let both = "3... Nf6 $1 $7 { [%clk 0:01:00] brave } { [%eval #1] Zoothera: Blunder (??). It allows mate in 1";
        assert!(whole.contains(both), "{text}");
    }

    #[test]
    fn second_review_replaces_the_annotations_of_the_first() {
        let once = annotated_game("1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 $1 {[%clk 0:01:00] (3... g6) brave} 4. Qxf7# 1-0\n");
        assert_eq!(annotated_game(&once), once);
        let once = annotated_game("1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 4. Qxf7# 1-0\n");
        assert!(once.contains("Nf6 $4"), "{once}");
        assert_eq!(annotated_game(&once), once);
    }

    #[test]
    fn braces_and_brackets_in_comments_keep_the_pgn_valid() {
        let text = annotated_game("1. e4 ({ a { b } 1. d4 {[x] % y}) e5 *\n");
        let movetext = text.split("\n\n").nth(1).unwrap_or_default();
        let depth = movetext.chars().try_fold(0, |depth, c| match c {
            '{' => (depth == 0).then_some(1),
            '}' => (depth == 1).then_some(0),
            _ => Some(depth),
        });
        assert_eq!(depth, Some(0), "{text}");
        let starts = |c: char| movetext.lines().any(|line| line.starts_with(c));
        assert!(!starts('[') && !starts('%'), "{text}");
    }
}
