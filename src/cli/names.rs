//! Names of options in other programs, and ours for the same thing.

use clap::error::{ContextKind, ContextValue};

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
