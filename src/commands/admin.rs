//! `fanfare admin`: operators, users, workspaces, memberships, brands and plans, and commands for use after a restore.

mod entries;
mod leaving;

use std::{
    io::{BufRead, IsTerminal},
    path::{Path, PathBuf},
    time::SystemTime,
};

use anyhow::{Context as _, Result, bail};
use clap::ValueEnum;
use fanfare_core::{
    Domain,
    access::{PlanTier, Role},
    logins, passwords,
};
use fanfare_entities::{BrandId, WorkspaceId};
use fanfare_ops::ops::{audit, operators};
use fanfare_people::{sign_in, signup, users};
use fanfare_publishing::brands::{self, voice::Voice};
use secrecy::{ExposeSecret, SecretString};
use uuid::Uuid;

use super::{say, shell_actor};
use crate::{
    config::Config,
    start::{self, StartOptions},
};

/// The administration commands. All except `create`, `password` and `workspace delete` print only the id on standard
/// output.
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// Creates an operator for the dashboard under /admin, or sets the operator's password. The password is asked for
    /// on a terminal, and read as one line from standard input otherwise.
    Create {
        /// Address of the operator.
        email: String,
        /// Make a password and print it, alone, on standard output.
        #[arg(long)]
        generate: bool,
    },
    /// Sets a user's password, and ends the user's sessions. The password is asked for on a terminal, and read as one
    /// line from standard input otherwise.
    #[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
    Password {
        /// Address of the person.
        #[arg(required = true)]
        email: Option<String>,
        /// Make a password and print it, alone, on standard output.
        #[arg(long)]
        generate: bool,
        #[command(subcommand)]
        command: Option<PasswordCommand>,
    },
    /// Finds a user.
    User {
        /// Address.
        email: String,
        /// Create the user if there is none.
        #[arg(long)]
        create: bool,
    },
    /// Makes a team workspace.
    #[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
    Workspace {
        /// Name for people.
        #[arg(required = true)]
        name: Option<String>,
        /// Address of its owner.
        #[arg(long, required = true)]
        owner: Option<String>,
        #[command(subcommand)]
        command: Option<WorkspaceCommand>,
    },
    /// Adds a user to a workspace, or changes the user's role.
    #[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
    Member {
        /// The workspace.
        #[arg(required = true)]
        workspace: Option<Uuid>,
        /// Address.
        #[arg(required = true)]
        email: Option<String>,
        /// The role.
        #[arg(required = true)]
        role: Option<RoleName>,
        #[command(subcommand)]
        command: Option<MemberCommand>,
    },
    /// Makes a brand; with a profile, gives one that there is another voice.
    Brand {
        /// The workspace.
        workspace: Uuid,
        /// Name for people; with a profile, a name or id of a brand that there may be.
        name: String,
        /// A JSON file with the brand's voice, or `-` for standard input: voice, tone, audience and positioning as
        /// texts, and lists of texts such as facts and never_say. docs/operations.md names all. It replaces the voice.
        #[arg(long)]
        profile: Option<PathBuf>,
    },
    /// Locks a membership to a brand; several locks add up.
    Lock {
        /// The workspace.
        workspace: Uuid,
        /// Address.
        email: String,
        /// The brand.
        brand: Uuid,
    },
    /// With an address alone: lets it try to log in again at once, as a person and as an operator, after too many
    /// attempts. With a workspace, an address and a brand: takes the lock of the membership to the brand away.
    Unlock {
        /// The address, or the workspace.
        address_or_workspace: String,
        /// Address of the member.
        #[arg(requires = "brand")]
        email: Option<String>,
        /// The brand.
        brand: Option<Uuid>,
    },
    /// After a restore: holds posts that may have gone out since the backup. Networks that can tell are asked once workers
    /// run; all other posts fail with outcome_unknown, so that a person decides. Nothing is sent by itself. Needs every worker stopped. docs/operations.md says when.
    Hold {
        /// Posts due up to this time, such as 2026-05-04T12:00:00Z; up to now if left out.
        #[arg(long, value_parser = humantime::parse_rfc3339)]
        until: Option<SystemTime>,
        /// Posts of any time.
        #[arg(long, conflicts_with = "until")]
        all: bool,
        /// Leave every post to a person, instead of asking the networks that can tell.
        #[arg(long)]
        without_asking: bool,
    },
    /// Closes every stored secret with FANFARE_MASTER_KEY, so that FANFARE_MASTER_KEY_OLD can be dropped.
    Rewrap,
    /// Creates a subscription as if the user had paid, on the simulated Stripe only; prints the user's id.
    Subscription {
        /// Address of the person.
        email: String,
        /// The plan.
        tier: TierName,
        /// True if it has the API add-on.
        #[arg(long, default_value_t = true, action = clap::ArgAction::Set)]
        addon: bool,
    },
    /// Sets a workspace's plan.
    Plan {
        /// The workspace.
        workspace: Uuid,
        /// The plan.
        tier: TierName,
        /// True if its API may be used.
        #[arg(long)]
        addon: Option<bool>,
    },
}

