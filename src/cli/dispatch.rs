//! Runs the command of the command line and turns errors into a message and an exit code.

use std::borrow::Cow;
use std::io::{self, Stderr, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::{CommandFactory as _, Parser};

use super::{
    AnalyseArgs, BookCommand, Cli, ColourChoice, Command, EpdArgs, EvalArgs, NetCommand, PerftArgs, PlayArgs,
    TablesCommand, review,
};
#[cfg(feature = "full")]
use super::{manual, training};
use crate::board::{CastlingMode, Color};
use crate::book::{self, Book, BuildOptions};
use crate::nnue::{Kernel, Network};
use crate::notation::{position_from_fen, position_in_mode};
use crate::tools::analyse::AnalyseOptions;
use crate::tools::bench::BenchOptions;
use crate::tools::epd::EpdOptions;
use crate::tools::net::Compression;
use crate::tools::{self, analyse, bench, cpu, epd, eval, genfens, net, perft, play, subjects, tables};
use crate::uci;
use crate::util::console::{Printable, use_colour};
use crate::util::identity::check_distinct;
use crate::util::interrupt::{self, Interrupted};
use crate::util::quantity::counted;
use crate::util::text::printable;
use crate::util::{reason, rng};
#[cfg(feature = "full")]
use crate::{matches, train};

/// Default search time of `analyse`.
const ANALYSE_TIME: Duration = Duration::from_secs(5);
/// Default search time of `epd` per position.
const EPD_TIME: Duration = Duration::from_secs(1);

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
            let _ = writeln!(messages(), "error: {}", reason::chain(&error));
            if error.is::<Interrupted>() { interrupt::EXIT_CODE } else { 1 }
        }
    }
}

/// Standard error for messages. Messages can quote foreign text, so control characters are replaced.
pub(super) fn messages() -> Printable<Stderr> {
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
        return run_genfens(first);
    }
    let words = uci_words();
    if words.contains(&verb) || (quoted && matches!(verb, "bench" | "eval" | "perft" | "cpu")) {
        return uci::run_with_commands(&group_commands(arguments, &words));
    }
    let command = Cli::try_parse().unwrap_or_else(|error| print_and_exit(&error)).command;
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
        // Escapes in foreign text are indistinguishable from the colour codes, so such text is printed without colour.
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
        write!(io::stderr(), "{}", coloured(use_colour(&io::stderr())))
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

fn run_command(command: Command) -> Result<()> {
    let (out, err) = (&mut io::stdout(), &mut messages());
    match command {
        Command::Bench(args) => {
            bench::run(BenchOptions::from_words(&args.words)?, tools::load_network(args.net.as_deref())?, out, err)?;
            Ok(())
        }
        Command::Perft(args) => run_perft(&args),
        Command::Eval(args) => run_eval(&args),
        Command::Analyse(args) => run_analyse(&args),
        Command::Review(args) => review::review(*args),
        Command::Explain(args) => review::explain(&args),
        Command::Play(args) => run_play(args),
        Command::Book { command } => run_book(&command),
        Command::Epd(args) => run_epd(args),
        Command::Net(args) => match args.command {
            NetCommand::Info { file } => net::info(&file, out),
            NetCommand::Verify { file } => net::verify(&file, out),
            NetCommand::Export { file, net, compress, decompress } => {
                let compression = match (compress, decompress) {
                    (true, _) => Compression::Leb128,
                    (_, true) => Compression::None,
                    _ => Compression::AsRead,
                };
                let inputs: Vec<&Path> = net.as_deref().into_iter().collect();
                check_distinct(&[&file], &inputs)?;
                let network = tools::load_network(net.as_deref())?;
                Ok(writeln!(out, "{}", net::export(&network, compression, &file)?)?)
            }
        },
        Command::Tables { command: TablesCommand::Verify { paths } } => tables::verify(&paths, out, err),
        #[cfg(feature = "full")]
        Command::NetMaterial { file, no_squares } => net::write(&file, &train::material_net(!no_squares)),
        #[cfg(feature = "full")]
        Command::Match(args) => matches::run::run(&args, out, err),
        #[cfg(feature = "full")]
        Command::Gpu(args) => train::gpu::run(&args, out),
        #[cfg(feature = "full")]
        Command::Train(args) => train::run::run(*args),
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
        Command::Genfens(args) => run_genfens(&args.words.join(" ")),
        #[cfg(feature = "full")]
        Command::Completions { shell } => manual::completions(shell, out),
        #[cfg(feature = "full")]
        Command::Man { to: None } => manual::page(out),
        #[cfg(feature = "full")]
        Command::Man { to: Some(folder) } => manual::pages(&folder),
    }
}

fn run_genfens(text: &str) -> Result<()> {
    let request = genfens::Request::parse(text)?;
    genfens::run(&request, Network::embedded(), &mut io::stdout())
}

