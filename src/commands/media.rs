//! `fanfare media`: uploads files to a running service.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Subcommand;
use fanfare_cli::{ProfileOptions, Upload};
use secrecy::{ExposeSecret, SecretString};

/// The commands for files.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Sends files and prints the address of each, to be used as media_url.
    Upload {
        /// The files.
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// The workspace, for a key without one.
        #[arg(long)]
        workspace: Option<String>,
        /// Print whole records as JSON, one a line.
        #[arg(long)]
        json: bool,
        /// The service's origin; that of the profile if left out.
        #[arg(long, visible_alias = "api-url", env = "FANFARE_URL")]
        url: Option<String>,
        /// The API key; the log-in of the profile if left out. Better kept in the variable: others of this machine can
        /// read arguments.
        #[arg(long, env = "FANFARE_API_KEY", hide_env_values = true)]
        api_key: Option<SecretString>,
        /// Profile of the configuration file.
        #[arg(long, env = "FANFARE_PROFILE")]
        profile: Option<String>,
    },
}

/// Runs the command.
///
/// # Errors
/// A file that could not be sent.
pub async fn run(command: Command) -> Result<()> {
    let Command::Upload { files, workspace, json, url, api_key, profile } = command;
    let upload = Upload { files, workspace, json };
    let key = api_key.map(|key| key.expose_secret().to_owned());
    let target = ProfileOptions { profile, url, key }.target().await?;
    if target.key.is_empty() {
        bail!("nobody is logged in; run fanfare login, or set FANFARE_API_KEY");
    }
    fanfare_cli::upload(&target.url, &target.key, upload).await
}
