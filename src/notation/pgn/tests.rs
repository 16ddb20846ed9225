use super::*;

fn all(text: &str) -> Vec<Result<Game, Broken>> {
    read(text.as_bytes()).expect("a text")
}

/// The only game of a text.
fn one(text: &str) -> Game {
    let mut games = all(text);
    assert_eq!(games.len(), 1, "{games:?}");
    games.remove(0).expect("a game")
}

/// The moves of a game in SAN.
fn moves(game: &Game) -> String {
    let mut position = game.start.clone();
    let san = |&m: &Move| {
        let san = position.san(m);
        position.do_move(m);
        san
    };
    game.moves.iter().map(san).collect::<Vec<_>>().join(" ")
}

fn comments(remarks: &Remarks) -> Vec<&str> {
    remarks.comments().collect()
}

/// Remarks as text, with braces and brackets.
fn written(tokens: &[Token]) -> String {
    let one = |token: &Token| match token {
        Token::Number(number, side) => format!("{number}{}", side.fold_wb(".", "...")),
        Token::Move(san) => san.clone(),
        Token::Nag(nag) => format!("${nag}"),
        Token::Comment(text) => format!("{{{text}}}"),
        Token::Variation(line) => format!("({})", written(line)),
    };
    tokens.iter().map(one).collect::<Vec<_>>().join(" ")
}

/// Outcome of each game: its moves and result, or the error message.
fn outcomes(text: &str) -> Vec<String> {
    let one = |game: &Result<Game, Broken>| match game {
        Ok(game) => format!("{} {}", moves(game), game.result).trim().to_owned(),
        Err(broken) => broken.message.clone(),
    };
    all(text).iter().map(one).collect()
}

const GAMES: &str = "[White \"A\"]\n[Black \"B\"]\n[Date \"2018.??.??\"]\n\n\
    1. e4 {best} e5 (1... c5 2. Nf3) 2. Nf3 $1 Nc6 1-0\n\n\
    [FEN \"4k3/8/8/8/8/8/4P3/4K3 b - - 0 9\"]\n\n9... Kd7 10. e4 Qd5 *\n\n1. d4 *\n";

#[test]
fn reader_returns_main_lines_and_places_of_mistakes() {
    let games = all(GAMES);
    assert_eq!(games.len(), 3);
    let first = games[0].as_ref().expect("a game");
    assert_eq!((moves(first).as_str(), first.tag("White")), ("e4 e5 Nf3 Nc6", Some("A")));
    assert_eq!(first.title(), "game 1: A - B, 2018");
    let start = "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP";
    assert!(first.end().fen().starts_with(start));
    let broken = games[1].as_ref().expect_err("a mistake");
    assert_eq!(
        broken.message,
        "game 2: move 10... (ply 3) 'Qd5' is not legal: Black has no queen that can go to d5 (line 9)"
    );
    assert_eq!(broken.part.as_ref().map(|part| moves(part)).as_deref(), Some("Kd7 e4"));
    assert_eq!(games[2].as_ref().expect("a game").title(), "game 3");
}

#[test]
fn reader_keeps_comments_glyphs_and_variations() {
    let game = one(GAMES.split("[FEN").next().unwrap_or_default());
    assert_eq!(game.remarks.len(), game.moves.len() + 1);
    assert_eq!(comments(&game.remarks[1]), ["best"]);
    assert_eq!(written(&game.remarks[2].texts), "(1... c5 2. Nf3)");
    assert_eq!(game.remarks[3].nags, [1]);
    assert_eq!(game.result, "1-0");
    let game = one("1. e4!? ; the king's pawn\n1... e5 $14 $999 += ({x} 1... 0-0 foo! e8(Q)?) *\n");
    assert_eq!(comments(&game.remarks[1]), ["the king's pawn"]);
    assert_eq!(game.remarks[1].nags, [5]);
    assert_eq!(game.remarks[2].nags, [14, 14]);
    assert_eq!(written(&game.remarks[2].texts), "{$999} ({x} 1... O-O {foo! e8(Q)?})");
}

