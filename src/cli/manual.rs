//! Manual pages and completion scripts, generated from the declaration of the command line.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use clap::CommandFactory;
use clap_complete::Shell;

use super::Cli;
use crate::util::text::Shown as _;

/// Writes the completion script for a shell.
pub fn completions(shell: Shell, out: &mut impl Write) -> Result<()> {
    // Into memory first: the generator panics on a closed pipe.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "zoothera", &mut script);
    Ok(out.write_all(&script)?)
}

/// Writes the program's manual page.
pub fn page(out: &mut impl Write) -> Result<()> {
    Ok(clap_mangen::Man::new(Cli::command()).render(out)?)
}

/// Writes the pages of the program and all its commands to a folder: `zoothera.1`, `zoothera-bench.1` and so on.
pub fn pages(folder: &Path) -> Result<()> {
    let written = std::fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(Cli::command(), folder));
    written.with_context(|| format!("cannot write the manual pages to {}", folder.shown()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn man_page_and_completions_list_every_command() {
        let mut texts = vec![Vec::new()];
        page(&mut texts[0]).expect("writing to memory succeeds");
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish, Shell::PowerShell] {
            let mut text = Vec::new();
            completions(shell, &mut text).expect("writing to memory succeeds");
            texts.push(text);
        }
        for command in Cli::command().get_subcommands() {
            // The page escapes hyphens with a backslash.
            let name = command.get_name().replace('-', "");
            for text in &texts {
                let text = String::from_utf8_lossy(text).replace(['-', '\\'], "");
                assert!(text.contains(&name), "{name}");
            }
        }
    }
}
