//! Fuzzing with random and mutated texts: games in PGN, EPD, and UCI positions. No text may cause a panic, and no
//! game may be read as a different game.

mod common;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::str::FromStr;

use zoothera::board::{CastlingMode, Position};
use zoothera::notation::pgn::{self, Game, Token};
use zoothera::notation::positions::{EpdRecord, position_with_moves};
use zoothera::uci::command::Command;
use zoothera::util::rng::SplitMix64;

/// Fragments that are inserted into texts.
const FRAGMENTS: &[&str] = &[
    " ",
    "\n",
    "\n\n",
    "\r",
    "{",
    "}",
    "(",
    ")",
    ";",
    "%",
    "$",
    "$7",
    "[",
    "]",
    "\"",
    "\\",
    "*",
    "1-0",
    "1/2",
    "½",
    "0-0",
    "O-O-O",
    "--",
    "Z0",
    "0000",
    "1.",
    "1",
    "...",
    "…",
    "!?",
    "+",
    "#",
    "e4",
    "Nf3",
    "nf3",
    "e7e8q",
    "a8(Q)",
    "e.p.",
    "=",
    "-",
    "–",
    ":",
    "x",
    "♘",
    "\u{a0}",
    "\u{200b}",
    "\u{feff}",
    "\u{202e}",
    "\u{1b}[2J",
    "\0",
    "é",
    "[Event \"x\"]\n",
    "\n\n[White \"y\"]\n\n",
    "[FEN \"4k3/8/8/8/8/8/8/4K2R w K - 0 1\"]\n",
    "[Result \"1-0\"]\n",
    "[#]",
    "bm",
    "#-6",
    "-",
    "moves",
    "fen",
    "startpos",
    "KQkq",
    "w",
    "8",
    "/",
    "99999999999",
];

/// The texts of `tests/corpus` with this extension.
fn corpus(extension: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut paths: Vec<_> = fs::read_dir(folder)
        .expect("the corpus")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == extension))
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "no seeds for {extension}");
    paths.iter().map(|path| fs::read(path).expect("a seed")).collect()
}

/// The lines of the texts with this extension.
fn corpus_lines(extension: &str) -> Vec<Vec<u8>> {
    let lines = |text: Vec<u8>| -> Vec<Vec<u8>> { text.split(|&b| b == b'\n').map(<[u8]>::to_vec).collect() };
    corpus(extension).into_iter().flat_map(lines).collect()
}

fn mutated(seeds: &[Vec<u8>], rng: &mut SplitMix64) -> Vec<u8> {
    let mut text = seeds[rng.below(seeds.len())].clone();
    for _ in 0..rng.below(6) {
        let at = rng.below(text.len() + 1);
        match rng.below(7) {
            0 => text.insert(at, rng.next_u64() as u8),
            1 => text.truncate(at),
            2 if at < text.len() => text[at] = rng.next_u64() as u8,
            3 if at < text.len() => drop(text.remove(at)),
            4 => {
                let other = &seeds[rng.below(seeds.len())];
                let from = rng.below(other.len() + 1);
                text.splice(at..at, other[from..].iter().copied().take(200));
            }
            5 if at < text.len() => drop(text.drain(at..(at + rng.below(20)).min(text.len()))),
            _ => drop(text.splice(at..at, FRAGMENTS[rng.below(FRAGMENTS.len())].bytes())),
        }
    }
    text
}

/// Writes a game in canonical form, which is read as the same game.
fn canonical(game: &Game) -> String {
    let mut text = String::new();
    for (name, value) in &game.tags {
        let value = value.replace('\\', "\\\\").replace('"', "\\\"");
        let _ = writeln!(text, "[{name} \"{value}\"]");
    }
    text.push('\n');
    let mut position = game.start.clone();
    write_remarks(&game.remarks[0], &mut text);
    for (&m, remarks) in game.moves.iter().zip(&game.remarks[1..]) {
        let dots = position.turn().fold_wb(".", "...");
        let _ = write!(text, "{}{dots} {} ", position.fullmoves(), position.san(m));
        write_remarks(remarks, &mut text);
        position.do_move(m);
    }
    text + game.result + "\n"
}

fn write_remarks(remarks: &pgn::Remarks, text: &mut String) {
    for nag in &remarks.nags {
        let _ = write!(text, "${nag} ");
    }
    write_tokens(&remarks.texts, text);
}

fn write_comment(comment: &str, text: &mut String) {
    let _ = if comment.contains('}') { writeln!(text, ";{comment}") } else { write!(text, "{{{comment}}} ") };
}

fn write_tokens(tokens: &[Token], text: &mut String) {
    for token in tokens {
        match token {
            Token::Number(number, side) => drop(write!(text, "{number}{} ", side.fold_wb(".", "..."))),
            Token::Move(word) => drop(write!(text, "{word} ")),
            Token::Nag(nag) => drop(write!(text, "${nag} ")),
            Token::Comment(comment) => write_comment(comment, text),
            Token::Variation(inner) => {
                text.push('(');
                write_tokens(inner, text);
                text.push_str(") ");
            }
        }
    }
}

