//! `fanfare media`: files, sent to a running service.

use std::path::PathBuf;

use anyhow::Result;
use clap::Subcommand;
use fanfare_cli::Upload;
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
        /// The service's origin.
        #[arg(long, env = "FANFARE_URL", default_value = "http://127.0.0.1:8080")]
        url: String,
        /// The API key. Better kept in the variable: others of this machine can read arguments.
        #[arg(long, env = "FANFARE_API_KEY", hide_env_values = true)]
        api_key: SecretString,
    },
}

/// Does it.
///
/// # Errors
/// A file that could not be sent.
pub async fn run(command: Command) -> Result<()> {
    let Command::Upload { files, workspace, json, url, api_key } = command;
    let upload = Upload { files, workspace, json };
    fanfare_cli::upload(url.trim_end_matches('/'), api_key.expose_secret(), upload).await
}
