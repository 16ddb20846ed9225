//! Zoothera: a UCI chess engine with an efficiently updatable neural network (NNUE), as a library.
//!
//! The binary only calls [`cli::run`]. A program that uses the library needs these modules:
//!
//! * [`board`]: a [`Position`](board::Position) with its moves, from a FEN or the start
//! * [`nnue`]: a [`Network`](nnue::Network), embedded or from a file, and the
//!   [`AccumulatorStack`](nnue::AccumulatorStack) that evaluates positions with it
//! * [`search`]: a [`ThreadPool`](search::ThreadPool) that searches within [`Limits`](search::Limits) and reports its
//!   results to a [`Reporter`](search::Reporter)
//! * [`level`]: a [`Level`](level::Level) below full strength, for [`SearchOptions`](search::SearchOptions)
//!
//! ```
//! use std::sync::Arc;
//! use zoothera::board::{CastlingMode, Position};
//! use zoothera::nnue::Network;
//! use zoothera::search::{Limits, SearchOptions, Silent, ThreadPool};
//!
//! let fen = "7k/8/5K2/6Q1/8/8/8/8 w - - 0 1";
//! let position = Position::from_fen(fen, CastlingMode::Standard)?;
//! let limits = Limits { depth: Some(5), ..Limits::default() };
//! // One thread, and a transposition table of 16 MiB.
//! let mut pool = ThreadPool::new(Network::embedded(), 1, 16);
//! let outcome = pool.search(position.clone(), limits, SearchOptions::default(), Arc::new(Silent));
//! let best = outcome.best.map(|m| position.san(m));
//! assert_eq!(best.as_deref(), Some("Qg7#"));
//! # Ok::<(), anyhow::Error>(())
//! ```
//!
//! The programs in `examples/` analyse a position, evaluate FENs with a network, play matches between networks and
//! between levels, and compare levels with people. `docs/architecture.md` lists all modules and their dependencies.
#![deny(unsafe_code)]
// In a build without the commands, some of their helpers are unused.
#![cfg_attr(not(feature = "full"), allow(dead_code, unused_imports))]
// The map of a module links to its files, most of them private: `cargo doc --document-private-items` shows them.
#![allow(rustdoc::private_intra_doc_links)]
#![deny(missing_docs, clippy::undocumented_unsafe_blocks, unsafe_op_in_unsafe_fn)]

pub mod board;
pub(crate) mod book;
pub mod cli;
#[cfg(feature = "full")]
pub(crate) mod datagen;
#[cfg(feature = "full")]
pub(crate) mod distill;
pub mod level;
#[cfg(feature = "full")]
pub(crate) mod matches;
pub mod nnue;
pub(crate) mod review;
pub mod search;
#[cfg(feature = "full")]
pub(crate) mod train;
#[cfg(any(feature = "tune", test))]
pub(crate) mod tune;

// Only the tests and benchmarks of this package use these modules from outside.
#[cfg(feature = "full")]
#[doc(hidden)]
pub mod data;
#[doc(hidden)]
pub mod game;
#[cfg(feature = "full")]
#[doc(hidden)]
pub mod gpu;
#[doc(hidden)]
pub mod notation;
#[doc(hidden)]
pub mod tools;
#[doc(hidden)]
pub mod uci;
#[doc(hidden)]
pub mod util;
