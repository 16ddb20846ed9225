//! Self-play games: every position with the score of its search and the result of the game.
//!
//! Scores are in units of the network's output, like those of samples: the factor for material, which the search
//! applies, is divided out. The trainer can then mix both.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Result;

use super::store::{self, OutputArgs, PlayedGame};
use crate::board::Position;
use crate::data::entry::{Entry, FilterArgs, remainder};
use crate::data::reader::{Format, check_holds_unrelated};
use crate::game::referee::{self, Answer, MoveArgs, RuleArgs};
use crate::game::workers::{EvenOpenings, OpeningArgs, Player, rng_of};
use crate::nnue::Network;
use crate::search::Found;
use crate::search::evaluate::unscaled;
use crate::search::{Limits, Solo};

/// Default nodes per move.
const DEFAULT_NODES: u64 = 5000;

/// Arguments of `datagen selfplay`.
#[derive(clap::Args, Clone, Debug)]
pub struct SelfplayArgs {
    /// Output file and number of positions.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Network of both players; the embedded one if absent
    #[arg(long, value_name = "FILE")]
    pub net: Option<PathBuf>,
    /// Openings of the games.
    #[command(flatten)]
    pub openings: OpeningArgs,
    /// Search limits per move; 5000 nodes if absent.
    #[command(flatten)]
    pub moves: MoveArgs,
    /// Adjudication rules.
    #[command(flatten)]
    pub rules: RuleArgs,
    /// Filter of the positions.
    #[command(flatten)]
    pub keep: FilterArgs,
}

impl SelfplayArgs {
    /// Settings that determine the data, as text. `--resume` requires them to be unchanged.
    fn settings(&self, network: &Network) -> String {
        format!(
            "selfplay: net {}, scores in its units, {:?}, {:?}, {:?}, {:?}",
            network.info().sha256,
            self.openings,
            self.moves,
            self.rules,
            self.keep
        )
    }
}

/// Plays games until the file has the requested number of positions.
///
/// # Errors
/// Fails if the output file or the book cannot be used, and on an I/O error. The error names the file.
pub fn run(args: &SelfplayArgs, network: &Arc<Network>) -> Result<()> {
    let inputs = [args.net.as_deref(), args.openings.book.as_deref()];
    args.output.check_inputs(inputs.into_iter().flatten())?;
    let openings = EvenOpenings::new(&args.openings)?;
    let limits = args.moves.limits(DEFAULT_NODES);
    let format = Format::of(&args.output.out)?;
    check_holds_unrelated(format)?;
    let new_player = || SelfplayPlayer {
        args,
        openings: &openings,
        limits: &limits,
        solo: Solo::new(network.clone(), args.output.hash as usize),
        format,
    };
    store::run(&args.output, &args.settings(network), new_player).map(|_| ())
}

/// Plays games on one thread.
struct SelfplayPlayer<'a> {
    args: &'a SelfplayArgs,
    openings: &'a EvenOpenings,
    limits: &'a Limits,
    solo: Solo,
    format: Format,
}

impl Player for SelfplayPlayer<'_> {
    type Game = PlayedGame;

    fn play(&mut self, number: u64, stop: &AtomicBool) -> Result<Option<PlayedGame>> {
        let mut rng = rng_of(self.args.output.seed, number);
        let start = self.openings.next(&mut rng, &mut self.solo)?;
        let mut entries = Vec::new();
        let ending = referee::play(start, &self.args.rules, stop, |position| {
            let Some(found) = self.solo.search(position, self.limits) else {
                return Answer::Stopped;
            };
            entries.push(label(position, &found));
            Answer::Move(found.m, found.value)
        });
        let Some(ending) = ending else {
            return Ok(None);
        };
        entries.iter_mut().for_each(|entry| entry.set_result(ending.white));
        PlayedGame::encode(&self.choose(&entries), self.format).map(Some)
    }
}

impl SelfplayPlayer<'_> {
    /// Removes the positions that the filter rejects, or in a .binpack their scores.
    fn choose(&self, entries: &[Entry]) -> Vec<Entry> {
        let filter = self.args.keep.filter();
        let chains = self.format == Format::Binpack;
        let choose = |entry: &Entry| remainder(entry, filter.keeps(entry), chains);
        entries.iter().filter_map(choose).collect()
    }
}

/// Labels a position with the result of its search.
fn label(position: &Position, found: &Found) -> Entry {
    let score = unscaled(position, found.value).clamp(i16::MIN.into(), i16::MAX.into());
    Entry { m: Some(found.m), score: score as i16, ..Entry::of(position) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::{CastlingMode, Move};
    use crate::search::evaluate::scaled;
    use crate::search::score::{MATE, TB_WIN, Value};

    fn found(m: Move, value: Value) -> Found {
        Found { m, value, depth: 1, nodes: 1 }
    }

    #[test]
    fn scores_have_the_units_of_the_network() {
        for fen in ["rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "8/5k2/8/8/3R4/5K2/7p/8 w - - 0 1"] {
            let position = Position::from_fen(fen, CastlingMode::Standard).expect(fen);
            let m = position.legal_moves()[0];
            for raw in [0, 57, -610, 2900] {
                let score = label(&position, &found(m, scaled(&position, raw))).score;
                // Both divisions truncate.
                assert!((i32::from(score) - raw).abs() <= 2, "{fen}: {score} for {raw}");
            }
            for proven in [MATE - 3, -MATE + 8, TB_WIN - 5] {
                assert_eq!(i32::from(label(&position, &found(m, proven)).score), proven);
            }
        }
    }
}
