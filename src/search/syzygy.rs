//! Endgame tablebases: the result of a position inside the search, and the root moves that keep it.
//!
//! Inside the search only positions just after a capture or pawn move are probed (WDL tables, which do not know the
//! 50-move counter); at the root the DTZ tables choose moves that make progress.

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use shakmaty::Chess;
use shakmaty_syzygy::{Tablebase, Wdl};

use super::negamax::Node;
use super::pool::SearchOptions;
use super::root::RootMove;
use super::score::{self, DRAW, MAX_PLY, TB_WIN, Value};
use super::tt::Bound;
use super::worker::Worker;
use crate::board::{Move, Position};

/// Open tables.
pub struct Syzygy {
    tables: Tablebase<Chess>,
}

#[cfg(any(unix, windows))]
fn new_tables() -> Tablebase<Chess> {
    Tablebase::new()
}

/// The system has no reads at an offset of its own.
#[cfg(not(any(unix, windows)))]
fn new_tables() -> Tablebase<Chess> {
    Tablebase::with_filesystem(std::sync::Arc::new(super::table_files::TableFiles))
}

impl Syzygy {
    /// Opens the tables in a list of directories separated as the platform separates paths (`:` or `;`), and
    /// says how many files there are. Errors: a directory that cannot be read; no table in any.
    pub fn open(path: &str) -> Result<(Self, usize)> {
        let mut tables = new_tables();
        let mut files = 0;
        for directory in directories(path) {
            files += tables
                .add_directory(&directory)
                .with_context(|| format!("cannot read the directory {}", directory.display()))?;
        }
        if files == 0 {
            bail!("no Syzygy table (*.rtbw, *.rtbz) in {path}");
        }
        Ok((Self { tables }, files))
    }

    /// Most men on the board that the tables know.
    pub fn max_pieces(&self) -> usize {
        self.tables.max_pieces()
    }

    fn wdl(&self, position: &Position) -> Option<Wdl> {
        self.tables
            .probe_wdl_after_zeroing(&position.to_chess())
            .ok()
    }

    /// Plies to the next capture or pawn move with the result kept, from the view of the side that made `m`:
    /// positive for a win, 0 for a draw; `None` when a table is missing.
    fn dtz_after(&self, position: &mut Position, m: Move) -> Option<i32> {
        let zeroing =
            position.is_capture(m) || position.moved_piece(m).role == crate::board::Role::Pawn;
        position.do_move(m);
        let dtz = if position.in_check() && position.legal_moves().is_empty() {
            Some(1)
        } else if zeroing {
            self.wdl(position).map(|wdl| match wdl {
                Wdl::Loss => 1,
                Wdl::BlessedLoss => 101,
                Wdl::Draw => 0,
                Wdl::CursedWin => -101,
                Wdl::Win => -1,
            })
        } else {
            self.tables
                .probe_dtz(&position.to_chess())
                .ok()
                .map(|dtz| -dtz.ignore_rounding().0)
                .map(|dtz| dtz + dtz.signum())
        };
        position.undo_move();
        dtz
    }
}

fn directories(path: &str) -> impl Iterator<Item = PathBuf> {
    std::env::split_paths(path).filter(|directory| !directory.as_os_str().is_empty())
}

/// Keeps the root moves that keep the tables' result; `true` when the tables decided. While a win is far from the
/// 50-move rule, every winning move is left to the search, which knows better how to mate.
pub(super) fn filter_root_moves(
    syzygy: &Syzygy,
    position: &Position,
    options: &SearchOptions,
    moves: &mut Vec<RootMove>,
) -> bool {
    let men = position.occupied().count();
    let most = syzygy.max_pieces().min(options.syzygy_probe_limit);
    if men > most || position.has_castling_rights() || moves.is_empty() {
        return false;
    }
    let mut position = position.clone();
    let halfmoves = position.halfmoves() as i32;
    let mut ranked = Vec::with_capacity(moves.len());
    for root in moves.iter() {
        let Some(dtz) = syzygy.dtz_after(&mut position, root.m) else {
            return false;
        };
        ranked.push((class(dtz, halfmoves, options.syzygy_50_move_rule), dtz));
    }
    let Some(best) = ranked.iter().map(|&(class, _)| class).max() else {
        return false;
    };
    let fastest = ranked
        .iter()
        .filter(|r| r.0 == best)
        .map(|r| r.1)
        .min()
        .unwrap_or(0);
    let hurry = best == WIN && (fastest + halfmoves > 70 || position.is_repetition(1));
    let mut ranks = ranked.iter();
    moves.retain_mut(|root| {
        let &(class, dtz) = ranks.next().expect("one rank per move");
        root.tb_value = Some(value_of(best));
        class == best && (!hurry || dtz == fastest)
    });
    true
}

const WIN: i32 = 2;

/// Win 2, win spoilt by the 50-move rule 1, draw 0, and the same below zero.
fn class(dtz: i32, halfmoves: i32, rule: bool) -> i32 {
    let in_time = !rule || dtz.abs() + halfmoves <= 100;
    dtz.signum() * if in_time { WIN } else { 1 }
}

fn value_of(class: i32) -> Value {
    match class {
        2 => TB_WIN - 1,
        -2 => 1 - TB_WIN,
        other => DRAW + other,
    }
}

impl Worker {
    /// Step 4. The tables' word on this node: an exact draw, or a win or loss that bounds the value.
    pub(super) fn probe_tablebases(&mut self, node: &mut Node, pv: bool) -> Option<Value> {
        let job = self.job.clone();
        let syzygy = job.syzygy.as_ref()?;
        let options = &job.options;
        let men = self.position.occupied().count();
        let most = syzygy.max_pieces().min(options.syzygy_probe_limit);
        if men > most
            || (men == most && node.depth < options.syzygy_probe_depth)
            || self.position.halfmoves() != 0
            || self.position.has_castling_rights()
        {
            return None;
        }
        let wdl = syzygy.wdl(&self.position)?;
        self.tb_hits += 1;
        let won = TB_WIN - self.ply as Value;
        let rule = options.syzygy_50_move_rule;
        let (value, bound) = match wdl {
            Wdl::Win => (won, Bound::Lower),
            Wdl::CursedWin if !rule => (won, Bound::Lower),
            Wdl::Loss => (-won, Bound::Upper),
            Wdl::BlessedLoss if !rule => (-won, Bound::Upper),
            Wdl::CursedWin => (DRAW + 1, Bound::Exact),
            Wdl::BlessedLoss => (DRAW - 1, Bound::Exact),
            Wdl::Draw => (DRAW, Bound::Exact),
        };
        let settled = match bound {
            Bound::Lower => value >= node.beta,
            Bound::Upper => value <= node.alpha,
            _ => true,
        };
        if settled {
            let depth = (node.depth + 6).min(MAX_PLY as i32 - 1);
            self.store(node, value, None, bound, depth);
            return Some(value);
        }
        if pv {
            // Not the last word: there may be a mate above, or worse below. Search on within the bound.
            if bound == Bound::Lower {
                node.best = value;
                node.alpha = node.alpha.max(value);
            } else {
                node.most = value;
            }
        }
        debug_assert!(score::is_decisive(value));
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes() {
        assert_eq!(class(12, 0, true), 2);
        assert_eq!(class(60, 50, true), 1);
        assert_eq!(class(60, 50, false), 2);
        assert_eq!(class(-101, 0, true), -1);
        assert_eq!(class(0, 30, true), 0);
    }

    #[test]
    fn an_empty_or_missing_directory_is_an_error() {
        assert!(Syzygy::open("/no/such/directory").is_err());
    }
}
