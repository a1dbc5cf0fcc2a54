//! `fanfare ops`: the dashboard's figures and actions at a shell.

mod act;
mod show;
mod table;

use anyhow::{Result, bail};
use clap::{Args as ClapArgs, Subcommand};
use uuid::Uuid;

use crate::{
    config::Config,
    start::{self, StartOptions},
};

/// The operators' commands. Tables on a terminal have colours; `--json` is for programs.
#[derive(Debug, ClapArgs)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
    /// Print JSON.
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show the queues: waiting work, lateness and throughput.
    Queues,
    /// Finds rows, newest first.
    Work(Filter),
    /// Show the history of a row.
    Story {
        /// The row.
        id: i64,
        /// post, delivery or copy.
        #[arg(long, default_value = "post")]
        kind: String,
    },
    /// The worker processes.
    Fleet,
    /// Show the state of each platform, and the pauses.
    Platforms,
    /// Show webhooks whose deliveries fail.
    Webhooks,
    /// Stops a worker from taking more work; with --undo lets it work again.
    Drain {
        /// Its name, as `fanfare ops fleet` shows it.
        worker: String,
        /// Let it work again.
        #[arg(long)]
        undo: bool,
        #[command(flatten)]
        why: ActionArgs,
    },
    /// Pauses publishing.
    Pause {
        /// all, platform:NAME or account:NUMBER.
        target: String,
        #[command(flatten)]
        why: ActionArgs,
    },
    /// Resumes publishing.
    Resume {
        /// all, platform:NAME or account:NUMBER.
        target: String,
        #[command(flatten)]
        why: ActionArgs,
    },
    /// Sends failed posts again, within ten seconds; without --yes shows which.
    Retry {
        /// The posts; without any, those that the filters find.
        ids: Vec<i64>,
        #[command(flatten)]
        filter: Filter,
        /// A post that may be public already and is to be sent all the same; once for each.
        #[arg(long = "accept-risk-of", value_name = "ID")]
        risky: Vec<i64>,
        #[command(flatten)]
        why: ActionArgs,
    },
    /// Sends failed deliveries of a webhook again, within ten seconds; without --yes shows which.
    Replay {
        /// The webhook.
        webhook: Uuid,
        #[command(flatten)]
        why: ActionArgs,
    },
    /// Show the audit log, newest first.
    Audit {
        /// Entries below this number.
        #[arg(long)]
        before: Option<i64>,
    },
}

/// The reason for an action, and its confirmation.
#[derive(Debug, ClapArgs)]
struct ActionArgs {
    /// Reason, for the audit log.
    #[arg(long)]
    reason: Option<String>,
    /// Do it; without this it is only shown what would be done.
    #[arg(long)]
    yes: bool,
}

/// The rows to select.
#[derive(Debug, ClapArgs)]
struct Filter {
    /// post, delivery or copy.
    #[arg(long)]
    kind: Option<String>,
    /// One row.
    #[arg(long)]
    id: Option<i64>,
    /// Its status.
    #[arg(long)]
    status: Option<String>,
    /// Platform of a post.
    #[arg(long)]
    platform: Option<String>,
    /// What can be found out at the platform of a post after a lost answer: key, handle, search or blind.
    #[arg(long)]
    class: Option<String>,
    /// Account of a post.
    #[arg(long)]
    account: Option<i64>,
    /// The workspace.
    #[arg(long)]
    workspace: Option<Uuid>,
    /// Code of the error.
    #[arg(long)]
    error: Option<String>,
    /// `next` of the page before.
    #[arg(long)]
    cursor: Option<i64>,
}

/// Runs the command.
///
/// # Errors
/// The command is wrong, or the database failed.
pub async fn run(config: Config, args: Args) -> Result<()> {
    crate::init_log(&config)?;
    // A missing database must not look like an idle service.
    if let Some(file) = config.database_file().filter(|file| !file.exists()) {
        bail!(
            "there is no database at {}; go to the directory that the service runs in, or set FANFARE_DATA_DIR or \
             FANFARE_DATABASE_URL as it has them",
            file.display()
        );
    }
    let way = StartOptions { listen: config.listen, migrate: false, simulator: None };
    let cx = start::domain(&config, way).await?;
    let json = args.json;
    match args.command {
        Command::Queues => show::queues(&cx, json).await,
        Command::Work(filter) => show::work(&cx, &filter.query()?, json).await,
        Command::Story { id, kind } => show::story(&cx, &kind, id, json).await,
        Command::Fleet => show::fleet(&cx, json).await,
        Command::Platforms => show::platforms(&cx, json).await,
        Command::Webhooks => show::webhooks(&cx, json).await,
        Command::Audit { before } => show::audit(&cx, before, json).await,
        other => Box::pin(act::run(&cx, other, json)).await,
    }
}