#[test]
fn variations_keep_numbers_signs_glyphs_and_places() {
    for variation in [
        "(3. Bb5 a6 4. Ba4)",
        "(2... Nc6 3. Bb5+)",
        "(2... Qh4+ 3. g3 $1 Qxe4+ $5 {x} 4. Qe2)",
        "(2. f4 exf4 (2... d5 3. exd5) 3. Nf3)",
        "(1... f6 2. Qh5+ g6 3. Qxg6+ hxg6 4. e8=Q#)",
        "{a} (2. d4) {b} (2. c4) {c}",
        "(c5 Nf3 2... d6)",
        "(2. -- d5)",
        "({before} 2... d6 $2 {after})",
        "(17. Nf3 {quoted game} 17... Rxe1+)",
    ] {
        let game = one(&format!("1. e4 e5 2. Nf3 {variation} Nc6 *"));
        assert_eq!(written(&game.remarks[3].texts), variation);
    }
    for (source, expected) in [
        ("(3.Bb5 a6 4.Ba4)", "(3. Bb5 a6 4. Ba4)"),
        ("(2...Nc6 3.Bb5+!)", "(2... Nc6 3. Bb5+ $1)"),
        ("(2. ... ♞c6 3 Bb5 +)", "(2... Nc6 3. Bb5+)"),
        ("(2…Nc6 3.\nBb5 1-0)", "(2... Nc6 3. Bb5 {1-0})"),
        ("(2... f6 3. Qh5 mate)", "(2... f6 3. Qh5#)"),
        ("()", ""),
    ] {
        let game = one(&format!("1. e4 e5 2. Nf3 {source} Nc6 *"));
        assert_eq!(written(&game.remarks[3].texts), expected, "{source}");
    }
}

#[test]
fn prose_in_brackets_is_one_comment() {
    for (source, expected) in [
        ("(this is prose, see 1...c5)", "{(this is prose, see 1...c5)}"),
        ("(with an idea\nof Bb5 and 3. d4)", "{(with an idea of Bb5 and 3. d4)}"),
        ("(prose (more prose) and {braces} (3. d4) end)", "{(prose (more prose) and braces (3. d4) end)}"),
        ("(=)", "{(=)}"),
        ("(3 pieces are better)", "{(3 pieces are better)}"),
        ("(2... d6 is the Philidor, not 2...f6 3. d4 exd4)", "(2... d6 {is the Philidor, not 2...f6} 3. d4 exd4)"),
        ("(2... d6 3. d4 is better, as Bg5 follows)", "(2... d6 3. d4 {is better, as Bg5 follows})"),
        ("(2... d6 passive (2... d5 3. exd5) 3. d4)", "(2... d6 {passive} (2... d5 3. exd5) 3. d4)"),
        ("(2... d6 (too slow) 3. d4)", "(2... d6 {(too slow)} 3. d4)"),
        ("(2... d6 3 pawns)", "(2... d6 {3 pawns})"),
    ] {
        let game = one(&format!("1. e4 e5 2. Nf3 {source} Nc6 *"));
        assert_eq!((moves(&game).as_str(), written(&game.remarks[3].texts).as_str()), ("e4 e5 Nf3 Nc6", expected));
    }
}

