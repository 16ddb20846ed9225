//! Game process: plays the matches requested on standard input, a line of JSON each, and prints the results.

use std::io::{BufRead, BufReader, Write, stdin, stdout};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use crate::board::{Color, Position};
use crate::game::clock::{Clock, TimeControl, time_of_nodes};
use crate::game::ending::Ending;
use crate::game::play::{self, Answer, EvenOpenings, MoveArgs, OpeningArgs, RuleArgs, Tally};
use crate::search::{Found, Limits, STACK_BYTES, Solo, params, rules};
use crate::tools::load_network;
use crate::util::cores;
use crate::util::rng::SplitMix64;

/// Default number of nodes for each move.
const NODES: u64 = 5000;
/// Default number of nodes per millisecond of a clock.
const NODES_PER_MS: u64 = 200;

/// Arguments for the games.
#[derive(clap::Args, Clone, Debug)]
pub struct DuelArgs {
    /// Net to play with; the embedded one if absent
    #[arg(long, value_name = "FILE")]
    pub net: Option<std::path::PathBuf>,
    /// Transposition table of each player in MiB
    #[arg(long, value_name = "MIB", default_value_t = 8)]
    pub hash: u16,
    /// Limits of a move: 5000 nodes if absent.
    #[command(flatten)]
    pub moves: MoveArgs,
    /// Clock of each player, which counts nodes: [MOVES/]SECONDS[+INCREMENT]
    #[arg(long, value_name = "CONTROL", conflicts_with_all = ["nodes", "soft_nodes", "depth"])]
    pub tc: Option<TimeControl>,
    /// Nodes per millisecond of the clock
    #[arg(
        long,
        value_name = "N",
        default_value_t = NODES_PER_MS,
        requires = "tc",
        value_parser = clap::value_parser!(u64).range(1..=10_000),
    )]
    pub nodestime: u64,
    /// Openings.
    #[command(flatten)]
    pub openings: OpeningArgs,
    /// Adjudication.
    #[command(flatten)]
    pub rules: RuleArgs,
    /// Play the matches requested on standard input
    #[arg(long, hide = true)]
    pub serve: bool,
}

/// Request to play a match.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MatchRequest {
    /// Names of the parameters.
    pub names: Vec<String>,
    /// Parameter values of the first player.
    pub plus: Vec<i32>,
    /// Parameter values of the second player.
    pub minus: Vec<i32>,
    /// Number of game pairs; each opening is played with both colours.
    pub pairs: u32,
    /// Seed of the openings.
    pub seed: u64,
}

/// Runs [`serve`] on standard input and output, on a thread with the stack that a search needs.
///
/// # Errors
/// As [`serve`], or if the thread cannot be started.
pub fn serve_on_a_large_stack(args: &DuelArgs) -> Result<()> {
    std::thread::scope(|scope| {
        std::thread::Builder::new()
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, || serve(args, stdin().lock(), stdout().lock()))?
            .join()
            .unwrap_or_else(|_| bail!("a game failed; this is a bug, please report it"))
    })
}

/// Plays the requested matches until `input` ends. The caller's thread needs the stack of a search.
///
/// # Errors
/// Fails if the net or the book cannot be used, or a request is invalid.
pub fn serve(args: &DuelArgs, input: impl BufRead, mut output: impl Write) -> Result<()> {
    let network = load_network(args.net.as_deref())?;
    let hash = usize::from(args.hash.max(1));
    let mut arena = Arena {
        openings: EvenOpenings::new(&args.openings)?,
        players: [(); 2].map(|()| Solo::new(network.clone(), hash)),
        limits: if args.tc.is_some() { Limits::default() } else { args.moves.limits(NODES) },
        control: args.tc,
        nodes_per_ms: args.nodestime,
        rules: &args.rules,
    };
    if args.tc.is_some() {
        arena.players.iter_mut().for_each(|player| player.set_nodes_per_ms(args.nodestime));
    }
    for line in input.lines() {
        let request: MatchRequest = serde_json::from_str(&line?).context("not a match request")?;
        let tally = arena.play(&request)?;
        writeln!(output, "{}", serde_json::to_string(&tally)?)?;
        output.flush()?;
    }
    Ok(())
}

/// Players, openings and arguments of a game process.
struct Arena<'a> {
    openings: EvenOpenings,
    /// The plus player and the minus player.
    players: [Solo; 2],
    limits: Limits,
    control: Option<TimeControl>,
    nodes_per_ms: u64,
    rules: &'a RuleArgs,
}

