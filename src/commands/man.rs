//! `fanfare man`.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap_mangen::Man;

/// The arguments.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The directory for the pages, which is made if there is none; for example ~/.local/share/man/man1.
    dir: PathBuf,
}

/// Writes the pages: `fanfare.1`, `fanfare-posts-create.1` and so on.
///
/// # Errors
/// The directory cannot be written.
pub fn run(args: &Args) -> Result<()> {
    let place = || args.dir.display().to_string();
    std::fs::create_dir_all(&args.dir).with_context(place)?;
    let mut commands = super::all_commands().disable_help_subcommand(true);
    commands.build();
    write_pages(&commands, &fanfare_cli::today(), &args.dir).with_context(place)
}

/// Writes the page of a command and those of its subcommands.
fn write_pages(command: &clap::Command, date: &str, dir: &Path) -> std::io::Result<()> {
    let shown = command.get_subcommands().filter(|inner| !inner.is_hide_set());
    for inner in shown {
        write_pages(inner, date, dir)?;
    }
    let page = Man::new(command.clone())
        .date(date)
        .source(concat!("Fanfare ", env!("CARGO_PKG_VERSION")))
        .manual("Fanfare");
    page.generate_to(dir).map(drop)
}
