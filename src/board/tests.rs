//! Random games compared with shakmaty and with naive recomputation, the oracle of all incremental state of the
//! position.

use shakmaty::zobrist::Zobrist64;
use shakmaty::{CastlingMode, Chess, EnPassantMode, Position as _, Setup};

use super::notation::from_shakmaty;
use super::{Bitboard, Color, DirtyPieces, Move, MoveList, Position, Role, Square};
use crate::util::rng::SplitMix64;

/// Number of games of each kind; a game has at most [`PLIES`] plies.
const GAMES: u64 = 150;
const PLIES: usize = 160;

/// Plays random games of both kinds. `visit` is called at every position before its moves.
pub(super) fn random_games(seed: u64, games: u64, mut visit: impl FnMut(&mut Position, &mut SplitMix64)) {
    let mut rng = SplitMix64::new(seed);
    for game in 0..games * 2 {
        let mut position = if game % 2 == 0 { Position::startpos() } else { chess960(&mut rng) };
        for _ in 0..PLIES {
            visit(&mut position, &mut rng);
            let moves = position.legal_moves();
            if moves.is_empty() {
                break;
            }
            position.do_move(moves[rng.below(moves.len())]);
        }
    }
}

/// One of the 960 initial positions.
fn chess960(rng: &mut SplitMix64) -> Position {
    let mut setup = Setup::initial();
    setup.board = shakmaty::Board::chess960(rng.below(960) as u32);
    setup.castling_rights = setup.board.rooks();
    Position::from_chess(&setup.position(CastlingMode::Chess960).expect("a Chess960 start"))
}

fn sorted(moves: impl IntoIterator<Item = Move>) -> Vec<u16> {
    let mut codes: Vec<u16> = moves.into_iter().map(Move::bits).collect();
    codes.sort_unstable();
    codes
}

fn oracle_moves(chess: &Chess) -> Vec<u16> {
    sorted(chess.legal_moves().into_iter().filter_map(from_shakmaty))
}

#[test]
fn legal_moves_equal_shakmaty() {
    random_games(1, GAMES, |position, _| {
        let ours = sorted(position.legal_moves().iter().copied());
        assert_eq!(ours, oracle_moves(&position.to_chess()), "{}", position.fen());
    });
}

/// Accepted positions that no game can reach.
#[test]
fn unreachable_positions_have_correct_moves() {
    for fen in [
        "4k3/8/3N1N2/8/8/8/8/4K3 b - - 0 1",
        "4k3/8/3N1N2/8/4R3/8/8/4K3 b - - 0 1",
        "R3k2R/8/8/8/8/8/8/4K3 b - - 0 1",
        "4k3/8/8/3pP3/8/5n2/8/4K3 w - d6 0 1",
        "4k3/8/8/3pP3/8/8/8/4K2r w - d6 0 1",
        "4k3/8/8/8/8/QQQQQQQQ/QQQQQQQQ/4K3 b - - 0 1",
        "nnn1k3/pppppppp/8/8/8/8/PPPPPPPP/4K3 w - - 0 1",
        "8/8/8/K2pP2q/8/8/8/7k w - d6 0 1",
        "r3k2r/8/8/8/8/8/8/1R2K1R1 w KQkq - 0 1",
    ] {
        let mut position = Position::from_fen(fen, CastlingMode::Standard).expect(fen);
        let ours = position.legal_moves();
        assert_eq!(sorted(ours.iter().copied()), oracle_moves(&position.to_chess()), "{fen}");
        for &m in ours.iter() {
            position.do_move(m);
            assert_eq!(position.state, position.recomputed_state(), "{fen} {m:?}");
            position.undo_move();
        }
    }
}

