//! `zoothera distill`: improves a net with positions from its own searches and labels from stronger nets.
//!
//! A round has two phases: `datagen sample` writes a block of new positions from searches of the newest net, then
//! `train` trains that net further on the newest blocks and a choice of older ones. Each phase runs the code of the
//! command, with its files and its resumption. After a round the net's loss is measured. At intervals the net plays a
//! match against the best net so far.
//!
//! * [`folder`]: the files of a run, and the results of each round
//! * [`setup`]: the command line, the defaults of training, and checks before the first round
//! * [`run`]: the rounds, and the commands that a round runs
//! * [`report`]: lines for the terminal, a table, and a plot of loss and Elo

mod folder;
mod report;
pub mod run;
pub mod setup;
