//! The commands, one file each.

mod admin;
mod api;
mod billing;
mod completions;
mod demo;
mod doctor;
mod health;
mod key;
mod man;
mod media;
mod migrate;
mod ops;
mod restore;
mod sandbox;
mod up;
mod worker;

use anyhow::Result;
use clap::{CommandFactory, Parser, Subcommand, error::ErrorKind};
use tokio_util::sync::CancellationToken;

use crate::config::{Config, VARIABLES};

/// Publishes posts on social networks at their time, once, and proves what was sent.
#[derive(Debug, Parser)]
#[command(name = "fanfare", version, after_help = help())]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Everything in one process: API, workers, sandbox and pages.
    #[command(after_long_help = variables())]
    Up,
    /// The API alone; needs PostgreSQL and Redis that workers share.
    Api,
    /// Workers alone.
    Worker(worker::Args),
    /// Brings the database's schema up to date.
    Migrate,
    /// The simulated networks alone.
    Sandbox(sandbox::Args),
    /// Connects an account on every simulated network and shows posts going out.
    Demo,
    /// Looks at everything Fanfare needs, and says what to do about what is missing.
    Doctor,
    /// Asks the process of this machine and these variables whether it is alive; for a container's health check.
    Health,
    /// Makes or revokes an API key.
    Key {
        #[command(subcommand)]
        command: key::Command,
    },
    /// Sends files to a running service.
    Media {
        #[command(subcommand)]
        command: media::Command,
    },
    /// Sets up operators' log-ins, people, workspaces, memberships, brands and plans.
    Admin {
        #[command(subcommand)]
        command: admin::Command,
    },
    /// Sets up what is sold at Stripe.
    Billing {
        #[command(subcommand)]
        command: billing::Command,
    },
    /// Shows and does what the dashboard under /admin does, on the database itself.
    Ops(ops::Args),
    /// Prints what a shell needs to complete commands.
    #[command(visible_alias = "completion")]
    Completions(completions::Args),
    /// Writes man pages, one a command.
    Man(man::Args),
}

impl Cli {
    /// Reads the arguments; ends the process with a message if they are no command.
    #[must_use]
    pub fn read() -> Self {
        Self::try_parse().unwrap_or_else(|error| {
            if error.kind() != ErrorKind::InvalidSubcommand {
                error.exit();
            }
            // The name may be near to one of a command of the API, which this parser does not know.
            fanfare_cli::with_near_names(error, &all_commands(), "").exit()
        })
    }

    /// Runs the command.
    ///
    /// # Errors
    /// The error, with a message for the operator.
    pub async fn run(self) -> Result<()> {
        keep_memory_private();
        match self.command {
            Some(Command::Completions(args)) => return completions::run(&args),
            Some(Command::Man(args)) => return man::run(&args),
            _ => {}
        }
        let config = Config::from_env()?;
        if self.command.is_none() {
            eprintln!(
                "Without a command `fanfare` starts the whole service, as `fanfare up` does. For help: fanfare --help."
            );
        }
        match self.command.unwrap_or(Command::Up) {
            Command::Up => up::run(config).await,
            Command::Api => api::run(config).await,
            Command::Worker(args) => worker::run(config, args).await,
            Command::Migrate => migrate::run(config).await,
            Command::Sandbox(args) => sandbox::run(config, args).await,
            Command::Demo => demo::run(config).await,
            Command::Doctor => doctor::run(config).await,
            Command::Health => health::run(config).await,
            Command::Key { command } => key::run(config, command).await,
            Command::Media { command } => media::run(command).await,
            Command::Admin { command } => Box::pin(admin::run(config, command)).await,
            Command::Billing { command } => billing::run(config, command).await,
            Command::Ops(args) => Box::pin(ops::run(config, args)).await,
            Command::Completions(args) => completions::run(&args),
            Command::Man(args) => man::run(&args),
        }
    }
}