/// Further commands for workspaces.
#[derive(Debug, clap::Subcommand)]
pub enum WorkspaceCommand {
    /// Deletes a workspace with all that is in it, after 30 days in which its admins can stop it. Prints the deletion as
    /// JSON; the receipt is in `GET /api/v1/workspaces/{id}/deletion` of the person who owned it. Credits and the audit
    /// log keep their entries, without content.
    Delete {
        /// Its id, or its name.
        workspace: String,
        /// Begin at once: nothing stops it then.
        #[arg(long)]
        now: bool,
        /// Why, for the audit log.
        #[arg(long, required_unless_present = "dry_run")]
        reason: Option<String>,
        /// Print what would be removed, as JSON, and remove nothing.
        #[arg(long)]
        dry_run: bool,
    },
}

/// Further commands for members.
#[derive(Debug, clap::Subcommand)]
pub enum MemberCommand {
    /// Removes a user from a workspace, with the user's brand locks and keys for it.
    Remove {
        /// The workspace.
        workspace: Uuid,
        /// Address.
        email: String,
    },
}

/// Further commands for passwords.
#[derive(Debug, clap::Subcommand)]
pub enum PasswordCommand {
    /// Makes a new password and prints it, alone, on standard output. Ends the log-ins there are, and lets the address
    /// try again at once.
    Reset {
        /// Address.
        email: String,
        /// The password of an operator, for the dashboard under /admin.
        #[arg(long)]
        operator: bool,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum RoleName {
    /// Reads.
    Viewer,
    /// Edits content.
    Editor,
    /// Creates, schedules, connects.
    Publisher,
    /// Everything.
    Admin,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum TierName {
    /// The smallest.
    Starter,
    /// The next.
    Pro,
    /// The one after it.
    PowerUser,
    /// The largest.
    Agency,
}

/// Runs the command.
///
/// # Errors
/// A user, workspace or brand does not exist.
pub async fn run(config: Config, command: Command) -> Result<()> {
    crate::init_log(&config)?;
    let way =
        StartOptions { listen: config.listen, migrate: config.is_embedded(), simulator: None };
    let cx = start::domain(&config, way).await?;
    // Operators' log-ins and deletions have entries of their own, with what became of them.
    match entries::entry(&command) {
        Some(entry) => {
            audit::record(&cx, &shell_actor(), entry, Box::pin(carry_out(&cx, command))).await
        }
        None => carry_out(&cx, command).await,
    }
}

async fn carry_out(cx: &Domain, command: Command) -> Result<()> {
    match command {
        Command::Create { email, generate } => create(cx, &email, generate).await?,
        Command::Password { command: Some(PasswordCommand::Reset { email, operator }), .. } => {
            reset(cx, &email, operator).await?;
        }
        Command::Password { email, generate, command: None } => {
            set_password(cx, &email.unwrap_or_default(), generate).await?;
        }
        Command::User { email, create: true } => say(users::find_or_create(cx, &email).await?),
        Command::User { email, create: false } => say(users::by_email(cx, &email)
            .await
            .context("nobody was found; a new user is made with --create")?),
        Command::Workspace { command: Some(command), .. } => leaving::run(cx, command).await?,
        Command::Workspace { name, owner, command: None } => {
            let (Some(name), Some(owner)) = (name, owner) else {
                bail!("name the workspace and its owner");
            };
            let owner = users::find_or_create(cx, &owner).await?;
            say(users::create_workspace(cx, &name, owner).await?);
        }
        Command::Member { command: Some(MemberCommand::Remove { workspace, email }), .. } => {
            let person = users::by_email(cx, &email).await?;
            users::remove_member(cx, WorkspaceId(workspace), person).await?;
            say(person);
        }
        Command::Member { workspace, email, role, command: None } => {
            let (Some(workspace), Some(email), Some(role)) = (workspace, email, role) else {
                bail!("name the workspace, the address and the role");
            };
            let person = users::find_or_create(cx, &email).await?;
            users::set_member(cx, WorkspaceId(workspace), person, role.into()).await?;
            say(person);
        }
        Command::Unlock { address_or_workspace, email: Some(email), brand: Some(brand) } => {
            let workspace = address_or_workspace.parse().context("the workspace")?;
            let person = users::by_email(cx, &email).await?;
            users::unlock_from_brand(cx, WorkspaceId(workspace), person, BrandId(brand)).await?;
            say(brand);
        }
        Command::Unlock { address_or_workspace, .. } => {
            logins::unlock(cx, &address_or_workspace).await?;
            say(address_or_workspace);
        }
        Command::Brand { workspace, name, profile: None } => {
            say(users::create_brand(cx, WorkspaceId(workspace), &name).await?);
        }
        Command::Brand { workspace, name, profile: Some(file) } => {
            let voice = read_voice(&file)?;
            say(brands::voice::set_named(cx, WorkspaceId(workspace), &name, voice).await?);
        }
        Command::Lock { workspace, email, brand } => {
            let person = users::by_email(cx, &email).await?;
            users::lock_to_brand(cx, WorkspaceId(workspace), person, BrandId(brand)).await?;
            say(brand);
        }
        Command::Hold { until, all, without_asking } => {
            super::restore::hold(cx, until, (all, !without_asking)).await?;
        }
        Command::Rewrap => super::restore::rewrap(cx).await?,
        Command::Subscription { email, tier, addon } => {
            say(signup::create_paid(cx, &email, tier.into(), addon).await?);
        }
        Command::Plan { workspace, tier, addon } => {
            users::set_plan(cx, WorkspaceId(workspace), tier.into(), addon).await?;
            say(workspace);
        }
    }
    Ok(())
}

fn read_voice(file: &Path) -> Result<Voice> {
    let text = if file == Path::new("-") {
        std::io::read_to_string(std::io::stdin()).context("standard input")?
    } else {
        std::fs::read_to_string(file).with_context(|| file.display().to_string())?
    };
    serde_json::from_str(&text).context("the profile is no JSON object of a brand's voice")
}

async fn reset(cx: &Domain, email: &str, operator: bool) -> Result<()> {
    let password = passwords::generate();
    if operator {
        operators::reset(cx, &shell_actor(), email, password.clone()).await?;
    } else {
        sign_in::set_password(cx, email, password.clone()).await?;
    }
    logins::unlock(cx, email).await?;
    tracing::info!("{email} has a new password; earlier sessions have ended");
    say(password.expose_secret());
    Ok(())
}

async fn create(cx: &Domain, email: &str, generate: bool) -> Result<()> {
    let password = choose(generate)?;
    let made = operators::create(cx, &shell_actor(), email, password.clone()).await?;
    let what =
        if made { "is an operator" } else { "has a new password; earlier sessions have ended" };
    tracing::info!("{email} {what}");
    if generate {
        say(password.expose_secret());
    }
    Ok(())
}

async fn set_password(cx: &Domain, email: &str, generate: bool) -> Result<()> {
    let password = choose(generate)?;
    sign_in::set_password(cx, email, password.clone()).await?;
    tracing::info!("{email} has a new password; earlier sessions have ended");
    if generate {
        say(password.expose_secret());
    }
    Ok(())
}

fn choose(generate: bool) -> Result<SecretString> {
    if generate { Ok(passwords::generate()) } else { ask() }
}

/// Reads the password: on a terminal twice without echo, else the first line of standard input.
fn ask() -> Result<SecretString> {
    if std::io::stdin().is_terminal() {
        let typed = |prompt| rpassword::prompt_password(prompt).context("the terminal");
        let (first, again) = (typed("Password: ")?, typed("Again: ")?);
        if first != again {
            bail!("the two passwords differ; nothing was changed");
        }
        return Ok(SecretString::from(first));
    }
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).context("standard input")?;
    Ok(SecretString::from(line.trim_end_matches(['\r', '\n'])))
}

impl From<RoleName> for Role {
    fn from(name: RoleName) -> Self {
        match name {
            RoleName::Viewer => Self::Viewer,
            RoleName::Editor => Self::Editor,
            RoleName::Publisher => Self::Publisher,
            RoleName::Admin => Self::Admin,
        }
    }
}

impl From<TierName> for signup::SignupTier {
    fn from(name: TierName) -> Self {
        match name {
            TierName::Starter => Self::Starter,
            TierName::Pro => Self::Pro,
            TierName::PowerUser => Self::PowerUser,
            TierName::Agency => Self::Agency,
        }
    }
}

impl From<TierName> for PlanTier {
    fn from(name: TierName) -> Self {
        match name {
            TierName::Starter => Self::Starter,
            TierName::Pro => Self::Pro,
            TierName::PowerUser => Self::PowerUser,
            TierName::Agency => Self::Agency,
        }
    }
}