/// Reads a text. Checks that every game in it is unchanged after it is written and read again.
fn check_games(bytes: &[u8]) {
    let Ok(games) = pgn::read(bytes) else { return };
    for game in games {
        let game = match game {
            Ok(game) => game,
            Err(broken) => {
                assert!(broken.message.starts_with("game "), "{broken}");
                let Some(part) = broken.part else { continue };
                *part
            }
        };
        let text = canonical(&game);
        let mut again = pgn::read(text.as_bytes()).expect("a text");
        assert_eq!(again.len(), 1, "{text}");
        let mut again = again.remove(0).unwrap_or_else(|broken| panic!("{broken}\n{text}"));
        again.number = game.number;
        again.cut.clone_from(&game.cut);
        assert_eq!(again, game, "{text}\nof {}", String::from_utf8_lossy(bytes));
    }
}

/// The words of a random game from the initial position, each move with its number.
fn random_game(rng: &mut SplitMix64) -> Vec<String> {
    let mut position = Position::startpos();
    let mut words = Vec::new();
    for _ in 0..1 + rng.below(40) {
        let moves = position.legal_moves();
        if moves.is_empty() {
            break;
        }
        let m = moves[rng.below(moves.len())];
        let dots = position.turn().fold_wb(".", "...");
        words.push(format!("{}{dots}{}", position.fullmoves(), position.san(m)));
        position.do_move(m);
    }
    words
}

/// A word that is neither a move nor other valid movetext.
fn unknown_word(rng: &mut SplitMix64) -> String {
    const WORDS: &[&str] =
        &["Sf3", "Lc4", "Dxd5", "Tad1", "hello", "ed", "exd", "e9", "i4", "7163", "1x0", "[x]", "<", "_"];
    const LETTERS: &[u8] = b"STDLwzjyvu";
    if rng.below(2) == 0 {
        return WORDS[rng.below(WORDS.len())].to_owned();
    }
    (0..2 + rng.below(6)).map(|_| char::from(LETTERS[rng.below(10)])).collect()
}

fn check_injection(rng: &mut SplitMix64) {
    let mut words = random_game(rng);
    let at = rng.below(words.len() + 1);
    let word = unknown_word(rng);
    words.insert(at, word.clone());
    let text = words.join([" ", "\n", " {x} "][rng.below(3)]) + " *\n";
    let games = pgn::read(text.as_bytes()).expect("a text");
    assert_eq!(games.len(), 1, "{text}");
    let broken = games[0].as_ref().err().unwrap_or_else(|| panic!("'{word}' was ignored:\n{text}"));
    assert!(broken.message.contains(&format!("'{word}'")), "{broken}\n{text}");
    assert_eq!(broken.part.as_ref().map(|part| part.moves.len()), Some(at), "{text}");
}

fn check_epd(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let Ok(record) = EpdRecord::parse(&text) else {
        return;
    };
    let Ok(position) = Position::from_fen(&record.fen, CastlingMode::Standard) else {
        return;
    };
    for opcode in ["bm", "am"] {
        for operand in record.operands(opcode).unwrap_or_default() {
            if let Ok(m) = position.parse_move(operand) {
                assert!(position.legal_moves().contains(&m), "{text}");
            }
        }
    }
}

fn check_uci(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let _ = position_with_moves(text.trim_start_matches("position fen").trim_start_matches("position"));
    let Ok(Command::Position(command)) = Command::from_str(&text) else {
        return;
    };
    let start = match &command.fen {
        None => Ok(Position::startpos()),
        Some(fen) => Position::from_fen(fen, CastlingMode::Standard),
    };
    let Ok(mut position) = start else { return };
    for word in &command.moves {
        let Ok(m) = position.parse_uci(word) else {
            break;
        };
        position.do_move(m);
        let fen = position.fen();
        let again = Position::from_fen(&fen, CastlingMode::Standard).expect(&fen);
        // A halfmove clock above 100 is read as 100.
        let fields = |fen: &str| fen.split(' ').take(4).collect::<Vec<_>>().join(" ");
        assert_eq!(fields(&again.fen()), fields(&fen));
    }
}

/// Checks `inputs` random texts of each kind.
fn fuzz(inputs: usize, default_seed: u64) {
    let mut rng = SplitMix64::new(common::seed::seed(default_seed));
    let (games, suites, positions) = (corpus("pgn"), corpus_lines("epd"), corpus_lines("uci"));
    for i in 0..inputs {
        match i % 4 {
            0 => check_games(&mutated(&games, &mut rng)),
            1 => check_injection(&mut rng),
            2 => check_epd(&mutated(&suites, &mut rng)),
            _ => check_uci(&mutated(&positions, &mut rng)),
        }
    }
}

#[test]
fn readers_do_not_panic_on_the_corpus() {
    corpus("pgn").iter().for_each(|text| check_games(text));
    corpus_lines("epd").iter().for_each(|line| check_epd(line));
    corpus_lines("uci").iter().for_each(|line| check_uci(line));
}

#[test]
fn reader_never_changes_a_game_of_random_text() {
    fuzz(40_000, 0x7E87);
}

#[test]
#[ignore = "slow: a million texts take minutes; run by make check-slow"]
fn reader_never_changes_a_game_in_a_million_random_texts() {
    fuzz(1_000_000, 0xB16);
}