/// Returns the command tree: the commands of this binary and those of the API.
fn all_commands() -> clap::Command {
    fanfare_cli::with_commands(Cli::command())
}

/// Returns the end of the help text.
fn help() -> String {
    let chapters = fanfare_cli::chapters().join(", ");
    format!(
        "Without a command: up.\n\nCommands that speak to a running service:\n  login, logout, auth status, watch\n  \
         api METHOD PATH\n  {chapters}\nEach chapter shows its operations with --help, for example fanfare posts --help."
    )
}

/// The help text about the simulator.
const SIMULATOR: &str = "\
The simulated networks listen on a loopback port of their own. `fanfare sandbox --show` prints their address and the
secret of their control, which is sent as a bearer token; FANFARE_DATA_DIR/simulator.json holds both. Below /stripe
there is a simulated Stripe, which takes no money: POST /stripe/checkout/<cs_…>/pay pays, and POST /stripe/clock
with {\"advance\": \"31d\"} moves its time.";

/// Returns the list of variables for `--help`.
fn variables() -> String {
    let lines = VARIABLES.iter().map(|(name, doc)| format!("  {name}\n      {doc}"));
    format!("{SIMULATOR}\n\nEnvironment variables:\n{}", lines.collect::<Vec<_>>().join("\n"))
}

/// Returns a token that is cancelled by SIGTERM or Ctrl-C.
fn stop_on_signal() -> CancellationToken {
    let stop = CancellationToken::new();
    let stopped = stop.clone();
    tokio::spawn(async move {
        signalled().await;
        tracing::info!("stopping");
        stopped.cancel();
    });
    stop
}

#[cfg(unix)]
async fn signalled() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else {
        let _ = tokio::signal::ctrl_c().await;
        return;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = tokio::signal::ctrl_c() => {}
    }
}

#[cfg(not(unix))]
async fn signalled() {
    let _ = tokio::signal::ctrl_c().await;
}

/// Prints a line on standard output.
fn say(line: impl std::fmt::Display) {
    use std::io::Write;
    // A closed pipe is no error.
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// Returns the shell's user, for the audit log.
#[expect(clippy::disallowed_methods, reason = "the shell's user, which is no configuration")]
fn shell_actor() -> fanfare_ops::ops::Actor {
    let user = std::env::var("USER").or_else(|_| std::env::var("LOGNAME"));
    let user = user.unwrap_or_else(|_| "unknown".to_owned());
    let request_id = format!("shell_{}", uuid::Uuid::now_v7().simple());
    fanfare_ops::ops::Actor { name: format!("shell:{user}"), request_id }
}

/// Returns a unique name for this worker.
fn worker_name() -> String {
    let host = fanfare_workers::hostname();
    let unique = uuid::Uuid::now_v7().simple().to_string();
    format!("{host}-{}-{}", std::process::id(), &unique[unique.len() - 6..])
}

/// Prevents other processes of the same user, such as ffmpeg, from reading the memory and environment of this one,
/// which contain keys. This works on Linux only, and disables core dumps.
fn keep_memory_private() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        if let Err(error) = set_dumpable_behavior(DumpableBehavior::NotDumpable) {
            tracing::warn!(%error, "other processes of this user can read this one's memory");
        }
    }
}

#[cfg(test)]
mod every {
    #[test]
    fn all_commands_stand_in_one_tree() {
        let all = super::all_commands();
        all.clone().debug_assert();
        for path in [
            &["posts", "create"][..],
            &["media", "upload"],
            &["media", "list"],
            &["oauth", "clients", "list"],
        ] {
            let found = path.iter().try_fold(&all, |at, name| at.find_subcommand(name));
            assert!(found.is_some(), "{path:?}");
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #[test]
    fn the_memory_of_this_process_is_its_own() {
        super::keep_memory_private();
        let now = rustix::process::dumpable_behavior().expect("Linux tells");
        assert_eq!(now, rustix::process::DumpableBehavior::NotDumpable);
    }
}
