//! Driver of the engine process that acts as a GUI: writes lines and collects output lines.
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use super::engine;

/// Timeout for every wait, long enough for a machine under load.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// A running engine.
pub struct Driver {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl Driver {
    /// Starts the engine without a UCI handshake.
    pub fn silent() -> Self {
        Self::of(engine::engine())
    }

    /// Starts the engine with this command.
    pub fn of(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the engine starts");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let input = child.stdin.take();
        Self { child, input, lines }
    }

    /// Starts the engine and performs the UCI handshake.
    pub fn start() -> Self {
        let mut driver = Self::silent();
        driver.send("uci");
        driver.until("uciok");
        driver.ready();
        driver
    }

    /// Writes a line.
    pub fn send(&mut self, line: &str) {
        self.send_bytes(line.as_bytes());
        self.send_bytes(b"\n");
    }

    /// Writes bytes.
    pub fn send_bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("the input is open");
        input.write_all(bytes).expect("the engine reads its input");
    }

    /// Returns the lines up to and including the first one that starts with the word `word`.
    pub fn until(&mut self, word: &str) -> Vec<String> {
        let deadline = Instant::now() + PATIENCE;
        let mut seen = Vec::new();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(line) => {
                    let found = line.split(' ').next() == Some(word);
                    seen.push(line);
                    if found {
                        return seen;
                    }
                }
                Err(error) => {
                    panic!("no {word} ({error}); last lines: {:?}", seen.iter().rev().take(5).collect::<Vec<_>>())
                }
            }
        }
    }

    /// Sends `isready` and returns the lines up to `readyok`.
    pub fn ready(&mut self) -> Vec<String> {
        self.send("isready");
        self.until("readyok")
    }

    /// Returns the lines received within `time`.
    pub fn listen(&mut self, time: Duration) -> Vec<String> {
        let deadline = Instant::now() + time;
        let mut seen = Vec::new();
        while let Ok(line) = self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            seen.push(line);
        }
        seen
    }

    /// Sends a signal to the engine.
    #[cfg(unix)]
    pub fn signal(&self, name: &str) {
        engine::signal(&self.child, name);
    }

    /// Returns the lines until the engine closes its output.
    pub fn rest(&mut self) -> Vec<String> {
        let deadline = Instant::now() + PATIENCE;
        let mut seen = Vec::new();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(line) => seen.push(line),
                Err(RecvTimeoutError::Disconnected) => return seen,
                Err(RecvTimeoutError::Timeout) => {
                    panic!("the output is still open; lines so far: {seen:?}")
                }
            }
        }
    }

    /// Sends a `go` with a limit and returns its lines. The last line is the only `bestmove`.
    pub fn go(&mut self, go: &str) -> Vec<String> {
        self.send(go);
        let lines = self.until("bestmove");
        let rest = self.ready();
        assert!(!rest.iter().any(|line| line.starts_with("bestmove")), "a second bestmove after {go}");
        lines
    }

    /// Sends a `go` with a limit and returns the best move.
    pub fn best(&mut self, go: &str) -> String {
        best_move(&self.go(go))
    }

    /// Closes the engine's input.
    pub fn close_input(&mut self) {
        self.input = None;
    }

    /// Waits until the engine exits; returns its exit status and the time it took.
    pub fn exit(mut self) -> (ExitStatus, Duration) {
        let start = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("a child") {
                return (status, start.elapsed());
            }
            assert!(start.elapsed() < PATIENCE, "the engine does not exit");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Whether the engine has exited.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("a child").is_some()
    }

    /// Returns the next line, or an error if there is none within `time`.
    pub fn next(&mut self, time: Duration) -> Result<String, RecvTimeoutError> {
        self.lines.recv_timeout(time)
    }

    /// Closes the reading end of the engine's output.
    pub fn close_output(&mut self) {
        self.lines = channel().1;
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The best move in the last line.
pub fn best_move(lines: &[String]) -> String {
    let last = lines.last().map(String::as_str).unwrap_or_default();
    last.split(' ').nth(1).unwrap_or_default().to_owned()
}

/// The lines that report an error.
pub fn errors(lines: &[String]) -> Vec<&String> {
    lines.iter().filter(|line| line.starts_with("info string ERROR")).collect()
}

/// The value of field `name` in an `info` line.
pub fn field(line: &str, name: &str) -> Option<String> {
    let mut words = line.split(' ');
    words.find(|word| *word == name)?;
    words.next().map(String::from)
}
