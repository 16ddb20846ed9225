//! End-to-end tests of every command: output, streams and exit codes.

mod analyse;
mod book;
#[path = "../common/mod.rs"]
mod common;
mod farms;
mod foreign_text;
mod manners;
mod nets;
mod outputs;
mod play;
mod play_picture;
mod run;
mod tables;

const MATE_IN_ONE: &str = "6k1/5ppp/8/8/8/8/8/K2R4 w - - 0 1";
