//! The processes that play: this very program, with the same arguments and the one that makes it play.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, bail};

use super::duel::MatchRequest;
use crate::game::tally::Tally;
use crate::util::cores;

/// Processes that play, each its own match at a time.
pub struct Players(Vec<GameProcess>);

impl Players {
    /// Starts so many, or one for each core.
    ///
    /// # Errors
    /// When the system refuses a process.
    pub fn start(processes: Option<u16>) -> Result<Self> {
        let processes = processes.map_or_else(cores, usize::from);
        let playing: Result<Vec<GameProcess>> = (0..processes).map(|_| GameProcess::start()).collect();
        Ok(Self(playing?))
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Has each play one of the matches, all at once; the tallies are in the order of the matches.
    ///
    /// # Errors
    /// When a process ends, or answers nonsense.
    pub fn play(&mut self, matches: &[MatchRequest]) -> Result<Vec<Tally>> {
        debug_assert!(matches.len() <= self.0.len(), "a match without players");
        for (process, request) in self.0.iter_mut().zip(matches) {
            process.ask(request)?;
        }
        let playing = self.0.iter_mut().take(matches.len());
        playing.map(GameProcess::answer).collect()
    }
}

/// A process that plays. It ends when its input does.
struct GameProcess {
    child: Child,
    requests: ChildStdin,
    replies: BufReader<ChildStdout>,
}

impl GameProcess {
    fn start() -> Result<Self> {
        let program = std::env::current_exe().context("cannot tell where this program is")?;
        let mut child = Command::new(program)
            .args(std::env::args_os().skip(1))
            .arg("--serve")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start a process that plays")?;
        let requests = child.stdin.take().context("a process without input")?;
        let replies = child.stdout.take().context("a process without output")?;
        Ok(Self { child, requests, replies: BufReader::new(replies) })
    }

    fn ask(&mut self, request: &MatchRequest) -> Result<()> {
        writeln!(self.requests, "{}", serde_json::to_string(request)?).context("a process that plays has ended")
    }

    fn answer(&mut self) -> Result<Tally> {
        let mut text = String::new();
        self.replies.read_line(&mut text)?;
        if text.is_empty() {
            let status = self.child.wait()?;
            bail!("a process that plays has ended with {status}");
        }
        serde_json::from_str(&text).context("a process that plays answers nonsense")
    }
}
