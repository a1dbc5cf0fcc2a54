//! `fanfare key`: creates or revokes an API key.

use anyhow::{Result, bail};
use fanfare_core::{Domain, access::Scope};
use fanfare_entities::WorkspaceId;
use fanfare_ops::ops::audit::{self, ShellAct};
use fanfare_people::{keys, users};
use secrecy::ExposeSecret;
use serde_json::json;
use uuid::Uuid;

use super::{say, shell_actor};
use crate::{
    config::Config,
    start::{self, StartOptions},
};

/// The commands for keys.
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// Creates a key and prints only it on standard output. A new address creates the user too.
    Create {
        /// The e-mail address of the user that the key acts as.
        #[arg(long)]
        email: String,
        /// The only workspace the key reaches.
        #[arg(long)]
        workspace: Option<Uuid>,
        /// The scopes, separated by commas; all but the billing scopes by default.
        #[arg(long, value_delimiter = ',')]
        scopes: Vec<String>,
        /// Name for people.
        #[arg(long, default_value = "key")]
        name: String,
    },
    /// Revokes the key with this prefix (`fan_` and 8 characters).
    Revoke {
        /// The prefix.
        prefix: String,
    },
}

/// Runs the command.
///
/// # Errors
/// An unknown scope, or a workspace that the user is not a member of.
pub async fn run(config: Config, command: Command) -> Result<()> {
    crate::init_log(&config)?;
    let way =
        StartOptions { listen: config.listen, migrate: config.is_embedded(), simulator: None };
    let cx = start::domain(&config, way).await?;
    let entry = entry(&command);
    audit::record(&cx, &shell_actor(), entry, carry_out(&cx, command)).await
}

/// Returns the entry of the audit log: a key acts in its owner's name.
fn entry(command: &Command) -> ShellAct {
    match command {
        Command::Create { email, workspace, scopes, name } => ShellAct {
            action: "key",
            target: format!("person:{}", email.trim().to_lowercase()),
            details: json!({"name": name, "workspace": workspace, "scopes": scopes}),
        },
        Command::Revoke { prefix } => ShellAct {
            action: "key_revoked",
            target: format!("key:{}", prefix.get(..12).unwrap_or(prefix)),
            details: json!({}),
        },
    }
}

async fn carry_out(cx: &Domain, command: Command) -> Result<()> {
    match command {
        Command::Create { email, workspace, scopes, name } => {
            let scopes = parse(&scopes)?;
            let user_id = users::find_or_create(cx, &email).await?;
            let workspace_id = workspace.map(WorkspaceId);
            let new = keys::NewKey { user_id, workspace_id, name, scopes };
            say(keys::create(cx, new).await?.expose_secret());
        }
        Command::Revoke { prefix } => match keys::revoke(cx, &prefix).await? {
            0 => bail!("there is no live key with the prefix {prefix}"),
            count => say(format_args!("revoked: {count}")),
        },
    }
    Ok(())
}

fn parse(names: &[String]) -> Result<Vec<Scope>> {
    if names.is_empty() {
        return Ok(Scope::default_set());
    }
    let known = || Scope::ALL.map(Scope::as_str).join(", ");
    let scope = |name: &String| {
        Scope::named(name).ok_or_else(|| {
            anyhow::anyhow!("there is no scope {name:?}; the scopes are {}", known())
        })
    };
    names.iter().map(scope).collect()
}
