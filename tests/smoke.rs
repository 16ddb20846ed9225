//! Training from scratch: generates positions, trains a network on them, exports it, and requires it to beat a material
//! net in games.
//!
//! The short form runs with all tests. `make train-smoke` runs the long form and shows the output of its commands.

mod common;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use common::folder::Folder;
use zoothera::board::openings::random_walk;
use zoothera::board::{Color, Position};
use zoothera::game::play::{self, RuleArgs};
use zoothera::nnue::Network;
use zoothera::search::{Limits, STACK_BYTES, Solo};
use zoothera::util::rng::SplitMix64;

/// Size of a run. The number of threads is fixed, so that machines with the same kernels get the same results.
struct Size {
    name: &'static str,
    /// Arguments of `datagen sample`.
    sample: &'static str,
    /// Arguments of `train`.
    train: &'static str,
    /// Arguments of `net-material` for each opponent, and the minimum score against it in per cent. The usual score is
    /// much higher.
    opponents: &'static [(&'static str, usize)],
    /// Number of game pairs against each opponent.
    pairs: usize,
    /// Nodes per move.
    nodes: u64,
    /// Whether to show the output of the commands while they run.
    live: bool,
}

#[test]
fn network_from_scratch_beats_material() {
    smoke(&Size {
        name: "short",
        sample: "--positions 300000 --soft-nodes 60 --one-in 12 --random-plies 16 --max-opening 1500 --threads 2",
        train: "--shape sf12 --millions 1.5 --every 0.3 --batch 1024 --rate 0.004 --real-rate 0.1 --threads 2",
        opponents: &[("--no-squares", 60)],
        pairs: 100,
        nodes: 100,
        live: false,
    });
}

#[test]
#[ignore = "minutes; make train-smoke"]
fn large_network_from_scratch_beats_material() {
    smoke(&Size {
        name: "long",
        sample: "--positions 2000000 --soft-nodes 200 --one-in 6 --threads 2",
        train: "--millions 8 --every 1 --batch 4096 --real-rate 0.1 --threads 2",
        opponents: &[("--no-squares", 75), ("", 60)],
        pairs: 50,
        nodes: 1000,
        live: true,
    });
}

/// Generates samples, trains and exports a network, and plays the matches.
fn smoke(size: &Size) {
    let folder = Folder::new(&format!("smoke-{}", size.name));
    let run = |arguments: &str| run(&folder.path(""), arguments, size.live);
    run(&format!("datagen sample --out some.bin {}", size.sample));
    run(&format!("train --sampled some.bin --scale 600 --real-decay 4 {} --out trained.nnue", size.train));
    assert_loss_falls(&folder.path("trained.tsv"));
    run("train export trained.checkpoint --out net.nnue");
    run("net verify net.nnue");
    for (opponent, wanted) in size.opponents {
        run(&format!("net-material material.nnue {opponent}"));
        let nets = ["net.nnue", "material.nnue"].map(|name| network(&folder.path(name)));
        let (won, drawn, lost) = play_match(nets, size.pairs, size.nodes);
        eprintln!("against the material net: +{won} ={drawn} -{lost}, {} nodes per move", size.nodes);
        let score = 50 * (2 * won + drawn) / (won + drawn + lost);
        assert!(score >= *wanted, "the score is {score} %, below {wanted} %");
    }
}

/// Runs the program in `folder`. It must succeed.
fn run(folder: &Path, arguments: &str, live: bool) {
    eprintln!("$ zoothera {arguments}");
    let mut command = Command::new(env!("CARGO_BIN_EXE_zoothera"));
    command.current_dir(folder).args(arguments.split_whitespace()).stdin(Stdio::null());
    if live {
        command.stderr(Stdio::inherit());
    }
    let output = command.output().expect("the program runs");
    // The test runner shows this output if the test fails.
    eprint!("{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{arguments}: {}", output.status);
}

/// Asserts that the training loss falls by half and the validation loss by 10 %. The validation loss falls less because
/// the network overfits so few positions.
fn assert_loss_falls(log: &Path) {
    let text = fs::read_to_string(log).expect("a log");
    let column = |number: usize| -> Vec<f64> {
        let rows = text.lines().skip(1);
        rows.filter_map(|row| row.split('\t').nth(number)?.parse().ok()).collect()
    };
    for (losses, factor) in [(column(1), 0.5), (column(2), 0.9)] {
        let (Some(first), Some(last)) = (losses.first(), losses.last()) else {
            panic!("no losses in:\n{text}");
        };
        assert!(*last < factor * first, "{losses:?}");
    }
}

fn network(path: &Path) -> Arc<Network> {
    let bytes = fs::read(path).expect("a net");
    Arc::new(Network::from_bytes(&bytes).expect("a valid network"))
}

/// Plays a match and returns the games won, drawn and lost by the first net. Each opening is played with both colours.
fn play_match(nets: [Arc<Network>; 2], pairs: usize, nodes: u64) -> (usize, usize, usize) {
    let play = || {
        let mut players = nets.map(|net| Solo::new(net, 4));
        let mut rng = SplitMix64::new(1);
        let mut results = [0; 3];
        for _ in 0..pairs {
            let walk = || random_walk(&Position::startpos(), 8, &mut rng);
            let opening = std::iter::repeat_with(walk).flatten().next().unwrap();
            for net_is_white in [true, false] {
                let white = game(&mut players, opening.clone(), net_is_white, nodes);
                let result = if net_is_white { white } else { -white };
                results[(1 - result) as usize] += 1;
            }
        }
        results.into()
    };
    std::thread::scope(|scope| {
        std::thread::Builder::new()
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, play)
            .expect("a thread")
            .join()
            .expect("finished games")
    })
}

/// Plays a game without adjudication by score and returns White's result. A game of 300 plies is a draw.
fn game(players: &mut [Solo; 2], start: Position, net_is_white: bool, nodes: u64) -> i8 {
    let limits = Limits { nodes: Some(nodes), ..Limits::default() };
    let rules = RuleArgs {
        win_score: i32::MAX,
        win_plies: u32::MAX,
        draw_score: 0,
        draw_plies: u32::MAX,
        draw_from: u32::MAX,
        max_plies: 300,
    };
    players.iter_mut().for_each(Solo::clear);
    let ending = play::play_game(start, &rules, &AtomicBool::new(false), |position| {
        let white = position.turn() == Color::White;
        let player = &mut players[usize::from(white != net_is_white)];
        player.search(position, &limits).into()
    });
    ending.expect("a game that is not stopped").white
}
