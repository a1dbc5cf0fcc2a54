//! `fanfare`: reads its configuration and runs a command.

use std::process::ExitCode;

use fanfare::commands::Cli;
use tokio::runtime::Builder;

/// Workers allocate much, in many threads: with this allocator a post costs a sixth less processor time (`make bench`).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// After this many tasks a thread polls for I/O events. Hundreds of tasks become ready at once when a batch has been
/// written, and replies of the database or a network would otherwise wait for all of them.
const EVENT_INTERVAL: u32 = 16;

fn main() -> ExitCode {
    // Files of this process are private: the database, media, keys.
    #[cfg(unix)]
    rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
    let runtime =
        match Builder::new_multi_thread().enable_all().event_interval(EVENT_INTERVAL).build() {
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
    let cli = Cli::read();
    match runtime.block_on(cli.run()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            for broken in error.downcast_ref().map_or(&[][..], fanfare_core::Error::violations) {
                eprintln!("{}", broken.remedy);
            }
            ExitCode::FAILURE
        }
    }
}
