//! Arguments as people type them: names of options in other programs, with ours for the same thing, and numbers with a
//! suffix.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue};
use clap::{Arg, Command};

use crate::util::quantity::in_digits;

/// Names in bullet, nnue-pytorch, other trainers and engines, with a hint to our option.
const OTHER_NAMES: [(&str, &str); 16] = [
    ("--lr", "the learning rate is --rate"),
    ("--learning-rate", "the learning rate is --rate"),
    ("--wdl", "the weight of the score is --lambda, which is 1 minus the weight of the game result"),
    ("--wdl-proportion", "the weight of the score is --lambda, which is 1 minus the weight of the game result"),
    ("--start-lambda", "the weight of the score is --lambda, and --lambda-end at the end"),
    ("--end-lambda", "the weight of the score at the end is --lambda-end"),
    ("--epochs", "the length of a run is --millions, in millions of positions shown; repetitions count"),
    ("--max-epochs", "the length of a run is --millions, in millions of positions shown; repetitions count"),
    (
        "--superbatches",
        "the length of a run is --millions: bullet's superbatch of 6104 batches of 16384 is 100 million",
    ),
    ("--batches", "the length of a run is --millions, in millions of positions shown"),
    ("--batch-size", "the number of positions in a step is --batch"),
    ("--gamma", "the factor of the step schedule is --step-factor"),
    ("--eval-scale", "the score at which the expected result is 73 % is --scale"),
    ("--net-dir", "the net file is --out, with its folder; checkpoint, log and plot are written next to it"),
    ("--save-rate", "a checkpoint is written every --checkpoint-every million positions"),
    ("--resume-from-model", "weights of a net or checkpoint are taken with --init; --resume continues a run"),
];

/// Hint for an option that the parser rejected, if another program has it.
pub(super) fn hint(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let name = given.split('=').next()?.trim().replace('_', "-");
    let found = OTHER_NAMES.iter().find(|(other, _)| *other == name);
    found.map(|(_, hint)| format!("hint: {hint}\n"))
}

// Numbers with `k`, `M` or `G` in arguments: `10k` and `2M` wherever an option takes a number.
//
// The words are rewritten before the parser reads them, so that every option is covered without a parser of its own.
// Options that count millions take `2M` as two million, which is 2.

/// Replaces numbers with a suffix in the arguments of a command line, whose first word is the program.
pub(super) fn expanded(command: &Command, words: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut words = words.into_iter();
    let mut out: Vec<OsString> = words.next().into_iter().collect();
    let mut command = command;
    let mut option: Option<&Arg> = None;
    for word in words {
        let text = word.to_str().unwrap_or("");
        if let Some(arg) = option.take() {
            out.push(in_digits(arg, text).map_or(word.clone(), OsString::from));
            continue;
        }
        if let Some((name, value)) = text.strip_prefix("--").and_then(|rest| rest.split_once('=')) {
            let value = find(command, name).and_then(|arg| in_digits(arg, value));
            out.push(value.map_or(word.clone(), |value| format!("--{name}={value}").into()));
            continue;
        }
        match text.strip_prefix("--") {
            Some(name) => option = find(command, name).filter(|arg| arg.get_action().takes_values()),
            None => command = command.find_subcommand(text).unwrap_or(command),
        }
        out.push(word);
    }
    out
}

/// The option of a command with this long name.
fn find<'a>(command: &'a Command, name: &str) -> Option<&'a Arg> {
    let has_name =
        |arg: &&Arg| arg.get_long() == Some(name) || arg.get_all_aliases().unwrap_or_default().contains(&name);
    command.get_arguments().find(has_name)
}

#[cfg(all(test, feature = "full"))]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::Parser as _;

    #[test]
    fn names_of_other_trainers_get_a_hint() {
        for (line, expected) in [
            ("train a.bin --lr 0.001", "--rate"),
            ("train a.bin --wdl 0.3", "--lambda"),
            ("train a.bin --epochs 5", "--millions"),
            ("train a.bin --batch-size 16384", "--batch"),
            ("train a.bin --batch_size=16384", "--batch"),
            ("train a.bin --superbatches 40", "--millions"),
            ("train a.bin --net-dir nets", "--out"),
        ] {
            let error = Cli::try_parse_from(["zoothera"].into_iter().chain(line.split(' '))).expect_err(line);
            assert!(hint(&error).is_some_and(|hint| hint.contains(expected)), "{line}: {error}");
        }
        // The hints name options of ours.
        for (_, hint) in OTHER_NAMES {
            let ours = hint.split("--").nth(1).expect("an option").split([' ', ',', ':', ';']).next().expect("a name");
            let words = ["zoothera", "train", "a.bin", &format!("--{ours}")];
            let known = Cli::try_parse_from(words);
            assert!(
                known.map_or_else(|error| error.kind() != clap::error::ErrorKind::UnknownArgument, |_| true),
                "{ours}"
            );
        }
        let error = Cli::try_parse_from(["zoothera", "train", "--xyz"]).expect_err("an unknown option");
        assert_eq!(hint(&error), None);
    }
}

#[cfg(all(test, feature = "full"))]
mod numbers_tests {
    use super::*;
    use clap::CommandFactory as _;

    fn line(words: &str) -> String {
        let words = std::iter::once("zoothera").chain(words.split(' ')).map(OsString::from);
        let out = expanded(&super::super::Cli::command(), words);
        let out: Vec<_> = out.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
        out.join(" ")
    }

    #[test]
    fn numbers_with_a_suffix_are_written_in_digits() {
        for (given, expected) in [
            ("train a.bin --batch 16k --millions 2M", "train a.bin --batch 16000 --millions 2"),
            ("train a.bin --every=500k --rate 0.001", "train a.bin --every=0.5 --rate 0.001"),
            ("datagen selfplay --positions 1.5M --nodes 5k", "datagen selfplay --positions 1500000 --nodes 5000"),
            ("distill --block 1.5M --match-nodes 10k", "distill --block 1.5 --match-nodes 10000"),
            ("match --games 1k --net 2k", "match --games 1000 --net 2k"),
            ("data convert --limit 10k 5k 6k", "data convert --limit 10000 5k 6k"),
            // Not numbers of things, or not numbers.
            ("train a.bin --memory 4G --out 10k", "train a.bin --memory 4G --out 10k"),
            ("train a.bin --batch xk --seed 1e3k", "train a.bin --batch xk --seed 1e3k"),
            ("eval --unknown 5k", "eval --unknown 5k"),
        ] {
            assert_eq!(line(given), expected);
        }
    }
}
