//! Game processes: this program with the same arguments and `--serve`.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, bail};

use super::duel::MatchRequest;
use crate::game::tally::Tally;
use crate::util::cores;

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