/// Positions with more legal moves than any position of a real game.
#[test]
fn move_list_has_room_for_many_queens() {
    for fen in
        ["kbQQQQQQ/bb5Q/Q6Q/Q6Q/Q6Q/Q6Q/Q6Q/QQQQQQQK w - - 0 1", "kb1Q1Q2/bb4Q1/Q6Q/6Q1/Q6Q/1Q6/Q6Q/1QQQQ1QK w - - 0 1"]
    {
        let position = Position::from_fen(fen, CastlingMode::Standard).expect(fen);
        let naive = (1..=u16::MAX).filter_map(Move::from_bits);
        let naive = naive.filter(|&m| position.pseudo_legal(m) && position.legal(m));
        assert_eq!(position.legal_moves().len(), naive.count(), "{fen}");
    }
}

#[test]
fn incremental_state_equals_recomputation() {
    random_games(2, GAMES, |position, _| {
        assert_eq!(position.state, position.recomputed_state(), "{}", position.fen());
        let key: Zobrist64 = position.to_chess().zobrist_hash(EnPassantMode::Legal);
        assert_eq!(position.key(), key.0, "{}", position.fen());
        let rebuilt = Position::from_chess(&position.to_chess());
        assert_eq!(rebuilt.fen(), position.fen());
        assert_eq!(rebuilt.mailbox, position.mailbox);
    });
}

/// Pawns, kings and rooks close together: double steps next to pins and checks.
const DOUBLE_STEPS: [&str; 8] = [
    "r2k4/pp6/8/8/3p4/8/PPP1P3/3R2K1 w - - 0 1",
    "8/8/8/8/R2p3k/8/2P1P3/4K3 w - - 0 1",
    "7k/8/8/8/3p4/8/2P1P3/B3K3 w - - 0 1",
    "4k3/2p1p3/8/3P4/8/8/8/3K3b b - - 0 1",
    "8/pppp4/8/1K1R2rk/4pppp/8/PPPPPPPP/8 w - - 0 1",
    "8/pppppppp/8/4PPPP/1k1r2RK/8/PPPP4/8 b - - 0 1",
    "k2r3b/8/8/8/1pp1p1p1/8/PPPPPPPP/B2RK3 w - - 0 1",
    "r2k3q/pppp1ppp/8/PP1P1P1P/p1p1p1p1/8/1PPP1PPP/Q2K3R b - - 0 1",
];

#[test]
fn en_passant_right_needs_a_legal_capture() {
    let mut rng = SplitMix64::new(11);
    let (mut useless, mut usable) = (0, 0);
    for game in 0..4000 {
        let fen = DOUBLE_STEPS[game % DOUBLE_STEPS.len()];
        let mut position = Position::from_fen(fen, CastlingMode::Standard).expect(fen);
        let mut chess = position.to_chess();
        for _ in 0..12 {
            assert_eq!(position.ep_square(), chess.legal_ep_square());
            let key: Zobrist64 = chess.zobrist_hash(EnPassantMode::Legal);
            let book: Zobrist64 = chess.zobrist_hash(EnPassantMode::PseudoLegal);
            assert_eq!(position.key(), key.0, "{}", position.fen());
            assert_eq!(position.polyglot_key(), book.0, "{}", position.fen());
            useless += usize::from(key != book);
            usable += usize::from(chess.legal_ep_square().is_some());
            let again = Position::from_fen(&position.fen(), CastlingMode::Standard);
            assert_eq!(again.expect("its own FEN").key(), position.key());
            let moves = chess.legal_moves();
            if moves.is_empty() {
                break;
            }
            let m = moves[rng.below(moves.len())];
            position.do_move(from_shakmaty(m).expect("a move on the board"));
            chess.play_unchecked(m);
        }
    }
    assert!(useless > 50 && usable > 500, "{useless} useless, {usable} usable");
}

