//! Compares the moves of levels with the moves of rated people. The table in docs/levels.md was made with this program.
//!
//! `cargo run --release --example level_people -- games.pgn` reads rated games, draws positions of players in three
//! bands of rating, and lets the level of each player's rating choose a move in the same positions. `--positions N` and
//! `--nodes N` set the number of positions of a band and the nodes of each judging search. Further arguments are levels
//! that play all positions: an Elo, or a handicap as `NODES,NOISE,OVERSIGHT`.
//!
//! A move's loss is the value of the best move minus its own, both by a search of the same number of nodes at full
//! strength. Values beyond 10 pawns count as 10 pawns.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

use anyhow::{Context, bail};
use zoothera::board::{Move, Position, Role};
use zoothera::level::{Handicap, Level};
use zoothera::nnue::Network;
use zoothera::notation::pgn::{self, Game};
use zoothera::search::{Limits, STACK_BYTES, Solo, score};
use zoothera::util::rng::SplitMix64;

/// Ratings of the bands.
const BANDS: [Range<i32>; 3] = [0..1100, 1400..1700, 1900..2200];
/// First move number of a drawn position: levels play from theory before it.
const FIRST_MOVE: u32 = 9;
/// Minimum number of seconds on the clock at the start of a game. People blunder more in faster games.
const MIN_CLOCK: i32 = 180;
/// Number of seeds with which a level plays each position.
const SEEDS: u64 = 4;
/// Values are clamped to this many centipawns, so that mates do not dominate the average.
const MAX_CENTIPAWNS: i32 = 1000;
/// Loss in centipawns above which a move is a blunder.
const BLUNDER: i32 = 300;

/// A position of a game, and the move that a rated player made in it.
struct Sample {
    position: Position,
    played: Move,
    elo: i32,
}

/// Sums over the moves of one player.
#[derive(Default)]
struct Tally {
    moves: usize,
    equal: usize,
    loss: i64,
    blunders: usize,
}

impl Tally {
    fn add(&mut self, loss: i32, equal: bool) {
        self.moves += 1;
        self.equal += usize::from(equal);
        self.loss += i64::from(loss);
        self.blunders += usize::from(loss > BLUNDER);
    }

    fn print(&self, band: &Range<i32>, player: &str) {
        let moves = self.moves.max(1) as f64;
        let percent = |count: usize| 100.0 * count as f64 / moves;
        let (equal, loss, blunders) = (percent(self.equal), self.loss as f64 / moves, percent(self.blunders));
        println!("| {} to {} | {player} | {equal:.1} | {loss:.0} | {blunders:.1} |", band.start, band.end - 1);
    }
}

/// Values moves by searches at full strength, and stores the values of the current position.
struct Judge {
    solo: Solo,
    nodes: u64,
    values: HashMap<Option<Move>, (Move, i32)>,
}

impl Judge {
    /// The best move of `position` and its value in centipawns, among all moves or only `m`.
    fn value(&mut self, position: &Position, m: Option<Move>) -> Option<(Move, i32)> {
        if let Some(&known) = self.values.get(&m) {
            return Some(known);
        }
        let search_moves = m.map(|m| vec![m]);
        let limits = Limits { nodes: Some(self.nodes), search_moves, ..Limits::default() };
        self.solo.clear();
        let found = self.solo.search(position, &limits)?;
        let centipawns = found.value * 100 / score::piece_value(Role::Pawn);
        let valued = (found.m, centipawns.clamp(-MAX_CENTIPAWNS, MAX_CENTIPAWNS));
        self.values.insert(m, valued);
        Some(valued)
    }

    /// The loss of `m` in centipawns.
    fn loss(&mut self, position: &Position, m: Move) -> Option<i32> {
        let (best, value) = self.value(position, None)?;
        let own = if m == best { value } else { self.value(position, Some(m))?.1 };
        Some((value - own).max(0))
    }
}