#[test]
fn reader_accepts_variants_of_spelling() {
    let expected = "e4 e5 Nf3 Nc6 Bc4 Bc5 O-O Nf6 *";
    for text in [
        "1. e4 e5 2. nf3 nc6 3. Bc4 bc5 4. o-o nf6 *",
        "1. e2-e4 e7-e5 2. Ng1-f3 Nb8-c6 3. Bf1-c4 Bf8-c5 4. O–O Ng8-f6 *",
        "1.e2e4 e7e5 2.g1f3 b8c6 3.f1c4 f8c5 4.e1g1 g8f6*",
        "1. e4! e5!? 2. ♘f3 ♞c6 3. ♗c4+- ♝c5 = 4. 0-0 ♞f6 N *",
        "1.\u{a0}e4\u{a0}e5 2.\u{a0}Nf3\u{202f}Nc6 3.\u{a0}Bc4 Bc5 4. 0−0 Nf6 *",
        "1 e4 1... e5 2 Nf3 2...Nc6 3 Bc4 Bc5 4 OO Nf6 *",
        "1. ... 1. e4 .. e5 2.Nf3 … Nc6 3.Bc4 Bc5 4.0-0 ...Nf6 *",
        "1. Pe4 pe5 2. Ng1f3 Nbc6 3. B-c4 B-c5 4. 0-0+ Nf6++ *",
    ] {
        assert_eq!(outcomes(text), [expected.replace("Bc4+-", "Bc4")], "{text}");
    }
    for (text, expected) in [
        ("[FEN \"4k3/P7/8/8/8/8/8/4K3 w - - 0 1\"]\n\n1. a8Q+ *", "a8=Q+ *"),
        ("[FEN \"4k3/P7/8/8/8/8/8/4K3 w - - 0 1\"]\n\n1. a8/Q *", "a8=Q+ *"),
        ("[FEN \"4k3/P7/8/8/8/8/8/4K3 w - - 0 1\"]\n\n1. a8(Q)+ Kd7 *", "a8=Q+ Kd7 *"),
        ("[FEN \"4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1\"]\n\n1. exd6e.p. *", "exd6 *"),
        ("[FEN \"4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1\"]\n\n1. e:d6 (ep) *", "exd6 *"),
        ("1. e4 d5 2. e:d5 Q×d5 3. Nc3 *", "e4 d5 exd5 Qxd5 Nc3 *"),
        ("1. f3 e5 2. g4 Qh4++ 0-1", "f3 e5 g4 Qh4# 0-1"),
        ("1. f3 e5 2. g4 Qh4 mate 0-1", "f3 e5 g4 Qh4# 0-1"),
    ] {
        assert_eq!(outcomes(text), [expected], "{text}");
    }
}

#[test]
fn unknown_word_breaks_its_game_and_is_named() {
    for (word, rest) in [
        ("Sf3", "Sc6 3. Lc4 *"),
        ("hello", "Nf3 Nc6 *"),
        ("ed", "*"),
        ("[x]", "Nf3 *"),
        ("5254", "Nf3 *"),
        ("}", "Nf3 *"),
        (")", "Nf3 *"),
        ("$", "Nf3 *"),
        ("1-", "Nf3 *"),
        ("<Nf3>", "Nf3 *"),
    ] {
        let text = format!("1. e4 e5 2. {word} {rest}\n\n1. d4 *\n");
        let games = outcomes(&text);
        let expected = format!("game 1: move 2. (ply 3) '{word}'");
        assert!(games[0].starts_with(&expected), "{games:?}");
        assert!(games[0].ends_with("(line 1)"), "{games:?}");
        assert_eq!(games[1..], ["d4 *"]);
    }
    assert!(outcomes("hello world\n")[0].contains("'hello' is not a move"));
}

#[test]
fn unclosed_comment_does_not_hide_the_next_games() {
    let text = "[Event \"1\"]\n\n1. e4 {oops e5 2. Nf3 1-0\n\n[Event \"2\"]\n[White \"W\"]\n\n1. d4 d5 1-0\n\n\
        [Event \"3\"]\n\n1. c4 0-1\n";
    let games = outcomes(text);
    assert_eq!(games[0], "game 1: the comment '{oops e5 2. Nf3 1-0' in line 3 is never closed");
    assert_eq!(games[1..], ["d4 d5 1-0", "c4 0-1"]);
    let closed = one("1. e4 {a\n\n[%clk 0:01:00]\n\n[x \"y\" z]\n} e5 *");
    assert_eq!(closed.moves.len(), 2);
}

