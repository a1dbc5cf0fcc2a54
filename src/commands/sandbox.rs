//! `fanfare sandbox`: the simulated networks alone.

use anyhow::{Context as _, Result};

use super::{say, stop_on_signal};
use crate::{
    config::Config,
    simulator::{OwnSimulator, SimulatorFile, SimulatorOptions},
};

/// The action.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Prints the address and the secret of the simulator that was last started on FANFARE_DATA_DIR, by `up` or
    /// `sandbox`.
    #[arg(long)]
    show: bool,
}

/// Serves the simulated networks until it is stopped, or prints their addresses.
///
/// # Errors
/// The simulator could not start.
pub async fn run(config: Config, args: Args) -> Result<()> {
    if args.show {
        return show(&config);
    }
    crate::init_log(&config)?;
    let stop = stop_on_signal();
    let is_named = config.base_url.is_some() || config.media_base_url.is_some();
    let media = is_named.then(|| config.media_origin(config.listen).parse()).transpose()?;
    let base = config.base_url.as_ref();
    let webhook = base.map(|base| format!("{base}/api/stripe/webhook").parse()).transpose()?;
    let place = SimulatorOptions { is_kept: true, listen: Some(config.listen), media, webhook };
    let own = OwnSimulator::start(&config, place).await?;
    say(format_args!(
        "The simulated networks are at {url}; set FANFARE_SANDBOX_URL={url} and the secret that \
         `fanfare sandbox --show` prints",
        url = own.simulator.url.as_str().trim_end_matches('/')
    ));
    stop.cancelled().await;
    own.stop().await;
    Ok(())
}

fn show(config: &Config) -> Result<()> {
    let note = SimulatorFile::read(&config.data_dir)?.with_context(|| {
        format!(
            "no simulator was started on FANFARE_DATA_DIR {}; start `fanfare up` or `fanfare sandbox`",
            config.data_dir.display()
        )
    })?;
    say(format_args!("address {}", note.address));
    say(format_args!("secret {}", note.secret));
    Ok(())
}
