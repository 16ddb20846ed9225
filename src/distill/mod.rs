//! `zoothera distill`: improves a net by positions of its own searches and the labels of stronger nets.
//!
//! A round has two phases: `datagen sample` writes a block of new positions from searches of the newest net, then
//! `train` trains that net further on the newest blocks and a selection of older ones. Each phase runs the command of
//! that name, with the same files and the same resumption. After a round the net is measured, and at intervals it plays
//! a match against the best net so far.
//!
//! * [`args`]: the command line, and the defaults of training
//! * [`folder`]: the names of the files of a run
//! * [`setup`]: checks before the first round
//! * [`state`]: the record of each round
//! * [`phases`]: the commands that a round runs
//! * [`run`]: the rounds
//! * [`report`]: lines for the terminal, a table, and [`chart`], a plot of loss and Elo

pub mod args;
mod chart;
mod folder;
mod phases;
mod report;
pub mod run;
mod setup;
mod state;
