//! `fanfare`: reads its configuration and runs a command.

use std::process::ExitCode;

use clap::Parser;
use fanfare::commands::Cli;
use tokio::runtime::Builder;

/// A worker allocates and frees all the time, in many threads: this one costs it a sixth less processor time a post than
/// the system's (`make bench`).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// After so many tasks a thread looks whether a database or a network has answered. Hundreds of posts are ready at once when
/// a group of them has been written, and whoever waits for an answer would wait for all of them.
const GLANCE: u32 = 16;

fn main() -> ExitCode {
    // Files that the process makes are its owner's alone: the database, media, keys.
    #[cfg(unix)]
    rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
    let runtime = match Builder::new_multi_thread().enable_all().event_interval(GLANCE).build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    };
    let arguments: Vec<_> = std::env::args_os().collect();
    if let Some(code) = runtime.block_on(fanfare_cli::run(&arguments)) {
        return code;
    }
    let cli = Cli::parse();
    match runtime.block_on(cli.run()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            for broken in error.downcast_ref().map_or(&[][..], fanfare_domain::Error::violations) {
                eprintln!("{}", broken.remedy);
            }
            ExitCode::FAILURE
        }
    }
}