fn run_perft(args: &PerftArgs) -> Result<()> {
    let out = &mut io::stdout();
    let mode = CastlingMode::from_chess960(args.chess960);
    if let Some(suite) = &args.suite {
        return perft::suite(suite, args.max_depth, mode, out);
    }
    let mut position = position_in_mode(args.fen.as_deref().unwrap_or(""), mode)?;
    let depth = args.depth.context("a depth is missing")?;
    perft::run(&mut position, depth, args.divide, out)?;
    Ok(())
}

fn run_eval(args: &EvalArgs) -> Result<()> {
    let out = &mut io::stdout();
    let network = tools::load_network(args.net.as_deref())?;
    let Some(file) = &args.file else {
        let position = position_from_fen(&args.fen.join(" "))?;
        return Ok(write!(out, "{}", eval::explain(&position, &network))?);
    };
    check_distinct(&[Path::new("-")], &[file])?;
    let kernel = args.kernel.unwrap_or_else(Kernel::active);
    if !kernel.is_available() {
        bail!("this processor cannot run the kernel {kernel}");
    }
    eval::raw(file, network, kernel, &mut io::BufWriter::new(out), &mut messages())
}

/// Width in columns of the terminal on standard output; `None` if it is not a terminal or the width is unknown.
fn terminal_columns() -> Option<usize> {
    #[cfg(any(unix, windows))]
    return terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| width.0.into());
    #[cfg(not(any(unix, windows)))]
    return None;
}

fn run_analyse(args: &AnalyseArgs) -> Result<()> {
    let mut problems = Vec::new();
    let subjects = subjects::read(&args.positions, &mut problems)?;
    print_problems(&problems)?;
    let columns = terminal_columns();
    let options = AnalyseOptions {
        subjects,
        limits: args.limits.limits(ANALYSE_TIME),
        multi_pv: usize::from(args.multipv),
        threads: usize::from(args.engine.threads),
        hash_mb: args.engine.hash as usize,
        syzygy: args.engine.syzygy.clone(),
        hash_file: args.hash_file.clone(),
        json: args.json,
        width: columns,
    };
    analyse::run(options, tools::load_network(args.engine.net.as_deref())?, Box::new(io::stdout()), &mut messages())?;
    fail_with_problems(&problems)
}

/// Prints what was skipped in files of positions and games.
fn print_problems(problems: &[String]) -> Result<()> {
    for problem in problems {
        writeln!(messages(), "skipped: {problem}")?;
    }
    Ok(())
}

/// Fails if anything was skipped.
fn fail_with_problems(problems: &[String]) -> Result<()> {
    if !problems.is_empty() {
        let count = counted(problems.len(), "game or position was", "games or positions were");
        bail!("{count} skipped or cut");
    }
    Ok(())
}

fn run_play(args: PlayArgs) -> Result<()> {
    let seed = args.seed.unwrap_or_else(|| rng::arbitrary() >> 33);
    let colour = match args.colour {
        ColourChoice::White => Color::White,
        ColourChoice::Black => Color::Black,
        ColourChoice::Random => Color::from_white(rng::SplitMix64::new(seed).below(2) == 0),
    };
    let options = play::PlayOptions {
        elo: args.elo,
        seed,
        colour,
        start: position_from_fen(args.fen.as_deref().unwrap_or(""))?,
        pgn: args.pgn,
    };
    let network = tools::load_network(args.net.as_deref())?;
    play::run(options, network, io::stdin().lock(), &mut io::stdout())
}

fn run_book(command: &BookCommand) -> Result<()> {
    let (out, err) = (&mut io::stdout(), &mut messages());
    match command {
        BookCommand::Build { files, out: file, max_ply, min_games } => {
            let options = BuildOptions { max_ply: usize::from(*max_ply), min_games: *min_games };
            book::run::make(files, file, options, out, err)
        }
        BookCommand::Show { position, book } => {
            let book = Book::open(book)?;
            let mut problems = Vec::new();
            for subject in subjects::read(position, &mut problems)? {
                book::run::show(&book, &subject.position, out)?;
            }
            print_problems(&problems)?;
            fail_with_problems(&problems)
        }
    }
}

fn run_epd(args: EpdArgs) -> Result<()> {
    let suites: Vec<&Path> = args.files.iter().map(PathBuf::as_path).collect();
    check_distinct(&[Path::new("-")], &suites)?;
    let network = tools::load_network(args.engine.net.as_deref())?;
    let options = EpdOptions {
        limits: args.limits.limits(EPD_TIME),
        threads: usize::from(args.engine.threads),
        hash_mb: args.engine.hash as usize,
        syzygy: args.engine.syzygy,
        json: args.json,
        files: args.files,
    };
    epd::run(&options, network, &mut io::stdout(), &mut messages())?;
    Ok(())
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
