//! `fanfare completions`.

use std::io::Write;

use anyhow::Result;
use clap_complete::Shell;

/// The arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = HOW)]
pub struct Args {
    /// The shell.
    shell: Shell,
}

const HOW: &str = "\
bash:  source <(fanfare completions bash)
zsh:   fanfare completions zsh > \"${fpath[1]}/_fanfare\"
fish:  fanfare completions fish > ~/.config/fish/completions/fanfare.fish";

/// Prints the script.
///
/// # Errors
/// Standard output is closed.
pub fn run(args: &Args) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut super::all_commands(), "fanfare", &mut script);
    std::io::stdout().write_all(&script)?;
    Ok(())
}
