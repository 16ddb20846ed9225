//! Runs the command of the command line and turns errors into a message and an exit code.

use std::borrow::Cow;
use std::io;
use std::io::{Stderr, Write};
use std::process::ExitCode;

use anyhow::Result;
#[cfg(all(feature = "full", not(feature = "tune")))]
use anyhow::bail;
use clap::{CommandFactory as _, Parser};

use super::{Cli, Command, names};
#[cfg(feature = "full")]
use super::{manual, training};
use crate::tools::play::PlayArgs;
use crate::tools::play::prompt::Typed;
#[cfg(feature = "full")]
use crate::tools::tables;
use crate::tools::{analyse, bench, cpu, epd, eval, genfens, net, perft, play};
use crate::util::console::{Interrupted, Printable, use_colour};
use crate::util::text::printable;
use crate::util::{console, reason};
use crate::{book, review, uci};
#[cfg(feature = "full")]
use crate::{distill, matches, train};

/// First words of UCI commands that can be given as arguments. Words that are also commands of the command line
/// (`bench`, `eval`, `perft`, `cpu`, `help`) are excluded.
fn uci_words() -> Vec<&'static str> {
    let line = Cli::command();
    let is_ours = |word: &str| word == "help" || line.find_subcommand(word).is_some();
    uci::command::words().filter(|word| !is_ours(word)).collect()
}

/// Parses the arguments, runs the command, and turns an error into a message and an exit code.
pub fn run() -> ExitCode {
    ExitCode::from(exit_code())
}

/// As [`run`], with the exit code as a number.
pub(super) fn exit_code() -> u8 {
    let arguments: Vec<String> =
        std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned()).collect();
    match run_arguments(&arguments) {
        Ok(()) => 0,
        // The reader of the output closed it early, as `head` does: not an error.
        Err(error) if is_broken_pipe(&error) => 0,
        Err(error) => {
            // Not eprintln!, which panics when stderr is closed.
            let interrupted = error.is::<Interrupted>();
            let label = if interrupted { "" } else { "error: " };
            let _ = writeln!(messages(), "{label}{}", reason::chain(&error));
            if interrupted { console::EXIT_CODE } else { 1 }
        }
    }
}

/// Standard error for messages. Messages can quote foreign text, so control characters are replaced.
fn messages() -> Printable<Stderr> {
    Printable(io::stderr())
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let broken = |cause: &io::Error| cause.kind() == io::ErrorKind::BrokenPipe;
    error.chain().any(|cause| cause.downcast_ref().is_some_and(broken))
}

/// Runs the arguments. UCI commands and OpenBench's quoted `genfens` are handled before clap parses the rest.
fn run_arguments(arguments: &[String]) -> Result<()> {
    let first = arguments.first().map_or("", String::as_str);
    let verb = first.split_whitespace().next().unwrap_or("");
    let quoted = first.trim().contains(char::is_whitespace);
    if quoted && verb == "genfens" {
        return genfens::run(first, &mut io::stdout());
    }
    let words = uci_words();
    if words.contains(&verb) || (quoted && matches!(verb, "bench" | "eval" | "perft" | "cpu")) {
        return uci::run_with_commands(&group_commands(arguments, &words));
    }
    let words = names::expanded(&Cli::command(), std::env::args_os());
    let command = Cli::try_parse_from(words).unwrap_or_else(|error| print_and_exit(&error)).command;
    match command {
        Some(command) => run_command(command),
        None => uci::run(),
    }
}

/// Prints clap's help or error message in plain words and exits with clap's code.
fn print_and_exit(error: &clap::Error) -> ! {
    let text = error.render();
    let coloured = |colour: bool| {
        let plain = text.to_string();
        // Escapes in quoted input are indistinguishable from the colour codes, so such text is printed without
        // colour.
        let text = match printable(&plain) {
            Cow::Borrowed(_) if colour => text.ansi().to_string(),
            printable => printable.into_owned(),
        };
        // The parser quotes the messages of errors in values.
        let cause = std::error::Error::source(error);
        cause.map_or(text.clone(), |cause| text.replace(&cause.to_string(), &reason::of(cause)))
    };
    // A write error on a closed stream cannot be reported anywhere.
    let _ = if error.use_stderr() {
        let hint = names::hint(error).unwrap_or_default();
        write!(io::stderr(), "{}{hint}", coloured(use_colour(&io::stderr())))
    } else {
        write!(io::stdout(), "{}", coloured(use_colour(&io::stdout())))
    };
    std::process::exit(error.exit_code())
}

