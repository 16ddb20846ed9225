//! Input of typed lines: with editing and a history at a terminal, plain lines otherwise.

use std::io::{self, BufRead, Write};

/// The answer to a prompt.
#[derive(Debug, PartialEq, Eq)]
pub enum Typed {
    /// A line, without its end.
    Line(String),
    /// The end of the input.
    End,
    /// Ctrl-C.
    Interrupt,
}

/// Source of typed lines.
pub trait Prompt {
    /// Shows `prompt` and returns the next line.
    ///
    /// # Errors
    /// Fails on an I/O error.
    fn ask(&mut self, prompt: &str) -> io::Result<Typed>;

    /// Whether a user reads the prompts, so that the program can ask questions.
    fn is_interactive(&self) -> bool;
}

/// Lines of any input. The prompts are written to `out`.
pub struct PlainPrompt<R, W> {
    input: io::Lines<R>,
    out: W,
}

impl<R: BufRead, W: Write> PlainPrompt<R, W> {
    /// The lines of `input`, with prompts on `out`.
    pub fn new(input: R, out: W) -> Self {
        Self { input: input.lines(), out }
    }
}

impl<R: BufRead, W: Write> Prompt for PlainPrompt<R, W> {
    fn ask(&mut self, prompt: &str) -> io::Result<Typed> {
        write!(self.out, "{prompt}")?;
        self.out.flush()?;
        match self.input.next() {
            Some(line) => Ok(Typed::Line(line?)),
            None => {
                writeln!(self.out)?;
                Ok(Typed::End)
            }
        }
    }

    fn is_interactive(&self) -> bool {
        false
    }
}

/// Lines that are edited at the terminal, with a history.
#[cfg(not(target_family = "wasm"))]
pub struct LineEditor(rustyline::DefaultEditor);

#[cfg(not(target_family = "wasm"))]
impl LineEditor {
    /// The editor, if standard input and output are a terminal.
    pub fn at_terminal() -> Option<Self> {
        use std::io::IsTerminal as _;
        let terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
        terminal.then(|| rustyline::DefaultEditor::new().ok().map(Self)).flatten()
    }
}

#[cfg(not(target_family = "wasm"))]
impl Prompt for LineEditor {
    fn ask(&mut self, prompt: &str) -> io::Result<Typed> {
        use rustyline::error::ReadlineError;
        match self.0.readline(prompt) {
            Ok(line) => {
                // A full or disabled history does not matter.
                let _ = self.0.add_history_entry(&line);
                Ok(Typed::Line(line))
            }
            Err(ReadlineError::Eof) => Ok(Typed::End),
            Err(ReadlineError::Interrupted) => Ok(Typed::Interrupt),
            Err(ReadlineError::Io(error)) => Err(error),
            Err(error) => Err(io::Error::other(error)),
        }
    }

    fn is_interactive(&self) -> bool {
        true
    }
}

/// The editor at a terminal, plain lines of standard input otherwise.
pub fn standard() -> Box<dyn Prompt> {
    #[cfg(not(target_family = "wasm"))]
    if let Some(editor) = LineEditor::at_terminal() {
        return Box::new(editor);
    }
    Box::new(PlainPrompt::new(io::stdin().lock(), io::stdout()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_prompt_gives_lines_then_the_end() {
        let mut shown = Vec::new();
        let mut prompt = PlainPrompt::new("e4\n\nd4".as_bytes(), &mut shown);
        let mut ask = || prompt.ask("> ").expect("readable");
        let line = |text: &str| Typed::Line(text.to_owned());
        assert_eq!([ask(), ask(), ask(), ask()], [line("e4"), line(""), line("d4"), Typed::End]);
        assert_eq!(String::from_utf8_lossy(&shown), "> > > > \n");
    }
}