#[test]
fn unclosed_variation_breaks_its_game_only() {
    let games = outcomes("[Event \"1\"]\n\n1. e4 (1. d4 d5 2. c4 1-0\n\n[Event \"2\"]\n\n1. d4 *\n");
    assert_eq!(games[0], "game 1: move 1... (ply 2) '(' (line 3): the variation is never closed");
    assert_eq!(games[1..], ["d4 *"]);
}

#[test]
fn blank_lines_and_comments_do_not_end_a_game() {
    for text in [
        "1. e4 e5\n\n2. Nf3 Nc6 *",
        "1. e4 e5 {x}\n\n\n{y}\n\n2. Nf3 Nc6 *",
        "{[#]} 1. e4 e5 2. Nf3 Nc6 *",
        "{[#]}\n\n1. e4 e5\n% other\n2. Nf3 Nc6 *",
        "[Event \"x\"]\n\n{[#]}\n\n1. e4 e5\n\n{ [%csl Ge4] }\n\n2. Nf3 Nc6 *",
        "[Event \"x\"]\n{between}\n[White \"y\"]\n; more\n\n1. e4 e5 2. Nf3 Nc6",
        "1. e4 e5 2. Nf3\n\n2... Nc6\n\n*\n\n",
    ] {
        assert_eq!(outcomes(text), ["e4 e5 Nf3 Nc6 *"], "{text}");
    }
    let game = one("{a}\n\n[Event \"x\"]\n{b}\n[White \"y\"]\n\n{c} 1. e4 *");
    assert_eq!((game.tags.len(), comments(&game.remarks[0]).join("")), (2, "abc".to_owned()));
}

#[test]
fn result_or_tags_end_a_game() {
    assert_eq!(outcomes("1. e4 1-0\n1. d4 0-1 1. c4 *"), ["e4 1-0", "d4 0-1", "c4 *"]);
    assert_eq!(outcomes("1. e4 1-0 {good game}\n\n{really}\n\n[Event \"x\"]\n\n1. d4 *"), ["e4 1-0", "d4 *"]);
    assert_eq!(outcomes("[White \"x\"]\n\n1. e4\n[White \"y\"]\n1. d4"), ["e4 *", "d4 *"]);
    assert_eq!(outcomes("1. e4 e5\n\n1. d4 d5\n\n"), ["e4 e5 *", "d4 d5 *"]);
    assert_eq!(outcomes("[Event \"x\"]\n\n[Event \"y\"]\n\n1. d4 *"), ["*", "d4 *"]);
    assert_eq!(outcomes(""), [""; 0]);
    assert_eq!(outcomes("\n; nothing\n{here}\n\n"), [""; 0]);
}

#[test]
fn result_tag_replaces_missing_result() {
    assert_eq!(outcomes("[Result \"0-1\"]\n\n1. e4 e5\n\n[Result \"½-½\"]\n\n1. d4"), ["e4 e5 0-1", "d4 1/2-1/2"]);
    assert_eq!(outcomes("[Result \"0-1\"]\n\n1. e4 *"), ["e4 0-1"]);
    assert_eq!(outcomes("[Result \"*\"]\n\n1. e4 1:0"), ["e4 1-0"]);
    assert_eq!(
        outcomes("1. e4 0:1\n\n1. e4 1/2\n\n1. e4 ½-½\n\n1. e4 1–0"),
        ["e4 0-1", "e4 1/2-1/2", "e4 1/2-1/2", "e4 1-0",]
    );
    assert_eq!(outcomes("[Result \"0-0\"]\n\n1. e4 e5 0-0\n\n1. d4 *"), ["e4 e5 *", "d4 *"]);
}

