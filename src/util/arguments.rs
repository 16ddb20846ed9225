//! Arguments of a command from inside the program, so that a command can be composed of others.

use std::ffi::OsString;

use anyhow::Result;

/// Parses words as the arguments of a command, with its defaults.
///
/// # Errors
/// Fails as the command line would.
pub fn parsed<A: clap::Args>(words: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> Result<A> {
    let command = A::augment_args(clap::Command::new("").no_binary_name(true));
    Ok(A::from_arg_matches(&command.try_get_matches_from(words)?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(clap::Args, Debug)]
    struct Two {
        #[arg(long, default_value_t = 7)]
        a: u32,
        #[arg(long)]
        b: Vec<String>,
    }

    #[test]
    fn words_are_parsed_with_defaults_and_errors() {
        let two: Two = parsed(["--b", "x", "--b=y"]).expect("arguments");
        assert_eq!((two.a, two.b), (7, vec!["x".to_owned(), "y".to_owned()]));
        let error = parsed::<Two>(["--a", "x"]).expect_err("no number").to_string();
        assert!(error.contains("--a"), "{error}");
    }
}