impl Arena<'_> {
    fn play(&mut self, request: &MatchRequest) -> Result<Tally> {
        let mut rng = SplitMix64::new(request.seed);
        let mut tally = Tally::default();
        for _ in 0..request.pairs {
            set_parameters(&request.names, &request.plus)?;
            let start = self.openings.next(&mut rng, &mut self.players[0])?;
            for plus_is in [Color::White, Color::Black] {
                let white = self.game(start.clone(), request, plus_is)?;
                tally.count(if plus_is == Color::White { white } else { -white });
            }
        }
        Ok(tally)
    }

    /// Plays a game and returns White's result.
    fn game(&mut self, start: Position, request: &MatchRequest, plus_is: Color) -> Result<i8> {
        // The initial values of the histories are parameters too.
        for (player, values) in self.players.iter_mut().zip([&request.plus, &request.minus]) {
            set_parameters(&request.names, values)?;
            player.clear();
        }
        let never = AtomicBool::new(false);
        let mut failed = None;
        let mut clock = self.control.map(Clock::new);
        let ending = play::play_game(start, self.rules, &never, |position| {
            let (turn, plus) = (position.turn(), position.turn() == plus_is);
            let values = if plus { &request.plus } else { &request.minus };
            failed = set_parameters(&request.names, values).err();
            let limits = clock.as_ref().map_or_else(|| self.limits.clone(), |clock| clock.limits(turn, &self.limits));
            let player = &mut self.players[usize::from(!plus)];
            let found = player.search(position, &limits).filter(|_| failed.is_none());
            if !in_time(clock.as_mut(), turn, found.as_ref(), self.nodes_per_ms) {
                return Answer::End(Ending::out_of_time(position, turn));
            }
            found.into()
        });
        match failed {
            Some(error) => Err(error),
            None => Ok(ending.context("a game did not end; this is a bug, please report it")?.white),
        }
    }
}

/// Subtracts the nodes of a search from the clock. Returns whether enough time was left.
fn in_time(clock: Option<&mut Clock>, turn: Color, found: Option<&Found>, nodes_per_ms: u64) -> bool {
    let (Some(clock), Some(found)) = (clock, found) else { return true };
    clock.charge(turn, time_of_nodes(found.nodes, nodes_per_ms), Duration::ZERO)
}

/// Sets the search parameters and the switches of rules of this process.
fn set_parameters(names: &[String], values: &[i32]) -> Result<()> {
    for (name, &value) in names.iter().zip(values) {
        if !params::set(name, value) && !rules::set(name, value) {
            bail!("there is no parameter {name}, or {value} is out of its range");
        }
    }
    Ok(())
}

// Game processes: this program with the same arguments and `--serve`.

/// Game processes. Each plays one match at a time.
pub struct Players(Vec<GameProcess>);

impl Players {
    /// Starts `processes` game processes, or one for each core.
    ///
    /// # Errors
    /// Fails if a process cannot be started.
    pub fn start(processes: Option<u16>) -> Result<Self> {
        let processes = processes.map_or_else(cores, usize::from);
        let playing: Result<Vec<GameProcess>> = (0..processes).map(|_| GameProcess::start()).collect();
        Ok(Self(playing?))
    }

    /// Number of processes.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Plays the matches at the same time, one in each process. Returns the tallies in the order of the matches.
    ///
    /// # Errors
    /// Fails if a process ends or its reply cannot be parsed.
    pub fn play(&mut self, matches: &[MatchRequest]) -> Result<Vec<Tally>> {
        debug_assert!(matches.len() <= self.0.len(), "more matches than processes");
        for (process, request) in self.0.iter_mut().zip(matches) {
            process.request(request)?;
        }
        let playing = self.0.iter_mut().take(matches.len());
        playing.map(GameProcess::reply).collect()
    }
}

/// A game process. It exits at the end of its input.
struct GameProcess {
    child: Child,
    requests: ChildStdin,
    replies: BufReader<ChildStdout>,
}

impl GameProcess {
    fn start() -> Result<Self> {
        let program = std::env::current_exe().context("cannot find the path of this program")?;
        let mut child = Command::new(program)
            .args(std::env::args_os().skip(1))
            .arg("--serve")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start a game process")?;
        let requests = child.stdin.take().context("a game process has no input")?;
        let replies = child.stdout.take().context("a game process has no output")?;
        Ok(Self { child, requests, replies: BufReader::new(replies) })
    }

    fn request(&mut self, request: &MatchRequest) -> Result<()> {
        writeln!(self.requests, "{}", serde_json::to_string(request)?).context("a game process has ended")
    }

    fn reply(&mut self) -> Result<Tally> {
        let mut text = String::new();
        self.replies.read_line(&mut text)?;
        if text.is_empty() {
            let status = self.child.wait()?;
            bail!("a game process has ended with {status}");
        }
        serde_json::from_str(&text).context("cannot parse the reply of a game process")
    }
}