#[test]
fn reader_accepts_latin_1_and_utf_16() {
    let text = "[White \"Müller\"]\n\n1. e4 {größer} 1-0\n";
    let latin: Vec<u8> = text.chars().map(|c| u32::from(c) as u8).collect();
    let marked = format!("\u{feff}{text}");
    let utf16: Vec<u8> = marked.encode_utf16().flat_map(u16::to_le_bytes).collect();
    for bytes in [text.as_bytes(), &latin, marked.as_bytes(), &utf16] {
        let games = read(bytes).expect("a text");
        let game = games[0].as_ref().expect("a game");
        assert_eq!((games.len(), game.tag("White"), game.moves.len()), (1, Some("Müller"), 1));
        assert_eq!(comments(&game.remarks[1]), ["größer"]);
    }
}

#[test]
fn malformed_tags_do_not_split_a_game() {
    let game = one("[Event \"5th \"Somebody\" Memorial\"]\n[White \"x\"]\n\n1. e4 *");
    assert_eq!(game.tag("Event"), Some("5th \"Somebody\" Memorial"));
    for text in [
        "[ePGN \"0.1;DGT LiveChess/2.2.4\"]\n[White \"x\"]\n\n1. e4 *",
        "\u{feff}[ePGN \"0.1;DGT LiveChess/2.2.4\"]\n\n[Event \"y\"]\n[White \"x\"]\n\n1. e4 *",
        "[Event \"y\"][White \"x\"] 1. e4 *",
        "[Event \"y\"]\n[White \"x\"]\n\n[WhiteElo \"1\"]\n\n1. e4 *",
        "[Event \"y\n[White \"x\"]\n1. e4 *",
        "\u{feff}\r\n[White \"x\"]\r\r\n\r\r\n1. e4 *\r\r\n",
        "[White \"x\"]\r\r1. e4 *\r",
    ] {
        let game = one(text);
        assert_eq!((game.tag("White"), game.moves.len()), (Some("x"), 1), "{text:?}");
    }
}

#[test]
fn unreadable_tags_do_not_split_a_game() {
    for odd in ["[Игрок \"x\"]", "[]", "[\"x\"]", "[White \"a\nb\"]", "[White\"a b\"]"] {
        let game = one(&format!("[Event \"T\"]\n{odd}\n[Result \"1-0\"]\n\n1. e4 e5\n"));
        assert_eq!((moves(&game).as_str(), game.result, game.tag("Event")), ("e4 e5", "1-0", Some("T")), "{odd}");
        assert!(game.tag("White").is_none_or(|white| white == "a b"), "{game:?}");
    }
}

#[test]
fn letter_apart_from_its_square_is_an_error() {
    for text in ["1. e4 e5 2. N f3 *", "1. N f3 *", "1. e4 e5 2. Nf3 N c6 *", "1. e4 e5 2. B c4 *"] {
        let game = &outcomes(text)[0];
        assert!(game.contains("is not a move") || game.contains("is ambiguous"), "{text}: {game}");
    }
    let game = one("1. e4 e5N 2. Nf3 N Nc6 3. Bc4 N a6 *");
    assert_eq!(moves(&game), "e4 e5 Nf3 Nc6 Bc4 a6");
    let novelties: Vec<bool> = game.remarks.iter().map(|remarks| remarks.nags == [146]).collect();
    assert_eq!(novelties, [false, false, true, true, false, true, false]);
}

#[test]
fn game_without_its_beginning_is_an_error() {
    let games = outcomes("[Event \"T\"]\n\n1. e4 e5\n[White \"X\"]\n2. Nf3 *\n\n[Event \"S\"]\n\n1. d4 *\n");
    assert_eq!((games[0].as_str(), games[2].as_str()), ("e4 e5 *", "d4 *"));
    assert!(games[1].contains("'2.': the moves before it are missing"), "{games:?}");
    // With a FEN, the numbers may count from any number.
    let fen = "[FEN \"4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\"]\n\n30. e4 Kd7 *\n";
    assert_eq!(outcomes(fen), ["e4 Kd7 *"]);
}