/// The rights of standard chess that the pieces on the board support.
fn supported(position: &Position) -> String {
    let has = |square, role: Role, color| position.piece_at(square) == Some(role.of(color));
    let rights = [
        ('K', Square::E1, Square::H1, Color::White),
        ('Q', Square::E1, Square::A1, Color::White),
        ('k', Square::E8, Square::H8, Color::Black),
        ('q', Square::E8, Square::A8, Color::Black),
    ];
    let rights = rights
        .into_iter()
        .filter(|&(_, king, rook, color)| has(king, Role::King, color) && has(rook, Role::Rook, color));
    rights.map(|(letter, ..)| letter).collect()
}

#[test]
fn castling_letters_without_king_and_rook_are_dropped() {
    let (mut positions, mut kept) = (0, 0);
    random_games(17, 12, |position, _| {
        positions += 1;
        let supported = supported(position);
        let fen = position.fen();
        let fields: Vec<&str> = fen.split(' ').collect();
        for claimed in ["K", "Q", "k", "q", "KQ", "kq", "Kq", "KQkq"] {
            let text = format!("{} {} {claimed} - 0 1", fields[0], fields[1]);
            let read = Position::from_fen(&text, CastlingMode::Standard).expect(&text);
            let expected: String = claimed.chars().filter(|&c| supported.contains(c)).collect();
            kept += expected.len();
            let expected = if expected.is_empty() { "-" } else { &expected };
            assert_eq!(read.fen().split(' ').nth(2), Some(expected), "{text}");
            assert_eq!(read.castling_mode(), CastlingMode::Standard, "{text}");
            for &m in read.legal_moves().iter().filter(|&&m| read.is_castling(m)) {
                let usual = [Square::E1, Square::E8].contains(&m.from());
                assert!(usual && !read.uci(m, false).ends_with(['a', 'h']), "{text} {m:?}");
            }
        }
    });
    assert!(positions > 1000 && kept > 1000, "{positions} positions, {kept} rights");
}

#[test]
fn do_move_and_undo_move_are_consistent() {
    random_games(3, GAMES / 3, |position, _| {
        let before = position.clone();
        let info = position.check_info();
        for &m in position.legal_moves().iter() {
            let (gives_check, key_after) = (position.gives_check(&info, m), position.key_after(m));
            let special = is_special(position, m);
            let old = position.mailbox_pieces();
            let dirty = position.do_move(m);
            assert_eq!(position.in_check(), gives_check, "{} {m:?}", position.fen());
            if !special && position.ep_square().is_none() {
                assert_eq!(position.key(), key_after, "{}", position.fen());
            }
            assert_eq!(apply(old, &dirty), position.mailbox_pieces(), "{dirty:?}");
            position.undo_move();
            assert!(*position == before, "{m:?} in {}", before.fen());
        }
        if !position.in_check() {
            position.do_null_move();
            assert_eq!(position.state, position.recomputed_state());
            position.undo_null_move();
            assert!(*position == before, "null move in {}", before.fen());
        }
    });
}

/// Whether the key after the move differs from the simple sum of its pieces.
fn is_special(position: &mut Position, m: Move) -> bool {
    let rights = position.castling_rights();
    let special = position.is_castling(m) || position.is_en_passant(m);
    position.do_move(m);
    let lost = position.castling_rights() != rights;
    position.undo_move();
    special || lost
}

type Pieces = [Option<super::Piece>; 64];

impl Position {
    fn mailbox_pieces(&self) -> Pieces {
        std::array::from_fn(|i| self.piece_at(Square::new(i as u32)))
    }
}

/// Applies the dirty pieces of `do_move` to the pieces before it.
fn apply(mut pieces: Pieces, dirty: &DirtyPieces) -> Pieces {
    for change in dirty.iter() {
        if let Some(from) = change.from {
            assert_eq!(pieces[from as usize], Some(change.piece));
            pieces[from as usize] = None;
        }
    }
    for change in dirty.iter() {
        if let Some(to) = change.to {
            assert_eq!(pieces[to as usize], None);
            pieces[to as usize] = Some(change.piece);
        }
    }
    pieces
}

