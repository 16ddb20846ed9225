//! Comments, glyphs and variations of the file.

use maud::{Markup, html};

use super::super::annotate::numbered;
use super::super::mark::Mark;
use super::super::remarks::{glyph, words};
use crate::notation::pgn::{Remarks, Token};

/// Whether there is text to show.
pub(super) fn has_text(remarks: &Remarks) -> bool {
    remarks.texts.iter().any(is_shown)
}

/// Whether a part of the remarks is more than commands such as `[%clk 0:01:00]`.
fn is_shown(token: &Token) -> bool {
    !matches!(token, Token::Comment(comment) if words(comment).is_empty())
}

/// Comments and variations after a move, in the order of the file.
pub(super) fn text(remarks: &Remarks) -> Markup {
    html! {
        div.author {
            span.unseen { "From the file: " }
            (tokens(&remarks.texts))
        }
    }
}

/// The author's glyphs after a move. One that says the same as the mark of the review is not repeated.
pub(super) fn glyphs(remarks: &Remarks, mark: Option<Mark>) -> Markup {
    let repeats = |nag: u8| mark.is_some_and(|mark| mark.nag() == nag);
    html! {
        @for &nag in remarks.nags.iter().filter(|&&nag| !repeats(nag)) {
            span.glyph title="From the file" { (glyph(nag)) }
        }
    }
}

/// Parts of a variation or of the remarks, separated by blanks. Glyphs follow their moves directly.
fn tokens(all: &[Token]) -> Markup {
    html! {
        @for (i, token) in all.iter().filter(|token| is_shown(token)).enumerate() {
            @if i > 0 && !matches!(token, Token::Nag(_)) { " " }
            @match token {
                Token::Number(number, side) => (numbered(*number, *side)),
                Token::Move(san) => (san),
                Token::Nag(nag) => (glyph(*nag)),
                Token::Comment(comment) => span.comment { (words(comment)) },
                Token::Variation(line) => span.variation { "(" (tokens(line)) ")" },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation::pgn;

    #[test]
    fn variations_are_numbered_and_escaped() {
        let games = pgn::read("1. e4 {[%clk 1] <b>} (1. d4 $1 d5 (1... c5 {x} 2. Nf3) 2. f4) e5 *\n".as_bytes());
        let games = games.expect("a text");
        let game = games[0].as_ref().expect("a game");
        let html = text(&game.remarks[1]).into_string();
        for part in ["&lt;b&gt;", "(1. d4! d5", "(1... c5 <span class=\"comment\">x</span> 2. Nf3)</span> 2. f4)"] {
            assert!(html.contains(part), "{part} is not in {html}");
        }
        assert!(!html.contains("clk"), "{html}");
        let repeated = Remarks { nags: vec![6, 14], ..Remarks::default() };
        assert_eq!(glyphs(&repeated, Some(Mark::Inaccuracy)).into_string().matches("<span").count(), 1);
        assert_eq!(glyphs(&repeated, Some(Mark::Blunder)).into_string().matches("<span").count(), 2);
        assert!(has_text(&game.remarks[1]) && !has_text(&game.remarks[2]));
    }
}