#[test]
fn variation_after_the_result_belongs_to_its_game() {
    assert_eq!(outcomes("1. e4 e5 1-0 (1... c5 2. Nf3\n2... d6) $1\n\n1. d4 *\n"), ["e4 e5 1-0", "d4 *"]);
}

#[test]
fn null_move_cuts_the_game_and_is_named() {
    for null in ["--", "Z0", "null", "@@@@", "0000"] {
        let game = one(&format!("[Result \"1-0\"]\n\n1. e4 e5 2. {null} d5 {{x}} (2... c5) 3. Nf3 1-0\n"));
        assert_eq!((moves(&game).as_str(), game.result), ("e4 e5", "1-0"));
        let cut = game.cut.expect("named");
        assert!(cut.starts_with(&format!("game 1: move 2. (ply 3) '{null}' is a null move")), "{cut}");
        assert_eq!(game.remarks[2], Remarks::default());
    }
    let game = one("1. e4 (1. -- e5 2. Z0) e5 *");
    assert_eq!((game.moves.len(), game.cut), (2, None));
}

#[test]
fn variant_tag_selects_chess960() {
    let fen = "bqnbrkr1/pppppppp/5n2/8/8/5N2/PPPPPPPP/BQNBRKR1 w KQkq - 0 2";
    let game = one(&format!("[Variant \"Freestyle Chess\"]\n[FEN \"{fen}\"]\n\n2. O-O 0-0 *"));
    assert_eq!(moves(&game), "O-O O-O");
}

#[test]
fn castling_rights_select_chess960_without_a_variant_tag() {
    let fen = "qbrnbkrn/pppppppp/8/8/8/8/PPPPPPPP/QBRNBKRN w KQkq - 0 1";
    let game = one(&format!("[FEN \"{fen}\"]\n[SetUp \"1\"]\n\n1. O-O O-O *"));
    assert_eq!(moves(&game), "O-O O-O");
}

#[test]
fn reader_removes_escapes_and_direction_marks() {
    let game = one("[White \"\u{1b}]52;c;x\u{7}\"]\n\n1. e4 {\u{1b}[2J a\u{202e}b} *");
    assert_eq!(game.tag("White"), Some("]52;c;x"));
    assert_eq!(comments(&game.remarks[1]), ["[2J ab"]);
    let broken = all("1. e4 \u{1b}[2Jx *").remove(0).expect_err("a mistake");
    assert!(!broken.message.contains('\u{1b}') && broken.message.contains("'[2Jx'"), "{broken}");
}

#[test]
fn broken_games_have_reasons_and_do_not_hide_others() {
    let long = "x".repeat(2000);
    let nested = "(e5 ".repeat(100) + &")".repeat(100);
    let text = format!(
        "[Variant \"Atomic\"]\n\n1. e4 *\n\n[FEN \"8/8 w\"]\n\n1. e4 *\n\n1. e4 * e5\n\n\
         [Event \"E\"]\n\n1. e4 {{{long}}} {nested} c5 *\n\n[Event \"F\"]\n\n1. d4 (1. c4 {{ never closed"
    );
    let games = outcomes(&text);
    assert!(games[0].contains("'Atomic' has other rules"), "{games:?}");
    assert!(games[1].contains("game 2: bad FEN"), "{games:?}");
    assert!(games[2].contains("(ply 2) 'e5' follows the result"), "{games:?}");
    assert_eq!(games[3], "e4 c5 *");
    assert!(games[4].contains("game 5: the comment '{never closed' in line"), "{games:?}");
    assert_eq!(games.len(), 5);
    let game = all(&text).swap_remove(3).expect("a game");
    assert_eq!(comments(&game.remarks[1])[0].len(), 2000);
}

#[test]
fn endless_file_is_an_error() {
    let zeros = read(io::repeat(0)).expect_err("no end").to_string();
    assert!(zeros.contains("line 1 is longer than 64 MiB"), "{zeros}");
    let words = read(io::repeat(b'\n').chain(io::empty()).take(100)).expect("blank lines");
    assert!(words.is_empty());
}