#[test]
fn only_legal_codes_are_accepted() {
    random_games(4, GAMES, |position, rng| {
        let legal = position.legal_moves();
        let accepts = |m: Move| position.pseudo_legal(m) && position.legal(m);
        for _ in 0..200 {
            let Some(m) = Move::from_bits(rng.next_u64() as u16) else {
                continue;
            };
            assert_eq!(accepts(m), legal.contains(&m), "{} {m:?}", position.fen());
        }
        // Similar codes: the same squares with every promotion code.
        for &m in legal.iter() {
            for promotion in 0..16u16 {
                let near = Move::from_bits(m.bits() & 0xFFF | promotion << 12);
                let Some(near) = near else { continue };
                assert_eq!(accepts(near), legal.contains(&near), "{} {near:?}", position.fen());
            }
        }
    });
}

#[test]
fn only_legal_codes_of_all_65536_are_accepted() {
    random_games(5, 2, |position, _| {
        let legal = position.legal_moves();
        for m in (1..=u16::MAX).filter_map(Move::from_bits) {
            let accepted = position.pseudo_legal(m) && position.legal(m);
            assert_eq!(accepted, legal.contains(&m), "{} {m:?}", position.fen());
        }
    });
}

#[test]
fn noisy_and_quiet_stages_partition_the_pseudo_legal_moves() {
    random_games(6, GAMES, |position, _| {
        let (mut noisy, mut quiet) = (MoveList::new(), MoveList::new());
        position.generate_noisy(&mut noisy);
        position.generate_quiet(&mut quiet);
        assert!(noisy.iter().all(|&m| position.is_noisy(m)), "{}", position.fen());
        assert!(quiet.iter().all(|&m| !position.is_noisy(m)), "{}", position.fen());
        let mut all = sorted(noisy.iter().chain(quiet.iter()).copied());
        let generated = all.len();
        all.dedup();
        assert_eq!(all.len(), generated, "duplicate move in {}", position.fen());
        assert!(all.iter().filter_map(|&c| Move::from_bits(c)).all(|m| position.pseudo_legal(m)));
    });
}

#[test]
fn captures_and_attacks_agree_with_shakmaty() {
    random_games(7, GAMES / 3, |position, _| {
        let chess = position.to_chess();
        for m in &chess.legal_moves() {
            let ours = from_shakmaty(*m).expect("a move of chess");
            assert_eq!(position.captured(ours), m.capture(), "{} {m:?}", position.fen());
            assert_eq!(position.is_castling(ours), m.is_castle());
            assert_eq!(position.is_en_passant(ours), m.is_en_passant());
        }
        let attacks = |color| {
            let of = |role| position.attacks_by(color, role);
            Role::ALL.into_iter().map(of).fold(Bitboard::EMPTY, |a, b| a | b)
        };
        for square in Square::ALL {
            let attackers = position.attackers_to(square, position.occupied());
            for color in Color::ALL {
                let theirs = chess.board().attacks_to(square, color, position.occupied());
                assert_eq!(attackers & position.by_color(color), theirs);
                assert_eq!(attacks(color).contains(square), theirs.any());
            }
        }
        assert_eq!(position.is_insufficient_material(), chess.is_insufficient_material());
    });
}

#[test]
fn notation_round_trips() {
    random_games(8, GAMES / 10, |position, _| {
        for &m in position.legal_moves().iter() {
            for chess960 in [false, true] {
                let text = position.uci(m, chess960);
                assert_eq!(position.parse_uci(&text).ok(), Some(m), "{text} in {}", position.fen());
            }
            let san = position.san(m);
            assert_eq!(position.parse_san(&san).ok(), Some(m), "{san} in {}", position.fen());
        }
        let again = Position::from_fen(&position.fen(), position.castling_mode());
        assert_eq!(again.expect("our own FEN").fen(), position.fen());
    });
}

