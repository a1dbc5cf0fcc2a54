//! `fanfare billing`: sets up products and prices at Stripe.

use anyhow::Result;
use fanfare_people::billing;

use super::say;
use crate::{
    config::Config,
    start::{self, StartOptions},
};

/// The command to run.
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// Makes the products and prices that are missing, found by their lookup keys, and prints the keys of those it
    /// made. Run it again whenever the plans have changed.
    Setup,
}

/// Runs the command.
///
/// # Errors
/// No Stripe account is configured, or Stripe does not answer.
pub async fn run(config: Config, command: Command) -> Result<()> {
    crate::init_log(&config)?;
    let way =
        StartOptions { listen: config.listen, migrate: config.is_embedded(), simulator: None };
    let cx = start::domain(&config, way).await?;
    match command {
        Command::Setup => {
            let made = billing::setup(&cx).await?;
            tracing::info!(made = made.len(), "products and prices are as the plans say");
            for key in made {
                say(key);
            }
        }
    }
    Ok(())
}
