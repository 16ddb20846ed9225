//! Arguments of a command from inside the program, so that a command can be composed of others, and numbers with a
//! suffix.

use std::any::TypeId;
use std::ffi::OsString;

use anyhow::Result;
use clap::Arg;

/// Options whose unit is a million.
const IN_MILLIONS: [&str; 6] = ["millions", "every", "checkpoint-every", "step-every", "warm-up", "block"];
/// Options whose unit is not a number of things.
const MEASURES: [&str; 8] = ["memory", "disk", "hash", "hours", "minutes", "movetime", "time", "score-unit"];

/// Parses words as the arguments of a command, with its defaults.
///
/// # Errors
/// Fails as the command line would.
pub fn parsed<A: clap::Args>(words: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> Result<A> {
    let command = A::augment_args(clap::Command::new("").no_binary_name(true));
    Ok(A::from_arg_matches(&command.try_get_matches_from(words)?)?)
}

/// The number in digits, if the option takes a number and the text is one with `k`, `M` or `G`. Options that count
/// millions take `2M` as two million, which is 2.
pub fn in_digits(arg: &Arg, text: &str) -> Option<String> {
    let name = arg.get_long().unwrap_or("");
    if !takes_number(arg) || MEASURES.contains(&name) {
        return None;
    }
    let unit = text.chars().last()?;
    let factor = match unit {
        'k' | 'K' => 1e3,
        'm' | 'M' => 1e6,
        'g' | 'G' => 1e9,
        _ => return None,
    };
    let digits = &text[..text.len() - 1];
    if !digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return None;
    }
    let value = digits.parse::<f64>().ok()? * factor;
    Some(if IN_MILLIONS.contains(&name) { (value / 1e6).to_string() } else { value.to_string() })
}

/// Whether the values of an option are numbers.
fn takes_number(arg: &Arg) -> bool {
    let found = arg.get_value_parser().type_id();
    [
        TypeId::of::<u16>(),
        TypeId::of::<u32>(),
        TypeId::of::<u64>(),
        TypeId::of::<usize>(),
        TypeId::of::<i16>(),
        TypeId::of::<i32>(),
        TypeId::of::<i64>(),
        TypeId::of::<f32>(),
        TypeId::of::<f64>(),
    ]
    .iter()
    .any(|number| found == *number)
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