/// Games with few pieces and many plies, so that positions recur.
fn shuffling_games(mut visit: impl FnMut(&mut Position, usize)) {
    const STARTS: [&str; 4] = [
        "4k3/8/8/8/8/8/8/R3K3 w Q - 0 1",
        "k7/8/8/3q4/8/8/8/K2R4 w - - 0 1",
        "2k5/3n4/8/8/8/8/3B4/2K5 b - - 0 1",
        "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1",
    ];
    let mut rng = SplitMix64::new(9);
    for game in 0..400 {
        let fen = STARTS[game % STARTS.len()];
        let mut position = Position::from_fen(fen, CastlingMode::Standard).expect(fen);
        for plies in 0..80 {
            visit(&mut position, plies);
            let moves = position.legal_moves();
            if moves.is_empty() {
                break;
            }
            position.do_move(biased(&position, &moves, &mut rng));
        }
    }
}

/// With probability one half, if legal, the move that undoes the side's previous move; otherwise a random move.
fn biased(position: &Position, moves: &MoveList, rng: &mut SplitMix64) -> Move {
    let last = position.history.last().and_then(|state| state.mv);
    let back = last.and_then(|m| Move::new(m.to(), m.from())).filter(|m| moves.contains(m));
    match back {
        Some(m) if rng.below(2) == 0 => m,
        _ => moves[rng.below(moves.len())],
    }
}

/// Occurrences of the current position: after the root of a search `ply` plies ago, and before or at it.
fn occurrences(position: &Position, ply: usize) -> (usize, usize) {
    let keys = position.history.iter().rev().map(|state| state.key);
    let equal = keys.enumerate().filter(|&(_, key)| key == position.key());
    let (inside, before): (Vec<_>, Vec<_>) = equal.map(|(i, _)| i + 1).partition(|&d| d < ply);
    (inside.len(), before.len())
}

#[test]
fn repetition_equals_brute_force() {
    let mut seen = 0;
    shuffling_games(|position, plies| {
        for ply in [0, 1, 3, 4, 5, 6, 9, plies] {
            let (inside, before) = occurrences(position, ply);
            let expected = inside >= 1 || inside + before >= 2;
            seen += usize::from(expected);
            assert_eq!(position.is_repetition(ply), expected, "{} ply {ply}", position.fen());
        }
    });
    assert!(seen > 1000, "only {seen} repetitions tested");
}

#[test]
fn upcoming_repetition_equals_brute_force() {
    let mut seen = 0;
    shuffling_games(|position, plies| {
        for ply in [0, 1, 3, 4, 6, plies] {
            let upcoming = position.upcoming_repetition(ply);
            let expected = position.legal_moves().iter().any(|&m| {
                position.do_move(m);
                let repeats = position.is_repetition(ply + 1);
                position.undo_move();
                repeats
            });
            seen += usize::from(expected);
            assert_eq!(upcoming, expected, "{} ply {ply}", position.fen());
        }
    });
    assert!(seen > 1000, "only {seen} cycles tested");
}

#[test]
fn null_moves_break_repetition() {
    let mut position = Position::startpos();
    for _ in 0..4 {
        position.do_null_move();
    }
    assert!(!position.is_repetition(10) && position.plies_from_null() == 0);
    assert!(!position.upcoming_repetition(10));
}

#[test]
fn fifty_move_rule_is_a_draw_unless_mate() {
    let play = |fen: &str, text: &str| {
        let mut position = Position::from_fen(fen, CastlingMode::Standard).expect(fen);
        position.do_move(position.parse_uci(text).expect(text));
        position
    };
    let fen = "7k/8/6K1/8/8/8/8/R7 w - - 99 80";
    let mated = play(fen, "a1a8");
    assert!(mated.in_check() && mated.legal_moves().is_empty() && !mated.is_draw(1));
    assert!(play(fen, "a1a2").is_draw(1));
    assert!(!play("7k/8/6K1/8/8/8/8/R7 w - - 98 80", "a1a2").is_draw(1));
}
