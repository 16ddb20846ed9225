//! Numbers with `k`, `M` or `G` in arguments: `10k` and `2M` wherever an option takes a number.
//!
//! The words are rewritten before the parser reads them, so that every option is covered without a parser of its own.
//! Options that count millions take `2M` as two million, which is 2.

use std::ffi::OsString;

use clap::{Arg, Command};

use crate::util::quantity::in_digits;

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