fn main() -> anyhow::Result<()> {
    // The search is recursive and needs a larger stack than the main thread has on some systems.
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
    match thread.spawn(run)?.join() {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

fn run() -> anyhow::Result<()> {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let count: usize = option(&mut words, "--positions")?.unwrap_or(300);
    let nodes: u64 = option(&mut words, "--nodes")?.unwrap_or(20_000);
    let Some((file, levels)) = words.split_first() else {
        bail!("usage: level_people GAMES.pgn [--positions N] [--nodes N] [LEVEL...]");
    };
    let levels: Vec<(&String, Handicap)> =
        levels.iter().map(|text| Ok((text, text.parse()?))).collect::<anyhow::Result<_>>()?;
    let samples = read_samples(Path::new(file)).with_context(|| format!("cannot read {file}"))?;
    let new_solo = || Solo::new(Network::embedded(), 4);
    let mut judge = Judge { solo: new_solo(), nodes, values: HashMap::new() };
    let mut player = new_solo();
    println!("| ratings | player | equal moves in % | loss in centipawns | blunders in % |\n|---|---|---|---|---|");
    for band in BANDS {
        let drawn = draw(&samples, &band, count);
        if drawn.len() < count {
            eprintln!("{file} has only {} positions of players rated {} to {}", drawn.len(), band.start, band.end - 1);
        }
        let [mut people, mut own_level, mut full] = [(); 3].map(|()| Tally::default());
        let mut others: Vec<Tally> = levels.iter().map(|_| Tally::default()).collect();
        for sample in drawn {
            judge.values.clear();
            people.add(judge.loss(&sample.position, sample.played).context("no move")?, true);
            let (best, _) = judge.value(&sample.position, None).context("no move")?;
            full.add(0, best == sample.played);
            let given = others.iter_mut().zip(levels.iter().map(|&(_, handicap)| handicap));
            for (tally, handicap) in given.chain([(&mut own_level, Handicap::of(sample.elo))]) {
                for seed in 0..SEEDS {
                    player.set_level(Some(Level { handicap, seed }));
                    let found = player.search(&sample.position, &Limits::default()).context("no move")?;
                    tally.add(judge.loss(&sample.position, found.m).context("no move")?, found.m == sample.played);
                }
            }
        }
        people.print(&band, "people");
        own_level.print(&band, "level of the same rating");
        full.print(&band, "full strength");
        for (tally, (text, _)) in others.iter().zip(&levels) {
            tally.print(&band, text);
        }
    }
    Ok(())
}

/// Removes an option and its value from the arguments.
fn option<T: std::str::FromStr>(words: &mut Vec<String>, name: &str) -> anyhow::Result<Option<T>> {
    let Some(at) = words.iter().position(|word| word == name) else {
        return Ok(None);
    };
    let value = words.get(at + 1).and_then(|word| word.parse().ok());
    words.drain(at..(at + 2).min(words.len()));
    value.map(Some).with_context(|| format!("{name} requires a number"))
}

/// Reads all positions of rated people from the games of a file.
fn read_samples(path: &Path) -> anyhow::Result<Vec<Sample>> {
    let (mut samples, mut skipped) = (Vec::new(), 0);
    for game in pgn::read(pgn::open(path)?)? {
        match game {
            Ok(game) if has_time_to_think(&game) => add_samples(&game, &mut samples),
            Ok(_) => {}
            Err(_) => skipped += 1,
        }
    }
    if skipped > 0 {
        eprintln!("{skipped} games with errors were skipped");
    }
    Ok(samples)
}

/// Whether each side has at least [`MIN_CLOCK`] seconds at the start, as far as the game states it.
fn has_time_to_think(game: &Game) -> bool {
    let seconds = game.tag("TimeControl").and_then(|text| text.split('+').next()?.parse::<i32>().ok());
    seconds.is_none_or(|seconds| seconds >= MIN_CLOCK)
}

/// Adds the positions of a game in which a rated person had a choice of moves.
fn add_samples(game: &Game, samples: &mut Vec<Sample>) {
    let elo = |tag| game.tag(tag).and_then(|text| text.parse::<i32>().ok());
    let is_bot = |tag| game.tag(tag) == Some("BOT");
    let person = |title, tag| if is_bot(title) { None } else { elo(tag) };
    let elos = [person("WhiteTitle", "WhiteElo"), person("BlackTitle", "BlackElo")];
    let mut position = game.start.clone();
    for &played in &game.moves {
        let elo = elos[usize::from(position.turn().is_black())];
        if let Some(elo) = elo.filter(|_| position.fullmoves() >= FIRST_MOVE && position.legal_moves().len() > 1) {
            samples.push(Sample { position: position.clone(), played, elo });
        }
        position.do_move(played);
    }
}

/// Draws `count` positions of players in `band` without replacement, the same ones in every run.
fn draw<'a>(samples: &'a [Sample], band: &Range<i32>, count: usize) -> Vec<&'a Sample> {
    let mut rest: Vec<&Sample> = samples.iter().filter(|sample| band.contains(&sample.elo)).collect();
    let mut rng = SplitMix64::new(1);
    let mut drawn = Vec::new();
    while drawn.len() < count && !rest.is_empty() {
        drawn.push(rest.swap_remove(rng.below(rest.len())));
    }
    drawn
}
