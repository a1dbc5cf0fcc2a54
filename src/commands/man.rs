//! `fanfare man`.

use std::path::PathBuf;

use anyhow::{Context as _, Result};

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
    clap_mangen::generate_to(super::all_commands(), &args.dir).with_context(place)
}
