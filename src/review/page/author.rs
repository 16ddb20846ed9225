//! Comments, glyphs and variations of the file.

use maud::{Markup, html};

use super::super::remarks::{glyph, words};
use crate::notation::pgn::{Remarks, Token};

/// Whether there is text to show.
pub(super) fn has_text(remarks: &Remarks) -> bool {
    !remarks.variations.is_empty() || remarks.comments.iter().any(|text| !words(text).is_empty())
}

/// Comments and variations after a move; `ply` is the ply of that move, from 0 for move 1 of White.
pub(super) fn text(remarks: &Remarks, ply: u32) -> Markup {
    let comments: Vec<String> =
        remarks.comments.iter().map(|comment| words(comment)).filter(|text| !text.is_empty()).collect();
    html! {
        div.author {
            span.unseen { "From the file: " }
            @for comment in &comments { span.comment { (comment) } " " }
            @for line in &remarks.variations { (variation(line, ply)) " " }
        }
    }
}

/// The author's glyphs after a move.
pub(super) fn glyphs(remarks: &Remarks) -> Markup {
    html! {
        @for &nag in &remarks.nags { span.glyph title="From the file" { (glyph(nag)) } }
    }
}

/// A variation in brackets; `ply` is the ply of the move that its first move replaces.
fn variation(line: &[Token], mut ply: u32) -> Markup {
    let mut parts = Vec::new();
    let mut needs_number = true;
    for token in line {
        let space = if parts.is_empty() { "" } else { " " };
        let part = match token {
            Token::Move(san) => {
                let number = ply / 2 + 1;
                let text = match (ply.is_multiple_of(2), needs_number) {
                    (true, _) => format!("{space}{number}. {san}"),
                    (false, true) => format!("{space}{number}... {san}"),
                    (false, false) => format!("{space}{san}"),
                };
                ply += 1;
                needs_number = false;
                html! { (text) }
            }
            Token::Nag(nag) => html! { (glyph(*nag)) },
            Token::Comment(comment) => {
                needs_number = true;
                html! { (space) span.comment { (words(comment)) } }
            }
            Token::Variation(inner) => {
                needs_number = true;
                html! { (space) (variation(inner, ply.saturating_sub(1))) }
            }
        };
        parts.push(part);
    }
    html! { span.variation { "(" @for part in &parts { (part) } ")" } }
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
        let html = text(&game.remarks[1], 0).into_string();
        for part in ["&lt;b&gt;", "(1. d4! d5", "(1... c5 <span class=\"comment\">x</span> 2. Nf3)</span> 2. f4)"] {
            assert!(html.contains(part), "{part} is not in {html}");
        }
        assert!(!html.contains("clk"), "{html}");
        assert!(has_text(&game.remarks[1]) && !has_text(&game.remarks[2]));
    }
}