/// Joins words into UCI commands: `position startpos go depth 5` gives two commands. An argument with spaces is a
/// complete command. A UCI command word starts a new command; any other word continues the current one.
fn group_commands(arguments: &[String], words: &[&str]) -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    let mut open = false;
    for argument in arguments {
        let whole = argument.trim().contains(char::is_whitespace);
        // A lone "d" inside a position is the castling field of a Shredder FEN.
        let begins = words.contains(&argument.as_str()) && !(open && argument == "d");
        match commands.last_mut() {
            Some(last) if open && !whole && !begins => {
                last.push(' ');
                last.push_str(argument);
            }
            _ => commands.push(argument.clone()),
        }
        open = !whole;
    }
    commands
}

/// Plays a game, then reviews it if the user agrees.
fn run_play(args: &PlayArgs, out: &mut impl Write, err: &mut dyn Write) -> Result<()> {
    let mut input = play::prompt::standard();
    let game = play::run(args, &mut *input, out)?;
    if input.is_interactive() && game.plies > 0 {
        let answer = input.ask("Review this game? [y/N] ")?;
        if matches!(answer, Typed::Line(text) if text.trim().to_ascii_lowercase().starts_with('y')) {
            return review::run::run_after_play(&game, args, out, err);
        }
    }
    Ok(())
}

fn run_command(command: Command) -> Result<()> {
    let (out, err) = (&mut io::stdout(), &mut messages());
    match command {
        Command::Bench(args) => bench::run(&args, out, err),
        Command::Perft(args) => perft::run(&args, out),
        Command::Eval(args) => eval::run(&args, out, err),
        Command::Analyse(args) => analyse::run(&args, Box::new(io::stdout()), err),
        Command::Review(args) => review::run::run(&args, out, err),
        Command::Explain(args) => review::explain::run(&args, out, err),
        Command::Play(args) => run_play(&args, out, err),
        Command::Book { command } => book::run::run(&command, out, err),
        Command::Epd(args) => epd::run(&args, out, err),
        Command::Net { command } => net::run(&command, out),
        #[cfg(feature = "full")]
        Command::Tables { command } => tables::run(&command, out, err),
        #[cfg(feature = "full")]
        Command::NetMaterial { file, no_squares } => net::write(&file, &train::material_net(!no_squares)),
        #[cfg(feature = "full")]
        Command::Match(args) => matches::run::run(&args, out, err),
        #[cfg(feature = "full")]
        Command::Gpu(args) => train::gpu::run(&args, out),
        #[cfg(feature = "full")]
        Command::Train(args) => train::run::run(*args),
        #[cfg(feature = "full")]
        Command::Distill(args) => distill::run::run(&args, out, err),
        #[cfg(feature = "full")]
        Command::Data { command } => training::data(&command),
        #[cfg(feature = "full")]
        Command::Datagen { command } => training::datagen(&command),
        Command::Cpu => Ok(write!(out, "{}", cpu::report())?),
        #[cfg(feature = "tune")]
        Command::Tune { command } => training::tune(command, out),
        #[cfg(all(feature = "full", not(feature = "tune")))]
        Command::Tune { .. } => {
            bail!("this build has no parameters to tune; build one with: cargo build --release --features tune")
        }
        Command::Genfens(args) => genfens::run(&args.words.join(" "), out),
        #[cfg(feature = "full")]
        Command::Completions { shell } => manual::completions(shell, out),
        #[cfg(feature = "full")]
        Command::Man { to: None } => manual::page(out),
        #[cfg(feature = "full")]
        Command::Man { to: Some(folder) } => manual::pages(&folder),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grouped(text: &[&str]) -> Vec<String> {
        let text: Vec<_> = text.iter().map(|&word| word.to_owned()).collect();
        group_commands(&text, &uci_words())
    }

    #[test]
    fn words_are_grouped_into_uci_commands() {
        assert_eq!(grouped(&["go", "depth", "5"]), ["go depth 5"]);
        assert_eq!(grouped(&["position", "startpos", "go", "perft", "3"]), ["position startpos", "go perft 3"]);
        assert_eq!(grouped(&["go depth 5", "quit"]), ["go depth 5", "quit"]);
        assert_eq!(grouped(&["uci", "quit"]), ["uci", "quit"]);
        assert_eq!(grouped(&["position", "fen", "8/8", "w", "d", "-"]), ["position fen 8/8 w d -"]);
    }

    #[test]
    fn broken_pipe_is_detected_under_context() {
        let broken = anyhow::Error::from(io::Error::from(io::ErrorKind::BrokenPipe)).context("writing");
        assert!(is_broken_pipe(&broken));
        assert!(!is_broken_pipe(&anyhow::anyhow!("something else")));
    }
}
